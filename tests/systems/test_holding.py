"""Holding an entry in after the stage that stopped it."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.systems.deeplore.run import run
from lorestudio.systems.holding import Hold
from lorestudio.trace.held_run import WouldState, would_also
from lorestudio.trace.journey import FateState, Journeys
from tests.examples import examples
from tests.systems.worlds import changed, entry, rules, world

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
    return [(cell.stage, cell.verdict.reason) for cell in would.stops]


def test_what_was_not_matched_would_be_gated_and_cut_too():
    there = world(
        entry("Lamp", "lamp", priority=1, tokens=90),
        entry("Crown", "crown", tokens=258, custom_fields={"era": ["old"]}),
        chat=CHAT, context={"era": "new"}, max_tokens_budget=190,
    )  # fmt: skip

    trace, would = held(there, "Crown")

    assert (would.entry, would.stopped_by) == (1, "")
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

    trace, would = held(there, "B")

    assert would.stopped_by == "pins and blocks"
    assert [injection.title for injection in trace.injections] == ["A", "B", "C", "D"]


def test_requirements_give_it_its_place_by_importance():
    there = world(
        entry("A", "lamp", priority=0, tokens=10), entry("B", "lamp", priority=40, requires=("Z",), tokens=10),
        entry("Z", tokens=10), chat=CHAT,
    )  # fmt: skip

    trace, would = held(there, "B")

    assert would.stopped_by == "requires and excludes"
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
    assert would.stops == ()
    assert would.sentences == ("would pass all later stages",)


def test_an_excluded_one_that_is_held_drops_the_other():
    there = world(
        entry("Hob", "lamp", priority=90, excludes=("Vane",)), entry("Vane", "gate", priority=10, excludes=("Hob",)),
        chat=CHAT,
    )  # fmt: skip

    trace, would = held(there, "Hob")

    assert would.stopped_by == "requires and excludes"
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
        first = names.index(would.stopped_by) + 1 if would.stopped_by else names.index("match order")
        assert [(one.entered, one.left, one.verdicts) for one in trace.stages[:first]] == [
            (one.entered, one.left, one.verdicts) for one in real.stages[:first]
        ]
        budget_cell = would.at("budget")
        assert budget_cell is not None
        went_in = number in {injection.entry for injection in trace.injections}
        assert went_in is (budget_cell.state is not WouldState.STOP)
