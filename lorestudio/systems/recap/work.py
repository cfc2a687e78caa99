"""Doing what operations mean, with the chat kept in a book that is on the disk before anything else goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from lorestudio.domain.javascript import Json
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.context import Handler, WorkContext
from lorestudio.systems.recap.detection_work import Detect, DetectBackwards
from lorestudio.systems.recap.message_recaps import MessageRecap
from lorestudio.systems.recap.queue import Operation, OperationType, QueueState
from lorestudio.systems.recap.refresh import refreshed
from lorestudio.systems.recap.running_work import Combine, Rebuild
from lorestudio.systems.recap.scene_work import FILTER, ORGANISE, PARSE, SceneRecap
from lorestudio.systems.recap.worker import HopelessError, Stored

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


class ChatBook(Protocol):
    """Where the open chat lies."""

    @property
    def chat(self) -> RecapChat:
        """The chat as it is now."""
        ...

    async def change(self, how: Callable[[RecapChat], RecapChat]) -> RecapChat:
        """Change the chat; when this returns, the change is on the disk. Raises what writing raises."""
        ...


@dataclass(slots=True, eq=False)
class MemoryBook:
    """A chat in memory only, for trying things out."""

    chat: RecapChat

    async def change(self, how: Callable[[RecapChat], RecapChat]) -> RecapChat:
        """Change the chat."""
        self.chat = how(self.chat)
        return self.chat


@dataclass(frozen=True, slots=True)
class RecapWork:
    """The performer of the queue for one chat."""

    book: ChatBook
    context: WorkContext

    def delays(self, operation: Operation) -> tuple[float, float]:
        """Seconds before a recap of a message, and after any question."""
        settings = self.context.settings
        before = settings.recap_time_delay if operation.type == OperationType.RECAP else 0
        return float(before), settings.operation_delay_ms / 1000

    async def ask(self, operation: Operation) -> Json:
        """What the model says. Raises LlmError, ValueError or HopelessError."""
        return await _handler(operation).ask(operation, self.book.chat, self.context)

    async def store(self, operation: Operation, answer: Json, queue: QueueState) -> Stored:
        """Put the answer into the chat and bring its memory up to date."""
        handler, kept = _handler(operation), [Stored()]

        def put(chat: RecapChat) -> RecapChat:
            chat, kept[0] = handler.store(operation, answer, chat, queue, self.context)
            return refreshed(chat, self.context.around, self.context.context_size).chat

        await self.book.change(put)
        return kept[0]

    async def failed(self, operation: Operation, error: str) -> Stored:
        """Note the failure in the chat."""
        handler, kept = HANDLERS.get(operation.type), [Stored()]
        if handler is None:
            return kept[0]

        def put(chat: RecapChat) -> RecapChat:
            chat, kept[0] = handler.failed(operation, error, chat, self.context)
            return chat

        await self.book.change(put)
        return kept[0]


def _handler(operation: Operation) -> Handler:
    """Raises HopelessError for what is not done here."""
    handler = HANDLERS.get(operation.type)
    if handler is None:
        raise HopelessError(f"Operations of type “{operation.type}” are not done here. It was taken from the queue.")
    return handler
