"""The vault index prepared for retrieval: what can be derived from it once and used by every run."""

from __future__ import annotations

from functools import cached_property

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import fold
from lorestudio.engine.deeplore.ai.names import entity_names
from lorestudio.engine.deeplore.bm25 import EntryBM25
from lorestudio.engine.deeplore.keys import KeyMatcher
from lorestudio.engine.deeplore.policy import is_forced


class DeepLoreIndex:
    """A vault index with its derived data, made on first use and never changed afterwards.

    `visible` are the entries that a run works on: all but guides, in index order (spec: deeplore-engine 1.14).
    """

    def __init__(self, vault: VaultIndex) -> None:
        self.vault = vault
        self.visible = tuple(entry for entry in vault.entries if not entry.guide)
        self.guides = tuple(entry for entry in vault.entries if entry.guide)
        self._matchers: dict[tuple[bool, bool], KeyMatcher] = {}
        self._folded: dict[int, str] = {}

    def matcher(self, *, case_sensitive: bool, whole_words: bool) -> KeyMatcher:
        """The key matcher over all entries, guides included."""
        choice = (case_sensitive, whole_words)
        if choice not in self._matchers:
            self._matchers[choice] = KeyMatcher(
                self.vault.entries, case_sensitive=case_sensitive, whole_words=whole_words
            )
        return self._matchers[choice]

    @cached_property
    def bm25(self) -> EntryBM25:
        """BM25 statistics over all entries, guides included."""
        return EntryBM25(self.vault.entries)

    @cached_property
    def by_lower_title(self) -> dict[str, Entry]:
        """Visible entries by lower-cased title; of equal titles the last one."""
        return {entry.title.lower(): entry for entry in self.visible}

    @cached_property
    def by_title(self) -> dict[str, Entry]:
        """Visible entries by exact title; of equal titles the last one."""
        return {entry.title: entry for entry in self.visible}

    @cached_property
    def first_by_lower_key(self) -> dict[str, Entry]:
        """Visible entries by lower-cased key; of equal keys the first one."""
        keys: dict[str, Entry] = {}
        for entry in self.visible:
            for key in entry.keys:
                keys.setdefault(key.lower(), entry)
        return keys

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
        return tuple(entry for entry in self.visible if is_forced(entry))

    @cached_property
    def scan_depths(self) -> tuple[float, ...]:
        """The different scan depths that entries set for themselves."""
        return tuple({entry.scan_depth for entry in self.visible if entry.scan_depth is not None})

    @cached_property
    def names(self) -> frozenset[str]:
        """Names whose mention makes a cached AI selection void."""
        return entity_names(self.vault.entries)

    def folded(self, entry: Entry) -> str:
        """The entry's content folded for searching, kept for the next time."""
        if entry.id not in self._folded:
            self._folded[entry.id] = fold(entry.content)
        return self._folded[entry.id]
