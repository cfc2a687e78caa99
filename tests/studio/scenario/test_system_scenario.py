"""A turn that a system beside DeepLore decided, saved as a scenario, decides the same again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import scenario_bytes
from lorestudio.llm.embedding import HashEmbedder
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.worldinfo import VAULT, WorldInfoSettings
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.scenario.export import export_turn
from lorestudio.studio.scenario.running import run_scenarios
from lorestudio.systems.registry import KINDS
from lorestudio.systems.vectors import KnownVectors

NOTES = {
    "Lamp.md": "keys: [lamp]\nwi_cooldown: 3",
    "Oil.md": "keys: [oil]\nprobability: 0.5",
    "Bell.md": "keys: [bell]\npriority: 5",
}
LAST = Generation(6)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    vault = tmp_path / "brume"
    vault.mkdir()
    for name, front in NOTES.items():
        (vault / name).write_text(f"---\ntags: [lorebook]\n{front}\n---\n{name} says: naïve “😀”.\n", encoding="utf-8")
    records: list[dict[str, Any]] = [
        {"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": {
            "deeplore_pins": [{"title": "Bell", "vaultSource": "brume"}], "unrelated": "private",
        }},
        {"name": "Wren", "is_user": True, "mes": "A lamp, oil, a bell and the tide."},
        {"name": "Ottoline", "mes": "Yes.", "swipes": ["No.", "Yes."], "swipe_id": 1},
        {"name": "Wren", "is_user": True, "mes": "(( aside ))", "is_system": True},
        {"name": "Wren", "is_user": True, "mes": "The lamp again?", "extra": {"private": "not needed"}},
        {"name": "Ottoline", "mes": "Oil, then."},
        {"name": "Wren", "is_user": True, "mes": "oil lamp tide"},
    ]  # fmt: skip
    chat = tmp_path / "chat.jsonl"
    chat.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return open_project([vault], chat, seed=11)


def ran(project: Project, name: str, settings: Section) -> Simulator:
    simulator = Simulator(project, KINDS[name].make(settings, project.scene()))
    asyncio.run(simulator.replay())
    return simulator


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("world-info", WorldInfoSettings(depth=1)),
        ("hybrid", HybridSettings(limit=1)),
        ("context-window", ContextWindowSettings(total_token_budget=40)),
        ("recap", RecapSettings()),
    ],
)
def test_a_turn_repeats(project: Project, name: str, settings: Section, tmp_path: Path) -> None:
    simulator = ran(project, name, settings)
    exported = export_turn(simulator, LAST)
    assert exported.differing == ()
    assert exported.scenario.system == name
    assert len(exported.scenario.generations) == 3  # two replies before it, whatever their swipes
    path = tmp_path / "turn.json"
    path.write_bytes(scenario_bytes(exported.scenario))
    (result,) = run_scenarios(path)
    told = result["expected"]["generations"][-1]
    titles = [row["title"] for row in told["injected"]]
    assert titles == [injection.title for injection in simulator.traces[LAST].injections]
    assert [row["text"] for row in told["prompt"]] == [block.text for block in simulator.traces[LAST].prompt]


def test_recaps_come_with_the_messages_that_hold_them(project: Project) -> None:
    assert project.chat is not None
    kept = {"auto_recap": {"memory": "They spoke of lamps."}, "private": 1}
    messages = tuple(replace(each, extra=dict(kept)) for each in project.chat.messages)
    told = replace(project, chat=replace(project.chat, messages=messages))
    simulator = ran(told, "recap", RecapSettings())
    exported = export_turn(simulator, LAST)
    assert exported.differing == ()
    assert "They spoke of lamps." in scenario_bytes(exported.scenario).decode()


def test_a_swipe_that_the_chat_did_not_go_on_from(project: Project) -> None:
    exported = export_turn(ran(project, "world-info", WorldInfoSettings()), Generation(1, 0))
    assert exported.differing == ()
    assert len(exported.scenario.generations) == 1
    assert "#1" in exported.scenario.id


def test_only_what_the_system_looks_at_is_in_the_file(project: Project) -> None:
    text = scenario_bytes(export_turn(ran(project, "hybrid", HybridSettings()), LAST).scenario).decode()
    assert "private" not in text
    assert "not needed" not in text
    assert "Bell" in text


def test_files_that_are_not_scanned_are_not_named(project: Project) -> None:
    settings = WorldInfoSettings(source=VAULT, book="/home/wren/private.json", worlds="/home/wren/private")
    exported = export_turn(ran(project, "world-info", settings), LAST)
    assert "private" not in scenario_bytes(exported.scenario).decode()
    assert exported.differing == ()


def test_what_has_no_room_in_a_scenario_is_said(project: Project, tmp_path: Path) -> None:
    book, words = tmp_path / "book.json", tmp_path / "words.txt"
    book.write_text('{"entries": {"0": {"uid": 0, "key": ["lamp"], "content": "Brass."}}}', encoding="utf-8")
    words.write_text("lamp\n", encoding="utf-8")
    for name, settings, told in (
        ("facts", FactsSettings(store=str(tmp_path / "m.sqlite")), "remembers"),
        ("world-info", WorldInfoSettings(book=str(book)), "lorebooks"),
        ("context-window", ContextWindowSettings(word_list=str(words)), "word list"),
    ):
        with pytest.raises(InputError, match=told):
            export_turn(ran(project, name, settings), LAST)


def test_vectors_of_a_provider_are_none_of_a_scenario(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = ran(project, "hybrid", HybridSettings())
    vectors = KnownVectors(HashEmbedder())
    monkeypatch.setattr(KnownVectors, "is_free", False)
    simulator.system = replace(simulator.system, vectors=vectors)  # type: ignore[type-var]  # it is a dataclass
    with pytest.raises(InputError, match="would be asked"):
        export_turn(simulator, LAST)


def test_a_generation_that_was_not_run(project: Project) -> None:
    simulator = Simulator(project, KINDS["hybrid"].make(HybridSettings(), project.scene()))
    with pytest.raises(ValueError, match="has not been run"):
        export_turn(simulator, LAST)
