"""What an edited index has in common with the one before, so that only the rest has to be prepared anew."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from lorestudio.domain.entry import Entry, NoteKey
from lorestudio.domain.records import Terse

Places: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.intp]]"

MOST_NEW: Final = 64
"""With more new entries than this, preparing everything anew is the better bargain."""


class Kept(Terse, frozen=True, dict=True):
    """Where the entries of an index stood in the index before.

    `sources` has for each place the former place of the same entry, -1 for a new one. Entries are the same here when
    everything that is searched is: title, keys, refine keys and content. `before` is how many entries there were.
    """

    unprinted = ("sources",)

    sources: tuple[int, ...]
    before: int

    @cached_property
    def new(self) -> tuple[int, ...]:
        """Places of the new entries, ascending."""
        return tuple(place for place, source in enumerate(self.sources) if source < 0)

    @cached_property
    def gone(self) -> tuple[int, ...]:
        """Former places of the entries that are there no more, ascending."""
        return tuple(sorted(set(range(self.before)).difference(self.sources)))

    @cached_property
    def targets(self) -> Places:
        """For each former place the place now, -1 for an entry that is gone."""
        places = np.full(self.before, -1, dtype=np.intp)
        sources = np.array(self.sources, dtype=np.intp)
        stayed = sources >= 0
        places[sources[stayed]] = np.flatnonzero(stayed)
        return places


NOTHING_KEPT: Final = Kept((), 0)


def compare(old: Sequence[Entry], new: Sequence[Entry], places: dict[NoteKey, int]) -> Kept | None:
    """What `new` keeps of `old`, whose `places` are known by vault and file name.

    None where so little is kept, or names are so ambiguous, that nothing is gained.
    """
    if len(places) != len(old):
        return None
    sources: list[int] = []
    others: set[NoteKey] = set()
    known = len(old)
    for place, entry in enumerate(new):
        if place < known and old[place] is entry:
            sources.append(place)
            continue
        name = entry.note_key
        source = places.get(name, -1)
        if name in others or (0 <= source < len(new) and new[source] is old[source]):
            return None
        others.add(name)
        sources.append(source if source >= 0 and _searched_alike(old[source], entry) else -1)
    if sources.count(-1) > MOST_NEW:
        return None
    return Kept(tuple(sources), known)


def _searched_alike(one: Entry, other: Entry) -> bool:
    return (
        one.title == other.title
        and one.keys == other.keys
        and one.refine_keys == other.refine_keys
        and one.selective_logic == other.selective_logic
        and one.content == other.content
    )
