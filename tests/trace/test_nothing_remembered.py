"""Runs in which nothing could come in: nothing was remembered, or the run broke off."""

from __future__ import annotations

from lorestudio.domain.records import replace
from lorestudio.systems.contextwindow.words import VOCABULARY as CONTEXT_WINDOW_WORDS
from lorestudio.systems.recap.words import VOCABULARY
from lorestudio.trace.model import Phase, RunOutcome, StageRecord, StageStatus, Trace, Turn
from lorestudio.trace.summary import summary


def recap_trace(note: str, left: tuple[int, ...] = ()) -> Trace:
    walk = StageRecord("inclusion walk", Phase.BUDGET, StageStatus.RAN, left, left, note=note)
    return Trace("recap", "", RunOutcome.INJECTED, Turn(2, 0, 1), {}, 0, (walk,), words=VOCABULARY)


def test_recap_memory_without_a_recap_remembers_nothing_unless_it_is_off() -> None:
    assert VOCABULARY.remarks(recap_trace("recap_walk"))
    assert not VOCABULARY.remarks(recap_trace("recap_walk", (1,)))
    assert not VOCABULARY.remarks(recap_trace("recap_off"))


def test_a_run_that_broke_off_is_not_explained_by_a_stage_that_never_ran() -> None:
    failed = StageRecord("snapshot", Phase.LOAD, StageStatus.FAILED, error="ValueError: boom")
    skipped = StageRecord("pages", Phase.LOAD, StageStatus.SKIPPED, note="fm_nothing_kept")
    trace = Trace("context-window", "", RunOutcome.NOTHING_INJECTED, Turn(2, 0, 1), {}, 0, (failed, skipped))
    trace = replace(trace, words=CONTEXT_WINDOW_WORDS)
    text = summary(trace)
    assert text.startswith("Nothing matched.")
    assert "boom" in text
