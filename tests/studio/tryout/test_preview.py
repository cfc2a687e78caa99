"""A preview is the run that would be, and nothing else happens."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import NoteText, Previewer, prompt_changes
from lorestudio.systems.deeplore.index import DeepLoreIndex
from lorestudio.systems.deeplore.run import run
from lorestudio.systems.offline import Answered
from lorestudio.trace.model import Trace
from lorestudio.trace.serialize import to_json
from lorestudio.vault.files import VaultError
from tests.examples import examples
from tests.studio.previews import TEXTS, TWO_STAGE, comparable, note, project_of, state_of

LAST = Generation(5)


def simulated(project: Project) -> Simulator:
    simulator = Simulator(project)
    asyncio.run(simulator.replay())
    return simulator


def previewer(**values: Any) -> Previewer:
    return Previewer(simulated(project_of(**values)), LAST)


def run_anew(simulator: Simulator, generation: Generation, texts: dict[str, str]) -> Trace:
    """The generation on a vault that is read with these texts, from the same state."""
    index = DeepLoreIndex(state_of(texts, simulator.project.settings).index)
    ctx = replace(simulator.context(generation), index=index, answers=StandInAnswers())
    return asyncio.run(run(ctx)).trace


def titles(trace: Trace) -> list[str]:
    return [injection.title for injection in trace.injections]


LAMP = TEXTS["Lamp.md"]
BODIES = st.sampled_from(["A lamp.\n", "# Tide\nThe tide turns.\n", "[[Gate]] portcullis\n", "word " * 400])
FRONTS = st.lists(
    st.sampled_from([
        "keys: [lamp]", "keys: [burns, gate]", "keys: tide", "requires: [Tide]", "excludes: [Tide]", "constant: true",
        "priority: 1", "probability: 0.5", "enabled: false", "scanDepth: 1", "warmup: 2", "tags: none",
    ]),
    max_size=3,
)  # fmt: skip
NOTES = st.builds(lambda front, body: "---\ntags: [lorebook]\n" + "\n".join([*front, "---", body]), FRONTS, BODIES)
VARIANTS = [
    {},
    {"fuzzy_search_enabled": True, "max_entries": 1},
    TWO_STAGE,
    {"multi_vault_conflict_resolution": "last"},
]
SIMULATORS = [simulated(project_of(**values)) for values in VARIANTS]


@settings(deadline=None, max_examples=examples(120))
@given(
    st.sampled_from(SIMULATORS),
    st.integers(0, 2),
    st.dictionaries(st.sampled_from([*TEXTS, "New.md"]), st.none() | NOTES, max_size=2),
)
def test_a_preview_is_the_run_on_the_edited_vault(
    simulator: Simulator, place: int, edits: dict[str, str | None]
) -> None:
    generation = simulator.generations[place]
    made = Previewer(simulator, generation).preview([note(*edit) for edit in edits.items()])
    texts = {name: text for name, text in {**TEXTS, **edits}.items() if text is not None}
    ordered = {name: texts[name] for name in sorted(texts)}
    assert comparable(made.trace) == comparable(run_anew(simulator, generation, ordered))
    assert made.before is simulator.traces[generation]


def test_nothing_of_the_simulator_changes() -> None:
    simulator = simulated(project_of())
    traces, states = dict(simulator.traces), simulator.states
    made = Previewer(simulator, LAST).preview([note("Lamp.md", LAMP.replace("lamp", "sun"))])
    assert titles(made.trace) != titles(made.before)
    assert (dict(simulator.traces), simulator.states) == (traces, states)
    assert simulator.project.index is simulator.index.vault


def test_a_text_as_saved_gives_the_trace_as_it_was_under_another_digest() -> None:
    made = previewer().preview([note("Lamp.md", LAMP)])
    assert comparable(made.trace) == comparable(made.before)
    assert made.trace.digests["inputs"] != made.before.digests["inputs"]


def test_what_an_edit_changes() -> None:
    made = previewer().preview([note("Gate.md", TEXTS["Gate.md"].replace("[portcullis]", "[xyz, rises]"))])
    changes = prompt_changes(made.before, made.trace)
    assert [entry.title for entry in changes.entered] == ["Gate"]
    assert (changes.left, changes.resized) == ((), ())
    gate = made.notes[0]
    assert gate.entry is not None
    assert gate.match is not None
    assert gate.injected is not None
    assert changes.tokens_after - changes.tokens_before == gate.entry.tokens
    assert [(key.key, key.message) for key in gate.match.keys] == [("xyz", None), ("rises", 3)]
    assert gate.match.key == "rises"
    assert (gate.injected.text, gate.injected.injected) == ("<Gate>\nThe gate is shut.\n</Gate>", True)


def test_an_entry_that_leaves_and_one_that_grows() -> None:
    tool = previewer()
    without = prompt_changes(tool.before, tool.preview([note("Lamp.md", None)]).trace)
    # Tide requires Lamp; a reference to a title that is gone does not hold.
    assert [entry.title for entry in without.left] == ["Lamp"]
    longer = prompt_changes(tool.before, tool.preview([note("Tide.md", TEXTS["Tide.md"] + "Twice a day.")]).trace)
    ((resized,),) = (longer.resized,)
    assert (resized.entry.title, longer.entered, longer.left) == ("Tide", (), ())
    assert resized.after - resized.before == longer.tokens_after - longer.tokens_before > 0
    same = prompt_changes(tool.before, tool.preview([]).trace)
    assert not same
    assert same.tokens_before == same.tokens_after == tool.before.total_tokens


def test_entries_are_followed_where_their_numbers_change() -> None:
    tool = previewer()
    assert not prompt_changes(tool.before, tool.preview([note("A.md", "---\ntags: [lorebook]\n---\nNew")]).trace)


def test_text_that_does_not_go_in_is_shown_as_it_would() -> None:
    tool = previewer(injection_template="[{{title}}: {{content}}]")
    (gate,) = tool.preview([note("Gate.md", TEXTS["Gate.md"] + "For $5.")]).notes
    assert gate.injected is not None
    assert gate.injected.text == "[Gate: The gate is shut.\nFor $5.]"
    assert (gate.injected.injected, gate.injected.tokens, gate.injected.whole_tokens) == (False, 7, 9)


def test_text_that_the_budget_shortens() -> None:
    long = LAMP.replace("A brass lamp.", "A brass lamp burns here. " * 40)
    (lamp,) = previewer(max_tokens_budget=100).preview([note("Lamp.md", long)]).notes
    assert lamp.injected is not None
    assert lamp.entry is not None
    assert (lamp.injected.injected, lamp.injected.truncated) == (True, True)
    assert lamp.injected.tokens <= 100 < lamp.entry.tokens
    assert lamp.injected.text.startswith("<Lamp>\nA brass lamp burns here.")
    assert len(lamp.injected.text) < len(lamp.entry.content)


def test_a_note_that_is_no_entry() -> None:
    tool = previewer()
    (broken,) = tool.preview([note("Lamp.md", "---\ntags: [lore\n---\nText")]).notes
    assert broken.entry is None
    assert broken.left_out is not None
    assert broken.left_out.filename == "Lamp.md"
    (gone,) = tool.preview([note("Lamp.md", None)]).notes
    assert (gone.entry, gone.left_out, gone.match, gone.injected) == (None, None, None, None)


def test_a_preview_of_a_swipe_begins_in_the_state_before_it() -> None:
    simulator = simulated(project_of())
    first = Previewer(simulator, simulator.generations[0])
    assert first.preview([]).trace.turn == simulator.traces[simulator.generations[0]].turn
    # Lamp cools down after the first generation, so a key of Lamp's alone brings nothing in the second.
    second = Previewer(simulator, simulator.generations[1]).preview([note("Lamp.md", LAMP + "x")])
    refused = {(verdict.reason) for stage in second.trace.stages for verdict in stage.verdicts}
    assert "cooling_down" in refused


def test_two_stage_with_the_stand_in_says_so() -> None:
    tool = previewer(**TWO_STAGE)
    made = tool.preview([note("Lamp.md", LAMP + "More.")])
    assert made.answered == (Answered.STAND_IN,)
    assert made.remarks == ("The offline stand-in answers for the model.",)
    assert previewer().preview([]).remarks == ()


def test_a_preview_that_is_not_wanted_any_more_ends_at_the_next_stage() -> None:
    class Late(CancelToken):
        def __init__(self, after: int) -> None:
            super().__init__()
            self.looks = -after

        @property
        def cancelled(self) -> bool:
            self.looks += 1
            return self.looks > 0

    tool = previewer()
    looked = []
    for after in range(40):
        token = Late(after)
        try:
            tool.preview([], token)
        except Cancelled:
            looked.append(after)
    assert looked == list(range(len(looked)))
    assert len(looked) == 3 + len(tool.before.stages)  # after the vault, before the run, at each stage, at the end


def test_generations_that_were_not_run() -> None:
    simulator = Simulator(project_of())
    with pytest.raises(ValueError, match="has not been run yet"):
        Previewer(simulator, LAST)
    with pytest.raises(ValueError, match="have not been run yet"):
        simulator.context(LAST)
    with pytest.raises(ValueError, match="no reply #7"):
        simulator.context(Generation(7))


def test_a_project_that_does_not_know_its_files() -> None:
    project = project_of()
    for unknown in (
        replace(project, vault_state=None),
        replace(project, vault_state=state_of(TEXTS, project.settings)),
    ):
        with pytest.raises(ValueError, match="what its index was made of"):
            Previewer(simulated(unknown), LAST)


def test_a_text_that_belongs_nowhere() -> None:
    with pytest.raises(VaultError, match="no vault “w”"):
        previewer().preview([NoteText("w", "a.md", "")])


def test_the_demo(replayed: Simulator) -> None:
    """A project that was opened from disk can be previewed; typing what is saved changes nothing in any generation."""
    folder = replayed.project.vault_folders[0]
    assert folder is not None
    entry = replayed.project.index.entries[5]
    text = (folder / entry.filename).read_text("utf-8")
    for generation in replayed.generations:
        made = Previewer(replayed, generation).preview([NoteText(entry.vault, entry.filename, text)])
        assert comparable(made.trace) == comparable(made.before)
        assert to_json(made.before) == to_json(replayed.traces[generation])
