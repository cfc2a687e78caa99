"""The notes of a vault as plans and searches take them: texts and references, entries or not."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lorestudio.domain.entry import LeftOutNote
from lorestudio.exchange.problems import InputError
from lorestudio.studio.change_set import ChangeSet
from lorestudio.vault.folder import read_folder
from lorestudio.vault.link_index import LinkIndex
from lorestudio.vault.link_targets import NOTE_SUFFIX

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class VaultNotes:
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
        try:
            name = path.relative_to(self.folder).as_posix()
        except ValueError:
            return None
        return name if name in self.index.notes else None

    def changed(self, filename: str, text: str | None) -> VaultNotes:
        """With this text of the note; None takes the note out."""
        return replace(self, index=self.index.changed(filename, text))


@dataclass(frozen=True, slots=True)
class Planned:
    """Changes to show and to apply, and what the person should know about them: notes left out, links that break."""

    changes: ChangeSet
    remarks: tuple[str, ...] = ()


def read_vault_notes(
    folder: Path,
    on_progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> VaultNotes:
    """All notes below the folder with their references. Raises VaultError and ReadingCancelledError."""
    folder = folder.expanduser().resolve()
    read = read_folder(folder, cancelled=cancelled)
    index = LinkIndex.build(read.files, attachments(folder), on_progress, cancelled)
    return VaultNotes(folder, index, read.left_out)


def attachments(folder: Path) -> tuple[str, ...]:
    """The files below the folder that are no notes, without those in folders whose names begin with a dot."""
    found: list[str] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        prefix = Path(place).relative_to(folder).as_posix()
        found += [
            name if prefix == "." else f"{prefix}/{name}"
            for name in sorted(files)
            if not (name.startswith(".") or name.endswith(NOTE_SUFFIX))
        ]
    return tuple(found)


def find_note(vault: VaultNotes, words: str) -> str:
    """The note that a person means by a path, file name, title or alias. Raises InputError."""
    target = vault.index.targets.resolve(words.strip(), "")
    if target.filename is None or target.filename not in vault.index.notes:
        raise InputError(words, "there is no note with this path, file name, title or alias in the vault.")
    return target.filename


def listed(filenames: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(filenames) - _SHOWN
    return ", ".join(filenames[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def home_of(vaults: Sequence[VaultNotes], path: Path) -> tuple[VaultNotes, str]:
    """The vault that has the note and the note's name in it. Raises InputError."""
    for vault in vaults:
        filename = vault.filename(path)
        if filename is not None:
            return vault, filename
    raise InputError(path, "this is no note of the open vaults. Reload the vault and try again.")
