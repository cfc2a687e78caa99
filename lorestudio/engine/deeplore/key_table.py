"""The keys of a vault as they are searched: patterns by number, who has them, and the automatons that find them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

import ahocorasick

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import WHITE_SPACE, fold, head, trim
from lorestudio.engine.deeplore.kept import Kept

KEY_LIMIT: Final = 200
"""Code units of a primary key that take part in matching."""

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


def _has_lone_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A key as it is searched: `text` in the folded haystack; `word` where it must stand alone."""

    text: str
    word: bool
    lone_surrogate: bool = False


@dataclass(slots=True)
class KeyTable:
    """Every key with the number of its pattern, entry by entry, for one choice of case and whole words.

    A changed table goes on from its `base`: patterns of the base keep their numbers, and those that no entry has any
    more are still found but have no holders.
    """

    case_sensitive: bool
    whole_words: bool
    patterns: list[Pattern] = field(default_factory=list, repr=False)
    numbers: dict[Pattern, int] = field(default_factory=dict, repr=False)
    primary: list[tuple[tuple[str, int], ...]] = field(default_factory=list, repr=False)
    refine: list[tuple[tuple[str, int], ...]] = field(default_factory=list, repr=False)
    entries_of: dict[int, list[int]] = field(default_factory=dict, repr=False)
    halved: list[int] = field(default_factory=list)
    automatons: tuple[ahocorasick.Automaton, ...] = ()
    base: KeyTable | None = field(default=None, repr=False)
    targets: list[int] = field(default_factory=list, repr=False)

    def changed(self, entries: Sequence[Entry], kept: Kept) -> KeyTable:
        """The table of these entries, of which those in `kept` were in this one."""
        table = replace(
            self,
            patterns=self.patterns.copy(),
            numbers={},
            primary=[self.primary[source] if source >= 0 else () for source in kept.sources],
            refine=[self.refine[source] if source >= 0 else () for source in kept.sources],
            entries_of={},
            base=self,
            targets=kept.targets.tolist(),
        )
        table.add(entries, kept.new)
        return table

    def add(self, entries: Sequence[Entry], places: Iterable[int]) -> None:
        """Take in the entries at these places; only while the table is being made."""
        known = len(self.patterns)
        for place in places:
            entry = entries[place]
            primary = tuple((key, self._number(head(key, KEY_LIMIT))) for key in entry.keys if trim(key))
            self.primary[place] = primary
            self.refine[place] = tuple((key, self._number(key)) for key in entry.refine_keys if trim(key))
            for number in dict.fromkeys(number for _, number in primary):
                self.entries_of.setdefault(number, []).append(place)
        added = range(known, len(self.patterns))
        self.halved = self.halved + [number for number in added if self.patterns[number].lone_surrogate]
        self.automatons = (*self.automatons, *self._built(added))

    def pattern(self, key: str) -> Pattern:
        """The key as it is searched."""
        text = key if self.case_sensitive else fold(key)
        word = self.whole_words and _WHITE.isdisjoint(text)
        if word and not self.case_sensitive:
            text = lower_variants(text)
        return Pattern(text, word, _has_lone_surrogate(text))

    def _number(self, key: str) -> int:
        pattern = self.pattern(key)
        known = self.base.numbers.get(pattern) if self.base is not None else None
        if known is not None:
            return known
        number = self.numbers.setdefault(pattern, len(self.patterns))
        if number == len(self.patterns):
            self.patterns.append(pattern)
        return number

    def _built(self, numbers: Iterable[int]) -> tuple[ahocorasick.Automaton, ...]:
        """An automaton of these patterns, none where there is nothing to search."""
        by_text: dict[str, list[int]] = {}
        for number in numbers:
            pattern = self.patterns[number]
            if not pattern.lone_surrogate:
                by_text.setdefault(self.searched(pattern.text), []).append(number)
        if not by_text:
            return ()
        automaton = ahocorasick.Automaton()
        for text, same in by_text.items():
            automaton.add_word(text, (len(text), tuple(same)))
        automaton.make_automaton()
        return (automaton,)

    def searched(self, text: str) -> str:
        """A folded text as the automatons see it."""
        return lower_variants(text) if self.whole_words and not self.case_sensitive else text

    def holders(self, number: int) -> list[int]:
        """Places of the entries that have the pattern among their primary keys."""
        own = self.entries_of.get(number, [])
        if self.base is None:
            return own
        stayed = (self.targets[place] for place in self.base.holders(number))
        return [place for place in stayed if place >= 0] + own
