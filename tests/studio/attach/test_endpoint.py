"""Bytes go through as they came, streams are not held up, whoever leaves is followed, and nobody else gets in."""

from __future__ import annotations

import asyncio
import errno
import gc
import gzip
import json
import logging
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.studio.attach.endpoint import Endpoint, new_token, provider_address
from lorestudio.studio.attach.exchange import Exchange, ExchangeEnd
from tests.examples import examples
from tests.studio.attach.loopback import Answer, Provider, ask, provider, whole

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in gzip.decompress(Path(__file__).with_name("requests.jsonl.gz").read_bytes()).splitlines()
]
"""What a real SillyTavern 1.18 sent, a row a request; `method` is None where nothing came."""

KEY = "sk-lantern-0123456789abcdef"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@contextmanager
def between(answer: Answer, base: str = "") -> Iterator[tuple[Provider, Endpoint, list[Exchange]]]:
    kept: list[Exchange] = []
    with provider(answer) as made:
        endpoint = Endpoint(f"http://127.0.0.1:{made.port}{base}", new_token(), keep=kept.append)
        endpoint.start()
        try:
            yield made, endpoint, kept
        finally:
            endpoint.stop()


def request(
    endpoint: Endpoint, target: str = "/chat/completions", body: bytes = b"{}", method: str = "POST", **more: str
) -> bytes:
    host = more.pop("host", f"127.0.0.1:{endpoint.port}")
    head = [f"{method} /{more.pop('token', endpoint.token)}{target} HTTP/1.1", f"Host: {host}"]
    head += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    return "\r\n".join((*head, f"content-length: {len(body)}", "", "")).encode() + body


def fields(head: bytes) -> list[bytes]:
    """The header fields but those of this one connection, in order."""
    hop = (b"host:", b"connection:", b"content-length:")
    return [line for line in head.split(b"\r\n")[1:] if line and not line.lower().startswith(hop)]


def test_what_sillytavern_sends_reaches_the_provider_byte_for_byte() -> None:
    reply = '{"choices":[{"message":{"content":"„Dusk“ — 🐉"}}]}'.encode()
    with between(whole(reply, "200 Fine Here", "X-Own: yes")) as (made, endpoint, kept):
        rows = [
            row
            for row in ROWS
            if row["method"] and "‹" not in row["target"] and "/completions/chat" not in row["target"]
        ]
        assert len(rows) == 100
        for row in rows:
            body = (row["body"] or "").encode()
            sent = [(name, value) for name, value in row["headers"] if name not in ("Host", "content-length")]
            head = "".join(f"{name}: {value}\r\n" for name, value in sent)
            where = f"{row['method']} /{endpoint.token}{row['target']} HTTP/1.1\r\nHost: localhost:{endpoint.port}\r\n"
            raw = f"{where}{head}content-length: {len(body)}\r\n\r\n".encode()
            client, got = ask(endpoint.port, raw + body)
            client.close()
            target = row["target"].replace("//", "/").encode()
            assert made.heads[-1].startswith(row["method"].encode() + b" " + target + b" HTTP/1.1\r\n")
            assert fields(made.heads[-1]) == fields(raw.partition(b"\r\n\r\n")[0])
            assert made.bodies[-1] == body
            answered, _, answer = got.partition(b"\r\n\r\n")
            assert answered.startswith(b"HTTP/1.1 200 Fine Here\r\n")
            assert b"X-Own: yes" in answered
            assert answer == reply
    assert sum(each.generates for each in kept) == 68
    assert all(each.answer == reply for each in kept)


def test_the_first_byte_of_a_stream_does_not_wait_for_the_second() -> None:
    async def answer(writer: asyncio.StreamWriter, _ended: asyncio.Event) -> None:
        writer.write(STREAM + chunk(b'data: {"a":1}\n\n'))
        await writer.drain()
        await asyncio.to_thread(made.go_on.wait, 60)
        writer.write(chunk(b": keep \xe2\x80") + chunk(b"\x94\r\n\r\n") + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")
        await writer.drain()

    with between(answer) as (made, endpoint, kept):
        client, got = ask(endpoint.port, request(endpoint), until=b'{"a":1}')
        assert b"[DONE]" not in got
        made.go_on.set()
        while piece := client.recv(65536):
            got += piece
        client.close()
        assert got.endswith(b"0\r\n\r\n")
    assert kept[0].answer == b'data: {"a":1}\n\n: keep \xe2\x80\x94\r\n\r\ndata: [DONE]\n\n'
    assert kept[0].ending is ExchangeEnd.COMPLETE


@pytest.mark.parametrize("begun", [False, True])
def test_a_client_that_hangs_up_ends_what_was_asked(begun: bool) -> None:
    async def answer(writer: asyncio.StreamWriter, ended: asyncio.Event) -> None:
        if begun:
            writer.write(STREAM + chunk(b"data: 1\n\n"))
            await writer.drain()
        await ended.wait()

    with between(answer) as (made, endpoint, kept):
        client = socket.create_connection(("127.0.0.1", endpoint.port), timeout=60)
        client.sendall(request(endpoint))
        assert made.came.wait(60)
        if begun:
            client.recv(65536)
        client.close()
        assert made.gone.wait(60)
    assert [each.ending for each in kept] == [ExchangeEnd.CLIENT_LEFT]
    assert made.left == 1


def test_a_provider_that_dies_is_told_as_what_it_is() -> None:
    async def cut(writer: asyncio.StreamWriter, _ended: asyncio.Event) -> None:
        writer.write(STREAM + chunk(b"data: half\n\n"))
        await writer.drain()

    with between(cut) as (_made, endpoint, kept):
        client, got = ask(endpoint.port, request(endpoint))
        client.close()
        assert b"data: half" in got
        assert not got.endswith(b"0\r\n\r\n")  # a cut stays a cut
    assert [each.ending for each in kept] == [ExchangeEnd.CUT]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    endpoint = Endpoint(f"http://127.0.0.1:{port}", new_token(), keep=kept.append)
    endpoint.start()
    client, got = ask(endpoint.port, request(endpoint, authorization=f"Bearer {KEY}"))
    client.close()
    endpoint.stop()
    assert got.startswith(b"HTTP/1.1 502 lorestudio: the provider at ")
    assert KEY.encode() not in got
    assert kept[-1].ending is ExchangeEnd.UNREACHABLE


def test_an_answer_that_says_its_length_in_two_ways_goes_through() -> None:
    """The chunks count then (RFC 9112, 6.3); a length that goes on beside them would cut the answer off."""
    head = STREAM.replace(b"OK", b"OK\r\nContent-Length: 3", 1)

    async def answer(writer: asyncio.StreamWriter, _ended: asyncio.Event) -> None:
        writer.write(head + chunk(b"It rings.") + b"0\r\n\r\n")
        await writer.drain()

    with between(answer) as (_made, endpoint, kept):
        client, got = ask(endpoint.port, request(endpoint))
        client.close()
        assert got.endswith(chunk(b"It rings.") + b"0\r\n\r\n")
        assert b"content-length" not in got.lower()
    assert [each.ending for each in kept] == [ExchangeEnd.COMPLETE]


def test_a_clock_that_is_set_back_makes_no_answer_end_before_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(4_000_000_000_000, 0, -3_600_000))
    monkeypatch.setattr("lorestudio.studio.attach.endpoint.epoch_ms", lambda: next(times))
    with between(whole(b"It rings.")) as (_made, endpoint, kept):
        client, _got = ask(endpoint.port, request(endpoint))
        client.close()
    (seen,) = kept
    assert seen.first_byte_ms is not None
    assert seen.started_ms <= seen.first_byte_ms <= seen.finished_ms < seen.started_ms + 60_000


def test_a_refusal_of_a_head_request_has_no_body(caplog: pytest.LogCaptureFixture) -> None:
    async def leave(_writer: asyncio.StreamWriter, _ended: asyncio.Event) -> None:
        pass

    with between(leave) as (_made, endpoint, kept):
        client, got = ask(endpoint.port, request(endpoint, "/v1/models", b"", "HEAD"))
        client.close()
        assert got.startswith(b"HTTP/1.1 502 ")
        assert got.endswith(b"\r\n\r\n")
    gc.collect()  # what a connection raised is said once it is forgotten
    assert [each.ending for each in kept] == [ExchangeEnd.UNREACHABLE]
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


@pytest.mark.parametrize(
    ("status", "more"),
    [
        (421, {"host": "evil.example"}),
        (421, {"host": "127.0.0.1"}),
        (403, {"origin": "http://127.0.0.1:8000"}),
        (403, {"sec_fetch_site": "cross-site"}),
        (403, {"method": "OPTIONS"}),
        (404, {"token": "x"}),
        (404, {"target": ""}),
        (404, {"target": "/v1/chat/completions/chat/completions"}),
        (413, {"body": b"x" * 70_000}),
        (400, {"transfer_encoding": "chunked", "body": b"0\r\n\r\n"}),  # its length is told as well
    ],
)
def test_nobody_else_gets_in(status: int, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorestudio.studio.attach.endpoint.MAX_REQUEST", 65536)
    with between(whole(b"secret")) as (made, endpoint, kept):
        client, got = ask(endpoint.port, request(endpoint, **more))
        client.close()
        assert got.startswith(b"HTTP/1.1 %d " % status)
        assert b"access-control" not in got.lower()
    assert not made.heads
    assert not kept


def test_the_second_address_leads_to_the_same_provider() -> None:
    with between(whole(b"{}"), base="/api/v1") as (made, endpoint, kept):
        assert endpoint.address.endswith(f"{endpoint.token}/v1")
        assert endpoint.auxiliary.endswith(f"{endpoint.token}/aux/v1")
        for target in ("/v1/chat/completions", "/aux/v1//chat/completions"):
            ask(endpoint.port, request(endpoint, target))[0].close()
    assert [head.partition(b" HTTP")[0] for head in made.heads] == [b"POST /api/v1/chat/completions"] * 2
    assert [(each.auxiliary, each.path) for each in kept] == [
        (False, "/v1/chat/completions"),
        (True, "/v1/chat/completions"),
    ]


@pytest.mark.long
def test_fifty_at_once_and_many_after_another_lose_nothing() -> None:
    """One after another: 1,000 in the long mode."""
    many = examples(1000)

    async def answer(writer: asyncio.StreamWriter, ended: asyncio.Event) -> None:
        await whole(b'{"n":%d}' % len(made.bodies))(writer, ended)

    def one(number: int) -> bytes:
        client, got = ask(endpoint.port, request(endpoint, body=b'{"q":%d}' % number))
        client.close()
        return got

    with between(answer) as (made, endpoint, kept):
        with ThreadPoolExecutor(50) as pool:
            got = [*pool.map(one, range(50)), *map(one, range(50, many))]
        assert all(each.startswith(b"HTTP/1.1 200") for each in got)
    assert {each.body for each in kept} == {b'{"q":%d}' % number for number in range(many)}
    assert endpoint.dropped == 0


def test_a_burst_waits_its_turn_and_only_what_is_beyond_the_queue_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorestudio.studio.attach.endpoint.MAX_QUEUED", 16)
    full = threading.Event()

    async def answer(writer: asyncio.StreamWriter, ended: asyncio.Event) -> None:
        if len(made.bodies) == 64:
            full.set()
        await asyncio.to_thread(made.go_on.wait, 60)
        await whole(b"{}")(writer, ended)

    with between(answer) as (made, endpoint, kept), ExitStack() as clients:
        burst = [
            clients.enter_context(socket.create_connection(("127.0.0.1", endpoint.port), timeout=60)) for _ in range(80)
        ]
        for client in burst:
            client.sendall(request(endpoint))
        assert full.wait(60)
        one_more, got = ask(endpoint.port, request(endpoint))
        one_more.close()
        assert got.startswith(b"HTTP/1.1 503 lorestudio: more than 80 requests at once\r\n")
        made.go_on.set()
        assert [client.recv(15) for client in burst] == [b"HTTP/1.1 200 OK"] * 80
    assert len(made.bodies) == len(kept) == 80


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        endpoint = Endpoint("http://127.0.0.1:1", new_token(), taken.getsockname()[1])
        said = rf"\({os.strerror(errno.EADDRINUSE)}\)\. End what listens there, or take another port: --port 0 "
        with pytest.raises(InputError, match=said):
            endpoint.start()
        endpoint.stop()


@pytest.mark.parametrize(
    "address", ["", "openrouter.ai", "ftp://a/b", "https://key@api.example/v1", "https://a/v1?key=x", "http://a:x/"]
)
def test_an_address_that_is_none_is_said(address: str) -> None:
    with pytest.raises(InputError, match="--provider"):
        provider_address(address)
    assert provider_address(" https://api.example/v1/chat/completions/ ") == "https://api.example/v1"


def test_where_no_provider_was_named_that_is_said() -> None:
    with pytest.raises(InputError, match=r"no provider is known yet\. Give its address as https://"):
        provider_address(" ")
