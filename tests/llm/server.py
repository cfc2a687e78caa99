"""A real HTTP server on the loopback address that behaves as badly as a test wants."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from lorestudio.llm.http.client import HttpChatClient, client_for
from lorestudio.llm.keys import Keys
from lorestudio.llm.messages import ChatRequest
from lorestudio.llm.profiles import Api, KeySource, Profile

KEY = "sk-proj-THIS-is-the-secret-0123456789"
REQUEST = ChatRequest("search", "Choose.", "Which?", max_tokens=64, timeout_ms=3000, model="small")
SCHEMA = {"type": "object", "properties": {"selected": {"type": "array"}}}


@dataclass
class Call:
    """A request as it arrived, and the line back."""

    method: str
    path: str
    headers: Mapping[str, str]
    text: str
    reader: asyncio.StreamReader = field(repr=False)
    writer: asyncio.StreamWriter = field(repr=False)

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    async def send(self, data: bytes | str) -> None:
        self.writer.write(data.encode() if isinstance(data, str) else data)
        await self.writer.drain()

    async def head(self, status: str = "200 OK", content_type: str = "application/json", **headers: object) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join(lines) + "\r\n\r\n")

    async def until_hung_up(self) -> None:
        while await self.reader.read(65536):
            pass


Behaviour = Callable[[Call], Awaitable[None]]


class Server:
    """Answers each request with the next behaviour, the last one again and again."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self.calls: list[Call] = []
        self.asked = asyncio.Event()
        self.hung_up = asyncio.Event()
        self._behaviours = behaviours
        self.port = 9

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self._tasks: set[asyncio.Task[None]] = set()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, api: Api = Api.OPENAI, **options: Any) -> HttpChatClient:
        profile = Profile(
            **{
                "name": "Test",
                "api": api,
                "url": self.url,
                "key_source": KeySource.ENVIRONMENT,
                "key_variable": "TEST_KEY",
                **options,
            }
        )
        return client_for(profile, Keys(environment={"TEST_KEY": KEY}))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            call = await self._read(reader, writer)
            self.calls.append(call)
            self.asked.set()
            await self._behaviours[min(len(self.calls), len(self._behaviours)) - 1](call)
            if writer.can_write_eof():
                writer.write_eof()
            await call.until_hung_up()
        self.hung_up.set()
        writer.close()
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            await writer.wait_closed()
        self._tasks.discard(task)

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Call:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Call(method, path, headers, body.decode(), reader, writer)


def reply(body: object, status: str = "200 OK", content_type: str = "application/json", **headers: object) -> Behaviour:
    """An orderly answer; `body` is text, bytes or something to be spelled as JSON."""
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    data = text.encode() if isinstance(text, str) else text

    async def behave(call: Call) -> None:
        await call.head(status, content_type, **{"Content_Length": len(data), **headers})
        await call.send(data)

    return behave


def events(data: Sequence[object], *, content_type: str = "text/event-stream", named: bool = False) -> Behaviour:
    """A stream of server-sent events that ends when all are sent."""

    async def behave(call: Call) -> None:
        await call.head(content_type=content_type)
        for item in data:
            text = item if isinstance(item, str) else json.dumps(item)
            name = f"event: {item['type']}\n" if named and isinstance(item, dict) else ""
            await call.send(f"{name}data: {text}\n\n")

    return behave


def completion(text: str, finish: str = "stop") -> dict[str, Any]:
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
    }


def chunk(text: str | None = None, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {} if text is None else {"content": text}, "finish_reason": finish}]}
