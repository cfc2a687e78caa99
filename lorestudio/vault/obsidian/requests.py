"""Requests to Obsidian's Local REST API plugin, and what is said where one fails.

Nothing here prints, logs or keeps the key: it is asked for when a request is made and goes into that request alone.
Redirects are not followed and proxies are not used, since the key would go along.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import httpx

from lorestudio.domain.json_text import parse_json
from lorestudio.vault.files import VaultError
from lorestudio.vault.folder import MAX_FILE_BYTES
from lorestudio.vault.obsidian.address import HTTP_PORT, HTTPS_PORT, ObsidianAddress
from lorestudio.vault.obsidian.breaker import CircuitBreaker, CircuitOpenError, HostFailure

KeyReader = Callable[[], str | None]
"""Gives the plugin's API key, None or "" where there is none.

It is called in a thread, since a keyring may wait for the person. What it raises comes out of the call that needed
the key.
"""

CONNECT_S: Final = 5.0

_MASK: Final = "•••"
_NOT_FOUND: Final = 40400
"""The plugin's own code beside the status 404."""
_CHECK_PORT: Final = "Try again; check the port and https."
_GATEWAY_ERRORS: Final = frozenset({502, 503, 504})
"""Said about the host; another error status is about the one request."""


class ObsidianError(VaultError):
    """The vault cannot be fetched; the message says why and what to do."""


class PausedError(ObsidianError):
    """Too many requests have failed, and the host is left alone for a while."""


class FileError(ObsidianError):
    """One file or folder could not be fetched; others may."""


class MissingError(FileError):
    """There is no such file or folder."""


class TooLargeError(FileError):
    """The file is larger than any note."""


class HttpAnswer(NamedTuple):
    """What the plugin sent back."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class ServerSession:
    """Requests to the plugin, each guarded by the breaker and the time limit. `open_session` makes one."""

    address: ObsidianAddress
    client: httpx.AsyncClient
    breaker: CircuitBreaker
    key: str = field(repr=False)
    timeout_s: float
    slots: asyncio.Semaphore = field(repr=False)

    async def get(self, filename: str) -> bytes:
        """A file's bytes. Raises ObsidianError."""
        answer = HttpAnswer(404, b"")
        if not (".." in filename.split("/") or filename.startswith("/")):
            answer = await self._send(filename)
        if answer.status == 404:
            raise MissingError(f"There is no “{filename}” in the vault “{self.address.name}”.")
        return answer.body

    async def listing(self, folder: str) -> list[str]:
        """The names in a folder, whose own name is "" or ends in `/`; sub-folders end in `/`. Raises ObsidianError."""
        answer = await self._send(folder)
        try:
            said: Any = parse_json(answer.body.decode())
            if answer.status == 404 and (folder or said["errorCode"] == _NOT_FOUND):
                return []  # what the plugin says of an empty folder
            return [name for name in said["files"] if isinstance(name, str)]
        except (ValueError, TypeError, KeyError):
            pass
        raise ObsidianError(
            f"What answers at {self.address.url} is not Obsidian's Local REST API. Check the port: the plugin listens "
            f"on {HTTP_PORT}, with https on {HTTPS_PORT}."
        )

    async def _send(self, filename: str) -> HttpAnswer:
        try:
            async with self.slots:
                with self.breaker.call():
                    answer = await self._exchanged(f"/vault/{quote(filename)}")
        except CircuitOpenError as paused:
            waiting = max(paused.seconds, 0.1)
            raise PausedError(
                f"{self._where()} has failed several times and is left alone for another {waiting:.1f} s. Check that "
                "Obsidian is running; then try again."
            ) from None
        except HostFailure as problem:
            raise FileError(str(problem)) from None
        return self._checked(answer)

    async def _exchanged(self, path: str) -> HttpAnswer:
        """The answer. Raises HostFailure."""
        # A connection that was kept open may have been closed by the other side; once is no failure.
        answer = await self._attempt(path) or await self._attempt(path)
        if answer is None:
            where = self._where()
            raise HostFailure(f"{where} closed the connection before its answer was complete. {_CHECK_PORT}")
        return answer

    async def _attempt(self, path: str) -> HttpAnswer | None:
        """One exchange; None where the connection was dropped. Raises HostFailure.

        It is raised outside the handlers: attached to it, the original would carry the request and its key.
        """
        try:
            async with asyncio.timeout(self.timeout_s):
                answer = await self._exchange(path)
        except (TimeoutError, httpx.TimeoutException) as error:
            slow = f"{self._where()} did not answer within {self.timeout_s:g} s. Try again."
            failure = self._no_connection() if isinstance(error, httpx.ConnectTimeout) else slow
        except httpx.ConnectError as error:
            failure = self._no_certificate(error) or self._no_connection()
        except httpx.RequestError:
            return None
        else:
            if answer.status not in _GATEWAY_ERRORS:
                return answer
            failure = f"{self._where()} answers with error {answer.status}. Restart Obsidian, then try again."
        raise HostFailure(failure)

    async def _exchange(self, path: str) -> HttpAnswer:
        async with self.client.stream("GET", path) as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_FILE_BYTES:
                    return HttpAnswer(413, b"")
            return HttpAnswer(response.status_code, bytes(body))

    def _checked(self, answer: HttpAnswer) -> HttpAnswer:
        status = answer.status
        if 200 <= status < 300 or status == 404:
            return answer
        if status == 413:
            raise TooLargeError("The file is too large.")
        if status in (401, 403):
            raise ObsidianError(
                f"{self._where()} does not accept the key ({status}). Copy it again from Obsidian: Settings, Local "
                "REST API."
            )
        if status == 429:
            raise ObsidianError(
                f"{self._where()} takes no more requests for a while (429), as it does after several wrong keys. Check "
                "the key, wait a minute, then try again."
            )
        if 300 <= status < 400:
            raise ObsidianError(
                f"{self._where()} points to another address ({status}), which is not followed. Correct the host, the "
                "port or https."
            )
        said = self._said(answer.body)
        raise FileError(f"{self._where()} answers with error {status}{f': {said}' if said else ''}. Try again.")

    def _said(self, body: bytes) -> str:
        """The plugin's own words, without the key."""
        try:
            answer = parse_json(body.decode())
            said = answer["message"] if isinstance(answer, dict) else ""
        except (ValueError, KeyError):
            return ""
        return " ".join(str(said).replace(self.key, _MASK).split())[:200]

    def _where(self) -> str:
        return f"Obsidian at {self.address.host}:{self.address.port}"

    def _no_connection(self) -> str:
        return (
            f"{self._where()} cannot be reached. Start Obsidian with the vault “{self.address.name}”, see "
            "that the plugin Local REST API is switched on, and check the port."
        )

    def _no_certificate(self, error: httpx.ConnectError) -> str:
        """A sentence about TLS, "" where the error is another."""
        text = str(error)
        if "CERTIFICATE_VERIFY_FAILED" in text:
            return (
                f"Nobody vouches for the certificate of {self.address.host}:{self.address.port}. Where this is your "
                "own computer, allow certificates that it signed itself."
            )
        if "SSL" in text.upper():
            return f"{self._where()} does not speak https on this port. Use port {HTTPS_PORT}, or switch https off."
        return ""


@asynccontextmanager
async def open_session(
    address: ObsidianAddress,
    read_key: KeyReader,
    breaker: CircuitBreaker,
    concurrency: int,
    timeout_s: float,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator[ServerSession]:
    """A connection with the key, for a few requests. Raises ObsidianError where it cannot be made."""
    key = await asyncio.to_thread(read_key) or ""
    _check(address, key)
    try:
        url = httpx.URL(address.url)
    except (httpx.InvalidURL, UnicodeError):
        raise ObsidianError(
            f"The address {address.url} is not valid. Correct the host and the port of the vault."
        ) from None
    # Loading the certificates that this computer trusts takes its time.
    context = await asyncio.to_thread(_tls, address) if address.https else False
    async with httpx.AsyncClient(
        base_url=url,
        auth=_ServerKeyHeader(key),
        verify=context,
        timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
        limits=httpx.Limits(max_connections=concurrency),
        follow_redirects=False,
        trust_env=False,
        transport=transport,
    ) as client:
        yield ServerSession(address, client, breaker, key, timeout_s, asyncio.Semaphore(concurrency))


def _check(address: ObsidianAddress, key: str) -> None:
    if not key:
        raise ObsidianError(
            f"There is no key for the vault “{address.name}”. Copy it from Obsidian: Settings, Local REST API."
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ObsidianError(
            f"The key for the vault “{address.name}” holds a space or a character that no key has. Copy it "
            "again from Obsidian: Settings, Local REST API."
        )


class _ServerKeyHeader(httpx.Auth):
    """Puts the key into the request at the last moment, so that no dictionary of headers lies about with it."""

    def __init__(self, key: str) -> None:
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._key}"
        yield request


def _tls(address: ObsidianAddress) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if address.local or address.any_certificate:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
