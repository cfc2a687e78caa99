"""A SQLite file: how it is opened, written all or nothing, found damaged, laid aside and deleted.

It is in WAL mode with `synchronous = NORMAL`: what was written survives the end of the process, also by `kill -9`. What
becomes of a damaged file, and what is said then, is for whoever keeps something in it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lorestudio.domain.file_names import free_path

_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def connect(
    path: Path | None,
    prepare: Callable[[sqlite3.Connection], object],
    *,
    pragmas: Sequence[str] = (),
    busy_s: float = 5.0,
) -> sqlite3.Connection:
    """A connection for every thread to the file, or to memory without a path; whoever shares it needs a lock.

    A new file is for its owner's eyes only. `pragmas` come before all else, as those must that shape a new file. No
    transaction begins by itself. Raises sqlite3.Error, OSError and what `prepare` raises; nothing stays open then.
    """
    if path is not None:
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        if not path.exists():
            path.touch(0o600)
    connection = sqlite3.connect(path or ":memory:", timeout=busy_s, isolation_level=None, check_same_thread=False)
    try:
        for pragma in (*pragmas, "journal_mode = WAL", "synchronous = NORMAL"):
            connection.execute(f"PRAGMA {pragma}")
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Everything inside is written, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite ends it itself on a full disk
            connection.execute("ROLLBACK")
        raise


def is_damage(error: Exception, *, or_other_tables: bool = False) -> bool:
    """Whether the file is no sound database, and not only locked, out of reach or on a full disk.

    With `or_other_tables` also where an order fails as such, as it does at another program's or version's tables.
    """
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    return code in _DAMAGE or (or_other_tables and code == sqlite3.SQLITE_ERROR)


def parts(path: Path) -> tuple[Path, ...]:
    """The file and what SQLite keeps beside it, which must not be taken for that of the next file."""
    return tuple(path.with_name(path.name + ending) for ending in ("-wal", "-shm", ""))


def set_aside(path: Path) -> Path:
    """Move the file and what is beside it to the first free `.damaged-N`, and return where it is now."""
    target = free_path(path.parent, lambda number: f"{path.name}.damaged-{number}")
    for part, moved in zip(parts(path), parts(target), strict=True):
        if part.exists():
            part.rename(moved)
    return target


def delete(path: Path) -> None:
    """Delete the file and what is beside it, which may all be gone."""
    for part in parts(path):
        part.unlink(missing_ok=True)
