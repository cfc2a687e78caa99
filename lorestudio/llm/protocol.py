"""Whoever answers a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply, ChatRequest


class AnswerSource(Protocol):
    """A provider, recorded answers, a person, or the offline stand-in."""

    @property
    def name(self) -> str:
        """A short word for settings and files."""
        ...

    @property
    def label(self) -> str:
        """What the trace calls this source."""
        ...

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The answer. Raises LlmError where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class NoAnswers:
    """No source is chosen: every question fails."""

    name: str = "none"
    label: str = "no answer source"

    async def answer(self, request: ChatRequest) -> ChatReply:
        """Fail with what to do."""
        raise LlmError(
            ErrorKind.NOT_SUPPORTED,
            f"nobody is there to answer a request of kind {request.kind}",
            advice="Choose a provider, recorded answers or the offline stand-in.",
        )
