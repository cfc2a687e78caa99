"""Running SillyTavern's regex scripts over the texts of a prompt, and saying which of them changed a text.

Only scripts for the prompt run (`promptOnly`): those of the settings first, then the card's, then the preset's. Each
gets what the one before it left. Source: SillyTavern's regex extension.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import regex

from lorestudio.domain.patterns import Pattern, PatternError, PatternTimeoutError
from lorestudio.exchange.regex_scripts import Placement, RegexScript, compiled
from lorestudio.studio.macros import Macros

_MATCH: Final = re.compile(r"\{\{match\}\}", re.IGNORECASE)
_GROUP: Final = re.compile(r"\$(\d+)|\$<([^>]+)>", re.ASCII)
_SPECIAL: Final = re.compile(r"[\n\r\t\v\f\0.^$*+?{}\[\]\\/|()]")
_WRITTEN: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\f": r"\f", "\0": r"\0"}


@dataclass(slots=True)
class RegexRun:
    """Runs the scripts of one prompt. `problems` are sentences about those that could not do their work."""

    scripts: tuple[RegexScript, ...]
    macros: Macros
    problems: dict[str, None] = field(default_factory=dict)
    _patterns: dict[str, Pattern | None] = field(default_factory=dict)
    _given_up: set[RegexScript] = field(default_factory=set)

    def run(self, text: str, placement: Placement, depth: float | None) -> tuple[str, tuple[str, ...]]:
        """The text as the scripts leave it, and the names of those that changed it."""
        changed: list[str] = []
        for script in self.scripts:
            if not text or not script.shapes_prompt or placement not in script.placement or not script.reaches(depth):
                continue
            made = self._one(script, text)
            if made != text:
                changed.append(script.name)
                text = made
        return text, tuple(changed)

    def _one(self, script: RegexScript, text: str) -> str:
        pattern = self._pattern(script)
        if pattern is None or script in self._given_up:
            return text
        template = _MATCH.sub("$0", script.replace)
        trimmed = tuple(self.macros.fill(each) for each in script.trim)

        def made(found: regex.Match[str]) -> str:
            return self.macros.fill(_GROUP.sub(lambda asked: _group(found, asked, trimmed), template))

        try:
            return pattern.replaced(text, made)
        except PatternTimeoutError:
            # A chat has thousands of messages; the next ones would take as long.
            self._given_up.add(script)
            self.problems[f"“{script.name}” takes too long on a text, so it was given up for this prompt."] = None
            return text

    def _pattern(self, script: RegexScript) -> Pattern | None:
        find = script.find
        if script.substitute == 1:
            find = self.macros.fill(find)
        elif script.substitute == 2:
            find = _escaping(self.macros).fill(find)
        if find not in self._patterns:
            try:
                self._patterns[find] = compiled(find)
            except PatternError as error:
                self._patterns[find] = None
                if script.substitute:
                    self.problems[f"“{script.name}” changes nothing, as in SillyTavern: {error}."] = None
        return self._patterns[find]


def _group(found: regex.Match[str], asked: re.Match[str], trimmed: Iterable[str]) -> str:
    """A group of the match without what is to be trimmed; one that is not there is empty."""
    text = found.groupdict().get(asked[2]) or ""
    if asked[1]:
        number = int(asked[1])
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
