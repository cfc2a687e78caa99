"""Comparisons in words and as data: every change is told once, with who did it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.studio.compare.causes import (
    RunSide,
    What,
    compared,
    effects,
    find_causes,
    replay_differences,
    side_of,
    turn_diffs,
    with_vaults_of,
)
from lorestudio.studio.compare.text import change_lines, comparison_json, comparison_markdown, tokens_words
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.diff import compare
from tests.studio.previews import TEXTS, project_of

LAST = Generation(5)


def run(project: Project) -> Simulator:
    simulator = Simulator(project)
    asyncio.run(simulator.replay())
    return simulator


def sides(**settings: object) -> tuple[RunSide, RunSide]:
    pins = ChatControls(pins=(EntryRule("Gate"),))
    after = replace(project_of(**settings), controls=pins)
    return side_of(run(project_of()), LAST, "A *first*"), side_of(run(after), LAST, "B")


def test_each_change_has_one_line() -> None:
    before, after = sides()
    diff = compare(before.trace, after.trace)
    lines = change_lines(diff, find_causes(before, after))
    assert [line.effect for line in lines] == list(effects(diff))
    (gate,) = [line for line in lines if line.title == "Gate"]
    assert gate.what is What.ENTERED
    assert gate.sign == "+"
    assert gate.tokens == next(each.tokens for each in after.trace.injections if each.title == "Gate")
    assert gate.who == "by Pins: none → Gate"
    assert "before: no key found" in gate.words


def test_markdown_names_both_runs_and_escapes_them() -> None:
    before, after = sides()
    diff = compare(before.trace, after.trace)
    text = comparison_markdown(before, after, diff, find_causes(before, after))
    assert text.startswith("# A \\*first\\* → B\n")
    assert "## Entered\n\n- **Gate**: " in text
    assert "- Pins: none → Gate (did 1 change by itself)" in text
    assert tokens_words(diff) in text
    assert "## Left" not in text


def test_markdown_of_runs_that_are_alike() -> None:
    before, _after = sides()
    text = comparison_markdown(before, before, compare(before.trace, before.trace))
    assert "The same entries went in, in the same order." in text
    assert "What was different" not in text
    empty = replace(before.trace, injections=())
    assert "\n\nNo entry went in, in either run.\n" in comparison_markdown(before, before, compare(empty, empty))


def test_json_has_all_sections() -> None:
    before, after = sides()
    diff = compare(before.trace, after.trace)
    told = comparison_json(diff, (before.title, after.title))
    assert isinstance(told, dict)
    for what in What:
        group = told[what.value]
        assert isinstance(group, list)
        assert len(group) == sum(effect[0] is what for effect in effects(diff))
    assert told["tokens"] == list(diff.tokens)


def test_whole_replays_side_by_side() -> None:
    before, after = run(project_of()), run(replace(project_of(), controls=ChatControls(pins=(EntryRule("Gate"),))))
    turns = tuple(turn_diffs(before, after))
    assert [turn.generation for turn in turns] == sorted(before.generations)
    assert all(turn.differs for turn in turns)
    assert [each.title for each in replay_differences(before, after)] == ["Pins"]
    assert not any(turn.differs for turn in turn_diffs(before, before))


def test_a_note_that_was_moved_is_the_same_and_one_of_its_title_is_not() -> None:
    lamp, other = TEXTS["Lamp.md"], "---\ntags: [lorebook]\nkeys: [other]\n---\nA lamp of tin.\n"
    moved = project_of({**{name: text for name, text in TEXTS.items() if name != "Lamp.md"}, "sea/Lamp.md": lamp})
    two = project_of({**TEXTS, "sea/Lamp.md": other})  # the first goes, and the second one gets its keys
    twins = project_of({**TEXTS, "sea/Lamp.md": other}), project_of({**TEXTS, "Lamp.md": other, "sea/Lamp.md": lamp})
    for projects, expected in (((project_of(), moved), 0), (twins, 1), ((two, moved), 1)):
        before, after = map(run, projects)
        turn = next(each for each in turn_diffs(before, after) if each.generation == LAST)
        diff = compared(side_of(before, LAST), side_of(after, LAST))
        assert [injection.title for injection in diff.after.injections].count("Lamp") == 1
        for found in (turn.diff, diff):
            assert found is not None
            assert [[one.title for one in group] for group in (found.entered, found.left)] == [["Lamp"] * expected] * 2


def test_replays_are_run_while_they_are_put_side_by_side() -> None:
    project = project_of()
    one, other = Simulator(project), Simulator(replace(project, controls=ChatControls(pins=(EntryRule("Gate"),))))
    assert len(one.generations) > 1
    assert all(turn.differs for turn in turn_diffs(one, other))
    assert [len(each.traces) for each in (one, other)] == [len(one.generations)] * 2


def test_a_reply_that_one_replay_does_not_have() -> None:
    project = project_of()
    assert project.chat is not None
    shorter = replace(project, chat=replace(project.chat, messages=project.chat.messages[:3]))
    turns = {turn.generation: turn for turn in turn_diffs(run(project), run(shorter))}
    assert turns[LAST].diff is None
    assert turns[LAST].differs
    assert turns[Generation(1)].diff is not None


def test_another_vault_goes_by_the_names_of_the_first(tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    folder.mkdir()
    (folder / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nAnother lamp.\n", encoding="utf-8")
    other = with_vaults_of(project_of(), [folder])
    assert other.index.vaults == ("v",)
    assert {(entry.vault, entry.filename) for entry in other.index.entries} == {("v", "Lamp.md")}
    assert other.chat is project_of().chat
