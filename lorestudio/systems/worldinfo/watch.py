"""Which entries a loop has to look at: those in whose text one of their keys stands, and those that it always looks at.

It changes no decision. A key that is found in a text stands in it in lower case, so that a search for all keys at once
tells which entries may have one; what is refused for another reason, or needs no key, is always looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import ahocorasick

from lorestudio.domain.automaton import LONGEST_WORD, automaton_of
from lorestudio.domain.javascript import to_number, trim
from lorestudio.exchange.lorebooks.entry import BookEntry, Extra
from lorestudio.exchange.lorebooks.keys import is_plain
from lorestudio.systems.macros import has_macros
from lorestudio.systems.worldinfo.haystack import Haystack, Scan

_SIGMA: Final = "Σ"
"""The letter whose lower case depends on what stands behind it."""

Reach = tuple[float | None, tuple[Extra, ...]]
"""How far back an entry looks, None for the general depth, and what it looks at besides."""


@dataclass(slots=True)
class Watch:
    """The entries of a scan, put in order for finding those that matter. It is made once for a set of entries.

    `lasting` are those with timed effects, `levels` the levels of delayed recursion in order.
    """

    entries: Sequence[BookEntry]
    lasting: tuple[BookEntry, ...] = field(init=False)
    levels: tuple[float | str, ...] = field(init=False)
    marked: int = field(init=False)
    """How many are marked as vectorised."""
    always: frozenset[int] = field(init=False)
    """The places of the entries that every loop looks at."""
    _reaches: dict[Reach, BookEntry] = field(init=False)
    _places: dict[str, int] = field(init=False)
    _keys: ahocorasick.Automaton | None = field(init=False)

    def __post_init__(self) -> None:
        entries = self.entries
        self.lasting = tuple(each for each in entries if (each.sticky, each.cooldown, each.delay) != (None,) * 3)
        # In the order of the entries: a level that is no number stays where it is met.
        levels = dict.fromkeys(each.recursion_level for each in entries if each.recursion_level is not None)
        self.levels = tuple(sorted(levels, key=to_number))
        self.marked = sum(entry.vectorized for entry in entries)
        self._places = {entry.uid: place for place, entry in enumerate(entries)}
        owners: dict[str, list[int]] = {}
        self._reaches = {}
        always: set[int] = set()
        for place, entry in enumerate(entries):
            if _is_special(entry):
                always.add(place)
                continue
            for key in entry.keys:
                owners.setdefault(trim(key).lower(), []).append(place)
            self._reaches.setdefault((entry.scan_depth, entry.extras), entry)
        self.always = frozenset(always)
        self._keys = automaton_of({key: tuple(places) for key, places in owners.items()})

    def places(self, haystack: Haystack, scan: Scan, others: Iterable[Collection[str]]) -> list[int]:
        """The places of the entries to look at, in order; `others` are uids of entries that matter besides."""
        found = set(self.always)
        for uids in others:
            found.update(self._places[uid] for uid in uids if uid in self._places)
        if self._keys is not None:
            for entry in self._reaches.values():  # one of those that look at the same text
                for _end, owners in self._keys.iter(haystack.text(entry, scan).lower()):
                    found.update(owners)
        return sorted(found)


def _is_special(entry: BookEntry) -> bool:
    """Whether something else than plain keys decides about the entry, or may refuse it."""
    refusable = (
        entry.disabled, entry.triggers, entry.characters, entry.tags, entry.delay is not None,
        entry.recursion_level is not None, entry.exclude_recursion, entry.never_activates,
    )  # fmt: skip
    return any(refusable) or entry.constant or entry.activates or not all(map(_is_searched, entry.keys))


def _is_searched(key: str) -> bool:
    sought = trim(key)
    return 0 < len(sought.lower()) <= LONGEST_WORD and not has_macros(key) and _SIGMA not in key and is_plain(sought)
