"""Unsaved texts, kept on disk while somebody types, and found again after the studio was killed.

Each running studio has a folder of its own in the recovery folder and holds a lock in it, which the system releases
however the studio ends. So the folders without a held lock are those of studios that are gone.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.lifecycle import Closing
from lorestudio.domain.texts import text_digest
from lorestudio.settings.files import read_whole, write_atomically
from lorestudio.trace.storage.serialize import record_from_json
from lorestudio.vault.file_lock import FileLock
from lorestudio.vault.files import SaveError, place_key, reason_of, refused, utc_now
from lorestudio.vault.files import default_folder as note_data_folder

_LOCK: Final = "lock"


def default_folder() -> Path:
    """Where the studio keeps unsaved texts."""
    return note_data_folder() / "recovery"


class Unsaved(Struct, frozen=True):
    """A text that was not saved: of which note, from which version on disk it started (None: a new note), and when.

    `file` is where it is kept.
    """

    path: Path
    text: str
    digest: str | None
    time: datetime
    file: Path


class Recovery(Closing):
    """The unsaved texts of this studio, and those that studios before it have left.

    The caller waits for a pause in the typing before it calls `keep`, and calls from a worker, in order: everything
    waits for the disk. Close it when the studio ends.
    """

    def __init__(self, folder: Path, clock: Callable[[], datetime] = utc_now) -> None:
        """Open a session of its own in `folder`. Raises SaveError where that cannot be made."""
        self._folder = folder
        self._clock = clock
        self._guard = threading.Lock()
        self._problems: dict[str, None] = {}
        self._session = folder / secrets.token_hex(8)
        with _explained(folder):
            self._lock = self._open()

    def _open(self) -> FileLock:
        while True:
            self._session.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._session / _LOCK)
            with suppress(FileNotFoundError):  # another studio has taken the new folder for an old one
                if lock.try_acquire():
                    return lock

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about kept texts that could not be read; their files are left alone."""
        return tuple(self._problems)

    def keep(self, path: Path, text: str, digest: str | None) -> None:
        """Keep the unsaved text of a note instead of the one kept before. Raises SaveError."""
        record = {"path": str(path), "text": text, "digest": digest, "time": self._clock().isoformat()}
        with self._guard, _explained(self._folder):
            write_atomically(self._file(path), json.dumps(record).encode(), private=True)

    def drop(self, path: Path) -> None:
        """Forget the text that this studio keeps for a note, after it was saved or given up. Raises SaveError."""
        with self._guard, _explained(self._folder):
            self._file(path).unlink(missing_ok=True)

    def found(self) -> tuple[Unsaved, ...]:
        """What studios that are gone have left, newest first; it stays there until `adopt` or `discard`.

        Raises SaveError.
        """
        texts: list[Unsaved] = []
        with self._guard, _explained(self._folder):
            for session in sorted(self._folder.iterdir()):
                if session != self._session and session.is_dir():
                    texts += self._left_in(session)
        return tuple(sorted(texts, key=lambda text: text.time, reverse=True))

    def adopt(self, unsaved: Unsaved) -> None:
        """Make a found text one of this studio's, so that `drop` forgets it once it was saved. Raises SaveError.

        A text that this studio keeps for the same note already is replaced.
        """
        with self._guard, _explained(self._folder):
            unsaved.file.replace(self._file(unsaved.path))

    def discard(self, unsaved: Unsaved) -> None:
        """Forget a found text that nobody wants. Raises SaveError."""
        with self._guard, _explained(self._folder):
            unsaved.file.unlink(missing_ok=True)

    def close(self) -> None:
        """End the session. Texts that are still kept are found by the next studio."""
        with self._guard:
            self._leave(self._session, self._lock)

    def _left_in(self, session: Path) -> list[Unsaved]:
        """The texts in the folder of a studio that is gone; a folder without any is removed."""
        lock = FileLock(session / _LOCK)
        try:
            if not lock.try_acquire():
                return []
        except FileNotFoundError:
            return []
        try:
            for file in session.glob(".*.tmp"):  # nobody writes here any more
                file.unlink(missing_ok=True)
            files = sorted(session.glob("*.json"))
            return [text for file in files if (text := self._read(file)) is not None]
        finally:
            self._leave(session, lock)

    def _leave(self, session: Path, lock: FileLock) -> None:
        empty = False
        with suppress(OSError):  # its disk may have gone away
            empty = all(file.name == _LOCK for file in session.iterdir())
        lock.release(delete=empty)
        if empty:
            with suppress(OSError):
                session.rmdir()

    def _read(self, file: Path) -> Unsaved | None:
        try:
            record = json.loads(read_whole(file))
            return record_from_json(Unsaved, {**record, "file": str(file)}, "text")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, RecursionError) as error:
            self._problems[
                f"“{file}” should hold an unsaved text and cannot be read ({reason_of(error)}). "
                "Open it in a text editor to look for the text, then delete it."
            ] = None
            return None

    def _file(self, path: Path) -> Path:
        return self._session / f"{text_digest(place_key(path))[:32]}.json"


def _explained(folder: Path) -> AbstractContextManager[None]:
    """Turn what the disk refuses into a SaveError."""
    advice = "Make room there or correct its permissions."
    return refused(
        SaveError, f"Unsaved texts cannot be kept in “{folder}” ({{reason}}), so save your notes often. {advice}"
    )
