"""Causes, differences and scenarios work for every system that is registered, or it says in a sentence why not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import scenario_bytes
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.compare.causes import (
    What,
    can_find,
    effects,
    find_causes,
    replay_differences,
    side_of,
    turn_diffs,
)
from lorestudio.studio.compare.differences import input_differences
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.exported_scenario import export_turn
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.scenario import run_scenarios
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import SystemKind
from lorestudio.systems.differences import DifferenceKind
from lorestudio.systems.registry import KINDS, system_of
from lorestudio.trace.diff import compare
from lorestudio.trace.model import Trace

NOTES = {"Lamp": "keys: [lamp]\ncooldown: 1", "Tide": "keys: [tide]\nrequires: [Lamp]", "Gate": "keys: [portcullis]"}
CHAT = (("Wren", "The lamp burns."), ("Ann", "By the tide."), ("Wren", "And the lamp?"), ("Ann", "Out."))
LAST = Generation(4)
GATE = ("brume", "Gate.md")
MEMORIES = {
    "auto_recap_running_scene_recaps": {
        "chat_id": "one",
        "current_version": 1,
        "versions": [
            {"version": 0, "content": "The lamp burns.", "scene_count": 1, "new_scene_index": 1},
            {"version": 1, "content": "It is out.", "scene_count": 2, "prev_scene_index": 1, "new_scene_index": 3},
        ],
    }
}
"""A running recap of each scene; a scene ends with every reply."""


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request: pytest.FixtureRequest) -> SystemKind:
    found = request.param
    assert isinstance(found, SystemKind)
    return found


def project(folder: Path, *, gate: str = "portcullis", newest: str = "Out.", pinned: bool = False) -> Project:
    """A vault and a chat with a recap of each message and each scene."""
    vault = folder / "brume"
    vault.mkdir(parents=True)
    for name, front in NOTES.items():
        text = f"---\ntags: [lorebook]\n{front.replace('portcullis', gate)}\n---\nOf {name}.\n"
        (vault / f"{name}.md").write_text(text, encoding="utf-8")
    rows: list[dict[str, Any]] = [{"user_name": "Wren", "character_name": "Ann", "chat_metadata": MEMORIES}]
    for name, text in (*CHAT[:-1], ("Ann", newest)):
        scene = {"scene_break": True, "scene_recap_memory": f"Scene: {text}"} if name == "Ann" else {}
        recaps = {"auto_recap": {"memory": f"Told: {text}", **scene}}
        rows.append({"name": name, "is_user": name == "Wren", "mes": text, "extra": recaps})
    chat = folder / "chat.jsonl"
    chat.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    made = open_project([vault], chat, seed=5)
    pins = ChatControls(pins=(EntryRule("Gate"),)) if pinned else made.controls
    return replace(made, controls=pins, chat_path=Path("/chats/one.jsonl"))


def replayed(kind: SystemKind, there: Project, store: Path) -> Simulator:
    """All generations, with the defaults and no memory of another chat."""
    named = {"store": str(store)} if "store" in kind.settings.model_fields else {}
    settings = there.settings if kind.settings is DeepLoreSettings else kind.settings.model_validate(named)
    simulator = Simulator(there, system_of(there.scene(), kind, settings))
    asyncio.run(simulator.replay())
    return simulator


def gate_goes_in(traces: Iterable[Trace]) -> bool:
    """Whether the note goes into any of these turns; a memory of the chat has no notes."""
    refs = (trace.entries[each.entry] for trace in traces for each in trace.injections)
    return any((ref.vault, ref.filename) == GATE for ref in refs)


def test_every_difference_of_notes_choices_and_chat_is_told_and_carried(kind: SystemKind, tmp_path: Path) -> None:
    store = tmp_path / "none.sqlite"
    first = replayed(kind, project(tmp_path / "a"), store)
    second = replayed(kind, project(tmp_path / "b", gate="lamp", newest="The tide.", pinned=True), store)
    one, other = Rerun.of(first, LAST), Rerun.of(second, LAST)
    found = input_differences(one, other)
    assert {each.kind for each in found} >= {DifferenceKind.NOTE, DifferenceKind.CHOICE, DifferenceKind.CHAT}
    for difference in found:
        one = difference.carry(one, other)
    assert input_differences(one, other) == ()
    again, trace = one.run().trace, second.traces[LAST]
    assert (again.injections, again.prompt) == (trace.injections, trace.prompt)


def test_who_did_what_is_found(kind: SystemKind, tmp_path: Path) -> None:
    store = tmp_path / "none.sqlite"
    first = replayed(kind, project(tmp_path / "a"), store)
    second = replayed(kind, project(tmp_path / "b", gate="lamp", newest="The tide."), store)
    before, after = side_of(first, LAST), side_of(second, LAST)
    assert can_find(before, after)
    causes = find_causes(before, after)
    assert causes.unexplained == frozenset()
    found = effects(compare(before.trace, after.trace))
    assert all(causes.of(effect) for effect in found)
    assert ((What.ENTERED, GATE) in found) is gate_goes_in([after.trace])


def test_whole_replays_are_compared(kind: SystemKind, tmp_path: Path) -> None:
    store = tmp_path / "none.sqlite"
    first = replayed(kind, project(tmp_path / "a"), store)
    second = replayed(kind, project(tmp_path / "b", gate="lamp"), store)
    assert [each.title for each in replay_differences(first, second)] == ["Gate"]
    turns = tuple(turn_diffs(first, second))
    assert [turn.generation for turn in turns] == list(first.generations)
    assert any(turn.differs for turn in turns) is gate_goes_in(second.traces.values())
    assert not any(turn.differs for turn in turn_diffs(first, first))


@pytest.mark.parametrize("turn", [Generation(1), Generation(3), LAST], ids=str)
def test_a_turn_is_a_scenario_or_the_system_says_why_not(kind: SystemKind, turn: Generation, tmp_path: Path) -> None:
    simulator = replayed(kind, project(tmp_path / "a"), tmp_path / "none.sqlite")
    refusal = simulator.system.not_in_scenario()
    if refusal:
        assert refusal.endswith(".")
        with pytest.raises(InputError) as told:
            export_turn(simulator, turn)
        assert refusal in str(told.value)
        return
    exported = export_turn(simulator, turn)
    assert exported.differing == ()
    path = tmp_path / "turn.json"
    path.write_bytes(scenario_bytes(exported.scenario))
    (result,) = run_scenarios(path)
    assert len(result["expected"]["generations"]) == 1 + simulator.generations.index(turn)
