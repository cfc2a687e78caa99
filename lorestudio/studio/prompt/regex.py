"""Running SillyTavern's regex scripts over the texts of a prompt, and saying which of them changed a text.

Only scripts for the prompt run (`promptOnly`): those of the settings first, then the card's, then the preset's. Each
gets what the one before it left. Source: SillyTavern's regex extension.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import groupby
from typing import Final

import regex
from msgspec import Struct

from lorestudio.domain.patterns import Pattern, PatternError, PatternTimeoutError
from lorestudio.domain.records import replace
from lorestudio.domain.texts import whole_number
from lorestudio.exchange.regex_scripts import RegexScript, ScriptPlace, compiled
from lorestudio.systems.macros import Macros, has_macros

_MATCH: Final = re.compile(r"\{\{match\}\}", re.IGNORECASE)
_GROUP: Final = re.compile(r"\$(\d+)|\$<([^>]+)>", re.ASCII)
_SPECIAL: Final = re.compile(r"[\n\r\t\v\f\0.^$*+?{}\[\]\\/|()]")
_WRITTEN: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\f": r"\f", "\0": r"\0"}


class RegexRun(Struct):
    """Runs the scripts of one prompt. `problems` are sentences about those that could not do their work."""

    scripts: tuple[RegexScript, ...]
    macros: Macros
    problems: dict[str, None] = {}
    _given_up: set[RegexScript] = set()

    def run(self, text: str, placement: ScriptPlace, depth: float | None) -> tuple[str, tuple[str, ...]]:
        """The text as the scripts leave it, and the names of those that changed it."""
        fitting = [
            script
            for script in self.scripts
            if script.shapes_prompt
            and placement in script.placement
            and script.reaches(depth)
            and script not in self._given_up
        ]
        changed: list[str] = []
        for plain, group in groupby(fitting, key=_is_plain):
            scripts = tuple(group)
            run = _run_plain if plain and not has_macros(text) else self._run_filled
            result = run(scripts, text)
            text = result.text
            changed += result.changed_by
            for script in result.too_slow:
                # A chat has thousands of messages; the next ones would take as long.
                self._given_up.add(script)
                self.problems[f"“{script.name}” takes too long on a text, so it was given up for this prompt."] = None
        return text, tuple(changed)

    def _run_filled(self, scripts: tuple[RegexScript, ...], text: str) -> _RegexResult:
        result = _RegexResult(text)
        for script in scripts:
            find = script.find
            if script.substitute == 1:
                find = self.macros.fill(find)
            elif script.substitute == 2:
                find = _escaping(self.macros).fill(find)
            trimmed = tuple(self.macros.fill(each) for each in script.trim)
            result = _one(script, find, trimmed, result, self.macros.fill)
            pattern = _pattern(find)
            if script.substitute and isinstance(pattern, PatternError):
                self.problems[f"“{script.name}” changes nothing, as in SillyTavern: {pattern}."] = None
        return result


class _RegexResult(Struct, frozen=True):
    """A text, which scripts changed it, and which took too long."""

    text: str
    changed_by: tuple[str, ...] = ()
    too_slow: tuple[RegexScript, ...] = ()


@lru_cache(maxsize=1 << 14)
def _run_plain(scripts: tuple[RegexScript, ...], text: str) -> _RegexResult:
    """Scripts and a text without macros, so that the result never changes: the prompts of one chat share it."""
    result = _RegexResult(text)
    for script in scripts:
        result = _one(script, script.find, script.trim, result, str)
    return result


def _one(
    script: RegexScript, find: str, trimmed: tuple[str, ...], before: _RegexResult, fill: Callable[[str], str]
) -> _RegexResult:
    pattern = _pattern(find)
    if isinstance(pattern, PatternError) or not before.text:
        return before
    template = _MATCH.sub("$0", script.replace)

    def made(found: regex.Match[str]) -> str:
        return fill(_GROUP.sub(lambda asked: _group(found, asked, trimmed), template))

    try:
        text = pattern.replaced(before.text, made)
    except PatternTimeoutError:
        return replace(before, too_slow=(*before.too_slow, script))
    return before if text == before.text else replace(before, text=text, changed_by=(*before.changed_by, script.name))


def _is_plain(script: RegexScript) -> bool:
    texts = (_MATCH.sub("", script.replace), *script.trim)
    return not script.substitute and not any(map(has_macros, texts))


@lru_cache(maxsize=256)
def _pattern(find: str) -> Pattern | PatternError:
    try:
        return compiled(find)
    except PatternError as error:
        return error


def _group(found: regex.Match[str], asked: re.Match[str], trimmed: Iterable[str]) -> str:
    """A group of the match without what is to be trimmed; one that is not there is empty."""
    text = found.groupdict().get(asked[2]) or ""
    if asked[1]:
        number = whole_number(asked[1])
        text = (found[number] or "") if number <= found.re.groups else ""
    for each in trimmed if text else ():
        text = text.replace(each, "") if each else text
    return text


def _escaping(macros: Macros) -> Macros:
    """The same macros with values that a pattern takes as they are."""
    values = {name: _escaped(value) for name, value in macros.values.items()}
    return Macros(values, {name: _escaped(value) for name, value in macros.variables.items()})


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: _WRITTEN.get(found[0], "\\" + found[0]), text)
