"""Work that is stopped from another thread, and the board of the run under way."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.studio.project.answering import ChatRequest
from lorestudio.trace.model import Phase, StageRecord
from lorestudio.ui.shell.jobs import StoppableRun
from lorestudio.ui.state.live_run import LiveBoard, live_trace
from tests.ui.worlds import DAWNKEEP, RULES, make_project, make_trace


def test_work_gives_its_result_and_may_be_run_again() -> None:
    run = StoppableRun()

    async def seven() -> int:
        await asyncio.sleep(0)
        return 7

    assert run.run(seven) == 7
    assert run.run(seven) == 7


def test_work_is_stopped_in_the_middle_from_another_thread() -> None:
    run = StoppableRun()
    cleaned = []

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.append(True)

    stopper = threading.Timer(0.05, run.stop)
    stopper.start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        run.run(wait)
    stopper.join()
    assert time.monotonic() - start < 60
    assert cleaned == [True]
    assert run.stopped


def test_what_was_stopped_before_it_began_never_begins() -> None:
    run = StoppableRun()
    run.stop()
    begun = []

    async def work() -> None:
        begun.append(True)

    with pytest.raises(Cancelled):
        run.run(work)
    assert begun == []


def test_a_stop_after_the_end_does_nothing_and_errors_come_through() -> None:
    run = StoppableRun()

    async def broken() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run.run(broken)
    run.stop()


def test_the_board_shows_the_generation_under_way() -> None:
    clock = iter([10.0, 20.0, 30.0])
    board = LiveBoard(lambda: next(clock))
    now = [Generation(2)]
    board.follow(lambda: now[0])
    assert board.look() is None
    board.began("snapshot", Phase.LOAD)
    board.finished(StageRecord("snapshot", Phase.LOAD))
    board.began("AI selection", Phase.SELECT)
    request = ChatRequest("search", "s", "u")
    board.asked(request)
    board.heard("ab")
    board.heard("c")
    live = board.look()
    assert (live.generation, live.stage, live.reply, live.request) == (Generation(2), "AI selection", "abc", request)
    assert [record.name for record in live.records] == ["snapshot"]
    assert live.elapsed(23.5) == 3.5
    board.answered()
    assert (board.look().request, board.look().reply) == (None, "")
    now[0] = Generation(5)
    board.began("snapshot", Phase.LOAD)
    assert (board.look().generation, board.look().records) == (Generation(5), ())
    board.follow(lambda: None)
    assert board.look() is None


def test_a_run_under_way_is_a_trace_whose_last_stage_has_not_decided() -> None:
    done = make_trace().stages[:3]
    board = LiveBoard()
    board.follow(lambda: Generation(5, 1))
    board.began("snapshot", Phase.LOAD)
    for record in done:
        board.finished(record)
    board.began("AI selection", Phase.SELECT)
    trace = live_trace(board.look(), make_project().index, "deeplore", "two-stage")
    assert (trace.turn.message, trace.turn.swipe, trace.mode) == (5, 1, "two-stage")
    assert trace.stages[:-1] == done
    running = trace.stages[-1]
    assert running.name == "AI selection"
    assert running.entered == running.left == done[-1].left
    assert trace.entries[DAWNKEEP].title == "Dawnkeep"
    assert RULES in trace.entries
