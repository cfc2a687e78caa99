"""A vault behind Obsidian's Local REST API plugin, read as if it were a folder (spec: deeplore-engine 1.1).

Nothing here prints, logs or keeps the key: it is asked for when a request is made and goes into that request alone.
Redirects are not followed and proxies are not used, since the key would go along.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import json
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote, urlsplit

import httpx

from lorestudio.domain.entry import LeftOutNote, NoteProblem
from lorestudio.vault import fields as field_file
from lorestudio.vault.breaker import CircuitBreaker, CircuitBreakers, CircuitOpenError, HostFailure
from lorestudio.vault.files import ChangedOnDisk, NoteFile, SaveError, VaultError, VaultFiles
from lorestudio.vault.folder import MAX_FILE_BYTES, MAX_LEVELS, describe_bad_encoding
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.order import index_order

KeyReader = Callable[[], str | None]
"""Gives the plugin's API key, None or "" where there is none.

It is called in a thread, since a keyring may wait for the person. What it raises comes out of the call that needed
the key.
"""

HTTP_PORT: Final = 27123
HTTPS_PORT: Final = 27124
CONNECT_S: Final = 5.0
REQUEST_S: Final = 15.0
CONCURRENCY: Final = 8

_MASK: Final = "•••"
_NOT_FOUND: Final = 40400
"""The plugin's own code beside the status 404."""
_GATEWAY_ERRORS: Final = frozenset({502, 503, 504})
"""Said about the host; another error status is about the one request."""

_Result = TypeVar("_Result")


class ObsidianError(VaultError):
    """The vault cannot be fetched; the message says why and what to do."""


class PausedError(ObsidianError):
    """Too many requests have failed, and the host is left alone for another `seconds`."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class _FileError(ObsidianError):
    """One file or folder could not be fetched; others may."""


class _MissingError(_FileError):
    """There is no such file or folder."""


@dataclass(frozen=True, slots=True)
class ObsidianAddress:
    """Where a vault's plugin listens (spec: deeplore-ai-and-tools 4.5).

    `any_certificate` accepts certificates that nobody vouches for; on this computer, where the plugin makes its own,
    they are always accepted.
    """

    name: str
    host: str = "127.0.0.1"
    port: int = HTTP_PORT
    https: bool = False
    any_certificate: bool = False

    @property
    def url(self) -> str:
        """The address without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.https else 'http'}://{host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether the host is this computer."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def warning(self) -> str:
        """What a person should know about the address, "" for nothing."""
        if self.https or self.local:
            return ""
        return (
            f"The key of the vault “{self.name}” goes to {self.host} without encryption. Use https, where the plugin "
            f"listens on port {HTTPS_PORT}."
        )


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was fetched. `failure` is a sentence where a folder could not be listed, so that notes may be missing.

    `unread` are notes that exist and could not be fetched; they are in `files.left_out` as well.
    """

    files: VaultFiles
    failure: str = ""
    unread: tuple[LeftOutNote, ...] = ()


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes = field(repr=False)
    version: str | None = None
    """The entity tag, which newer versions of the plugin send."""


def obsidian_address(place: str) -> ObsidianAddress:
    """`http://127.0.0.1:27123/Name`: the last part is what the vault is called here. Raises VaultError."""
    try:
        parts = urlsplit(place)
        port = parts.port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT)
    except ValueError as error:
        raise VaultError(f"{place} is no address ({error}). Write it as http://127.0.0.1:27123") from error
    if not parts.hostname or parts.username or parts.password or parts.query:
        raise VaultError(f"{place} is no address of Obsidian's plugin. Write it as http://127.0.0.1:27123")
    name = unquote(parts.path.strip("/")) or "Obsidian"
    return ObsidianAddress(name, parts.hostname, port, parts.scheme == "https")


class ObsidianVault:
    """One vault at `address`. All vaults at the same host and port should get the same `breakers`.

    `transport` replaces the network in tests.
    """

    def __init__(
        self,
        address: ObsidianAddress,
        read_key: KeyReader,
        breakers: CircuitBreakers | None = None,
        *,
        concurrency: int = CONCURRENCY,
        timeout_s: float = REQUEST_S,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.address = address
        self._read_key = read_key
        self._breaker = (breakers or CircuitBreakers()).of(address.host, address.port)
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._transport = transport

    def __repr__(self) -> str:
        return f"ObsidianVault({self.address.name!r}, {self.address.url!r})"

    @property
    def breaker(self) -> CircuitBreaker:
        """The state of the connection, to be shown."""
        return self._breaker

    async def fetch(
        self,
        on_progress: Callable[[int, int], None] | None = None,
        *,
        definition_path: str = field_file.DEFAULT_PATH,
    ) -> Fetched:
        """All notes in DeepLore's order, then the file of field definitions if there is one.

        `on_progress` gets the number of files fetched and their total. Raises ObsidianError where the vault, or
        its definitions, cannot be fetched at all. Cancelling ends the requests.
        """
        definition_path = definition_path or field_file.DEFAULT_PATH
        async with self._session() as session:
            walk = _Walk(session, self.address.name)
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

            notes = await _all([fetch_one(filename) for filename in filenames])
            if not definition_path.endswith(".md"):
                definitions = await self._fetch_note(session, definition_path)
                if isinstance(definitions, LeftOutNote) and definitions.problem is NoteProblem.UNREADABLE:
                    raise ObsidianError(definitions.message)
                notes.append(definitions)
        broken = [note for note in notes if isinstance(note, LeftOutNote)]
        files = VaultFiles(
            self.address.name,
            tuple(note for note in notes if isinstance(note, NoteFile)),
            (*sorted(walk.left_out, key=lambda note: index_order(note.filename)), *broken),
        )
        unread = tuple(note for note in broken if note.problem is NoteProblem.UNREADABLE)
        return Fetched(files, walk.failure, unread)

    async def read_note(self, filename: str) -> tuple[str, str]:
        """The text of a note and the digest of its bytes, as `lorestudio.vault.read_note` gives them for a file.

        Raises VaultError where it cannot be fetched or is not UTF-8.
        """
        async with self._session() as session:
            data = (await session.get(filename)).body
        try:
            return data.decode("utf-8"), hashlib.sha256(data).hexdigest()
        except UnicodeDecodeError as error:
            raise VaultError(describe_bad_encoding(filename, data, error)) from error

    async def save_note(self, filename: str, text: str, expected_digest: str | None) -> str:
        """Write a note and return its new digest.

        `expected_digest` is what `read_note` gave; None says that the note does not exist yet. Raises ChangedOnDisk
        where the vault holds something else, with nothing written, and SaveError where saving fails.
        """
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            raise SaveError(
                f"“{filename}” was not saved: line {line} contains half of a character, which no file can hold. "
                "Delete it and save again."
            ) from error
        try:
            async with self._session() as session:
                version = await self._compare(session, filename, expected_digest)
                answer = await session.put(filename, data, version)
        except SaveError:
            raise
        except ObsidianError as error:
            raise SaveError(f"Saving “{filename}” failed. {error}") from None
        if answer.status == 412:
            raise ChangedOnDisk(
                Path(filename),
                f"“{filename}” was not saved: the note was changed in Obsidian at the same moment. Compare the two "
                "versions and decide which one to keep.",
            )
        return hashlib.sha256(data).hexdigest()

    @staticmethod
    async def _compare(session: _Session, filename: str, expected_digest: str | None) -> dict[str, str]:
        """Raise ChangedOnDisk unless the note is the expected one; else the headers that say so to the plugin.

        Newer versions of the plugin then compare once more at the moment of writing; older ones ignore the headers.
        """
        try:
            current = await session.get(filename)
        except _MissingError:
            if expected_digest is None:
                return {"If-None-Match": "*"}
            raise ChangedOnDisk(
                Path(filename),
                f"“{filename}” was not saved: the note has been deleted, moved or renamed in Obsidian since it was "
                "opened. Save it as a new note, or put it back.",
            ) from None
        if expected_digest is None:
            raise ChangedOnDisk(
                Path(filename), f"“{filename}” was not saved: a note of that name exists already. Choose another name."
            )
        if hashlib.sha256(current.body).hexdigest() != expected_digest:
            raise ChangedOnDisk(
                Path(filename),
                f"“{filename}” was not saved: the note has changed in Obsidian since it was opened. Compare the two "
                "versions and decide which one to keep.",
            )
        return {} if current.version is None else {"If-Match": current.version}

    async def _fetch_note(self, session: _Session, filename: str) -> NoteFile | LeftOutNote | None:
        """One note; None where it was deleted after it was listed."""
        vault = self.address.name
        try:
            data = (await session.get(filename)).body
        except _MissingError:
            return None
        except _TooLargeError:
            return LeftOutNote(
                filename, vault, NoteProblem.TOO_LARGE,
                f"“{filename}” has more than {MAX_FILE_BYTES // 2**20} MiB and is not read. Split the note, or move "
                "the file out of the vault.",
            )  # fmt: skip
        except _FileError as error:
            return LeftOutNote(filename, vault, NoteProblem.UNREADABLE, f"“{filename}” was not fetched. {error}")
        try:
            return NoteFile(filename, data.decode("utf-8").removeprefix(BOM))
        except UnicodeDecodeError as error:
            return LeftOutNote(filename, vault, NoteProblem.BAD_ENCODING, describe_bad_encoding(filename, data, error))

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[_Session]:
        """A connection with the key, for a few requests."""
        key = await asyncio.to_thread(self._read_key) or ""
        self._check(key)
        try:
            url = httpx.URL(self.address.url)
        except (httpx.InvalidURL, UnicodeError):
            raise ObsidianError(
                f"The address {self.address.url} is not valid. Correct the host and the port of the vault."
            ) from None
        # Loading the certificates that this computer trusts takes its time.
        context = await asyncio.to_thread(_tls, self.address) if self.address.https else False
        async with httpx.AsyncClient(
            base_url=url,
            auth=_KeyHeader(key),
            verify=context,
            timeout=httpx.Timeout(self._timeout_s, connect=min(CONNECT_S, self._timeout_s)),
            limits=httpx.Limits(max_connections=self._concurrency),
            follow_redirects=False,
            trust_env=False,
            transport=self._transport,
        ) as client:
            yield _Session(self.address, client, self._breaker, key, self._timeout_s, self._concurrency)

    def _check(self, key: str) -> None:
        if not key:
            raise ObsidianError(
                f"There is no key for the vault “{self.address.name}”. Copy it from Obsidian: Settings, Local REST API."
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ObsidianError(
                f"The key for the vault “{self.address.name}” holds a space or a character that no key has. Copy it "
                "again from Obsidian: Settings, Local REST API."
            )


class _TooLargeError(_FileError):
    """The file is larger than any note."""


@dataclass(frozen=True, slots=True)
class _Session:
    """Requests to the plugin, each guarded by the breaker and the time limit."""

    address: ObsidianAddress
    client: httpx.AsyncClient
    breaker: CircuitBreaker
    key: str = field(repr=False)
    timeout_s: float
    concurrency: int
    slots: asyncio.Semaphore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", asyncio.Semaphore(self.concurrency))

    async def get(self, filename: str) -> _Answer:
        """A file's bytes. Raises ObsidianError."""
        if ".." in filename.split("/") or filename.startswith("/"):
            answer = _Answer(404, b"")
        else:
            async with self.slots:
                answer = await self._send("GET", filename)
        if answer.status == 404:
            raise _MissingError(f"There is no “{filename}” in the vault “{self.address.name}”.")
        return answer

    async def listing(self, folder: str) -> list[str]:
        """The names in a folder, whose own name is "" or ends in `/`; sub-folders end in `/`. Raises ObsidianError."""
        async with self.slots:
            answer = await self._send("GET", folder)
        try:
            said = json.loads(answer.body)
            if answer.status == 404 and (folder or said["errorCode"] == _NOT_FOUND):
                return []  # what the plugin says of an empty folder
            return [name for name in said["files"] if isinstance(name, str)]
        except (ValueError, TypeError, KeyError):
            pass
        raise ObsidianError(
            f"What answers at {self.address.url} is not Obsidian's Local REST API. Check the port: the plugin listens "
            f"on {HTTP_PORT}, with https on {HTTPS_PORT}."
        )

    async def put(self, filename: str, data: bytes, conditions: dict[str, str]) -> _Answer:
        """Write a file. The answer's status is 412 where a condition was not met. Raises ObsidianError."""
        headers = {"Content-Type": "text/markdown; charset=utf-8", **conditions}
        async with self.slots:
            return await self._send("PUT", filename, data, headers)

    async def _send(
        self, method: str, filename: str, data: bytes | None = None, headers: dict[str, str] | None = None
    ) -> _Answer:
        path = f"/vault/{quote(filename)}"
        failure = ""
        waiting = 0.0
        try:
            with self.breaker.call():
                answer = await self._exchanged(method, path, data, headers)
        except CircuitOpenError as paused:
            waiting = max(paused.seconds, 0.1)
        except HostFailure as problem:
            failure = str(problem)
        if waiting:
            message = (
                f"{self._where()} has failed several times and is left alone for another {waiting:.1f} s. Check that "
                "Obsidian is running; then try again."
            )
            raise PausedError(message, waiting)
        if failure:
            raise _FileError(failure)
        return self._checked(answer)

    async def _exchanged(self, method: str, path: str, data: bytes | None, headers: dict[str, str] | None) -> _Answer:
        """The answer. Raises HostFailure."""
        answer = await self._attempt(method, path, data, headers)
        if answer is None and method == "GET":
            # A connection that was kept open may have been closed by the other side; once is no failure.
            answer = await self._attempt(method, path, data, headers)
        if answer is None:
            raise HostFailure(self._dropped(method))
        return answer

    async def _attempt(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str] | None
    ) -> _Answer | None:
        """One exchange; None where the connection was dropped. Raises HostFailure.

        It is raised outside the handlers: attached to it, the original would carry the request and its key.
        """
        try:
            async with asyncio.timeout(self.timeout_s):
                answer = await self._exchange(method, path, data, headers)
        except (TimeoutError, httpx.TimeoutException) as error:
            connecting = isinstance(error, httpx.ConnectTimeout)
            failure = self._no_connection() if connecting else self._too_slow(method)
        except httpx.ConnectError as error:
            failure = self._no_certificate(error) or self._no_connection()
        except httpx.RequestError:
            return None
        else:
            if answer.status not in _GATEWAY_ERRORS:
                return answer
            failure = f"{self._where()} answers with error {answer.status}. Restart Obsidian, then try again."
        raise HostFailure(failure)

    async def _exchange(self, method: str, path: str, data: bytes | None, headers: dict[str, str] | None) -> _Answer:
        async with self.client.stream(method, path, content=data, headers=headers) as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_FILE_BYTES:
                    return _Answer(413, b"")
            return _Answer(response.status_code, bytes(body), response.headers.get("ETag"))

    def _checked(self, answer: _Answer) -> _Answer:
        status = answer.status
        if 200 <= status < 300 or status in (404, 412):
            return answer
        if status == 413:
            raise _TooLargeError("The file is too large.")
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
        raise _FileError(f"{self._where()} answers with error {status}{f': {said}' if said else ''}. Try again.")

    def _said(self, body: bytes) -> str:
        """The plugin's own words, without the key."""
        try:
            answer = json.loads(body)
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

    def _too_slow(self, method: str) -> str:
        what = f"{self._where()} did not answer within {self.timeout_s:g} s."
        return f"{what} {self._unknown_outcome() if method == 'PUT' else 'Try again.'}"

    def _dropped(self, method: str) -> str:
        what = f"{self._where()} closed the connection before its answer was complete."
        return f"{what} {self._unknown_outcome() if method == 'PUT' else 'Try again; check the port and https.'}"

    @staticmethod
    def _unknown_outcome() -> str:
        return "Whether the note was written is not known: look at it in Obsidian before you save again."


class _Walk:
    """Lists a vault's folders, some at a time."""

    def __init__(self, session: _Session, vault: str) -> None:
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
            if not _is_text(filename):
                shown = filename.encode("utf-8", "replace").decode()
                self._leave_out(
                    shown, NoteProblem.UNREADABLE, f"The name of “{shown}” is not valid text. Rename it in Obsidian."
                )
            elif name.endswith("/"):
                folders.append(filename)
            elif name.endswith(".md"):
                self.found.add(filename)
        await _all([self._list(filename, level + 1) for filename in folders])

    async def _list(self, folder: str, level: int) -> None:
        if level >= MAX_LEVELS:
            self._leave_out(
                folder, NoteProblem.TOO_DEEP,
                f"The folder “{folder}” lies {level} levels deep, and DeepLore lists {MAX_LEVELS - 1}. Move it up.",
            )  # fmt: skip
            return
        try:
            names = await self._session.listing(f"{folder}/")
        except _FileError as error:
            self.failure = self.failure or f"The folder “{folder}” of “{self._vault}” was not listed. {error}"
            self._leave_out(folder, NoteProblem.UNREADABLE, f"The folder “{folder}” was not listed. {error}")
            return
        await self._take(f"{folder}/", names, level)

    def _leave_out(self, filename: str, problem: NoteProblem, message: str) -> None:
        self.left_out.append(LeftOutNote(filename, self._vault, problem, message))


class _KeyHeader(httpx.Auth):
    """Puts the key into the request at the last moment, so that no dictionary of headers lies about with it."""

    def __init__(self, key: str) -> None:
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._key}"
        yield request


async def _all(jobs: Sequence[Coroutine[Any, Any, _Result]]) -> list[_Result]:
    """The results of all jobs in order; the first failure, or being cancelled, stops the others."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _tls(address: ObsidianAddress) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if address.local or address.any_certificate:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
