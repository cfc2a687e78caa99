"""A library with a thread and an event loop of its own, for a window that keeps its vaults open."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.library import Library, LibraryListener, LibraryNews
from lorestudio.vault.cache import VaultCache
from lorestudio.vault.sources import VaultSource

logger = logging.getLogger(__name__)

ENDING_SECONDS: Final = 10.0


class LibraryThread:
    """Opens vaults from the cache at once, compares them with the disk in the background and follows them.

    The listener is called from the library's thread.
    """

    def __init__(
        self,
        sources: Sequence[VaultSource],
        settings: DeepLoreSettings,
        listener: LibraryListener,
        counter: TokenCounter = CHARS_4,
        cache_file: Path | None = None,
    ) -> None:
        self._make: Callable[[VaultCache], Library] = lambda cache: Library(
            sources, settings, counter, cache=cache, listener=listener
        )
        self._cache_file = cache_file
        self._first: Future[LibraryNews] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._library: Library | None = None
        self._thread = threading.Thread(target=self._run, name="vaults")

    def open(self) -> LibraryNews:
        """Start, and wait for the first index: the cached one where there is one. Raises what opening raised."""
        self._thread.start()
        return self._first.result()

    def request_refresh(self) -> None:
        """Read every file again; the listener is told."""
        if self._library is not None:
            self._library.request_refresh()

    def close(self) -> None:
        """End following; the cache is written before. Waits for the thread."""
        loop, stop = self._loop, self._stop
        if loop is not None and stop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)
        if self._thread.is_alive():
            self._thread.join(ENDING_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._follow())
        except Exception as error:
            logger.exception("following the vaults has failed")
            if not self._first.done():
                self._first.set_exception(error)  # whoever opened it is told

    async def _follow(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        cache = VaultCache(self._cache_file)
        try:
            async with self._make(cache) as library:
                self._library = library
                news = await library.open()
                self._first.set_result(news)
                library.follow()
                await self._stop.wait()
        finally:
            cache.close()
