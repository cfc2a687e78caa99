"""Running stages: order, time, failures, early ends.

Holding an entry in after the stage that stopped it.

The random stream against its published definition and the recorded draws (rules: scenario-format 4).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.systems.deeplore.run import run
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import Hold, Mulberry32, run_stages
from lorestudio.trace.held_run import WouldState, would_also
from lorestudio.trace.journey import FateState, Journeys
from lorestudio.trace.model import Phase, RunOutcome, StageRecord, StageStatus
from tests.examples import examples
from tests.golden.compare import Case, read_cases
from tests.golden.files import GOLDEN_DEV
from tests.systems.worlds import changed, entry, prepared, rules, world

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


CHAT = ["U: The lamp burns by the gate.", "Ann: Yes."]
STOPS_NOBODY = {FateState.INJECTED, FateState.TRUNCATED}


def traced(there):
    return asyncio.run(run(there.context)).trace


def held(there, title, stopped_by=None):
    """What would become of an entry, asked after the stage that stopped it."""
    number = there[title].id
    end = Journeys(traced(there)).fate(number)
    stage = stopped_by if stopped_by is not None else end.stage if end.state is FateState.REMOVED else ""
    trace = asyncio.run(run(changed(there.context, held=Hold(number, stage)))).trace
    return trace, would_also(trace)


def stops(would):
    return [(cell.stage, cell.verdict.reason) for cell in would.cells if cell.state is WouldState.STOP]


def test_what_was_not_matched_would_be_gated_and_cut_too():
    there = world(
        entry("Lamp", "lamp", priority=1, tokens=90),
        entry("Crown", "crown", tokens=258, custom_fields={"era": ["old"]}),
        chat=CHAT, context={"era": "new"}, max_tokens_budget=190,
    )  # fmt: skip

    trace, would = held(there, "Crown")

    assert (trace.facts["held"]["entry"], trace.facts["held"]["stopped_by"]) == (1, "")
    assert stops(would) == [
        ("contextual gating (selection)", "gated_field"), ("contextual gating", "gated_field"),
    ]  # fmt: skip
    assert would.at("budget").verdict.reason == "truncated"
    assert trace.facts["held"]["put_back"] == ["contextual gating (selection)", "contextual gating"]


def budget_sentences(crown_tokens, budget):
    there = world(
        entry("Lamp", "lamp", priority=1, tokens=150), entry("Crown", "crown", tokens=crown_tokens),
        chat=CHAT, max_tokens_budget=budget,
    )  # fmt: skip
    return held(there, "Crown")[1].sentences


def test_the_budget_says_what_is_lacking():
    # 150 + 188 = 338 is 158 more than 180, of which 30 are left: fewer than are worth a part (rules: deeplore 5.7).
    assert budget_sentences(188, 180) == ("would also be cut by the budget: needs 158 more tokens",)
    assert budget_sentences(188, 338) == ("would pass all later stages",)
    (shortened,) = budget_sentences(188, 250)
    assert shortened.startswith("would be shortened by the budget, from 188 tokens to ")


def test_it_stands_at_the_place_where_it_stood_before():
    same = (entry(name, "lamp", priority=number, tokens=10) for number, name in enumerate("ABCD", start=1))
    there = world(*same, chat=CHAT, blocks=rules("B"))

    trace, _would = held(there, "B")

    assert trace.facts["held"]["stopped_by"] == "pins and blocks"
    assert [injection.title for injection in trace.injections] == ["A", "B", "C", "D"]


def test_requirements_give_it_its_place_by_importance():
    there = world(
        entry("A", "lamp", priority=0, tokens=10), entry("B", "lamp", priority=40, requires=("Z",), tokens=10),
        entry("Z", tokens=10), chat=CHAT,
    )  # fmt: skip

    trace, _would = held(there, "B")

    assert trace.facts["held"]["stopped_by"] == "requires and excludes"
    # A priority of 0 counts as 50 there (rules: deeplore 5.5), so B comes first although A was ahead of it.
    assert [injection.title for injection in trace.injections] == ["B", "A"]


def test_the_run_goes_on_where_it_had_ended_because_nobody_was_left():
    there = world(entry("Lamp", "lamp", custom_fields={"era": ["old"]}), chat=CHAT, context={"era": "new"})

    _, would = held(there, "Lamp")

    assert stops(would) == [("contextual gating", "gated_field")]
    assert [cell.stage for cell in would.cells if cell.state is WouldState.GO_ON][-1] == "placement"


def test_it_brings_nobody_in_and_draws_nothing():
    there = world(
        entry("Crown", "crown", content="The mouse wears it.", cascade_links=("Dice",)),
        entry("Mouse", "mouse"), entry("Dice", "dice", probability=0.5), entry("Lamp", "lamp", probability=0.5),
        chat=CHAT, recursive_scan=True, draws=[0.4],
    )  # fmt: skip

    trace, would = held(there, "Crown")

    assert {injection.title for injection in trace.injections} == {"Crown", "Lamp"}
    assert trace.draws == (0.4,)
    assert stops(would) == []
    assert would.sentences == ("would pass all later stages",)


def test_an_excluded_one_that_is_held_drops_the_other():
    there = world(
        entry("Hob", "lamp", priority=90, excludes=("Vane",)), entry("Vane", "gate", priority=10, excludes=("Hob",)),
        chat=CHAT,
    )  # fmt: skip

    trace, _would = held(there, "Hob")

    assert trace.facts["held"]["stopped_by"] == "requires and excludes"
    assert {injection.title for injection in trace.injections} == {"Hob", "Vane"}


NAMES = "ABCDEF"
notes = st.lists(
    st.fixed_dictionaries({
        "keys": st.lists(st.sampled_from(["lamp", "gate", "crown"]), max_size=2),
        "priority": st.integers(0, 60),
        "tokens": st.integers(1, 200),
        "requires": st.lists(st.sampled_from(NAMES), max_size=1).map(tuple),
        "excludes": st.lists(st.sampled_from(NAMES), max_size=1).map(tuple),
        "custom_fields": st.sampled_from([{}, {"era": ["old"]}, {"era": ["new"]}]),
        "constant": st.booleans(),
        "guide": st.booleans(),
        "folder": st.sampled_from([None, "x", "y"]),
    }),
    min_size=1,
    max_size=6,
)  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(
    notes=notes,
    blocked=st.sets(st.sampled_from(NAMES), max_size=2),
    pinned=st.sets(st.sampled_from(NAMES), max_size=1),
    folders=st.sampled_from([(), ("x",)]),
    budget=st.integers(100, 400),
)
def test_the_way_to_the_stop_is_that_of_the_real_run_and_behind_it_the_budget_has_the_last_word(
    notes, blocked, pinned, folders, budget
):
    there = world(
        *(entry(name, *note.pop("keys"), **note) for name, note in zip(NAMES, notes, strict=False)),
        chat=CHAT, context={"era": "new"}, blocks=rules(*blocked), pins=rules(*pinned), folders=folders,
        max_tokens_budget=budget,
    )  # fmt: skip
    real = traced(there)
    if real.skip_reason:
        return
    for number in range(len(there.entries)):
        end = Journeys(real).fate(number)
        if end.state in STOPS_NOBODY or end.stage == "budget":
            continue
        trace, would = held(there, there.entries[number].title)
        names = [record.name for record in real.stages]
        stopped_by = trace.facts["held"]["stopped_by"]
        first = names.index(stopped_by) + 1 if stopped_by else names.index("match order")
        assert [(one.entered, one.left, one.verdicts) for one in trace.stages[:first]] == [
            (one.entered, one.left, one.verdicts) for one in real.stages[:first]
        ]
        budget_cell = would.at("budget")
        assert budget_cell is not None
        went_in = number in {injection.entry for injection in trace.injections}
        assert went_in is (budget_cell.state is not WouldState.STOP)


DRAWING = [case for case in read_cases(GOLDEN_DEV) if any("rng" in one for one in case.expected["generations"])]


def reference(seed: int, count: int) -> list[float]:
    """Mulberry32 written with signed 32-bit steps, as the format describes it."""

    def int32(value: int) -> int:
        return (value + 2**31) % 2**32 - 2**31

    def uint32(value: int) -> int:
        return value % 2**32

    a, numbers = int32(seed), []
    for _ in range(count):
        a = int32(a + 0x6D2B79F5)
        t = int32(int32(a ^ uint32(a) >> 15) * int32(1 | a))
        t = int32(t + int32(int32(t ^ uint32(t) >> 7) * int32(61 | t))) ^ t
        numbers.append(uint32(t ^ uint32(t) >> 14) / 4294967296)
    return numbers


def stream(seed: int, count: int) -> list[float]:
    source = Mulberry32(seed)
    return [source.next() for _ in range(count)]


@pytest.mark.parametrize("seed", [0, 1, 42, 2**31 - 1, 2**31, 2**32 - 1, 0x92D68A0B])
def test_the_stream_is_the_documented_one(seed: int) -> None:
    assert stream(seed, 500) == reference(seed, 500)


def test_there_are_recorded_draws() -> None:
    assert len(DRAWING) > 50


@pytest.mark.parametrize("case", DRAWING, ids=lambda case: case.id)
def test_recorded_draws_are_the_stream_of_the_seed(case: Case) -> None:
    drawn = [roll for generation in case.expected["generations"] for roll in generation.get("rng", ())]
    assert drawn == stream(case.scenario["rng_seed"], len(drawn))


def test_a_stored_state_goes_on_where_the_stream_stopped() -> None:
    first = Mulberry32(7)
    begun = [first.next() for _ in range(3)]
    second = Mulberry32(first.state)
    assert begun + [second.next() for _ in range(3)] == stream(7, 6)
