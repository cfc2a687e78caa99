"""Whether a key occurs in a text (rules: sillytavern 5.6 "Key test")."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lorestudio.domain.javascript import WS, trim
from lorestudio.domain.patterns import Pattern, PatternError, PatternTimeoutError, compile_pattern
from lorestudio.exchange.lorebooks.entry import BookEntry

MARK: Final = "\x01"
"""Stands before each message, so that a pattern can ask for a message's beginning."""

_PATTERN: Final = re.compile(r"/([\w\W]+?)/([gimsuy]*)")
_WORD: Final = frozenset(string.ascii_letters + string.digits + "_")
_BLANKS: Final = re.compile(WS)
_INNER_SLASH: Final = re.compile(r"(?<!\\)/")


@dataclass(frozen=True, slots=True)
class KeyMatching:
    """How plain keys are looked for."""

    case_sensitive: bool
    whole_words: bool

    @classmethod
    def of(cls, entry: BookEntry, *, case_sensitive: bool, whole_words: bool) -> KeyMatching:
        """The entry's own ways, the global ones where it says nothing."""
        own_case, own_words = entry.case_sensitive, entry.whole_words
        return cls(
            case_sensitive if own_case is None else own_case,
            whole_words if own_words is None else own_words,
        )


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


def broken_patterns(keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The keys that look like a pattern and are none that can be used, with the reason."""
    for key in keys:
        try:
            _compiled(trim(key))
        except PatternError as error:
            yield trim(key), str(error).rstrip(".")


def _compiled(key: str) -> Pattern | None:
    found = _PATTERN.fullmatch(key)
    if found is None or _INNER_SLASH.search(found[1]):
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
