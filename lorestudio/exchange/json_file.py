"""Changing a JSON file of another program: seen first, then written in one step, with a copy of the file as it was."""

from __future__ import annotations

import glob
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import parse_json
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import read_whole, write_atomically
from lorestudio.vault.data_folder import refused
from lorestudio.vault.writer import digest_of


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a file would become. `digest` is the SHA-256 of the bytes that the change was made for."""

    path: Path
    digest: str
    data: bytes = field(repr=False)


MAX_BYTES: Final = 256 * 1024 * 1024
"""The largest file that is read as a card or a lorebook."""


def read_file(path: Path, what: str = "") -> bytes:
    """The file's bytes; `what` names a thing that is never larger than `MAX_BYTES`. Raises InputError."""
    try:
        if what and path.stat().st_size > MAX_BYTES:
            raise InputError(path, f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB, so it is no {what}.")
        return read_whole(path)
    except FileNotFoundError:
        raise InputError(path, "there is no such file. Check the path.") from None
    except IsADirectoryError:
        raise InputError(path, "this is a folder. Give the file in it.") from None
    except OSError as error:
        raise InputError(path, f"it cannot be read ({error.strerror or error}).") from error


def parse_document(data: bytes, source: Path | str, what: str) -> Json:
    """The value of a JSON file from outside. Raises InputError; `what` names the thing for the sentence."""
    try:
        return parse_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(source, f"this is no text in UTF-8. Choose the {what}'s JSON file.") from error
    except ValueError as error:
        raise InputError(source, f"the {what} is no valid JSON ({error}). Export it again.") from error


def change_of(path: Path, before: bytes, after: bytes) -> FileChange:
    """The change from the bytes that were looked at."""
    return FileChange(path, digest_of(before), after)


def carry_out(change: FileChange, now: datetime | None = None) -> Path:
    """Write the file and return where its copy from before lies: beside it, with the time in its name.

    Raises InputError, with the file as it was, where it is not what was looked at, or cannot be written. Waits for the
    disk, so a window calls it from a worker.
    """
    before = read_file(change.path)
    if digest_of(before) != change.digest:
        raise InputError(change.path, "the file was changed meanwhile, so nothing was written. Look at it again.")
    copy = keep_copy(change.path, before, now)
    with _writing(change.path):
        write_atomically(change.path, change.data)
    return copy


def keep_copy(path: Path, data: bytes, now: datetime | None = None) -> Path:
    """Keep what a file holds beside it, with the time in the name, and return where. Raises InputError."""
    with _writing(path):
        kept = max(path.parent.glob(f"{glob.escape(path.name)}.*.bak"), default=None)
        if kept is not None and kept.read_bytes() == data:
            return kept
        copy = _free(path, now or datetime.now().astimezone())
        write_atomically(copy, data)
    return copy


def _writing(path: Path) -> AbstractContextManager[None]:
    return refused(partial(InputError, path), "it cannot be written ({reason}). Check permissions and free space.")


def _free(path: Path, now: datetime) -> Path:
    name = f"{path.name}.{now:%Y-%m-%d_%H-%M-%S}"
    copy, number = path.with_name(f"{name}.bak"), 1
    while copy.exists():
        number += 1
        copy = path.with_name(f"{name}_{number}.bak")
    return copy
