"""Looking at a vault again: its files, what is known of them, and the texts of those that may have changed."""

from __future__ import annotations

import hashlib
import importlib.util
import time
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from lorestudio.domain.digests import text_digest
from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.domain.resources import VERSION
from lorestudio.vault import fields as field_file
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.folder import list_folder, read_listed

_PARSER: Final = (
    "lorestudio.domain.entry",
    "lorestudio.domain.javascript",
    "lorestudio.vault.cleaning",
    "lorestudio.vault.entries",
    "lorestudio.vault.front_matter",
)
"""The modules that decide what a text says."""


class Stamp(NamedTuple):
    """The file system's word about a file: times in nanoseconds, size in bytes.

    An equal stamp means an unchanged file; a different one only that the content has to be looked at.
    """

    modified_ns: int
    changed_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class KnownFile:
    """One file as it was read: `digest` is that of its text, `note` what it says, None for a file that is no note.

    `stamp` is None where it cannot tell whether the file has changed. `text` is kept for the file of field definitions.
    """

    filename: str
    digest: str
    note: Entry | LeftOutNote | None = field(repr=False)
    stamp: Stamp | None = None
    text: str | None = field(default=None, repr=False)


class KnownVault(Struct, frozen=True):
    """One vault as it was read, files in index order; `left_out` is what could not be read.

    `parser` is the key of the rules that the notes were parsed with (see `parser_key`).
    """

    name: str
    files: tuple[KnownFile, ...] = ()
    left_out: tuple[LeftOutNote, ...] = ()
    parser: str = ""

    def text(self, filename: str) -> str:
        """The kept text of a file, "" where there is none."""
        return next((file.text or "" for file in self.files if file.filename == filename), "")


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


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """One file as it is now; `text` is None where the file was not read because its stamp is the known one."""

    filename: str
    digest: str
    text: str | None = field(default=None, repr=False)
    stamp: Stamp | None = None


class ScannedVault(Struct, frozen=True):
    """A vault as it is now.

    With a `failure`, a sentence, not all of it could be seen: what was known before holds instead, where there is
    anything (rules: deeplore 1.1). `remarks` are sentences about single files.
    """

    name: str
    files: tuple[ScannedFile, ...] = ()
    left_out: tuple[LeftOutNote, ...] = ()
    failure: str = ""
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, files: VaultFiles) -> ScannedVault:
        """A vault whose texts were all read."""
        scanned = (ScannedFile(file.filename, text_digest(file.text), file.text) for file in files.files)
        return cls(files.name, tuple(scanned), files.left_out)

    @property
    def read(self) -> int:
        """How many files were read."""
        return sum(file.text is not None for file in self.files)

    def text(self, filename: str) -> str:
        """The text of a file that was read, "" where there is none."""
        return next((file.text or "" for file in self.files if file.filename == filename), "")


def scan_folder(
    path: Path,
    known: Mapping[str, KnownFile],
    name: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
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
    listing = list_folder(path, name, cancelled, definition_path=definition_path)
    left_out = list(listing.left_out)
    files: list[ScannedFile] = []
    for count, (filename, place) in enumerate(listing.found, 1):
        if cancelled is not None and cancelled():
            raise Cancelled
        before = None if filename == definition_path else known.get(filename)
        found = _scan_file(filename, place, listing.name, before, clock_ns)
        if isinstance(found, LeftOutNote):
            left_out.append(found)
        else:
            files.append(found)
        if on_progress is not None:
            on_progress(count, len(listing.found))
    return ScannedVault(listing.name, tuple(files), tuple(left_out))


def _scan_file(
    filename: str, place: Path, vault: str, known: KnownFile | None, clock_ns: Callable[[], int]
) -> ScannedFile | LeftOutNote:
    # The stamp is taken first: a change during the reading then shows as another stamp the next time.
    stamp = file_stamp(place)
    if stamp is not None and known is not None and known.stamp == stamp:
        return ScannedFile(filename, known.digest, None, stamp)
    now = clock_ns()
    read = _stamped(read_listed(filename, place, vault), stamp, now)
    return (
        read if isinstance(read, LeftOutNote) else ScannedFile(filename, text_digest(read.text), read.text, read.stamp)
    )


class StampedText(Struct, frozen=True):
    """A file's text, with its stamp where an equal one means the same text."""

    text: str
    stamp: Stamp | None


def read_stamped(
    filename: str, place: Path, vault: str, known: StampedText | None, *, keep_bom: bool = False
) -> StampedText | LeftOutNote:
    """The text of one listed file, or why it cannot be read; what is `known` is not read again."""
    stamp, now = file_stamp(place), time.time_ns()
    if known is not None and stamp is not None and known.stamp == stamp:
        return known
    return _stamped(read_listed(filename, place, vault, keep_bom=keep_bom), stamp, now)


def _stamped(note: NoteFile | LeftOutNote, stamp: Stamp | None, now: int) -> StampedText | LeftOutNote:
    """What was read after `stamp` was taken at `now` (ns); a file that has just changed may change again unseen."""
    if isinstance(note, LeftOutNote):
        return note
    settled = stamp is not None and max(stamp.modified_ns, stamp.changed_ns) < now - SETTLING_NS
    return StampedText(note.text, stamp if settled else None)


def file_stamp(place: Path) -> Stamp | None:
    """The stamp of a file, None where the file system does not tell."""
    try:
        status = place.stat()
    except OSError:
        return None  # reading it will say what is wrong
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size)
