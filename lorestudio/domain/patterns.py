"""Regular expressions as JavaScript understands them, and searching with a guard against runaway patterns.

The classes for word ends, words and digits know ASCII only, the one for white space is Unicode's, the flag i folds all
letters, a dot stops at four line ends, and $ is the very end of the text (rules: fact-memory 15; hybrid-retrieval 11).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import regex

from lorestudio.domain.javascript import DOT, LINE_END, LINE_START, WHITE_SPACE

LONGEST_S: Final = 0.25
"""A search that takes longer than this is given up."""

_WORD: Final = "0-9A-Za-z_"
_EDGE: Final = f"(?:(?<![{_WORD}])(?=[{_WORD}])|(?<=[{_WORD}])(?![{_WORD}]))"
_NO_EDGE: Final = f"(?:(?<![{_WORD}])(?![{_WORD}])|(?<=[{_WORD}])(?=[{_WORD}]))"
_SPACE: Final = "".join(f"\\u{ord(char):04x}" for char in WHITE_SPACE)
_CLASSES: Final = {"w": _WORD, "d": "0-9", "s": _SPACE}
_QUANTIFIER: Final = re.compile(r"\{\d+(?:,\d*)?\}")
_CONTROLS: Final = {"t": "\\t", "n": "\\n", "r": "\\r", "f": "\\f", "v": "\\v", "0": "\\x00"}
_CODED: Final = re.compile(r"\\(?:x(?P<hex>[0-9a-fA-F]{2})|u(?P<unicode>[0-9a-fA-F]{4})|c(?P<control>[A-Za-z]))")
_NAMED: Final = re.compile(r"\\k<([^>]+)>")
_KNOWN_FLAGS: Final = frozenset("dgimsuvy")


class PatternError(ValueError):
    """A pattern that cannot be used; the message says why."""


class PatternTimeoutError(Exception):
    """A search was given up because it took too long."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern. `source` is what it was written as."""

    source: str
    flags: str = ""
    _compiled: regex.Pattern[str] = field(default_factory=lambda: regex.compile(""), repr=False, compare=False)

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return self._compiled.groups

    @property
    def everywhere(self) -> bool:
        """Whether a replacement is made at every place, and not at the first alone (flag g)."""
        return "g" in self.flags

    def search(self, text: str, seconds: float = LONGEST_S) -> regex.Match[str] | None:
        """The first place where the pattern is found. Raises PatternTimeoutError after `seconds`."""
        with self._limited():
            return self._compiled.search(text, timeout=seconds)

    def replaced(self, text: str, made: Callable[[regex.Match[str]], str]) -> str:
        """`String.replace` with a function: the first match, or all with the flag g. Raises PatternTimeoutError."""
        with self._limited():
            return self._compiled.sub(made, text, count=0 if self.everywhere else 1, timeout=LONGEST_S)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of every place where something is found. Raises PatternTimeoutError."""
        with self._limited():
            found = self._compiled.finditer(text, timeout=LONGEST_S)
            return [each.span() for each in found if each.end() > each.start()]

    @contextmanager
    def _limited(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise PatternTimeoutError(f"the pattern “{self.source}” takes too long on this text") from None


def compile_pattern(source: str, flags: str = "") -> Pattern:
    """The pattern between JavaScript's slashes, with its flags. Raises PatternError."""
    unknown = sorted(set(flags) - _KNOWN_FLAGS)
    if unknown or len(set(flags)) != len(flags):
        raise PatternError(f"“{flags}” are no flags of a pattern; use some of i, m, s, each once")
    try:
        compiled = regex.compile(_translated(source, flags), regex.IGNORECASE if "i" in flags else 0)
    except (regex.error, OverflowError, RecursionError) as error:
        raise PatternError(f"“{source}” is no pattern: {error}") from None
    return Pattern(source, flags, compiled)


def _translated(source: str, flags: str) -> str:
    made: list[str] = []
    at, end = 0, len(source)
    while at < end:
        char = source[at]
        if char == "\\":
            text, at = _escape(source, at, inside=False)
            made.append(text)
        elif char == "[":
            text, at = _character_class(source, at)
            made.append(text)
        elif char == "(" and source.startswith("(?<", at) and source[at + 3 : at + 4] not in {"=", "!"}:
            made.append("(?P<")
            at += 3
        elif char == "{":
            quantifier = _QUANTIFIER.match(source, at)
            made.append(quantifier[0] if quantifier else "\\{")
            at += len(quantifier[0]) if quantifier else 1
        else:
            made.append(_plain(char, flags))
            at += 1
    return "".join(made)


def _plain(char: str, flags: str) -> str:
    multiline = "m" in flags
    if char == "^":
        return LINE_START if multiline else r"\A"
    if char == "$":
        return LINE_END if multiline else r"\Z"
    if char == ".":
        return r"(?:[\s\S])" if "s" in flags else DOT
    return "\\" + char if char in "}]#" else char


def _escape(source: str, at: int, *, inside: bool) -> tuple[str, int]:
    """One escape, and where it ends; `inside` a character class."""
    if at + 1 >= len(source):
        raise PatternError(f"“{source}” is no pattern: it ends in a backslash")
    char, after = source[at + 1], at + 2
    if char.lower() in _CLASSES or char in {"b", "B"}:
        return _class_escape(char, inside=inside), after
    if char in _CONTROLS and not (char == "0" and source[after : after + 1].isdigit()):
        return _CONTROLS[char], after
    coded = _CODED.match(source, at)
    if coded is not None:
        digits, control = coded["hex"] or coded["unicode"], coded["control"]
        return _literal(chr(int(digits, 16) if digits else ord(control) % 32)), coded.end()
    named = _NAMED.match(source, at)
    if named is not None:
        return f"(?P={named[1]})", named.end()
    return f"\\{char}" if char.isdigit() and not inside else _literal(char), after


def _class_escape(char: str, *, inside: bool) -> str:
    """One of the letters that stand for many characters, or for an edge of a word."""
    name = char.lower()
    if name == "b":
        return "\\x08" if inside else _EDGE if char == "b" else _NO_EDGE
    if char == name:
        return _CLASSES[name] if inside else f"[{_CLASSES[name]}]"
    return _negated(name) if inside else f"[^{_CLASSES[name]}]"


def _character_class(source: str, at: int) -> tuple[str, int]:
    """One character class, and where it ends."""
    start, at = at, at + 1
    negated = source.startswith("^", at)
    at += negated
    parts: list[str] = []
    while at < len(source) and source[at] != "]":
        if source[at] == "\\":
            text, at = _escape(source, at, inside=True)
        else:
            text, at = ("-" if source[at] == "-" else _literal(source[at])), at + 1
        parts.append(text)
    if at >= len(source):
        raise PatternError(f"“{source}” is no pattern: the [ at {start} is not closed")
    if not parts:  # [] is nothing, [^] is any character
        return (r"(?:[\s\S])" if negated else r"(?!)"), at + 1
    return f"[{'^' if negated else ''}{''.join(parts)}]", at + 1


def _negated(name: str) -> str:
    """A negated class inside another one."""
    if name == "s":
        return r"\S"
    every = {"w": "\\x00-/:-@[-^`{-\\U0010ffff", "d": "\\x00-/:-\\U0010ffff"}[name]
    return every.replace("[", "\\[").replace("^", "\\^") if name == "w" else every


def _literal(char: str) -> str:
    return char if char.isalnum() or char == "_" else f"\\U{ord(char):08x}"
