"""Threads, their messages and the runs over them, as the store keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from lorestudio.memory.facts import tables
from lorestudio.memory.facts.database import Database
from lorestudio.memory.facts.decisions import Action, Decision
from lorestudio.memory.facts.records import Line, Run, State, Thread


class ThreadStore:
    """The part of the store that is about conversations."""

    def __init__(self, path: Path | None, now: Callable[[], int], new_id: Callable[[str], str]) -> None:
        self._now = now
        self._new_id = new_id
        self._data = Database(path)

    def create_thread(self, user: str) -> Thread:
        """A new active thread."""
        now = self._now()
        thread = Thread(self._new_id("thread"), user, now, now)
        self.update_thread(thread)
        return thread

    def update_thread(self, thread: Thread) -> None:
        """Keep a thread's record, a new one too."""
        with self._data.transaction(counts=False):
            self._data.write(tables.KEEP_THREAD, *tables.thread_row(thread))

    def get_thread(self, thread: str) -> Thread | None:
        """A thread by its id."""
        return next(iter(self._threads("WHERE id = ?", thread)), None)

    def all_threads(self) -> list[Thread]:
        """All threads in the order they were made."""
        return self._threads("ORDER BY number")

    def get_threads_by_state(self, state: State) -> list[Thread]:
        """The threads in a state, in the order they were made."""
        return self._threads("WHERE state = ? ORDER BY number", str(state))

    def get_latest_active_thread(self, user: str) -> Thread | None:
        """The owner's active or cooling thread that was changed last."""
        states = (str(State.ACTIVE), str(State.COOLING))
        found = self._threads("WHERE user_id = ? AND state IN (?, ?) ORDER BY updated_at DESC, number", user, *states)
        return next(iter(found), None)

    def add_message(self, thread: str, role: str, content: str) -> None:
        """Add a message to a thread."""
        with self._data.transaction(counts=False):
            self._data.write(
                "INSERT INTO messages (thread_id, role, content, at) VALUES (?, ?, ?, ?)",
                thread, role, tables.whole(content), self._now(),
            )  # fmt: skip

    def get_messages(self, thread: str) -> list[Line]:
        """A thread's messages in order."""
        rows = self._data.read("SELECT role, content FROM messages WHERE thread_id = ? ORDER BY number", thread)
        return [Line(role, content) for role, content in rows]

    def add_run(self, run: Run, decisions: Sequence[Decision] = ()) -> None:
        """Keep what a run came to, and what became of each of its facts."""
        with self._data.transaction(counts=False):
            self._data.write(tables.INSERT_RUN, *tables.run_row(run))
            for decision in decisions:
                named = replace(decision, memory=self._memory_of(run.id, decision))
                self._data.write(tables.INSERT_DECISION, *tables.decision_row(run.id, named))

    def get_run(self, run: str) -> Run | None:
        """A run by its id."""
        rows = self._data.read(tables.SELECT_RUNS + "WHERE id = ?", run)
        return next((tables.run_of(row) for row in rows), None)

    def failed_runs(self) -> list[Run]:
        """The runs that came to nothing and say why, in order."""
        rows = self._data.read(tables.SELECT_RUNS + "WHERE problem <> '' ORDER BY number")
        return [tables.run_of(row) for row in rows]

    def decisions_of_run(self, run: str) -> list[Decision]:
        """What became of the facts of a run, in order."""
        rows = self._data.read(tables.SELECT_DECISIONS + "WHERE run = ? ORDER BY number", run)
        return [tables.decision_of(row)[1] for row in rows]

    def decisions_about(self, memory: str) -> list[tuple[str, Decision]]:
        """The facts that became this memory, or say the same, each with its run, in order."""
        rows = self._data.read(tables.SELECT_DECISIONS + "WHERE memory = ? ORDER BY number", memory)
        return [tables.decision_of(row) for row in rows]

    def _memory_of(self, run: str, decision: Decision) -> str:
        """The memory that a fact became or repeats; one that the run has made is known by its text."""
        if decision.action is not Action.SAVE and decision.neighbour:
            return decision.neighbour
        text = decision.fact if decision.action is Action.SAVE else decision.neighbour_text
        question = "SELECT id FROM memories WHERE run = ? AND content = ? ORDER BY number DESC LIMIT 1"
        rows = self._data.read(question, run, tables.whole(text))
        return str(rows[0][0]) if rows else ""

    def _threads(self, where: str, *values: object) -> list[Thread]:
        return [tables.thread_of(row) for row in self._data.read(tables.SELECT_THREADS + where, *values)]
