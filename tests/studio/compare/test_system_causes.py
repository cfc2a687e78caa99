"""Which difference between two runs of a system beside DeepLore did what: checked against the system itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from lorestudio.domain.chat import Generation, Message
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.compare.causes import Causes, RunSide, What, can_find, find_causes
from lorestudio.studio.compare.differences import input_differences
from lorestudio.studio.compare.sides import edited_side, replay_differences, side_of
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Previewer
from lorestudio.systems.differences import DifferenceKind
from lorestudio.systems.registry import KINDS
from lorestudio.vault.edited_vaults import NoteText
from tests.studio.previews import CHAT, project_of

NOTES = {
    "Lamp.md": "---\ntags: [lorebook]\nkeys: [lamp]\n---\nA brass lamp.\n",
    "Tide.md": "---\ntags: [lorebook]\nkeys: [tide]\n---\nTwice a day.\n",
    "Gate.md": "---\ntags: [lorebook]\nkeys: [gate]\n---\nIt is shut.\n",
}
LAST = Generation(5)
NEAR, FAR = WorldInfoSettings(depth=1), WorldInfoSettings(depth=5)


def runs(project: Project, name: str, settings: Section) -> Simulator:
    simulator = Simulator(project, KINDS[name].make(settings, project.scene()))
    asyncio.run(simulator.replay())
    return simulator


def side(settings: Section = NEAR, project: Project | None = None, name: str = "world-info") -> RunSide:
    return side_of(runs(project or project_of(NOTES), name, settings), LAST)


def told(before: RunSide, after: RunSide) -> list[tuple[DifferenceKind, str]]:
    assert before.context is not None
    assert after.context is not None
    return [(each.kind, each.sentence) for each in input_differences(before.context, after.context)]


def doings(causes: Causes) -> dict[str, set[tuple[What, str]]]:
    return {cause.difference.title: {(what, key[1]) for what, key in cause.alone} for cause in causes.causes}


def test_the_inputs_give_the_run_again() -> None:
    for name, settings in (("world-info", NEAR), ("hybrid", HybridSettings()), ("recap", RecapSettings())):
        made = side(settings, name=name)
        assert made.context is not None
        again = made.context.run().trace
        assert (again.injections, again.prompt) == (made.trace.injections, made.trace.prompt)
        assert told(made, side(settings, name=name)) == []


def test_a_setting_and_what_it_does() -> None:
    """Of five messages three speak of the lamp, the gate and the tide; the newest one of the lamp."""
    before, after = side(NEAR), side(FAR)
    ((kind, sentence),) = told(before, after)
    assert (kind, sentence) == (DifferenceKind.SETTING, "Scan depth: 1 → 5")
    causes = find_causes(before, after)
    assert doings(causes) == {"Scan depth": {(What.ENTERED, "Gate.md"), (What.ENTERED, "Tide.md")}}
    assert causes.unexplained == frozenset()


def test_each_of_several_differences_has_its_own_doing() -> None:
    after = project_of({**NOTES, "Lamp.md": NOTES["Lamp.md"].replace("lamp]", "sextant]")})
    causes = find_causes(side(NEAR), side(FAR, after))
    found = doings(causes)
    assert found["Lamp"] == {(What.LEFT, "Lamp.md")}
    assert found["Scan depth"] == {(What.ENTERED, "Gate.md"), (What.ENTERED, "Tide.md")}


def test_choices_and_messages() -> None:
    project = project_of(NOTES)
    blocked = replace(project, controls=ChatControls(blocks=(EntryRule("Lamp"),)))
    keys_alone = HybridSettings(embedder="none")
    causes = find_causes(side(keys_alone, project, "hybrid"), side(keys_alone, blocked, "hybrid"))
    assert (What.LEFT, "Lamp.md") in doings(causes)["Blocks"]
    said = (*CHAT.messages[:4], Message("Wren", "To the gate!", is_user=True))
    edited = replace(project, chat=replace(CHAT, messages=said))
    causes = find_causes(side(NEAR, project), side(NEAR, edited))
    assert doings(causes) == {"Message #4": {(What.LEFT, "Lamp.md"), (What.ENTERED, "Gate.md")}}


def test_what_earlier_turns_left() -> None:
    """The lamp rests after reply 1 of the first chat; the other one did not speak of it by then."""
    lamp = NOTES["Lamp.md"].replace("keys:", "wi_cooldown: 9\nkeys:")
    project = project_of({**NOTES, "Lamp.md": lamp})
    first = Message("Wren", "Nothing burns.", is_user=True)
    other = replace(project, chat=replace(CHAT, messages=(first, *CHAT.messages[1:])))
    causes = find_causes(side(NEAR, project), side(NEAR, other))
    assert doings(causes)["Timed effects"] == {(What.ENTERED, "Lamp.md")}
    assert doings(causes)["Message #0"] == set()


def test_two_turns() -> None:
    simulator = runs(project_of(NOTES), "world-info", NEAR)
    before, after = side_of(simulator, Generation(3)), side_of(simulator, LAST)
    found = doings(find_causes(before, after))
    assert found["Chat"] == {(What.LEFT, "Tide.md"), (What.ENTERED, "Lamp.md")}


def test_two_systems_have_no_single_difference() -> None:
    one, other = side(NEAR), side(HybridSettings(), name="hybrid")
    deeplore = Simulator(project_of(NOTES))
    asyncio.run(deeplore.replay())
    for pair in ((one, other), (one, side_of(deeplore, LAST))):
        assert not can_find(*pair)
        with pytest.raises(ValueError, match="Two systems"):
            find_causes(*pair)
    with pytest.raises(ValueError, match="not kept"):
        find_causes(one, replace(one, context=None))


def test_an_unsaved_text_is_a_difference_of_its_note() -> None:
    project = project_of(NOTES)
    simulator = runs(project, "world-info", NEAR)
    tried = Previewer(simulator, LAST)
    text = NOTES["Gate.md"].replace("gate]", "goes]")
    settings = WorldInfoSettings(depth=1, max_recursion_steps=1)
    preview = tried.preview([NoteText("v", "Gate.md", text)], settings=settings)
    before = side_of(simulator, LAST)
    after = edited_side(before, preview, "unsaved")
    found = doings(find_causes(before, after))
    assert found["Gate"] == {(What.ENTERED, "Gate.md")}
    assert len(found) == 2


def test_whole_replays() -> None:
    project = project_of(NOTES)
    one, other = (runs(project, "world-info", each) for each in (NEAR, FAR))
    assert [each.title for each in replay_differences(one, other)] == ["Scan depth"]
    window: Any = runs(project, "context-window", ContextWindowSettings())
    assert replay_differences(one, window) == ()
