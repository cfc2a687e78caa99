"""The SQLite file of fact memory: its tables, rows to and fro, reading, and writing all or nothing."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from lorestudio.domain.javascript import Json
from lorestudio.llm.embedding import Vector
from lorestudio.systems.facts.records import (
    ExtractionRun,
    FactAction,
    FactDecision,
    FactError,
    Memory,
    MemoryOrigin,
    Thread,
    ThreadState,
)

VERSION: Final = 2

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS threads (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, state TEXT NOT NULL, last_message_at INTEGER, cooling_started_at INTEGER,
    dormant_at INTEGER, closed_at INTEGER, attempts INTEGER NOT NULL, digest TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS messages (
    number INTEGER PRIMARY KEY, thread_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL, at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS messages_thread ON messages (thread_id);
CREATE TABLE IF NOT EXISTS memories (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL, thread_id TEXT NOT NULL,
    content TEXT NOT NULL, source TEXT NOT NULL, embedding BLOB, created_at INTEGER, pinned INTEGER, tags TEXT,
    last_retrieved_at INTEGER, retrieval_count INTEGER, unasked INTEGER NOT NULL, vector_model TEXT NOT NULL,
    run TEXT NOT NULL, chat TEXT NOT NULL, first INTEGER, last INTEGER
);
CREATE INDEX IF NOT EXISTS memories_user ON memories (user_id);
CREATE TABLE IF NOT EXISTS profiles (user_id TEXT PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL, thread_id TEXT NOT NULL,
    at INTEGER NOT NULL, model TEXT NOT NULL, counters TEXT NOT NULL, problem TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS decisions (
    number INTEGER PRIMARY KEY, run TEXT NOT NULL, fact TEXT NOT NULL, action TEXT NOT NULL, similarity REAL,
    neighbour TEXT NOT NULL, neighbour_text TEXT NOT NULL, pinned INTEGER NOT NULL, memory TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS decisions_run ON decisions (run);
CREATE INDEX IF NOT EXISTS decisions_memory ON decisions (memory);
CREATE INDEX IF NOT EXISTS memories_run ON memories (run);
"""

_THREAD: Final = ", ".join(Thread.__annotations__)
_MEMORY: Final = (
    "id, user_id, thread_id, content, source, embedding, created_at, pinned, tags, last_retrieved_at, retrieval_count, "
    "unasked, vector_model, run, chat, first, last"
)
_BARE: Final = _MEMORY.replace("embedding", "embedding IS NOT NULL")
_RUN: Final = "id, user_id, thread_id, at, model, counters, problem"
_DECISION: Final = "run, fact, action, similarity, neighbour, neighbour_text, pinned, memory"


def _insert(table: str, columns: str) -> str:
    marks = ", ".join("?" * (columns.count(",") + 1))
    return f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608  # names of this module's own


def _select(table: str, columns: str) -> str:
    return f"SELECT {columns} FROM {table} "  # noqa: S608  # names of this module's own


SELECT_THREADS: Final = _select("threads", _THREAD)
SELECT_MEMORIES: Final = _select("memories", _MEMORY)
SELECT_BARE: Final = _select("memories", _BARE)
SELECT_VECTORS: Final = _select("memories", "number, tags, embedding, unasked, vector_model")
SELECT_RUNS: Final = _select("runs", _RUN)
SELECT_DECISIONS: Final = _select("decisions", _DECISION)
INSERT_MEMORY: Final = _insert("memories", _MEMORY)
INSERT_RUN: Final = _insert("runs", _RUN)
INSERT_DECISION: Final = _insert("decisions", _DECISION)
KEEP_THREAD: Final = (
    _insert("threads", _THREAD)
    + " ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _THREAD.split(", ")[1:])
)


def update_order(table: str, values: Iterable[str]) -> str:
    """The order that changes these columns of the row with an id."""
    changes = ", ".join(f"{name} = ?" for name in values)
    return f"UPDATE {table} SET {changes} WHERE id = ?"  # noqa: S608  # names of this program's own columns


Row = tuple[Any, ...]
"""A row as SQLite gives it."""


def thread_of(row: Row) -> Thread:
    """The thread of a row of `SELECT_THREADS`, whose columns are its fields in their order."""
    identity, user, created, updated, state, *rest = row
    return Thread(identity, user, created, updated, ThreadState(state), *rest)


def memory_row(memory: Memory) -> Row:
    """A memory as a row."""
    origin = memory.origin
    return (
        memory.id, memory.user_id, memory.thread_id, whole(memory.content), memory.source, blob(memory.embedding),
        memory.created_at, memory.pinned, text_of(memory.tags), memory.last_retrieved_at, memory.retrieval_count,
        memory.unasked, memory.vector_model, origin.run, origin.chat, origin.first, origin.last,
    )  # fmt: skip


def memory_of(row: Row) -> Memory:
    """The memory of a row of `SELECT_MEMORIES`."""
    (identity, user, thread, content, source, embedding, created, pinned, tags, retrieved, count, unasked, model,
     run, chat, first, last) = row  # fmt: skip
    return Memory(
        identity, user, thread, content, source, vector(embedding), created, None if pinned is None else bool(pinned),
        tags_of(tags), retrieved, count, bool(unasked), model, origin_of(run, chat, first, last),
    )  # fmt: skip


def bare_memory_of(row: Row) -> tuple[Memory, bool]:
    """The memory of a row of `SELECT_BARE`, which comes without its vector, and whether it has one."""
    return memory_of((*row[:5], None, *row[6:])), bool(row[5])


def decision_row(run: str, decision: FactDecision) -> Row:
    """What became of a fact in a run, as a row."""
    return (
        run, whole(decision.fact), str(decision.action), decision.similarity, decision.neighbour,
        whole(decision.neighbour_text), decision.pinned, decision.memory,
    )  # fmt: skip


def decision_of(row: Row) -> tuple[str, FactDecision]:
    """The run and the decision of a row of `SELECT_DECISIONS`."""
    run, fact, action, similarity, neighbour, text, pinned, memory = row
    return run, FactDecision(fact, FactAction(action), similarity, neighbour, text, bool(pinned), memory)


def run_row(run: ExtractionRun) -> Row:
    """A run as a row."""
    return (run.id, run.user_id, run.thread_id, run.at, run.model, text_of(run.counters), run.problem)


def run_of(row: Row) -> ExtractionRun:
    """The run of a row of `SELECT_RUNS`."""
    identity, user, thread, at, model, counters, problem = row
    return ExtractionRun(identity, user, thread, at, model, mapping_of(counters), problem)


def whole(text: str) -> str:
    """The text with halves of surrogate pairs replaced, which no file takes."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def blob(values: Vector | None) -> bytes | None:
    """A vector as bytes: little-endian doubles."""
    return None if values is None else np.asarray(values, "<f8").tobytes()


def vector(data: bytes | None) -> Vector | None:
    """The vector in these bytes."""
    return None if data is None else np.frombuffer(data, "<f8")


def text_of(value: Json) -> str | None:
    """JSON as text; None stays none."""
    return None if value is None else json.dumps(value)


def json_of(text: str | None) -> Json:
    """The JSON in a text."""
    value: Json = None if text is None else json.loads(text)
    return value


@lru_cache(maxsize=4096)
def origin_of(run: str, chat: str, first: int | None, last: int | None) -> MemoryOrigin:
    """Where a memory came from; many rows come from the same passage."""
    return MemoryOrigin(run, chat, first, last)


@lru_cache(maxsize=4096)
def tags_of(text: str | None) -> Json:
    """The tags in a text, lists as tuples, since many rows share the same ones."""
    value = json_of(text)
    return tuple(value) if isinstance(value, list) else value


def mapping_of(text: str) -> Mapping[str, Json]:
    """The JSON object in a text, empty for anything else."""
    value = json_of(text)
    return value if isinstance(value, Mapping) else {}


class MemoryFileError(FactError):
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
        """Write everything inside, or nothing; `counts` makes another `stamp`. Raises FactError."""
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
        """Carry out an order, inside a transaction; how many rows it touched. Raises FactError."""
        try:
            return self._lines.execute(order, values).rowcount
        except sqlite3.Error as error:
            raise self._problem(error) from None

    def read(self, question: str, *values: object) -> list[Row]:
        """All rows that answer a question. Raises FactError."""
        try:
            return self._lines.execute(question, values).fetchall()
        except sqlite3.Error as error:
            raise self._problem(error) from None

    def _problem(self, error: sqlite3.Error) -> MemoryFileError:
        return MemoryFileError(f"The memories in {self._path or 'this session'} cannot be read or written: {error}.")

    def _open(self) -> sqlite3.Connection:
        lines: sqlite3.Connection | None = None
        try:
            if self._path is not None:
                self._path.parent.mkdir(0o700, parents=True, exist_ok=True)
                if not self._path.exists():
                    self._path.touch(0o600)
            lines = sqlite3.connect(self._path or ":memory:", timeout=10, isolation_level=None, check_same_thread=False)
            lines.execute("PRAGMA page_size=16384")  # for a new file: a vector fits into one page
            lines.execute("PRAGMA journal_mode=WAL")
            lines.execute("PRAGMA synchronous=NORMAL")
            version = int(lines.execute("PRAGMA user_version").fetchone()[0])
            if version < VERSION:
                lines.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
        except (sqlite3.Error, OSError) as error:
            if lines is not None:
                lines.close()
            raise MemoryFileError(
                f"{self._path} cannot be opened as memories ({error}). Move it away, or name another file."
            ) from None
        if version > VERSION:
            lines.close()
            raise MemoryFileError(
                f"{self._path} was written by a newer lorestudio. Use that one, or name another file."
            )
        return lines
