"""The two APIs that providers speak: Anthropic's Messages, and chat completions as OpenAI defined them.

Local proxies speak Anthropic's, too (rules: deeplore-tools 1.3.2). To it, a JSON schema goes as the input of a tool
that the model has to use, which every model with tools supports; the tool's input is then the reply's value. Where the
server refuses that (a 400 that names tools), the request is sent once more with the prompt alone, and the reply's notes
say that.

Ollama, llama.cpp, LM Studio, vLLM, OpenRouter and many more speak OpenAI's. To it, a JSON schema goes as
`response_format`. Servers that refuse it, the newer name of the token limit, or usage in streams say so with a 400 that
names the field (some with 422 or 500); the request is then sent once more without it, and the reply's notes say that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import text_in
from lorestudio.domain.records import replace
from lorestudio.llm.http.dialect import Dialect, Habits, StreamPiece, read_usage
from lorestudio.llm.messages import ChatRequest

API_VERSION: Final = "2023-06-01"

BEGINNING: Final = "[The story begins.]"
"""What the user says where a conversation begins with the assistant."""

_CACHED: Final = {"type": "ephemeral"}
_MESSAGES: Final = "messages"
_TOOLS = re.compile(r"\btool|input_schema", re.IGNORECASE)


class AnthropicMessages(Dialect):
    """The dialect of the Messages API."""

    def path(self, base: str) -> str:
        """`base` with or without `/v1`."""
        if base.endswith(f"/v1/{_MESSAGES}"):
            return base
        return f"{base}/{_MESSAGES}" if base.endswith("/v1") else f"{base}/v1/{_MESSAGES}"

    def key_header(self, key: str) -> tuple[str, str]:
        """Anthropic's own header; a proxy that adds the key itself is given none."""
        return "x-api-key", key

    def headers(self) -> Mapping[str, str]:
        """The version of the API."""
        return {"anthropic-version": API_VERSION}

    def body(self, request: ChatRequest, model: str, max_tokens: int, habits: Habits, *, stream: bool) -> Json:
        """System block and messages; the stable part of the user's message is a block of its own, for the cache.

        The beginning of an answer may not end in a blank, and goes only where the answer is text.
        """
        system, messages = _conversation(request)
        begun = request.prefill.rstrip() if request.json_schema is None or not habits.schema else ""
        if begun:
            messages.append({"role": "assistant", "content": begun})
        body: dict[str, Json] = {"model": model, "max_tokens": max_tokens, "messages": messages}
        if system.strip():
            body["system"] = [{"type": "text", "text": system, "cache_control": _CACHED}]
        if stream:
            body["stream"] = True
        if request.json_schema is not None and habits.schema:
            name = request.schema_name
            body["tools"] = [
                {"name": name, "description": "Hands over the answer.", "input_schema": request.json_schema}
            ]
            body["tool_choice"] = {"type": "tool", "name": name}
        return body

    def piece(self, event: Mapping[str, Json]) -> StreamPiece:
        """Text or a fragment of the tool's input, the counts at both ends, and the closing event."""
        match event:
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": str(text)}}:
                return StreamPiece(text)
            case {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": str(text)}}:
                return StreamPiece(text)
            case {"type": "message_start", "message": {"usage": counts}}:
                usage = read_usage({"usage": counts})
                return StreamPiece(input_tokens=usage.input, output_tokens=usage.output)
            case {"type": "message_delta"}:
                delta = event.get("delta")
                reason = delta.get("stop_reason") if isinstance(delta, Mapping) else None
                output = read_usage(event).output if "usage" in event else None
                return StreamPiece(output_tokens=output, finish=reason if isinstance(reason, str) else "")
            case {"type": "message_stop"}:
                return StreamPiece(last=True)
        return StreamPiece()

    def learn(self, refusal: str, habits: Habits) -> Habits | None:
        """Do without the tool when the refusal speaks of tools."""
        return replace(habits, schema=False) if habits.schema and _TOOLS.search(refusal) else None


def _conversation(request: ChatRequest) -> tuple[str, list[Json]]:
    """The system text and the messages in turns.

    The API knows no system messages between others and wants user and assistant in turns, beginning with the user: the
    system messages at the beginning become the system text, later ones the user's, and neighbours of one role are one
    message. Named speakers keep their name in the text.
    """
    if not request.messages:
        before: list[Json] = [
            {"role": "assistant" if role == "assistant" else "user", "content": text} for role, text in request.before
        ]
        return request.system, [*before, {"role": "user", "content": _content(request)}]
    rest = list(request.messages)
    system: list[str] = []
    while rest and rest[0].role == "system":
        first = rest.pop(0)
        system.append(f"{first.name}: {first.text}" if first.name else first.text)
    turns: list[tuple[str, list[str]]] = []
    for each in rest:
        role = "assistant" if each.role == "assistant" else "user"
        text = f"{each.name}: {each.text}" if each.name else each.text
        if turns and turns[-1][0] == role:
            turns[-1][1].append(text)
        else:
            turns.append((role, [text]))
    if not turns or turns[0][0] == "assistant":
        turns.insert(0, ("user", [BEGINNING]))
    # A text of the assistant's may not end in white space where it comes last.
    spoken: list[Json] = [{"role": role, "content": "\n\n".join(texts).rstrip()} for role, texts in turns]
    return "\n\n".join(system), spoken


def _content(request: ChatRequest) -> Json:
    """The user message as text, or as two blocks where a stable prefix is given; empty blocks are not allowed."""
    prefix, rest = request.user[: request.stable_prefix], request.user[request.stable_prefix :]
    if not prefix.strip() or not rest.strip():
        return request.user
    return [{"type": "text", "text": prefix, "cache_control": _CACHED}, {"type": "text", "text": rest}]


_VERSION = re.compile(r"v\d+\w*")
_SCHEMA = re.compile(r"response_?format|json[_ ]?schema|structured output|grammar", re.IGNORECASE)
_COMPLETIONS: Final = "chat/completions"


class OpenAiCompatible(Dialect):
    """The dialect of chat completions."""

    def path(self, base: str) -> str:
        """`base` with or without `/v1`; an address that has a version in it is taken as it is."""
        if base.endswith(f"/{_COMPLETIONS}"):
            return base
        versioned = any(_VERSION.fullmatch(part) or part == "deployments" for part in base.split("/"))
        return f"{base}/{_COMPLETIONS}" if versioned else f"{base}/v1/{_COMPLETIONS}"

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
        """The text of the first choice, also where it refuses; the closing event with the tokens has no choices."""
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        text, finish = "", ""
        if isinstance(choice, Mapping):
            delta = choice.get("delta")
            content = delta.get("content") or delta.get("refusal") if isinstance(delta, Mapping) else choice.get("text")
            text = content if isinstance(content, str) else ""
            finish = text_in(choice.get("finish_reason"))
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
