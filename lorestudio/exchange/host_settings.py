"""What SillyTavern's own settings.json says that a run has to know: the context size and the regex scripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import field

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import number_in, object_in
from lorestudio.domain.records import Terse
from lorestudio.exchange.json_file import parse_document, read_file
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.regex_scripts import RegexScripts, parse_scripts


class HostSettings(Terse, frozen=True):
    """`context_size` in tokens, 0 where the file does not say; `scripts` are those of its regex extension.

    `problems` are sentences about what could not be used.
    """

    unprinted = ("scripts",)

    context_size: int = 0
    scripts: RegexScripts = field(default_factory=RegexScripts)
    problems: tuple[str, ...] = ()


def load_host_settings(path: Path) -> HostSettings:
    """What the file says; nothing where it is none of SillyTavern's. Waits for the disk. Raises InputError."""
    data = read_file(path)
    document = parse_document(data, path, "settings")
    if not isinstance(document, Mapping) or not isinstance(document.get("extension_settings"), Mapping):
        return HostSettings()
    try:
        scripts, problems = parse_scripts(data, path), ()
    except InputError as error:
        return HostSettings(_context_size(document), problems=(f"Its regex scripts do not run: {error}",))
    return HostSettings(_context_size(document), scripts, problems)


def _context_size(document: Mapping[str, Json]) -> int:
    """By the kind of API in use, as the host takes it: chat completion has its own (rules: sillytavern 5.9)."""
    chat = document.get("main_api", "openai") == "openai"
    value = object_in(document, "oai_settings").get("openai_max_context") if chat else document.get("max_context")
    return max(0, int(number_in(value) or 0))
