"""Jobs, in threads and on the window's loop: who hears of them, how they are stopped, and that nothing is left."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
import weakref
from functools import partial
from inspect import iscoroutinefunction
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject

from lorestudio.domain.lifecycle import Cancelled, heed
from lorestudio.ui.shell import jobs as window_jobs
from lorestudio.ui.shell.jobs import ENDING_SECONDS, Beat, Job, Jobs, Newest, Strand, window_loop
from tests.ui.conftest import drain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot


class Listener(QObject):
    """Somebody who hears of a job."""

    def __init__(self, heard: list[object]) -> None:
        super().__init__()
        self.heard = heard

    def hear(self, news: object) -> None:
        self.heard.append(news)

    def hear_of(self, what: str, news: object) -> None:
        self.heard.append((what, news))

    def written_in_a_method(self) -> dict[str, Any]:
        return {"done": lambda news: self.hear_of("it", news), "ended": lambda: self.setObjectName("told")}


@pytest.fixture
def jobs(qapp: object) -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.close()
    drain()
    made.deleteLater()
    drain()


def start(jobs: Jobs, go: Event, way: str, listener: Listener) -> None:
    ways: dict[str, dict[str, Any]] = {
        "method": {"done": listener.hear},
        "partial": {"done": partial(listener.hear_of, "it")},
        "lambda": {"done": lambda news: listener.hear_of(way, news), "owner": listener},
        "written in a method": listener.written_in_a_method(),
    }
    jobs.start("Waiting", lambda _report: go.wait(60), failed=lambda _error: None, **ways[way])


@pytest.mark.parametrize("way", ["method", "partial", "lambda", "written in a method"])
@pytest.mark.parametrize("there", [True, False])
def test_whoever_is_deleted_hears_nothing(jobs: Jobs, qtbot: QtBot, way: str, there: bool) -> None:
    heard: list[object] = []
    listener, go = Listener(heard), Event()
    start(jobs, go, way, listener)
    if not there:
        listener.deleteLater()
        drain()
    go.set()
    qtbot.waitUntil(lambda: jobs.idle)
    assert len(heard) == there
    if there:
        listener.deleteLater()


def test_what_is_told_may_speak_of_the_job_that_tells_it(jobs: Jobs, qtbot: QtBot) -> None:
    class Starter(Listener):
        def start(self) -> None:
            job = jobs.start("Looking", lambda _job: "it", done=lambda news: self.hear_of(job.title, news))

    heard: list[object] = []
    starter = Starter(heard)
    starter.start()
    qtbot.waitUntil(lambda: jobs.idle)
    assert heard == [("Looking", "it")]
    starter.deleteLater()


def test_after_closing_nobody_hears_anything(jobs: Jobs) -> None:
    heard: list[object] = []
    listener, go = Listener(heard), Event()
    start(jobs, go, "lambda", listener)
    go.set()
    jobs.close()
    drain()
    assert heard == []
    listener.deleteLater()


def test_a_loop_runs_for_its_own_calls_only(qapp: object) -> None:
    seen: list[object] = []
    window_loop().call_soon(lambda: seen.append(asyncio.get_running_loop()))
    drain()
    assert seen == [window_loop()]
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()


class Heard:
    """Everything that was said of jobs, on which thread."""

    def __init__(self) -> None:
        self.said: list[tuple[str, object]] = []
        self.threads: set[threading.Thread] = set()

    @property
    def all(self) -> dict[str, Any]:
        """What a job is started with."""
        return {
            "done": partial(self._hear, "done"),
            "failed": partial(self._hear, "failed"),
            "reported": partial(self._hear, "reported"),
            "ended": partial(self._hear, "ended", None),
        }

    def _hear(self, what: str, news: object) -> None:
        self.said.append((what, news))
        self.threads.add(threading.current_thread())

    @property
    def kinds(self) -> list[str]:
        """What was heard, without what it was about."""
        return [what for what, _ in self.said]


def on_pool(job: Job) -> str:
    for number in range(3):
        job(number)
    return threading.current_thread().name


async def on_loop(job: Job) -> str:
    for number in range(3):
        job(number)
        await asyncio.sleep(0)
    return threading.current_thread().name


@pytest.mark.parametrize(("work", "where"), [(on_pool, "job"), (on_loop, "MainThread")])
def test_news_come_in_order_and_on_the_window_s_thread_before_the_end(
    jobs: Jobs, qtbot: QtBot, work: Any, where: str
) -> None:
    heard = Heard()
    jobs.start("Counting", work, **heard.all)
    assert not jobs.idle
    qtbot.waitUntil(lambda: jobs.idle)
    assert heard.kinds == ["reported"] * 3 + ["done", "ended"]
    assert [news for what, news in heard.said if what == "reported"] == [0, 1, 2]
    assert str(heard.said[3][1]).startswith(where)
    assert heard.threads == {threading.main_thread()}


async def for_ever(job: Job) -> None:
    job("begun")
    await asyncio.Event().wait()


def computing(job: Job) -> None:
    job.run(lambda: for_ever(job))


@pytest.mark.parametrize("work", [for_ever, computing])
def test_stopping_ends_what_is_waited_for(jobs: Jobs, qtbot: QtBot, work: Any) -> None:
    heard = Heard()
    job = jobs.start("Waiting", work, **heard.all)
    qtbot.waitUntil(lambda: heard.kinds == ["reported"])
    threading.Thread(target=job.cancel).start()
    qtbot.waitUntil(lambda: jobs.idle)
    assert heard.kinds == ["reported", "failed", "ended"]
    assert isinstance(heard.said[1][1], Cancelled)
    job.cancel()  # harmless by now


@pytest.mark.parametrize("work", [for_ever, computing])
def test_what_is_stopped_before_it_began_never_begins(jobs: Jobs, qtbot: QtBot, work: Any) -> None:
    heard, go = Heard(), Event()
    for _ in range(10):  # no thread is free
        jobs.start("Waiting", lambda _job: go.wait(60))
    job = jobs.start("Waiting", work, **heard.all)
    job.cancel()
    go.set()
    qtbot.waitUntil(lambda: jobs.idle)
    assert heard.kinds == ["failed", "ended"]


def test_a_coroutine_in_a_thread_gives_its_result_and_its_error(jobs: Jobs, qtbot: QtBot) -> None:
    async def seven() -> int:
        return 7

    async def broken() -> int:
        raise ValueError("no")

    heard = Heard()
    jobs.start("Twice", lambda job: job.run(seven) + job.run(seven), **heard.all)
    qtbot.waitUntil(lambda: jobs.idle)
    assert heard.said[0] == ("done", 14)
    jobs.start("Never", lambda job: job.run(broken), **heard.all)
    qtbot.waitUntil(lambda: jobs.idle)
    assert str(heard.said[2][1]) == "no"


async def breaking(_job: Job) -> None:
    raise LookupError("nobody looks")


def test_errors_that_nobody_wants_to_hear_of_are_told_all_the_same(jobs: Jobs, qtbot: QtBot) -> None:
    told: list[Exception] = []
    jobs.failed.connect(told.append)
    jobs.start("Breaking", breaking)
    jobs.start("Stopped", for_ever).cancel()
    qtbot.waitUntil(lambda: jobs.idle)
    assert [str(error) for error in told] == ["nobody looks"]


def test_an_error_while_telling_reaches_the_hook_for_unexpected_ones(
    jobs: Jobs, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    caught: list[object] = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: caught.append(error))

    def broken(_result: object) -> None:
        raise KeyError("told")

    jobs.start("Telling", on_loop, done=broken)
    qtbot.waitUntil(lambda: jobs.idle)
    qtbot.waitUntil(lambda: bool(caught))
    assert isinstance(caught[0], KeyError)


def test_what_the_loop_finds_by_itself_is_in_the_log(qapp: object, caplog: pytest.LogCaptureFixture) -> None:
    window_loop().call_exception_handler({"message": "a task was never awaited"})
    assert "event loop: a task was never awaited" in caplog.text


def test_nobody_waits_for_a_standing_job_and_closing_ends_it(jobs: Jobs, qtbot: QtBot) -> None:
    ended: list[str] = []

    async def follow(_job: Job) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)  # what has to be written is written
            ended.append("written")

    jobs.start("Following", follow, standing=True)
    assert jobs.idle
    drain()
    jobs.close()
    assert ended == ["written"]
    assert not asyncio.all_tasks(window_loop())


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads hold still for the window until the test times out."""
    monkeypatch.setattr(window_jobs, "COURTESY_SECONDS", 1000)


@pytest.mark.usefixtures("patient")
def test_threads_hold_still_until_the_turn_in_which_they_were_begun_is_over(jobs: Jobs, qtbot: QtBot) -> None:
    begun = Event()
    job = jobs.start("Computing", lambda _job: begun.set())
    assert not job.cancelled, "the window itself waits for nobody"
    assert not begun.wait(0.05)
    qtbot.waitUntil(begun.is_set)
    qtbot.waitUntil(lambda: jobs.idle)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("end", [False, True])
def test_threads_hold_still_until_what_they_told_is_shown(jobs: Jobs, qtbot: QtBot, end: bool) -> None:
    order: list[str] = []

    def compute(job: Job) -> None:
        while "told" not in order:
            time.sleep(0.001)
            heed(job.token)
        heed(job.token)
        order.append("went on")

    def tell(job: Job) -> None:
        if not end:
            job("so far")

    def show(_news: object) -> None:
        order.append("told")
        time.sleep(0.05)
        QCoreApplication.postEvent(picture, QEvent(QEvent.Type.UpdateRequest))

    class Picture(QObject):
        def event(self, _event: QEvent) -> bool:
            order.append("drawn")
            return True

    picture = Picture()
    jobs.start("Computing", compute)
    jobs.start("Telling", tell, **{"done" if end else "reported": show})
    qtbot.waitUntil(lambda: jobs.idle)
    assert order == ["told", "drawn", "went on"]
    picture.deleteLater()


def test_threads_hold_still_for_a_while_only(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_jobs, "COURTESY_SECONDS", 0.001)
    begun = Event()
    jobs.start("Computing", lambda _job: begun.set())
    assert begun.wait(60), "the window has not come to its next turn, and may be long in this one"
    assert window_loop().free.is_set(), "so whoever looks again in this turn goes on at once"


@pytest.mark.usefixtures("patient")
def test_whoever_blocks_the_window_until_threads_are_done_lets_them_go_on(jobs: Jobs) -> None:
    done: list[str] = []

    def write(job: Job) -> None:
        job("half of it")  # which nobody hears of before the end
        heed(job.token)
        done.append("written")

    jobs.start("Writing", write)
    assert jobs.wait(60_000)
    assert done == ["written"]


@pytest.mark.usefixtures("patient")
def test_the_window_does_not_wait_for_a_thread_that_holds_still_for_it(jobs: Jobs, qtbot: QtBot) -> None:
    begun, go = Event(), Event()

    def ask(job: Job) -> None:
        begun.set()
        go.wait(60)
        job.run(partial(for_ever, job))

    job = jobs.start("Asking", ask, failed=lambda _error: None)
    qtbot.waitUntil(begun.is_set)
    window_loop().free.clear()
    go.set()
    qtbot.wait(50)
    stopping = threading.Thread(target=job.cancel)
    stopping.start()
    stopping.join(60)
    stopped = not stopping.is_alive()
    window_loop().free.set()
    assert stopped
    qtbot.waitUntil(lambda: jobs.idle)


def test_closing_lets_functions_finish_and_begins_no_coroutine(jobs: Jobs) -> None:
    written: list[str] = []

    def write(_job: Job) -> None:
        written.append("written")

    for _ in range(10):
        jobs.start("Writing", write)
    jobs.close()
    assert len(written) == 10
    jobs.start("Too late", for_ever)
    jobs.close()
    assert not asyncio.all_tasks(window_loop())


def test_closing_does_not_wait_for_an_answer(jobs: Jobs, qtbot: QtBot) -> None:
    asked = threading.Event()

    async def ask() -> None:
        asked.set()
        await asyncio.sleep(600)

    jobs.start("Asking", lambda job: job.run(ask))
    qtbot.waitUntil(asked.is_set)
    assert jobs.wait(60_000)
    jobs.close()


def test_a_window_may_be_closed_by_what_is_told(jobs: Jobs, qtbot: QtBot) -> None:
    heard = Heard()
    begun = time.monotonic()
    jobs.start("Saving", lambda _job: None, done=lambda _none: (jobs.close(), heard.said.append(("closed", None))))
    qtbot.waitUntil(lambda: jobs.idle, timeout=3000)
    assert heard.kinds == ["closed"]
    assert time.monotonic() - begun < ENDING_SECONDS, "it does not wait for itself"


def test_closing_gives_up_what_does_not_end(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_jobs, "ENDING_SECONDS", 0.2)
    go = Event()
    jobs.start("Waiting", lambda _job: go.wait(60))
    jobs.close()
    assert not jobs.idle
    go.set()


@pytest.mark.parametrize("work", [on_pool, on_loop])
def test_whoever_keeps_a_job_keeps_nothing_of_what_it_worked_on(jobs: Jobs, qtbot: QtBot, work: Any) -> None:
    """It may be the last to let go, in another thread than the window's."""
    worked_on, told = Heard(), Heard()
    gone = [weakref.ref(each) for each in (worked_on, told)]
    job = jobs.start("Counting", _bound(work, worked_on), reported=partial(Heard._hear, told, "reported"))
    qtbot.waitUntil(lambda: jobs.idle)
    del worked_on, told
    gc.collect()
    assert [each() for each in gone] == [None, None]
    assert not job.cancelled


def _bound(work: Any, what: object) -> Any:
    """`work`, which holds something else besides."""
    if iscoroutinefunction(work):

        async def on_the_loop(job: Job, _held: object = what) -> object:
            return await work(job)

        return on_the_loop
    return lambda job, _held=what: work(job)


# ---- the newest wins ------------------------------------------------------------------------------------------------


class Typing:
    """Somebody who types, and a worker that runs each text once `go` lets it."""

    def __init__(self, jobs: Jobs) -> None:
        self.newest, self.go = Newest(jobs), Event()
        self.begun: list[str] = []
        self.told: list[str] = []

    def type(self, text: str, *, looks: bool = False, fails: bool = False) -> None:
        def work(job: Job) -> str:
            self.begun.append(text)
            self.go.wait(60)
            if looks and job.cancelled:
                raise Cancelled
            if fails:
                raise OSError(text)
            return text

        self.newest.start("Trying", work, done=self.told.append, failed=lambda error: self.told.append(repr(error)))


@pytest.mark.parametrize("how", [{}, {"looks": True}, {"fails": True}])
def test_newer_work_takes_the_place_of_what_waits_and_overtakes_what_runs(
    jobs: Jobs, qtbot: QtBot, how: dict[str, bool]
) -> None:
    typing = Typing(jobs)
    typing.type("a", **how)
    qtbot.waitUntil(lambda: typing.begun == ["a"])
    typing.type("b")
    typing.type("c")
    assert typing.newest.busy
    typing.go.set()
    qtbot.waitUntil(lambda: jobs.idle)
    assert (typing.begun, typing.told) == (["a", "c"], ["c"])
    assert not typing.newest.busy


def test_what_is_not_wanted_any_more_is_told_nobody(jobs: Jobs, qtbot: QtBot) -> None:
    typing = Typing(jobs)
    typing.type("a")
    typing.type("b")
    typing.newest.cancel()
    typing.go.set()
    qtbot.waitUntil(lambda: jobs.idle)
    assert typing.told == []
    assert "b" not in typing.begun


@pytest.mark.parametrize("end_all", [Jobs.wait, Jobs.close])  # a window does both
def test_what_is_only_looked_up_ends_when_all_is_closed_and_is_not_begun_any_more(
    jobs: Jobs, end_all: Callable[[Jobs], object]
) -> None:
    begun, seen = threading.Event(), list[str]()
    newest = Newest(jobs)

    def look(job: Job) -> None:
        begun.set()
        end = time.monotonic() + 60
        while not job.cancelled and time.monotonic() < end:
            time.sleep(0.001)
        seen.append("given up" if job.cancelled else "looked")

    newest.start("Looking", look, done=seen.append, failed=seen.append)
    assert begun.wait(60)
    end_all(jobs)
    assert seen == ["given up"]
    jobs.close()
    newest.start("Too late", lambda _job: seen.append("begun"), done=seen.append, failed=seen.append)
    assert (newest.busy, jobs.idle) == (False, True)
    assert seen == ["given up"]


def test_how_far_it_is_is_told_until_it_is_not_wanted_any_more(jobs: Jobs, qtbot: QtBot) -> None:
    newest, go, told = Newest(jobs), Event(), []

    def work(job: Job) -> str:
        job("half")
        go.wait(60)
        job("nearly all")
        return "all"

    newest.start("Trying", work, done=told.append, failed=told.append, reported=told.append)
    qtbot.waitUntil(lambda: told == ["half"])
    newest.cancel()
    go.set()
    qtbot.waitUntil(lambda: jobs.idle)
    assert told == ["half"]
    newest.start("Trying", work, done=told.append, failed=told.append)  # nobody wants to hear how far it is
    qtbot.waitUntil(lambda: jobs.idle)
    assert told == ["half", "all"]


def test_a_failure_is_told_and_the_next_starts_afresh(jobs: Jobs, qtbot: QtBot) -> None:
    typing = Typing(jobs)
    typing.go.set()
    for text, fails in (("a", True), ("b", False)):
        typing.type(text, fails=fails)
        qtbot.waitUntil(lambda: jobs.idle)
    assert typing.told == ["OSError('a')", "b"]


# ---- coroutines that share a thread ---------------------------------------------------------------------------------


def test_a_strand_runs_all_in_one_thread_and_tells_the_window(jobs: Jobs, qtbot: QtBot) -> None:
    strand, heard = Strand(jobs, "Recaps"), Heard()
    where: set[str] = set()
    lock = asyncio.Lock()

    async def work(number: int) -> int:
        async with lock:  # of one loop, so that they can wait for each other
            await asyncio.sleep(0)
            where.add(threading.current_thread().name)
        if number == 2:
            raise LookupError("two")
        return number

    for number in range(4):
        strand.start(partial(work, number), done=heard.all["done"], failed=heard.all["failed"])
    assert not strand.idle
    assert not jobs.idle
    qtbot.waitUntil(lambda: strand.idle)
    assert jobs.idle, "nobody waits for its thread"
    assert [news for what, news in heard.said if what == "done"] == [0, 1, 3]
    assert heard.kinds.count("failed") == 1
    assert len(where) == 1
    assert not where & {"MainThread"}
    assert heard.threads == {threading.main_thread()}
    strand.close()
    assert not strand._tasks, "hundreds of them in a long evening"


def test_closing_a_strand_stops_its_work_and_does_one_last_thing(jobs: Jobs, qtbot: QtBot) -> None:
    strand, heard, order = Strand(jobs, "Recaps"), Heard(), list[str]()
    strand.tell(partial(order.append, "nothing was begun"))

    async def wait() -> None:
        order.append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            order.append("stopped")

    async def last() -> None:
        await asyncio.sleep(0.05)  # whoever closes it waits for this
        order.append("last")

    strand.start(wait, failed=heard.all["failed"])
    qtbot.waitUntil(lambda: order == ["begun"])
    strand.close(last)
    assert order == ["begun", "stopped", "last"]
    qtbot.waitUntil(lambda: strand.idle)
    assert heard.kinds == []


def test_what_a_strand_stops_by_itself_does_not_keep_it_busy(jobs: Jobs, qtbot: QtBot) -> None:
    strand, tasks = Strand(jobs, "Recaps"), list[asyncio.Task[Any]]()

    async def wait() -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        await asyncio.Event().wait()

    async def stop() -> None:
        tasks[0].cancel()

    for work in (wait, stop):
        strand.start(work, failed=lambda error: pytest.fail(str(error)))
    qtbot.waitUntil(lambda: strand.idle)
    strand.close()


def test_news_are_due_once_in_a_beat_however_often_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.25  # of a computer that was switched on just now
    with monkeypatch.context() as patch:
        patch.setattr(window_jobs.time, "monotonic", lambda: now)
        usual, eager, told = Beat(1), Beat(1, at_once=True), []
        for now in (0.25, 0.75, 1.0, 1.25, 1.75, 2.0, 2.25):
            told += [(name, now) for name, beat in (("usual", usual), ("eager", eager)) if beat.due()]
    assert told == [("eager", 0.25), ("usual", 1.25), ("eager", 1.25), ("usual", 2.25), ("eager", 2.25)]
