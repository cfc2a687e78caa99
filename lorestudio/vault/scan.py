"""Looking at a vault again: which files there are, and the texts of those that may have changed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lorestudio.domain.entry import LeftOutNote
from lorestudio.vault import fields as field_file
from lorestudio.vault.folder import ReadingCancelledError, list_folder, read_listed
from lorestudio.vault.known import KnownFile, Stamp, text_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lorestudio.vault.files import VaultFiles

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


@dataclass(frozen=True, slots=True)
class ScannedVault:
    """A vault as it is now.

    With a `failure`, a sentence, not all of it could be seen: what was known before holds instead, where there is
    anything (spec 1.1). `remarks` are sentences about single files.
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

    The file of field definitions is always read. The order and what is left out are those of `read_folder`, which also
    says what is raised and what the other arguments are.
    """
    definition_path = definition_path or field_file.DEFAULT_PATH
    listing = list_folder(path, name, cancelled, definition_path=definition_path)
    left_out = list(listing.left_out)
    files: list[ScannedFile] = []
    for count, (filename, place) in enumerate(listing.found, 1):
        if cancelled is not None and cancelled():
            raise ReadingCancelledError
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
    note = read_listed(filename, place, vault)
    if isinstance(note, LeftOutNote):
        return note
    settled = stamp is not None and max(stamp.modified_ns, stamp.changed_ns) < now - SETTLING_NS
    return ScannedFile(filename, text_digest(note.text), note.text, stamp if settled else None)


def file_stamp(place: Path) -> Stamp | None:
    """The stamp of a file, None where the file system does not tell."""
    try:
        status = place.stat()
    except OSError:
        return None  # reading it will say what is wrong
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size)
