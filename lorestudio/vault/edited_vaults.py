"""The vaults as they would be read if some notes had other texts: for looking ahead while somebody types.

Nothing is read or written, and only the given texts are parsed. The index is that of a full build, made of the index
before: only entries that the texts concern are made anew (rules: deeplore 1.1, 1.12, 1.13).
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping

from lorestudio.domain.entry import OfNote
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.texts import text_digest
from lorestudio.domain.tokens import TokenCounter
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.files import VaultError, index_order
from lorestudio.vault.folder import KnownFile, KnownVault
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.index import VaultState, assemble, definition_path, known_definitions


class NoteText(OfNote, Terse, frozen=True):
    """The text that a note would have, None for one that would be gone. `filename` is relative to the vault."""

    unprinted = ("text",)

    vault: str
    filename: str
    text: str | None


class EditedVaults:
    """What `state` becomes with other texts for some notes, again and again.

    `settings` and `counter` are those that `state` was read with. Making one looks once at every note, so it is kept
    while somebody types. Nothing changes afterwards: it may be used in every thread.
    """

    def __init__(self, state: VaultState, settings: DeepLoreSettings, counter: TokenCounter) -> None:
        self.state = state
        self._definitions = known_definitions(state.vaults[:1], settings)
        self._rules = ParseRules.from_settings(settings, self._definitions.fields)
        self._definition_path = definition_path(settings)
        self._settings = settings
        self._counter = counter
        self._files = [{file.filename: place for place, file in enumerate(vault.files)} for vault in state.vaults]

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
        if all(map(operator.is_, vaults, self.state.vaults)):
            return self.state
        made = assemble(vaults, self._definitions, self._settings, self._counter, self.state.assembly)
        return VaultState(tuple(vaults), made)

    def _vault_of(self, note: NoteText) -> int:
        if not note.filename.endswith(".md") or note.filename == self._definition_path:
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
        same = len(left) == len(vault.files) and all(map(operator.is_, left, vault.files))
        if same and left_out == vault.left_out:
            return vault
        return replace(vault, files=tuple(left), left_out=left_out)

    def _file(self, vault: KnownVault, filename: str, text: str, place: int | None) -> KnownFile:
        text = text.removeprefix(BOM)  # as it is dropped on the way from the disk
        digest = text_digest(text)
        if place is not None and vault.files[place].digest == digest:
            return vault.files[place]
        return KnownFile(filename, digest, parse_note(text, filename, vault.name, self._rules))
