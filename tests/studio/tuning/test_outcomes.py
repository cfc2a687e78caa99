"""What a generation came to, and that a run which is not recorded comes to the same."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings

from lorestudio.domain.entry import EMPTY
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.outcomes import TurnOutcome, turn_outcome
from lorestudio.systems.base import System
from lorestudio.systems.deeplore.counts import COUNTS
from lorestudio.systems.registry import KINDS, kind_of, system_of
from lorestudio.trace.model import Phase, Trace
from tests.examples import examples
from tests.systems.test_invariants import WORLDS
from tests.systems.worlds import World, changed, entry, run_world, trace_of, world


async def unrecorded(simulator: Simulator) -> list[Trace]:
    return [trace async for trace in simulator.unrecorded()]


def test_an_outcome_says_what_went_in_what_matched_and_what_the_budget_kept_out() -> None:
    text = "Word word word. " * 100
    there = world(
        entry("Lamp", "lamp", content=text[:640], priority=1),
        entry("Oil", "lamp", content=text[:400], priority=2),
        entry("Wick", "lamp", content=text[:4], priority=3),
        entry("Gull", "gull", content="Gull."),
        chat=["U: a lamp"],
        max_tokens_budget=200,
    )
    outcome = turn_outcome(trace_of(there))
    assert outcome == TurnOutcome(
        1,
        0,
        0,
        injected=((0, 160),),
        matched=frozenset({0, 1, 2}),
        selected=frozenset({0, 1, 2}),
        cut=((1, 100), (2, 1)),  # 40 tokens are left: too few for a part of the next one, and nothing comes behind it
        budget=200,
    )
    assert outcome.tokens == 160


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_a_run_that_is_not_recorded_comes_to_the_same(name: str, demo: Project) -> None:
    """For every system, over the demo's whole chat, with and without a model that takes part."""
    kind = kind_of(name)
    known = kind.settings.model_fields.keys()
    for changes in ({"enabled": True}, {"enabled": True, "ai_search_enabled": True}):
        system: System = system_of(
            demo.scene(), kind, kind.settings().model_copy(update={key: changes[key] for key in known & changes})
        )
        traces = asyncio.run(Simulator(demo, system).replay())
        quiet = asyncio.run(unrecorded(Simulator(demo, system)))
        assert [turn_outcome(trace) for trace in quiet] == [turn_outcome(trace) for trace in traces]


@settings(max_examples=examples(300), deadline=None)
@given(there=WORLDS)
def test_it_comes_to_the_same_in_any_world_and_hands_on_the_same_state(there: World) -> None:
    loud, quiet = run_world(there), run_world(World(changed(there.context, recorded=False)))
    assert turn_outcome(quiet.trace) == turn_outcome(loud.trace)
    assert quiet.trace.prompt == loud.trace.prompt
    assert quiet.state == replace(
        loud.state, **{name: getattr(quiet.state, name) for name in ("chat_counts", "swipe_keys", "analytics")}
    )
    assert COUNTS.only(quiet.state) == COUNTS.only(there.context.state)  # nobody reads them, so nobody counts


def test_what_is_not_recorded_has_no_details(demo: Project) -> None:
    for trace in asyncio.run(unrecorded(Simulator(demo)))[:3]:
        others = [record for record in trace.stages if record.phase is not Phase.BUDGET]
        assert all(verdict.details is EMPTY for record in others for verdict in record.verdicts)


def test_it_stops_between_two_generations(demo: Project) -> None:
    async def two() -> None:
        cancel = CancelToken()
        seen = 0
        async for _ in Simulator(demo).unrecorded(cancel):
            seen += 1
            if seen == 2:
                cancel.cancel()
        raise AssertionError("it went on")

    with pytest.raises(Cancelled):
        asyncio.run(two())
