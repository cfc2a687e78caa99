"""The token counter of the context window: a heuristic over a word list, no tokenizer (rules: context-window 2).

Lengths are UTF-16 code units. A unit is a letter where its category is one of Lu, Ll, Lt, Lm and Lo; both halves of
a surrogate pair are none.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from lorestudio.domain.digests import text_digest
from lorestudio.domain.javascript import code_units
from lorestudio.settings.contextwindow import CountingSettings

LONGEST_WORD: Final = 50
"""No longer entry of the word list is looked for."""

MOST_UNITS: Final = 10_000
"""A piece longer than this is counted by its length alone (rules: context-window 18)."""

_LETTERS: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo"})


@dataclass(frozen=True)
class WordList:
    """Words that cost one token each, in lower case. `digest` tells one list from another."""

    name: str
    words: frozenset[str] = field(repr=False)
    digest: str = ""

    @classmethod
    def of(cls, name: str, lines: Iterable[str]) -> WordList:
        """The list of these lines; blank ones are dropped, nothing else is cleaned (rules: context-window 2.1)."""
        words = frozenset(line.lower() for line in lines if line)
        digest = text_digest("\n".join(sorted(words)))[:8]
        return cls(name, words, digest)

    @classmethod
    def read(cls, path: Path) -> WordList:
        """The list in a file, a word a line. Raises OSError and UnicodeDecodeError."""
        return cls.of(path.name, path.read_text(encoding="utf-8").splitlines())


class WordListCounter:
    """Counts the tokens of a text. The same object gives the same counts; it may be used in every thread."""

    exact: Final = False

    def __init__(self, words: WordList, settings: CountingSettings | None = None) -> None:
        self.words = words
        self.settings = settings or CountingSettings()
        self.name = f"word list {words.name}"
        self.identity = f"word list {words.digest} {self.settings!r}"
        self._count = lru_cache(maxsize=20_000)(self._counted)

    def count(self, text: str) -> int:
        """Tokens of a text, 0 for the empty one; an estimate."""
        return self._count(text)

    def _counted(self, text: str) -> int:
        if not text:
            return 0
        total = sum(self._piece(piece, first=not place) for place, piece in enumerate(text.split(" ")))
        return math.floor(total * (1.0 + self.settings.token_counting_bias) + 0.5)

    def _piece(self, piece: str, *, first: bool) -> int:
        """Tokens of what stands between two spaces: at least one where anything does."""
        if not piece:
            return 0
        units = as_units(piece)
        if len(units) > MOST_UNITS:
            return self._by_length(len(units))
        return sum(self._parts(units, first=first and self.settings.count_sub_words_in_first_word)) or 1

    def _parts(self, units: str, *, first: bool) -> Iterator[int]:
        """Tokens of the entries of the list and of what lies between and behind them, one after the other."""
        options = self.settings
        lowered = "".join(low if len(low := unit.lower()) == 1 else unit for unit in units)
        letters = [is_letter(unit) for unit in units]
        at, end = 0, len(units)
        while at < end:
            if not letters[at]:
                after = _run(letters, at)
                yield self._by_length(after - at)
                at = after
                continue
            found = self._match(lowered, letters, at, first=first)
            if not found:
                yield self._by_length(end - at)
                return
            yield 1
            if options.count_only_first_word_found:
                return
            at += found
            gap = options.split_for_non_word_char and at < end and not letters[at]
            if gap:
                after = _run(letters, at)
                yield self._by_length(after - at)
                at = after
            if (gap or options.always_split_if_whole_word_exists) and at < end and not options.count_sub_words_if_split:
                yield self._by_length(end - at)
                return

    def _match(self, lowered: str, letters: list[bool], at: int, *, first: bool) -> int:
        """How many units an entry of the list takes up at the front, 0 where there is none."""
        if first:  # the longest anywhere; only its length counts, wherever it was found
            return max((self._longest(lowered, start) for start in range(at, len(lowered))), default=0)
        if self.settings.favor_whole_words:
            return self._longest(lowered, at, whole=letters)
        return self._longest(lowered, at)

    def _longest(self, lowered: str, at: int, whole: list[bool] | None = None) -> int:
        end = len(lowered)
        for length in range(min(LONGEST_WORD, end - at), 0, -1):
            if whole is not None and at + length < end and whole[at + length]:
                continue
            if lowered[at : at + length] in self.words.words:
                return length
        return 0

    def _by_length(self, units: int) -> int:
        return -(-units // self.settings.non_word_split_count)


def as_units(text: str) -> str:
    """The text with a character for each UTF-16 code unit; halves of surrogate pairs stand alone."""
    if text.isascii() or max(text, default="") <= "\uffff":
        return text
    data = code_units(text)
    return "".join(chr(data[at] | data[at + 1] << 8) for at in range(0, len(data), 2))


def is_letter(unit: str) -> bool:
    """Whether a UTF-16 code unit counts as a letter."""
    return unicodedata.category(unit) in _LETTERS


def _run(letters: list[bool], at: int) -> int:
    """Where the run of non-letters that begins at `at` ends."""
    while at < len(letters) and not letters[at]:
        at += 1
    return at
