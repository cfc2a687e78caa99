"""A provider on the loopback address that tests look into: raw bytes in, raw bytes out, each in its own time."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

Answer = Callable[[asyncio.StreamWriter, asyncio.Event], Awaitable[None]]


class Provider:
    """Keeps what came (`heads`, `bodies`); `left` counts clients that hung up before their answer had ended."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.left = 0
        self.came = threading.Event()
        self.gone = threading.Event()
        self.go_on = threading.Event()
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(
                (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
            )
            self.bodies.append(await reader.readexactly(size))
            self.heads.append(head)
            self.came.set()
            ended = asyncio.Event()
            work = asyncio.ensure_future(self._answer(writer, ended))
            hung_up = asyncio.ensure_future(reader.read())
            await asyncio.wait({work, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                self.left += 1
                self.gone.set()
            for each in (work, hung_up):
                each.cancel()
            await asyncio.wait({work, hung_up})
        finally:
            writer.close()


@contextmanager
def provider(answer: Answer) -> Iterator[Provider]:
    loop, made = asyncio.new_event_loop(), Provider(answer)
    server = loop.run_until_complete(asyncio.start_server(made.serve, "127.0.0.1", 0))
    made.port = server.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def end() -> None:
        server.close()
        others = [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    try:
        yield made
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def whole(body: bytes, status: str = "200 OK", *headers: str) -> Answer:
    """Answers with this body at once."""

    async def answer(writer: asyncio.StreamWriter, _ended: asyncio.Event) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
        writer.write("\r\n".join(lines).encode() + body)
        await writer.drain()

    return answer


def ask(port: int, request: bytes, until: bytes | None = None) -> tuple[socket.socket, bytes]:
    """Send raw bytes; the open socket and what has come until `until`, or until the other side closed."""
    client = socket.create_connection(("127.0.0.1", port), timeout=10)
    client.sendall(request)
    got = b""
    while until is None or until not in got:
        piece = client.recv(65536)
        if not piece:
            break
        got += piece
    return client, got
