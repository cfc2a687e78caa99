"""Replies that no provider should send end as errors of the provider, in every dialect, streamed or not."""

from __future__ import annotations

import asyncio
import tracemalloc

import httpx
import pytest

from lorestudio.domain import json_text
from lorestudio.domain.javascript import trim_end
from lorestudio.domain.json_text import json_or_none, values_in
from lorestudio.llm.errors import LlmError
from lorestudio.llm.http.client import client_for
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.profiles import Api, Profile
from lorestudio.systems.facts import extraction
from lorestudio.systems.recap.asking import answer_value

BODIES = {
    "infinite": "1e999",
    "infinite inside": '{"a": [1e999]}',
    "infinite error": '{"error": {"message": {"a": 1e999}, "code": 1e999}}',
    "infinite tool": '{"content": [{"type": "tool_use", "input": {"a": 1e999}}]}',
    "infinite content": '{"choices": [{"message": {"content": 1e999}}], "usage": {"prompt_tokens": 1e999}}',
    "long number": '{"content": ' + "9" * 5000 + "}",
    "deep error": '{"error":' * 980 + '"x"' + "}" * 980,
    "deep list": "[" * 985 + "]" * 985,
    "bottomless": '{"a":' * 200_000 + "1" + "}" * 200_000,
    "wrong types": '{"choices": [[], 1, null, {"message": [{"content": 1}], "finish_reason": {}}], "usage": []}',
    "wrong parts": '{"candidates": [{"content": {"parts": [1, {"text": 3, "thought": []}]}}]}',
    "wrong blocks": '{"type": ["error"], "content": [{"type": {}, "text": []}], "usage": {"input_tokens": "x"}}',
    "wrong error": '{"error": {"code": {}, "status": [], "message": null}}',
}


@pytest.mark.parametrize("api", Api)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_hostile_body_is_a_reply_or_an_error_of_the_provider(api: Api, body: str) -> None:
    async def asked(status: int, kind: str) -> ChatReply:
        def answered(_: httpx.Request) -> httpx.Response:
            text = f"data: {body}\n\ndata: [DONE]\n\n" if kind == "text/event-stream" else body
            return httpx.Response(status, text=text, headers={"content-type": kind, "retry-after": "9" * 50})

        profile = Profile("Test", api, "http://localhost:1/v1", "model")
        client = client_for(profile, transport=httpx.MockTransport(answered))
        request = ChatRequest("ai_search", "system", "user")
        if kind == "application/json" and status != 400:
            return await client.complete(request)
        async with client.stream(request) as stream:
            async for _ in stream:
                pass
        return stream.reply

    for status, kind in ((200, "application/json"), (200, "text/event-stream"), (400, "application/json")):
        try:
            reply = asyncio.run(asked(status, kind))
        except LlmError as error:
            assert len(str(error)) < 10_000  # noqa: PT017
        else:
            assert isinstance(reply.text, str)


@pytest.mark.parametrize("charset", ["utf-16", "utf-7", "idna", "latin-1", "nope"])
def test_a_stream_is_utf_8_whatever_its_head_says(charset: str) -> None:
    async def asked() -> str:
        text = 'data: {"choices": [{"delta": {"content": "+AOk- été"}}]}\n\ndata: [DONE]\n\n'
        head = {"content-type": f"text/event-stream; charset={charset}"}
        answered = httpx.MockTransport(lambda _: httpx.Response(200, content=text.encode(), headers=head))
        client = client_for(Profile("Test", Api.OPENAI, "http://localhost:1/v1", "model"), transport=answered)
        async with client.stream(ChatRequest("ai_search", "system", "user")) as stream:
            return "".join([piece async for piece in stream])

    assert asyncio.run(asked()) == "+AOk- été"


@pytest.mark.long
def test_what_is_nested_without_end_is_given_up() -> None:
    nested = '{"a":' * 200_000 + "x" + "}" * 200_000  # 1.2 MB; each of 200,000 pieces was tried, which took minutes
    assert list(values_in(nested)) == []


def test_a_number_of_any_length_is_read_in_a_reply() -> None:
    assert next(values_in('{"a": ' + "9" * 4301 + "}")) == {"a": float("inf")}


def test_brackets_that_never_close_take_no_memory() -> None:
    text = '[{"a' * 500_000
    tracemalloc.start()
    try:
        assert list(values_in(text)) == []
        assert tracemalloc.get_traced_memory()[1] < 8 * len(text)  # 32 for each of its characters
    finally:
        tracemalloc.stop()


def test_where_a_reply_is_nested_too_deeply_is_not_looked_for_as_nobody_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []
    monkeypatch.setattr(json_text, "_deepest", lambda text: looked.append(text) or 0)
    nested = "[" * 5000
    assert json_or_none(nested) is None
    with pytest.raises(ValueError, match="no JSON"):
        answer_value(nested)
    with pytest.raises(ValueError, match="no JSON"):
        extraction.read_reply(nested, strict=True)
    assert looked == []


def test_fences_that_hold_text_are_passed_over_without_reading_all_before_them_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trimmed: list[int] = []

    def counted(text: str) -> str:
        trimmed.append(len(text))
        return trim_end(text)

    monkeypatch.setattr(json_text, "trim_end", counted)
    text = "x ```json\n" * 500
    assert list(values_in(text)) == []
    assert sum(trimmed) < 2 * len(text)
