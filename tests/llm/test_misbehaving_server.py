from __future__ import annotations

import asyncio
import contextlib
import gc
import gzip
import json
import logging
import socket
import sys
import time
import zlib
from collections.abc import Awaitable, Callable

import pytest

from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply
from lorestudio.llm.profiles import Api
from tests.llm.server import KEY, REQUEST, Behaviour, Call, Server, chunk, completion, events, reply

PLAIN_KEY = "zebra-crossing-quagga"
HTML = "<!DOCTYPE html><html><head><title>Sign  in &amp; go</title></head><body>Hello</body></html>"


async def never(call: Call) -> None:
    await call.until_hung_up()


async def trickle(call: Call) -> None:
    await call.head(Content_Length=10_000)
    while not call.writer.is_closing():
        await call.send(" ")
        await asyncio.sleep(0.02)


async def trickled_events(call: Call) -> None:
    await call.head(content_type="text/event-stream")
    while not call.writer.is_closing():
        await call.send('data: {"choices": [{"delta": {"content": "x"}}]}\n\n')
        await asyncio.sleep(0.02)


async def slow_head(call: Call) -> None:
    for letter in "HTTP/1.1 200 OK\r\n" + "X: y\r\n" * 1000:
        await call.send(letter)
        await asyncio.sleep(0.02)


async def truncated(call: Call) -> None:
    await call.head(Content_Length=5000)
    await call.send('{"choices": [{"message": {"content": "half a')


async def drops(call: Call) -> None:
    call.writer.transport.abort()


async def drops_quietly(call: Call) -> None:
    return


async def endless(call: Call) -> None:
    await call.head()
    with contextlib.suppress(ConnectionError):
        while True:
            await call.send(b" " * 1_000_000)


async def endless_line(call: Call) -> None:
    await call.head(content_type="text/event-stream")
    await call.send("data: ")
    with contextlib.suppress(ConnectionError):
        while True:
            await call.send(b"x" * 1_000_000)


async def no_http(call: Call) -> None:
    await call.send("220 mail.example ESMTP ready\r\n")


async def ask(server: Server, streamed: bool, api: Api = Api.OPENAI, timeout_ms: int | None = None) -> ChatReply:
    client = server.client(api, timeout_ms=timeout_ms)
    if not streamed:
        return await client.complete(REQUEST)
    async with client.stream(REQUEST) as stream:
        async for _ in stream:
            pass
        return stream.reply


def failure_of(
    behaviour: Behaviour, *, streamed: bool = False, api: Api = Api.OPENAI, timeout_ms: int | None = None
) -> LlmError:
    async def scenario() -> LlmError:
        async with Server(behaviour) as server:
            with pytest.raises(LlmError) as caught:
                await ask(server, streamed, api, timeout_ms)
            await asyncio.wait_for(server.hung_up.wait(), 2)
            return caught.value

    return asyncio.run(asyncio.wait_for(scenario(), 10))


def error(message: str, **more: object) -> dict[str, object]:
    return {"error": {"message": message, **more}}


REFUSALS: dict[str, tuple[Behaviour, ErrorKind, int | None, str]] = {
    "wrong key": (
        reply(error("Incorrect API key provided: " + KEY), "401 Unauthorized"),
        ErrorKind.AUTHENTICATION,
        401,
        "key",
    ),
    "forbidden": (reply("", "403 Forbidden"), ErrorKind.AUTHENTICATION, 403, "key"),
    "no money": (reply(error("Your balance is empty"), "402 Payment Required"), ErrorKind.QUOTA, 402, "billing"),
    "quota is 429 too": (
        reply(error("You exceeded your current quota", type="insufficient_quota"), "429 Too Many Requests"),
        ErrorKind.QUOTA,
        429,
        "billing",
    ),
    "wrong address": (reply("404 page not found", "404 Not Found", "text/plain"), ErrorKind.NOT_FOUND, 404, "/v1"),
    "unknown model": (
        reply({"error": "model 'small' not found, try pulling it first"}, "404 Not Found"),
        ErrorKind.MODEL_UNKNOWN,
        404,
        "model",
    ),
    "rate limit": (
        reply(error("Slow down"), "429 Too Many Requests", Retry_After=17),
        ErrorKind.RATE_LIMITED,
        429,
        "wait 17 s",
    ),
    "server error": (reply(error("boom"), "500 Internal Server Error"), ErrorKind.SERVER, 500, "later"),
    "gateway page": (reply(HTML, "502 Bad Gateway", "text/html"), ErrorKind.SERVER, 502, "later"),
    "gateway timeout": (reply("", "504 Gateway Timeout"), ErrorKind.TIMED_OUT, 504, "timeout"),
    "overloaded": (
        reply(
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "529 Site is overloaded"
        ),
        ErrorKind.OVERLOADED,
        529,
        "minute",
    ),
    "moved": (
        reply("", "301 Moved Permanently", Location="https://elsewhere.example/v1"),
        ErrorKind.NOT_FOUND,
        301,
        "profile",
    ),
    "refused for another reason": (
        reply(error("max_tokens is too large"), "400 Bad Request"),
        ErrorKind.UNKNOWN,
        400,
        "message",
    ),
    "no system messages": (
        reply(error("System role not supported"), "400 Bad Request"),
        ErrorKind.UNKNOWN,
        400,
        "one user message",
    ),
    "longer than the context": (
        reply(
            error(
                "This model's maximum context length is 4096 tokens. However, your messages resulted in 9123 tokens.",
                code="context_length_exceeded",
            ),
            "400 Bad Request",
        ),
        ErrorKind.UNKNOWN,
        400,
        "longer than the model's context",
    ),
    "error with status 200": (reply(error("Provider returned error", code=429)), ErrorKind.RATE_LIMITED, 429, "Wait"),
    "no such model with status 200": (reply(error("Not here", code=404)), ErrorKind.MODEL_UNKNOWN, 404, "model's name"),
    "web page": (reply(HTML, content_type="text/html; charset=utf-8"), ErrorKind.INVALID_ANSWER, None, "URL"),
    "web page in disguise": (reply(HTML), ErrorKind.INVALID_ANSWER, None, "URL"),
    "text": (reply("pong", content_type="text/plain"), ErrorKind.INVALID_ANSWER, None, "URL"),
    "picture": (reply(b"\x89PNG\r\n\x1a\n\xff\x00", content_type="image/png"), ErrorKind.INVALID_ANSWER, None, "URL"),
    "nothing": (reply(""), ErrorKind.INVALID_ANSWER, None, "URL"),
    "half a JSON": (reply('{"choices": [{"message"'), ErrorKind.INVALID_ANSWER, None, "URL"),
    "bottomless JSON": (reply("[" * 200_000), ErrorKind.INVALID_ANSWER, None, "URL"),
    "not a number": (reply('{"choices": NaN}'), ErrorKind.INVALID_ANSWER, None, "URL"),
    "no choices": (reply({"choices": [], "usage": {"prompt_tokens": 5}}), ErrorKind.INVALID_ANSWER, None, "URL"),
    "no candidates": (reply({"candidates": None}), ErrorKind.INVALID_ANSWER, None, "URL"),
    "huge": (endless, ErrorKind.INVALID_ANSWER, None, "URL"),
    "truncated": (truncated, ErrorKind.CONNECTION, None, "running"),
    "dropped": (drops, ErrorKind.CONNECTION, None, "running"),
    "closed without a word": (drops_quietly, ErrorKind.CONNECTION, None, "running"),
    "another protocol": (no_http, ErrorKind.CONNECTION, None, "running"),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case: str, streamed: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    behaviour, kind, status, advice = REFUSALS[case]
    failure = failure_of(behaviour, streamed=streamed)
    assert (failure.kind, failure.status) == (kind, status)
    assert advice in failure.advice
    assert "Test (127.0.0.1:" in failure.sentence
    assert KEY not in f"{failure} {failure!r} {failure.message} {failure.__dict__} {caplog.text}"
    assert "failed" in caplog.text
    assert failure.__cause__ is None
    assert failure.__context__ is None  # the library's error would carry the request


@pytest.mark.long
@pytest.mark.parametrize("api", list(Api))
@pytest.mark.parametrize(
    ("behaviour", "streamed"),
    [(never, False), (never, True), (trickle, False), (trickle, True), (trickled_events, True), (slow_head, False)],
)
def test_time_limit_holds(behaviour: Behaviour, streamed: bool, api: Api) -> None:
    begun = time.monotonic()
    failure = failure_of(behaviour, streamed=streamed, api=api, timeout_ms=300)
    assert 0.25 < time.monotonic() - begun < 1.5
    assert failure.kind is ErrorKind.TIMED_OUT
    assert failure.message == "Request timed out (0.3s)"
    assert "timeout" in failure.advice
    assert not failure.counts_as_failure


def test_slow_is_not_too_slow() -> None:
    async def slow(call: Call) -> None:
        await asyncio.sleep(0.2)
        await reply(completion("late"))(call)

    async def scenario() -> ChatReply:
        async with Server(slow) as server:
            return await ask(server, streamed=False)

    answered = asyncio.run(scenario())
    assert answered.text == "late"
    assert answered.duration_ms >= 190


def test_huge_reply_is_named() -> None:
    assert "larger than 8 MiB" in str(failure_of(endless))
    assert "larger than 8 MiB" in str(failure_of(endless_line, streamed=True))


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("status", ["200 OK", "500 Internal Server Error"])
def test_a_packed_reply_is_measured_as_it_comes_out(status: str, streamed: bool) -> None:
    packed = gzip.compress(b"\0" * 32 * 1024 * 1024)
    content_type = "text/event-stream" if streamed else "application/json"
    bomb = reply(packed, status, content_type, Content_Encoding="gzip")
    assert "larger than 8 MiB" in str(failure_of(bomb, streamed=streamed))


def test_what_is_packed_twice_or_in_another_way_is_named() -> None:
    twice = reply(gzip.compress(gzip.compress(b"{}")), Content_Encoding="gzip, gzip")
    assert "packed as “gzip, gzip”" in str(failure_of(twice))
    assert "damaged where it is packed" in str(failure_of(reply(b"no gzip", Content_Encoding="gzip")))


def without_head(data: bytes) -> bytes:
    """What many a server sends as deflate."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", without_head)]
)
def test_a_reply_that_is_packed_though_nobody_asked_is_read(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    async def scenario() -> ChatReply:
        packed = pack(json.dumps(completion("Dusk")).encode())
        async with Server(reply(packed, Content_Encoding=encoding)) as server:
            return await ask(server, streamed=False)

    assert asyncio.run(scenario()).text == "Dusk"


def test_web_page_is_named() -> None:
    assert 'web page (HTML) came instead of JSON: "Sign in & go"' in str(failure_of(reply(HTML)))


def test_an_empty_list_of_answers_is_named() -> None:
    """It became the reply's text, and AI selection read its brackets as "nothing chosen"."""
    assert 'holds no answer: its "choices" is empty' in str(failure_of(reply({"choices": []})))


@pytest.mark.parametrize(
    "body", ["<title" * 400_000, '"' + "\\" * 2_000_000], ids=["titles without an end", "escapes without an end"]
)
def test_a_page_made_to_be_searched_for_ever_is_not(body: str) -> None:
    """Each title that begins, and each backslash before what may be a letter of the key, was followed to the end."""
    assert failure_of(reply(body, content_type="text/html")).kind is ErrorKind.INVALID_ANSWER


@pytest.mark.parametrize(
    "behaviour",
    [
        reply("", f"403 {PLAIN_KEY}"),
        reply("", "302 Found", Location=f"https://elsewhere.example/{PLAIN_KEY}"),
        reply("", Content_Encoding=PLAIN_KEY),
    ],
    ids=["reason", "redirect", "packing"],
)
def test_a_key_that_looks_like_none_is_hidden_in_what_stands_before_a_reply(
    behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.llm.server.KEY", PLAIN_KEY)
    failure = failure_of(behaviour)
    assert PLAIN_KEY not in f"{failure}{failure!r}"
    assert "•••" in failure.message


def test_a_redirect_that_leads_nowhere_is_no_redirect() -> None:
    assert "moved" not in failure_of(reply("", "304 Not Modified")).message


def test_redirect_names_the_target() -> None:
    failure = failure_of(reply("", "308 Permanent Redirect", Location="https://elsewhere.example/v1"))
    assert "https://elsewhere.example/v1" in failure.message


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused at once
        port = taken.getsockname()[1]

        async def scenario() -> LlmError:
            server = Server(never)
            server.port = port
            with pytest.raises(LlmError) as caught:
                await ask(server, streamed=False)
            return caught.value

        failure = asyncio.run(scenario())
    assert failure.kind is ErrorKind.CONNECTION
    assert failure.counts_as_failure
    assert "service is running" in failure.advice
    assert failure.__context__ is None


BROKEN_STREAMS: dict[str, tuple[Behaviour, ErrorKind]] = {
    "cut in the middle": (events([chunk("One"), chunk(" two")]), ErrorKind.CONNECTION),
    "no event at all": (events([]), ErrorKind.CONNECTION),
    "half an event": (events([chunk("One"), '{"choices": [{"del']), ErrorKind.INVALID_ANSWER),
    "no object": (events(["[1, 2]"]), ErrorKind.INVALID_ANSWER),
    "error inside": (events([chunk("One"), error("Overloaded", type="overloaded_error")]), ErrorKind.OVERLOADED),
    "endless line": (endless_line, ErrorKind.INVALID_ANSWER),
}


@pytest.mark.parametrize("case", BROKEN_STREAMS)
def test_broken_streams(case: str) -> None:
    behaviour, kind = BROKEN_STREAMS[case]
    failure = failure_of(behaviour, streamed=True)
    assert failure.kind is kind
    assert failure.__context__ is None


def test_broken_stream_says_how_far_it_came() -> None:
    failure = failure_of(events([chunk("One"), chunk(" two")]), streamed=True)
    assert "after 7 characters" in failure.message


async def chunked_and_cut(call: Call) -> None:
    await call.head(content_type="text/event-stream", Transfer_Encoding="chunked")
    data = b'data: {"choices": [{"delta": {"content": "One"}}]}\n\n'
    await call.send(f"{len(data):x}\r\n".encode() + data + b"\r\n40\r\nhalf a chunk")


def test_chunked_stream_cut() -> None:
    failure = failure_of(chunked_and_cut, streamed=True)
    assert failure.kind is ErrorKind.CONNECTION
    assert "broke off after 3 characters" in failure.message
    assert "Try again" in failure.advice  # the server runs, and the URL is right


def test_anthropic_stream_errors() -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    started = {"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}}
    failure = failure_of(events([started, overloaded], named=True), streamed=True, api=Api.ANTHROPIC)
    assert failure.kind is ErrorKind.OVERLOADED
    assert failure_of(events([started]), streamed=True, api=Api.ANTHROPIC).kind is ErrorKind.CONNECTION


Cancelling = Callable[[Server], Awaitable[object]]


@pytest.mark.parametrize("api", list(Api))
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("behaviour", [never, trickle, trickled_events])
def test_cancelling_closes_the_connection(behaviour: Behaviour, streamed: bool, api: Api) -> None:
    async def scenario() -> float:
        async with Server(behaviour) as server:
            task = asyncio.create_task(ask(server, streamed, api))
            await asyncio.wait_for(server.asked.wait(), 2)
            await asyncio.sleep(0.05)
            begun = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(server.hung_up.wait(), 2)
            return time.monotonic() - begun

    assert asyncio.run(scenario()) < 0.5


def test_leaving_a_stream_closes_the_connection() -> None:
    async def scenario() -> list[str]:
        pieces = []
        async with Server(trickled_events) as server:
            async with server.client().stream(REQUEST) as stream:
                async for piece in stream:
                    pieces.append(piece)
                    if len(pieces) == 3:
                        break
                with pytest.raises(ValueError, match="not arrived in full"):
                    _ = stream.reply
            await asyncio.wait_for(server.hung_up.wait(), 2)
        return pieces

    assert asyncio.run(scenario()) == ["x", "x", "x"]


@pytest.mark.parametrize("ends", ["done", "error", "left"])
def test_a_stream_that_is_not_read_to_its_end_leaves_nothing_behind(ends: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left suspended is closed by the collector, which cannot wait: it complains on the error stream."""
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: complaints.append(what.exc_value))

    async def sent(call: Call) -> None:
        await call.head(content_type="text/event-stream")
        end = "data: [DONE]" if ends == "done" else 'data: {"error": {"message": "Overloaded"}}'
        await call.send(
            f'data: {{"choices": [{{"delta": {{"content": "x"}}}}]}}\n\n{end if ends != "left" else ""}\n\n'
        )
        await call.until_hung_up()

    async def scenario() -> None:
        sys.set_asyncgen_hooks(None, None)  # the window's loop has none
        async with Server(sent) as server:
            with contextlib.suppress(LlmError):
                async with server.client().stream(REQUEST) as stream:
                    async for _ in stream:
                        if ends == "left":
                            break
            gc.collect()
            await asyncio.wait_for(server.hung_up.wait(), 5)

    asyncio.run(asyncio.wait_for(scenario(), 10))
    gc.collect()
    assert complaints == []


def test_connection_is_closed_after_an_answer() -> None:
    async def scenario() -> None:
        async with Server(reply(completion("ok"))) as server:
            await ask(server, streamed=False)
            await asyncio.wait_for(server.hung_up.wait(), 2)

    asyncio.run(scenario())


def test_tls_with_a_server_that_has_none() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP ready\r\n")
        await reader.read()
        writer.close()

    async def scenario() -> LlmError:
        plain = await asyncio.start_server(greet, "127.0.0.1", 0)
        async with plain:
            server = Server(never)
            client = server.client(url=f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}")
            with pytest.raises(LlmError) as caught:
                await client.complete(REQUEST)
            return caught.value

    failure = asyncio.run(scenario())
    assert failure.kind is ErrorKind.CONNECTION
    assert failure.__context__ is None


def test_local_servers_are_not_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")

    async def scenario() -> str:
        async with Server(reply(completion("direct"))) as server:
            return (await ask(server, streamed=False)).text

    assert asyncio.run(scenario()) == "direct"


def test_answers_in_parallel() -> None:
    async def scenario() -> list[str]:
        async with Server(reply(completion("ok"))) as server:
            client = server.client()
            replies = await asyncio.gather(*(client.complete(REQUEST) for _ in range(20)))
            assert len(server.calls) == 20
            return [answer.text for answer in replies]

    assert asyncio.run(scenario()) == ["ok"] * 20
