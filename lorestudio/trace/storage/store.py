"""All traces of all chats in one SQLite file: of every generation its newest runs with each retrieval system.

`add_runs` keeps runs beside the earlier ones; `prune` drops the oldest where there are more than `KEPT_RUNS`. They are
two steps, so that whoever refers to a run from another file can write that file in between and never loses what it
names. The room of a dropped run is used for the next ones, so the file stays as large as it was at its largest.

What `add_runs` has returned for survives the end of the process. One connection serves all threads, behind a lock, so a
store may be handed to worker threads freely. Opening reads the whole file to check it, so do that in a worker; not
where it is as it was left by a store that was closed in order, of which `<name>.closed` tells.

A damaged file is moved aside to `<name>.damaged-1`, `-2`, ... together with its `-wal` and `-shm`, and a new one is
begun; `TraceStore.problems` says so. Nothing is ever deleted but by `prune` and `clear`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from lorestudio.domain.lifecycle import Closing
from lorestudio.domain.records import Terse, picked
from lorestudio.domain.sqlite_file import connect, is_damage, parts, set_aside, transaction
from lorestudio.trace.model import Trace
from lorestudio.trace.storage.serialize import PackedTrace, TraceFormatError
from lorestudio.trace.vocabulary import Vocabulary, plain

KEPT_RUNS: Final = 20
"""Runs of one generation that pruning leaves: enough for an evening's attempts at one reply, and an end to the growth
of the file, since the trace of a large vault may have some hundred kilobytes."""

SCHEMA_VERSION: Final = 3
_BUSY_SECONDS: Final = 10.0

_SCHEMA: Final = """
CREATE TABLE traces (
    id INTEGER PRIMARY KEY,
    chat_id TEXT NOT NULL,
    message INTEGER NOT NULL,
    swipe INTEGER NOT NULL,
    run INTEGER NOT NULL,
    trace BLOB NOT NULL,
    system TEXT NOT NULL DEFAULT 'deeplore',
    mark TEXT NOT NULL DEFAULT '',
    beside TEXT NOT NULL DEFAULT '{}',
    after BLOB NOT NULL DEFAULT x'',
    UNIQUE (chat_id, message, swipe, run)
)
"""
_INDEX: Final = "CREATE INDEX by_system ON traces (chat_id, system, message, swipe, run)"
_ADDED: Final = {
    "system": "TEXT NOT NULL DEFAULT 'deeplore'",
    "mark": "TEXT NOT NULL DEFAULT ''",
    "beside": "TEXT NOT NULL DEFAULT '{}'",
    "after": "BLOB NOT NULL DEFAULT x''",
}
"""Version 1 knew DeepLore alone, version 2 nothing beside a trace. Columns with a default leave all rows where they
are, so that even a large store is ready at once; run numbers are therefore counted over all systems."""

_INSERT: Final = """
INSERT INTO traces (chat_id, message, swipe, run, trace, system, mark, beside, after)
SELECT :chat, :message, :swipe, 1 + COALESCE(MAX(run), 0), :trace, :system, :mark, :beside, :after
FROM traces WHERE chat_id = :chat AND message = :message AND swipe = :swipe
RETURNING run
"""
_PRUNE: Final = """
DELETE FROM traces WHERE chat_id = :chat AND message = :message AND swipe = :swipe AND system = :system AND run <= (
    SELECT run FROM traces WHERE chat_id = :chat AND message = :message AND swipe = :swipe AND system = :system
    ORDER BY run DESC LIMIT 1 OFFSET :keep
)
"""
_SELECT: Final = """
SELECT message, swipe, run, trace, system, mark, beside, after FROM traces AS t WHERE chat_id = ? AND system = ?
"""
_NEWEST: Final = """ AND run = (
    SELECT MAX(run) FROM traces WHERE chat_id = t.chat_id AND message = t.message AND swipe = t.swipe
    AND system = t.system
)"""
_PLACES: Final = "SELECT DISTINCT message, swipe FROM traces WHERE chat_id = ? AND system = ? ORDER BY message, swipe"
_MARK: Final = 5  # its place in a row


class StoreError(OSError):
    """The store cannot be used; the message names the file and says what to do."""


class StoredRun(Terse, frozen=True):
    """A run of a generation as it is stored.

    `beside` is any JSON object that is read with the run, without unpacking its trace; `after` are bytes of those who
    store it.
    """

    unprinted = ("beside", "after")

    message: int
    swipe: int
    system: str
    trace: PackedTrace
    beside: Mapping[str, Any] = {}
    after: bytes = b""

    @property
    def mark(self) -> str:
        """What tells this run from every other: its inputs, and what came of it, its times included."""
        digest = hashlib.blake2b(self.trace.data, digest_size=12)
        digest.update(self.after)
        digest.update(str((self.trace.digests or {}).get("inputs")).encode())
        return digest.hexdigest()


Fits: TypeAlias = Callable[[StoredRun], bool]
"""Whether a run is one of those that are looked for; nothing is unpacked for it."""


def _any(_run: StoredRun) -> bool:
    return True


class _DamagedError(Exception):
    """The file is no sound database of ours."""


class TraceStore(Closing):
    """The traces in the file at `path`, which is made where it does not exist. Raises `StoreError`.

    They come out with the words of their systems, as `words` knows them by the systems' names.
    """

    def __init__(self, path: Path | str, words: Callable[[str], Vocabulary[Trace]] = plain) -> None:
        self.path = Path(path)
        self._words = words
        self._seal = self.path.with_name(f"{self.path.name}.closed")
        self._lock = threading.RLock()
        self._problems: dict[str, None] = {}
        self._sound, self._closed = True, False
        try:
            try:
                self._connection = _open(self.path, self._seal)
            except _DamagedError as damage:
                moved_to = set_aside(self.path)
                self._report(
                    f"{self.path.name} was damaged ({damage}); it is now {moved_to.name}, and a new store was begun."
                )
                self._connection = _open(self.path, self._seal)
        except (sqlite3.Error, OSError, _DamagedError) as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"{self.path}: the trace store cannot be opened ({error})") from error

    @property
    def problems(self) -> tuple[str, ...]:
        """What went wrong since the store was opened: a damaged file, a trace that cannot be read."""
        with self._lock:
            return tuple(self._problems)

    def add_runs(self, chat_id: str, runs: Iterable[StoredRun]) -> tuple[int, ...]:
        """Keep several runs, all or none; returns their numbers among those of the same message and swipe, from 1.

        The runs of all systems are numbered together.
        """
        rows = [
            {
                "chat": chat_id,
                **picked(run, "message", "swipe", "system", "mark", "after"),
                "trace": run.trace.data,
                "beside": json.dumps({**run.beside, "heading": run.trace.heading()}, separators=(",", ":")),
            }
            for run in runs
        ]
        with self._changing() as connection:
            return tuple(int(connection.execute(_INSERT, row).fetchall()[0][0]) for row in rows)

    def prune(self, chat_id: str, places: Iterable[tuple[int, int]], keep: int = KEPT_RUNS, *, system: str) -> int:
        """Drop the oldest runs of these generations (message and swipe) with a system, so that `keep` are left.

        Returns how many were dropped.
        """
        if keep < 1:
            raise ValueError(f"at least the newest run has to stay, not {keep}")
        told = {"chat": chat_id, "keep": keep, "system": system}
        rows = [{**told, "message": message, "swipe": swipe} for message, swipe in places]
        with self._changing() as connection:
            return sum(connection.execute(_PRUNE, row).rowcount for row in rows)

    def latest(self, chat_id: str, message: int, swipe: int, system: str, fits: Fits = _any) -> Trace | None:
        """The newest readable trace of a generation with a system that fits, None where there is none."""
        query = _SELECT + " AND message = ? AND swipe = ? ORDER BY run DESC"
        return next(self._read(query, chat_id, system, message, swipe, fits=fits), None)

    def history(self, chat_id: str, message: int, swipe: int, system: str, fits: Fits = _any) -> tuple[Trace, ...]:
        """All traces of a generation with a system that fit, oldest first."""
        query = _SELECT + " AND message = ? AND swipe = ? ORDER BY run"
        return tuple(self._read(query, chat_id, system, message, swipe, fits=fits))

    def latest_all(self, chat_id: str, system: str, fits: Fits = _any) -> tuple[Trace, ...]:
        """The newest trace of each generation of a chat with a system that fits, by message and swipe."""
        places = self._rows(_PLACES, (chat_id, system))
        found = (self.latest(chat_id, message, swipe, system, fits) for message, swipe in places)
        return tuple(trace for trace in found if trace is not None)

    def newest_runs(self, chat_id: str, system: str) -> tuple[StoredRun, ...]:
        """The newest run of each generation of a chat with a system that was stored with a mark and is undamaged."""
        return tuple(self._runs(_SELECT + _NEWEST, chat_id, system))

    def marked(self, chat_id: str, message: int, swipe: int, system: str, mark: str) -> StoredRun | None:
        """The run of a generation with a system that has this mark, None where there is none."""
        query = _SELECT + " AND message = ? AND swipe = ? AND mark = ?"
        return next(self._runs(query, chat_id, system, message, swipe, mark), None)

    def counts(self, chat_id: str) -> dict[str, int]:
        """How many traces of a chat are kept, by the systems that there are any of, in the order of their names."""
        query = "SELECT system, COUNT(*) FROM traces WHERE chat_id = ? GROUP BY system ORDER BY system"
        with self._using() as connection:
            return {str(system): int(count) for system, count in connection.execute(query, (chat_id,)).fetchall()}

    def move(self, chat_id: str, to: str) -> None:
        """The traces of a chat are those of another from now on, of whom there are none yet."""
        with self._using() as connection:
            connection.execute("UPDATE OR IGNORE traces SET chat_id = ? WHERE chat_id = ?", (to, chat_id))

    def clear(self, chat_id: str) -> int:
        """Delete all traces of a chat, of all systems; returns how many."""
        with self._using() as connection:
            return connection.execute("DELETE FROM traces WHERE chat_id = ?", (chat_id,)).rowcount

    @property
    def chats(self) -> frozenset[str]:
        """The chats of which there are traces."""
        with self._using() as connection:
            return frozenset(str(chat) for (chat,) in connection.execute("SELECT DISTINCT chat_id FROM traces"))

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return sum(part.stat().st_size for part in parts(self.path) if part.exists())

    def shrink(self) -> None:
        """Give the room of what was deleted back to the disk. Meanwhile it takes as much room again as is left."""
        with self._using() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._connection.close()
            with suppress(OSError):  # it is checked at the next opening then
                if self._sound:
                    self._seal.write_text(_state_of(self.path))

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time; SQLite's errors come out as `StoreError`."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                if is_damage(error):
                    self._sound = False
                    self._seal.unlink(missing_ok=True)
                raise StoreError(
                    f"{self.path}: the trace store failed ({error}). Close the programs that use it and open it again."
                ) from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """The connection within a transaction: all or nothing."""
        with self._using() as connection, transaction(connection):
            yield connection

    def _read(self, query: str, *values: str | int, fits: Fits) -> Iterator[Trace]:
        """The traces of a query that fit, unpacked one by one; unreadable ones are reported and passed over."""
        for row in self._rows(query, values):
            try:
                run = self._stored(row)
                if fits(run):
                    yield run.trace.opened()
            except (zlib.error, ValueError, TypeError) as error:
                self._pass_over(row, values[0], error)

    def _runs(self, query: str, *values: str | int) -> Iterator[StoredRun]:
        """The runs of a query that have a mark, as they were stored; damaged ones are reported and passed over."""
        for row in self._rows(query, values):
            try:
                run = self._stored(row)
                if row[_MARK] and run.mark != row[_MARK]:
                    raise TraceFormatError("it is damaged")
            except (ValueError, TypeError) as error:
                self._pass_over(row, values[0], error)
            else:
                if row[_MARK]:
                    yield run

    def _rows(self, query: str, values: Sequence[str | int]) -> list[Any]:
        with self._using() as connection:
            return connection.execute(query, values).fetchall()

    def _stored(self, row: Sequence[Any]) -> StoredRun:
        message, swipe, _run, data, system, _mark, beside, after = row
        if not isinstance(data, bytes) or not isinstance(after, bytes):
            raise TraceFormatError("no compressed document")
        told = json.loads(beside)
        trace = PackedTrace(data, self._words(system)).headed(told.pop("heading", {}))
        return StoredRun(message, swipe, system, trace, told, after)

    def _pass_over(self, row: Sequence[Any], chat: str | int, error: Exception) -> None:
        where = f"The trace of message {row[0]}, swipe {row[1]}, run {row[2]} of {chat}"
        self._report(f"{where} cannot be read and was passed over: {error}")

    def _report(self, problem: str) -> None:
        with self._lock:
            self._problems[problem] = None


def _state_of(path: Path) -> str:
    """What is another one once anybody has written the file."""
    now = path.stat()
    return f"{now.st_ino} {now.st_size} {now.st_mtime_ns}"


def _is_sealed(path: Path, seal: Path) -> bool:
    """Whether the file is as a store left it, and nothing waits beside it that has not come into it yet."""
    try:
        waiting = any(part.exists() for part in parts(path)[:-1])
        return not waiting and seal.is_file() and seal.read_text() == _state_of(path)
    except (OSError, ValueError):
        return False


def _open(path: Path, seal: Path) -> sqlite3.Connection:
    """A connection to a sound store at `path`, new or old; raises `_DamagedError` where the file is none."""
    sealed = _is_sealed(path, seal)
    try:
        return connect(path, lambda connection: _prepare(connection, path, sealed=sealed), busy_s=_BUSY_SECONDS)
    except sqlite3.Error as error:
        if is_damage(error):
            raise _DamagedError(str(error)) from error
        raise


def _prepare(connection: sqlite3.Connection, path: Path, *, sealed: bool) -> None:
    findings = ["ok"] if sealed else [str(row[0]) for row in connection.execute("PRAGMA quick_check(1)")]
    if findings != ["ok"]:
        raise _DamagedError(findings[0] if findings else "the check found nothing")
    with transaction(connection):  # two programs may open a new store at the same time
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{path}: this trace store was written by a newer version (schema {version}, this one knows "
                f"{SCHEMA_VERSION}). Update the program, or move the file away."
            )
        if version == 0 and not tables:
            connection.execute(_SCHEMA)
        elif "traces" not in tables:
            raise _DamagedError("it has no table of traces")
        elif version == SCHEMA_VERSION:
            return
        known = {row[1] for row in connection.execute("PRAGMA table_info(traces)")}
        for column, kind in _ADDED.items():
            if column not in known:
                connection.execute(f"ALTER TABLE traces ADD COLUMN {column} {kind}")
        connection.execute(_INDEX)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
