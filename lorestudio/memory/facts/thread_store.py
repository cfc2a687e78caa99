"""Threads, their messages and the runs over them, as the store keeps them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lorestudio.memory.facts import tables
from lorestudio.memory.facts.database import Database
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

    def add_run(self, run: Run) -> None:
        """Keep what a run came to."""
        with self._data.transaction(counts=False):
            self._data.write(tables.INSERT_RUN, *tables.run_row(run))

    def get_run(self, run: str) -> Run | None:
        """A run by its id."""
        rows = self._data.read(tables.SELECT_RUNS + "WHERE id = ?", run)
        return next((tables.run_of(row) for row in rows), None)

    def _threads(self, where: str, *values: object) -> list[Thread]:
        return [tables.thread_of(row) for row in self._data.read(tables.SELECT_THREADS + where, *values)]
