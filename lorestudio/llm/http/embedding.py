"""Vectors from any server that speaks OpenAI's `/embeddings` (rules: hybrid-retrieval 6, 9.1)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Final

import httpx
import numpy as np

from lorestudio.domain.javascript import Json
from lorestudio.llm.embedding import Vector, embeddings_address
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.http.apis import OpenAiCompatible
from lorestudio.llm.http.client import HttpChatClient
from lorestudio.llm.http.dialect import Habits, ReadAnswer
from lorestudio.llm.keys import Keys
from lorestudio.llm.messages import ChatRequest
from lorestudio.llm.profiles import Profile

KIND: Final = "embedding"

MOST_TEXTS: Final = 64
"""So many texts go into one request."""

MOST_REQUESTS: Final = 2
"""So many requests are under way at once."""

LONGEST: Final = 8000
"""Characters of a text that are sent (rules: hybrid-retrieval 8 P4)."""

TIMEOUT_MS: Final = 30_000


class _Embeddings(OpenAiCompatible):
    """The dialect of embeddings: the texts travel in the request's user message, as a JSON list."""

    def address(self, base: str) -> str:
        """The address of the embeddings beside the completions'."""
        return embeddings_address(super().address(base).removesuffix("/chat/completions"))

    def body(self, request: ChatRequest, model: str, _max_tokens: int, _habits: Habits, *, stream: bool) -> Json:
        """The texts, one alone as a text, and the model."""
        del stream  # vectors are not streamed
        texts: list[Json] = json.loads(request.user)
        body: dict[str, Json] = {"input": texts[0] if len(texts) == 1 else texts}
        if model:
            body["model"] = model
        return body

    def answer(self, body: Json) -> ReadAnswer:
        """The body itself."""
        return ReadAnswer("", body)

    def learn(self, _refusal: str, _habits: Habits) -> Habits | None:
        """There is nothing that could be left out of such a request."""
        return None


class HttpEmbedder:
    """Asks a server for vectors, in batches; a server that refuses lists is asked for one text at a time."""

    def __init__(self, profile: Profile, keys: Keys | None = None) -> None:
        self._client = HttpChatClient(profile, _Embeddings(), keys, max_bytes=64 * 1024 * 1024)
        self._profile = profile
        self._batch = MOST_TEXTS

    @property
    def model_id(self) -> str:
        """The host and its model: another server's model of the same name may be another one."""
        return f"{self._profile.host}/{self._profile.model}"

    @property
    def label(self) -> str:
        """The profile's name and its model."""
        return self._client.label

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """A vector for each text, in order. Raises LlmError."""
        gate = asyncio.Semaphore(MOST_REQUESTS)
        batches = [texts[start : start + self._batch] for start in range(0, len(texts), self._batch)]

        async def one(batch: Sequence[str]) -> tuple[Vector, ...]:
            async with gate:
                return await self._embed(batch)

        found = await asyncio.gather(*(one(batch) for batch in batches))
        return tuple(vector for batch in found for vector in batch)

    async def _embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        try:
            return await self._ask(texts)
        except LlmError as error:
            if len(texts) == 1 or error.status != httpx.codes.BAD_REQUEST:
                raise
        self._batch = 1
        return tuple([(await self._ask([text]))[0] for text in texts])

    async def _ask(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        cut = json.dumps([text[:LONGEST] for text in texts])
        request = ChatRequest(KIND, "", cut, timeout_ms=TIMEOUT_MS, model=self._profile.model)
        reply = await self._client.complete(request)
        vectors = _vectors(reply.value, len(texts))
        if vectors is None:
            told = f"the reply holds no vectors for {len(texts)} texts"
            advice = "Check that the profile's model makes embeddings."
            raise LlmError(ErrorKind.INVALID_ANSWER, told, who=self._client.who, advice=advice)
        return vectors


def _vectors(body: Json, count: int) -> tuple[Vector, ...] | None:
    """The vectors of a reply in the order of the texts, None where there are not as many, or not all of one length."""
    data = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(data, list) or len(data) != count:
        return None
    placed: dict[int, Vector] = {}
    for place, item in enumerate(data):
        if not isinstance(item, Mapping):
            return None
        index, values = item.get("index", place), item.get("embedding")
        if not isinstance(index, int) or not isinstance(values, list) or not values:
            return None
        if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            return None
        placed[index] = np.array(values, dtype=np.float64)
    if sorted(placed) != list(range(count)) or len({len(vector) for vector in placed.values()}) > 1:
        return None
    return tuple(placed[place] for place in range(count))
