"""Whether a key occurs in a text (rules: sillytavern 5.6 "Key test")."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import WS, trim
from lorestudio.domain.patterns import Pattern, PatternError, PatternTimeoutError, compile_pattern
from lorestudio.exchange.lorebooks.entry import BookEntry

MARK: Final = "\x01"
"""Stands before each message, so that a pattern can ask for a message's beginning."""

_PATTERN: Final = re.compile(r"/([\w\W]+?)/([gimsuy]*)")
_WORD: Final = frozenset(string.ascii_letters + string.digits + "_")
_BLANKS: Final = re.compile(WS)
_INNER_SLASH: Final = re.compile(r"(?<!\\)/")


class KeyMatching(Struct, frozen=True):
    """How plain keys are looked for."""

    case_sensitive: bool
    whole_words: bool

    @classmethod
    def of(cls, entry: BookEntry, *, case_sensitive: bool, whole_words: bool) -> KeyMatching:
        """The entry's own ways, the global ones where it says nothing."""
        own_case, own_words = entry.case_sensitive, entry.whole_words
        return cls(case_sensitive if own_case is None else own_case, whole_words if own_words is None else own_words)


class UnusableKeyError(ValueError):
    """A key that looks like a pattern and cannot be used as one."""


def occurs(key: str, text: str, how: KeyMatching) -> bool:
    """Whether the key is found, as it stands: one that is blank always is.

    Raises UnusableKeyError for a pattern that takes too long.
    """
    pattern = pattern_of(key)
    if pattern is not None:
        try:
            return pattern.holds(text)
        except PatternTimeoutError as error:
            raise UnusableKeyError(str(error)) from None
    if not how.case_sensitive:
        key, text = key.lower(), _lowered(text)
    if key not in text:
        return False
    return not how.whole_words or not key or _BLANKS.search(key) is not None or _is_a_word(key, text)


def is_found(key: str, text: str, how: KeyMatching) -> bool:
    """The same; a pattern that takes too long finds nothing."""
    try:
        return occurs(key, text, how)
    except UnusableKeyError:
        return False


@lru_cache(maxsize=4096)
def pattern_of(key: str) -> Pattern | None:
    """The pattern that a key between slashes is, None for a plain key; a broken pattern is a plain key."""
    try:
        return _compiled(key)
    except PatternError:
        return None


def is_plain(key: str) -> bool:
    """Whether a key is looked for as the text that it is."""
    return not key.startswith("/") or pattern_of(key) is None


def looks_like_pattern(key: str) -> bool:
    """Whether a key stands between slashes, whether or not it can be used as a pattern."""
    return _PATTERN.fullmatch(trim(key)) is not None


MOST_WORDS: Final = 20
"""A pattern that finds more texts than this is not simple."""


def words_of(key: str) -> tuple[str, ...]:
    """The texts that a simple pattern finds: letters, alternatives, and what may be missing; () for any other one."""
    found = _PATTERN.fullmatch(key)
    if found is None:
        return ()
    reading = _Words(found[1])
    try:
        words = reading.alternatives()
    except ValueError:
        return ()
    kept = tuple(dict.fromkeys(word for word in words if word.strip()))
    return kept if reading.ended and len(kept) <= MOST_WORDS else ()


class _Words:
    """Reads a pattern piece by piece. Raises ValueError where it is not simple."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    @property
    def ended(self) -> bool:
        return self._at == len(self._text)

    def alternatives(self) -> list[str]:
        """What the alternatives find, up to the end or a closing bracket."""
        words = self._sequence()
        while self._take("|"):
            words += self._sequence()
        return words

    def _sequence(self) -> list[str]:
        words = [""]
        while not self.ended and self._text[self._at] not in "|)":
            piece = self._piece()
            if self._take("?"):
                piece = ["", *piece]
            words = [word + more for word in words for more in piece]
            if len(words) > MOST_WORDS:
                raise ValueError("too many words")
        return words

    def _piece(self) -> list[str]:
        if self._take("("):
            if self._take("?") and not self._take(":"):
                raise ValueError("a group that looks around")
            words = self.alternatives()
            if not self._take(")"):
                raise ValueError("an open group")
            return words
        if self._take("\\"):
            char = self._next()
            if char == "b":
                return [""]
            if char.isalnum():
                raise ValueError("a class of signs")
            return [char]
        char = self._next()
        if char in ".[]{}*+^$?":
            raise ValueError("a sign of patterns")
        return [char]

    def _next(self) -> str:
        if self.ended:
            raise ValueError("an open end")
        self._at += 1
        return self._text[self._at - 1]

    def _take(self, sign: str) -> bool:
        found = self._text.startswith(sign, self._at)
        self._at += len(sign) if found else 0
        return found


def broken_patterns(keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The keys that look like a pattern and are none that can be used, with the reason."""
    for key in keys:
        try:
            _compiled(trim(key))
        except PatternError as error:
            yield trim(key), str(error).rstrip(".")


def inner_slash(key: str) -> bool:
    r"""Whether a slash inside keeps a key between slashes from being a pattern: it has to be written `\/`."""
    found = _PATTERN.fullmatch(trim(key))
    return found is not None and _INNER_SLASH.search(found[1]) is not None


def _compiled(key: str) -> Pattern | None:
    found = _PATTERN.fullmatch(key)
    if found is None or inner_slash(key):
        return None
    return compile_pattern(found[1].replace("\\/", "/"), found[2])


@lru_cache(maxsize=64)
def _lowered(text: str) -> str:
    """The text in lower case; a long one is searched for thousands of keys in a row."""
    return text.lower()


def _is_a_word(key: str, text: str) -> bool:
    r"""Whether the key stands somewhere between what is no ASCII letter, digit or underscore, or the text's ends.

    Says the same as the pattern `(?:^|\W)(key)(?:$|\W)`, and reads a long text faster.
    """
    place = text.find(key)
    while place >= 0:
        end = place + len(key)
        if (not place or text[place - 1] not in _WORD) and (end == len(text) or text[end] not in _WORD):
            return True
        place = text.find(key, place + 1)
    return False
