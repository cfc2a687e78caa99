"""A vault behind Obsidian's Local REST API plugin, read as if it were a folder (rules: deeplore 1.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, TypeVar

import httpx
from msgspec import Struct

from lorestudio.domain.entry import LeftOutNote, NoteProblem
from lorestudio.vault import fields as field_file
from lorestudio.vault.files import NoteFile, VaultFiles, index_order
from lorestudio.vault.folder import MAX_FILE_BYTES, MAX_LEVELS, decoded, is_text, shown_name
from lorestudio.vault.obsidian.address import ObsidianAddress
from lorestudio.vault.obsidian.breaker import CircuitBreakers
from lorestudio.vault.obsidian.requests import (
    FileError,
    KeyReader,
    MissingError,
    ObsidianError,
    ServerSession,
    TooLargeError,
    open_session,
)

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


class Fetched(Struct, frozen=True):
    """What was fetched. `failure` is a sentence where a folder could not be listed, so that notes may be missing."""

    files: VaultFiles
    failure: str = ""


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
        self.breaker = (breakers or CircuitBreakers()).of(address.host, address.port)
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._transport = transport

    def __repr__(self) -> str:
        return f"ObsidianVault({self.address.name!r}, {self.address.url!r})"

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
        files = VaultFiles(
            self.address.name,
            tuple(note for note in notes if isinstance(note, NoteFile)),
            (*sorted(walk.left_out, key=lambda note: index_order(note.filename)), *broken),
        )
        return Fetched(files, walk.failure)

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

    def _open(self) -> AbstractAsyncContextManager[ServerSession]:
        """A connection with the key, for a few requests."""
        return open_session(
            self.address, self._read_key, self.breaker, self._concurrency, self._timeout_s, self._transport
        )
