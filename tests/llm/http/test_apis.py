from __future__ import annotations

import pytest

from lorestudio.domain.records import replace
from lorestudio.llm.http.apis import AnthropicMessages
from lorestudio.llm.messages import TokenUsage
from lorestudio.llm.profiles import Api
from tests.llm.http.test_openai_compatible import exchange
from tests.llm.server import KEY, REQUEST, SCHEMA, events, reply

MESSAGE = {
    "type": "message",
    "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": '["A"]'}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 21, "output_tokens": 4},
}


@pytest.mark.parametrize("base", ["http://127.0.0.1:42069", "http://127.0.0.1:42069/", "http://127.0.0.1:42069/v1"])
def test_address(base: str) -> None:
    assert AnthropicMessages().address(base) == "http://127.0.0.1:42069/v1/messages"


def test_request_and_reply() -> None:
    answered, _, server = exchange(reply(MESSAGE), api=Api.ANTHROPIC)
    (call,) = server.calls
    assert (call.method, call.path) == ("POST", "/v1/messages")
    assert call.headers["anthropic-version"] == "2023-06-01"
    assert call.headers["x-api-key"] == KEY
    assert "authorization" not in call.headers
    assert call.body == {
        "model": "small",
        "max_tokens": 64,
        "system": [{"type": "text", "text": "Choose.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "Which?"}],
    }
    assert (answered.text, answered.usage, answered.finish) == ('["A"]', TokenUsage(21, 4), "end_turn")


def test_proxy_without_a_key() -> None:
    _, _, server = exchange(reply(MESSAGE), api=Api.ANTHROPIC, key_source="none")
    assert "x-api-key" not in server.calls[0].headers


def test_stable_prefix_is_a_block_of_its_own() -> None:
    request = replace(REQUEST, user="catalogue\n\ntranscript", stable_prefix=len("catalogue\n\n"))
    _, _, server = exchange(reply(MESSAGE), request=request, api=Api.ANTHROPIC)
    assert server.calls[0].body["messages"][0]["content"] == [
        {"type": "text", "text": "catalogue\n\n", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "transcript"},
    ]


@pytest.mark.parametrize("prefix", [0, 3, 100])
def test_no_empty_blocks(prefix: int) -> None:
    request = replace(REQUEST, system=" \n", user="   rest", stable_prefix=prefix)
    _, _, server = exchange(reply(MESSAGE), request=request, api=Api.ANTHROPIC)
    assert server.calls[0].body["messages"][0]["content"] == "   rest"
    assert "system" not in server.calls[0].body


def test_schema_goes_as_a_tool_and_comes_back_as_a_value() -> None:
    used = {**MESSAGE, "content": [{"type": "tool_use", "name": "lore_selection", "input": {"selected": ["ż"]}}]}
    answered, _, server = exchange(reply(used), request=replace(REQUEST, json_schema=SCHEMA), api=Api.ANTHROPIC)
    body = server.calls[0].body
    assert body["tools"][0]["input_schema"] == SCHEMA
    assert body["tool_choice"] == {"type": "tool", "name": "lore_selection"}
    assert answered.value == {"selected": ["ż"]}
    assert answered.content == {"selected": ["ż"]}
    assert answered.text == '{"selected":["ż"]}'


def test_refused_tool_is_left_out() -> None:
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": "tool_choice is not supported"}}
    request = replace(REQUEST, json_schema=SCHEMA)
    answered, _, server = exchange(
        reply(refusal, "400 Bad Request"), reply(MESSAGE), request=request, api=Api.ANTHROPIC
    )
    assert ["tools" in call.body for call in server.calls] == [True, False]
    assert answered.text == '["A"]'
    assert "without its JSON schema" in answered.notes[0]


def delta(kind: str, name: str, text: str) -> dict[str, object]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, name: text}}


START = {"type": "message_start", "message": {"usage": {"input_tokens": 21, "output_tokens": 1}}}
END = [
    {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]


def test_stream() -> None:
    sent = [
        START, {"type": "ping"}, delta("thinking_delta", "thinking", "Hm."), delta("text_delta", "text", '["'),
        delta("text_delta", "text", 'A"]'), {"type": "content_block_stop", "index": 0}, *END,
    ]  # fmt: skip
    answered, pieces, server = exchange(events(sent, named=True), streamed=True, api=Api.ANTHROPIC)
    assert pieces == ['["', 'A"]']
    assert (answered.text, answered.usage) == ('["A"]', TokenUsage(21, 9))
    assert answered.cut_off
    assert server.calls[0].body["stream"] is True


def test_streamed_tool() -> None:
    sent = [START, *(delta("input_json_delta", "partial_json", part) for part in ("", '{"selec', 'ted":[]}')), *END]
    answered, pieces, _ = exchange(events(sent, named=True), streamed=True, api=Api.ANTHROPIC)
    assert pieces == ['{"selec', 'ted":[]}']
    assert answered.text == '{"selected":[]}'
