"""What a choice does is found by running; every number is checked by what the runs themselves say."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.studio.chat.controls import with_folder, with_value, without_field, without_folder, without_value
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.control_trials import Trials, effects_of_adding, effects_of_removing
from tests.studio.previews import project_of

NOTES = {
    "Before.md": "---\ntags: [lorebook]\nkeys: [tide]\nera: before\n---\nBefore.\n",
    "After.md": "---\ntags: [lorebook]\nkeys: [tide]\nera: after\n---\nAfter.\n",
    "Plain.md": "---\ntags: [lorebook]\nkeys: [lamp]\n---\nPlain.\n",
    "people/Ann.md": "---\ntags: [lorebook]\nkeys: [tide]\n---\nAnn.\n",
    "places/Quay.md": "---\ntags: [lorebook]\nkeys: [lamp]\n---\nQuay.\n",
    "Silent.md": "---\ntags: [lorebook]\nkeys: [never said]\nera: before\n---\nSilent.\n",
}


def simulated(controls: ChatControls) -> Simulator:
    simulator = Simulator(replace(project_of(NOTES), controls=controls))
    asyncio.run(simulator.replay())
    return simulator


def titles(simulator: Simulator, ids: tuple[int, ...]) -> set[str]:
    return {simulator.project.index.entries[number].title for number in ids}


def test_a_context_value_filters_what_a_run_without_it_lets_in() -> None:
    simulator = simulated(ChatControls(context={"era": ["after"]}))
    trials = Trials(simulator, simulator.generations[-1])
    found = effects_of_removing(trials, {"era": partial(without_value, key="era", value="after")})["era"]
    assert titles(simulator, found.filters) == {"Before"}  # Silent is not matched, so nothing filters it
    assert titles(simulator, found.keeps_out) == {"Before"}
    assert (found.lets_in, found.brings_in) == ((), ())


def test_one_of_two_values_is_what_lets_an_entry_in() -> None:
    simulator = simulated(ChatControls(context={"era": ["after", "before"]}))
    trials = Trials(simulator, simulator.generations[-1])
    found = effects_of_removing(trials, {"b": partial(without_value, key="era", value="before")})["b"]
    assert titles(simulator, found.lets_in) == {"Before"}
    assert titles(simulator, found.brings_in) == {"Before"}
    assert found.filters == ()


def test_a_folder_filter_filters_other_folders() -> None:
    simulator = simulated(ChatControls(folders=("people",)))
    trials = Trials(simulator, simulator.generations[-1])
    found = effects_of_removing(trials, {"people": partial(without_folder, folder="people")})["people"]
    assert titles(simulator, found.filters) == {"Quay"}


def test_what_could_be_chosen_is_tried_and_reported_one_by_one() -> None:
    simulator = simulated(ChatControls())
    trials = Trials(simulator, simulator.generations[-1])
    heard: list[str] = []
    changes = {
        "after": partial(with_value, key="era", value="after", multi=True),
        "people": partial(with_folder, folder="people"),
    }
    found = effects_of_adding(trials, changes, report=heard.extend)
    assert heard == ["after", "people"]
    assert titles(simulator, found["after"].filters) == {"Before"}
    assert titles(simulator, found["people"].filters) == {"Quay"}
    # The promise is kept by a real replay.
    really = simulated(ChatControls(folders=("people",)))
    injected = {each.title for each in really.traces[really.generations[-1]].injections}
    before = {each.title for each in trials.before.injections}
    assert before - injected == titles(simulator, found["people"].keeps_out)


def test_a_pin_keeps_an_entry_from_being_filtered() -> None:
    controls = ChatControls(pins=(EntryRule("Before"),), context={"era": ["after"]})
    simulator = simulated(controls)
    trials = Trials(simulator, simulator.generations[-1])
    found = effects_of_removing(trials, {"era": partial(without_field, key="era")})["era"]
    assert found.filters == ()


def test_trials_leave_the_simulator_as_it_was_and_can_be_stopped() -> None:
    simulator = simulated(ChatControls())
    generation = simulator.generations[-1]
    before, states = simulator.traces[generation], simulator.states
    trials = Trials(simulator, generation)
    other = trials.run(lambda controls: replace(controls, blocks=(EntryRule("Plain"),)))
    assert "Plain" not in {each.title for each in other.injections}
    assert simulator.traces[generation] is before
    assert simulator.states == states
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        trials.run(lambda controls: controls, token)


def test_a_generation_that_was_not_run_cannot_be_tried() -> None:
    with pytest.raises(ValueError, match="has not been run"):
        Trials(Simulator(project_of(NOTES)), Generation(1))
