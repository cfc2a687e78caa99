"""Running stages: order, time, failures, early ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import run_stages
from lorestudio.trace.model import Phase, RunOutcome, StageRecord, StageStatus
from tests.systems.worlds import entry, prepared, world

THERE = world(entry("A"), entry("B"))


class Doing:
    """A stage that does what it is told."""

    phase = Phase.MATCH

    def __init__(self, name: str, action: Callable[[Any], None]) -> None:
        self.name = name
        self._action = action

    async def run(self, state: Any, ctx: Any) -> StageRecord:
        assert ctx is THERE.context
        ledger = Ledger(self, state.candidates)
        self._action(state)
        return ledger.close(state.candidates)


def nothing(state: Any) -> None:
    """Leave everything as it is."""


def fail(state: Any) -> None:
    state.let_in(THERE["B"], "half")
    raise KeyError("B")


def end(state: Any) -> None:
    state.outcome = RunOutcome.EMPTY_AFTER_GATING


def outcome(stages: Sequence[Doing], *, always: bool = False) -> tuple[tuple[StageRecord, ...], Any]:
    state = prepared(THERE, "A")
    return asyncio.run(run_stages(stages, state, THERE.context, THERE.context.moment, always=always)), state


def test_a_failure_is_contained_in_its_record(caplog: pytest.LogCaptureFixture) -> None:
    records, state = outcome([Doing("one", nothing), Doing("two", fail), Doing("three", nothing)])
    assert [(record.name, record.status) for record in records] == [
        ("one", StageStatus.RAN), ("two", StageStatus.FAILED), ("three", StageStatus.RAN),
    ]  # fmt: skip
    assert records[1].error == "KeyError: 'B'"
    assert [(record.entered, record.left) for record in records] == [((0,), (0,))] * 3
    assert [one.title for one in state.candidates] == ["A"]
    assert state.matched == {0}  # what came in half-way counts as not matched
    assert "Stage 'two' failed" in caplog.text
    assert "KeyError" in caplog.text


def test_after_an_early_end_stages_are_skipped() -> None:
    records, _ = outcome([Doing("one", end), Doing("two", fail)])
    assert [(record.status, record.note) for record in records] == [
        (StageStatus.RAN, ""), (StageStatus.SKIPPED, "stopped_early"),
    ]  # fmt: skip


def test_some_stages_run_all_the_same() -> None:
    records, _ = outcome([Doing("one", end), Doing("two", nothing)], always=True)
    assert [record.status for record in records] == [StageStatus.RAN] * 2


def test_stages_are_timed_failures_too() -> None:
    """The timer of these worlds goes on by a millisecond each time it is read."""
    records, _ = outcome([Doing("one", nothing), Doing("two", fail)])
    assert [round(record.duration_ms, 6) for record in records] == [1.0, 1.0]


def test_cancelling_is_no_failure() -> None:
    def cancel(state: Any) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        outcome([Doing("one", cancel)])
