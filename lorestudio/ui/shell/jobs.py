"""The one way to work in the background: functions on one pool of threads, coroutines on the window's own loop.

Whatever it is, its news and its end are told on the GUI thread, it is stopped in one way, and an error that nobody
wanted to hear of becomes a notice.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import math
import sys
import threading
import time
from asyncio import _get_running_loop, _set_running_loop
from collections.abc import Callable, Coroutine
from concurrent import futures
from contextvars import Context
from functools import partial
from inspect import iscoroutinefunction, isfunction
from typing import Any, Final, TypeVar
from weakref import WeakSet

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtCore import QEventLoop as QtEventLoop
from qasync import QEventLoop
from shiboken6 import isValid

from lorestudio.domain.lifecycle import Cancelled, CancelToken, Stopped, heed

logger = logging.getLogger(__name__)

_Result = TypeVar("_Result")

THREADS: Final = 6
"""One may wait for a person and others compute; files are still read."""

COURTESY_SECONDS: Final = 0.1
"""So long at most threads hold still for a turn of the window, since both want the same interpreter."""

ENDING_SECONDS: Final = 10.0
"""How long the end of a window waits for what is under way."""

_AFTER_DRAWING: Final = Qt.EventPriority.LowEventPriority.value - 1
"""Qt draws with low priority. A timer would not do: one that is begun by another may come before what was posted."""

_NOT_THE_PERSON: Final = (
    QtEventLoop.ProcessEventsFlag.ExcludeUserInputEvents | QtEventLoop.ProcessEventsFlag.ExcludeSocketNotifiers
)

# ---- the loop -------------------------------------------------------------------------------------------------------


class _Handle(asyncio.Handle):
    """A call that finds its loop running, whoever handles Qt's events at the moment."""

    _loop: asyncio.AbstractEventLoop

    def _run(self) -> None:
        before = _get_running_loop()
        _set_running_loop(self._loop)
        try:
            super()._run()
        finally:
            _set_running_loop(before)


class _Turn(QObject):
    """Ends a turn of the window: what comes to it does so once all else was handled, and drawn."""

    def __init__(self, free: threading.Event) -> None:
        super().__init__()
        self._free = free

    def event(self, _event: QEvent) -> bool:
        """Qt: threads may go on."""
        self._free.set()
        return True


class WindowLoop(QEventLoop):  # type: ignore[misc]  # qasync is not typed
    """Its tasks go on wherever Qt's events are handled: in the program, in a test, while a picture is drawn."""

    def __init__(self) -> None:
        super().__init__(QCoreApplication.instance())
        self.pool = futures.ThreadPoolExecutor(THREADS, thread_name_prefix="job")
        self.set_default_executor(self.pool)  # what coroutines hand to threads goes there, too
        self.set_exception_handler(_unexpected)
        self.free = threading.Event()
        """Whether threads may compute; not while the window takes in what one of them told, or began one."""
        self.free.set()
        self._turn = _Turn(self.free)
        self.blocked = False
        """Whether the window itself waits for a thread, and takes in nothing."""

    def go_first(self) -> None:
        """Have the threads of the pool hold still until this turn of the window, with what it draws, is over."""
        self.free.clear()
        QCoreApplication.postEvent(self._turn, QEvent(QEvent.Type.User), _AFTER_DRAWING)

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.Handle:
        """Call it on the GUI thread, after so many seconds."""
        handle: asyncio.Handle = self._add_callback(_Handle(callback, args, self, context=context), delay)
        return handle


def _unexpected(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if isinstance(error, BaseException):
        sys.excepthook(type(error), error, error.__traceback__)
    else:
        logger.error("event loop: %s", context.get("message"))


_loops: Final[list[WindowLoop]] = []


def window_loop() -> WindowLoop:
    """The loop of the application, made on first use, and anew after it was closed."""
    if not _loops or _loops[0].is_closed():
        _loops[:] = [WindowLoop()]
        atexit.register(_loops[0].close)  # while Qt still is there, also where nobody has run it
    return _loops[0]


def _pump_until(done: Callable[[], bool]) -> None:
    """Handle events, but nothing that the person does, until it is so; for the end of a window only."""
    end = time.monotonic() + ENDING_SECONDS
    while not done() and time.monotonic() < end:
        QCoreApplication.processEvents(_NOT_THE_PERSON)
        time.sleep(0.001)


# ---- the jobs -------------------------------------------------------------------------------------------------------


class _Token(CancelToken):
    """That of a job: in a thread of the pool, whoever looks at it holds still while the window goes first."""

    def __init__(self, loop: WindowLoop) -> None:
        super().__init__()
        self._free = loop.free

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked."""
        held = not self._free.is_set() and threading.current_thread() is not threading.main_thread()
        if held and not self._free.wait(COURTESY_SECONDS):
            self._free.set()  # once for a turn: the next look would wait as long again
        return super().cancelled


class Beat:
    """Says when news are due where there are more than anybody could read; the first ones may be `at_once`."""

    def __init__(self, seconds: float, *, at_once: bool = False) -> None:
        self._seconds, self._last = seconds, -math.inf if at_once else time.monotonic()

    def due(self) -> bool:
        """Whether so many seconds have gone by since they were due last."""
        now = time.monotonic()
        due = now - self._last >= self._seconds
        self._last = now if due else self._last
        return due


class Job:
    """One piece of work: whoever began it can stop it, and the work itself calls it with its news."""

    def __init__(self, title: str, work: Callable[[Job], Any], tell: Callable[[object], object]) -> None:
        self.title, self.token = title, _Token(window_loop())
        self.on_loop = iscoroutinefunction(work)
        self.standing = False
        """Whether nobody waits for it, as it goes on until it is stopped."""
        self._work, self._tell, self._loop = work, tell, window_loop()
        self._lock = threading.Lock()
        self._awaited: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._thread: futures.Future[Any] | None = None

    def __call__(self, news: object) -> None:
        """Tell whoever began it how far it is; from any thread, which then holds still until that was shown."""
        if not self._loop.blocked:
            self._loop.free.clear()
        self._loop.call_soon_threadsafe(self._hear, news)

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked to stop; work that computes looks here, or at `token`, from time to time."""
        return self.token.cancelled

    @property
    def awaits(self) -> bool:
        """Whether it runs a coroutine just now, as work does that asks a provider."""
        return self._awaited is not None

    def cancel(self) -> None:
        """Stop it, from any thread: what it waits for ends at once. Harmless before it began and after it ended."""
        self.token.cancel()
        if self._thread is not None:
            self._thread.cancel()
        with self._lock:
            if self._awaited is not None:
                loop, task = self._awaited
                loop.call_soon_threadsafe(task.cancel)

    def run(self, work: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
        """For work on the pool that has to wait now and then: the result of a coroutine, which runs in this thread.

        Raises Cancelled when the job was stopped, and what the coroutine raises.
        """
        return asyncio.run(self._awaiting(work))

    async def _awaiting(self, work: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # a coroutine is in one
        with self._lock:
            self._awaited = asyncio.get_running_loop(), task
        try:
            heed(self.token)  # without the lock, for which `cancel` would wait as long as this holds still
            return await work()
        except asyncio.CancelledError:
            raise Cancelled from None
        finally:
            with self._lock:
                self._awaited = None

    def _hear(self, news: object) -> None:
        self._loop.go_first()
        self._tell(news)

    def begin(self) -> asyncio.Future[Any]:
        """Put it on the loop, or in line for a thread; for `Jobs`."""
        if self.on_loop:
            task: asyncio.Future[Any] = self._loop.create_task(self._awaiting(partial(self._work, self)))
            return task
        self._loop.go_first()
        self._thread = self._loop.pool.submit(self._in_thread)
        return asyncio.wrap_future(self._thread, loop=self._loop)

    def _in_thread(self) -> object:
        heed(self.token)
        return self._work(self)

    def wait(self, seconds: float) -> bool:
        """Block until its thread is done with it."""
        self._loop.blocked = True
        self._loop.free.set()
        try:
            return self._thread is None or not futures.wait([self._thread], seconds).not_done
        finally:
            self._loop.blocked = False

    def let_go(self) -> None:
        """Forget the work on the GUI thread: what belongs to Qt must not end in another."""
        self._work = self._tell = _ignore


class Jobs(QObject):
    """The jobs of one window, each known until whoever began it was told of its end.

    `failed` carries errors that nobody else wanted to hear of.
    """

    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._running: set[Job] = set()
        self._telling: set[Job] = set()
        self.closed = False
        self.newest: WeakSet[Newest] = WeakSet()
        """What is given up when it is closed: nobody wants to know any more."""

    def start(
        self,
        title: str,
        work: Callable[[Job], Any],
        *,
        done: Callable[[Any], object] | None = None,
        failed: Callable[[Exception], object] | None = None,
        reported: Callable[[Any], object] | None = None,
        ended: Callable[[], object] | None = None,
        owner: QObject | None = None,
        standing: bool = False,
    ) -> Job:
        """Run `work(job)`: a function in a thread of the pool, a coroutine on the window's loop.

        A coroutine must leave what takes long to `asyncio.to_thread`; a function can have `job.run` wait for a
        coroutine. The others are called on the GUI thread with what came of it, `ended` after all of them; a job that
        was stopped fails with Cancelled. Whoever is deleted meanwhile hears nothing: `owner`, else the object whose
        method a function is, or in whose method it was written. A `standing` job goes on until it is stopped, and
        nobody waits for it.
        """
        job = Job(title, work, self._until_closed(reported or _ignore, owner))
        done = self._until_closed(done or _ignore, owner)
        failed = self._until_closed(failed or self._unheard, owner)
        self._running.add(job)
        job.standing = standing
        job.begin().add_done_callback(partial(self._ended, job, done, failed, ended))
        if self.closed and job.on_loop:
            job.cancel()
        return job

    @property
    def idle(self) -> bool:
        """Whether nothing runs but what is standing, and all news have been delivered."""
        return all(job.standing for job in self._running)

    def wait(self, milliseconds: int = 10_000) -> bool:
        """Block until the threads are done, stopping what only awaits an answer and what is only looked up.

        For the end of the program only.
        """
        for newest in self.newest:
            newest.cancel()
        for job in tuple(self._running):
            if job.awaits:
                job.cancel()
        end = time.monotonic() + milliseconds / 1000
        return all(job.wait(max(0.0, end - time.monotonic())) for job in tuple(self._running))

    def close(self) -> None:
        """Stop what waits and what is only looked up, let what else computes finish, and tell nobody of it: whoever
        wanted to know may be gone.
        """
        self.closed = True
        for newest in self.newest:
            newest.cancel()
        for job in self._running:
            if job.on_loop:
                job.cancel()
        _pump_until(lambda: self._running <= self._telling)  # what is told just now may be why the window closes

    def _until_closed(self, told: Callable[[Any], object], owner: QObject | None) -> Callable[[Any], object]:
        """`told`, unless everything is closed by then, or whoever wants to hear it is deleted."""
        listener = owner if owner is not None else listener_of(told)

        def tell(news: object) -> None:
            if not self.closed and (listener is None or isValid(listener)):
                told(news)

        return tell

    def _ended(
        self,
        job: Job,
        done: Callable[[Any], object],
        failed: Callable[[Exception], object],
        ended: Callable[[], object] | None,
        future: asyncio.Future[Any],
    ) -> None:
        window_loop().go_first()
        job.let_go()
        self._telling.add(job)
        try:
            error = Cancelled() if future.cancelled() else future.exception()
            if error is None:
                done(future.result())
            elif isinstance(error, Exception):
                logger.debug("job %r failed", job.title, exc_info=error)
                failed(error)
        finally:
            for known in (self._running, self._telling):
                known.discard(job)
            if ended is not None and not self.closed and is_heard(ended):
                ended()

    def _unheard(self, error: Exception) -> None:
        if not isinstance(error, Stopped):
            self.failed.emit(error)


class Newest:
    """Work of which only the newest counts, while somebody types.

    Newer work stops what is under way, which nobody hears of any more, and takes the place of what waits.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._job: Job | None = None
        self._waiting: Callable[[], None] | None = None
        jobs.newest.add(self)

    @property
    def busy(self) -> bool:
        """Whether something is under way that is wanted."""
        return self._waiting is not None or (self._job is not None and not self._job.cancelled)

    def start(
        self,
        title: str,
        work: Callable[[Job], Any],
        *,
        done: Callable[[Any], object],
        failed: Callable[[Exception], object],
        reported: Callable[[Any], object] | None = None,
        ended: Callable[[], object] | None = None,
        owner: QObject | None = None,
    ) -> None:
        """Do this, once what is under way has ended, and unless all is closed; otherwise as `Jobs.start`."""
        self.cancel()
        if self._jobs.closed:
            return
        owner = owner or listener_of(done)

        def heard(news: object) -> None:
            if reported is not None and self._job is not None and not self._job.cancelled:
                reported(news)

        def told(tell: Callable[[Any], object], news: object) -> None:
            job, self._job = self._job, None
            waiting, self._waiting = self._waiting, None
            if waiting is not None:
                waiting()
            if job is not None and not job.cancelled:
                tell(news)

        def begin() -> None:
            self._job = self._jobs.start(
                title, work, done=partial(told, done), failed=partial(told, failed), reported=heard, ended=ended,
                owner=owner,
            )  # fmt: skip

        if self._job is None:
            begin()
        else:
            self._waiting = begin

    def cancel(self) -> None:
        """Nothing is wanted any more; what is under way is told nobody."""
        self._waiting = None
        if self._job is not None:
            self._job.cancel()


class Strand:
    """Coroutines that share what they work on, and compute more than the window's loop may.

    All run in one thread of the pool, which is taken for the first of them and kept until `close`; as a job it stands
    while none of them is under way.
    """

    def __init__(self, jobs: Jobs, title: str) -> None:
        self._jobs, self._title = jobs, title
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._early: list[Callable[[], object]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._last: Callable[[], Coroutine[Any, Any, object]] | None = None
        self._job: Job | None = None
        self._under_way = 0

    @property
    def idle(self) -> bool:
        """Whether nothing runs and all results have been delivered."""
        return self._under_way == 0

    def start(
        self,
        work: Callable[[], Coroutine[Any, Any, _Result]],
        *,
        done: Callable[[_Result], object] | None = None,
        failed: Callable[[Exception], object],
    ) -> None:
        """Run `work()` beside the others; one of the two is called on the GUI thread with what came of it."""
        self._under_way += 1
        if self._job is None:
            self._job = self._jobs.start(self._title, lambda job: job.run(self._serve), reported=lambda what: what())
        self._job.standing = False

        def begin() -> None:
            task = asyncio.create_task(self._do(work, done or _ignore, failed))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        with self._lock:
            if self._loop is None:
                self._early.append(begin)
            else:
                self._loop.call_soon_threadsafe(begin)

    def tell(self, what: Callable[[], object]) -> None:
        """Call this on the GUI thread; for the work, from its thread."""
        if self._job is not None:
            self._job(what)

    def close(self, last: Callable[[], Coroutine[Any, Any, object]] | None = None) -> None:
        """Stop all work, do `last`, and wait for the thread; for the end of a window only."""
        self._last = last
        if self._job is not None:
            self._job.cancel()
            self._job.wait(ENDING_SECONDS)

    async def _serve(self) -> None:
        with self._lock:
            self._loop = asyncio.get_running_loop()
            for begin in self._early:
                begin()
        try:
            await asyncio.Event().wait()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if self._last is not None:
                await self._last()

    async def _do(
        self,
        work: Callable[[], Coroutine[Any, Any, _Result]],
        done: Callable[[_Result], object],
        failed: Callable[[Exception], object],
    ) -> None:
        told: Callable[[], object] = partial(_ignore, None)  # of what its own kind has stopped
        try:
            told = partial(done, await work())
        except Exception as error:  # noqa: BLE001  # whatever it is must reach the person
            told = partial(failed, error)
        finally:
            self.tell(partial(self._deliver, told))

    def _deliver(self, told: Callable[[], object]) -> None:
        self._under_way -= 1
        if self._job is not None:
            self._job.standing = self.idle
        told()


def listener_of(told: Callable[..., object]) -> QObject | None:
    """The object whose method it is, also with arguments given already, or the `self` that it speaks of.

    None where it is none of Qt's.
    """
    bound = told.func if isinstance(told, partial) else told
    names, cells = (bound.__code__.co_freevars, bound.__closure__ or ()) if isfunction(bound) else ((), ())
    spoken_of = next((cell.cell_contents for name, cell in zip(names, cells, strict=True) if name == "self"), None)
    listener = getattr(bound, "__self__", spoken_of)
    return listener if isinstance(listener, QObject) else None


def is_heard(told: Callable[..., object]) -> bool:
    """Whether whoever would hear it is still there."""
    listener = listener_of(told)
    return listener is None or isValid(listener)


def _ignore(_news: object) -> None:
    """Nobody wants to know."""
