"""The vault index prepared for retrieval: what can be derived from it once and used by every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter, is_
from typing import Any

from lorestudio.domain.entry import Entry, NoteKey, VaultIndex
from lorestudio.domain.javascript import Json, fold
from lorestudio.systems.deeplore.ai.replies import entity_names
from lorestudio.systems.deeplore.matching.bm25 import EntryBM25
from lorestudio.systems.deeplore.matching.kept import MOST_NEW, NOTHING_KEPT, compare
from lorestudio.systems.deeplore.matching.keys import KeyMatcher
from lorestudio.trace.model import Verdict


class Remembered(dict[Hashable, Any]):
    """What was found, each with its `size`, up to an amount of it. For any thread.

    Once there is more, any one is forgotten: the oldest is what a replay asks for next, so that none would be found.
    """

    size = 0

    def take(self, key: Hashable, found: Any, most: int, most_size: int) -> None:  # noqa: ANN401  # what runs make of it
        """Remember this too, of `most` at most, and of this size together."""
        if key in self:  # another thread has matched the same meanwhile
            return
        while (places := tuple(self)) and (len(places) >= most or self.size + found.size > most_size):
            gone = self.pop(places[hash(key) % len(places)], None)
            self.size -= 0 if gone is None else gone.size
        self[key] = found
        self.size += found.size


class DeepLoreIndex:
    """A vault index with its derived data, made on first use and never changed afterwards.

    `visible` are the entries that a run works on: all but guides, in index order (rules: deeplore 1.14).
    With a `base`, an index that differs in few entries, only those are prepared anew; what comes out is the same.
    """

    def __init__(self, vault: VaultIndex, base: DeepLoreIndex | None = None) -> None:
        self.vault = vault
        # Of two derived indexes in a row the second goes back to the first one's base, so that chains do not grow.
        origin = base if base is None or base.origin is None else base.origin
        kept = None if origin is None else compare(origin.vault.entries, vault.entries, origin.places)
        self.origin: DeepLoreIndex | None = None if kept is None else origin
        self._kept = kept or NOTHING_KEPT
        self.visible = tuple(entry for entry in vault.entries if not entry.guide)
        self.guides = tuple(entry for entry in vault.entries if entry.guide)
        self._matchers: dict[tuple[bool, bool], KeyMatcher] = {}
        self._folded: dict[int, str] = {}
        self.matched = Remembered(), Remembered()
        """What runs have matched, those that are not recorded and those that are (`systems.deeplore.run`)."""
        self.woken: dict[Hashable, Verdict] = {}
        """Who was woken by which key in whose content, at which step: most runs say the same of most of them."""
        self._rows: dict[tuple[str, ...], dict[tuple[Json, ...], Json]] = {}

    def rows(self, names: tuple[str, ...], rows: Iterable[tuple[Json, ...]]) -> list[Json]:
        """Rows of values under these names for a record: most runs write the same, so each is there once."""
        known = self._rows.setdefault(names, {})
        return [known.get(row) or known.setdefault(row, [*row]) for row in rows]

    def matcher(self, *, case_sensitive: bool, whole_words: bool) -> KeyMatcher:
        """The key matcher over all entries, guides included."""
        choice = (case_sensitive, whole_words)
        if choice not in self._matchers:
            origin = self.origin
            self._matchers[choice] = KeyMatcher(
                self.vault.entries,
                case_sensitive=case_sensitive,
                whole_words=whole_words,
                base=None if origin is None else origin.matcher(case_sensitive=case_sensitive, whole_words=whole_words),
                kept=self._kept,
            )
        return self._matchers[choice]

    @cached_property
    def bm25(self) -> EntryBM25:
        """BM25 statistics over all entries, guides included."""
        return EntryBM25(self.vault.entries, None if self.origin is None else self.origin.bm25, self._kept)

    @cached_property
    def places(self) -> dict[NoteKey, int]:
        """Where the entry of a vault and file name stands; of several the last one."""
        return {entry.note_key: entry.id for entry in self.vault.entries}

    @cached_property
    def of_lower_title(self) -> Mapping[str, Sequence[Entry]]:
        """Visible entries by lower-cased title, in index order."""
        return self._grouped("of_lower_title", lambda entry: (entry.title.lower(),))

    @cached_property
    def of_title(self) -> Mapping[str, Sequence[Entry]]:
        """Visible entries by exact title, in index order."""
        return self._grouped("of_title", lambda entry: (entry.title,))

    @cached_property
    def of_tracker_key(self) -> Mapping[str, Sequence[Entry]]:
        """Visible entries by tracker key, in index order."""
        return self._grouped("of_tracker_key", lambda entry: (entry.tracker_key,))

    @cached_property
    def of_lower_key(self) -> Mapping[str, Sequence[Entry]]:
        """Visible entries by lower-cased key, in index order."""
        return self._grouped("of_lower_key", lambda entry: dict.fromkeys(map(str.lower, entry.keys)))

    def _grouped(self, name: str, keys: Callable[[Entry], Collection[str]]) -> Mapping[str, Sequence[Entry]]:
        """Visible entries by keys of theirs, in index order; the base has them under the same `name`."""
        groups: dict[str, list[Entry]] = {}
        if self.origin is None or self._edited is None:
            for entry in self.visible:
                for key in keys(entry):
                    groups.setdefault(key, []).append(entry)
            return groups
        groups |= getattr(self.origin, name)
        before, after = ([one.entries[place] for place in self._edited] for one in (self.origin.vault, self.vault))
        for key in {key for entry in (*before, *after) for key in keys(entry)}:
            stayed = [entry for entry in groups.get(key, ()) if entry.id not in self._edited]
            came = [entry for entry in after if not entry.guide and key in keys(entry)]
            groups[key] = sorted(stayed + came, key=attrgetter("id"))
        return groups

    @cached_property
    def _edited(self) -> frozenset[int] | None:
        """Places of entries that are others than in the base, None where these are many or stand elsewhere."""
        before, now = () if self.origin is None else self.origin.vault.entries, self.vault.entries
        if len(before) != len(now):
            return None
        edited = frozenset(place for place, same in enumerate(map(is_, before, now)) if not same)
        return edited if len(edited) <= MOST_NEW else None

    @cached_property
    def constants(self) -> tuple[Entry, ...]:
        """Visible constants, in index order."""
        return tuple(entry for entry in self.visible if entry.constant)

    @cached_property
    def bootstraps(self) -> tuple[Entry, ...]:
        """Visible bootstrap entries, in index order."""
        return tuple(entry for entry in self.visible if entry.bootstrap)

    @cached_property
    def forced(self) -> tuple[Entry, ...]:
        """Visible entries that gates let pass whatever the chat: constants, seeds and bootstraps."""
        return tuple(entry for entry in self.visible if entry.is_exempt)

    @cached_property
    def scan_depths(self) -> tuple[float, ...]:
        """The different scan depths that entries set for themselves."""
        return tuple({entry.scan_depth for entry in self.visible if entry.scan_depth is not None})

    @cached_property
    def names(self) -> frozenset[str]:
        """Names whose mention makes a cached AI selection void."""
        if self.origin is None:
            return frozenset(self.name_counts)
        names, counts, before = self.origin.names, self.origin.name_counts, self.origin.vault.entries
        gained = entity_names(self.vault.entries[place] for place in self._kept.new)
        lost = Counter(name for place in self._kept.gone for name in entity_names((before[place],)))
        dropped = {name for name, count in lost.items() if counts[name] == count} - gained
        return (names - dropped) | gained if dropped or not gained <= names else names

    @cached_property
    def name_counts(self) -> Counter[str]:
        """For each of the names how many entries have it."""
        return Counter(name for entry in self.vault.entries for name in entity_names((entry,)))

    def folded(self, entry: Entry) -> str:
        """The entry's content folded for searching, kept for the next time."""
        text = self._folded.get(entry.id)
        if text is None:
            text = self._folded[entry.id] = self._fold(entry)
        return text

    def _fold(self, entry: Entry) -> str:
        source = -1 if self.origin is None else self._kept.sources[entry.id]
        if self.origin is None or source < 0:
            return fold(entry.content)
        return self.origin.folded(self.origin.vault.entries[source])
