"""Finding keys: all keys of the vault in one pass over a text, with the result of DeepLore's per-key rules.

The text is the last messages of the chat, one line each (rules: deeplore 3.3). Keys match as plain substrings, or as
whole words where that is on and the key has no white space. Whole words are compared as JavaScript compares them
without regard to case, which makes a few more letters equal than lower-casing does (rules: deeplore 3.4, 3.10). A key
is a numbered pattern that an automaton finds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from msgspec import Struct

from lorestudio.domain.automaton import LONGEST_WORD, WordFinder, automaton_of
from lorestudio.domain.chat import Message
from lorestudio.domain.entry import ANY_REFINE, Entry
from lorestudio.domain.javascript import WHITE_SPACE, WORD, as_units, fold, head, trim
from lorestudio.domain.lifecycle import heeding
from lorestudio.domain.records import replace
from lorestudio.systems.deeplore.matching.kept import NOTHING_KEPT, Kept

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


class KeyPattern(Struct, frozen=True, gc=False):  # no part of a cycle, and there are thousands of them
    """A key as it is searched: `text` in the folded haystack; `word` where it must stand alone.

    It is searched `apart` where it is too long for an automaton, or has half a surrogate pair.
    """

    text: str
    word: bool
    apart: bool = False


TEXTS_KEPT: Final = 8192
"""Of so many texts a finder knows what it found: a chat's lines and the contents of a large vault."""


class PatternFinder:
    """The automaton of some patterns. What is in a line is found once, for all runs and whatever their settings."""

    def __init__(self, automaton: WordFinder, patterns: Sequence[KeyPattern]) -> None:
        self._automaton, self._patterns = automaton, patterns
        self._known: dict[str, tuple[tuple[int, int], ...]] = {}

    def occurring(self, text: str, searched: str) -> Iterator[tuple[int, int]]:
        """Every occurrence in a text as pattern number and start; `searched` is the text as automatons see it."""
        for end, numbers in self._automaton.iter(searched):
            for number in numbers:
                pattern = self._patterns[number]
                start = end - len(pattern.text) + 1
                if pattern.word:
                    if stands_alone(searched, start, end + 1):
                        yield number, start
                elif searched is text or text.startswith(pattern.text, start):
                    yield number, start

    def last_in(self, line: str, table: KeyTable) -> tuple[tuple[int, int], ...]:
        """The last occurrence of each pattern in a line, which is kept."""
        found = self._known.get(line)
        if found is None:
            if len(self._known) >= TEXTS_KEPT:
                self._known = {}
            found = self._known[line] = tuple(dict(self.occurring(line, table.searched(line))).items()) if line else ()
        return found


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether neither neighbour is an ASCII word character.

    That is what both forms of the rule come to, whether the key itself begins or ends with one or not.
    """
    return (start == 0 or text[start - 1] not in WORD) and (end == len(text) or text[end] not in WORD)


@dataclass(slots=True)
class KeyTable:
    """Every key with the number of its pattern, entry by entry, for one choice of case and whole words.

    A changed table goes on from its `base`: patterns of the base keep their numbers, and those that no entry has any
    more are still found but have no holders.
    """

    case_sensitive: bool
    whole_words: bool
    patterns: list[KeyPattern] = field(default_factory=list, repr=False)
    numbers: dict[KeyPattern, int] = field(default_factory=dict, repr=False)
    primary: list[tuple[tuple[str, int], ...]] = field(default_factory=list, repr=False)
    refine: list[tuple[tuple[str, int], ...]] = field(default_factory=list, repr=False)
    logics: list[str] = field(default_factory=list, repr=False)
    entries_of: dict[int, list[int]] = field(default_factory=dict, repr=False)
    apart: list[int] = field(default_factory=list)
    finders: tuple[PatternFinder, ...] = ()
    lines_apart: bool = True
    """Whether what is in a text is what is in its lines: no key has a line feed, or is searched apart."""
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
            logics=[entry.selective_logic for entry in entries],
            entries_of={},
            base=self,
            targets=kept.targets.tolist(),
        )
        table.add(entries, kept.new)
        return table

    def add(self, entries: Sequence[Entry], places: Iterable[int]) -> None:
        """Take in the entries at these places; only while the table is being made."""
        known = len(self.patterns)
        for place in heeding(places):
            entry = entries[place]
            primary = tuple((key, self._number(head(key, KEY_LIMIT))) for key in entry.keys if trim(key))
            self.primary[place] = primary
            self.refine[place] = tuple((key, self._number(key)) for key in entry.refine_keys if trim(key))
            for number in dict.fromkeys(number for _, number in primary):
                self.entries_of.setdefault(number, []).append(place)
        added = range(known, len(self.patterns))
        self.apart = self.apart + [number for number in added if self.patterns[number].apart]
        self.lines_apart = self.lines_apart and not any(
            self.patterns[number].apart or "\n" in self.patterns[number].text for number in added
        )
        self.finders = (*self.finders, *self._built(added))

    def pattern(self, key: str) -> KeyPattern:
        """The key as it is searched."""
        text = key if self.case_sensitive else fold(key)
        word = self.whole_words and _WHITE.isdisjoint(text)
        if word and not self.case_sensitive:
            text = lower_variants(text)
        return KeyPattern(text, word, len(text) > LONGEST_WORD or _has_lone_surrogate(text))

    def _number(self, key: str) -> int:
        pattern = self.pattern(key)
        known = self.base.numbers.get(pattern) if self.base is not None else None
        if known is not None:
            return known
        number = self.numbers.setdefault(pattern, len(self.patterns))
        if number == len(self.patterns):
            self.patterns.append(pattern)
        return number

    def _built(self, numbers: Iterable[int]) -> tuple[PatternFinder, ...]:
        """A finder of these patterns, none where there is nothing to search."""
        by_text: dict[str, tuple[int, ...]] = {}
        for number in heeding(numbers):
            if not (pattern := self.patterns[number]).apart:
                text = self.searched(pattern.text)
                by_text[text] = (*by_text.get(text, ()), number)  # few patterns have one text
        automaton = automaton_of(by_text)
        return () if automaton is None else (PatternFinder(automaton, self.patterns),)

    def searched(self, text: str) -> str:
        """A folded text as the automatons see it."""
        return lower_variants(text) if self.whole_words and not self.case_sensitive else text

    def holders(self, number: int) -> list[int]:
        """Places of the entries that have the pattern among their primary keys."""
        own = self.entries_of.get(number, [])
        if self.base is None:
            return own
        return [place for before in self.base.holders(number) if (place := self.targets[before]) >= 0] + own


class PatternHits(Struct, frozen=True):
    """Where patterns occur in one text: for each pattern number the start of its last occurrence."""

    last: dict[int, int]

    def within(self, pattern: int, offset: int) -> bool:
        """Whether the pattern occurs at `offset` or later."""
        return self.last.get(pattern, -1) >= offset


class KeyHit(Struct, frozen=True, gc=False):  # no part of a cycle
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


_REFINED: Final[Mapping[str, Callable[[int, int], bool]]] = {
    ANY_REFINE: lambda found, _: found > 0,
    "and_all": lambda found, of: found == of,
    "not_all": lambda found, of: found < of,
    "not_any": lambda found, _: found == 0,
}
"""Whether so many refine keys of so many are what each logic asks for."""


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
            logics = [entry.selective_logic for entry in entries]
            none: list[tuple[tuple[str, int], ...]] = [()] * len(entries)
            self.table = KeyTable(case_sensitive, whole_words, primary=none, refine=none.copy(), logics=logics)
            self.table.add(entries, range(len(entries)))

    def find(self, text: str) -> PatternHits:
        """All patterns that occur in `text`, which is folded already unless case matters."""
        return PatternHits(dict(self.occurring(text)))

    def find_in_lines(self, lines: Sequence[str]) -> PatternHits:
        """As `find` for lines joined by line feeds; what is in each is kept for the next text that it stands in."""
        if not self.table.lines_apart:
            return self.find("\n".join(lines))
        last: dict[int, int] = {}
        offset = 0
        for line in lines:
            for finder in self.table.finders:
                for number, start in finder.last_in(line, self.table):
                    last[number] = offset + start
            offset += len(line) + 1
        return PatternHits(last)

    def occurring(self, text: str) -> Iterator[tuple[int, int]]:
        """Every occurrence in `text`, folded like that of `find`, as pattern number and start.

        Those of one pattern stand in ascending order. Of a key that is searched apart only the last is told.
        """
        searched, patterns = self.table.searched(text), self.table.patterns
        for finder in self.table.finders if text else ():
            yield from finder.occurring(text, searched)
        for number in self.table.apart:
            pattern = patterns[number]
            start = self._find_apart(pattern, searched if pattern.word else text)
            if start >= 0:
                yield number, start

    def _find_apart(self, pattern: KeyPattern, text: str) -> int:
        """Last start of a key that is searched apart, -1 for none; the offset is that of the nearest character."""
        units, needle = as_units(text), as_units(pattern.text)
        start = units.rfind(needle)
        while start >= 0 and pattern.word and not stands_alone(units, start, start + len(needle)):
            start = units.rfind(needle, 0, start + len(needle) - 1)
        if start < 0:
            return start
        return len(units[:start].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))

    def size(self, hit: KeyHit) -> int:
        """Length of the hit in the searched text."""
        return len(self.table.patterns[hit.pattern].text)

    def test(self, entry_id: int, hits: PatternHits, offset: int = 0) -> KeyHit | None:
        """The first key of entry `entry_id` that occurs at `offset` or later, with its refine keys satisfied.

        How many of those have to occur, the entry's logic says (rules: deeplore-newer 1.1); by default one.
        """
        hit = self.test_primary(entry_id, hits, offset)
        refine = self.table.refine[entry_id]
        if hit is None or not refine:
            return hit
        found = [KeyHit(key, number, hits.last[number]) for key, number in refine if hits.within(number, offset)]
        if not _REFINED[self.table.logics[entry_id]](len(found), len(refine)):
            return None
        return KeyHit(hit.key, hit.pattern, hit.start, found[0] if found else None)

    def test_primary(self, entry_id: int, hits: PatternHits, offset: int = 0) -> KeyHit | None:
        """The first key that occurs at `offset` or later, refine keys or not."""
        last = hits.last
        for key, number in self.table.primary[entry_id]:
            if last.get(number, -1) >= offset:
                return KeyHit(key, number, last[number])
        return None

    def hit_entries(self, hits: PatternHits) -> list[int]:
        """Ids of the entries with any primary key in the text, ascending."""
        return sorted(set().union(*map(self.table.holders, hits.last)))

    def occurrences(self, entry_id: int, text: str) -> int:
        """Non-overlapping occurrences of all primary keys of entry `entry_id`, summed."""
        patterns, searched = self.table.patterns, self.table.searched(text)
        return sum(self._count(patterns[number], text, searched) for _, number in self.table.primary[entry_id])

    def count(self, pattern: int, text: str) -> int:
        """Non-overlapping occurrences of one pattern, named by its number."""
        return self._count(self.table.patterns[pattern], text, self.table.searched(text))

    @staticmethod
    def _count(pattern: KeyPattern, text: str, searched: str) -> int:
        needle, haystack = pattern.text, searched if pattern.word else text
        if pattern.apart:
            needle, haystack = as_units(needle), as_units(haystack)
        if not pattern.word:
            return haystack.count(needle)
        return len(re.findall(rf"(?<![A-Za-z0-9_]){re.escape(needle)}(?![A-Za-z0-9_])", haystack))


class ScanLine(Struct, frozen=True):
    """One scanned message: its index in the prompt view, its place in the window's count, and its line."""

    message: int
    place: int
    raw: str
    name_length: int
    text: str


class ScanWindow:
    """The scanned lines of a chat, deepest window first; every shallower window is a suffix of the same text.

    A line is `name: text`. Hidden, system, narrator and tool messages are not searched but use up places of the window,
    unless `searched_only` says that they do not.
    """

    def __init__(
        self, chat: Sequence[Message], deepest: float, *, case_sensitive: bool, searched_only: bool = False
    ) -> None:
        # The places of the window: all messages, or only those that are searched.
        places: Sequence[int] = range(len(chat))
        if searched_only:
            places = [index for index in places if chat[index].scannable]
        self._length = len(places)
        self.lines: list[ScanLine] = []
        for place in range(self._first_place(deepest), len(places)):
            index = places[place]
            message = chat[index]
            if message.scannable:
                name = message.name or ""
                raw = f"{name}: {message.text}"
                self.lines.append(ScanLine(index, place, raw, len(name) + 2, raw if case_sensitive else fold(raw)))
        self.text = "\n".join(line.text for line in self.lines)
        self._starts = []
        offset = 0
        for line in self.lines:
            self._starts.append(offset)
            offset += len(line.text) + 1

    def _first_place(self, depth: float) -> int:
        if depth <= 0:
            return self._length
        # A depth between 0 and 1 truncates to "minus zero", which JavaScript's slice reads as the whole chat.
        return self._length - int(min(depth, self._length)) if depth >= 1 else 0

    def offset(self, depth: float) -> int:
        """Where the window of `depth` messages begins in `text`; past its end for an empty window."""
        first = self._first_place(depth)
        for line, start in zip(self.lines, self._starts, strict=True):
            if line.place >= first:
                return start
        return len(self.text) + 1

    def tail(self, depth: float) -> str:
        """The window of `depth` messages as it is searched."""
        return self.text[self.offset(depth) :]

    def raw_tail(self, depth: float) -> str:
        """The window of `depth` messages as it is written."""
        first = self._first_place(depth)
        return "\n".join(line.raw for line in self.lines if line.place >= first)

    def count(self, depth: float) -> int:
        """How many messages the window of `depth` really searches."""
        first = self._first_place(depth)
        return sum(1 for line in self.lines if line.place >= first)

    def locate(self, start: int, size: int) -> dict[str, int | bool]:
        """Which message holds the hit at `start`: its index in the prompt view, and the span in its text.

        The span is left out where lower-casing changed the length of the line; a hit in the speaker's name says so.
        """
        place = bisect_right(self._starts, start) - 1
        line = self.lines[place]
        where: dict[str, int | bool] = {"message": line.message}
        first = start - self._starts[place] - line.name_length
        if first < 0:
            where["in_name"] = True
        elif len(line.raw) == len(line.text):
            where |= {"start": first, "end": first + size}
        return where
