"""Files: what was read from a vault's folder and its order in the index, where the studio keeps what protects the notes
(history, change log, trash, unsaved texts), and what is said where reading or writing fails.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import LeftOutNote
from lorestudio.domain.resources import OWN_FOLDERS


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

    Only names that end in `.md` are notes; other files are read for what they define. `failure` says that something is
    missing because it could not be listed, "" for nothing.
    """

    name: str
    files: tuple[NoteFile, ...] = ()
    left_out: tuple[LeftOutNote, ...] = ()
    failure: str = ""


def index_order(filename: str) -> list[tuple[bool, bytes]]:
    """Sorts file names into index order: a folder's files by UTF-16 code units, then its sub-folders
    (rules: deeplore 1.1).
    """
    *folders, name = filename.split("/")
    # Big-endian bytes compare as the code units do.
    return [(True, f"{folder}/".encode("utf-16-be", "surrogatepass")) for folder in folders] + [
        (False, name.encode("utf-16-be", "surrogatepass"))
    ]


def default_folder() -> Path:
    """The folder below the person's data that `ChangeLog` takes; unsaved texts lie in `recovery` in it."""
    return OWN_FOLDERS.user_data_path / "notes"


def utc_now() -> datetime:
    """The time, as every clock here gives it: aware, in UTC."""
    return datetime.now(UTC)


def epoch_ms() -> int:
    """The time as milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def place_key(path: Path) -> str:
    """One spelling for the place of a file, whichever links lead to its folder; a link itself is not followed."""
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118  # a string is what is compared


def reason_of(error: Exception) -> str:
    """Why the system refused, in its own words."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def told_of_disk(error: OSError) -> str:
    """What is said where nobody expected the system to refuse: a network folder that went away does so at any look."""
    if error.filename is None:
        return str(error)
    advice = _WHAT_TO_DO.get(error.errno or 0, "Look whether its disk and folder are there, and try again.")
    return f"{error.filename}: {reason_of(error)}. {advice}"


_WHAT_TO_DO: Final = {
    errno.EACCES: "Check that you may read and write there, and try again.",
    errno.EDQUOT: "Look whether your share of its disk has room, and try again.",
    errno.ELOOP: "It is a link that leads back to itself. Remove it, or name what it should lead to.",
    errno.ENAMETOOLONG: "Give it, or the file that it is named after, a shorter one.",
    errno.ENOSPC: "Look whether its disk has room, and try again.",
    errno.EROFS: "Choose a place that can be written, or make this one so.",
}


LOOK_THERE: Final = "Check folder, permissions and free space."
"""What to do where something cannot be written, whatever the reason; of a long name `refused` says another thing."""


@contextmanager
def refused(error_of: Callable[[str], Exception], sentence: str) -> Iterator[None]:
    """Turn what the system refuses into an error with this sentence; `{reason}` in it becomes the system's words."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            sentence = sentence.replace(LOOK_THERE, _WHAT_TO_DO[error.errno])
        raise error_of(sentence.replace("{reason}", reason_of(error))) from error
