"""Other settings tried out on one generation: the run that would be, from the same state."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import demo_project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Previewer
from lorestudio.systems.registry import system_of
from lorestudio.trace.model import Trace, token_limit, within_limits
from tests.studio.previews import comparable, note, project_of

LAST = Generation(5)


def simulated(**values: object) -> Simulator:
    simulator = Simulator(project_of(**values))
    asyncio.run(simulator.replay())
    return simulator


def titles(trace) -> list[str]:
    return [injection.title for injection in trace.injections]


@pytest.mark.parametrize(
    "values",
    [
        {"scan_depth": 1},
        {"max_entries": 1},
        {"fuzzy_search_enabled": True},
        {"case_sensitive": True},
        {"ai_search_enabled": True},
    ],
    ids=str,
)
def test_it_is_the_run_with_these_settings_from_the_same_state(values) -> None:
    simulator = simulated()
    before = simulator.states, dict(simulator.traces)
    settings = simulator.project.settings.model_copy(update=values)
    made = Previewer(simulator, LAST).preview((), settings=settings)
    system = system_of(simulator.project.scene()).with_settings(settings, simulator.project.scene())
    anew = asyncio.run(system.decide(simulator.moment(LAST), simulator.state_before(LAST))).trace
    assert comparable(made.trace) == comparable(anew)
    assert {each.declaration.name for each in made.settings} == set(values)
    assert (simulator.states, dict(simulator.traces)) == before
    assert made.before is simulator.traces[LAST]


def test_a_shorter_window_loses_what_was_said_before() -> None:
    simulator = simulated()
    assert titles(simulator.traces[LAST]) != []
    made = Previewer(simulator, LAST).preview((), settings=DeepLoreSettings(enabled=True, scan_depth=0))
    assert titles(made.trace) == []
    (change,) = made.settings
    assert (change.before, change.after) == (4, 0)


def test_it_is_never_taken_for_a_real_run() -> None:
    previewer = Previewer(simulated(), LAST)
    one = previewer.preview((), settings=DeepLoreSettings(enabled=True, scan_depth=3))
    other = previewer.preview((), settings=DeepLoreSettings(enabled=True, scan_depth=2))
    assert len({previewer.before.digests["inputs"], one.trace.digests["inputs"], other.trace.digests["inputs"]}) == 3


def test_unsaved_texts_and_settings_are_tried_out_together() -> None:
    text = "---\ntags: [lorebook]\nkeys: [goes out]\n---\nDark.\n"
    settings = DeepLoreSettings(enabled=True, scan_depth=1)
    made = Previewer(simulated(), LAST).preview([note("Gate.md", text)], settings=settings)
    assert "Gate" in titles(made.trace)
    assert made.notes[0].note.filename == "Gate.md"


def test_where_settings_decide_how_notes_are_read_the_vault_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nA lamp.\n", encoding="utf-8")
    (tmp_path / "v" / "Bell.md").write_text("---\ntags: [world]\nkeys: [bell]\n---\nA bell.\n", encoding="utf-8")
    chat = tmp_path / "chat.txt"
    chat.write_text("Wren: The lamp and the bell.\n", encoding="utf-8")
    simulator = Simulator(open_project([tmp_path / "v"], chat))
    asyncio.run(simulator.replay())
    generation = simulator.generations[-1]
    assert titles(simulator.traces[generation]) == ["Lamp"]
    previewer = Previewer(simulator, generation)
    settings = simulator.project.settings.model_copy(update={"lorebook_tag": "world"})
    made = previewer.preview((), settings=settings)
    assert titles(made.trace) == ["Bell"]
    assert [entry.title for entry in made.index.entries] == ["Bell"]
    deeper = previewer.preview((), settings=settings.model_copy(update={"scan_depth": 0}))
    assert titles(deeper.trace) == []
    assert titles(previewer.preview(()).trace) == ["Lamp"]


def test_another_budget_on_the_state_that_the_chat_left() -> None:
    simulator = Simulator(demo_project())
    generation = simulator.generations[3]
    asyncio.run(simulator.generate(generation))
    previewer = Previewer(simulator, generation)

    def with_budget(tokens: int) -> Trace:
        values = {"max_tokens_budget": tokens, "unlimited_budget": False}
        return previewer.preview((), settings=simulator.project.settings.model_copy(update=values)).trace

    wide, narrow = with_budget(50_000), with_budget(200)
    limit = token_limit(wide)
    assert limit is not None
    assert limit.maximum == 50_000
    assert set(titles(wide)) >= set(titles(previewer.before))
    assert not [each for each in wide.injections if each.truncated]
    assert sum(each.tokens for each in within_limits(narrow)) <= 200
    same = with_budget(simulator.project.settings.max_tokens_budget)
    assert same.injections == previewer.before.injections
