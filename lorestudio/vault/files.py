"""What was read from a vault's folder, its order in the index, and the errors of reading and writing."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from lorestudio.domain.entry import LeftOutNote


class VaultError(OSError):
    """A vault or a note cannot be read; the message says what and what to do."""


class SaveError(VaultError):
    """A note was not saved; the file on disk is what it was."""


class ChangedOnDisk(SaveError):  # noqa: N818 - names the situation that callers ask the person about
    """The file at `path` is not the one that was read, so nothing was written over it."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path


class NoteFile(Struct, frozen=True):
    """One file's text; `filename` is relative to the vault, with `/` between the parts."""

    filename: str
    text: str


class VaultFiles(Struct, frozen=True):
    """The files of one vault in index order, and what could not be read (rules: deeplore 1.1).

    Only names that end in `.md` are notes; other files are read for what they define.
    """

    name: str
    files: tuple[NoteFile, ...] = ()
    left_out: tuple[LeftOutNote, ...] = ()


def index_order(filename: str) -> list[tuple[bool, bytes]]:
    """Sorts file names into index order: a folder's files by UTF-16 code units, then its sub-folders
    (rules: deeplore 1.1).
    """
    *folders, name = filename.split("/")
    # Big-endian bytes compare as the code units do.
    return [(True, f"{folder}/".encode("utf-16-be", "surrogatepass")) for folder in folders] + [
        (False, name.encode("utf-16-be", "surrogatepass"))
    ]
