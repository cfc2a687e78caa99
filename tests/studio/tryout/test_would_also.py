"""What later stages would have done, asked about the demo and about a small vault."""

import asyncio

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.project.settings import Mode, with_mode
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import HeldRuns, Previewer
from lorestudio.trace.held_run import WouldState
from lorestudio.trace.journey import FateState, Journeys
from lorestudio.trace.model import Phase
from tests.studio.previews import TWO_STAGE, comparable, note, project_of

WENT_IN = {FateState.INJECTED, FateState.TRUNCATED}


def simulated(project, until=None):
    simulator = Simulator(project)
    asyncio.run(simulator.replay() if until is None else simulator.generate(until))
    return simulator


def visible(simulator):
    return [entry for entry in simulator.project.index.entries if not entry.guide]


@pytest.fixture(scope="module")
def demo():
    return simulated(demo_project())


def asked(simulator, message, title):
    runs = HeldRuns(simulator, simulator.shown(message))
    number = next(entry.id for entry in simulator.project.index.entries if entry.title == title)
    return runs.of(number)


def test_a_refine_key_was_missing_and_the_budget_would_not_have_had_room(demo):
    would = asked(demo, 8, "Storm Glass")
    assert [(cell.stage, cell.phase) for cell in would.cells if cell.state is WouldState.STOP] == [
        ("budget", Phase.BUDGET)
    ]
    (sentence,) = would.sentences
    assert sentence.startswith("would also be cut by the budget: needs ")


def test_what_the_first_gate_stopped_the_second_one_would_stop_again(demo):
    would = asked(demo, 11, "The Founding of the Post")

    assert "contextual gating (selection)" not in [cell.stage for cell in would.cells]
    assert "contextual gating" in [cell.stage for cell in would.cells if cell.state is WouldState.STOP]


def test_nothing_is_behind_the_budget_and_nothing_is_asked_of_what_went_in(demo):
    assert asked(demo, 8, "Law of the Letter") is None
    assert asked(demo, 8, "The Brume") is None


@pytest.mark.long
def test_asking_leaves_the_real_runs_as_they_are(demo):
    before = {generation: comparable(trace) for generation, trace in demo.traces.items()}
    states = demo.states
    for generation in demo.generations[:6]:
        runs = HeldRuns(demo, generation)
        for number in range(len(demo.project.index.entries)):
            runs.of(number)
    assert {generation: comparable(trace) for generation, trace in demo.traces.items()} == before
    assert demo.states == states
    assert asyncio.run(Simulator(demo.project).replay())[-1].draws == list(demo.traces.values())[-1].draws


@pytest.mark.parametrize("mode", [Mode.TWO_STAGE, Mode.AI_ONLY])
def test_a_model_is_asked_what_it_was_asked_in_the_real_run(mode):
    simulator = simulated(with_mode(demo_project(), mode), Generation(8))
    generation = Generation(8)
    runs = HeldRuns(simulator, generation)
    real = simulator.traces[generation]
    assert real.ai_calls
    journeys = Journeys(real)
    asked_about = 0
    for entry in visible(simulator):
        end = journeys.fate(entry.id)
        would = runs.of(entry.id)
        if would is None:
            assert end.state in WENT_IN or end.phase is Phase.BUDGET
            continue
        asked_about += 1
        unknown = any(cell.state is WouldState.NOT_ASKED for cell in would.cells)
        assert unknown is (end.state is not FateState.REMOVED or end.phase is Phase.MATCH or "pre" in end.stage)
        if unknown:
            assert any("have to be chosen by the AI first" in sentence for sentence in would.sentences)
    assert asked_about > 5


def test_the_model_is_not_asked_again():
    class Counting:
        name, label, asked = "counting", "counting", 0

        async def answer(self, request):
            self.asked += 1
            return await answers.answer(request)

    simulator = simulated(project_of(**TWO_STAGE))
    answers, counting = simulator.system.answers, Counting()
    simulator.system = replace(simulator.system, answers=counting)
    HeldRuns(simulator, Generation(5)).of(1)
    assert counting.asked == 0


def test_unsaved_texts_are_what_the_question_is_about():
    simulator = simulated(project_of())
    preview = Previewer(simulator, Generation(5)).preview([note("Gate.md", "---\ntags: [lorebook]\n---\nShut.\n")])
    gate = next(entry.id for entry in preview.index.entries if entry.title == "Gate")

    would = HeldRuns(simulator, Generation(5), preview).of(gate)

    assert would.sentences == ("would pass all later stages",)


def test_a_question_can_be_taken_back(demo):
    token = CancelToken()
    token.cancel()
    runs = HeldRuns(demo, demo.shown(8))
    with pytest.raises(Cancelled):
        runs.of(next(entry.id for entry in demo.project.index.entries if entry.title == "Storm Glass"), token)


def test_a_reply_that_was_not_run_cannot_be_asked_about():
    with pytest.raises(ValueError, match="has not been run"):
        HeldRuns(Simulator(project_of()), Generation(5))


def test_every_verdict_is_the_held_run_s_own(demo):
    """The cells are the stages after the stop that ran, to the budget and, where that lets it pass, to the prompt."""
    generation = demo.shown(34)
    runs = HeldRuns(demo, generation)
    journeys = Journeys(demo.traces[generation])
    for entry in visible(demo):
        would = runs.of(entry.id)
        if would is None:
            continue
        names = [cell.stage for cell in would.cells]
        assert journeys.fate(entry.id).stage not in names
        assert names[-1] in {"budget", "placement"}
        budget = would.at("budget")
        assert (names[-1] == "placement") is (budget.state is not WouldState.STOP)
        assert journeys.fate(entry.id).state not in WENT_IN
