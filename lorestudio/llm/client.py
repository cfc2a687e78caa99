"""What answers a chat request, seen from the rest of the program."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from lorestudio.llm.messages import ChatReply, ChatRequest


class ReplyStream(Protocol):
    """A reply as it arrives. Entering sends the request, leaving closes the connection, also half-way.

    Iterating gives the pieces of the text in order and raises LlmError when the reply breaks off.
    """

    async def __aenter__(self) -> Self:
        """Send the request."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        ...

    def __aiter__(self) -> Self:
        """The stream itself; it can be read once."""
        ...

    async def __anext__(self) -> str:
        """The next piece of text."""
        ...

    @property
    def reply(self) -> ChatReply:
        """The whole reply, once the last piece has arrived. Raises ValueError before that."""
        ...


class ChatClient(Protocol):
    """A connection to one provider. Cancelling the task that waits closes the connection."""

    @property
    def label(self) -> str:
        """Who answers, for people: the profile's name and its model."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send `request` and wait for the whole reply. Raises LlmError."""
        ...

    def stream(self, request: ChatRequest) -> ReplyStream:
        """Send `request` on entering the result, and receive the reply piece by piece."""
        ...
