"""Sources of answers that ask somebody: a provider, or a person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply, ChatRequest

if TYPE_CHECKING:
    from lorestudio.llm.http.client import HttpChatClient


@dataclass(frozen=True, slots=True)
class LiveAnswers:
    """A provider is asked, now and at a cost.

    With `on_text` the reply is streamed, and `on_text` gets each piece as it arrives, on the event loop.
    """

    client: HttpChatClient
    on_text: Callable[[str], None] | None = None
    name: str = "live"

    @property
    def label(self) -> str:
        """The client's own label."""
        return self.client.label

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The provider's reply. Raises LlmError; cancelling closes the connection."""
        if self.on_text is None:
            return await self.client.complete(request)
        async with self.client.stream(request) as stream:
            async for piece in stream:
                self.on_text(piece)
            return stream.reply


@dataclass(frozen=True, slots=True)
class TypedAnswers:
    """A person types the answer. `ask` shows the request and waits; None means that the person declined."""

    ask: Callable[[ChatRequest], Awaitable[str | None]]
    name: str = "typed"
    label: str = "typed by you"

    async def answer(self, request: ChatRequest) -> ChatReply:
        """What the person typed. Raises LlmError of kind `aborted` when nothing was."""
        text = await self.ask(request)
        if text is None:
            raise LlmError(ErrorKind.ABORTED, "nobody typed an answer")
        return ChatReply(text, source=self.label)
