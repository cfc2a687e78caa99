"""Finding keys: all keys of the vault in one pass over a text, with the result of DeepLore's per-key rules.

Keys match as plain substrings, or as whole words where that is on and the key has no white space. Whole words are
compared as JavaScript compares them without regard to case, which makes a few more letters equal than lower-casing does
(spec: deeplore-engine 3.4, 3.10).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import code_units
from lorestudio.engine.deeplore.kept import NOTHING_KEPT, Kept
from lorestudio.engine.deeplore.key_table import KeyTable, Pattern

_WORD: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")


def _exploded(text: str) -> str:
    """The text with one character a UTF-16 code unit, so that halves of surrogate pairs can be found."""
    units = code_units(text)
    return "".join(chr(units[i] | units[i + 1] << 8) for i in range(0, len(units), 2))


@dataclass(frozen=True, slots=True)
class Hits:
    """Where patterns occur in one text: for each pattern number the start of its last occurrence."""

    last: dict[int, int]

    def within(self, pattern: int, offset: int) -> bool:
        """Whether the pattern occurs at `offset` or later."""
        return self.last.get(pattern, -1) >= offset


@dataclass(frozen=True, slots=True)
class KeyHit:
    """The first key of an entry that hit: as its author wrote it, with the place of its last occurrence.

    `refine` is the first refine key that hit, where the entry has any.
    """

    key: str
    pattern: int
    start: int
    refine: KeyHit | None = None

    @property
    def refine_key(self) -> str | None:
        """The refine key as its author wrote it."""
        return None if self.refine is None else self.refine.key


class KeyMatcher:
    """All keys of an index, ready to be searched with one choice of case and whole words.

    Entries are named by their ids, which are their places in the list given. With a `base` of the same choices, only
    the keys of entries that are not in `kept` are prepared; the result is the same as without.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        *,
        case_sensitive: bool,
        whole_words: bool,
        base: KeyMatcher | None = None,
        kept: Kept = NOTHING_KEPT,
    ) -> None:
        self.case_sensitive = case_sensitive
        self.table: KeyTable
        if base is not None:
            self.table = base.table.changed(entries, kept)
        else:
            self.table = KeyTable(case_sensitive, whole_words, primary=[()] * len(entries), refine=[()] * len(entries))
            self.table.add(entries, range(len(entries)))

    def find(self, text: str) -> Hits:
        """All patterns that occur in `text`, which is folded already unless case matters."""
        return Hits(dict(self.occurring(text)))

    def occurring(self, text: str) -> Iterator[tuple[int, int]]:
        """Every occurrence in `text`, folded like that of `find`, as pattern number and start.

        Those of one pattern stand in ascending order. Of a key with half a surrogate pair only the last is told.
        """
        searched, patterns = self.table.searched(text), self.table.patterns
        for automaton in self.table.automatons if text else ():
            for end, (size, numbers) in automaton.iter(searched):
                start = end - size + 1
                for number in numbers:
                    pattern = patterns[number]
                    if pattern.word:
                        if self._stands_alone(searched, start, end + 1):
                            yield number, start
                    elif searched is text or text.startswith(pattern.text, start):
                        yield number, start
        for number in self.table.halved:
            pattern = patterns[number]
            start = self._find_halved(pattern, searched if pattern.word else text)
            if start >= 0:
                yield number, start

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
        return len(self.table.patterns[hit.pattern].text)

    def test(self, entry_id: int, hits: Hits, offset: int = 0) -> KeyHit | None:
        """The first key of entry `entry_id` that occurs at `offset` or later, with its refine keys satisfied."""
        hit = self.test_primary(entry_id, hits, offset)
        if hit is None or not self.table.refine[entry_id]:
            return hit
        for key, number in self.table.refine[entry_id]:
            if hits.within(number, offset):
                return KeyHit(hit.key, hit.pattern, hit.start, KeyHit(key, number, hits.last[number]))
        return None

    def test_primary(self, entry_id: int, hits: Hits, offset: int = 0) -> KeyHit | None:
        """The first key that occurs at `offset` or later, refine keys or not."""
        for key, number in self.table.primary[entry_id]:
            if hits.within(number, offset):
                return KeyHit(key, number, hits.last[number])
        return None

    def hit_entries(self, hits: Hits) -> list[int]:
        """Ids of the entries with any primary key in the text, ascending."""
        return sorted({entry_id for number in hits.last for entry_id in self.table.holders(number)})

    def occurrences(self, entry_id: int, text: str) -> int:
        """Non-overlapping occurrences of all primary keys of entry `entry_id`, summed."""
        patterns, searched = self.table.patterns, self.table.searched(text)
        return sum(self._count(patterns[number], text, searched) for _, number in self.table.primary[entry_id])

    def count(self, pattern: int, text: str) -> int:
        """Non-overlapping occurrences of one pattern, named by its number."""
        return self._count(self.table.patterns[pattern], text, self.table.searched(text))

    @staticmethod
    def _count(pattern: Pattern, text: str, searched: str) -> int:
        needle, haystack = pattern.text, searched if pattern.word else text
        if pattern.lone_surrogate:
            needle, haystack = _exploded(needle), _exploded(haystack)
        if not pattern.word:
            return haystack.count(needle)
        return len(re.findall(rf"(?<![A-Za-z0-9_]){re.escape(needle)}(?![A-Za-z0-9_])", haystack))
