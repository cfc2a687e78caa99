"""Writes of one run that are kept together or not at all (spec: fact-memory 9.6 S16)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Protocol

from lorestudio.domain.javascript import Json
from lorestudio.memory.facts.decisions import Decision
from lorestudio.memory.facts.records import Changes, Memory, NewMemory, Run, Thread
from lorestudio.memory.facts.storage import Writes


class Keeping(Writes, Protocol):
    """A store that can write several things in one go."""

    def transaction(self) -> contextlib.AbstractContextManager[None]:
        """Write everything inside, or nothing."""
        ...

    def get_thread(self, thread: str) -> Thread | None:
        """A thread by its id."""
        ...

    def update_thread(self, thread: Thread) -> None:
        """Keep a thread's record."""
        ...

    def add_run(self, run: Run, decisions: Sequence[Decision] = ()) -> None:
        """Keep what a run came to, and what became of each of its facts."""
        ...


class PendingUnit:
    """Writes that wait for `commit`; a program that ends before it leaves the store as it was."""

    can_update = True
    has_profiles = True

    def __init__(self, store: Keeping) -> None:
        self._store = store
        self._waiting: list[Callable[[], None]] = []

    def get_memories(self, user: str) -> Sequence[Memory]:
        """The memories as the store has them, without what waits here."""
        return self._store.get_memories(user)

    def save_memory(self, memory: NewMemory) -> None:
        """Keep a new memory, later."""
        self._waiting.append(lambda: self._store.save_memory(memory))

    def update_memory(self, memory: str, changes: Changes) -> None:
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

    def add_run(self, run: Run, decisions: Sequence[Decision] = ()) -> None:
        """Keep what a run came to, later."""
        self._waiting.append(lambda: self._store.add_run(run, decisions))

    def commit(self) -> None:
        """Write everything in one transaction."""
        with self._store.transaction():
            for write in self._waiting:
                write()
        self._waiting.clear()
