"""Work off the GUI thread: a job runs in a thread of its own pool, and its news come back as queued signals.

Asynchronous work in a worker's own event loop, which another thread can stop in the middle.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal
from shiboken6 import isValid

from lorestudio.domain.lifecycle import Cancelled

logger = logging.getLogger(__name__)


class Job(QObject):
    """One piece of work. `done` carries its result, `failed` the exception; `reported` what the work reports.

    Each job ends with exactly one of the two, and with `ended` after it.
    """

    reported = Signal(object)
    done = Signal(object)
    failed = Signal(object)
    ended = Signal()

    def __init__(self, title: str, work: Callable[[Callable[[object], None]], Any], parent: QObject) -> None:
        super().__init__(parent)
        self.title = title
        self.work = work


class _Task(QRunnable):
    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def run(self) -> None:
        """Do the work; whatever it raises is handed to the GUI thread."""
        job = self._job
        try:
            result = job.work(job.reported.emit)
        except Exception as error:  # whatever it is must reach the person
            logger.debug("job %r failed", job.title, exc_info=error)
            job.failed.emit(error)
        else:
            job.done.emit(result)
        finally:
            job.ended.emit()


class Jobs(QObject):
    """The jobs of one window, at most four at a time, each known until it has ended."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(4)  # a replay may wait for a person, a test for a server; files are still read
        self._pool.setExpiryTimeout(200)
        self._running: dict[Job, _Task] = {}
        self._closed = False

    def start(
        self,
        title: str,
        work: Callable[[Callable[[object], None]], Any],
        *,
        done: Callable[[Any], object],
        failed: Callable[[Exception], object],
        reported: Callable[[Any], object] | None = None,
        owner: QObject | None = None,
    ) -> Job:
        """Run `work(report)` in a thread; the other functions are called on the GUI thread with what came of it.

        Whoever is deleted meanwhile hears nothing: `owner`, else the object whose method a function is.
        """
        job = Job(title, work, self)
        queued = Qt.ConnectionType.QueuedConnection
        job.done.connect(self._until_closed(done, owner), queued)
        job.failed.connect(self._until_closed(failed, owner), queued)
        if reported is not None:
            job.reported.connect(self._until_closed(reported, owner), queued)
        task = _Task(job)
        task.setAutoDelete(False)
        self._running[job] = task
        job.ended.connect(lambda: self._forget(job), queued)
        self._pool.start(task)
        return job

    @property
    def idle(self) -> bool:
        """Whether nothing runs and all news have been delivered."""
        return not self._running

    def wait(self, milliseconds: int = 10_000) -> bool:
        """Block until the threads are done; for the end of the program only."""
        return self._pool.waitForDone(milliseconds)

    def close(self) -> None:
        """Wait for what runs, and tell nobody of it: whoever wanted to know may be gone by then."""
        self._closed = True
        self.wait()

    def _until_closed(self, told: Callable[[Any], object], owner: QObject | None) -> Callable[[Any], object]:
        """`told`, unless everything is closed by then, or whoever wants to hear it is deleted."""
        bound = told.func if isinstance(told, partial) else told
        listener = owner if owner is not None else getattr(bound, "__self__", None)

        def tell(news: object) -> None:
            gone = isinstance(listener, QObject) and not isValid(listener)
            if not self._closed and not gone:
                told(news)

        return tell

    def _forget(self, job: Job) -> None:
        self._running.pop(job, None)
        job.deleteLater()


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
