"""SillyTavern's regex scripts: in its settings.json, in a card, in a preset, or exported one by one.

A script changes texts at certain places (`placement`): only what is shown, only what the model gets (`promptOnly`), or
the chat itself at the moment when something is written. Only the second kind shapes a prompt made here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Final

import regex
from pydantic import BeforeValidator, Field
from pydantic.alias_generators import to_camel

from lorestudio.domain.javascript import DOT, to_number
from lorestudio.domain.patterns import Pattern, PatternError, compile_pattern
from lorestudio.domain.records import Terse
from lorestudio.exchange.json_file import parse_document, read_file
from lorestudio.exchange.problems import Flag, InputError, OutsideModel, Text, Texts, checked, unless_null

_FLAGS: Final = frozenset("gmixXsuUAJ")
"""The flags that SillyTavern looks for behind the last slash; JavaScript itself knows g, i, m, s and u of them."""

_WRITTEN: Final = regex.compile(rf"(/?)({DOT}+)\1([a-z]*)", regex.IGNORECASE)


class ScriptPlace(IntEnum):
    """Whose texts a script changes."""

    DISPLAY = 0
    """Old scripts only: what is shown and what is sent."""
    USER_INPUT = 1
    AI_OUTPUT = 2
    SLASH_COMMAND = 3
    SEND_AS = 4
    """Old scripts only: slash commands."""
    WORLD_INFO = 5
    REASONING = 6


_EVERYWHERE: Final = frozenset(ScriptPlace) - {ScriptPlace.DISPLAY, ScriptPlace.SEND_AS}
_IN_PROMPTS: Final = frozenset({ScriptPlace.USER_INPUT, ScriptPlace.AI_OUTPUT, ScriptPlace.WORLD_INFO})
_NOT_HERE: Final = {ScriptPlace.SLASH_COMMAND: "slash commands", ScriptPlace.REASONING: "reasoning"}


def _depth(value: object) -> object:
    number = math.nan if value is None else to_number(value)
    return None if math.isnan(number) else number


def _substitution(value: object) -> object:
    number = to_number(value)
    return int(number) if number in (1, 2) else 0


class RegexScript(OutsideModel, alias_generator=to_camel, validate_by_name=True):
    """A script, as it is written. `find` is `/pattern/flags` or a bare pattern.

    `substitute` says what becomes of macros in it: 0 nothing, 1 filled in, 2 filled in as plain characters. The depths
    count newer messages; `None` is no limit.
    """

    name: Text = Field(default="", alias="scriptName")
    find: Text = Field(default="", alias="findRegex")
    replace: Text = Field(default="", alias="replaceString")
    trim: Texts = Field(default=(), alias="trimStrings")
    placement: Annotated[frozenset[int], unless_null(())] = frozenset()
    disabled: Flag = False
    markdown_only: Flag = False
    prompt_only: Flag = False
    substitute: Annotated[int, BeforeValidator(_substitution)] = Field(default=0, alias="substituteRegex")
    min_depth: Annotated[float | None, BeforeValidator(_depth)] = None
    max_depth: Annotated[float | None, BeforeValidator(_depth)] = None

    @property
    def shapes_prompt(self) -> bool:
        """Whether it changes what the model gets, and that alone or together with what is shown."""
        return self.prompt_only and not self.disabled and bool(self.find)

    @property
    def changes_prompt(self) -> bool:
        """Whether it also has a place that a prompt has texts of."""
        return self.shapes_prompt and not self.placement.isdisjoint(_IN_PROMPTS)

    def reaches(self, depth: float | None) -> bool:
        """Whether it changes a text with so many newer messages; None is no depth at all."""
        if depth is None:
            return True
        too_near = self.min_depth is not None and self.min_depth >= -1 and depth < self.min_depth
        too_far = self.max_depth is not None and self.max_depth >= 0 and depth > self.max_depth
        return not too_near and not too_far


class RegexScripts(Terse, frozen=True):
    """The scripts of one place, in the order they run in, and what is not reproduced of them."""

    unprinted = ("remarks",)

    scripts: tuple[RegexScript, ...] = ()
    remarks: tuple[str, ...] = ()


def load_scripts(path: Path) -> RegexScripts:
    """The scripts in a file: settings.json, one script, or a list. Waits for the disk. Raises InputError."""
    return parse_scripts(read_file(path), path)


def parse_scripts(data: bytes, source: Path | str) -> RegexScripts:
    """The scripts in the bytes of such a file. Raises InputError naming the field that is wrong."""
    document = parse_document(data, source, "regex script")
    if isinstance(document, list):
        return read_scripts(document, source)
    if not isinstance(document, Mapping):
        raise InputError(source, "this is neither a regex script nor a list of them.")
    if "findRegex" in document:
        return read_scripts([document], source)
    settings = document.get("extension_settings")
    if not isinstance(settings, Mapping):
        raise InputError(
            source,
            "this is JSON, but no regex script: it has no findRegex, and no extension_settings as SillyTavern's "
            "settings.json has.",
        )
    found = read_scripts(settings.get("regex"), source, "extension_settings.regex")
    off = settings.get("disabledExtensions")
    if isinstance(off, list) and "regex" in off:
        scripts = tuple(script.model_copy(update={"disabled": True}) for script in found.scripts)
        return RegexScripts(scripts, ("SillyTavern has its regex extension switched off, so no script of it runs.",))
    return found


def read_scripts(value: object, source: Path | str, where: str = "") -> RegexScripts:
    """The scripts in a list out of a file; `where` is its field. Raises InputError."""
    if value is None:
        return RegexScripts()
    if not isinstance(value, list | tuple):
        raise InputError(source, "the regex scripts are no list.", field=where)
    scripts: list[RegexScript] = []
    for at, item in enumerate(value):
        place = f"{where}.{at}" if where else f"{at}"
        script = checked(RegexScript, item, source, "Correct the script, or export it again.", (place,))
        scripts.append(_meant(script, at))
    return RegexScripts(tuple(scripts), tuple(_remarks(scripts)))


def scripts_within(value: object, source: Path | str, where: str) -> RegexScripts:
    """The scripts that a card or a preset holds; where these cannot be read, the rest of it is of use all the same."""
    try:
        return read_scripts(value, source, where)
    except InputError as error:
        return RegexScripts((), (f"Its regex scripts do not run: {error}",))


def compiled(find: str) -> Pattern:
    """The pattern of a script, as SillyTavern takes it out of what was written. Raises PatternError.

    Behind the last slash stand the flags; where these are none, slashes and all are the pattern. A bare pattern ends
    with its first line and is found once.
    """
    found = _WRITTEN.search(find)
    if found is None:
        raise PatternError("there is no pattern")
    flags = found[3]
    if flags and (not set(flags) <= _FLAGS or len(set(flags)) != len(flags)):
        return compile_pattern(find)
    return compile_pattern(found[2], flags)


def _meant(script: RegexScript, at: int) -> RegexScript:
    """The script with what old ones mean by their places, and with a name."""
    placement = script.placement
    changes: dict[str, object] = {"name": script.name.strip() or f"script {at + 1}"}
    if ScriptPlace.DISPLAY in placement:
        placement = placement - {ScriptPlace.DISPLAY} or _EVERYWHERE
        changes |= {"markdown_only": True, "prompt_only": True}
    if ScriptPlace.SEND_AS in placement:
        placement = placement - {ScriptPlace.SEND_AS} or frozenset({ScriptPlace.SLASH_COMMAND})
    return script.model_copy(update={**changes, "placement": placement})


def _remarks(scripts: Iterable[RegexScript]) -> list[str]:
    running = [each for each in scripts if not each.disabled and each.find]
    told: list[str] = []
    lasting = [each.name for each in running if not each.prompt_only and not each.markdown_only]
    if lasting:
        told.append(
            f"{_listed(lasting)}: changes the chat itself when something is written, so that a chat from SillyTavern "
            "holds the result already; nothing is changed again here."
        )
    for placement, what in _NOT_HERE.items():
        names = [each.name for each in running if each.shapes_prompt and placement in each.placement]
        if names:
            told.append(f"{_listed(names)}: for {what} too, which no prompt here has.")
    for each in running:
        if each.shapes_prompt and not each.substitute:
            try:
                compiled(each.find)
            except PatternError as error:
                told.append(f"“{each.name}” changes nothing, as in SillyTavern: {error}.")
    return told


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)
