"""Reading a vault's folder in DeepLore's order; what cannot be read becomes a visible item.

Rules: deeplore 1.1.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import LeftOutNote, NoteProblem
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.vault import fields as field_file
from lorestudio.vault.data_folder import reason_of
from lorestudio.vault.files import NoteFile, VaultError
from lorestudio.vault.front_matter import BOM

MAX_FILE_BYTES: Final = 8 * 1024 * 1024
"""Larger files are not read: no note has this size."""

MAX_LEVELS: Final = 20
"""Folders at this depth below the vault are not listed."""


class FolderListing(Struct, frozen=True):
    """The files of a vault that are to be read, in index order, and what could not be listed."""

    name: str
    found: tuple[tuple[str, Path], ...]
    left_out: tuple[LeftOutNote, ...]


def list_folder(
    path: Path,
    name: str | None = None,
    cancelled: Callable[[], bool] | None = None,
    *,
    definition_path: str = field_file.DEFAULT_PATH,
) -> FolderListing:
    """Which files are to be read: name relative to the vault, and place; `name` is the vault's, else the folder's.

    Files and folders whose names begin with a dot are passed over. `definition_path` is the setting
    `fieldDefinitionsPath`. Raises VaultError where the folder itself cannot be read, and Cancelled.
    """
    definition_path = definition_path or field_file.DEFAULT_PATH
    listing = _list_root(path)
    home = Path(os.path.realpath(path))
    vault = home.name if name is None else name
    walk = _Walk(vault, cancelled or (lambda: False))
    # A link to a folder above the vault leads back into the vault.
    walk.add_folder("", listing, frozenset(map(str, (home, *home.parents))), 0)
    if _is_extra_file(path, definition_path):
        walk.found.append((definition_path, path / definition_path))
    return FolderListing(vault, tuple(walk.found), tuple(walk.left_out))


class _FolderItem(Struct):
    """One name in a folder."""

    name: str
    path: Path
    is_folder: bool
    problem: OSError | None = None


class _Walk(Struct):
    """Collects the notes below a folder, depth first, a folder's own files before its sub-folders."""

    vault: str
    cancelled: Callable[[], bool]
    found: list[tuple[str, Path]] = []
    left_out: list[LeftOutNote] = []

    def add_folder(self, prefix: str, listing: Sequence[_FolderItem], above: frozenset[str], level: int) -> None:
        """Take in one listed folder; `above` holds the real paths of all folders around it, itself included."""
        if self.cancelled():
            raise Cancelled
        for item in listing:
            filename = prefix + item.name
            if item.problem is not None:
                self._leave_out(filename, _problem(item.problem), _trouble(filename, item.problem))
            elif not item.is_folder and item.name.endswith(".md"):
                self._add_file(filename, item.path)
        for item in listing:
            if item.is_folder:
                self._add_subfolder(prefix + item.name, item.path, above, level + 1)

    def _add_file(self, filename: str, path: Path) -> None:
        if is_text(filename):
            self.found.append((filename, path))
            return
        self._leave_out(
            filename, NoteProblem.UNREADABLE,
            f"The name of “{shown_name(filename)}” is not valid text, so the file is left out. Rename it.",
        )  # fmt: skip

    def _add_subfolder(self, filename: str, path: Path, above: frozenset[str], level: int) -> None:
        if level >= MAX_LEVELS:
            self._leave_out(
                filename, NoteProblem.TOO_DEEP,
                f"The folder “{shown_name(filename)}” lies {level} levels deep, and DeepLore lists {MAX_LEVELS - 1}. "
                "Move it up.",
            )  # fmt: skip
            return
        real = os.path.realpath(path)
        if real in above:
            self._leave_out(
                filename, NoteProblem.LOOP,
                f"The folder “{shown_name(filename)}” is a link to a folder around it, so it is not followed. "
                "Remove the link.",
            )  # fmt: skip
            return
        try:
            listing = _list(path)
        except OSError as error:
            self._leave_out(filename, _problem(error), _trouble(filename, error))
            return
        self.add_folder(f"{filename}/", listing, above | {real}, level)

    def _leave_out(self, filename: str, problem: NoteProblem, message: str) -> None:
        self.left_out.append(LeftOutNote(shown_name(filename), self.vault, problem, message))


def _list_root(path: Path) -> list[_FolderItem]:
    try:
        return _list(path)
    except FileNotFoundError as error:
        raise VaultError(f"There is no folder “{path}”. Choose the folder that holds the vault's notes.") from error
    except NotADirectoryError as error:
        raise VaultError(f"“{path}” is a file. Choose the folder that holds the vault's notes.") from error
    except OSError as error:
        raise VaultError(f"The folder “{path}” cannot be read: {reason_of(error)}. Check its permissions.") from error


def _is_extra_file(root: Path, filename: str) -> bool:
    """True for a file inside the vault that the walk over the notes has not found."""
    relative = Path(filename)
    if filename.endswith(".md") or relative.is_absolute() or ".." in relative.parts:
        return False
    try:
        return (root / relative).exists()
    except OSError:
        return True  # reading it will say what is wrong


def _list(folder: Path) -> list[_FolderItem]:
    """Names in a folder by UTF-16 code units, folders with a trailing slash in the sort key; no dot names."""
    items: list[_FolderItem] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            try:
                items.append(_FolderItem(entry.name, Path(entry.path), entry.is_dir()))
            except OSError as error:
                items.append(_FolderItem(entry.name, Path(entry.path), is_folder=False, problem=error))
    # Big-endian bytes compare as the code units do.
    return sorted(items, key=lambda item: (item.name + "/" * item.is_folder).encode("utf-16-be", "surrogatepass"))


def read_listed(filename: str, path: Path, vault: str, *, keep_bom: bool = False) -> NoteFile | LeftOutNote:
    """The text of one listed file, or why it cannot be read.

    A byte order mark is dropped, as it is on the original's way from disk to parser, and so does not count in the
    content hash; what is to be written back needs `keep_bom`.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return LeftOutNote(
                filename, vault, NoteProblem.UNREADABLE,
                f"“{filename}” is not an ordinary file, so it is left out. Replace it by a text file or remove it.",
            )  # fmt: skip
        if status.st_size > MAX_FILE_BYTES:
            return LeftOutNote(
                filename, vault, NoteProblem.TOO_LARGE,
                f"“{filename}” has {status.st_size / 2**20:.1f} MiB; files over {MAX_FILE_BYTES // 2**20} MiB are not "
                "read. Split the note, or move the file out of the vault.",
            )  # fmt: skip
        data = path.read_bytes()
    except OSError as error:
        return LeftOutNote(filename, vault, _problem(error), _trouble(filename, error))
    return decoded(filename, data, vault, keep_bom=keep_bom)


def decoded(filename: str, data: bytes, vault: str, *, keep_bom: bool = False) -> NoteFile | LeftOutNote:
    """A file's bytes as its text, or why they are none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return LeftOutNote(filename, vault, NoteProblem.BAD_ENCODING, describe_bad_encoding(filename, data, error))
    return NoteFile(filename, text if keep_bom else text.removeprefix(BOM))


def describe_bad_encoding(filename: str, data: bytes, error: UnicodeDecodeError) -> str:
    """A message that names the file, the line (from 1) and the byte offset (from 0) of the first invalid byte."""
    line = data.count(b"\n", 0, error.start) + 1
    return (
        f"“{filename}” is not UTF-8 text: byte 0x{data[error.start]:02X} in line {line} (byte offset {error.start}) "
        "cannot be read, so the note is left out. Open it in a text editor and save it as UTF-8."
    )


def _problem(error: OSError) -> NoteProblem:
    return NoteProblem.LOOP if error.errno == errno.ELOOP else NoteProblem.UNREADABLE


def _trouble(filename: str, error: OSError) -> str:
    return (
        f"“{shown_name(filename)}” cannot be read: {reason_of(error)}. Check that it still exists and that you have "
        "the permission to read it."
    )


def is_text(name: str) -> bool:
    """False for a name with bytes that no text has, which the system hands over as lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown_name(name: str) -> str:
    """The name with what is no text in it replaced."""
    return name.encode("utf-8", "replace").decode()
