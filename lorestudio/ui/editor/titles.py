"""The names that links may use: titles, file names and aliases, and what each leads to. Qt is not needed here."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex
from lorestudio.ui.fuzzy import score

MOST: Final = 40
"""Nobody reads more offers than that."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name that a link may use. `alias_of` is the title where the name is an alias, "" else."""

    text: str
    note: Entry | LeftOutNote
    alias_of: str = ""

    @property
    def link(self) -> str:
        """What stands between the brackets of a link by this name."""
        return f"{self.alias_of}|{self.text}" if self.alias_of else self.text


class TitleBook:
    """Names by what they lead to, without regard to case. Made anew when the vault changes."""

    def __init__(self, index: VaultIndex | None = None, aliases: Mapping[str, Iterable[str]] | None = None) -> None:
        """`aliases` are further names by the lower-case title of the entry they belong to."""
        self._names: list[Name] = []
        self._folded: list[str] = []
        self._targets: dict[str, Entry | LeftOutNote] = {}
        self._titles: frozenset[str] = frozenset()
        self.tags: tuple[str, ...] = ()
        self.values: dict[str, tuple[str, ...]] = {}
        if index is not None:
            self._read(index, aliases or {})

    def _read(self, index: VaultIndex, aliases: Mapping[str, Iterable[str]]) -> None:
        tags: dict[str, int] = {}
        for entry in index.entries:
            self._add(Name(entry.title, entry))
            for alias in aliases.get(entry.title.lower(), ()):
                self._add(Name(alias, entry, entry.title))
            for tag in entry.tags:
                tags[tag] = tags.get(tag, 0) + 1
        self._titles = frozenset(entry.title.lower() for entry in index.entries)
        notes: tuple[Entry | LeftOutNote, ...] = (*index.entries, *index.left_out)
        for note in notes:
            if note.filename.endswith(".md"):
                path = note.filename.removesuffix(".md")
                self._targets.setdefault(path.lower(), note)
                self._targets.setdefault(path.rpartition("/")[2].lower(), note)
        self.tags = tuple(sorted(tags, key=lambda tag: (-tags[tag], tag)))

    def _add(self, name: Name) -> None:
        self._names.append(name)
        self._folded.append(name.text.casefold())
        self._targets.setdefault(name.text.lower(), name.note)

    def find(self, target: str) -> Entry | LeftOutNote | None:
        """The note that a link leads to; a heading or block behind `#` or `^` makes no difference."""
        name = target.strip().removesuffix("\\")
        for mark in ("#", "^"):
            head, found, _rest = name.partition(mark)
            if found and head.strip():
                name = head.strip()
        return self._targets.get(name.lower()) or self._targets.get(name.lower().removesuffix(".md"))

    def is_title(self, name: str) -> bool:
        """Whether an entry has this title; only titles count in requires, excludes and cascade links (spec 1.13)."""
        return name.strip().lower() in self._titles

    def offers(self, typed: str, *, titles_only: bool = False) -> list[Name]:
        """Names that fit what was typed, best first, at most `MOST`."""
        wanted = typed.casefold()
        names = self._names
        if not wanted:
            return [name for name in names if not (titles_only and name.alias_of)][:MOST]
        places = [place for place, folded in enumerate(self._folded) if wanted in folded]
        if len(places) < MOST:  # only then is it worth looking for letters that stand apart
            first, letters = wanted[0], set(wanted.replace(" ", ""))
            known = set(places)
            places += [
                place
                for place, folded in enumerate(self._folded)
                if place not in known and first in folded and letters <= set(folded)
            ]
        scored = (
            (points, -place)
            for place in places
            if not (titles_only and names[place].alias_of) and (points := score(typed, names[place].text)) is not None
        )
        return [names[-place] for _points, place in heapq.nlargest(MOST, scored)]
