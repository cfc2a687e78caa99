"""Working through the queue, one operation at a time, so that an end at any moment loses nothing.

Every change of the queue is on the disk before the next step. What a model said is written into its operation first,
then stored in the chat, and only then does the operation leave the queue, together with the arrival of what follows
from it: whoever goes on after an end neither asks again nor stores twice (rules: recap-memory 6.4 to 6.8).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Stopped
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.systems.recap.asking import Handler, Stored, WorkContext
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.chat_file import ChatBook
from lorestudio.systems.recap.message_recaps import MessageRecap
from lorestudio.systems.recap.queue import (
    ANSWER,
    CANCELLED_BY_USER,
    FinishedOperation,
    HopelessError,
    NewOperation,
    OperationType,
    QueuedOperation,
    QueueState,
    Status,
    StoredAnswer,
    after_failure,
    make_operation,
)
from lorestudio.systems.recap.refresh import refreshed
from lorestudio.systems.recap.scenes.break_search import Detect, DetectBackwards
from lorestudio.systems.recap.scenes.recaps import FILTER, ORGANISE, PARSE, Combine, Rebuild, SceneRecap
from lorestudio.vault.files import epoch_ms

HANDLERS: Final[Mapping[str, Handler]] = {
    OperationType.RECAP: MessageRecap(),
    OperationType.DETECT: Detect(),
    OperationType.DETECT_BACKWARDS: DetectBackwards(),
    OperationType.SCENE_RECAP: SceneRecap(),
    OperationType.ORGANISE: ORGANISE,
    OperationType.PARSE: PARSE,
    OperationType.FILTER: FILTER,
    OperationType.COMBINE: Combine(),
    OperationType.RUNNING: Rebuild(),
}
"""What each kind of operation means."""


class MemoryBook(Struct, eq=False):
    """A chat in memory only, for trying things out."""

    chat: RecapChat

    async def change(self, how: Callable[[RecapChat], RecapChat]) -> RecapChat:
        """Change the chat."""
        self.chat = how(self.chat)
        return self.chat


class RecapWork(Struct, frozen=True):
    """What the operations of the queue mean for one chat."""

    book: ChatBook | MemoryBook
    context: WorkContext

    def delays(self, operation: QueuedOperation) -> tuple[float, float]:
        """Seconds before a recap of a message, and after any question."""
        settings = self.context.settings
        before = settings.recap_time_delay if operation.type == OperationType.RECAP else 0
        return float(before), settings.operation_delay_ms / 1000

    async def ask(self, operation: QueuedOperation) -> Json:
        """What the model says. Raises LlmError, ValueError or HopelessError."""
        return await _handler(operation).ask(operation, self.book.chat, self.context)

    async def store(self, current: Callable[[], QueuedOperation | None]) -> StoredAnswer:
        """Put the answer of an operation into the chat and bring its memory up to date.

        `current` is the operation as it is then: its messages have moved where others came or went in the file, and
        None where its message is gone.
        """
        ctx = self.context

        def stored(chat: RecapChat) -> Stored:
            operation = current()
            if operation is None:
                return chat, StoredAnswer()
            chat, kept = _handler(operation).store(operation, operation.metadata[ANSWER], chat, ctx)
            return refreshed(chat, ctx.around, ctx.context_size).chat, kept

        return await self._change(stored)

    async def failed(self, operation: QueuedOperation, error: str) -> StoredAnswer:
        """Note the failure in the chat."""
        handler = HANDLERS.get(operation.type)
        if handler is None:  # a queue may be older or newer than this program
            return StoredAnswer()
        return await self._change(lambda chat: handler.failed(operation, error, chat, self.context))

    async def _change(self, how: Callable[[RecapChat], Stored]) -> StoredAnswer:
        kept = StoredAnswer()

        def put(chat: RecapChat) -> RecapChat:
            nonlocal kept
            chat, kept = how(chat)
            return chat

        await self.book.change(put)
        return kept


def _handler(operation: QueuedOperation) -> Handler:
    """Raises HopelessError for what is not done here."""
    handler = HANDLERS.get(operation.type)
    if handler is None:
        raise HopelessError(f"Operations of type “{operation.type}” are not done here. It was taken from the queue.")
    return handler


_HOPELESS: Final = frozenset(
    {ErrorKind.AUTHENTICATION, ErrorKind.NO_KEY, ErrorKind.NO_RECORDED_ANSWER, ErrorKind.NOT_SUPPORTED,
     ErrorKind.ABORTED}
)  # fmt: skip
"""Failures of a source of answers that another attempt cannot mend."""

_MISTAKES: Final = (
    HopelessError, ArithmeticError, AssertionError, AttributeError, LookupError, NameError, RecursionError, TypeError,
)  # fmt: skip
"""What ends in the same way each time: it was said to be so, or the program is wrong."""


class QueueProgress(Struct, frozen=True):
    """How far the queue is: what is under way, and when a failed attempt is tried again."""

    state: QueueState
    operation: QueuedOperation | None = None
    retry_in_s: float | None = None


async def _no_keeping(_: QueueState) -> None:
    """Nobody keeps the queue."""


class Worker(Struct, eq=False):
    """One queue being worked on. `keep` writes its state to the disk and returns when it is there.

    `on_progress` hears of every change. All methods belong to one event loop.
    """

    state: QueueState
    performer: RecapWork
    max_retries: int = 0
    keep: Callable[[QueueState], Awaitable[None]] = _no_keeping
    on_progress: Callable[[QueueProgress], None] | None = None
    now_ms: Callable[[], int] = epoch_ms
    sleep: Callable[[float], Coroutine[None, None, None]] = asyncio.sleep
    draw: Callable[[], float] = random.random
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _asking: asyncio.Task[Json] | None = None
    _moves: list[Mapping[int, int]] = field(default_factory=list)
    """Where messages went while the question under way was asked."""
    _waiting: asyncio.Task[None] | None = None
    _running: bool = False
    _clearing: bool = False

    # What a person does -----------------------------------------------------------------------------------------

    async def enqueue(self, new: NewOperation, queue_version: int | None = None) -> str | None:
        """Queue an operation and return its id, None where it is refused (rules: recap-memory 6.4)."""
        if not self.state.accepts(queue_version, clearing=self._clearing):
            return None
        operation = self._made([new])[0]
        await self._change(lambda state: state.with_added([operation]))
        return operation.id

    async def pause(self) -> None:
        """Begin nothing further; what is under way is finished."""
        await self._change(lambda state: replace(state, paused=True))
        self.hurry()

    async def interrupt(self) -> None:
        """Pause at once: the question under way is taken back, and put again when the queue goes on."""
        await self.pause()
        self._abort()

    async def resume(self) -> None:
        """Allow work again; `run` does it."""
        await self._change(lambda state: replace(state, paused=False))

    def hurry(self) -> None:
        """Try again now what waits for its next attempt."""
        if self._waiting is not None:
            self._waiting.cancel()

    async def toggle_pause_before(self, identifier: str) -> bool:
        """Whether the queue stops before this operation; False as well where it is not there."""
        operation = self.state.get(identifier)
        if operation is None:
            return False
        changed = replace(operation, pause_before=not operation.pause_before)
        await self._change(lambda state: state.with_changed(changed))
        return changed.pause_before

    async def remove(self, identifier: str, why: str = CANCELLED_BY_USER) -> bool:
        """Take an operation out, also while it is under way. False where it is not there."""
        operation = self.state.get(identifier)
        if operation is None:
            return False
        gone = self._logged(operation, "cancelled", why)
        await self._change(lambda state: state.without(identifier).with_logged(gone))
        if operation.is_active:
            self._abort()
        return True

    async def follow(self, where: Mapping[int, int]) -> None:
        """Messages stand elsewhere now: what is queued is about the same ones, and goes with those that are gone."""
        self._moves.append(where)
        gone = [operation.id for operation in self.state.operations if operation.moved(where) is None]
        if self.state.operations:
            await self._change(partial(QueueState.moved, where=where))
        for identifier in gone:
            await self.remove(identifier, "The message is gone.")

    async def clear(self) -> int:
        """Empty the queue and refuse whatever would follow from it; the number of operations that went."""
        self._clearing = True
        try:
            count = len(self.state.operations)
            await self._change(QueueState.cleared)
            self._abort()
            await asyncio.sleep(0)
        finally:
            self._clearing = False
        return count

    # The work -----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Work until nothing is ready or the queue is paused. A second call while one runs does nothing.

        Raises InputError where chat or queue cannot be written; whoever loads the queue again goes on from there.
        """
        if self._running:
            return
        self._running = True
        try:
            while not self.state.paused and (operation := self.state.next()) is not None:
                if operation.pause_before:
                    let_go = replace(operation, pause_before=False)
                    await self._change(partial(QueueState.with_changed, operation=let_go, paused=True))
                    break
                await self._perform(operation.id)
        finally:
            self._running = False
        self._tell(None)

    async def _perform(self, identifier: str) -> None:
        while (operation := self.state.get(identifier)) is not None:
            started = self.now_ms() if operation.started_at is None else operation.started_at
            begun = replace(operation, status=Status.IN_PROGRESS, started_at=started)
            await self._change(partial(QueueState.with_changed, operation=begun, current=begun.id))
            operation = self.state.get(identifier)
            if operation is None:
                return
            before, after = self.performer.delays(operation)
            try:
                if before and ANSWER not in operation.metadata and not await self._wait(before, identifier):
                    return
                await self._attempt(operation)
            except Stopped:
                raise
            except Exception as error:  # whatever went wrong is the operation's failure
                if isinstance(error, InputError) and isinstance(error.__cause__, OSError):
                    raise  # a full disk has no more room after a wait
                if not await self._retried(identifier, error):
                    return
                continue
            if after and self.state.operations:
                await self.sleep(after)
            return

    async def _attempt(self, operation: QueuedOperation) -> None:
        """Ask, unless an earlier attempt got an answer, store it, and put what follows in the operation's place."""
        while ANSWER not in operation.metadata:
            self._moves = []
            asking = self._asking = asyncio.ensure_future(self.performer.ask(operation))
            try:
                answer = await asking
            except asyncio.CancelledError:
                if await self._goes_on(operation.id):
                    raise
                return
            finally:
                asking.cancel()
                self._asking = None
            now = self.state.get(operation.id)
            if now is None:
                return
            metadata = {**operation.metadata, ANSWER: answer}
            answered: QueuedOperation | None = replace(operation, metadata=metadata)
            for where in self._moves:  # the answer is about the positions of before
                answered = None if answered is None else answered.moved(where)
            if answered is not None and (answered.params, answered.carried) == (now.params, now.metadata):
                now = replace(now, metadata=answered.metadata)
                await self._change(partial(QueueState.with_changed, operation=now))
            operation = now  # without the answer where what it chose is gone: it is asked again
        if self.state.get(operation.id) is None:
            return
        stored = await self.performer.store(partial(self._answered, operation.id))
        now = self.state.get(operation.id)
        if now is not None and ANSWER not in now.metadata:
            await self._attempt(now)
            return
        done = self._logged(operation, "completed", stored.summary)
        await self._change(lambda state: self._followed(state, operation, stored, done))

    def _followed(
        self, state: QueueState, operation: QueuedOperation, stored: StoredAnswer, done: FinishedOperation
    ) -> QueueState:
        """The queue with what follows instead of the operation; after a clearing nothing follows."""
        for pointless in filter(stored.drops, state.operations):
            state = state.without(pointless.id)
        if operation.queue_version == state.queue_version and state.get(operation.id) is not None:
            made = self._made(stored.follow_ups)
            if made and stored.hands_on:
                state = state.with_transferred(operation.id, made[0].id)
            state = state.with_added(made)
        return state.without(operation.id).with_logged(done)

    async def _retried(self, identifier: str, error: Exception) -> bool:
        """Wait for the next attempt; False where there is to be none."""
        operation = self.state.get(identifier)
        if operation is None:
            return False
        hopeless = isinstance(error, _MISTAKES) or (isinstance(error, LlmError) and error.kind in _HOPELESS)
        text = str(error) or type(error).__name__
        pause = (error.retry_after_s if isinstance(error, LlmError) else None) or 0
        action = after_failure(text, operation.retries, self.max_retries, permanent=hopeless, asked_s=pause)
        if action.action != "retry":
            outcome = "cancelled" if action.action == "stop" else "failed"
            stored = await self.performer.failed(operation, text) if outcome == "failed" else StoredAnswer()
            gone = self._logged(operation, outcome, text)
            await self._change(lambda state: self._followed(state, operation, stored, gone))
            return False
        again = replace(operation, status=Status.RETRYING, retries=action.retries, error=action.error)
        await self._change(lambda state: state.with_changed(again))
        return await self._wait(action.delay_s, identifier)

    async def _wait(self, seconds: float, identifier: str) -> bool:
        """Whether the operation is to go on afterwards."""
        self._tell(seconds)
        waiting = self._waiting = asyncio.ensure_future(self.sleep(seconds))
        try:
            await asyncio.wait({waiting})
        finally:
            waiting.cancel()
            self._waiting = None
        return await self._goes_on(identifier)

    async def _goes_on(self, identifier: str) -> bool:
        """Whether an operation is to go on after a wait: it was not removed, and nobody paused the queue."""
        operation = self.state.get(identifier)
        if operation is None:
            return False
        if self.state.paused:
            later = replace(operation, status=Status.PENDING)
            await self._change(lambda state: state.with_changed(later, current=None))
            return False
        return True

    def _answered(self, identifier: str) -> QueuedOperation | None:
        operation = self.state.get(identifier)
        return operation if operation is not None and ANSWER in operation.metadata else None

    # Its own housekeeping -----------------------------------------------------------------------------------------

    def _made(self, new: Iterable[NewOperation]) -> list[QueuedOperation]:
        now, version = self.now_ms(), self.state.queue_version
        taken = {operation.id for operation in self.state.operations}
        made: list[QueuedOperation] = []
        for item in new:
            while (operation := make_operation(item, now, version, self.draw)).id in taken:
                pass
            taken.add(operation.id)
            made.append(operation)
        return made

    async def _change(self, how: Callable[[QueueState], QueueState]) -> None:
        """Change the state and have it on the disk."""
        async with self._lock:
            self.state = how(self.state)
            await self.keep(self.state)
        self._tell(None)

    def _logged(self, operation: QueuedOperation, outcome: str, summary: str) -> FinishedOperation:
        return FinishedOperation(operation.type, operation.words, outcome, summary, self.now_ms(), operation.id)

    def _abort(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
        self.hurry()

    def _tell(self, retry_in_s: float | None) -> None:
        if self.on_progress is not None:
            current = self.state.get(self.state.current) if self.state.current else None
            self.on_progress(QueueProgress(self.state, current, retry_in_s))
