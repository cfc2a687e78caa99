"""The SQLite file of fact memory: opening it, reading, and writing all or nothing."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from lorestudio.systems.facts import tables
from lorestudio.systems.facts.records import FactError


class StoreError(FactError):
    """The file of memories cannot be used; the message names it and says what to do."""


class Database:
    """The file, or only memory without a path. One thread at a time.

    It is written ahead (WAL), so that a program that is killed leaves whole transactions behind. A damaged file is
    reported and left alone, since what is in it exists nowhere else.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lines = self._open()
        self.version = 0

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    @property
    def stamp(self) -> tuple[int, int]:
        """Different once this or another program has written what `version` counts."""
        return self.version, int(self.read("PRAGMA data_version")[0][0])

    @contextlib.contextmanager
    def transaction(self, *, counts: bool = True) -> Iterator[None]:
        """Write everything inside, or nothing; `counts` makes another `stamp`. Raises StoreError."""
        self.version += counts
        if self._lines.in_transaction:
            yield
            return
        try:
            self._lines.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._lines.execute("ROLLBACK")
                raise
            self._lines.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._problem(error) from None

    def write(self, order: str, *values: object) -> int:
        """Carry out an order, inside a transaction; how many rows it touched. Raises StoreError."""
        try:
            return self._lines.execute(order, values).rowcount
        except sqlite3.Error as error:
            raise self._problem(error) from None

    def read(self, question: str, *values: object) -> list[tables.Row]:
        """All rows that answer a question. Raises StoreError."""
        try:
            return self._lines.execute(question, values).fetchall()
        except sqlite3.Error as error:
            raise self._problem(error) from None

    def _problem(self, error: sqlite3.Error) -> StoreError:
        return StoreError(f"The memories in {self._path or 'this session'} cannot be read or written: {error}.")

    def _open(self) -> sqlite3.Connection:
        lines: sqlite3.Connection | None = None
        try:
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            lines = sqlite3.connect(self._path or ":memory:", timeout=10, isolation_level=None, check_same_thread=False)
            lines.execute("PRAGMA page_size=16384")  # for a new file: a vector fits into one page
            lines.execute("PRAGMA journal_mode=WAL")
            lines.execute("PRAGMA synchronous=NORMAL")
            version = int(lines.execute("PRAGMA user_version").fetchone()[0])
            if version < tables.VERSION:
                lines.executescript(f"BEGIN; {tables.SCHEMA} PRAGMA user_version = {tables.VERSION}; COMMIT;")
        except (sqlite3.Error, OSError) as error:
            if lines is not None:
                lines.close()
            raise StoreError(
                f"{self._path} cannot be opened as memories ({error}). Move it away, or name another file."
            ) from None
        if version > tables.VERSION:
            lines.close()
            raise StoreError(f"{self._path} was written by a newer lorestudio. Use that one, or name another file.")
        return lines
