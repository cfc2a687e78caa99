"""A generation held to be run again."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from lorestudio.studio.tryout.offline_answers import Unanswered

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.replay.rerun import Rerun, run_offline, trace_of
from lorestudio.studio.replay.simulator import Simulator
from tests.studio.previews import comparable, project_of

LAST = Generation(5)


def simulated(**settings: object) -> Simulator:
    simulator = Simulator(project_of(**settings), StandInAnswers())
    asyncio.run(simulator.replay())
    return simulator


def test_with_nothing_changed_it_is_the_run_again() -> None:
    simulator = simulated(ai_search_enabled=True)
    states, traces = simulator.states, dict(simulator.traces)
    rerun = Rerun.of(simulator, LAST)
    assert comparable(run_offline(rerun.context, rerun.answers())) == comparable(rerun.before)
    assert (simulator.states, dict(simulator.traces)) == (states, traces)


@pytest.mark.parametrize(("asked", "expected"), [(None, Unanswered.STAND_IN), (Unanswered.EARLIER, Unanswered.EARLIER)])
def test_what_is_new_is_answered_by_the_stand_in_only_where_that_answers_anyway(
    asked: Unanswered | None, expected: Unanswered
) -> None:
    rerun = Rerun.of(simulated(), LAST, unanswered=asked)
    assert rerun.unanswered is rerun.answers().unanswered is expected
    assert rerun.stands_in is (expected is Unanswered.STAND_IN)


def test_inputs_that_differ_have_another_digest() -> None:
    rerun = Rerun.of(simulated(), LAST)
    inputs = [rerun.context.digests["inputs"], *(rerun.digests(name)["inputs"] for name in ("one", "other"))]
    assert len(set(inputs)) == 3
    assert {**rerun.digests("one"), "inputs": inputs[0]} == dict(rerun.context.digests)


def test_a_request_to_stop_ends_it() -> None:
    rerun, token = Rerun.of(simulated(), LAST), CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        run_offline(replace(rerun.context, controls=rerun.context.controls), rerun.answers(), token)


def test_what_was_not_run_is_said() -> None:
    with pytest.raises(ValueError, match="Reply #5 with swipe 1 has not been run yet"):
        trace_of({}, LAST)
    with pytest.raises(ValueError, match="has not been run yet"):
        Rerun.of(Simulator(project_of()), LAST)
