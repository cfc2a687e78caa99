"""The files that a note is in while it is being written, and clearing away those that nobody renames any more."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"\.[0-9a-f]{16}(?:-(?P<host>[0-9a-f]{8})-(?P<pid>\d+))?\.tmp")

STALE_S: Final = 3600.0
"""A temporary file of this age in seconds is left over, whoever made it."""


def temporary_name() -> str:
    """Hidden, unlike any other, and telling whose it is."""
    return f".{secrets.token_hex(8)}-{_host()}-{os.getpid()}.tmp"


@dataclass(frozen=True, slots=True)
class Swept:
    """What `sweep` deleted, and sentences about what it could not delete."""

    removed: tuple[Path, ...] = ()
    problems: tuple[str, ...] = ()


def sweep(folder: Path, now: float) -> Swept:
    """Delete temporary files that saving left below `folder` because the program or the computer stopped.

    Only ordinary files with the names that `save_note` gives are looked at, and only those whose process on this
    computer is gone or that are an hour old; `now` is in seconds since the epoch. Folders that begin with a dot are
    passed over. Walks the whole folder, so a window calls it from a worker.
    """
    removed: list[Path] = []
    problems: list[str] = []
    for path in _temporary_files(folder):
        try:
            if _left_over(path, now):
                path.unlink()
                removed.append(path)
        except FileNotFoundError:
            continue  # it was being renamed or swept by somebody else
        except OSError as error:
            reason = error.strerror or type(error).__name__
            problems.append(f"“{path}” is left over from saving and cannot be deleted ({reason}). Delete it by hand.")
    return Swept(tuple(removed), tuple(problems))


def _host() -> str:
    return hashlib.sha256(platform.node().encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _temporary_files(folder: Path) -> Iterator[Path]:
    seen: set[str] = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:  # a link led back
            folders.clear()
            continue
        seen.add(real)
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if _NAME.fullmatch(name):
                yield Path(place, name)


def _left_over(path: Path, now: float) -> bool:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        return False
    made = _NAME.fullmatch(path.name)
    if made is not None and made["host"] == _host() and not process_runs(int(made["pid"])):
        return True
    return now - status.st_mtime >= STALE_S


def process_runs(pid: int) -> bool:
    """Whether a process of this number runs on this computer; True where the system does not tell."""
    if sys.platform == "win32":
        return True  # asking there would end the process
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
