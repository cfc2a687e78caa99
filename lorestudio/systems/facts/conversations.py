"""Threads on their way: they are spoken in, fall silent, and leave their facts behind (rules: fact-memory 3)."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.lifecycle import Stopped
from lorestudio.domain.records import replace
from lorestudio.systems.facts.options import FactOptions
from lorestudio.systems.facts.pipeline import ExtractionResult, Model, run_pipeline
from lorestudio.systems.facts.records import ExtractionRun, FactError, Line, MemoryOrigin, Thread, ThreadState
from lorestudio.systems.facts.store import FactStore, clock
from lorestudio.systems.facts.threads import Timeouts, should_close, should_cool, should_go_dormant, transition

logger = logging.getLogger(__name__)

MOST_ATTEMPTS: Final = 3
"""After so many failures in a row sweeping leaves a thread alone; asking for it still tries
(rules: fact-memory 3.5 S3).
"""


class Conversations(Struct, frozen=True):
    """Threads and their facts, over a store and a model. `label` says who draws the facts out."""

    store: FactStore
    model: Model
    options: FactOptions = field(default_factory=FactOptions)
    timeouts: Timeouts = field(default_factory=Timeouts)
    now: Callable[[], int] = clock
    label: str = ""

    def get_or_create(self, user: str) -> Thread:
        """The thread that was spoken in last, woken where it was cooling, or a new one."""
        thread = self.store.get_latest_active_thread(user)
        return self.store.create_thread(user) if thread is None else self._woken(thread)

    async def sweep(self) -> tuple[tuple[Thread, Exception], ...]:
        """Move every thread on that has been silent long enough; the ones that failed, in strict mode raised.

        Threads with a digest are passages of a chat file; whoever reads the file draws out their facts.
        """
        store, times, strict = self.store, self.timeouts, self.options.strict
        for thread in store.get_threads_by_state(ThreadState.ACTIVE):
            if not thread.digest and should_cool(thread, times.cooling, self.now()):
                self._moved(thread, ThreadState.COOLING)
        failures: list[tuple[Thread, Exception]] = []
        for thread in store.get_threads_by_state(ThreadState.COOLING):
            tired = not strict and thread.attempts >= MOST_ATTEMPTS
            if tired or not should_go_dormant(thread, times.dormant, self.now()):
                continue
            try:
                await self._extract(thread)
            except Stopped:
                raise
            except Exception as error:
                if strict:
                    raise
                logger.warning("No facts of thread %s: %s", thread.id, error)
                failures.append((thread, error))
        self.close_old(store.get_threads_by_state(ThreadState.DORMANT))
        return tuple(failures)

    def close_old(self, threads: Sequence[Thread]) -> None:
        """End those of these threads for good that have been dormant for long enough (rules: fact-memory 3.2)."""
        for thread in threads:
            if should_close(thread, self.timeouts.closed, self.now()):
                self._moved(thread, ThreadState.CLOSED)

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

    def close(self, thread_id: str) -> None:
        """End a dormant thread for good. Raises FactError for any other."""
        thread = self._thread(thread_id)
        if thread.state is not ThreadState.DORMANT:
            raise FactError(f"Cannot close thread in state: {thread.state}. Must be dormant.")
        self._moved(thread, ThreadState.CLOSED)

    def exchange(self, thread_id: str, message: str, reply: str) -> Thread:
        """Keep a message and its reply; a thread that is over is followed by a new one (rules: fact-memory 3.4).

        In strict mode a new one comes back as it was made.
        """
        meant = self._thread(thread_id)
        over = meant.state in {ThreadState.DORMANT, ThreadState.CLOSED}
        thread = self.store.create_thread(meant.user_id) if over else self._woken(meant)
        self.store.add_message(thread.id, "user", message)
        self.store.add_message(thread.id, "assistant", reply)
        now = self.now()
        spoken = replace(thread, last_message_at=now, updated_at=now)
        self.store.update_thread(spoken)
        return thread if over and self.options.strict else spoken

    def _thread(self, thread_id: str) -> Thread:
        thread = self.store.get_thread(thread_id)
        if thread is None:
            raise FactError(f"Thread not found: {thread_id}")
        return thread

    def _woken(self, thread: Thread) -> Thread:
        return self._moved(thread, ThreadState.ACTIVE) if thread.state is ThreadState.COOLING else thread

    def _moved(self, thread: Thread, to: ThreadState) -> Thread:
        moved = transition(thread, to, self.now())
        self.store.update_thread(moved)
        return moved

    async def _extract(
        self, thread: Thread, lines: Sequence[Line] | None = None, origin: MemoryOrigin | None = None
    ) -> ExtractionResult:
        """Run the pipeline over a thread that goes dormant.

        Strict mode keeps the new state first, as the original does. Safe mode keeps the state, the facts and the run's
        record in one transaction at the end, so that a thread is dormant exactly when its facts are there.
        """
        now = self.now()
        cooling = thread if thread.state is ThreadState.COOLING else transition(thread, ThreadState.COOLING, now)
        dormant = replace(transition(cooling, ThreadState.DORMANT, now), attempts=0)
        said = self.store.get_messages(thread.id) if lines is None else lines
        origin = replace(origin or MemoryOrigin(), run=uuid.uuid4().hex[:12])
        if self.options.strict:
            self.store.update_thread(dormant)
            result = await run_pipeline(dormant, said, self.model, self.store, self.options, origin)
            self.store.add_run(self._run(dormant, origin, result), result.decisions)
            return result
        unit = self.store.begin()
        try:
            result = await run_pipeline(dormant, said, self.model, unit, self.options, origin)
            unit.move_thread(thread, dormant)
            unit.add_run(self._run(dormant, origin, result), result.decisions)
            unit.commit()
        except Stopped:
            raise
        except Exception:
            failed = self.store.get_thread(thread.id)
            if failed is not None:
                self.store.update_thread(replace(failed, attempts=failed.attempts + 1))
            raise
        return result

    def _run(self, thread: Thread, origin: MemoryOrigin, result: ExtractionResult) -> ExtractionRun:
        return ExtractionRun(origin.run, thread.user_id, thread.id, self.now(), self.label, result.data, result.problem)
