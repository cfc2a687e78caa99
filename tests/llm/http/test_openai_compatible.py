from __future__ import annotations

import asyncio
from types import MappingProxyType
from typing import Any

import pytest

from lorestudio.domain.records import replace
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.http.apis import OpenAiCompatible
from lorestudio.llm.messages import ChatReply, ChatRequest, TokenUsage
from tests.llm.server import KEY, REQUEST, SCHEMA, Behaviour, Server, chunk, completion, events, reply


def exchange(
    *behaviours: Behaviour, request: ChatRequest = REQUEST, streamed: bool = False, **options: Any
) -> tuple[ChatReply, list[str], Server]:
    async def scenario() -> tuple[ChatReply, list[str], Server]:
        async with Server(*behaviours) as server:
            client = server.client(**options)
            if not streamed:
                return await client.complete(request), [], server
            async with client.stream(request) as stream:
                pieces = [piece async for piece in stream]
                return stream.reply, pieces, server

    return asyncio.run(asyncio.wait_for(scenario(), 10))


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/chat/completions"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1/chat/completions"),
        ("http://127.0.0.1:1234/v1/", "http://127.0.0.1:1234/v1/chat/completions"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://host.example/v1beta/openai/", "https://host.example/v1beta/openai/chat/completions"),
        ("https://host.example/v1/chat/completions", "https://host.example/v1/chat/completions"),
        (
            "https://host.example/openai/deployments/mine?api-version=2024",
            "https://host.example/openai/deployments/mine/chat/completions?api-version=2024",
        ),
    ],
)
def test_address(base: str, address: str) -> None:
    assert OpenAiCompatible().address(base) == address


def test_request_and_reply() -> None:
    answered, _, server = exchange(reply(completion('["A"]')))
    (call,) = server.calls
    assert (call.method, call.path) == ("POST", "/v1/chat/completions")
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.headers["content-type"] == "application/json"
    assert call.body == {
        "model": "small",
        "max_tokens": 64,
        "stream": False,
        "messages": [{"role": "system", "content": "Choose."}, {"role": "user", "content": "Which?"}],
    }
    assert answered.text == '["A"]'
    assert answered.value is None
    assert answered.usage == TokenUsage(11, 7)
    assert answered.finish == "stop"
    assert answered.source == "Test"
    assert answered.live
    assert not answered.repeatable
    assert answered.notes == ()
    assert '"prompt_tokens": 11' in answered.raw


def test_no_key_no_header() -> None:
    _, _, server = exchange(reply(completion("x")), key_source="none")
    assert "authorization" not in server.calls[0].headers


def test_the_profile_fills_in_and_limits() -> None:
    request = replace(REQUEST, model="", system="", max_tokens=900)
    answered, _, server = exchange(reply(completion("x")), request=request, model="own", max_tokens=100)
    body = server.calls[0].body
    assert (body["model"], body["max_tokens"]) == ("own", 100)
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert answered.source == "Test · own"


def test_no_model_anywhere_sends_none() -> None:
    _, _, server = exchange(reply(completion("x")), request=replace(REQUEST, model=""))
    assert "model" not in server.calls[0].body


def test_schema_goes_as_response_format() -> None:
    request = replace(REQUEST, json_schema=MappingProxyType(SCHEMA))
    _, _, server = exchange(reply(completion("x")), request=request)
    assert server.calls[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "lore_selection", "strict": True, "schema": SCHEMA},
    }


def test_no_schema_where_the_profile_says_so() -> None:
    request = replace(REQUEST, json_schema=SCHEMA)
    answered, _, server = exchange(reply(completion("x")), request=request, supports_schema=False)
    assert "response_format" not in server.calls[0].body
    assert "without its JSON schema" in answered.notes[0]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("status", "message"),
    [
        ("400 Bad Request", "'response_format.type' must be 'text'"),
        ("400 Bad Request", "Invalid parameter: json_schema is not supported with this model"),
        ("500 Internal Server Error", 'response_format type must be one of "text", but got: json_schema'),
    ],
)
def test_refused_schema_is_left_out_once_and_for_all(status: str, message: str, streamed: bool) -> None:
    request = replace(REQUEST, json_schema=SCHEMA)
    good = events([chunk("x", "stop"), "[DONE]"]) if streamed else reply(completion("x"))

    async def scenario() -> None:
        async with Server(reply({"error": message}, status), good) as server:
            client = server.client()
            for _ in range(2):
                if streamed:
                    async with client.stream(request) as stream:
                        assert [piece async for piece in stream] == ["x"]
                        answered = stream.reply
                else:
                    answered = await client.complete(request)
                assert answered.text == "x"
                assert "without its JSON schema" in answered.notes[0]
            assert ["response_format" in call.body for call in server.calls] == [True, False, False]

    asyncio.run(scenario())


def test_a_second_refusal_is_final() -> None:
    refusal = reply({"error": "response_format is not supported"}, "400 Bad Request")

    async def scenario() -> int:
        async with Server(refusal) as server:
            with pytest.raises(LlmError) as caught:
                await server.client().complete(replace(REQUEST, json_schema=SCHEMA))
            assert caught.value.kind is ErrorKind.UNKNOWN
            return len(server.calls)

    assert asyncio.run(scenario()) == 2


def test_newer_name_of_the_token_limit() -> None:
    refusal = {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    _, _, server = exchange(reply(refusal, "400 Bad Request"), reply(completion("x")))
    assert "max_tokens" not in server.calls[1].body
    assert server.calls[1].body["max_completion_tokens"] == 64


def test_other_refusals_are_not_tried_again() -> None:
    async def scenario() -> int:
        async with Server(reply({"error": "no"}, "400 Bad Request")) as server:
            with pytest.raises(LlmError):
                await server.client().complete(replace(REQUEST, json_schema=SCHEMA))
            return len(server.calls)

    assert asyncio.run(scenario()) == 1


def test_half_characters_are_replaced() -> None:
    _, _, server = exchange(reply(completion("x")), request=replace(REQUEST, user="a\ud83d b\ud83d\ude00 \U0001f600"))
    assert server.calls[0].body["messages"][1]["content"] == "a\ufffd b\U0001f600 \U0001f600"


def test_cut_off_reply_says_so() -> None:
    answered, _, _ = exchange(reply(completion('["A', "length")))
    assert answered.cut_off
    assert answered.notes == ("The reply was cut off at the limit of 64 tokens.",)


def test_a_filter_that_ends_the_reply_is_said() -> None:
    answered, _, _ = exchange(reply(completion("Skarn la", "content_filter")))
    assert answered.held_back
    assert answered.notes == ("The provider's filter ended the reply.",)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_refusal_is_the_text_streamed_or_not(streamed: bool) -> None:
    whole = {"choices": [{"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}]}
    pieces = [{"choices": [{"delta": {"content": None, "refusal": each}}]} for each in ("I ", "cannot.")]
    answered, _, _ = exchange(events([*pieces, chunk(None, "stop")]) if streamed else reply(whole), streamed=streamed)
    assert answered.text == "I cannot."


def test_the_key_in_a_reply_is_hidden() -> None:
    answered, _, _ = exchange(reply(completion(f"Your key is {KEY}, Bearer of the Ring.")))
    assert answered.text == "Your key is •••, Bearer of the Ring."
    assert KEY not in answered.raw


def test_stream() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    first = {"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
    behaviour = events([first, chunk('["żó'), chunk('łw"]'), chunk(None, "stop"), usage, "[DONE]"])
    answered, pieces, server = exchange(behaviour, streamed=True)
    assert pieces == ['["żó', 'łw"]']
    assert answered.text == '["żółw"]'
    assert (answered.usage, answered.finish, answered.live) == (TokenUsage(5, 2), "stop", True)
    assert answered.duration_ms > 0
    assert answered.raw.endswith("[DONE]")
    body = server.calls[0].body
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


def test_the_key_in_a_stream_is_hidden() -> None:
    answered, pieces, _ = exchange(events([chunk(f"a {KEY} b", "stop")]), streamed=True)
    assert pieces == ["a ••• b"]
    assert KEY not in answered.text + answered.raw
    halves = events([chunk(KEY[:10]), chunk(KEY[10:], "stop")])
    answered, pieces, _ = exchange(halves, streamed=True)
    assert (answered.text, pieces) == ("•••", ["•••"])
    letters = events([*(chunk(f"{char} ") for char in KEY.upper()), chunk("is it", "stop")])
    answered, pieces, _ = exchange(letters, streamed=True)
    assert answered.text == "".join(pieces) == "••• is it"


def test_what_may_be_the_beginning_of_the_key_waits_until_it_is_none() -> None:
    answered, pieces, _ = exchange(events([chunk(f"I {KEY[:4]}"), chunk("x"), chunk(KEY[:2], "stop")]), streamed=True)
    assert pieces == ["I ", f"{KEY[:4]}x", KEY[:2]]
    assert answered.text == "".join(pieces)


def test_stream_ends_with_done_alone() -> None:
    answered, pieces, _ = exchange(events([chunk("a"), "[DONE]"]), streamed=True)
    assert (answered.text, pieces) == ("a", ["a"])


def test_stream_without_closing_event() -> None:
    assert exchange(events([chunk("a"), chunk(None, "length")]), streamed=True)[0].cut_off


def test_usage_in_streams_may_be_refused() -> None:
    refusal = reply({"detail": "stream_options: extra fields not permitted"}, "422 Unprocessable Entity")
    _, pieces, server = exchange(refusal, events([chunk("a", "stop")]), streamed=True)
    assert pieces == ["a"]
    assert "stream_options" not in server.calls[1].body


def test_server_that_does_not_stream() -> None:
    answered, pieces, _ = exchange(reply(completion("whole")), streamed=True)
    assert (answered.text, pieces, answered.usage) == ("whole", ["whole"], TokenUsage(11, 7))


def test_comments_and_line_ends_in_streams() -> None:
    async def behave(call: Any) -> None:
        await call.head(content_type="text/event-stream; charset=utf-8")
        await call.send(
            ': OPENROUTER PROCESSING\r\n\r\ndata: {"choices": [{"delta":\r\ndata: {"content": "a"}}]}\r\n\r\n'
        )
        await call.send("data: [DONE]\r\n\r\n")

    assert exchange(behave, streamed=True)[1] == ["a"]


def test_a_character_split_between_packets() -> None:
    async def behave(call: Any) -> None:
        await call.head(content_type="text/event-stream")
        data = 'data: {"choices": [{"delta": {"content": "ż燈"}, "finish_reason": "stop"}]}\n\n'.encode()
        for place in range(len(data)):
            await call.send(data[place : place + 1])
            await asyncio.sleep(0)

    assert exchange(behave, streamed=True)[1] == ["ż燈"]
