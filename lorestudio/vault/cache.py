"""What vaults said when they were last read, so that opening one again parses nothing that is unchanged.

One SQLite file in the user's cache folder serves all vaults. It holds nothing that cannot be made again: a damaged
file is thrown away, and a cache that cannot be used at all is done without; `VaultCache.problems` says so.
One connection serves all threads, behind a lock. Methods work on the disk and may take a second: call them in a worker.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from sys import intern
from typing import Any, Final, TypeVar

from lorestudio.domain.entry import EMPTY, Entry, LeftOutNote, NoteProblem, ParserWarning, Position, Role
from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Closing
from lorestudio.domain.resources import OWN_FOLDERS
from lorestudio.domain.sqlite_file import connect, delete, is_damage, transaction
from lorestudio.vault.folder import KnownFile, KnownVault, Stamp

FILE_NAME: Final = "vaults-1.sqlite"
"""The number counts the layouts: versions of the program with different layouts do not share a file."""

MAX_BYTES: Final = 512 * 1024 * 1024
"""The vaults that have not been used for longest are dropped above this size of parsed notes."""

_BUSY_SECONDS: Final = 5.0
_SCHEMA: Final = (
    """
    CREATE TABLE IF NOT EXISTS vaults (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        folder TEXT,
        parser TEXT NOT NULL,
        left_out BLOB NOT NULL,
        used_at REAL NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS files (
        vault INTEGER NOT NULL REFERENCES vaults (number) ON DELETE CASCADE,
        place INTEGER NOT NULL,
        filename TEXT NOT NULL,
        digest TEXT NOT NULL,
        modified_ns INTEGER,
        changed_ns INTEGER,
        size INTEGER,
        payload BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (vault, filename)
    )
    """,
)
_PUT: Final = """
INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (vault, filename) DO UPDATE SET place = excluded.place, digest = excluded.digest,
    modified_ns = excluded.modified_ns, changed_ns = excluded.changed_ns, size = excluded.size,
    payload = excluded.payload, checksum = excluded.checksum
"""
_PASSING: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})

# The order of a note's values in its row; the vault's name is not stored, because it can change.
_FIELDS: Final = (
    "title", "content", "keys", "refine_keys", "selective_logic", "summary", "priority", "constant", "seed",
    "bootstrap", "guide",
    "tokens", "scan_depth", "exclude_recursion", "links", "tags", "requires", "excludes", "cascade_links", "outlet",
    "position", "depth", "role", "cooldown", "warmup", "probability", "folder", "custom_fields", "graph",
    "content_hash", "system_fields", "warnings",
)  # fmt: skip
_MAPPINGS: Final = ("custom_fields", "system_fields")
_LISTS: Final = frozenset({"keys", "refine_keys", "links", "tags", "requires", "excludes", "cascade_links"})

_Result = TypeVar("_Result")


class _DamagedCacheError(Exception):
    """The file is no sound cache of ours."""


def default_path() -> Path:
    """Where the cache is when nothing else is said."""
    return OWN_FOLDERS.user_cache_path / FILE_NAME


class VaultCache(Closing):
    """The cache in the file at `path`, which is made on first use. No method raises because of the file's state."""

    def __init__(self, path: Path | None = None, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = path or default_path()
        self.max_bytes = max_bytes
        self._lock = threading.RLock()  # for what follows, which threads share
        self._connection: sqlite3.Connection | None = None
        self._usable = True
        self._problems: dict[str, None] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """What went wrong so far, in sentences for the person."""
        with self._lock:
            return tuple(self._problems)

    def text(self, vault_id: str, filename: str) -> str | None:
        """The kept text of a file, "" where the vault has none of that name, None where the vault is unknown."""
        return self._use(lambda connection: _text(connection, vault_id, filename))

    def hydrate(self, vault_id: str, name: str, parser: str) -> KnownVault | None:
        """The vault as it was stored, under the name `name`.

        None where it is unknown or was parsed with other rules than those of the key `parser`.
        """
        return self._use(lambda connection: _hydrate(connection, vault_id, name, parser))

    def store(self, vault_id: str, vault: KnownVault, folder: Path | None = None) -> None:
        """Keep a vault. Only rows of files that differ are written; all of it is kept or nothing.

        With a `folder` the vault is dropped when that folder has vanished.
        """
        try:
            self._use(lambda connection: _store(connection, vault_id, vault, folder, self.max_bytes))
        except UnicodeEncodeError as error:
            self._report(
                f"The vault “{vault.name}” was not kept in the cache: a file name is not valid text ({error.reason})."
            )

    def close(self) -> None:
        """Close the file; closing twice does no harm, and a later call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _use(self, work: Callable[[sqlite3.Connection], _Result | None]) -> _Result | None:
        """Do `work` on the connection; None where the cache cannot be used. A damaged file is replaced by a new one."""
        with self._lock:
            if not self._usable:
                return None
            try:
                return self._work(work)
            except _DamagedCacheError as damage:
                self._report(
                    f"The vault cache {self.path} was damaged ({damage}) and was thrown away. Nothing is lost: the "
                    "vaults are read again."
                )
            except (sqlite3.Error, OSError) as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING:
                    self._report(f"The vault cache {self.path} was busy ({error}) and was passed over once.")
                else:
                    self._give_up(error)
                return None
            try:
                self.close()
                delete(self.path)
                return self._work(work)
            except (sqlite3.Error, OSError, _DamagedCacheError) as error:
                self._give_up(error)
                return None

    def _work(self, work: Callable[[sqlite3.Connection], _Result | None]) -> _Result | None:
        try:
            if self._connection is None:
                self._connection = _open(self.path)
            return work(self._connection)
        except sqlite3.DatabaseError as error:
            if is_damage(error, or_other_tables=True):
                raise _DamagedCacheError(str(error)) from error
            raise

    def _give_up(self, error: Exception) -> None:
        """Go on without: a full disk or a missing permission does not mend itself between two calls."""
        self.close()
        self._usable = False
        self._report(
            f"The vault cache {self.path} cannot be used ({error}), so vaults open more slowly. Check that the folder "
            "can be written to and that the disk is not full."
        )

    def _report(self, problem: str) -> None:
        with self._lock:
            self._problems[problem] = None


def _open(path: Path) -> sqlite3.Connection:
    pragmas = ("auto_vacuum = INCREMENTAL", "foreign_keys = ON")
    return connect(path, _prepare, pragmas=pragmas, busy_s=_BUSY_SECONDS)


def _prepare(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA:
        connection.execute(statement)


def _text(connection: sqlite3.Connection, vault_id: str, filename: str) -> str | None:
    if connection.execute("SELECT 1 FROM vaults WHERE id = ?", (vault_id,)).fetchone() is None:
        return None
    row = connection.execute(
        "SELECT payload, checksum FROM files JOIN vaults ON vault = number WHERE id = ? AND filename = ?",
        (vault_id, filename),
    ).fetchone()
    return "" if row is None else _unpack(*row)[1] or ""


def _hydrate(connection: sqlite3.Connection, vault_id: str, name: str, parser: str) -> KnownVault | None:
    vault = connection.execute(
        "SELECT number, left_out FROM vaults WHERE id = ? AND parser = ?", (vault_id, parser)
    ).fetchone()
    if vault is None:
        return None
    number, left_out = vault
    rows = connection.execute(
        "SELECT filename, digest, modified_ns, changed_ns, size, payload, checksum FROM files WHERE vault = ? "
        "ORDER BY place",
        (number,),
    )
    files = []
    for filename, digest, modified_ns, changed_ns, size, payload, checksum in rows:
        values, text = _unpack(payload, checksum)
        stamp = None if modified_ns is None else Stamp(modified_ns, changed_ns, size)
        files.append(KnownFile(filename, digest, _note(values, filename, name), stamp, text))
    connection.execute("UPDATE vaults SET used_at = ? WHERE number = ?", (time.time(), number))
    try:
        missing = tuple(LeftOutNote(file, name, NoteProblem(code), text) for file, code, text in _json(left_out))
    except (ValueError, TypeError) as error:
        raise _DamagedCacheError(f"the list of files left out: {error}") from error
    return KnownVault(name, tuple(files), missing, parser)


def _store(
    connection: sqlite3.Connection, vault_id: str, vault: KnownVault, folder: Path | None, max_bytes: int
) -> None:
    with transaction(connection):
        new = _write(connection, vault_id, vault, folder)
        if new:
            _prune(connection, max_bytes)
    if new:
        _shrink(connection)


def _write(connection: sqlite3.Connection, vault_id: str, vault: KnownVault, folder: Path | None) -> bool:
    """Write what differs; whether the vault is new here, or was parsed with other rules."""
    left_out = _bytes([[note.filename, note.problem, note.message] for note in vault.left_out])
    number, parser = connection.execute(
        """
        INSERT INTO vaults (id, folder, parser, left_out, used_at) VALUES (?, ?, '', ?, ?)
        ON CONFLICT (id) DO UPDATE
        SET folder = excluded.folder, left_out = excluded.left_out, used_at = excluded.used_at
        RETURNING number, parser
        """,
        (vault_id, None if folder is None else str(folder), left_out, time.time()),
    ).fetchall()[0]
    new = {file.filename: (place, file) for place, file in enumerate(vault.files)}
    changed, moved, gone = [], [], []
    rows = "SELECT filename, place, digest, modified_ns, changed_ns, size FROM files WHERE vault = ?"
    for filename, old_place, *old in connection.execute(rows, (number,)):  # all at once take 30 MB
        place, file = new.pop(filename, (0, None))
        if file is None:
            gone.append((number, filename))
        elif (parser, file.text, old) != (vault.parser, None, [file.digest, *(file.stamp or (None, None, None))]):
            changed.append((place, file))
        elif place != old_place:
            moved.append((place, number, filename))
    changed += new.values()
    connection.executemany(_PUT, (_row(number, place, file) for place, file in changed))  # all at once take 100 MB
    connection.executemany("UPDATE files SET place = ? WHERE vault = ? AND filename = ?", moved)
    connection.executemany("DELETE FROM files WHERE vault = ? AND filename = ?", gone)
    connection.execute("UPDATE vaults SET parser = ? WHERE number = ?", (vault.parser, number))
    return bool(parser != vault.parser)


def _row(number: int, place: int, file: KnownFile) -> tuple[object, ...]:
    payload = _bytes([_values(file.note), file.text])
    stamp = file.stamp or (None, None, None)
    return (number, place, file.filename, file.digest, *stamp, payload, zlib.crc32(payload))


def _prune(connection: sqlite3.Connection, max_bytes: int) -> None:
    rows = connection.execute("SELECT number, folder FROM vaults WHERE folder IS NOT NULL").fetchall()
    _drop(connection, (number for number, folder in rows if not Path(folder).is_dir()))
    sizes = connection.execute(
        "SELECT number, SUM(LENGTH(payload)) FROM vaults JOIN files ON vault = number GROUP BY number "
        "ORDER BY used_at DESC"
    ).fetchall()
    total = 0
    for place, (number, size) in enumerate(sizes):
        total += size
        if place and total > max_bytes:  # the vault in use stays, however large
            _drop(connection, (number,))


def _drop(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    connection.executemany("DELETE FROM vaults WHERE number = ?", ((number,) for number in numbers))


def _shrink(connection: sqlite3.Connection) -> None:
    """Give the space of dropped vaults back."""
    if connection.execute("PRAGMA freelist_count").fetchone()[0]:
        # `execute` would take one step and so free one page.
        connection.executescript("PRAGMA incremental_vacuum")


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _json(data: bytes) -> Any:  # noqa: ANN401 - whatever stands there; the callers check it
    return json.loads(data.decode("utf-8", "surrogatepass"))


def _unpack(payload: object, checksum: object) -> tuple[list[Any] | None, str | None]:
    """The stored values of a note and its kept text."""
    if not isinstance(payload, bytes) or zlib.crc32(payload) != checksum:
        raise _DamagedCacheError("a note is not what was stored")
    try:
        values, text = _json(payload)
    except (ValueError, TypeError) as error:
        raise _DamagedCacheError(str(error)) from error
    return values, text


def _values(note: Entry | LeftOutNote | None) -> list[object] | None:
    if note is None:
        return None
    if isinstance(note, LeftOutNote):
        return [note.problem, note.message]
    stored = [getattr(note, name) for name in _FIELDS]
    stored[-1] = [[warning.code, warning.field, warning.message, warning.suggested_fix] for warning in note.warnings]
    for name in _MAPPINGS:
        stored[_FIELDS.index(name)] = dict(getattr(note, name))
    return stored


def _note(values: list[Any] | None, filename: str, vault: str) -> Entry | LeftOutNote | None:
    if values is None:
        return None
    try:
        if len(values) == 2:
            return LeftOutNote(filename, vault, NoteProblem(values[0]), values[1])
        note = dict(zip(_FIELDS, values, strict=True))
        for name in _LISTS:
            note[name] = tuple(note[name] if "keys" in name else map(intern, note[name]))
        note["warnings"] = tuple([ParserWarning(*warning) for warning in note["warnings"]])
        for name in _MAPPINGS:
            note[name] = _fields(note[name])
        for name, made in (("position", Position), ("role", Role), ("folder", intern), ("selective_logic", intern)):
            if note[name] is not None:
                note[name] = made(note[name])
        return Entry(0, filename, vault, **note)
    except (ValueError, TypeError) as error:
        raise _DamagedCacheError(f"{filename}: {error}") from error


def _fields(values: dict[str, Any]) -> Any:  # noqa: ANN401 - a mapping of JSON values
    if not values:
        return EMPTY
    fields: dict[str, Json] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return fields
