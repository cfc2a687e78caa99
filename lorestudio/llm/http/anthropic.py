"""Anthropic's Messages API, also as local proxies speak it (rules: deeplore-tools 1.3.2).

A JSON schema goes as the input of a tool that the model has to use, which every model with tools supports; the tool's
input is then the reply's value. Where the server refuses that (a 400 that names tools), the request is sent once more
with the prompt alone, and the reply's notes say that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.llm.http.dialect import Dialect, Habits, StreamPiece, read_usage
from lorestudio.llm.messages import ChatRequest

API_VERSION: Final = "2023-06-01"

BEGINNING: Final = "[The story begins.]"
"""What the user says where a conversation begins with the assistant."""

_CACHED: Final = {"type": "ephemeral"}
_ENDPOINT: Final = "messages"
_TOOLS = re.compile(r"\btool|input_schema", re.IGNORECASE)


class AnthropicMessages(Dialect):
    """The dialect of the Messages API."""

    def path(self, base: str) -> str:
        """`base` with or without `/v1`."""
        if base.endswith(f"/v1/{_ENDPOINT}"):
            return base
        return f"{base}/{_ENDPOINT}" if base.endswith("/v1") else f"{base}/v1/{_ENDPOINT}"

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
