"""Who draws facts out of a conversation: a model that is asked, or plain rules where there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.llm.embedding import Embedder, Vector
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import FACTS, FACTS_REVIEW, ChatRequest
from lorestudio.llm.protocol import AnswerSource
from lorestudio.memory.facts.extraction import extract_simple, filled, read_reply, validated
from lorestudio.memory.facts.prompts import extraction_prompt
from lorestudio.memory.facts.records import Line

MAX_TOKENS: Final = 4096
TIMEOUT_MS: Final = 120_000


def chat_request(
    template: str, lines: Sequence[Line], session_date: str, *, strict: bool = False, model: str = ""
) -> ChatRequest:
    """The request for the facts of these lines (spec: fact-memory 5.3, 5.4)."""
    prompt = filled(template, lines, session_date, strict=strict)
    return ChatRequest(FACTS, "", prompt, max_tokens=MAX_TOKENS, timeout_ms=TIMEOUT_MS, model=model, json_object=True)


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model that is asked through an answer source; vectors come from an embedder. `prompt` replaces the built-in."""

    answers: AnswerSource
    embedder: Embedder
    prompt: str = ""
    structured: bool = False
    strict: bool = False
    model: str = ""

    async def extract(self, lines: Sequence[Line], session_date: str) -> Json:
        """The validated items of the model's reply. Raises LlmError."""
        template = extraction_prompt(self.prompt, structured=self.structured)
        request = chat_request(template, lines, session_date, strict=self.strict, model=self.model)
        reply = await self.answers.answer(request)
        if reply.value is not None:
            return validated(reply.value)
        return read_reply(reply.text, strict=self.strict)

    async def review(self, system: str, user: str) -> str | None:
        """The model's answer. Raises LlmError."""
        request = ChatRequest(FACTS_REVIEW, system, user, MAX_TOKENS, TIMEOUT_MS, model=self.model, json_object=True)
        return (await self.answers.answer(request)).text

    async def embed(self, text: str) -> Vector:
        """The vector of a text. Raises LlmError."""
        return await _vector(self.embedder, text)


@dataclass(frozen=True, slots=True)
class PlainModel:
    """Facts by plain rules, without a model (spec: fact-memory 5.7). It reviews nothing."""

    embedder: Embedder

    async def extract(self, lines: Sequence[Line], session_date: str) -> Json:
        """Sentences that hold one of a few words about oneself."""
        del session_date  # the rules write no dates
        return [fact.data for fact in extract_simple(lines)]

    async def review(self, system: str, user: str) -> str | None:
        """There is nobody to look at the facts again."""
        del system, user
        raise LlmError(ErrorKind.NOT_SUPPORTED, "the offline rules review nothing")

    async def embed(self, text: str) -> Vector:
        """The vector of a text. Raises LlmError."""
        return await _vector(self.embedder, text)


@dataclass(frozen=True, slots=True)
class AskedPartner:
    """A conversation partner behind an answer source; its reply comes in one piece."""

    answers: AnswerSource
    kind: str = "chat"

    async def stream(self, lines: Sequence[Line]) -> AsyncIterator[str]:
        """The reply. Raises LlmError."""
        before = tuple((line.role, line.content) for line in lines[:-1])
        yield (await self.answers.answer(ChatRequest(self.kind, "", lines[-1].content, before=before))).text


async def _vector(embedder: Embedder, text: str) -> Vector:
    vectors = await embedder.embed([text])
    return vectors[0]
