"""Memories, threads and profiles in one SQLite file, which survives being killed (rules: fact-memory 1.7).

Nothing is ever half there: everything that belongs together is written in one transaction, also what waits for the end
of a run (rules: fact-memory 9.6 S16).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import platformdirs
from msgspec import Struct, structs

from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Closing
from lorestudio.domain.records import replace
from lorestudio.llm.embedding import Vector
from lorestudio.systems.facts import database
from lorestudio.systems.facts.profile import changed, empty_profile
from lorestudio.systems.facts.records import (
    SAFE,
    STRICT,
    ExtractionRun,
    FactAction,
    FactDecision,
    FactError,
    Line,
    Memory,
    MemoryChanges,
    MemoryMatch,
    Profile,
    Thread,
    ThreadState,
    iso,
)
from lorestudio.systems.facts.similarity import VectorTable

FILE_NAME: Final = "memories.sqlite"

_COLUMNS: Final = frozenset(MemoryChanges.__annotations__) - {"origin"}
_COUNTERS: Final = frozenset({"last_retrieved_at", "retrieval_count"})


def default_path() -> Path:
    """Where memories are kept when nothing else is said."""
    return platformdirs.user_data_path("lorestudio", appauthor=False) / FILE_NAME


def clock() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class _Table(Struct, frozen=True):
    """An owner's vectors as they were at a stamp of the file."""

    stamp: tuple[int, int]
    numbers: tuple[int, ...]
    tags: tuple[frozenset[str], ...]
    vectors: VectorTable
    unasked: frozenset[int]


class FactStore(Closing):
    """The store. One thread at a time. Without a path everything is in memory only.

    `vector_model` makes the vectors that are searched with; those of another model stay out of a search.
    """

    can_update = True
    has_profiles = True

    def __init__(
        self,
        path: Path | None = None,
        *,
        now: Callable[[], int] = clock,
        new_id: Callable[[str], str] = lambda _kind: uuid.uuid4().hex,
        mode: str = SAFE,
        vector_model: str = "",
    ) -> None:
        self._now, self._new_id = now, new_id
        self._data = database.Database(path)
        self._strict = mode == STRICT
        self.vector_model = vector_model
        self._tables: dict[str | None, _Table] = {}

    def close(self) -> None:
        """Close the file."""
        self._data.close()

    def transaction(self) -> AbstractContextManager[None]:
        """Write everything inside, or nothing. Raises FactError where the file does not take it."""
        return self._data.transaction()

    def begin(self) -> PendingUnit:
        """Begin writes that are kept together."""
        return PendingUnit(self)

    # ---- threads ----------------------------------------------------------------------------------------------------

    def create_thread(self, user: str) -> Thread:
        """A new active thread."""
        now = self._now()
        thread = Thread(self._new_id("thread"), user, now, now)
        self.update_thread(thread)
        return thread

    def update_thread(self, thread: Thread) -> None:
        """Keep a thread's record, a new one too."""
        with self._data.transaction(counts=False):
            self._data.write(database.KEEP_THREAD, *structs.astuple(thread))

    def get_thread(self, thread: str) -> Thread | None:
        """A thread by its id."""
        return next(iter(self._threads("WHERE id = ?", thread)), None)

    def all_threads(self) -> list[Thread]:
        """All threads in the order they were made."""
        return self._threads("ORDER BY number")

    def get_threads_by_state(self, state: ThreadState) -> list[Thread]:
        """The threads in a state, in the order they were made."""
        return self._threads("WHERE state = ? ORDER BY number", str(state))

    def get_latest_active_thread(self, user: str) -> Thread | None:
        """The owner's active or cooling thread that was changed last."""
        states = (str(ThreadState.ACTIVE), str(ThreadState.COOLING))
        found = self._threads("WHERE user_id = ? AND state IN (?, ?) ORDER BY updated_at DESC, number", user, *states)
        return next(iter(found), None)

    def add_message(self, thread: str, role: str, content: str) -> None:
        """Add a message to a thread."""
        with self._data.transaction(counts=False):
            self._data.write(
                "INSERT INTO messages (thread_id, role, content, at) VALUES (?, ?, ?, ?)",
                thread, role, database.whole(content), self._now(),
            )  # fmt: skip

    def get_messages(self, thread: str) -> list[Line]:
        """A thread's messages in order."""
        rows = self._data.read("SELECT role, content FROM messages WHERE thread_id = ? ORDER BY number", thread)
        return [Line(role, content) for role, content in rows]

    def add_run(self, run: ExtractionRun, decisions: Sequence[FactDecision] = ()) -> None:
        """Keep what a run came to, and what became of each of its facts."""
        with self._data.transaction(counts=False):
            self._data.write(database.INSERT_RUN, *database.run_row(run))
            for decision in decisions:
                named = replace(decision, memory=self._memory_of(run.id, decision))
                self._data.write(database.INSERT_DECISION, *database.decision_row(run.id, named))

    def get_run(self, run: str) -> ExtractionRun | None:
        """A run by its id."""
        rows = self._data.read(database.SELECT_RUNS + "WHERE id = ?", run)
        return next((database.run_of(row) for row in rows), None)

    def failed_runs(self) -> list[ExtractionRun]:
        """The runs that came to nothing and say why, in order."""
        rows = self._data.read(database.SELECT_RUNS + "WHERE problem <> '' ORDER BY number")
        return [database.run_of(row) for row in rows]

    def decisions_of_run(self, run: str) -> list[FactDecision]:
        """What became of the facts of a run, in order."""
        rows = self._data.read(database.SELECT_DECISIONS + "WHERE run = ? ORDER BY number", run)
        return [database.decision_of(row)[1] for row in rows]

    def decisions_about(self, memory: str) -> list[tuple[str, FactDecision]]:
        """The facts that became this memory, or say the same, each with its run, in order."""
        rows = self._data.read(database.SELECT_DECISIONS + "WHERE memory = ? ORDER BY number", memory)
        return [database.decision_of(row) for row in rows]

    def _memory_of(self, run: str, decision: FactDecision) -> str:
        """The memory that a fact became or repeats; one that the run has made is known by its text."""
        if decision.action is not FactAction.SAVE and decision.neighbour:
            return decision.neighbour
        text = decision.fact if decision.action is FactAction.SAVE else decision.neighbour_text
        question = "SELECT id FROM memories WHERE run = ? AND content = ? ORDER BY number DESC LIMIT 1"
        rows = self._data.read(question, run, database.whole(text))
        return str(rows[0][0]) if rows else ""

    def _threads(self, where: str, *values: object) -> list[Thread]:
        return [database.thread_of(row) for row in self._data.read(database.SELECT_THREADS + where, *values)]

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
        return [database.bare_memory_of(row) for row in self._data.read(f"{database.SELECT_BARE}ORDER BY number")]

    def save_memory(self, memory: Memory) -> None:
        """Keep a new memory; it is given its id and the moment."""
        unasked = memory.embedding is None
        self.put_memory(replace(memory, id=self._new_id("memory"), created_at=self._now(), unasked=unasked))

    def put_memory(self, memory: Memory) -> None:
        """Keep a memory just as it is, as when a deletion is taken back."""
        with self._data.transaction():
            self._data.write(database.INSERT_MEMORY, *database.memory_row(memory))

    def update_memory(self, memory: str, changes: MemoryChanges) -> None:
        """Change a memory. Raises FactError where there is none of that id."""
        values: dict[str, object] = {name: value for name, value in changes.items() if name in _COLUMNS}
        if "content" in changes:
            values["content"] = database.whole(changes["content"])
        if "embedding" in changes:
            values["embedding"] = database.blob(changes["embedding"])
            values["unasked"] = changes["embedding"] is None
        if "tags" in changes:
            values["tags"] = database.text_of(changes["tags"])
        if "origin" in changes:
            origin = changes["origin"]
            values |= {"run": origin.run, "chat": origin.chat, "first": origin.first, "last": origin.last}
        with self._data.transaction(counts=not set(values) <= _COUNTERS):
            if not self._data.write(database.update_order("memories", values), *values.values(), memory):
                raise FactError(f"Memory not found: {memory}")

    def delete_memory(self, memory: str) -> None:
        """Delete a memory. Raises FactError where there is none of that id."""
        with self._data.transaction():
            if not self._data.write("DELETE FROM memories WHERE id = ?", memory):
                raise FactError(f"Memory not found: {memory}")

    def search_memories(
        self, user: str | None, vector: Vector, limit: int, tags: Sequence[str] = (), *, strict: bool = False
    ) -> list[MemoryMatch]:
        """The most similar memories that have one of the tags, most similar first; None searches all owners'.

        Strict mode raises FactError.
        """
        table = self._table(user)
        rows = None
        if tags:
            wanted = frozenset(tags)
            rows = np.array([row for row, names in enumerate(table.tags) if names & wanted], dtype=np.int64)
        if strict:
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
        rows = self._data.read("SELECT data FROM profiles WHERE user_id = ?", user)
        return database.mapping_of(rows[0][0]) if rows else None

    def update_profile_field(self, user: str, field: str, value: Json, action: str) -> None:
        """Change one field of a profile."""
        with self._data.transaction(counts=False):
            before = self.get_profile(user) or empty_profile(user)
            after = changed(before, field, value, action, iso(self._now()), strict=self._strict)
            self._data.write("INSERT OR REPLACE INTO profiles VALUES (?, ?)", user, database.text_of(after))

    # ---- rows -------------------------------------------------------------------------------------------------------

    def _memories(self, where: str, *values: object) -> list[Memory]:
        return [database.memory_of(row) for row in self._data.read(database.SELECT_MEMORIES + where, *values)]

    def _table(self, user: str | None) -> _Table:
        """The owner's vectors, or all, read anew when this or another program has written."""
        stamp = self._data.stamp
        known = self._tables.get(user)
        if known is None or known.stamp != stamp:
            where, values = ("", ()) if user is None else ("WHERE user_id = ? ", (user,))
            rows = self._data.read(f"{database.SELECT_VECTORS}{where}ORDER BY number", *values)
            own = self.vector_model
            vectors = [database.vector(row[2]) if not own or not row[4] or row[4] == own else None for row in rows]
            unasked = frozenset(place for place, row in enumerate(rows) if row[3] and row[2] is None)
            tagged = {text: _names(database.tags_of(text)) for text in {row[1] for row in rows}}
            names = tuple([tagged[row[1]] for row in rows])
            known = _Table(stamp, tuple(row[0] for row in rows), names, VectorTable(vectors), unasked)
            self._tables[user] = known
        return known


def _names(tags: Json) -> frozenset[str]:
    return frozenset(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, tuple) else frozenset()


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
        """Put a thread into another state, later; not where it is no longer as it was before."""

        def move() -> None:
            if self._store.get_thread(before.id) in {before, None}:
                self._store.update_thread(after)

        self._waiting.append(move)

    def add_run(self, run: ExtractionRun, decisions: Sequence[FactDecision] = ()) -> None:
        """Keep what a run came to, later."""
        self._waiting.append(lambda: self._store.add_run(run, decisions))

    def commit(self) -> None:
        """Write everything in one transaction."""
        with self._store.transaction():
            for write in self._waiting:
                write()
        self._waiting.clear()


Writes: TypeAlias = FactStore | PendingUnit
"""What a run writes to: at once in strict mode, all or nothing in safe mode."""
