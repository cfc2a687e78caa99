"""Asynchronous work in a worker's own event loop, which another thread can stop in the middle."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from lorestudio.studio.jobs import Cancelled

_Result = TypeVar("_Result")


class StoppableRun:
    """Runs one coroutine. `stop` may be called from any thread, also before it began and after it ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    def run(self, work: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
        """The result of `work()`. Raises Cancelled when it was stopped, and what the work raises."""
        return asyncio.run(self._guarded(work))

    def stop(self) -> None:
        """Cancel what runs: connections are closed, nothing is written."""
        with self._lock:
            self._stopped = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)

    @property
    def stopped(self) -> bool:
        """Whether somebody asked."""
        return self._stopped

    async def _guarded(self, work: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
        with self._lock:
            if self._stopped:
                raise Cancelled
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        try:
            return await work()
        except asyncio.CancelledError:
            raise Cancelled from None
        finally:
            with self._lock:
                self._loop = self._task = None
