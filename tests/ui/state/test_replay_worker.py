"""The board of the run under way, and how a replay is stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.studio.project.answering import ChatRequest
from lorestudio.trace.model import Phase, StageRecord
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.state.replay_worker import LiveBoard, Replay, WantedReplay, live_trace
from tests.ui.worlds import DAWNKEEP, RULES, FakeSimulator, make_project, make_trace


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


def test_between_two_stages_none_runs_and_without_a_generation_nothing_is_noted() -> None:
    board, now = LiveBoard(), [Generation(5)]
    board.heard("nobody asked")
    assert board.look() is None
    board.follow(lambda: now[0])
    board.began("snapshot", Phase.LOAD)
    board.finished(make_trace().stages[0])
    live = board.look()
    assert (live.stage, len(live.records)) == ("", 1)
    assert live_trace(live, make_project().index, "deeplore", "").stages == make_trace().stages[:1]
    now[0] = None
    board.began("keywords", Phase.MATCH)
    assert board.look() is None


def test_a_replay_that_is_stopped_gives_up_the_question_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator, given_up = FakeSimulator(make_project(tmp_path)), list[bool]()
    monkeypatch.setattr(simulator, "abandon", lambda: given_up.append(True))
    Replay(WantedReplay(RunChoice()), {}, simulator=simulator).stop()
    assert given_up == [True]
