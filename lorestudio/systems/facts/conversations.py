"""Fact memory as a whole: threads are spoken in, fall silent, and leave their facts behind (rules: fact-memory 3)."""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from lorestudio.domain.lifecycle import Stopped
from lorestudio.systems.facts.options import FactMemoryConfig
from lorestudio.systems.facts.pipeline import ExtractionResult, Model, run_pipeline
from lorestudio.systems.facts.profile import is_blank
from lorestudio.systems.facts.records import (
    ExtractionRun,
    FactError,
    Line,
    MemoryOrigin,
    Thread,
    ThreadState,
)
from lorestudio.systems.facts.retrieval import (
    LIMIT,
    RetrievedMemories,
    context_text,
    note_retrieved,
    profile_text,
    retrieve,
)
from lorestudio.systems.facts.store import FactStore, clock
from lorestudio.systems.facts.threads import should_close, should_cool, should_go_dormant, transition

logger = logging.getLogger(__name__)

MOST_ATTEMPTS: Final = 3
"""After so many failures in a row sweeping leaves a thread alone; asking for it still tries
(rules: fact-memory 3.5 S3).
"""


class Partner(Protocol):
    """The model that is talked with."""

    def stream(self, lines: Sequence[Line]) -> AsyncIterator[str]:
        """The reply in pieces; one piece where it comes as a whole."""
        ...


@dataclass(frozen=True, slots=True)
class Talked:
    """An exchange: the thread after it, and the one it was meant for where that one was over."""

    thread: Thread
    reply: str
    previous: str | None = None


@dataclass(frozen=True, slots=True)
class FailedThread:
    """A thread whose facts could not be drawn out."""

    thread: Thread
    error: Exception


@dataclass(frozen=True, slots=True)
class SweptThreads:
    """What a sweep did."""

    cooled: tuple[Thread, ...] = ()
    extracted: tuple[tuple[Thread, ExtractionResult], ...] = ()
    closed: tuple[Thread, ...] = ()
    failures: tuple[FailedThread, ...] = ()


class FactMemory:
    """Threads, their facts, and finding them again, over a store and a model."""

    def __init__(
        self,
        store: FactStore,
        model: Model,
        config: FactMemoryConfig | None = None,
        *,
        now: Callable[[], int] = clock,
        partner: Partner | None = None,
        label: str = "",
    ) -> None:
        self._store = store
        self._model = model
        self._config = config or FactMemoryConfig()
        self._now = now
        self._partner = partner
        self._label = label

    @property
    def _strict(self) -> bool:
        return self._config.options.strict

    # ---- threads ----------------------------------------------------------------------------------------------------

    def create(self, user: str) -> Thread:
        """A new thread."""
        return self._store.create_thread(user)

    def get_or_create(self, user: str) -> Thread:
        """The thread that was spoken in last, woken where it was cooling, or a new one."""
        thread = self._store.get_latest_active_thread(user)
        return self._store.create_thread(user) if thread is None else self._woken(thread)

    async def sweep(self) -> SweptThreads:
        """Move every thread on that has been silent long enough; failures are gathered, in strict mode raised.

        Threads with a digest are passages of a chat file; whoever reads the file draws out their facts.
        """
        times = self._config.timeouts
        cooled = tuple(
            self._moved(thread, ThreadState.COOLING)
            for thread in self._store.get_threads_by_state(ThreadState.ACTIVE)
            if not thread.digest and should_cool(thread, times.cooling, self._now())
        )
        extracted: list[tuple[Thread, ExtractionResult]] = []
        failures: list[FailedThread] = []
        for thread in self._store.get_threads_by_state(ThreadState.COOLING):
            tired = not self._strict and thread.attempts >= MOST_ATTEMPTS
            if tired or not should_go_dormant(thread, times.dormant, self._now()):
                continue
            try:
                extracted.append((thread, await self._extract(thread)))
            except Stopped:
                raise
            except Exception as error:
                if self._strict:
                    raise
                logger.warning("No facts of thread %s: %s", thread.id, error)
                failures.append(FailedThread(thread, error))
        closed = tuple(
            self._moved(thread, ThreadState.CLOSED)
            for thread in self._store.get_threads_by_state(ThreadState.DORMANT)
            if should_close(thread, times.closed, self._now())
        )
        return SweptThreads(cooled, tuple(extracted), closed, tuple(failures))

    async def trigger(
        self, thread_id: str, lines: Sequence[Line] | None = None, origin: MemoryOrigin | None = None
    ) -> ExtractionResult:
        """Draw the facts out of a thread now. Raises FactError, and whatever made it fail.

        `lines` are the thread's where they are not in the store, as those of a chat file.
        """
        thread = self._thread(thread_id)
        if thread.state is ThreadState.CLOSED:
            raise FactError(f"Cannot trigger dormant transition on closed thread: {thread_id}")
        if thread.state is ThreadState.DORMANT:
            return ExtractionResult()
        return await self._extract(thread, lines, origin)

    def close(self, thread_id: str) -> Thread:
        """End a dormant thread for good. Raises FactError for any other."""
        thread = self._thread(thread_id)
        if thread.state is not ThreadState.DORMANT:
            raise FactError(f"Cannot close thread in state: {thread.state}. Must be dormant.")
        return self._moved(thread, ThreadState.CLOSED)

    # ---- talking ----------------------------------------------------------------------------------------------------

    async def chat(self, thread_id: str, message: str, system_prompt: str = "") -> Talked:
        """Say something in a thread and keep the reply; a thread that is over is followed by a new one."""
        thread, previous = self._listening(thread_id)
        reply = "".join([piece async for piece in self._replying(thread, message, system_prompt)])
        after = self._thread(thread.id)
        stale = self._strict and previous is not None  # the original's is as it was made (rules: fact-memory 3.4)
        return Talked(thread if stale else after, reply, previous)

    def stream(self, thread_id: str, message: str, system_prompt: str = "") -> tuple[Talked, AsyncIterator[str]]:
        """The thread before the exchange, and the reply in pieces; it is kept after the last one
        (rules: fact-memory 3.4).
        """
        thread, previous = self._listening(thread_id)
        return Talked(thread, "", previous), self._replying(thread, message, system_prompt)

    async def retrieve(self, user: str, query: str, limit: int = LIMIT, tags: Sequence[str] = ()) -> RetrievedMemories:
        """Find what is known about a text; where forgetting is on, the memories found are refreshed."""
        vector = await self._model.embed(query)
        found = retrieve(self._store, user, vector, self._config.search, self._now(), limit, tags)
        if self._config.search.forgetting is not None:
            note_retrieved(self._store, found, self._now())
        return found

    def _listening(self, thread_id: str) -> tuple[Thread, str | None]:
        thread = self._thread(thread_id)
        if thread.state in {ThreadState.DORMANT, ThreadState.CLOSED}:
            return self._store.create_thread(thread.user_id), thread_id
        return self._woken(thread), None

    async def _replying(self, thread: Thread, message: str, system_prompt: str) -> AsyncIterator[str]:
        if self._partner is None:
            raise FactError("Nobody is there to talk with.")
        self._store.add_message(thread.id, "user", message)
        said = self._store.get_messages(thread.id)
        frame = [Line("system", text) for text in await self._remembered(thread, message)]
        if system_prompt:
            frame.append(Line("system", system_prompt))
        parts: list[str] = []
        async for piece in self._partner.stream([*frame, *said]):
            parts.append(piece)
            yield piece
        self._store.add_message(thread.id, "assistant", "".join(parts))
        now = self._now()
        self._store.update_thread(replace(thread, last_message_at=now, updated_at=now))

    async def _remembered(self, thread: Thread, message: str) -> list[str]:
        """The system messages with what is known (rules: fact-memory 11)."""
        if not self._config.auto_retrieve:
            return []
        found = await self.retrieve(thread.user_id, message)
        if self._config.format is None:
            texts = [context_text(found.matches, found.profile, self._config.layout)]
        else:
            profile = found.profile
            head = "" if profile is None or is_blank(profile) else profile_text(profile, "User Profile:")
            texts = [head, self._config.format(found.matches, message)]
        return [text for text in texts if text]

    # ---- moving on --------------------------------------------------------------------------------------------------

    def _thread(self, thread_id: str) -> Thread:
        thread = self._store.get_thread(thread_id)
        if thread is None:
            raise FactError(f"Thread not found: {thread_id}")
        return thread

    def _woken(self, thread: Thread) -> Thread:
        return self._moved(thread, ThreadState.ACTIVE) if thread.state is ThreadState.COOLING else thread

    def _moved(self, thread: Thread, to: ThreadState) -> Thread:
        moved = transition(thread, to, self._now())
        self._store.update_thread(moved)
        return moved

    async def _extract(
        self, thread: Thread, lines: Sequence[Line] | None = None, origin: MemoryOrigin | None = None
    ) -> ExtractionResult:
        """Run the pipeline over a thread that goes dormant.

        Strict mode keeps the new state first, as the original does. Safe mode keeps the state, the facts and the run's
        record in one transaction at the end, so that a thread is dormant exactly when its facts are there.
        """
        now = self._now()
        cooling = thread if thread.state is ThreadState.COOLING else transition(thread, ThreadState.COOLING, now)
        dormant = replace(transition(cooling, ThreadState.DORMANT, now), attempts=0)
        said = self._store.get_messages(thread.id) if lines is None else lines
        origin = replace(origin or MemoryOrigin(), run=uuid.uuid4().hex[:12])
        if self._strict:
            self._store.update_thread(dormant)
            result = await run_pipeline(dormant, said, self._model, self._store, self._config.options, origin)
            self._store.add_run(self._run(dormant, origin, result), result.decisions)
            return result
        unit = self._store.begin()
        try:
            result = await run_pipeline(dormant, said, self._model, unit, self._config.options, origin)
            unit.move_thread(thread, dormant)
            unit.add_run(self._run(dormant, origin, result), result.decisions)
            unit.commit()
        except Stopped:
            raise
        except Exception:
            self._failed(thread.id)
            raise
        return result

    def _failed(self, thread_id: str) -> None:
        thread = self._store.get_thread(thread_id)
        if thread is not None:
            self._store.update_thread(replace(thread, attempts=thread.attempts + 1))

    def _run(self, thread: Thread, origin: MemoryOrigin, result: ExtractionResult) -> ExtractionRun:
        return ExtractionRun(
            origin.run, thread.user_id, thread.id, self._now(), self._label, result.data, result.problem
        )
