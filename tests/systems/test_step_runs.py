"""A run whose stages are steps, whatever the system."""

import asyncio

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.systems.base import Moment
from lorestudio.systems.runner import Run
from lorestudio.trace.model import Outcome, Phase, PromptBlock, RunOutcome, StageStatus, Turn

SKARN, CROWN, BELL = (Entry(place, f"{name}.md", "v", name) for place, name in enumerate(("Skarn", "Crown", "Bell")))


def telling():
    chat = (Message("Wren", "A dragon.", is_user=True),)
    return Run(
        Moment(VaultIndex((SKARN, CROWN, BELL)), chat, Turn(1, 0, 0), timer=lambda: 0.0, seed=7, clock_ms=60_000)
    )


def matching(told):
    def work(ledger):
        for entry in (SKARN, CROWN):
            told.candidates.append(entry)
            ledger.add(entry, "key")
        return ledger.close(told.candidates)

    return told.step("keys", Phase.MATCH, work)


def dropping(told):
    def work(ledger):
        told.drop(ledger, SKARN, "blocked", by="a rule")
        return ledger.close(told.candidates)

    return told.step("gate", Phase.GATE, work)


def test_a_stage_enters_with_what_the_one_before_left() -> None:
    told = telling()
    keys, gate = asyncio.run(told.through((matching(told), dropping(told))))
    assert (keys.entered, keys.left) == ((), (0, 1))
    assert (gate.entered, gate.left) == ((0, 1), (1,))
    assert [(each.entry, each.outcome, each.details) for each in gate.verdicts] == [
        (0, Outcome.REMOVED, {"by": "a rule"})
    ]


def test_a_stage_that_breaks_leaves_the_candidates_to_the_next() -> None:
    told = telling()

    def breaks(_ledger):
        raise ValueError("no such place")

    _, broken, gate = asyncio.run(
        told.through((matching(told), told.step("order", Phase.BUDGET, breaks), dropping(told)))
    )
    assert (broken.status, broken.entered, broken.left) == (StageStatus.FAILED, (0, 1), (0, 1))
    assert "no such place" in broken.error
    assert gate.left == (1,)


def test_the_trace_names_the_entries_that_stages_speak_of_and_says_what_was_run() -> None:
    told = telling()
    records = asyncio.run(told.through((matching(told), dropping(told))))
    trace = told.trace("some", "by keys", records)
    assert set(trace.entries) == {0, 1}  # nobody spoke of the bell
    assert (trace.index_size, trace.turn, trace.seed, trace.clock_ms) == (3, Turn(1, 0, 0), 7, 60_000)
    assert trace.outcome is RunOutcome.NOTHING_INJECTED
    told.blocks = (PromptBlock("t", 2, 4, 0, "A crown.", ()),)
    assert told.trace("some", "by keys", records).outcome is RunOutcome.INJECTED


def test_entries_of_another_index_are_named_by_that() -> None:
    told = telling()
    other = VaultIndex((Entry(0, "Book", "lorebook", "Page"),))
    trace = told.trace("some", "by keys", asyncio.run(told.through((matching(told),))), other)
    assert [ref.title for ref in trace.entries.values()] == ["Page"]
    assert trace.index_size == 1
