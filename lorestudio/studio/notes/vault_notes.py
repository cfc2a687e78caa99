"""The notes of a vault as plans and searches take them: texts, references and further names, entries or not.

They are kept between questions: only files that changed are read again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.lifecycle import CancelToken, heeding
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.texts import called_alike
from lorestudio.exchange.json_file import read_file
from lorestudio.exchange.lorebooks.formats import another_file
from lorestudio.exchange.problems import Belongs, InputError, WrongFileError
from lorestudio.settings.files import real_path
from lorestudio.studio.notes.changes.change_set import ChangeSet
from lorestudio.studio.project.project import Project
from lorestudio.trace.wording import first_few
from lorestudio.vault.files import NoteFile, VaultError
from lorestudio.vault.folder import StampedText, list_folder, read_listed, read_stamped, walked
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.links.index import LinkIndex, index_note
from lorestudio.vault.links.references import aliases
from lorestudio.vault.links.targets import NOTE_SUFFIX, base_name
from lorestudio.vault.writer import read_note

_SHOWN: Final = 3


class VaultNotes(Struct, frozen=True):
    """The notes of one folder, a snapshot. Names of files are relative to it, with `/`.

    `left_out` are those that could not be read.
    """

    folder: Path
    index: LinkIndex
    left_out: tuple[LeftOutNote, ...] = ()

    def path(self, filename: str) -> Path:
        """Where the file is."""
        return self.folder / filename

    def filename(self, path: Path) -> str | None:
        """The name of a note of this vault, None for any other path."""
        name = _name(self.folder, path)
        return name if name in self.index.notes else None

    def changed(self, filename: str, text: str | None) -> VaultNotes:
        """With this text of the note; None takes the note out."""
        return replace(self, index=self.index.changed(filename, text))


class Planned(Struct, frozen=True):
    """Changes to show and to apply, and what the person should know about them: notes left out, links that break.

    `entries` counts those that change where several lie in one file.
    """

    changes: ChangeSet
    remarks: tuple[str, ...] = ()
    entries: int = 0

    @property
    def count(self) -> int:
        """How many notes, or entries of lorebooks, change."""
        return self.entries or len(self.changes.changes)

    def titled(self, title: str) -> Planned:
        """The same under another title."""
        return replace(self, changes=replace(self.changes, title=title))


def read_vault_notes(folder: Path, *, wanted: Callable[[NoteFile], bool] | None = None) -> VaultNotes:
    """All notes below the folder with their references; mentions are looked for once they are asked for.

    Where some are `wanted`, these are there alone, to be searched only, and nobody knows what they name. Raises
    VaultError, and InputError for a file, which says what it is.
    """
    folder = real_path(folder)
    if folder.is_file():
        wrong = another_file(read_file(folder), folder, "vault of notes")
        if isinstance(wrong, WrongFileError) and wrong.belongs is Belongs.BOOK:  # its place is the vault elsewhere
            wrong = WrongFileError(folder, wrong.what, Belongs.IMPORT)
        if wrong is not None:
            raise wrong
    listing = list_folder(folder)
    left_out, files = list(listing.left_out), []
    for filename, place in listing.found:
        read = read_listed(filename, place, listing.name)
        if isinstance(read, LeftOutNote):
            left_out.append(read)
        elif wanted is None or (filename.endswith(NOTE_SUFFIX) and wanted(read)):
            files.append(read)
    if wanted is None:
        index = LinkIndex.build(files, attachments(folder), searched=False)
    else:
        index = LinkIndex.unlinked(index_note(file.filename, file.text, linked=False) for file in files)
    return VaultNotes(folder, index, tuple(left_out))


def attachments(folder: Path) -> tuple[str, ...]:
    """The files below the folder that are no notes, without those in folders whose names begin with a dot."""
    found: list[str] = []
    for place, files in walked(folder):
        prefix = place.relative_to(folder).as_posix()
        found += [
            name if prefix == "." else f"{prefix}/{name}"
            for name in files
            if not (name.startswith(".") or name.endswith(NOTE_SUFFIX))
        ]
    return tuple(found)


def find_note(vault: VaultNotes, words: str) -> str:
    """The note that a person means by a path, file name, title or alias. Raises InputError."""
    target = vault.index.targets.resolve(words.strip(), "")
    if target.filename is None or target.filename not in vault.index.notes:
        hint = called_alike(words.strip(), (Path(name).stem for name in vault.index.notes))
        raise InputError(words, f"there is no note with this path, file name, title or alias in the vault.{hint}")
    return target.filename


def listed(filenames: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    return first_few(filenames, _SHOWN)


def home_of(vaults: Sequence[VaultNotes], path: Path) -> tuple[VaultNotes, str]:
    """The vault that has the note and the note's name in it. Raises InputError."""
    for vault in vaults:
        filename = vault.filename(path)
        if filename is not None:
            return vault, filename
    raise InputError(path, "this is no note of the open vaults. Reload the vault and try again.")


MOST_CHANGES: Final = 24
"""With more changed files than this, making the references anew is quicker than changing them one by one."""


class _KnownNotes(Terse, frozen=True):
    unprinted = ("files",)

    notes: VaultNotes
    attachments: tuple[str, ...]
    files: Mapping[str, StampedText]


class FreshNotes:
    """Answers with the notes as they are on disk now. For workers: every question may wait for the disk.

    Questions from several threads wait for one another.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        self._known: dict[Path, _KnownNotes] = {}
        self._guard = threading.Lock()

    @property
    def loaded(self) -> bool:
        """Whether the notes were read before, so that the next question is quick."""
        return len(self._known) == len(self.folders)

    def get(self) -> tuple[VaultNotes, ...]:
        """All vaults, in order. Raises VaultError."""
        with self._guard:
            for folder in self.folders:
                self._known[folder] = _look(folder, self._known.get(folder))
            return tuple(self._known[folder].notes for folder in self.folders)

    def take(self, done: ChangeSet) -> None:
        """Take in what was just done to the files, which saves reading them again."""
        with self._guard:
            for folder, known in self._known.items():
                self._known[folder] = _changed(known, done)


def _look(folder: Path, known: _KnownNotes | None) -> _KnownNotes:
    listing = list_folder(folder)
    files: dict[str, StampedText] = {}
    left_out = list(listing.left_out)
    for filename, place in listing.found:
        found = read_stamped(filename, place, listing.name, known.files.get(filename) if known is not None else None)
        if isinstance(found, LeftOutNote):
            left_out.append(found)
        else:
            files[filename] = found
    beside = attachments(folder)
    before = {name: note.text for name, note in known.notes.index.notes.items()} if known is not None else {}
    texts = {filename: file.text for filename, file in files.items() if filename.endswith(".md")}
    changed = [name for name in {**before, **texts} if before.get(name) != texts.get(name)]
    if known is not None and known.attachments == beside and len(changed) <= MOST_CHANGES:
        index = known.notes.index
        for name in changed:
            index = index.changed(name, texts.get(name))
    else:
        notes = [NoteFile(filename, text) for filename, text in texts.items()]
        index = LinkIndex.build(notes, beside)
    return _KnownNotes(VaultNotes(folder, index, tuple(left_out)), beside, files)


def _changed(known: _KnownNotes, done: ChangeSet) -> _KnownNotes:
    texts: dict[str, str | None] = {}
    for change in done.changes:
        for path, text in ((change.path, None), (change.place, change.after)):
            name = _name(known.notes.folder, path)
            if name is not None and name.endswith(".md"):
                texts[name] = text
    if not texts or len(texts) > MOST_CHANGES:
        return known  # the next question reads them
    notes = known.notes
    for name, text in texts.items():
        notes = notes.changed(name, None if text is None else text.removeprefix(BOM))
    return replace(known, notes=notes, files={name: file for name, file in known.files.items() if name not in texts})


def _name(folder: Path, path: Path) -> str | None:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else None


def read_aliases(project: Project, cancel: CancelToken | None = None) -> Mapping[str, tuple[str, ...]]:
    """The aliases of the project's notes by their `alias_key`. Raises Cancelled: it reads every note, which takes time.

    A note that cannot be read has none; the index says what is wrong with it. Entries of lorebooks have none.
    """
    found: dict[str, tuple[str, ...]] = {}
    if project.of_books:
        return found
    for note in heeding(project.index.notes, cancel):
        path = project.note_path(note.vault, note.filename)
        title = note.title if isinstance(note, Entry) else base_name(note.filename)
        try:
            names = aliases_of(read_note(path)[0], title) if path is not None else ()
        except VaultError:
            continue
        if names:
            found[alias_key(note)] = (*found.get(alias_key(note), ()), *names)
    return found


def alias_key(note: Entry | LeftOutNote) -> str:
    """What `read_aliases` knows a note by: the lower-case title of an entry, the file's name of any other note."""
    return note.title.lower() if isinstance(note, Entry) else note.filename


def aliases_of(text: str, title: str) -> tuple[str, ...]:
    """The further names that the text of a note with this title gives."""
    return tuple(name for name in aliases(text) if name.lower() != title.lower())
