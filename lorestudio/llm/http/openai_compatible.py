"""Chat completions as OpenAI defined them: OpenAI, Ollama, llama.cpp, LM Studio, vLLM, OpenRouter and many more.

A JSON schema goes as `response_format`. Servers that refuse it, the newer name of the token limit, or usage in streams
say so with a 400 that names the field (some with 422 or 500); the request is then sent once more without it, and the
reply's notes say that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.llm.http.dialect import Dialect, Habits, StreamPiece, read_usage
from lorestudio.llm.messages import ChatRequest

_VERSION = re.compile(r"v\d+\w*")
_SCHEMA = re.compile(r"response_?format|json[_ ]?schema|structured output|grammar", re.IGNORECASE)
_ENDPOINT: Final = "chat/completions"


class OpenAiCompatible(Dialect):
    """The dialect of chat completions."""

    def path(self, base: str) -> str:
        """`base` with or without `/v1`; an address that has a version in it is taken as it is."""
        if base.endswith(f"/{_ENDPOINT}"):
            return base
        versioned = any(_VERSION.fullmatch(part) or part == "deployments" for part in base.split("/"))
        return f"{base}/{_ENDPOINT}" if versioned else f"{base}/v1/{_ENDPOINT}"

    def key_header(self, key: str) -> tuple[str, str]:
        """A bearer token."""
        return "Authorization", f"Bearer {key}"

    def body(self, request: ChatRequest, model: str, max_tokens: int, habits: Habits, *, stream: bool) -> Json:
        """System text, when there is one, and user message; or the conversation."""
        body: dict[str, Json] = {
            "messages": _messages(request),
            "max_tokens" if habits.old_token_limit else "max_completion_tokens": max_tokens,
            "stream": stream,
        }
        if model:
            body["model"] = model
        if stream and habits.stream_usage:
            body["stream_options"] = {"include_usage": True}
        if request.json_schema is not None and habits.schema:
            schema: dict[str, Json] = {"name": request.schema_name, "strict": True, "schema": request.json_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.json_object and habits.schema:
            body["response_format"] = {"type": "json_object"}
        return body

    def piece(self, event: Mapping[str, Json]) -> StreamPiece:
        """The text of the first choice; the closing event with the tokens has no choices."""
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        text, finish = "", ""
        if isinstance(choice, Mapping):
            delta = choice.get("delta")
            content = delta.get("content") if isinstance(delta, Mapping) else choice.get("text")
            text = content if isinstance(content, str) else ""
            reason = choice.get("finish_reason")
            finish = reason if isinstance(reason, str) else ""
        if not isinstance(event.get("usage"), Mapping):
            return StreamPiece(text, finish=finish)
        usage = read_usage(event)
        return StreamPiece(text, usage.input, usage.output, finish)

    def learn(self, refusal: str, habits: Habits) -> Habits | None:
        """Do without what the refusal names."""
        if habits.old_token_limit and "max_completion_tokens" in refusal:
            return replace(habits, old_token_limit=False)
        if habits.stream_usage and "stream_options" in refusal:
            return replace(habits, stream_usage=False)
        if habits.schema and _SCHEMA.search(refusal):
            return replace(habits, schema=False)
        return None


def _messages(request: ChatRequest) -> list[Json]:
    """System text, messages before the question, user message and the answer's beginning; or the conversation."""
    if not request.messages:
        system = (("system", request.system),) if request.system else ()
        prefill = (("assistant", request.prefill),) if request.prefill else ()
        spoken = (*system, *request.before, ("user", request.user), *prefill)
        return [{"role": role, "content": text} for role, text in spoken]
    return [
        {"role": each.role, "content": each.text} | ({"name": each.name} if each.name else {})
        for each in request.messages
    ]
