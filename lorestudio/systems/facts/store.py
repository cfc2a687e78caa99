"""Memories, threads and profiles in one SQLite file, which survives being killed (rules: fact-memory 1.7).

Nothing is ever half there: everything that belongs together is written in one transaction, also what waits for the end
of a run (rules: fact-memory 9.6 S16).
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import Struct, structs

from lorestudio.domain.javascript import Json, whole
from lorestudio.domain.json_text import mapping_in, texts_in
from lorestudio.domain.lifecycle import Closing
from lorestudio.domain.records import replace
from lorestudio.domain.resources import OWN_FOLDERS
from lorestudio.domain.sqlite_file import connect, is_damage, transaction
from lorestudio.llm.embedding import Vector
from lorestudio.systems.facts.profile import changed, empty_profile
from lorestudio.systems.facts.records import (
    DrawnMeanwhileError,
    ExtractionRun,
    FactAction,
    FactDecision,
    FactError,
    Memory,
    MemoryChanges,
    MemoryMatch,
    MemoryOrigin,
    Profile,
    Thread,
    ThreadState,
    iso,
)
from lorestudio.systems.facts.similarity import VectorTable
from lorestudio.vault.files import epoch_ms, reason_of

VERSION: Final = 3

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS threads (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, state TEXT NOT NULL, last_message_at INTEGER, cooling_started_at INTEGER,
    dormant_at INTEGER, closed_at INTEGER, attempts INTEGER NOT NULL, digest TEXT NOT NULL,
    line_digests TEXT NOT NULL DEFAULT ''
);
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
_RUN: Final = ", ".join(ExtractionRun.__annotations__)
_DECISION: Final = ", ".join(("run", *FactDecision.__annotations__))


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


Row = tuple[Any, ...]
"""A row as SQLite gives it."""


def thread_of(row: Row) -> Thread:
    """The thread of a row of `SELECT_THREADS`, whose columns are its fields in their order."""
    identity, user, created, updated, state, *rest, lines = row
    rest.append(tuple(lines.split()))
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
        identity, user, thread, content, source, decoded(embedding), created, None if pinned is None else bool(pinned),
        tags_of(tags), retrieved, count, bool(unasked), model, origin_of(run, chat, first, last),
    )  # fmt: skip


def decision_of(row: Row) -> tuple[str, FactDecision]:
    """The run and the decision of a row of `SELECT_DECISIONS`."""
    run, fact, action, similarity, neighbour, text, pinned, memory = row
    return run, FactDecision(fact, FactAction(action), similarity, neighbour, text, bool(pinned), memory)


def run_of(row: Row) -> ExtractionRun:
    """The run of a row of `SELECT_RUNS`."""
    identity, user, thread, at, model, counters, problem = row
    return ExtractionRun(identity, user, thread, at, model, mapping_of(counters), problem)


def blob(values: Vector | None) -> bytes | None:
    """A vector as bytes: little-endian doubles."""
    return None if values is None else np.asarray(values, "<f8").tobytes()


def decoded(data: object) -> Vector | None:
    """The vector in these bytes, None for what is none."""
    return np.frombuffer(data, "<f8") if isinstance(data, bytes) and len(data) % 8 == 0 else None


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
    return mapping_in(json_of(text))


class MemoryFileError(FactError):
    """The file of memories cannot be used; the message names it and says what to do."""


class Database(Closing):
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

    @contextmanager
    def transaction(self, *, counts: bool = True) -> Iterator[None]:
        """Write everything inside, or nothing; `counts` makes another `stamp`. Raises FactError."""
        self.version += counts
        if self._lines.in_transaction:
            yield
            return
        try:
            with transaction(self._lines):
                yield
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
        where = self._path or "this session"
        return MemoryFileError(f"The memories in {where} cannot be read or written ({error}). {_ADVICE}")

    def _open(self) -> sqlite3.Connection:
        page = "page_size = 16384"  # for a new file: a vector fits into one page
        try:
            return connect(self._path, self._prepare, pragmas=(page,), busy_s=10)
        except (sqlite3.Error, OSError) as error:
            advice = _ADVICE
            if is_damage(error, or_other_tables=True):
                advice = "Move it away, or name another file."
            raise MemoryFileError(f"{self._path} cannot be opened as memories ({reason_of(error)}). {advice}") from None

    def _prepare(self, lines: sqlite3.Connection) -> None:
        version = int(lines.execute("PRAGMA user_version").fetchone()[0])
        if version > VERSION:
            raise MemoryFileError(
                f"{self._path} was written by a newer lorestudio. Use that one, or name another file."
            )
        if version == VERSION:
            return
        with transaction(lines):  # another program may do the same at once
            for order in SCHEMA.split(";"):
                lines.execute(order)
            columns = {row[1] for row in lines.execute("PRAGMA table_info(threads)")}
            if "line_digests" not in columns:  # before version 3
                lines.execute("ALTER TABLE threads ADD COLUMN line_digests TEXT NOT NULL DEFAULT ''")
            lines.execute(f"PRAGMA user_version = {VERSION}")


FILE_NAME: Final = "memories.sqlite"

_ADVICE: Final = "Look at its disk and its permissions, and try again."

_COLUMNS: Final = frozenset(MemoryChanges.__annotations__) - {"origin"}
_COUNTERS: Final = frozenset({"last_retrieved_at", "retrieval_count"})


def default_path() -> Path:
    """Where memories are kept when nothing else is said."""
    return OWN_FOLDERS.user_data_path / FILE_NAME


class _Table(Struct, frozen=True):
    """An owner's vectors as they were at a stamp of the file."""

    stamp: tuple[int, int]
    numbers: tuple[int, ...]
    tags: tuple[frozenset[str], ...]
    vectors: VectorTable
    unasked: frozenset[int]


class FactStore(Database):
    """The store. One thread at a time. Without a path everything is in memory only.

    `vector_model` makes the vectors that are searched with; those of another model stay out of a search.
    """

    can_update = True
    has_profiles = True

    def __init__(
        self,
        path: Path | None = None,
        *,
        now: Callable[[], int] = epoch_ms,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        strict: bool = False,
        vector_model: str = "",
    ) -> None:
        super().__init__(path)
        self._now, self._new_id = now, new_id
        self._strict = strict
        self.vector_model = vector_model
        self._tables: dict[str | None, _Table] = {}

    def begin(self) -> PendingUnit:
        """Begin writes that are kept together."""
        return PendingUnit(self)

    # ---- threads ----------------------------------------------------------------------------------------------------

    def update_thread(self, thread: Thread) -> None:
        """Keep a thread's record, a new one too."""
        with self.transaction(counts=False):
            *fields, lines = structs.astuple(thread)
            self.write(KEEP_THREAD, *fields, " ".join(lines))

    def add_line_digests(self, threads: Sequence[Thread]) -> None:
        """Keep what tells each line of threads; not of one that was drawn out of other lines meanwhile."""
        with self.transaction(counts=False):
            for thread in threads:
                order = "UPDATE threads SET line_digests = ? WHERE id = ? AND digest = ?"
                self.write(order, " ".join(thread.line_digests), thread.id, thread.digest)

    def rename_threads(self, names: Mapping[str, str]) -> None:
        """Give threads of chat files other ids, all or none, and their memories the numbers of messages in those.

        Memories of a thread whose new id has no numbers tell none any more.
        """
        if not names:
            return
        parked = {before: f"{after} moves" for before, after in names.items()}  # another may still have that id
        with self.transaction():
            for before, after in (*parked.items(), *zip(parked.values(), names.values(), strict=True)):
                for each in ("threads SET id = ? WHERE id", "runs SET thread_id = ? WHERE thread_id",
                             "memories SET thread_id = ? WHERE thread_id"):  # fmt: skip
                    self.write(f"UPDATE {each} = ?", after, before)
            for before, after in names.items():
                numbers = after.rpartition("#")[2].split("-")
                first, last = (-1 - int(part) if part.isdigit() else None for part in (*numbers, "", "")[:2])
                self.write(
                    "UPDATE memories SET first = ?, last = ? WHERE chat || '#' || first || '-' || last = ?",
                    first if last is not None else None, last, before,
                )  # fmt: skip
            self.write("UPDATE memories SET first = -1 - first, last = -1 - last WHERE first < 0")

    def get_thread(self, thread: str) -> Thread | None:
        """A thread by its id."""
        return next(iter(self._threads("WHERE id = ?", thread)), None)

    def all_threads(self) -> list[Thread]:
        """All threads in the order they were made."""
        return self._threads("ORDER BY number")

    def add_run(self, run: ExtractionRun, decisions: Sequence[FactDecision] = ()) -> None:
        """Keep what a run came to, and what became of each of its facts."""
        with self.transaction(counts=False):
            *fields, _counters, problem = structs.astuple(run)
            self.write(INSERT_RUN, *fields, text_of(run.counters), problem)
            for decision in decisions:
                memory = self._memory_of(run.id, decision)
                texts = whole(decision.fact), whole(decision.neighbour_text)
                kept = replace(decision, fact=texts[0], neighbour_text=texts[1], memory=memory)
                self.write(INSERT_DECISION, run.id, *structs.astuple(kept))

    def get_run(self, run: str) -> ExtractionRun | None:
        """A run by its id."""
        rows = self.read(SELECT_RUNS + "WHERE id = ?", run)
        return next((run_of(row) for row in rows), None)

    def problems(self) -> dict[str, str]:
        """Why the last run of a thread came to nothing, by the ids of the threads where it did."""
        last = "WHERE number IN (SELECT MAX(number) FROM runs GROUP BY thread_id) AND problem <> ''"
        return {run.thread_id: run.problem for run in map(run_of, self.read(SELECT_RUNS + last))}

    def decisions_of_run(self, run: str) -> list[FactDecision]:
        """What became of the facts of a run, in order."""
        rows = self.read(SELECT_DECISIONS + "WHERE run = ? ORDER BY number", run)
        return [decision_of(row)[1] for row in rows]

    def decisions_about(self, memory: str) -> list[tuple[str, FactDecision]]:
        """The facts that became this memory, or say the same, each with its run, in order."""
        rows = self.read(SELECT_DECISIONS + "WHERE memory = ? ORDER BY number", memory)
        return [decision_of(row) for row in rows]

    def _memory_of(self, run: str, decision: FactDecision) -> str:
        """The memory that a fact became or repeats; one that the run has made is known by its text."""
        if decision.action is not FactAction.SAVE and decision.neighbour:
            return decision.neighbour
        text = decision.fact if decision.action is FactAction.SAVE else decision.neighbour_text
        question = "SELECT id FROM memories WHERE run = ? AND content = ? ORDER BY number DESC LIMIT 1"
        rows = self.read(question, run, whole(text))
        return str(rows[0][0]) if rows else ""

    def _threads(self, where: str, *values: object) -> list[Thread]:
        return [thread_of(row) for row in self.read(SELECT_THREADS + where, *values)]

    # ---- memories ---------------------------------------------------------------------------------------------------

    def get_memories(self, user: str) -> list[Memory]:
        """All memories of an owner, in the order they came."""
        return self._memories("WHERE user_id = ? ORDER BY number", user)

    def find_memories(self, beginning: str) -> list[Memory]:
        """The memories whose id begins like this."""
        return self._memories("WHERE substr(id, 1, ?) = ? ORDER BY number", len(beginning), beginning)

    def all_memories(self) -> list[Memory]:
        """The memories of all owners."""
        return self._memories("ORDER BY number")

    def bare_memories(self) -> list[tuple[Memory, bool]]:
        """The memories of all owners in order, without their vectors, and whether each has one."""
        rows = self.read(f"{SELECT_BARE}ORDER BY number")
        return [(memory_of((*row[:5], None, *row[6:])), bool(row[5])) for row in rows]

    def save_memory(self, memory: Memory) -> None:
        """Keep a new memory; it is given its id and the moment."""
        unasked = memory.embedding is None
        self.put_memory(replace(memory, id=self._new_id(), created_at=self._now(), unasked=unasked))

    def put_memory(self, memory: Memory) -> None:
        """Keep a memory just as it is, as when a deletion is taken back."""
        with self.transaction():
            self.write(INSERT_MEMORY, *memory_row(memory))

    def update_memory(self, memory: str, changes: MemoryChanges) -> None:
        """Change a memory. Raises FactError where there is none of that id."""
        values: dict[str, object] = {name: value for name, value in changes.items() if name in _COLUMNS}
        if "content" in changes:
            values["content"] = whole(changes["content"])
        if "embedding" in changes:
            values["embedding"] = blob(changes["embedding"])
            values["unasked"] = changes["embedding"] is None
        if "tags" in changes:
            values["tags"] = text_of(changes["tags"])
        if "origin" in changes:
            origin = changes["origin"]
            values |= {"run": origin.run, "chat": origin.chat, "first": origin.first, "last": origin.last}
        with self.transaction(counts=not set(values) <= _COUNTERS):
            columns = ", ".join(f"{name} = ?" for name in values)
            order = f"UPDATE memories SET {columns} WHERE id = ?"  # noqa: S608  # names of this program's own columns
            if not self.write(order, *values.values(), memory):
                raise FactError(f"Memory not found: {memory}")

    def delete_memory(self, memory: str) -> None:
        """Delete a memory. Raises FactError where there is none of that id."""
        with self.transaction():
            if not self.write("DELETE FROM memories WHERE id = ?", memory):
                raise FactError(f"Memory not found: {memory}")

    def search_memories(
        self, user: str | None, vector: Vector, limit: int, tags: Sequence[str] = ()
    ) -> list[MemoryMatch]:
        """The most similar memories that have one of the tags, most similar first; None searches all owners'.

        Strict mode raises FactError where a vector cannot be compared.
        """
        table = self._table(user)
        rows = None
        if tags:
            wanted = frozenset(tags)
            rows = np.array([row for row, names in enumerate(table.tags) if names & wanted], dtype=np.int64)
        if self._strict:
            table.vectors.check(vector, rows, table.unasked)
        found = table.vectors.search(vector, limit if limit >= 0 else None, rows)[:limit]
        return [
            MemoryMatch(memory, best.similarity)
            for best in found
            for memory in self._memories("WHERE number = ?", table.numbers[best.index])
        ]

    # ---- profiles ---------------------------------------------------------------------------------------------------

    def get_profile(self, user: str) -> Profile | None:
        """The owner's profile, None where nothing was ever written to it."""
        rows = self.read("SELECT data FROM profiles WHERE user_id = ?", user)
        return mapping_of(rows[0][0]) if rows else None

    def update_profile_field(self, user: str, field: str, value: Json, action: str) -> None:
        """Change one field of a profile."""
        with self.transaction(counts=False):
            before = self.get_profile(user) or empty_profile(user)
            after = changed(before, field, value, action, iso(self._now()), strict=self._strict)
            self.write("INSERT OR REPLACE INTO profiles VALUES (?, ?)", user, text_of(after))

    # ---- rows -------------------------------------------------------------------------------------------------------

    def _memories(self, where: str, *values: object) -> list[Memory]:
        return [memory_of(row) for row in self.read(SELECT_MEMORIES + where, *values)]

    def _table(self, user: str | None) -> _Table:
        """The owner's vectors, or all, read anew when this or another program has written."""
        stamp = self.stamp
        known = self._tables.get(user)
        if known is None or known.stamp != stamp:
            where, values = ("", ()) if user is None else ("WHERE user_id = ? ", (user,))
            rows = self.read(f"{SELECT_VECTORS}{where}ORDER BY number", *values)
            own = self.vector_model
            vectors = [decoded(row[2]) if not own or not row[4] or row[4] == own else None for row in rows]
            unasked = frozenset(place for place, row in enumerate(rows) if row[3] and row[2] is None)
            tagged = {text: frozenset(texts_in(tags_of(text))) for text in {row[1] for row in rows}}
            names = tuple([tagged[row[1]] for row in rows])
            known = _Table(stamp, tuple(row[0] for row in rows), names, VectorTable(vectors), unasked)
            self._tables[user] = known
        return known


class PendingUnit:
    """Writes that wait for `commit`; a program that ends before it leaves the store as it was."""

    can_update = True
    has_profiles = True

    def __init__(self, store: FactStore) -> None:
        self._store = store
        self._waiting: list[Callable[[], None]] = []

    def get_memories(self, user: str) -> Sequence[Memory]:
        """The memories as the store has them, without what waits here."""
        return self._store.get_memories(user)

    def save_memory(self, memory: Memory) -> None:
        """Keep a new memory, later."""
        self._waiting.append(lambda: self._store.save_memory(memory))

    def update_memory(self, memory: str, changes: MemoryChanges) -> None:
        """Change a memory, later."""
        self._waiting.append(lambda: self._store.update_memory(memory, changes))

    def update_profile_field(self, user: str, field: str, value: Json, action: str) -> None:
        """Change a profile, later."""
        self._waiting.append(lambda: self._store.update_profile_field(user, field, value, action))

    def move_thread(self, before: Thread, after: Thread) -> None:
        """Put a thread into another state, later; not where it is no longer as it was before.

        `commit` raises DrawnMeanwhileError where another run has done that with the same lines.
        """

        def move() -> None:
            now = self._store.get_thread(before.id)
            if now in {before, None}:
                self._store.update_thread(after)
            elif now.is_drawn_from(after.digest):
                raise DrawnMeanwhileError

        self._waiting.append(move)

    def add_run(self, run: ExtractionRun, decisions: Sequence[FactDecision] = ()) -> None:
        """Keep what a run came to, later."""
        self._waiting.append(lambda: self._store.add_run(run, decisions))

    def commit(self) -> None:
        """Write everything in one transaction, or nothing. Raises FactError."""
        with self._store.transaction():
            for write in self._waiting:
                write()
        self._waiting.clear()


Writes: TypeAlias = FactStore | PendingUnit
"""What a run writes to: at once in strict mode, all or nothing in safe mode."""
