"""Reading a vault's folder in DeepLore's order, and again, where only files that may have changed are read.

What cannot be read becomes a visible item. Rules: deeplore 1.1.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import stat
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem
from lorestudio.domain.lifecycle import CancelToken, heed
from lorestudio.domain.records import Terse
from lorestudio.domain.resources import VERSION
from lorestudio.domain.texts import text_digest
from lorestudio.vault import fields as field_file
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.files import NoteFile, VaultError, VaultFiles, reason_of
from lorestudio.vault.front_matter import BOM

MAX_FILE_BYTES: Final = 4 * 1024 * 1024
"""Larger files are not read: no note has this size."""

MAX_LEVELS: Final = 20
"""Folders at this depth below the vault are not listed."""


class FolderListing(Struct, frozen=True):
    """The files of a vault that are to be read, in index order, and what could not be listed."""

    name: str
    folder: Path
    names: tuple[str, ...]
    left_out: tuple[LeftOutNote, ...]

    @property
    def found(self) -> Iterator[tuple[str, Path]]:
        """Name and place of each file; places are made on the way: thousands of them take as much as their notes."""
        return ((name, self.folder / name) for name in self.names)


def list_folder(
    path: Path,
    name: str | None = None,
    cancel: CancelToken | None = None,
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
    walk = _Walk(vault, cancel)
    # A link to a folder above the vault leads back into the vault.
    walk.add_folder("", listing, frozenset(map(str, (home, *home.parents))), 0)
    if _is_extra_file(path, definition_path):
        walk.found.append(definition_path)
    return FolderListing(vault, path, tuple(walk.found), tuple(walk.left_out))


class _FolderItem(Struct):
    """One name in a folder."""

    name: str
    path: str
    is_folder: bool
    problem: OSError | None = None


class _Walk(Struct):
    """Collects the notes below a folder, depth first, a folder's own files before its sub-folders."""

    vault: str
    cancel: CancelToken | None
    found: list[str] = []
    left_out: list[LeftOutNote] = []

    def add_folder(self, prefix: str, listing: Sequence[_FolderItem], above: frozenset[str], level: int) -> None:
        """Take in one listed folder; `above` holds the real paths of all folders around it, itself included."""
        heed(self.cancel)
        for item in listing:
            filename = prefix + item.name
            if item.problem is not None:
                self._leave_out(filename, _problem(item.problem), _trouble(filename, item.problem))
            elif not item.is_folder and item.name.endswith(".md"):
                self._add_file(filename)
        for item in listing:
            if item.is_folder:
                self._add_subfolder(prefix + item.name, item.path, above, level + 1)

    def _add_file(self, filename: str) -> None:
        if is_text(filename):
            self.found.append(filename)
            return
        self._leave_out(
            filename, NoteProblem.UNREADABLE,
            f"The name of “{shown_name(filename)}” is not valid text, so the file is left out. Rename it.",
        )  # fmt: skip

    def _add_subfolder(self, filename: str, path: str, above: frozenset[str], level: int) -> None:
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
        if _tells_of_the_system(real):
            self._leave_out(
                filename, NoteProblem.UNREADABLE,
                f"The folder “{shown_name(filename)}” is a link to {real}, which holds no files but what the system "
                "does just now, so it is not followed. Remove the link.",
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


def _tells_of_the_system(real: str) -> bool:
    """Whether a folder is the system's picture of itself, which is another one at every look."""
    return Path(real).parts[:2] in {("/", "proc"), ("/", "sys")}


def walked(folder: Path, *, follow_links: bool = False) -> Iterator[tuple[Path, list[str]]]:
    """Each folder below this one with the names of its files, as deep as notes are listed, without dot folders."""
    seen: set[str] = set()
    for place, folders, files in os.walk(folder, followlinks=follow_links):
        real = os.path.realpath(place)
        if real in seen or _tells_of_the_system(real):  # a link led back, or out of all files
            folders.clear()
            continue
        seen.add(real)
        level = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and level < MAX_LEVELS - 1)
        yield Path(place), sorted(files)


def is_plugin(path: Path) -> bool:
    """Whether the address of Obsidian's plugin was taken for a path."""
    return not {"http:", "https:"}.isdisjoint(path.parts)


def no_folder(path: Path) -> str:
    """What to say where a vault's folder, or a lorebook in its place, is not there."""
    if is_plugin(path):
        return (
            "From Obsidian's plugin notes can be read only, and this works on their files. Give the vault's folder on "
            "this computer."
        )
    if path.suffix:
        return f"There is no file “{path}”. Choose a lorebook, or the folder that holds the vault's notes."
    return f"There is no folder “{path}”. Choose the folder that holds the vault's notes."


def _list_root(path: Path) -> list[_FolderItem]:
    try:
        return _list(path)
    except FileNotFoundError as error:
        raise VaultError(no_folder(path)) from error
    except NotADirectoryError as error:
        raise VaultError(f"“{path}” is a file. Choose the folder that holds the vault's notes.") from error
    except OSError as error:
        advice = "Check its permissions." if isinstance(error, PermissionError) else "Look whether its disk is there."
        raise VaultError(f"The folder “{path}” cannot be read: {reason_of(error)}. {advice}") from error


def _is_extra_file(root: Path, filename: str) -> bool:
    """True for a file inside the vault that the walk over the notes has not found."""
    relative = Path(filename)
    if filename.endswith(".md") or relative.is_absolute() or ".." in relative.parts:
        return False
    try:
        return (root / relative).exists()
    except OSError:
        return True  # reading it will say what is wrong


def _list(folder: Path | str) -> list[_FolderItem]:
    """Names in a folder by UTF-16 code units, folders with a trailing slash in the sort key; no dot names."""
    items: list[_FolderItem] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            try:
                items.append(_FolderItem(entry.name, entry.path, entry.is_dir()))
            except OSError as error:
                items.append(_FolderItem(entry.name, entry.path, is_folder=False, problem=error))
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
        text = note_text(filename, data)
    except VaultError as error:
        return LeftOutNote(filename, vault, NoteProblem.BAD_ENCODING, str(error))
    return NoteFile(filename, text if keep_bom else text.removeprefix(BOM))


def note_text(filename: str, data: bytes) -> str:
    """A note's text. Raises VaultError with the line (from 1) and byte offset (from 0) of a byte that is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise VaultError(
            f"“{filename}” is not UTF-8 text: byte 0x{data[error.start]:02X} in line {line} (byte offset "
            f"{error.start}) cannot be read, so the note is left out. Open it in a text editor and save it as UTF-8."
        ) from error


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


_PARSER: Final = (
    "lorestudio.domain.entry",
    "lorestudio.domain.javascript",
    "lorestudio.vault.cleaning",
    "lorestudio.vault.entries",
    "lorestudio.vault.front_matter",
)
"""The modules that decide what a text says."""


def text_among(files: Iterable[KnownFile | ScannedFile], filename: str) -> str:
    """The text of a file, "" where there is none, or it was neither kept nor read."""
    return next((file.text or "" for file in files if file.filename == filename), "")


class Stamp(NamedTuple):
    """The file system's word about a file: times in nanoseconds, size in bytes.

    An equal stamp means an unchanged file; a different one only that the content has to be looked at.
    """

    modified_ns: int
    changed_ns: int
    size: int


class KnownFile(Terse, frozen=True):
    """One file as it was read: `digest` is that of its text, `note` what it says, None for a file that is no note.

    `stamp` is None where it cannot tell whether the file has changed. `text` is kept for the file of field definitions.
    """

    unprinted = ("note", "text")

    filename: str
    digest: str
    note: Entry | LeftOutNote | None
    stamp: Stamp | None = None
    text: str | None = None


class KnownVault(Struct, frozen=True):
    """One vault as it was read, files in index order; `left_out` is what could not be read.

    `parser` is the key of the rules that the notes were parsed with (see `parser_key`).
    """

    name: str
    files: tuple[KnownFile, ...] = ()
    left_out: tuple[LeftOutNote, ...] = ()
    parser: str = ""


def parser_key(rules: ParseRules) -> str:
    """A digest of all that decides what a text says; a note that was parsed under another key is parsed again.

    It covers the tags, leniency, field definitions and the parser itself, not who counts tokens: those are counted
    when the index is made.
    """
    return text_digest(f"{rules!r}\0{_parser_digest()}")


@lru_cache(maxsize=1)
def _parser_digest() -> str:
    """A digest of the parser's own source, so that nobody has to remember a version number."""
    digest = hashlib.sha256(f"{VERSION} {unicodedata.unidata_version}".encode())
    for name in _PARSER:
        spec = importlib.util.find_spec(name)
        read = getattr(spec.loader, "get_source", None) if spec is not None else None
        # Without sources, as in some frozen programs, the version number has to do.
        digest.update(((read(name) if read is not None else None) or "").encode())
    return digest.hexdigest()


SETTLING_NS: Final = 3_000_000_000
"""A file that was changed so shortly before it was read may change again without a new time stamp.

FAT file systems count in steps of two seconds.
"""


class ScannedFile(Terse, frozen=True):
    """One file as it is now; `text` is None where the file was not read because its stamp is the known one."""

    unprinted = ("text",)

    filename: str
    digest: str
    text: str | None = None
    stamp: Stamp | None = None


class ScannedVault(Struct, frozen=True):
    """A vault as it is now.

    With a `failure`, a sentence, not all of it could be seen: what was known before holds instead, where there is
    anything (rules: deeplore 1.1). `remarks` are sentences about single files.
    """

    name: str
    files: list[ScannedFile] = []
    left_out: tuple[LeftOutNote, ...] = ()
    failure: str = ""
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, files: VaultFiles) -> ScannedVault:
        """A vault whose texts were all read."""
        scanned = (ScannedFile(file.filename, text_digest(file.text), file.text) for file in files.files)
        return cls(files.name, list(scanned), files.left_out, files.failure)

    @property
    def read(self) -> int:
        """How many files were read."""
        return sum(file.text is not None for file in self.files)


def scan_folder(
    path: Path,
    known: Mapping[str, KnownFile],
    name: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    cancel: CancelToken | None = None,
    *,
    definition_path: str = field_file.DEFAULT_PATH,
    clock_ns: Callable[[], int] = time.time_ns,
) -> ScannedVault:
    """What is in the folder now; files whose stamp is the one in `known` (by file name) are not read.

    The file of field definitions, if there is one, is always read, and stands behind the notes, which are in
    DeepLore's order. `on_progress` gets the number of files done and their total. The other arguments, and what is
    raised, are those of `list_folder`.
    """
    definition_path = definition_path or field_file.DEFAULT_PATH
    listing = list_folder(path, name, cancel, definition_path=definition_path)
    left_out = list(listing.left_out)
    files: list[ScannedFile] = []
    for count, (filename, place) in enumerate(listing.found, 1):
        heed(cancel)
        before = None if filename == definition_path else known.get(filename)
        found = _scan_file(filename, place, listing.name, before, clock_ns)
        if isinstance(found, LeftOutNote):
            left_out.append(found)
        else:
            files.append(found)
        if on_progress is not None:
            on_progress(count, len(listing.names))
    return ScannedVault(listing.name, files, tuple(left_out))


def _scan_file(
    filename: str, place: Path, vault: str, known: KnownFile | None, clock_ns: Callable[[], int]
) -> ScannedFile | LeftOutNote:
    # The stamp is taken first: a change during the reading then shows as another stamp the next time.
    stamp = file_stamp(place)
    if stamp is not None and known is not None and known.stamp == stamp:
        return ScannedFile(known.filename, known.digest, None, known.stamp)
    now = clock_ns()
    read = _stamped(read_listed(filename, place, vault), stamp, now)
    return (
        read if isinstance(read, LeftOutNote) else ScannedFile(filename, text_digest(read.text), read.text, read.stamp)
    )


class StampedText(Struct, frozen=True):
    """A file's text, with its stamp where an equal one means the same text."""

    text: str
    stamp: Stamp | None


def read_stamped(filename: str, place: Path, vault: str, known: StampedText | None) -> StampedText | LeftOutNote:
    """The text of one listed file, or why it cannot be read; what is `known` is not read again."""
    stamp, now = file_stamp(place), time.time_ns()
    if known is not None and stamp is not None and known.stamp == stamp:
        return known
    return _stamped(read_listed(filename, place, vault), stamp, now)


def _stamped(note: NoteFile | LeftOutNote, stamp: Stamp | None, now: int) -> StampedText | LeftOutNote:
    """What was read after `stamp` was taken at `now` (ns)."""
    return note if isinstance(note, LeftOutNote) else StampedText(note.text, _settled(stamp, now))


def settled_stamp(place: Path) -> Stamp | None:
    """The stamp of a file, None where an equal one need not mean the same text."""
    return _settled(file_stamp(place), time.time_ns())


def _settled(stamp: Stamp | None, now: int) -> Stamp | None:
    """The stamp as it was at `now` (ns), None where the file has just changed: it may change again unseen."""
    settled = stamp is not None and max(stamp.modified_ns, stamp.changed_ns) < now - SETTLING_NS
    return stamp if settled else None


def file_stamp(place: Path) -> Stamp | None:
    """The stamp of a file, None where the file system does not tell."""
    try:
        status = place.stat()
    except OSError:
        return None  # reading it will say what is wrong
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size)
