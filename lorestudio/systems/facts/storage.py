"""Where fact memory keeps things: what it needs of a store (spec: fact-memory 1.7).

Writes of one run that are kept together or not at all (spec: fact-memory 9.6 S16).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Protocol

from lorestudio.domain.javascript import Json
from lorestudio.llm.embedding import Vector
from lorestudio.systems.facts.records import (
    Changes,
    Decision,
    Line,
    Match,
    Memory,
    NewMemory,
    Profile,
    Run,
    State,
    Thread,
)


class Writes(Protocol):
    """What a run of the pipeline does with a store: at once in strict mode, all or nothing in safe mode.

    `can_update` and `has_profiles` say what the store offers.
    """

    @property
    def can_update(self) -> bool:
        """Whether stored memories can be changed."""
        ...

    @property
    def has_profiles(self) -> bool:
        """Whether profiles can be kept."""
        ...

    def get_memories(self, user: str) -> Sequence[Memory]:
        """All memories of an owner as they are now, in the order they came."""
        ...

    def save_memory(self, memory: NewMemory) -> None:
        """Keep a new memory."""
        ...

    def update_memory(self, memory: str, changes: Changes) -> None:
        """Change a memory. Raises FactError where there is none of that id."""
        ...

    def update_profile_field(self, user: str, field: str, value: Json, action: str) -> None:
        """Change one field of a profile."""
        ...


class Unit(Writes, Protocol):
    """Writes that are kept together or not at all. A unit that is never committed leaves nothing behind."""

    def move_thread(self, before: Thread, after: Thread) -> None:
        """Put a thread into another state with the rest, unless somebody spoke in it since `before`."""
        ...

    def add_run(self, run: Run, decisions: Sequence[Decision] = ()) -> None:
        """Keep what a run came to."""
        ...

    def commit(self) -> None:
        """Write everything in one transaction."""
        ...


class Storage(Writes, Protocol):
    """A store of threads, memories and profiles."""

    def begin(self) -> Unit:
        """Begin writes that are kept together."""
        ...

    def add_run(self, run: Run, decisions: Sequence[Decision] = ()) -> None:
        """Keep what a run came to."""
        ...

    def create_thread(self, user: str) -> Thread:
        """A new active thread."""
        ...

    def get_thread(self, thread: str) -> Thread | None:
        """A thread by its id."""
        ...

    def update_thread(self, thread: Thread) -> None:
        """Keep a thread's record."""
        ...

    def get_threads_by_state(self, state: State) -> Sequence[Thread]:
        """The threads in a state, in the order they were made."""
        ...

    def get_latest_active_thread(self, user: str) -> Thread | None:
        """The owner's active or cooling thread that was changed last."""
        ...

    def add_message(self, thread: str, role: str, content: str) -> None:
        """Add a message to a thread."""
        ...

    def get_messages(self, thread: str) -> Sequence[Line]:
        """A thread's messages in order."""
        ...

    def search_memories(
        self, user: str, vector: Vector, limit: int, tags: Sequence[str] = (), *, strict: bool = False
    ) -> Sequence[Match]:
        """The most similar memories that have one of the tags, most similar first (spec: 1.7)."""
        ...

    def get_pinned_memories(self, user: str) -> Sequence[Memory]:
        """The owner's pinned memories in order."""
        ...

    def get_profile(self, user: str) -> Profile | None:
        """The owner's profile, None where nothing was ever written to it."""
        ...


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
