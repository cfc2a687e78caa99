"""What SillyTavern's settings.json says that a run has to know: the room for prompt and reply, and regex scripts."""

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
    """`context_size` and `reply_tokens`, 0 where the file does not say; `scripts` are those of its regex extension.

    `problems` are sentences about what could not be used.
    """

    unprinted = ("scripts",)

    context_size: int = 0
    reply_tokens: int = 0
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
        return HostSettings(*room_in(document), problems=(f"Its regex scripts do not run: {error}",))
    return HostSettings(*room_in(document), scripts, problems)


def room_in(document: Mapping[str, Json]) -> tuple[int, int]:
    """Context and reply by the kind of API in use: chat completion has its own (rules: sillytavern 5.9)."""
    chat = document.get("main_api", "openai") == "openai"
    names = ("openai_max_context", "openai_max_tokens") if chat else ("max_context", "amount_gen")
    said = object_in(document, "oai_settings") if chat else document
    context, reply = (max(0, int(number_in(said.get(name)) or 0)) for name in names)
    return context, reply
