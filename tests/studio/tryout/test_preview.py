"""A preview is the run that would be, and nothing else happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.llm.embedding import HashEmbedder, Vector
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Previewer
from lorestudio.systems.base import System
from lorestudio.systems.hybrid.system import HybridSystem
from lorestudio.systems.registry import KINDS, system_of
from lorestudio.systems.vectors import KnownVectors
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.trace.diff import compare
from lorestudio.trace.model import Trace
from lorestudio.trace.storage.serialize import to_json
from lorestudio.vault.edited_vaults import NoteText
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
    index = state_of(texts, simulator.project.settings).index
    system = system_of(simulator.project.scene())
    moment = replace(simulator.moment(generation), index=index)
    return asyncio.run(system.decide(moment, simulator.state_before(generation))).trace


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


def test_a_text_as_saved_gives_the_trace_as_it_was_under_another_digest() -> None:
    made = previewer().preview([note("Lamp.md", LAMP)])
    assert comparable(made.trace) == comparable(made.before)
    assert made.trace.digests["inputs"] != made.before.digests["inputs"]


def test_what_an_edit_changes() -> None:
    made = previewer().preview([note("Gate.md", TEXTS["Gate.md"].replace("[portcullis]", "[xyz, rises]"))])
    changes = compare(made.before, made.trace)
    assert [entry.title for entry in changes.entered] == ["Gate"]
    assert (changes.left, changes.resized) == ((), ())
    gate = made.notes[0]
    assert gate.entry is not None
    assert gate.match is not None
    assert gate.injected is not None
    assert changes.tokens[1] - changes.tokens[0] == gate.entry.tokens
    assert [(key.key, key.message) for key in gate.match.keys] == [("xyz", None), ("rises", 3)]
    assert gate.match.key == "rises"
    assert gate.injected.text == "<Gate>\nThe gate is shut.\n</Gate>"


def test_an_entry_that_leaves_and_one_that_grows() -> None:
    tool = previewer()
    without = compare(tool.before, tool.preview([note("Lamp.md", None)]).trace)
    # Tide requires Lamp; a reference to a title that is gone does not hold.
    assert [entry.title for entry in without.left] == ["Lamp"]
    longer = compare(tool.before, tool.preview([note("Tide.md", TEXTS["Tide.md"] + "Twice a day.")]).trace)
    ((resized,),) = (longer.resized,)
    assert (resized.title, longer.entered, longer.left) == ("Tide", (), ())
    assert resized.before is not None
    assert resized.after is not None
    assert resized.after.tokens - resized.before.tokens == longer.tokens[1] - longer.tokens[0] > 0
    same = compare(tool.before, tool.preview([]).trace)
    assert not same
    assert same.tokens == (tool.before.total_tokens, tool.before.total_tokens)


def test_entries_are_followed_where_their_numbers_change() -> None:
    tool = previewer()
    assert not compare(tool.before, tool.preview([note("A.md", "---\ntags: [lorebook]\n---\nNew")]).trace)


def test_text_that_does_not_go_in_is_shown_as_it_would() -> None:
    tool = previewer(injection_template="[{{title}}: {{content}}]")
    (gate,) = tool.preview([note("Gate.md", TEXTS["Gate.md"] + "For $5.")]).notes
    assert gate.injected is not None
    assert gate.injected.text == "[Gate: The gate is shut.\nFor $5.]"
    assert (gate.injected.tokens, gate.injected.whole_tokens) == (7, 9)


def test_text_that_the_budget_shortens() -> None:
    long = LAMP.replace("A brass lamp.", "A brass lamp burns here. " * 40)
    (lamp,) = previewer(max_tokens_budget=100).preview([note("Lamp.md", long)]).notes
    assert lamp.injected is not None
    assert lamp.entry is not None
    assert lamp.injected.truncated
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
        simulator.state_before(LAST)
    with pytest.raises(ValueError, match="no reply #7"):
        simulator.moment(Generation(7))


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


# ---- whatever the system ---------------------------------------------------------------------------------------------


BRASS = "The lamp is of brass, and burns all night without oil."
TALK = [("Wren", "A bell, once."), ("Ann", "It rang."), ("Wren", "Hold the lamp."), ("Ann", "Yes.")]
FOURTH = Generation(3)


def lore(key: str, text: str) -> str:
    return f"---\ntags: [lorebook]\nkeys: [{key}]\n---\n{text}\n"


@pytest.fixture
def folder_project(tmp_path: Path) -> Project:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, key, text in (("Bell", "bell", "The bell rings at four."), ("Lamp", "lamp", BRASS)):
        (vault / f"{name}.md").write_text(lore(key, text), encoding="utf-8")
    chat = tmp_path / "chat.jsonl"
    lines: list[dict[str, Any]] = [{"user_name": "Wren", "character_name": "Ann", "chat_metadata": {}}]
    lines += [{"name": name, "is_user": name == "Wren", "mes": text} for name, text in TALK]
    chat.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return open_project([vault], chat)


def ran(folder_project: Project, name: str, settings: Section, system: System | None = None) -> Simulator:
    simulator = Simulator(folder_project, system or system_of(folder_project.scene(), KINDS[name], settings))
    asyncio.run(simulator.replay())
    return simulator


def previewing(folder_project: Project, name: str, settings: Section) -> Previewer:
    return Previewer(ran(folder_project, name, settings), FOURTH)


def entries_in(trace: Trace) -> list[str]:
    return [trace.entries[each.entry].title for each in trace.injections]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("world-info", WorldInfoSettings(depth=1)),
        ("hybrid", HybridSettings(embedder="none", exchanges=1)),
        ("context-window", ContextWindowSettings(total_token_budget=14, with_conversation=False)),
    ],
)
def test_an_unsaved_text_does_what_it_does_when_saved(folder_project: Project, name: str, settings: Section) -> None:
    """The unsaved key is no word of the chat, and the text too long for the budget: the lore stays out."""
    tried = previewing(folder_project, name, settings)
    assert "Lamp" in entries_in(tried.before)
    text = lore("sextant", "No light at all. " * 10)
    made = tried.preview([NoteText("vault", "Lamp.md", text)])
    assert "Lamp" not in entries_in(made.trace)
    assert made.before is tried.before
    (edited,) = made.notes
    assert edited.outcome is not None
    assert not edited.outcome.goes_in
    assert edited.outcome.sentence
    assert made.trace.digests["inputs"] != made.before.digests["inputs"]
    (folder_project.vault_folders[0] / "Lamp.md").write_text(text, encoding="utf-8")  # type: ignore[operator]  # a folder
    saved = ran(folder_project.reloaded(), name, settings).traces[FOURTH]
    assert (made.trace.injections, made.trace.prompt) == (saved.injections, saved.prompt)


def test_a_note_counts_the_same_whether_it_is_in_or_not(folder_project: Project) -> None:
    tried = previewing(folder_project, "hybrid", HybridSettings(embedder="none", exchanges=1))
    tokens = []
    for key in ("sextant", "hold"):
        (edited,) = tried.preview([NoteText("vault", "Bell.md", lore(key, "The bell rings at four."))]).notes
        assert edited.injected is not None
        assert edited.outcome is not None
        tokens.append((edited.outcome.goes_in, edited.injected.tokens, edited.injected.whole_tokens))
    (out, *told), (into, *counted) = tokens
    assert (out, into) == (False, True)
    assert told == counted  # the note by itself, and with <world_information> around it
    assert told[0] == folder_project.counter.count("The bell rings at four.") < told[1]
    (there,) = [each for each in tried.before.injections if each.title == "Lamp"]
    assert there.tokens == tried.before.entries[there.entry].tokens


def test_a_key_that_brings_a_note_in(folder_project: Project) -> None:
    tried = previewing(folder_project, "world-info", WorldInfoSettings(depth=1))
    made = tried.preview([NoteText("vault", "Bell.md", lore("hold", "The bell rings at four."))])
    assert sorted(entries_in(made.trace)) == ["Bell", "Lamp"]
    (edited,) = made.notes
    assert edited.outcome is not None
    assert edited.outcome.goes_in
    assert "hold" in edited.outcome.sentence


def test_a_text_that_is_no_entry(folder_project: Project) -> None:
    made = previewing(folder_project, "hybrid", HybridSettings()).preview([NoteText("vault", "Lamp.md", "No lore.")])
    assert made.notes[0].outcome is None
    assert made.notes[0].left_out is not None


def test_another_setting_of_the_system(folder_project: Project) -> None:
    """Both notes are found in the whole chat; in its newest message only the lamp is."""
    tried = previewing(folder_project, "world-info", WorldInfoSettings(depth=1))
    assert entries_in(tried.before) == ["Lamp"]
    made = tried.preview((), settings=WorldInfoSettings(depth=3))
    assert sorted(entries_in(made.trace)) == ["Bell", "Lamp"]
    (change,) = made.settings
    assert (change.declaration.name, change.before, change.after) == ("depth", 1, 3)
    assert tried.preview(()).settings == ()
    assert tried.takes(WorldInfoSettings())
    assert not tried.takes(DeepLoreSettings())


def test_a_setting_that_cannot_be_used(folder_project: Project, tmp_path: Path) -> None:
    tried = previewing(folder_project, "context-window", ContextWindowSettings())
    with pytest.raises(InputError, match="cannot be read"):
        tried.preview((), settings=ContextWindowSettings(word_list=str(tmp_path / "none.txt")))


def test_a_request_to_stop(folder_project: Project) -> None:
    tried, token = previewing(folder_project, "hybrid", HybridSettings()), CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        tried.preview((), token)


def test_timed_effects_are_those_that_earlier_replies_left(folder_project: Project) -> None:
    """The lamp rests after the reply that it was in, so its cooldown decides about the next one, whatever its text."""
    lines = lore("lamp", BRASS).replace("keys:", "cooldown: 9\nkeys:")
    (folder_project.vault_folders[0] / "Lamp.md").write_text(lines, encoding="utf-8")  # type: ignore[operator]  # a folder
    settings = WorldInfoSettings(depth=3)
    simulator = ran(folder_project.reloaded(), "world-info", settings)
    tried = Previewer(simulator, simulator.generations[-1])
    assert "Lamp" in entries_in(simulator.traces[FOURTH])
    assert "Lamp" not in entries_in(tried.before)
    made = tried.preview([NoteText("vault", "Bell.md", lore("sextant", "Silent."))])
    assert entries_in(made.trace) == []


class Asked:
    """An embedder that costs something: it notes what it was asked for."""

    model_id, label = "paid", "a provider"

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        self.texts += texts
        return await HashEmbedder().embed(texts)


@pytest.mark.parametrize("name", ["hybrid", "world-info"])
def test_nobody_is_asked_for_a_vector(folder_project: Project, tmp_path: Path, name: str) -> None:
    asked = Asked()
    vectors = KnownVectors(asked, tmp_path / "vectors.sqlite")
    settings: Section = HybridSettings() if name == "hybrid" else WorldInfoSettings(vectors=True, vectors_for_all=True)
    made = system_of(folder_project.scene(), KINDS[name], settings)
    assert isinstance(made, HybridSystem | WorldInfoSystem)
    simulator = ran(folder_project, name, settings, replace(made, vectors=vectors))
    before = list(asked.texts)
    assert before
    tried = Previewer(simulator, FOURTH)
    preview = tried.preview([NoteText("vault", "Lamp.md", lore("sextant", "Unheard of."))])
    assert asked.texts == before
    assert "without a vector" in " ".join(preview.remarks)
    assert tried.preview(()).remarks == ()
