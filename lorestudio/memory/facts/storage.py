"""Where fact memory keeps things: what it needs of a store (spec: fact-memory 1.7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lorestudio.domain.javascript import Json
from lorestudio.llm.embedding import Vector
from lorestudio.memory.facts.decisions import Decision
from lorestudio.memory.facts.records import Changes, Line, Match, Memory, NewMemory, Profile, Run, State, Thread


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
