"""The vaults as they would be read if some notes had other texts: for looking ahead while somebody types.

Nothing is read or written, and only the given texts are parsed. The index is that of a full build, made of the index
before: only entries that the texts concern are made anew (rules: deeplore 1.1, 1.12, 1.13).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.vault.entries import ParseRules, read_fields
from lorestudio.vault.files import VaultError, index_order
from lorestudio.vault.folder_scan import KnownFile, KnownVault, text_digest
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.index import Assembly, definition_path, digest_of, finalized, folders_of, notes_of, resolve
from lorestudio.vault.index_refresh import VaultState, known_definitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lorestudio.domain.tokens import TokenCounter
    from lorestudio.settings.deeplore import DeepLoreSettings
    from lorestudio.vault.entries import EntryFields

_BUT_ID: Final = attrgetter(*(each.name for each in fields(Entry) if each.name != "id"))


@dataclass(frozen=True, slots=True)
class NoteText:
    """The text that a note would have, None for one that would be gone. `filename` is relative to the vault."""

    vault: str
    filename: str
    text: str | None = field(repr=False)


class EditedVaults:
    """What `state` becomes with other texts for some notes, again and again.

    `settings` and `counter` are those that `state` was read with. Making one looks once at every note, so it is kept
    while somebody types. Nothing changes afterwards: it may be used in every thread.
    """

    def __init__(self, state: VaultState, settings: DeepLoreSettings, counter: TokenCounter) -> None:
        self.state = state
        definitions = known_definitions(state.vaults[:1], settings)
        self._rules = ParseRules.from_settings(settings, definitions.fields)
        self._definitions = definition_path(settings)
        self._mode = settings.multi_vault_conflict_resolution
        self._counter = counter
        self._files = [{file.filename: place for place, file in enumerate(vault.files)} for vault in state.vaults]
        before = state.assembly.fields
        self._places = {id(each): place for place, each in enumerate(before)}
        self._titles = {each["title"].lower(): each["title"] for each in before}
        self._titled: defaultdict[str, list[int]] = defaultdict(list)
        self._naming: defaultdict[str, set[int]] = defaultdict(set)
        for place, each in enumerate(before):
            self._titled[each["title"].lower()].append(place)
            for name in _names(each):
                self._naming[name.lower()].add(place)

    def with_texts(self, notes: Iterable[NoteText]) -> VaultState:
        """The state with these texts: of notes made, changed or gone; of equal names the last one counts.

        Of vaults with the same name the first one is meant that has the note, else the first. A text that is as it was
        changes nothing: the state is then the very same, as is every entry that a change does not concern. The limit
        for the size of files does not hold here. Raises VaultError for a vault that is not there, and for a file that
        is no note.
        """
        by_vault: defaultdict[int, dict[str, NoteText]] = defaultdict(dict)
        for note in notes:
            by_vault[self._vault_of(note)][note.filename] = note
        vaults = list(self.state.vaults)
        for number, texts in by_vault.items():
            vaults[number] = self._vault_with(number, texts)
        if all(now is before for now, before in zip(vaults, self.state.vaults, strict=True)):
            return self.state
        return VaultState(tuple(vaults), self._assembly(vaults))

    def _vault_of(self, note: NoteText) -> int:
        if not note.filename.endswith(".md") or note.filename == self._definitions:
            raise VaultError(f"“{note.filename}” is no note. Only files whose names end in .md can be tried out.")
        named = [number for number, vault in enumerate(self.state.vaults) if vault.name == note.vault]
        if not named:
            raise VaultError(f"There is no vault “{note.vault}” that “{note.filename}” could belong to.")
        return next((number for number in named if note.filename in self._files[number]), named[0])

    def _vault_with(self, number: int, texts: Mapping[str, NoteText]) -> KnownVault:
        vault, places = self.state.vaults[number], self._files[number]
        files: list[KnownFile | None] = list(vault.files)
        made: list[KnownFile] = []
        for filename, note in texts.items():
            place = places.get(filename)
            file = None if note.text is None else self._file(vault, filename, note.text, place)
            if place is not None:
                files[place] = file
            elif file is not None:
                made.append(file)
        left = [file for file in files if file is not None]
        # What is no note stands behind all notes.
        ordered = [file.filename for file in left if file.filename.endswith(".md")] if made else []
        for file in made:
            place = bisect_left(ordered, index_order(file.filename), key=index_order)
            ordered.insert(place, file.filename)
            left.insert(place, file)
        # A file that could not be read could be, once it has been saved.
        left_out = tuple(item for item in vault.left_out if item.filename not in texts)
        if len(left) == len(vault.files) and left_out == vault.left_out and _same(left, vault.files):
            return vault
        return replace(vault, files=tuple(left), left_out=left_out)

    def _file(self, vault: KnownVault, filename: str, text: str, place: int | None) -> KnownFile:
        text = text.removeprefix(BOM)  # as it is dropped on the way from the disk
        digest = text_digest(text)
        if place is not None and vault.files[place].digest == digest:
            return vault.files[place]
        return KnownFile(filename, digest, read_fields(text, filename, vault.name, self._rules, self._counter))

    def _assembly(self, vaults: Sequence[KnownVault]) -> Assembly:
        """What `index.assemble` makes of these vaults."""
        parsed, left_out = notes_of(vaults)
        resolved = tuple(resolve(parsed, self._mode))
        entries = tuple(self._entries(resolved))
        before = self.state.index
        alike = len(entries) == len(before.entries) and all(
            one is other or one.folder == other.folder for one, other in zip(entries, before.entries, strict=True)
        )
        index = VaultIndex(
            entries=entries,
            left_out=left_out,
            folders=before.folders if alike else folders_of(entries),
            fields=before.fields,
            field_errors=before.field_errors,
            vaults=before.vaults,
            digest=digest_of(vaults),
        )
        return Assembly(index, resolved)

    def _entries(self, resolved: Sequence[EntryFields]) -> Iterator[Entry]:
        """The entries in order: as before where nothing about them changed, else with another id or made anew."""
        sources = [self._places.get(id(each), -1) for each in resolved]
        titles, concerned = self._changed_titles(resolved, sources)
        before = self.state.index.entries
        for place, source in enumerate(sources):
            if source < 0 or source in concerned:
                yield finalized(resolved[place], titles, place, before[source] if source == place else None)
            elif source == place:
                yield before[source]
            else:
                yield Entry(place, *_BUT_ID(before[source]))

    def _changed_titles(
        self, resolved: Sequence[EntryFields], sources: Sequence[int]
    ) -> tuple[Mapping[str, str], set[int]]:
        """The titles that links lead to, by lower case, and the former places of the entries that see a difference."""
        now = {source: place for place, source in enumerate(sources) if source >= 0}
        fresh = [place for place, source in enumerate(sources) if source < 0]
        gone = [place for place in range(len(self.state.assembly.fields)) if place not in now]
        # Where several entries bear one title, they stand in the order of their files, now as before.
        names = {resolved[place]["title"].lower() for place in fresh}
        names |= {self.state.assembly.fields[place]["title"].lower() for place in gone}
        titles = dict(self._titles)
        concerned: set[int] = set()
        for name in names:
            bearers = [now[place] for place in self._titled.get(name, ()) if place in now]
            bearers += [place for place in fresh if resolved[place]["title"].lower() == name]
            title = resolved[max(bearers)]["title"] if bearers else None
            if title != self._titles.get(name):
                concerned |= self._naming.get(name, set())
            if title is None:
                titles.pop(name, None)
            else:
                titles[name] = title
        return titles, concerned


def _same(one: Sequence[KnownFile], other: Sequence[KnownFile]) -> bool:
    return all(mine is theirs for mine, theirs in zip(one, other, strict=True))


def _names(each: EntryFields) -> Iterator[str]:
    """Every title that a note refers to."""
    yield from each["links"]
    yield from each["requires"]
    yield from each["excludes"]
    yield from each["cascade_links"]
