"""What answers a chat request, seen from the rest of the program.

The client for a profile.
"""

from __future__ import annotations

from types import TracebackType
from typing import Final, Protocol, Self

import httpx

from lorestudio.llm.anthropic import AnthropicMessages
from lorestudio.llm.dialect import Dialect
from lorestudio.llm.http_client import HttpChatClient
from lorestudio.llm.keys import Keys
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.openai_compatible import OpenAiCompatible
from lorestudio.llm.profiles import Api, KeySource, Profile


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


_DIALECTS: Final[dict[Api, type[Dialect]]] = {Api.OPENAI: OpenAiCompatible, Api.ANTHROPIC: AnthropicMessages}


def client_for(
    profile: Profile, keys: Keys | None = None, transport: httpx.AsyncBaseTransport | None = None
) -> HttpChatClient:
    """A client that talks as `profile` says. Does nothing yet: the key is read when a request is sent."""
    keys = keys or Keys()
    read_key = None if profile.key_source == KeySource.NONE else lambda: keys.read(profile)
    return HttpChatClient(profile, _DIALECTS[profile.api](), read_key, transport=transport)
