"""How one kind of API spells a request and a reply. The transport is the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lorestudio.domain.javascript import Json
from lorestudio.llm.messages import ChatRequest, Usage
from lorestudio.llm.normalise import Answer


@dataclass(frozen=True, slots=True)
class Habits:
    """What a server accepts; learned from its refusals, so that each is met once and not on every request."""

    schema: bool = True
    old_token_limit: bool = True
    stream_usage: bool = True


@dataclass(frozen=True, slots=True)
class Piece:
    """One event of a streamed reply: a piece of text, and what else it says; None and "" where it says nothing."""

    text: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish: str = ""
    last: bool = False


class Dialect(Protocol):
    """One kind of API."""

    def address(self, base: str) -> str:
        """The full address for requests, from the one in the profile."""
        ...

    def key_header(self, key: str) -> tuple[str, str]:
        """Name and value of the header that carries the key."""
        ...

    def headers(self) -> Mapping[str, str]:
        """Headers of every request, without the key."""
        ...

    def body(self, request: ChatRequest, model: str, max_tokens: int, habits: Habits, *, stream: bool) -> Json:
        """The JSON body."""
        ...

    def piece(self, event: Mapping[str, Json]) -> Piece:
        """What one event of a stream says."""
        ...

    def learn(self, refusal: str, habits: Habits) -> Habits | None:
        """Other habits that a refused request should be tried with, None where there is nothing to change."""
        ...

    def answer(self, body: Json) -> Answer:
        """The answer in a whole reply."""
        ...


@dataclass(slots=True)
class Gathering:
    """A streamed reply so far."""

    text: str = ""
    usage: Usage = field(default_factory=Usage)
    finish: str = ""
    complete: bool = False

    def add(self, piece: Piece) -> None:
        """Take in one event."""
        self.text += piece.text
        self.usage = Usage(
            self.usage.input if piece.input_tokens is None else piece.input_tokens,
            self.usage.output if piece.output_tokens is None else piece.output_tokens,
        )
        self.finish = piece.finish or self.finish
        # Some servers end after the reason and send no closing event.
        self.complete = self.complete or piece.last or bool(piece.finish)
