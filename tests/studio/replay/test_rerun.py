"""A generation held to be run again."""

from __future__ import annotations

import asyncio

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.replay.rerun import Rerun, trace_of
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.offline import Answered
from tests.simulators import answered
from tests.studio.previews import comparable, project_of

LAST = Generation(5)


def simulated(**settings: object) -> Simulator:
    simulator = answered(project_of(**settings), StandInAnswers())
    asyncio.run(simulator.replay())
    return simulator


def test_with_nothing_changed_it_is_the_run_again() -> None:
    simulator = simulated(ai_search_enabled=True)
    states, traces = simulator.states, dict(simulator.traces)
    rerun = Rerun.of(simulator, LAST)
    assert comparable(rerun.run().trace) == comparable(rerun.before)
    assert (simulator.states, dict(simulator.traces)) == (states, traces)


def test_what_is_new_is_answered_by_the_stand_in_where_that_answers_anyway() -> None:
    rerun = Rerun.of(simulated(ai_search_enabled=True), LAST)
    unasked = replace(rerun, before=replace(rerun.before, ai_calls=()))
    assert set(unasked.run().answers) == {Answered.STAND_IN}


def test_inputs_that_differ_have_another_digest() -> None:
    rerun = Rerun.of(simulated(), LAST)
    digests = [dict(each.moment.digests) for each in (rerun, rerun.named("one"), rerun.named("other"))]
    assert len({each["inputs"] for each in digests}) == 3
    assert {**digests[1], "inputs": digests[0]["inputs"]} == digests[0]


def test_a_request_to_stop_ends_it() -> None:
    rerun, token = Rerun.of(simulated(), LAST), CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        rerun.run(token)


def test_what_was_not_run_is_said() -> None:
    with pytest.raises(ValueError, match="Reply #5 with swipe 1 has not been run yet"):
        trace_of({}, LAST)
    with pytest.raises(ValueError, match="has not been run yet"):
        Rerun.of(Simulator(project_of()), LAST)
