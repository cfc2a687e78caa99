"""Finding keys: all keys of the vault in one pass over a text, with the result of DeepLore's per-key rules.

Keys match as plain substrings, or as whole words where that is on and the key has no white space. Whole words are
compared as JavaScript compares them without regard to case, which makes a few more letters equal than lower-casing does
(spec: deeplore-engine 3.4, 3.10).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import ahocorasick

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import WHITE_SPACE, code_units, fold, head, trim

KEY_LIMIT: Final = 200
"""Code units of a primary key that take part in matching."""

_WORD: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_WHITE: Final = frozenset(WHITE_SPACE)


@lru_cache(maxsize=1)
def _case_variants() -> dict[int, int]:
    """Lower-case letters that JavaScript's case-blind regular expressions take for another: `ς` for `σ`, `µ` for `μ`.

    Two code units are equal there when their upper-case forms are, unless that form is longer than one unit or would
    turn a letter beyond ASCII into an ASCII one.
    """
    by_upper: dict[str, int] = {}
    variants: dict[int, int] = {}
    for point in range(128, 0x10000):
        if 0xD800 <= point < 0xE000:
            continue
        char = chr(point)
        upper = char.upper()
        if len(upper) != 1 or upper < "\x80" or upper > "\uffff":
            continue
        first = by_upper.setdefault(upper, point)
        if first != point:
            variants[point] = first
    return variants


def lower_variants(text: str) -> str:
    """Lower-cased text in the form in which JavaScript's case-blind regular expressions compare it."""
    return text if text.isascii() else text.translate(_case_variants())


def _exploded(text: str) -> str:
    """The text with one character a UTF-16 code unit, so that halves of surrogate pairs can be found."""
    units = code_units(text)
    return "".join(chr(units[i] | units[i + 1] << 8) for i in range(0, len(units), 2))


def _has_lone_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A key as it is searched: `text` in the folded haystack; `word` where it must stand alone."""

    text: str
    word: bool
    lone_surrogate: bool = False


@dataclass(frozen=True, slots=True)
class Hits:
    """Where patterns occur in one text: for each pattern number the start of its last occurrence."""

    last: dict[int, int]

    def within(self, pattern: int, offset: int) -> bool:
        """Whether the pattern occurs at `offset` or later."""
        return self.last.get(pattern, -1) >= offset


@dataclass(frozen=True, slots=True)
class KeyHit:
    """The first key of an entry that hit: as its author wrote it, with the place of its last occurrence."""

    key: str
    pattern: int
    start: int
    refine_key: str | None = None


class KeyMatcher:
    """All keys of an index, ready to be searched with one choice of case and whole words.

    Entries are named by their ids, which are their places in the list given.
    """

    def __init__(self, entries: Sequence[Entry], *, case_sensitive: bool, whole_words: bool) -> None:
        self.case_sensitive = case_sensitive
        self._whole_words = whole_words
        self._patterns: list[Pattern] = []
        self._numbers: dict[Pattern, int] = {}
        self._primary: list[tuple[tuple[str, int], ...]] = []
        self._refine: list[tuple[tuple[str, int], ...]] = []
        self._entries_of: dict[int, list[int]] = {}
        for entry_id, entry in enumerate(entries):
            primary = tuple((key, self._number(head(key, KEY_LIMIT))) for key in entry.keys if trim(key))
            self._primary.append(primary)
            self._refine.append(tuple((key, self._number(key)) for key in entry.refine_keys if trim(key)))
            for number in dict.fromkeys(number for _, number in primary):
                self._entries_of.setdefault(number, []).append(entry_id)
        self._halved = [number for number, pattern in enumerate(self._patterns) if pattern.lone_surrogate]
        self._automaton = self._build()

    def _number(self, key: str) -> int:
        text = key if self.case_sensitive else fold(key)
        word = self._whole_words and _WHITE.isdisjoint(text)
        if word and not self.case_sensitive:
            text = lower_variants(text)
        pattern = Pattern(text, word, _has_lone_surrogate(text))
        number = self._numbers.setdefault(pattern, len(self._patterns))
        if number == len(self._patterns):
            self._patterns.append(pattern)
        return number

    def _build(self) -> ahocorasick.Automaton | None:
        by_text: dict[str, list[int]] = {}
        for number, pattern in enumerate(self._patterns):
            if not pattern.lone_surrogate:
                by_text.setdefault(self._searched(pattern.text), []).append(number)
        if not by_text:
            return None
        automaton = ahocorasick.Automaton()
        for text, numbers in by_text.items():
            automaton.add_word(text, (len(text), tuple(numbers)))
        automaton.make_automaton()
        return automaton

    def _searched(self, text: str) -> str:
        """A folded text as the automaton sees it."""
        return lower_variants(text) if self._whole_words and not self.case_sensitive else text

    def find(self, text: str) -> Hits:
        """All patterns that occur in `text`, which is folded already unless case matters."""
        last: dict[int, int] = {}
        searched = self._searched(text)
        if self._automaton is not None and text:
            for end, (size, numbers) in self._automaton.iter(searched):
                start = end - size + 1
                for number in numbers:
                    pattern = self._patterns[number]
                    if pattern.word:
                        if self._stands_alone(searched, start, end + 1):
                            last[number] = start
                    elif searched is text or text.startswith(pattern.text, start):
                        last[number] = start
        for number in self._halved:
            start = self._find_halved(self._patterns[number], searched if self._patterns[number].word else text)
            if start >= 0:
                last[number] = start
        return Hits(last)

    @staticmethod
    def _stands_alone(text: str, start: int, end: int) -> bool:
        """Whether neither neighbour is an ASCII word character.

        That is what both forms of the rule come to, whether the key itself begins or ends with one or not.
        """
        return (start == 0 or text[start - 1] not in _WORD) and (end == len(text) or text[end] not in _WORD)

    def _find_halved(self, pattern: Pattern, text: str) -> int:
        """Last start of a key with half a surrogate pair, -1 for none; the offset is that of the nearest character."""
        units, needle = _exploded(text), _exploded(pattern.text)
        start = units.rfind(needle)
        while start >= 0 and pattern.word and not self._stands_alone(units, start, start + len(needle)):
            start = units.rfind(needle, 0, start + len(needle) - 1)
        if start < 0:
            return start
        return len(units[:start].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))

    def size(self, hit: KeyHit) -> int:
        """Length of the hit in the searched text."""
        return len(self._patterns[hit.pattern].text)

    def test(self, entry_id: int, hits: Hits, offset: int = 0) -> KeyHit | None:
        """The first key of entry `entry_id` that occurs at `offset` or later, with its refine keys satisfied."""
        hit = self.test_primary(entry_id, hits, offset)
        if hit is None or not self._refine[entry_id]:
            return hit
        for key, number in self._refine[entry_id]:
            if hits.within(number, offset):
                return KeyHit(hit.key, hit.pattern, hit.start, key)
        return None

    def test_primary(self, entry_id: int, hits: Hits, offset: int = 0) -> KeyHit | None:
        """The first key that occurs at `offset` or later, refine keys or not."""
        for key, number in self._primary[entry_id]:
            if hits.within(number, offset):
                return KeyHit(key, number, hits.last[number])
        return None

    def hit_entries(self, hits: Hits) -> list[int]:
        """Ids of the entries with any primary key in the text, ascending."""
        return sorted({entry_id for number in hits.last for entry_id in self._entries_of.get(number, ())})

    def occurrences(self, entry_id: int, text: str) -> int:
        """Non-overlapping occurrences of all primary keys of entry `entry_id`, summed."""
        searched = self._searched(text)
        return sum(self._count(self._patterns[number], text, searched) for _, number in self._primary[entry_id])

    @staticmethod
    def _count(pattern: Pattern, text: str, searched: str) -> int:
        needle, haystack = pattern.text, searched if pattern.word else text
        if pattern.lone_surrogate:
            needle, haystack = _exploded(needle), _exploded(haystack)
        if not pattern.word:
            return haystack.count(needle)
        return len(re.findall(rf"(?<![A-Za-z0-9_]){re.escape(needle)}(?![A-Za-z0-9_])", haystack))
