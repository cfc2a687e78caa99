"""Sending chat requests over HTTP, whatever can go wrong on the way.

Every exchange has a connection of its own, closed when the exchange ends, fails or is cancelled. The time limit counts
from the request to the last byte, so a server that trickles does not get around it. Redirects are not followed, since
the key would go along. No exception, log line or `repr` holds the key.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import logging
import re
import ssl
import time
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Coroutine, Mapping
from contextlib import AsyncExitStack, aclosing
from functools import partial
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import httpx
from httpx_sse import EventSource, ServerSentEvent
from msgspec import Struct

from lorestudio.domain.javascript import Json, whole
from lorestudio.domain.json_text import spell
from lorestudio.domain.records import replace
from lorestudio.domain.texts import is_local
from lorestudio.llm.errors import ErrorKind, LlmError, failed, special_advice, timed_out
from lorestudio.llm.http.apis import AnthropicMessages, OpenAiCompatible
from lorestudio.llm.http.dialect import (
    Dialect,
    Gathering,
    Habits,
    ReadAnswer,
    empty_answers,
    problem_text,
    read_body,
    read_problem,
)
from lorestudio.llm.keys import Keys
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.profiles import Api, KeySource, Profile
from lorestudio.llm.redaction import MASK, Secret, beginning_of, cut, hide_known

GRACE_S: Final = 0.5
"""How long a cancelled exchange may take to close its connection (rules: deeplore-tools 1.3 "Backup timer")."""

_Result = TypeVar("_Result")


async def within(seconds: float, work: Coroutine[Any, Any, _Result]) -> _Result:
    """The result of `work`, or TimeoutError after `seconds`; at most GRACE_S later if it does not stop by itself.

    When the waiting task is cancelled, `work` is cancelled and has closed its connection before this returns.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task}, timeout=max(seconds, 0))
    except asyncio.CancelledError:
        await _stop(task)
        raise
    if not task.done():
        await _stop(task)
        raise TimeoutError
    return task.result()


async def _stop(task: asyncio.Task[Any]) -> None:
    task.cancel()
    # What it ends with is of no interest any more, but has to be fetched, or asyncio complains that nobody did.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait({task}, timeout=GRACE_S)


CONNECT_S: Final = 10.0
"""How long connecting may take; the profile's timeout where that is shorter."""

MAX_BYTES: Final = 8 * 1024 * 1024
"""The largest reply that is read."""

_LEARNT_FROM: Final = frozenset({400, 422, 500, 501})
_EVENT_STREAM: Final = "text/event-stream"
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
"""What is read of how servers pack replies, though they are asked not to."""

_TITLE = re.compile(r"<title[^<>]*>([^<]{0,200})</title>", re.IGNORECASE)

_log = logging.getLogger(__name__)


class _Exchange(Struct, frozen=True):
    """One request with all that the profile adds to it."""

    request: ChatRequest
    model: str
    max_tokens: int
    timeout_ms: int
    secret: Secret | None

    def hidden(self, text: str) -> str:
        """What the server sent, without the key should it repeat it."""
        return hide_known(text, (self.secret.reveal(),) if self.secret else ())

    def showable(self, text: str) -> tuple[str, str]:
        """What of a stream can be shown, and what has to wait because it may be the beginning of the key."""
        text = self.hidden(text)
        end = len(text) - (beginning_of(self.secret.reveal(), text) if self.secret else 0)
        return text[:end], text[end:]


class HttpChatClient:
    """A connection as `profile` describes it, in the words of `dialect`.

    `keys` give the key where the profile has one. `transport` replaces the network in tests; all exchanges share
    it, so that closing it must do no harm.
    """

    def __init__(
        self,
        profile: Profile,
        dialect: Dialect,
        keys: Keys | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.profile = profile
        self.dialect = dialect
        self.max_bytes = max_bytes
        self._keys = keys or Keys()
        self._transport = transport
        self._habits = Habits(schema=profile.supports_schema)

    def __repr__(self) -> str:
        return f"HttpChatClient({self.profile.name!r}, {self.profile.host!r})"

    @property
    def label(self) -> str:
        """The profile's name and its model."""
        return f"{self.profile.name} · {self.profile.model}" if self.profile.model else self.profile.name

    @property
    def who(self) -> str:
        """The provider in an error message."""
        return f"{self.profile.name} ({self.profile.host})"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send `request` and wait for the whole reply. Raises LlmError."""
        exchange = await self.prepare(request)
        started = time.perf_counter()
        reply = await self.guard(within(exchange.timeout_ms / 1000, self._complete(exchange)), exchange)
        return self.timed(reply, exchange, started)

    def stream(self, request: ChatRequest) -> HttpReplyStream:
        """Send `request` on entering the result, and receive the reply piece by piece."""
        return HttpReplyStream(self, request)

    async def prepare(self, request: ChatRequest) -> _Exchange:
        """Add what the profile says; the time limit does not run while the person unlocks the keyring."""
        profile = self.profile
        keyed = profile.key_source != KeySource.NONE
        secret = await asyncio.to_thread(self._keys.read, profile) if keyed else None
        model, timeout_ms = request.model or profile.model, profile.timeout_ms or request.timeout_ms
        max_tokens = min(request.max_tokens, profile.max_tokens or request.max_tokens)
        return _Exchange(request, model, max_tokens, timeout_ms, secret)

    async def guard(self, work: Awaitable[_Result], exchange: _Exchange) -> _Result:
        """The result of `work`, with what goes wrong on the network as an LlmError.

        The error is raised outside the handler: attached to it, the original would carry the request and its key.
        """
        failure: LlmError
        try:
            return await work
        except TimeoutError:
            failure = timed_out(exchange.timeout_ms, self.who)
        except LlmError as error:
            failure = error
        except _ReplyTooLargeError:
            megabytes = self.max_bytes / 1024 / 1024
            failure = self.invalid(f"the reply is larger than {megabytes:g} MiB")
        except RecursionError:
            failure = self.invalid("the reply is nested too deeply")
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            failure = self._network_failure(error, exchange)
        _log.debug("%s: %s failed: %r", exchange.request.kind, self, failure)
        raise failure.with_traceback(None)

    async def open(self, stack: AsyncExitStack, exchange: _Exchange, *, stream: bool) -> tuple[httpx.Response, Habits]:
        """Send the request until the server takes it: a refusal that names a field costs one more try without it.

        The response, not yet read, belongs to `stack`. Raises LlmError when the server refuses.
        """
        http = await stack.enter_async_context(await self._http(exchange))
        habits = self._habits
        while True:
            async with AsyncExitStack() as attempt:
                response = await attempt.enter_async_context(self._post(http, exchange, habits, stream=stream))
                if response.is_success:
                    stack.push_async_exit(attempt.pop_all())
                    return response, habits
                text = await self.read(response, exchange)
            learnt = self.dialect.learn(text, habits) if response.status_code in _LEARNT_FROM else None
            if learnt is None:
                raise self._refused(response, text, exchange)
            habits = self._habits = learnt

    async def read(self, response: httpx.Response, exchange: _Exchange) -> str:
        """The whole body as text, without the key should the server repeat it."""
        body = b"".join([chunk async for chunk in response.aiter_bytes()])
        return exchange.hidden(body.decode("utf-8-sig", "replace"))

    def whole_reply(self, text: str, response: httpx.Response, exchange: _Exchange, habits: Habits) -> ChatReply:
        """The reply in a body that came in one piece. Raises LlmError when it is none."""
        try:
            body = read_body(text)
        except ValueError as error:
            problem = self.invalid(_what_it_is(text, response.headers.get("content-type", ""), str(error)))
        else:
            self.check(body)
            empty = empty_answers(body)
            answer = self.dialect.answer(body)
            bare = exchange.request.prose and answer.bare
            if not empty and not bare:
                return self.reply(answer, exchange, habits, raw=text)
            what = f'its "{empty}" is empty' if empty else f"its JSON has no known shape: {cut(answer.text, 60)}"
            problem = self.invalid(f"the reply holds no answer: {what}")
        raise problem

    def check(self, body: Json) -> None:
        """Raise LlmError for an error that a provider reports in a body or an event of its own."""
        problem = read_problem(body)
        if problem:
            error = failed(*problem, who=self.who)
            if error.kind is ErrorKind.NOT_FOUND:  # the address has answered: what is not there is the model
                error = LlmError(ErrorKind.MODEL_UNKNOWN, error.message, status=error.status, who=self.who)
            raise error

    def reply(self, answer: ReadAnswer, exchange: _Exchange, habits: Habits, raw: str) -> ChatReply:
        """The reply with its notes."""
        text = exchange.hidden(answer.text)
        reply = ChatReply(
            text,
            answer.usage,
            self.label,
            raw=raw if text == answer.text else MASK,  # a key in pieces of a stream is whole in the text only
            value=answer.value,
            finish=answer.finish,
            live=True,
        )
        notes = []
        if exchange.request.json_schema is not None and not habits.schema:
            notes.append("The request went without its JSON schema, which this provider does not take.")
        if reply.cut_off:
            notes.append(f"The reply was cut off at the limit of {exchange.max_tokens} tokens.")
        if reply.held_back:
            notes.append("The provider's filter ended the reply.")
        return replace(reply, notes=tuple(notes))

    def timed(self, reply: ChatReply, exchange: _Exchange, started: float) -> ChatReply:
        """The reply with its duration, which is also logged."""
        duration_ms = (time.perf_counter() - started) * 1000
        _log.debug("%s: %s answered in %.0f ms", exchange.request.kind, self, duration_ms)
        return replace(reply, duration_ms=duration_ms)

    async def _complete(self, exchange: _Exchange) -> ChatReply:
        async with AsyncExitStack() as stack:
            response, habits = await self.open(stack, exchange, stream=False)
            text = await self.read(response, exchange)
        return self.whole_reply(text, response, exchange, habits)

    async def _http(self, exchange: _Exchange) -> httpx.AsyncClient:
        """A client for one exchange. A local server is not asked through the system's proxy."""
        connect = min(CONNECT_S, exchange.timeout_ms / 1000)
        url = httpx.URL(self.dialect.address(self.profile.url))
        if self._transport or url.scheme == "http":
            trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody; reading the certificates takes long
        else:
            trust = await asyncio.to_thread(httpx.create_ssl_context)
        return httpx.AsyncClient(
            transport=self._transport,
            verify=trust,
            trust_env=not is_local(url.host),
            timeout=httpx.Timeout(None, connect=connect),
            auth=partial(_with_key, self.dialect, exchange.secret) if exchange.secret else None,
            headers={"User-Agent": "lorestudio", "Accept-Encoding": "identity"},
        )

    @contextlib.asynccontextmanager
    async def _post(
        self, http: httpx.AsyncClient, exchange: _Exchange, habits: Habits, *, stream: bool
    ) -> AsyncIterator[httpx.Response]:
        body = self.dialect.body(exchange.request, exchange.model, exchange.max_tokens, habits, stream=stream)
        # Excerpts are cut between code units, which can leave half a character; no server takes that.
        content = whole(spell(body)).encode()
        headers = {
            **self.dialect.headers(),
            "Content-Type": "application/json",
            "Accept": f"{_EVENT_STREAM}, application/json" if stream else "application/json",
        }
        address = self.dialect.address(self.profile.url)
        async with http.stream("POST", address, content=content, headers=headers) as response:
            packed = response.headers.pop("content-encoding", "identity").strip().lower()
            if packed not in {*_PACKED, "identity"}:
                packed = cut(exchange.hidden(packed), 60)
                raise self.invalid(f"the reply is packed as “{packed}”, which is not read here")
            if isinstance(response.stream, httpx.AsyncByteStream):
                response.stream = _Capped(response.stream, self.max_bytes, unpacked=packed in _PACKED)
            yield response

    def _refused(self, response: httpx.Response, text: str, exchange: _Exchange) -> LlmError:
        """The error for a status that is no success."""
        status = response.status_code
        title = exchange.hidden(f"HTTP {status} {response.reason_phrase}".strip())
        if response.has_redirect_location:
            target = exchange.hidden(response.headers["location"])
            told = f"{title}: moved to {target}"
            advice = "Put the address it names into the profile if you trust it; a key is not sent on by itself."
            return LlmError(ErrorKind.NOT_FOUND, told, status=status, who=self.who, advice=advice)
        try:
            body = read_body(text)
        except ValueError:
            page = _page_title(text, response.headers.get("content-type", ""))
            detail = cut(" ".join(text[:400].split()), 200) if page is None else page
        else:
            detail = problem_text(body)
        error = failed(f"{title}: {detail}" if detail else title, status, who=self.who)
        wait = response.headers.get("retry-after", "")
        if not wait.isascii() or not wait.isdigit():
            return error
        return LlmError(error.kind, error.message, status=status, who=self.who, retry_after_s=float(wait[:6]))

    def invalid(self, message: str) -> LlmError:
        """The error for what is no answer."""
        return LlmError(ErrorKind.INVALID_ANSWER, message, who=self.who)

    def _network_failure(self, error: Exception, exchange: _Exchange) -> LlmError:
        message = exchange.hidden(str(error) or type(error).__name__)
        if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError):
            return LlmError(ErrorKind.UNKNOWN, message, who=self.who, advice="Check the URL of the profile.")
        if isinstance(error, httpx.DecodingError):
            return self.invalid(message)
        if isinstance(error, httpx.ConnectTimeout):
            message = f"no connection within {min(CONNECT_S, exchange.timeout_ms / 1000):g} s"
        advice = special_advice(ErrorKind.CONNECTION, message, self.who)
        return LlmError(ErrorKind.CONNECTION, message, who=self.who, advice=advice)


class HttpReplyStream:
    """A reply as it arrives. Entering sends the request, leaving closes the connection, also half-way.

    Iterating gives the pieces of the text in order, once, and raises LlmError when the reply breaks off.
    """

    def __init__(self, client: HttpChatClient, request: ChatRequest) -> None:
        self._client = client
        self._request = request
        self._stack = AsyncExitStack()
        self._gathered = Gathering()
        self._raw: list[str] = []
        self._reply: ChatReply | None = None

    async def __aenter__(self) -> Self:
        self._exchange = await self._client.prepare(self._request)
        self._started = time.perf_counter()
        self._deadline = asyncio.get_running_loop().time() + self._exchange.timeout_ms / 1000
        async with AsyncExitStack() as stack:
            self._response, self._habits = await self._step(self._client.open(stack, self._exchange, stream=True))
            self._pieces = await stack.enter_async_context(aclosing(self._read()))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        piece = await self._step(anext(self._pieces, None))
        if piece is None:
            raise StopAsyncIteration
        return piece

    @property
    def reply(self) -> ChatReply:
        """The whole reply. Raises ValueError before the last piece has arrived."""
        if self._reply is None:
            raise ValueError("The reply has not arrived in full yet; read the stream to its end first.")
        return self._reply

    async def _step(self, work: Awaitable[_Result]) -> _Result:
        """Wait for one thing, no longer than the whole exchange may still take."""

        async def limited() -> _Result:
            async with asyncio.timeout_at(self._deadline):
                return await work

        return await self._client.guard(limited(), self._exchange)

    async def _read(self) -> AsyncGenerator[str, None]:
        """The pieces of the text; sets the reply at the end."""
        if _EVENT_STREAM not in self._response.headers.get("content-type", "").lower():
            text = await self._client.read(self._response, self._exchange)  # the server does not stream
            reply = self._client.whole_reply(text, self._response, self._exchange, self._habits)
            yield reply.text
        else:
            gathered, held = self._gathered, ""
            self._response.encoding = "utf-8"  # as all events are, whatever the head says
            try:
                async with aclosing(EventSource(self._response).aiter_sse()) as events:
                    async for event in events:
                        text, held = self._exchange.showable(held + self._take(event))
                        if text:
                            yield text
                        if event.data == "[DONE]":
                            break
            except (httpx.ReadError, httpx.RemoteProtocolError):
                if not gathered.text:
                    raise  # else it is told how far it came
            if not gathered.complete:
                raise LlmError(
                    ErrorKind.CONNECTION,
                    f"the reply broke off after {len(gathered.text)} characters",
                    who=self._client.who,
                    advice="Try again; if it happens every time, something between here and the provider cuts long "
                    "replies.",
                )
            if held:
                yield held
            answer = ReadAnswer(gathered.text, None, gathered.usage, gathered.finish)
            raw = self._exchange.hidden("\n".join(self._raw))
            reply = self._client.reply(answer, self._exchange, self._habits, raw=raw)
        self._reply = self._client.timed(reply, self._exchange, self._started)

    def _take(self, event: ServerSentEvent) -> str:
        """The text in one event."""
        data = self._exchange.hidden(event.data)
        self._raw.append(data)
        if data.strip() in ("", "[DONE]"):
            self._gathered.complete = self._gathered.complete or bool(data.strip())
            return ""
        try:
            body = read_body(data)
        except ValueError:
            body = None
        if not isinstance(body, Mapping):
            raise self._client.invalid(f"an event of the stream is not valid JSON: {cut(data, 60)}")
        self._client.check(body)
        piece = self._client.dialect.piece(body)
        self._gathered.add(piece)
        return piece.text


_DIALECTS: Final[dict[Api, type[Dialect]]] = {Api.OPENAI: OpenAiCompatible, Api.ANTHROPIC: AnthropicMessages}


def client_for(
    profile: Profile, keys: Keys | None = None, transport: httpx.AsyncBaseTransport | None = None
) -> HttpChatClient:
    """A client that talks as `profile` says. Does nothing yet: the key is read when a request is sent."""
    return HttpChatClient(profile, _DIALECTS[profile.api](), keys, transport=transport)


class _ReplyTooLargeError(Exception):
    """More bytes than allowed."""


class _Capped(httpx.AsyncByteStream):
    """A response that is read up to a limit, by which a packed one is measured as it comes out."""

    def __init__(self, stream: httpx.AsyncByteStream, limit: int, *, unpacked: bool) -> None:
        self._stream = stream
        self._chunks = aiter(stream)
        self._left = limit
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if unpacked else None
        self._may_lack_head = unpacked

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            piece = self._unpacked(chunk)
            self._left -= len(piece)
            if self._left < 0:
                raise _ReplyTooLargeError
            yield piece

    def _unpacked(self, chunk: bytes) -> bytes:
        """What a chunk holds; a little more than there is room for where it holds more."""
        if self._unpacker is None:
            return chunk
        lacks_head, self._may_lack_head = self._may_lack_head, False
        try:
            return self._unpacker.decompress(chunk, self._left + 1)
        except zlib.error as error:
            if lacks_head:  # many a server sends no head before what it calls deflate
                self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
                return self._unpacked(chunk)
            raise httpx.DecodingError(f"the reply is damaged where it is packed: {error}") from error

    async def aclose(self) -> None:
        # What is below is unwound by a cancel while it waits. Left resting half-way, it would be for the garbage
        # collector, which cannot wait and complains.
        with contextlib.suppress(TimeoutError, httpx.HTTPError, httpx.StreamError):
            async with asyncio.timeout(0):
                async for _ in self._chunks:
                    pass
        await self._stream.aclose()


def _with_key(dialect: Dialect, secret: Secret, request: httpx.Request) -> httpx.Request:
    """Put the key into the request at the last moment, so that no dictionary of headers lies about with it."""
    name, value = dialect.key_header(secret.reveal())
    request.headers[name] = value
    return request


def _what_it_is(text: str, content_type: str, complaint: str) -> str:
    """Says what a body is that should be JSON and is not."""
    page = _page_title(text, content_type)
    if page is not None:
        return "a web page (HTML) came instead of JSON" + (f': "{page}"' if page else "")
    if not text.strip():
        return "the reply is empty"
    return f"the reply is not valid JSON ({complaint}): {cut(' '.join(text[:400].split()), 60)}"


def _page_title(text: str, content_type: str) -> str | None:
    """The title of a web page, None for what is no web page."""
    if "html" not in content_type.lower() and not text.lstrip()[:200].lower().startswith(("<!doctype html", "<html")):
        return None
    title = _TITLE.search(text)
    return " ".join(html.unescape(title[1]).split()) if title else ""
