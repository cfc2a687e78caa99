"""Unlinked mentions: where the names and keys of notes stand as plain text, and the edit to link one.

Obsidian takes title and aliases for names; here the file's name is one too, and keys are told apart, as DeepLore knows
no others. Letter case does not matter, and a name inside a word is none, also in scripts without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.automaton import WordFinder, automaton_of
from lorestudio.domain.file_names import NOT_IN_LINKS
from lorestudio.domain.javascript import trim
from lorestudio.domain.texts import joined_spans
from lorestudio.vault.links.references import Excerpt, Span, excerpt, literal_parts
from lorestudio.vault.links.targets import IndexedNote
from lorestudio.vault.note.spans import split_places
from lorestudio.vault.note.text_edits import TextEdit


def link_edit(text: str, start: int, end: int, title: str) -> TextEdit:
    """Link `text[start:end]` to the note of this title, with what is written there as the alias where it differs.

    The title is what DeepLore's links lead to; Obsidian finds it where the file is called so too. In the row of a table
    the bar is escaped. Raises ValueError for a title that no link can name.
    """
    if not title or any(char in title for char in NOT_IN_LINKS) or "\n" in title:
        raise ValueError(
            f"No link can lead to “{title}”: {' '.join(NOT_IN_LINKS)} mean something in links. Rename the note first."
        )
    written = text[start:end]
    line = text[text.rfind("\n", 0, start) + 1 : start].lstrip(" \t>")
    bar = "\\|" if line.startswith("|") else "|"
    return TextEdit(start, end, f"[[{title}]]" if written == title else f"[[{title}{bar}{written}]]")


_UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul letters; Korean has spaces, but particles stand right behind a name
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),
    (0x3040, 0x318F),  # Hiragana, Katakana, Bopomofo, Hangul letters
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),
    (0xFF66, 0xFFDC),  # halfwidth Katakana and Hangul
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)
_STARTS: Final = [first for first, _ in _UNSPACED]


@lru_cache(maxsize=4096)
def is_word(char: str) -> bool:
    """Whether the character belongs to a word that has neighbours: a letter, figure, underscore or combining mark.

    Letters of scripts without spaces do not, as a word may begin beside each of them.
    """
    if char.isascii():
        return char.isalnum() or char == "_"
    point = ord(char)
    number = bisect_right(_STARTS, point) - 1
    if number >= 0 and point <= _UNSPACED[number][1]:
        return False
    return char.isalnum() or unicodedata.category(char).startswith("M")


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the span neither begins nor ends in the middle of a word."""
    return not (start > 0 and is_word(text[start]) and is_word(text[start - 1])) and not (
        end < len(text) and is_word(text[end - 1]) and is_word(text[end])
    )


def lower_in_place(text: str) -> str:
    """Lower case with every character at its place: where lower-casing makes two of one, that one stays."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


def spellings(text: str) -> tuple[str, ...]:
    """The text in lower case, composed and decomposed: files from some systems have their letters taken apart."""
    if text.isascii():
        return (text.lower(),)
    forms = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    return tuple(dict.fromkeys(lower_in_place(form) for form in forms))


class MentionOf(StrEnum):
    """What of the note is mentioned."""

    TITLE = "title"
    FILE_NAME = "file name"
    ALIAS = "alias"
    KEY = "key"


class Mention(Struct, frozen=True):
    """One place in the note `source`, in code points of its text, where another note is named without a link."""

    source: str
    start: int
    end: int
    of: MentionOf
    excerpt: Excerpt


_Hit: TypeAlias = tuple[int, int, str]
"""Start, end and the name found, in lower case."""

_TAG = re.compile(r"(?<!\S)#[^\s#,.;:!?\"'()\[\]]+")
_ADDRESS_OR_TAG = re.compile(rf"\b(?:[A-Za-z][A-Za-z0-9+.-]*://|www\.)[^\s<>\[\]]+|{_TAG.pattern}")
_MOST_CHANGES: Final = 400
"""Names that came since the searching was prepared; with more it is prepared again."""
_FEW: Final = 8
"""So many names are found faster one by one."""


class _MentionNames:
    """All names and keys of a vault, ready to be searched, with how many notes have each."""

    def __init__(self, names: Counter[str], keys: Counter[str]) -> None:
        self.names = names
        self.keys = keys
        self._prepared = automaton_of({name: name for name in (*names, *keys)})
        self._since: frozenset[str] = frozenset()
        self._for_since: WordFinder | None = None

    def changed(self, before: IndexedNote | None, after: IndexedNote | None) -> tuple[_MentionNames, set[str]]:
        """With another note in place of one, and the names that came, went, or changed from name to key or back.

        What is prepared stays as long as little has come.
        """
        names, keys = Counter(self.names), Counter(self.keys)
        for counts, own in ((names, _names_of), (keys, _keys_of)):
            for name in own(before):
                counts[name] -= 1
                if not counts[name]:
                    del counts[name]
            counts.update(own(after))
        touched = {name for note in (before, after) for name in (*_names_of(note), *_keys_of(note))}
        other = {name for name in touched if (name in names, name in keys) != (name in self.names, name in self.keys)}
        if not other:
            names, keys = self.names, self.keys
        came = {name for name in other if name not in self.names and name not in self.keys}
        if len(self._since) + len(came) > _MOST_CHANGES:
            return _MentionNames(names, keys), other
        result = object.__new__(_MentionNames)
        result.names, result.keys, result._prepared = names, keys, self._prepared
        result._since = self._since | came
        result._for_since = automaton_of({name: name for name in result._since}) if came else self._for_since
        return result, other

    def search(self, lower: str, start: int) -> Iterator[_Hit]:
        """Every name from `start` on that stands alone, overlapping ones too, in no particular order."""
        for automaton in (self._prepared, self._for_since):
            if automaton is None:
                continue
            for last, name in automaton.iter(lower, start):
                begin, end = last - len(name) + 1, last + 1
                if stands_alone(lower, begin, end) and (name in self.names or name in self.keys):
                    yield begin, end, name


class MentionIndex:
    """Where the names and keys of all notes stand in all notes; immutable."""

    def __init__(
        self, names: _MentionNames, hits: Mapping[str, tuple[_Hit, ...]], places: Mapping[str, frozenset[str]]
    ) -> None:
        self._names = names
        self._hits = hits
        self._places = places

    @classmethod
    def build(cls, notes: Collection[IndexedNote]) -> MentionIndex:
        """The index of notes, each of which is searched for the names of all."""
        names: Counter[str] = Counter()
        keys: Counter[str] = Counter()
        for note in notes:
            names.update(_names_of(note))
            keys.update(_keys_of(note))
        prepared = _MentionNames(names, keys)
        hits = {note.filename: found for note in notes if (found := _search(note, prepared))}
        places: dict[str, set[str]] = {}
        for filename, found in hits.items():
            for _, _, name in found:
                places.setdefault(name, set()).add(filename)
        return cls(prepared, hits, {name: frozenset(files) for name, files in places.items()})

    def changed(
        self, before: IndexedNote | None, after: IndexedNote | None, notes: Iterable[IndexedNote]
    ) -> MentionIndex:
        """With another note in place of one; `notes` are all, the new one with them.

        Searched again are that note and those whose text has a name that came or went.
        """
        names, other = self._names.changed(before, after)
        again: list[IndexedNote | None] = [after]
        if other:
            has_any = _finder(other)
            again += [note for note in notes if note is not after and has_any(note.text)]
        hits, places = dict(self._hits), dict(self._places)
        if before is not None:
            _enter(hits, places, before.filename, ())
        for note in again:
            if note is not None:
                _enter(hits, places, note.filename, _search(note, names))
        return MentionIndex(names, hits, places)

    def of(self, note: IndexedNote, text_of: Callable[[str], str]) -> tuple[Mention, ...]:
        """The mentions of `note` in other notes, whose texts `text_of` gives, in the order of names and texts.

        A key is left out where it stands in the place of a name of the same note.
        """
        kinds = _kinds(note)
        files = set[str]().union(*(self._places.get(name, ()) for name in kinds)) - {note.filename}
        mentions: list[Mention] = []
        for filename in sorted(files):
            text = text_of(filename)
            own = [(start, end, kinds[name]) for start, end, name in self._hits[filename] if name in kinds]
            named = [(start, end) for start, end, kind in own if kind is not MentionOf.KEY]
            known = (0, 1)
            for start, end, kind in own:
                if kind is MentionOf.KEY and any(start < other[1] and other[0] < end for other in named):
                    continue
                place = excerpt(text, start, end, known)
                known = (start, place.line)
                mentions.append(Mention(filename, start, end, kind, place))
        return tuple(mentions)


def _enter(
    hits: dict[str, tuple[_Hit, ...]], places: dict[str, frozenset[str]], filename: str, found: tuple[_Hit, ...]
) -> None:
    before = {name for _, _, name in hits.pop(filename, ())}
    after = {name for _, _, name in found}
    for name in before - after:
        left = places[name] - {filename}
        if left:
            places[name] = left
        else:
            del places[name]
    for name in after - before:
        places[name] = places.get(name, frozenset()) | {filename}
    if found:
        hits[filename] = found


def _kinds(note: IndexedNote | None) -> dict[str, MentionOf]:
    """What a note is called, in lower case, and as what."""
    kinds: dict[str, MentionOf] = {}
    if note is not None:
        for kind, names in (
            (MentionOf.TITLE, (note.names.title,)),
            (MentionOf.ALIAS, note.names.aliases),
            (MentionOf.FILE_NAME, (note.names.base_name,)),
            (MentionOf.KEY, note.keys),
        ):
            for name in names:
                for spelling in spellings(trim(name)):
                    if spelling:
                        kinds.setdefault(spelling, kind)
    return kinds


def _names_of(note: IndexedNote | None) -> list[str]:
    return [name for name, kind in _kinds(note).items() if kind is not MentionOf.KEY]


def _keys_of(note: IndexedNote | None) -> list[str]:
    return [name for name, kind in _kinds(note).items() if kind is MentionOf.KEY]


def _finder(names: set[str]) -> Callable[[str], bool]:
    """Tells whether a text has one of the names, be it inside a word."""
    automaton = automaton_of({name: name for name in names})
    if automaton is None or len(names) <= _FEW:
        return lambda text: any(name in lower for lower in (lower_in_place(text),) for name in names)
    return lambda text: next(automaton.iter(lower_in_place(text)), None) is not None


def _search(note: IndexedNote, names: _MentionNames) -> tuple[_Hit, ...]:
    """The names that the note's body mentions outside links, code, addresses and tags, in order.

    Where names overlap the longest of the first place is meant. A key counts where it is not part of a name.
    """
    body_start = split_places(note.text)[2]
    found = list(names.search(lower_in_place(note.text), body_start))
    if not found:
        return ()
    closed = _closed(note, body_start)
    free = [hit for hit in found if not _overlaps(closed, hit)]
    named = _longest(hit for hit in free if hit[2] in names.names)
    spans = [(start, end) for start, end, _ in named]
    keys = _longest(hit for hit in free if hit[2] not in names.names and not _within(spans, hit))
    return tuple(sorted([*named, *keys]))


def _closed(note: IndexedNote, body_start: int) -> list[Span]:
    """Where nothing can be linked: links, code, comments, addresses, tags; merged, in order."""
    spans = [(reference.start, reference.end) for reference in note.references if reference.start >= body_start]
    spans += literal_parts(note.text, body_start)
    # An address may begin with any word, and nearly every note has the number sign of its title.
    sought = _ADDRESS_OR_TAG if "://" in note.text or "www." in note.text else _TAG
    spans += [found.span() for found in sought.finditer(note.text, body_start)]
    return joined_spans(spans)


def _longest(hits: Iterable[_Hit]) -> list[_Hit]:
    chosen: list[_Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit[0], -hit[1])):
        if not chosen or hit[0] >= chosen[-1][1]:
            chosen.append(hit)
    return chosen


def _overlaps(spans: list[Span], hit: _Hit) -> bool:
    number = bisect_left(spans, (hit[1],)) - 1
    return number >= 0 and spans[number][1] > hit[0]


def _within(spans: list[Span], hit: _Hit) -> bool:
    number = bisect_left(spans, (hit[0] + 1,)) - 1
    return number >= 0 and hit[1] <= spans[number][1]
