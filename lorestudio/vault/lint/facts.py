"""What the checks have to know about all entries together, worked out once for an index."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from rapidfuzz import fuzz, process

from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex
from lorestudio.vault.lint.chains import Chains
from lorestudio.vault.lint.keyforms import KeyForm, contained, is_short, key_form
from lorestudio.vault.lint.note import Rules, usable_keys

_NEAR: Final = 88
"""Titles that resemble each other so much (0 to 100) are likely the same name, once misspelled."""


class VaultFacts:
    """An index seen as a whole. Everything is worked out on first use and holds for this index and these rules."""

    def __init__(self, index: VaultIndex, rules: Rules) -> None:
        self.index, self.rules = index, rules
        self._near: dict[str, str] = {}

    @cached_property
    def titles(self) -> Mapping[str, tuple[Entry, ...]]:
        """All entries, guides included, by lower-cased title."""
        found: dict[str, list[Entry]] = {}
        for entry in self.index.entries:
            found.setdefault(entry.title.lower(), []).append(entry)
        return {title: tuple(entries) for title, entries in found.items()}

    @cached_property
    def by_file_name(self) -> Mapping[str, tuple[Entry, ...]]:
        """All entries by the lower-cased name of their file, without folder and ending."""
        found: dict[str, list[Entry]] = {}
        for entry in self.index.entries:
            found.setdefault(base_name(entry.filename), []).append(entry)
        return {name: tuple(entries) for name, entries in found.items()}

    @cached_property
    def left_out(self) -> Mapping[str, LeftOutNote]:
        """Notes that gave no entry, by the lower-cased name of their file without folder and ending."""
        return {base_name(note.filename): note for note in reversed(self.index.left_out)}

    @cached_property
    def chains(self) -> Chains:
        """What follows from requires, excludes and cascade links."""
        return Chains(self.index.entries, self.titles, self.rules)

    @cached_property
    def sharers(self) -> Mapping[str, tuple[Entry, ...]]:
        """For each key on more than one entry, in lower case: the entries, guides left out."""
        found: dict[str, dict[int, Entry]] = {}
        for entry in self.index.entries:
            if not entry.guide:
                for key in usable_keys(entry):
                    found.setdefault(key.lower(), {})[entry.id] = entry
        return {key: tuple(entries.values()) for key, entries in found.items() if len(entries) > 1}

    @cached_property
    def longer(self) -> Mapping[KeyForm, tuple[tuple[str, Entry], ...]]:
        """For each key the keys of entries that contain it, as written; very short keys are left out."""
        settings = self.rules.settings
        holders: dict[KeyForm, list[tuple[str, Entry]]] = {}
        for entry in self.index.entries:
            if not entry.guide:
                for key in usable_keys(entry):
                    holders.setdefault(key_form(key, settings), []).append((key, entry))
        return {
            short: tuple(holder for form in forms for holder in holders[form])
            for short, forms in contained(holders).items()
            if not is_short(short.text)
        }

    @cached_property
    def _by_shape(self) -> Mapping[tuple[str, int], list[str]]:
        """All titles in lower case, by their first character and their length."""
        found: dict[tuple[str, int], list[str]] = {}
        for title in self.titles:
            found.setdefault((title[:1], len(title)), []).append(title)
        return found

    def near(self, title: str) -> str:
        """The title that `title` was probably meant to be, "" where none is close; the first letter has to be right."""
        lower = title.lower()
        if lower not in self._near:
            size = len(lower)
            # Texts whose lengths differ by more cannot resemble each other as much as is asked.
            margin = 1 + size * 2 * (100 - _NEAR) // 100
            shapes = [(lower[:1], length) for length in range(max(size - margin, 1), size + margin + 1)]
            names = [name for shape in shapes for name in self._by_shape.get(shape, ())]
            best = process.extractOne(lower, names, scorer=fuzz.ratio, score_cutoff=_NEAR)
            self._near[lower] = self.titles[best[0]][0].title if best is not None else ""
        return self._near[lower]


def base_name(filename: str) -> str:
    """A file's name without folder and `.md`, in lower case."""
    return filename.rpartition("/")[2].removesuffix(".md").lower()
