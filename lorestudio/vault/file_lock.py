"""Locks between processes: two studios, or the window and the command line, on one data folder or one vault."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from lorestudio.domain.texts import text_digest
from lorestudio.vault.files import SaveError, place_key, refused
from lorestudio.vault.writer import process_runs

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

WAIT_S: Final = 30.0
"""How long is waited for another process, in seconds."""

_POLL_S: Final = 0.02
_HELD: Final = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK})
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


class FileLock:
    """A lock that is held through an open file, so the system lets go of it however its process ends.

    Where the disk has no locks, the process number in the file decides. Two objects exclude each other within one
    process as well.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._told_by: int | None = None

    @property
    def way_out(self) -> str:
        """What to do where nothing but a number in the file says that somebody else has the lock, "" otherwise."""
        if not self._told_by:
            return ""
        return (
            f" The disk has no locks: “{self._path}” names process {self._told_by}, and one of that number runs here. "
            "If it is no lorestudio, and none on another computer uses this folder, delete that file."
        )

    def try_acquire(self) -> bool:
        """Take the lock, or say that somebody else has it. Its folder must exist; raises OSError."""
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
            try:
                self._told_by = _lock(descriptor)
                if self._told_by is not None:
                    os.close(descriptor)
                    return False
                if _is_file(self._path, descriptor):  # else its last holder has deleted it meanwhile
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, str(os.getpid()).encode(), 0) if hasattr(os, "pwrite") else None
                    self._descriptor = descriptor
                    return True
            except BaseException:  # also of a full disk: a lock that nobody holds would stay until the studio ends
                os.close(descriptor)
                raise
            os.close(descriptor)

    def release(self, *, delete: bool = False) -> None:
        """Let go; `delete` removes the file first."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        if delete:
            with suppress(OSError):
                self._path.unlink()
        else:
            with suppress(OSError):
                os.ftruncate(descriptor, 0)
        os.close(descriptor)


@contextmanager
def locked(path: Path, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock at `path`, whose folder is made, waiting for other holders.

    Raises SaveError where it cannot be had in time or the folder cannot be written.
    """
    lock = FileLock(path)
    deadline = time.monotonic() + wait_s
    told = (
        f"The studio's folder “{path.parent}” cannot be written ({{reason}}). Nothing was changed. "
        "Make room or correct its permissions, and try again."
    )
    with refused(SaveError, told):
        path.parent.mkdir(parents=True, exist_ok=True)
        while not (held := lock.try_acquire()) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
    if not held:
        raise SaveError(
            f"Another lorestudio has been using “{path.parent}” for {wait_s:g} s. "
            f"Wait until it has finished its work, or close it, and try again.{lock.way_out}"
        )
    try:
        yield
    finally:
        lock.release()


def _is_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _lock(descriptor: int) -> int | None:
    """Lock the open file without waiting; else the process in it that has it where that alone tells, 0 where the
    system does. Raises OSError.
    """
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return 0
        if error.errno in _NO_LOCKS:
            return _other_process(descriptor)
        raise
    return None


def _other_process(descriptor: int) -> int | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    written = os.read(descriptor, 20)
    other = int(written) if written.isdigit() else os.getpid()
    return other if other != os.getpid() and process_runs(other) else None


class OpenVaults:
    """The locks of one window, in a folder that all windows share. Its methods wait for the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[Path, FileLock] = {}

    def show(self, vaults: Iterable[Path]) -> tuple[Path, ...]:
        """These are shown from now on, and no others; which of them another window shows already.

        Where the disk takes no lock, nothing is known and none is named.
        """
        wanted = dict.fromkeys(vaults)
        for gone in [vault for vault in self._held if vault not in wanted]:
            self._held.pop(gone).release(delete=True)
        return tuple(vault for vault in wanted if vault not in self._held and not self._take(vault))

    def _take(self, vault: Path) -> bool:
        key = text_digest(place_key(vault))[:32]
        lock = FileLock(self._folder / f"{key}.lock")
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            if not lock.try_acquire():
                return False
            self._held[vault] = lock
        return True
