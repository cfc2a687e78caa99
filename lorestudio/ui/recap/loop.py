"""An event loop in a thread of its own, for work that goes on beside the window; its news come back as signals."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

logger = logging.getLogger(__name__)

_Result = TypeVar("_Result")

WAIT_S: Final = 10.0
"""How long the end of the program waits for what is being written."""


class Loop(QObject):
    """Begun with the first call. All that is called runs in one thread; what it hands back is called on the GUI's."""

    _came = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._under_way = 0
        self._stopped = False
        self._came.connect(self._hear, Qt.ConnectionType.QueuedConnection)

    @property
    def idle(self) -> bool:
        """Whether nothing runs and all results have been delivered."""
        return self._under_way == 0

    def call(
        self,
        work: Callable[[], Coroutine[Any, Any, _Result]],
        done: Callable[[_Result], object],
        failed: Callable[[Exception], object],
    ) -> None:
        """Run `work()` in the loop; one of the others is called on the GUI thread with what came of it."""
        self._under_way += 1
        asyncio.run_coroutine_threadsafe(self._guarded(work, done, failed), self._begun())

    def tell(self, what: Callable[[], object]) -> None:
        """Call this on the GUI thread; for the work, from its thread."""
        self._came.emit(what)

    def stop(self, last: Callable[[], Coroutine[Any, Any, object]] | None = None) -> None:
        """End all work, do `last`, and wait for the thread. Nothing is called afterwards."""
        self._stopped = True
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_end(loop, last), loop)
        thread.join(WAIT_S)

    def _begun(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_run, args=(self._loop,), name="recap", daemon=True)
            self._thread.start()
        return self._loop

    async def _guarded(
        self,
        work: Callable[[], Coroutine[Any, Any, _Result]],
        done: Callable[[_Result], object],
        failed: Callable[[Exception], object],
    ) -> None:
        try:
            result = await work()
        except asyncio.CancelledError:
            self.tell(partial(self._deliver, lambda: None))
            raise
        except Exception as error:  # whatever it is must reach the person
            logger.debug("work beside the window failed", exc_info=error)
            self.tell(partial(self._deliver, partial(failed, error)))
        else:
            self.tell(partial(self._deliver, partial(done, result)))

    def _hear(self, what: Callable[[], object]) -> None:
        if not self._stopped:
            what()

    def _deliver(self, what: Callable[[], object]) -> None:
        self._under_way -= 1
        what()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


async def _end(loop: asyncio.AbstractEventLoop, last: Callable[[], Coroutine[Any, Any, object]] | None) -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    try:
        if last is not None:
            await last()
    except Exception:
        logger.exception("the end of the work beside the window failed")
    finally:
        loop.call_soon(loop.stop)
