"""The endpoint between a front end and its provider: bytes go through unchanged, as they come, and a copy is kept.

It runs on a loop and a thread of its own, so that a window that is busy never holds a stream up. Everything stands
below a random token; whoever comes from a web page, by another name or without the token is refused (rules:
live-capture 1). The provider is named here and never by a request. A client that hangs up ends what was
asked of the provider, before the first byte too. A copy is handed over once an exchange has ended, from a thread that
no byte waits for.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import http
import json
import logging
import os
import secrets
import ssl
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import urlsplit

import h11
import httpx
from msgspec import Struct

from lorestudio.domain.texts import is_local
from lorestudio.exchange.problems import InputError
from lorestudio.studio.attach.exchange import MAX_REPLY, Exchange, ExchangeEnd
from lorestudio.vault.files import epoch_ms, reason_of

MAX_REQUEST: Final = 64 * 1024 * 1024
MAX_HEAD: Final = 64 * 1024
MAX_CONNECTIONS: Final = 64
"""Requests that are read and passed on at once, each with its body in memory."""
MAX_QUEUED: Final = 192
"""Connections that may wait until they are read; one more is refused."""
MAX_WAITING: Final = 256
"""Copies that may wait for the disk; one more is dropped, since no byte waits for a copy."""

CONNECT_S: Final = 15.0
HEAD_S: Final = 30.0
BODY_S: Final = 120.0
ENDING_S: Final = 5.0
"""How long streams may go on once the endpoint is to end."""

AUXILIARY: Final = "aux"
_READ: Final = 65536
_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"expect"}
)
_REASONS: Final = {520: "Web Server Returned an Unknown Error", 521: "Web Server Is Down", 522: "Connection Timed Out",
                   523: "Origin Is Unreachable", 524: "A Timeout Occurred", 529: "Site Is Overloaded"}  # fmt: skip
_TWICE: Final = "/chat/completions/chat/completions"

_log = logging.getLogger(__name__)

Headers = Sequence[tuple[bytes, bytes]]


def new_token() -> str:
    """A token of 128 bits for addresses."""
    return secrets.token_urlsafe(16)


def provider_address(address: str) -> str:
    """The provider's address without what SillyTavern appends itself. Raises InputError saying what to enter."""
    address = address.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        port_is_number = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_number = urlsplit(""), False
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_number:
        wrong = f"“{address}” is no address of a provider" if address else "no provider is known yet"
        raise InputError(
            "--provider", f"{wrong}. Give its address as https://openrouter.ai/api/v1 or http://127.0.0.1:5001."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "--provider", "a key does not belong into the address: SillyTavern sends it. Give scheme, host and path."
        )
    for ending in ("/chat/completions", "/completions", "/messages"):
        address = address.removesuffix(ending)
    return address


class TurnedAway(Struct, frozen=True):
    """Why somebody is not let in: the status, and a sentence where it may be read."""

    status: int
    sentence: str = ""


class Endpoint:
    """Listens on the loopback address between `start` and `stop`. `keep` is given each exchange once it has ended,
    from a thread; `told` is called from that thread, after it, and where something has begun or ended.

    `provider` is as `provider_address` gives it; port 0 takes a free one.
    """

    def __init__(
        self,
        provider: str,
        token: str,
        port: int = 0,
        *,
        keep: Callable[[Exchange], object] = lambda _exchange: None,
        told: Callable[[], object] = lambda: None,
    ) -> None:
        self._versioned = provider.endswith("/v1")
        self.provider = provider
        self._base = urlsplit(provider.removesuffix("/v1"))
        self.token, self.port = token, port
        self._keep, self._told = keep, told
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._problem: OSError | None = None
        self._ready = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(MAX_CONNECTIONS)
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="captures")
        self._waiting = 0
        self._hosts: frozenset[str] = frozenset()
        self.models_asked = 0
        self.requests = 0
        """Requests for text that were let through."""
        self.dropped, self.why_dropped = 0, ""
        """Copies that were not kept, and why the last of them."""
        self.turned_away: TurnedAway | None = None
        """Whoever was not let in last."""
        self.last: Exchange | None = None
        """The exchange that ended last, whatever it was."""

    @property
    def address(self) -> str:
        """What SillyTavern is given in the provider's place."""
        return self._address()

    @property
    def auxiliary(self) -> str:
        """What a connection profile for tools and selection is given."""
        return self._address(f"/{AUXILIARY}")

    def _address(self, inside: str = "") -> str:
        # A provider named without a path has its API below /v1, as all OpenAI-compatible servers do.
        version = "/v1" if self._versioned or not self._base.path else ""
        return f"http://127.0.0.1:{self.port}/{self.token}{inside}{version}"

    # ---- beginning and ending ---------------------------------------------------------------------------------------

    def start(self) -> None:
        """Listen from now on. Raises InputError where the port is taken."""
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="endpoint", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._problem is not None:
            self._thread.join()
            reason = os.strerror(self._problem.errno) if self._problem.errno else str(self._problem)
            raise InputError(
                "--port",
                f"nothing can listen at 127.0.0.1:{self.port} ({reason}). End what listens there, or take another "
                "port: --port 0 takes a free one, as “New addresses” does in the window.",
            ) from self._problem

    def stop(self) -> None:
        """Take nobody any more, let streams end for some seconds, and wait until every copy is kept."""
        loop, thread = self._loop, self._thread
        if loop is not None and thread is not None and thread.is_alive():
            with contextlib.suppress(RuntimeError):  # it has ended in between
                loop.call_soon_threadsafe(self._stopping.set)
            thread.join()
        self._keeper.shutdown(wait=True)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        local = is_local(self._base.hostname or "")
        try:
            server = await asyncio.start_server(self._begin, "127.0.0.1", self.port, limit=_READ)
        except OSError as error:
            self._problem = error
            self._ready.set()
            return
        self.port = server.sockets[0].getsockname()[1]
        self._hosts = frozenset(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]"))
        client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),  # as SillyTavern itself connects
            trust_env=not local,
            verify=ssl.create_default_context() if self._base.scheme == "https" else False,
        )
        client.headers.clear()
        self._client = client
        self._ready.set()
        async with server, client:
            await self._stopping.wait()
            server.close()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=ENDING_S)
            for task in tuple(self._tasks):
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Counted here: a whole burst has come before the first of it is served.
        full = len(self._tasks) >= MAX_CONNECTIONS + MAX_QUEUED
        task = asyncio.ensure_future(self._serve(reader, writer, full=full))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ---- one connection ---------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, full: bool) -> None:
        """One request and its answer; then the connection is closed, as SillyTavern asks for."""
        client = _Client(reader, writer)
        try:
            if full:
                async with asyncio.timeout(HEAD_S):
                    await client.head()  # who has sent to a closed connection does not get to read the answer
                await client.refuse(TurnedAway(503, f"more than {MAX_CONNECTIONS + MAX_QUEUED} requests at once"))
                return
            async with self._room:
                await self._let_in(client)
        except (h11.RemoteProtocolError, TimeoutError) as error:
            _log.info("a request that cannot be read: %s", type(error).__name__)
            with contextlib.suppress(OSError, h11.LocalProtocolError):
                await client.refuse(TurnedAway(400 if isinstance(error, h11.RemoteProtocolError) else 408))
        except (OSError, EOFError):
            pass  # it hung up before it had asked
        finally:
            writer.close()

    async def _let_in(self, client: _Client) -> None:
        """Read the request, and refuse it or pass it on."""
        async with asyncio.timeout(HEAD_S):
            request = await client.head()
        refusal = self._refused(request)
        if refusal is None:
            async with asyncio.timeout(BODY_S):
                body = await client.body()
            if body is None:
                refusal = TurnedAway(413, f"the request is larger than {MAX_REQUEST >> 20} MiB")
        if refusal is not None:
            self.turned_away = refusal
            self._told()
            await client.refuse(refusal)
            return
        await self._pass(client, request, body or b"")

    def _refused(self, request: h11.Request) -> TurnedAway | None:
        """Why this request is not let in. A web page is told apart by what every browser sends with its requests."""
        headers = [(name.lower(), value) for name, value in request.headers]
        host = next((value.decode("latin-1") for name, value in headers if name == b"host"), "")
        if host.lower() not in self._hosts:
            return TurnedAway(421)
        if request.method == b"OPTIONS" or any(n == b"origin" or n.startswith(b"sec-fetch-") for n, _ in headers):
            return TurnedAway(403)
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in headers}:
            return TurnedAway(400, "the request says in two ways how long it is")
        place, _, _rest = request.target.partition(b"?")
        first, _, path = place.removeprefix(b"/").partition(b"/")
        if not place.startswith(b"/") or not hmac.compare_digest(first, self.token.encode("ascii")):
            return TurnedAway(404)
        if place.rstrip(b"/").endswith(_TWICE.encode("ascii")):
            return TurnedAway(404, f"the address already ends in /chat/completions: enter {self.address} without it")
        return None if path else TurnedAway(404, f"enter {self.address} in SillyTavern, or the second one in a profile")

    async def _pass(self, client: _Client, request: h11.Request, body: bytes) -> None:
        """Send the request on and the answer back, and hand over what was seen whatever becomes of it."""
        place, mark, query = request.target.partition(b"?")
        while b"//" in place:
            place = place.replace(b"//", b"/")
        path = place.decode("latin-1")[len(self.token) + 1 :]
        inside = path.partition("/")[2].partition("/")[0] == AUXILIARY
        path = path[len(AUXILIARY) + 1 :] if inside else path
        target = (self._base.path.rstrip("/") + path).encode("latin-1") + mark + query
        seen = Exchange(
            request.method.decode("ascii"), path, query.decode("latin-1"), inside,
            tuple(request.headers.raw_items()), body, epoch_ms(),
        )  # fmt: skip
        headers = [(n, v) for n, v in seen.headers if n.lower() not in _HOP and n.lower() != b"host"]
        onward = httpx.Request(
            seen.method, f"{self._base.scheme}://{self._base.netloc}/", headers=headers, content=body or None,
            extensions={"target": target, "timeout": self._client.timeout.as_dict()},
        )  # fmt: skip
        try:
            work = asyncio.ensure_future(self._answered(client, onward, seen))
            gone = asyncio.ensure_future(client.gone())
            try:
                await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not work.done():
                    seen.ending = ExchangeEnd.CLIENT_LEFT
            finally:
                gone.cancel()
                work.cancel()
                await asyncio.wait({work, gone})
            error = None if work.cancelled() else work.exception()
            if isinstance(error, OSError):
                seen.ending = ExchangeEnd.CLIENT_LEFT
            elif error is not None:
                raise error
        except asyncio.CancelledError:
            seen.ending, seen.problem = ExchangeEnd.CUT, "the endpoint was switched off"
            raise
        finally:
            seen.finished_ms = seen.now_ms
            self._hand_over(seen)

    async def _answered(self, client: _Client, onward: httpx.Request, seen: Exchange) -> None:
        try:
            answer = await self._client.send(onward, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
            seen.ending, seen.status = ExchangeEnd.UNREACHABLE, 502
            seen.problem = f"the provider at {self.provider} did not answer ({_words_of(error)})"
            await client.refuse(TurnedAway(502, seen.problem))
            return
        try:
            seen.status, seen.answer_headers = answer.status_code, tuple(answer.headers.raw)
            seen.reason = answer.reason_phrase or _reason(answer.status_code)
            if seen.generates and seen.status < 400:
                self.requests += 1
                self._told()
            # Beside chunks a length says nothing, and may be wrong (RFC 9112, 6.3).
            own = _HOP | {b"content-length"} if "transfer-encoding" in answer.headers else _HOP
            kept = [(name, value) for name, value in answer.headers.raw if name.lower() not in own]
            await client.send(
                h11.Response(
                    status_code=answer.status_code, headers=[*kept, (b"Connection", b"close")],
                    reason=seen.reason.encode("latin-1", "replace"),
                )
            )  # fmt: skip
            async for piece in answer.aiter_raw():
                if seen.first_byte_ms is None:
                    seen.first_byte_ms = seen.now_ms
                await client.send(h11.Data(data=piece))
                room = MAX_REPLY - len(seen.answer)
                seen.answer += piece[:room]
                seen.rest_not_kept = seen.rest_not_kept or len(piece) > room
            await client.send(h11.EndOfMessage())
        except (httpx.HTTPError, h11.LocalProtocolError) as error:  # a cut goes on as a cut
            seen.ending, seen.problem = ExchangeEnd.CUT, f"the provider broke off ({_words_of(error)})"
        finally:
            await answer.aclose()

    def _hand_over(self, seen: Exchange) -> None:
        self.last = seen
        if seen.asks_models:
            self.models_asked += 1
        if self._waiting >= MAX_WAITING:
            self.dropped, self.why_dropped = self.dropped + 1, "the disk is too slow"
            return
        self._waiting += 1
        self._keeper.submit(self._kept, seen)

    def _kept(self, seen: Exchange) -> None:
        try:
            self._keep(seen)
        except Exception as error:  # noqa: BLE001 - a disk that fails never fails the chat
            _log.exception("a copy could not be kept")
            self.dropped, self.why_dropped = self.dropped + 1, reason_of(error)
        finally:
            self._waiting -= 1
            self._told()


class _Client:
    """The front end's side of one connection, as h11 reads and writes it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        self._wants_body = True

    async def head(self) -> h11.Request:
        """The request without its body. Raises RemoteProtocolError, or EOFError where it hung up."""
        event = await self._next()
        if isinstance(event, h11.Request):
            self._wants_body = event.method != b"HEAD"
            return event
        raise EOFError

    async def body(self) -> bytes | None:
        """The whole body, None where it is too large."""
        if self._http.they_are_waiting_for_100_continue:
            await self.send(h11.InformationalResponse(status_code=100, headers=[]))
        pieces, size = [], 0
        while isinstance(event := await self._next(), h11.Data):
            pieces.append(bytes(event.data))
            size += len(event.data)
            if size > MAX_REQUEST:
                return None
        if isinstance(event, h11.EndOfMessage):
            return b"".join(pieces)
        raise EOFError

    async def gone(self) -> None:
        """Return once the client has hung up; whatever else it sends is passed over."""
        with contextlib.suppress(OSError):
            while await self._reader.read(_READ):
                pass

    async def send(self, event: h11.Event) -> None:
        """Send it at once, and wait until the client takes more."""
        data = self._http.send(event)
        if data:
            self._writer.write(data)
            await self._writer.drain()

    async def refuse(self, refusal: TurnedAway) -> None:
        """Answer without the provider; SillyTavern shows the reason phrase, or the message in the body."""
        sentence = f"lorestudio: {refusal.sentence}" if refusal.sentence else ""
        error = {"error": {"message": sentence, "type": "lorestudio"}}
        body = json.dumps(error, ensure_ascii=False).encode() if sentence else b""
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Connection", "close")]
        reason = sentence or _reason(refusal.status)
        await self.send(
            h11.Response(status_code=refusal.status, headers=headers, reason=reason.encode("latin-1", "replace"))
        )
        if self._wants_body:
            await self.send(h11.Data(data=body))
        await self.send(h11.EndOfMessage())

    async def _next(self) -> type[h11.NEED_DATA | h11.PAUSED] | h11.Event:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            data = await self._reader.read(_READ)
            if not data and self._http.their_state is h11.IDLE:
                raise EOFError
            self._http.receive_data(data)
        return event


def _reason(status: int) -> str:
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return _REASONS.get(status, "Unknown Error")


def _words_of(error: Exception) -> str:
    return str(error) or type(error).__name__
