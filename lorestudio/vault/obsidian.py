"""A vault behind Obsidian's Local REST API plugin, read as if it were a folder (rules: deeplore 1.1).

Nothing here prints, logs or keeps the key: it is asked for when a request is made and goes into that request alone.
Redirects are not followed and proxies are not used, since the key would go along.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

import httpx

from lorestudio.domain.entry import LeftOutNote, NoteProblem
from lorestudio.domain.json_text import parse_json
from lorestudio.domain.records import Terse
from lorestudio.domain.texts import is_local
from lorestudio.vault import fields as field_file
from lorestudio.vault.files import NoteFile, VaultError, VaultFiles, index_order
from lorestudio.vault.folder import MAX_FILE_BYTES, MAX_LEVELS, decoded, is_text, shown_name
from lorestudio.vault.obsidian_host import (
    HTTP_PORT,
    HTTPS_PORT,
    CircuitBreaker,
    CircuitBreakers,
    CircuitOpenError,
    HostFailure,
    ObsidianAddress,
)

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


class ServerSession(Terse, frozen=True):
    """Requests to the plugin, each guarded by the breaker and the time limit. `ObsidianVault` makes one."""

    unprinted = ("key", "slots")

    address: ObsidianAddress
    client: httpx.AsyncClient
    breaker: CircuitBreaker
    key: str
    timeout_s: float
    slots: asyncio.Semaphore

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
            packed = response.headers.get("content-encoding", "identity")
            if packed != "identity":  # some bytes of it could hold gigabytes
                raise FileError(f"{self._where()} packs what it sends ({packed[:20]}), and was asked not to.")
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
            most = f"{MAX_FILE_BYTES // 2**20} MiB"
            raise TooLargeError(f"{self._where()} sends more than {most} at once, which is not read. Check the port.")
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
                f"Nobody vouches for the certificate of {self.address.host}:{self.address.port}. Have this "
                "computer trust it, or switch https off."
            )
        if "SSL" in text.upper():
            return f"{self._where()} does not speak https on this port. Use port {HTTPS_PORT}, or switch https off."
        return ""


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


def _with_key(key: str, request: httpx.Request) -> httpx.Request:
    """Put the key into the request at the last moment, so that no dictionary of headers lies about with it."""
    request.headers["Authorization"] = f"Bearer {key}"
    return request


def _tls(address: ObsidianAddress) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if is_local(address.host):  # there the plugin signs its certificate itself
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


R = TypeVar("R")


class Listing:
    """Lists a vault's folders, some at a time."""

    def __init__(self, session: ServerSession, vault: str) -> None:
        self._session = session
        self._vault = vault
        self.found: set[str] = set()
        self.left_out: list[LeftOutNote] = []
        self.failure = ""

    async def run(self) -> None:
        """Raises ObsidianError where the root cannot be listed."""
        await self._take("", await self._session.listing(""), 0)

    async def _take(self, prefix: str, names: Sequence[str], level: int) -> None:
        folders = []
        for name in dict.fromkeys(names):
            plain = name.removesuffix("/")
            if not plain or plain.startswith(".") or "/" in plain:
                continue
            filename = prefix + plain
            if not is_text(filename):
                shown = shown_name(filename)
                self._leave_out(
                    shown, NoteProblem.UNREADABLE, f"The name of “{shown}” is not valid text. Rename it in Obsidian."
                )
            elif name.endswith("/"):
                folders.append(filename)
            elif name.endswith(".md"):
                self.found.add(filename)
        await all_of([self._list(filename, level + 1) for filename in folders])

    async def _list(self, folder: str, level: int) -> None:
        if level >= MAX_LEVELS:
            self._leave_out(
                folder, NoteProblem.TOO_DEEP,
                f"The folder “{folder}” lies {level} levels deep, and DeepLore lists {MAX_LEVELS - 1}. Move it up.",
            )  # fmt: skip
            return
        try:
            names = await self._session.listing(f"{folder}/")
        except FileError as error:
            self.failure = self.failure or f"The folder “{folder}” of “{self._vault}” was not listed. {error}"
            self._leave_out(folder, NoteProblem.UNREADABLE, f"The folder “{folder}” was not listed. {error}")
            return
        await self._take(f"{folder}/", names, level)

    def _leave_out(self, filename: str, problem: NoteProblem, message: str) -> None:
        self.left_out.append(LeftOutNote(filename, self._vault, problem, message))


async def all_of(jobs: Sequence[Coroutine[Any, Any, R]]) -> list[R]:
    """The results of all jobs in order; the first failure, or being cancelled, stops the others."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


REQUEST_S: Final = 15.0
CONCURRENCY: Final = 8


class ObsidianVault:
    """One vault at `address`. All vaults at the same host and port should get the same `breakers`."""

    def __init__(
        self,
        address: ObsidianAddress,
        read_key: KeyReader,
        breakers: CircuitBreakers | None = None,
        *,
        concurrency: int = CONCURRENCY,
        timeout_s: float = REQUEST_S,
    ) -> None:
        self.address = address
        self._read_key = read_key
        self.breaker = (breakers or CircuitBreakers()).of(address.host, address.port)
        self._concurrency = concurrency
        self._timeout_s = timeout_s

    def __repr__(self) -> str:
        return f"ObsidianVault({self.address.name!r}, {self.address.url!r})"

    async def fetch(
        self, on_progress: Callable[[int, int], None] | None = None, *, definition_path: str = field_file.DEFAULT_PATH
    ) -> VaultFiles:
        """All notes in DeepLore's order, then the file of field definitions if there is one.

        `on_progress` gets the number of files fetched and their total. Raises ObsidianError where the vault, or
        its definitions, cannot be fetched at all. Cancelling ends the requests.
        """
        definition_path = definition_path or field_file.DEFAULT_PATH
        async with self._open() as session:
            walk = Listing(session, self.address.name)
            await walk.run()
            filenames = sorted(walk.found, key=index_order)
            done = 0

            async def fetch_one(filename: str) -> NoteFile | LeftOutNote | None:
                nonlocal done
                note = await self._fetch_note(session, filename)
                done += 1
                if on_progress is not None:
                    on_progress(done, len(filenames))
                return note

            notes = await all_of([fetch_one(filename) for filename in filenames])
            if not definition_path.endswith(".md"):
                definitions = await self._fetch_note(session, definition_path)
                if isinstance(definitions, LeftOutNote) and definitions.problem is NoteProblem.UNREADABLE:
                    raise ObsidianError(definitions.message)
                notes.append(definitions)
        broken = [note for note in notes if isinstance(note, LeftOutNote)]
        files = tuple(note for note in notes if isinstance(note, NoteFile))
        left_out = (*sorted(walk.left_out, key=lambda note: index_order(note.filename)), *broken)
        return VaultFiles(self.address.name, files, left_out, walk.failure)

    async def _fetch_note(self, session: ServerSession, filename: str) -> NoteFile | LeftOutNote | None:
        """One note; None where it was deleted after it was listed."""
        vault = self.address.name
        try:
            data = await session.get(filename)
        except MissingError:
            return None
        except TooLargeError:
            return LeftOutNote(
                filename, vault, NoteProblem.TOO_LARGE,
                f"“{filename}” has more than {MAX_FILE_BYTES // 2**20} MiB and is not read. Split the note, or move "
                "the file out of the vault.",
            )  # fmt: skip
        except FileError as error:
            return LeftOutNote(filename, vault, NoteProblem.UNREADABLE, f"“{filename}” was not fetched. {error}")
        return decoded(filename, data, vault)

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[ServerSession]:
        """A connection with the key, for a few requests. Raises ObsidianError where it cannot be made."""
        address, timeout_s = self.address, self._timeout_s
        key = await asyncio.to_thread(self._read_key) or ""
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
            headers={"Accept-Encoding": "identity"},
            auth=partial(_with_key, key),
            verify=context,
            timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
            limits=httpx.Limits(max_connections=self._concurrency),
            follow_redirects=False,
            trust_env=False,
        ) as client:
            yield ServerSession(address, client, self.breaker, key, timeout_s, asyncio.Semaphore(self._concurrency))
