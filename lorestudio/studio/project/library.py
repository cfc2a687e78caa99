"""The vaults of a project, kept fresh: opened at once from the cache, checked in the background, followed from then on.

A `Library` belongs to the event loop that opens it, and its callbacks run there; reading and parsing happen in worker
threads. Reading `index` is allowed from every thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from msgspec import Struct

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import Cancelled, run_whole
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault.cache import VaultCache
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.folder import KnownFile, KnownVault, ScannedVault, parser_key
from lorestudio.vault.index import (
    IndexChanges,
    RefreshReason,
    VaultState,
    current_parser,
    definition_path,
    field_definitions,
    polling_seconds,
    state_of,
    update,
)
from lorestudio.vault.sources import OnRead, VaultSource
from lorestudio.vault.watching import DEFAULT_TIMES, WatchTimes, watch_folder

logger = logging.getLogger(__name__)

_Result = TypeVar("_Result")

NAMES_SHOWN: Final = 3
"""How many titles of each kind of change are named (rules: deeplore-tools 3.10)."""


class LibraryNews(Terse, frozen=True):
    """The index after it was opened or refreshed.

    `confirmed` is False while the index comes from the cache and was not yet compared with the vaults. `changed` is
    False where `index` is the very object it was before. `read` and `parsed` count files. `failures` are sentences for
    the person. `state` is what `index` was made of.
    """

    unprinted = ("state",)

    index: VaultIndex
    reason: RefreshReason
    confirmed: bool = True
    changed: bool = True
    read: int = 0
    parsed: int = 0
    failures: tuple[str, ...] = ()
    state: VaultState | None = None


class LibraryListener(Struct, frozen=True):
    """Whom a library tells: about news, and about what has failed."""

    news: Callable[[LibraryNews], None] = lambda _: None
    problem: Callable[[str], None] = lambda _: None


class Library:
    """The index of several vaults and everything that keeps it fresh.

    Without a `cache` every opening reads all notes. What was read of these vaults before can be `known`.
    """

    def __init__(
        self,
        sources: Sequence[VaultSource],
        settings: DeepLoreSettings,
        counter: TokenCounter = CHARS_4,
        *,
        cache: VaultCache | None = None,
        listener: LibraryListener = LibraryListener(),
        times: WatchTimes = DEFAULT_TIMES,
        known: VaultState | None = None,
    ) -> None:
        self.sources = tuple(sources)
        self._settings = settings
        self._counter = counter
        self._cache = cache
        self._listener = listener
        self._times = times
        self._state = known
        self._stored: tuple[KnownVault, ...] = ()
        self._confirmed = False
        self._turn = asyncio.Lock()
        self._queued: asyncio.Task[LibraryNews] | None = None
        self._running: asyncio.Task[LibraryNews] | None = None
        self._thorough = False
        self._background: set[asyncio.Task[Any]] = set()
        self._follows = False
        self._following: set[asyncio.Task[Any]] = set()
        self._polling: asyncio.Task[Any] | None = None
        self._problems: dict[str, None] = {}

    # ---- what there is ----------------------------------------------------------------------------------------------

    @property
    def index(self) -> VaultIndex:
        """The newest index; before the library is open what was known, else empty. May be read from every thread."""
        state = self._state
        return state.index if state is not None else VaultIndex()

    # ---- what can be done -------------------------------------------------------------------------------------------

    async def open(self, on_progress: OnRead | None = None) -> LibraryNews:
        """Give the index: at once as known or cached, with the comparison going on in the background, else by reading.

        Vaults that cannot be read are `failures`; the index is then that of the others.
        """
        state = self._state
        if state is None and self._cache is not None and self.sources:
            state = await asyncio.to_thread(self._hydrate)
            self._stored = state.vaults if state is not None else ()
        if state is None:
            return await self.refresh(RefreshReason.OPENED, on_progress)
        self._state = state
        news = LibraryNews(state.index, RefreshReason.OPENED, confirmed=False, state=state)
        self._listener.news(news)
        self._tell_cache_problems()
        self._in_background(self.refresh(RefreshReason.OPENED, on_progress))
        return news

    async def refresh(
        self, reason: RefreshReason = RefreshReason.MANUAL, on_progress: OnRead | None = None
    ) -> LibraryNews:
        """Look at all vaults and take in what has changed.

        A manual refresh reads every file; others trust the file system's word that a file is unchanged. Calls that
        come while a refresh waits for its turn share it. Cancelling the caller does not stop it; `cancel` does, and
        then Cancelled is raised here.
        """
        self._thorough = self._thorough or reason is RefreshReason.MANUAL
        if self._queued is None:
            self._queued = self._tracked(self._refresh_in_turn(reason, on_progress))
        return await _shared(self._queued)

    def follow(self) -> None:
        """Notice changes from now on: in folders as they happen, and every so often where the settings say so."""
        if self._follows:
            return
        self._follows = True
        self._following = {
            self._in_background(self._watch(source)) for source in self.sources if source.folder is not None
        }
        seconds = polling_seconds(self._settings)
        self._polling = None if seconds is None else self._in_background(self._poll(seconds))

    async def settled(self) -> None:
        """Wait until no refresh is under way and everything is in the cache."""
        while waiting := [
            task for task in self._background if task not in self._following and task is not self._polling
        ]:
            await asyncio.wait(waiting)

    async def close(self) -> None:
        """End everything that goes on in the background, but let the cache be written."""
        for task in (*self._following, self._polling, self._running, self._queued):
            if task is not None:
                task.cancel()
        self._follows, self._following, self._polling = False, set(), None
        while self._background:
            await asyncio.wait(self._background)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    # ---- how it is done ---------------------------------------------------------------------------------------------

    def _hydrate(self) -> VaultState | None:
        """All vaults from the cache, None where one of them is missing or was parsed with other rules."""
        cache = self._cache
        if cache is None:
            return None
        path = definition_path(self._settings)
        text = cache.text(self.sources[0].id, path)
        if text is None:
            return None
        rules = ParseRules.from_settings(self._settings, field_definitions(text, path).fields)
        parser = parser_key(rules)
        vaults = []
        for source in self.sources:
            vault = cache.hydrate(source.id, source.name, parser)
            if vault is None:
                return None
            vaults.append(vault)
        return state_of(vaults, self._settings, self._counter)

    async def _refresh_in_turn(self, reason: RefreshReason, on_progress: OnRead | None) -> LibraryNews:
        try:
            async with self._turn:
                # Whoever asks from now on wants another look.
                self._running, self._queued = self._queued, None
                thorough, self._thorough = self._thorough, False
                return await self._refresh(reason, on_progress, thorough=thorough)
        finally:
            if self._running is asyncio.current_task():
                self._running = None
            elif self._queued is asyncio.current_task():
                self._queued = None

    async def _refresh(self, reason: RefreshReason, on_progress: OnRead | None, *, thorough: bool) -> LibraryNews:
        previous, settings, counter = self._state, self._settings, self._counter
        scanned = await self._scan(previous, settings, on_progress, thorough=thorough)
        result = await asyncio.to_thread(update, previous, scanned, settings, counter)
        self._state = result.state
        self._confirmed = self._confirmed or not result.failures
        news = LibraryNews(
            result.state.index,
            reason,
            self._confirmed,
            changed=previous is None or result.state.index is not previous.index,
            read=result.read,
            parsed=result.parsed,
            failures=result.failures,
            state=result.state,
        )
        self._listener.news(news)
        if self._cache is not None:
            self._in_background(self._store(result.state))
        return news

    async def _scan(
        self, previous: VaultState | None, settings: DeepLoreSettings, on_progress: OnRead | None, *, thorough: bool
    ) -> list[ScannedVault]:
        """All vaults as they are now: first the first one, because it decides how the others are read."""
        path = definition_path(settings)

        def known(number: int, parser: str | None = None) -> dict[str, KnownFile]:
            files = previous.files(number, parser) if previous is not None else {}
            return {name: replace(file, stamp=None) for name, file in files.items()} if thorough else files

        if not self.sources:
            return []
        first = await self.sources[0].scan(known(0), path, on_progress)
        parser = current_parser(previous, first, settings)
        if any(file.text is None for file in first.files) and not known(0, parser):
            first = await self.sources[0].scan({}, path, on_progress)
        others = [
            source.scan(known(number, parser), path, on_progress) for number, source in enumerate(self.sources[1:], 1)
        ]
        return [first, *await asyncio.gather(*others)]

    async def _store(self, state: VaultState) -> None:
        """Keep what has changed since the last time."""
        cache, stored, self._stored = self._cache, self._stored, state.vaults
        if cache is None:
            return
        for number, (source, vault) in enumerate(zip(self.sources, state.vaults, strict=True)):
            if vault.parser and (number >= len(stored) or stored[number] != vault):
                await asyncio.to_thread(cache.store, source.id, vault, source.folder)
        self._tell_cache_problems()

    async def _watch(self, source: VaultSource) -> None:
        folder = source.folder
        if folder is None:
            return
        async for _ in watch_folder(folder, self._times):
            with suppress(Cancelled):
                await self.refresh(RefreshReason.CHANGED_ON_DISK)

    async def _poll(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            with suppress(Cancelled):
                await self.refresh(RefreshReason.POLL)

    def _tracked(self, work: Coroutine[Any, Any, _Result]) -> asyncio.Task[_Result]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    def _in_background(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
        """Work that nobody waits for: its failure is told to the listener."""
        task = self._tracked(work)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[object]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, Cancelled):
            logger.error("work on the vaults failed", exc_info=error)
            self._listener.problem(f"Following the vaults has failed: {error}. Refresh them by hand.")

    def _tell_cache_problems(self) -> None:
        for problem in self._cache.problems if self._cache is not None else ():
            if problem not in self._problems:
                self._problems[problem] = None
                self._listener.problem(problem)


async def _shared(task: asyncio.Task[_Result]) -> _Result:
    """The task's result; it goes on where only the caller is cancelled. Raises Cancelled where the task was stopped."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if task.cancelled() and not _being_cancelled():
            raise Cancelled from None
        raise


def _being_cancelled() -> bool:
    caller = asyncio.current_task()
    return caller is not None and caller.cancelling() > 0


def read_once(
    sources: Sequence[VaultSource],
    settings: DeepLoreSettings,
    counter: TokenCounter = CHARS_4,
    cache: VaultCache | None = None,
    on_read: OnRead | None = None,
) -> LibraryNews:
    """The index as the vaults are now, for callers that wait; what is cached is not parsed again.

    `on_read` hears how many of how many files are read; what it raises ends that.
    """

    async def work() -> LibraryNews:
        async with Library(sources, settings, counter, cache=cache) as library:
            news = await library.open(on_read)
            if not news.confirmed:
                news = await library.refresh(RefreshReason.OPENED)
            await library.settled()
            return news

    return run_whole(work())


def changes_text(changes: IndexChanges) -> str:
    """What has changed in one line, "" for nothing; of each kind the first titles are named.

    An entry that is gone in one file and there in another was moved.
    """
    gone, new = ({(entry.vault, entry.title) for entry in each} for each in (changes.removed, changes.added))
    kinds = (
        ("added", [entry for entry in changes.added if (entry.vault, entry.title) not in gone]),
        ("removed", [entry for entry in changes.removed if (entry.vault, entry.title) not in new]),
        ("moved", [entry for entry in changes.added if (entry.vault, entry.title) in gone]),
        ("changed", changes.modified),
        ("with other keys", changes.keys_changed),
        ("with other fields changed", changes.other),
    )
    return "; ".join(f"{len(entries)} {kind} ({_titles(entries)})" for kind, entries in kinds if entries)


def _titles(entries: Sequence[Entry]) -> str:
    shown = ", ".join(entry.title for entry in entries[:NAMES_SHOWN])
    return f"{shown}, …" if len(entries) > NAMES_SHOWN else shown


def reading_key(settings: DeepLoreSettings, counter: TokenCounter) -> tuple[object, ...]:
    """All of the settings that an index depends on: where two keys are equal, the same files give the same index."""
    parsed = ParseRules.from_settings(settings, ()), definition_path(settings), settings.rule_set.tabbed_definitions
    joined = settings.multi_vault_conflict_resolution, settings.rule_set.conflicts_across
    return *parsed, *joined, counter.identity
