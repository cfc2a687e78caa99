"""Changes that bring an entry in, or keep it out, where a system beside DeepLore decides."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from lorestudio.studio.tryout.system_why_not import SystemWhyNotFinder

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.exchange.problems import InputError
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.why_not_answers import Holds, WhyNot, conclusion
from lorestudio.systems.registry import KINDS

NOTES = {
    "Lamp": ("keys: [lamp]", "The lamp is of brass, and burns all night without oil."),
    "Bell": ("keys: [bell]\npriority: 5", "The bell rings at four."),
    "Kept": ("keys: [lamp]\ncw_lock: true", "Somebody keeps this from you."),
    "Guide": ("tags: [lorebook, lorebook-guide]", "Write well."),
    "Oath": ("keys: [lamp]\ncw_requires: [Nobody]", "They swore it."),
}
TALK = [
    ("Wren", True, "A bell, once."),
    ("Ann", False, "It rang."),
    ("Wren", True, "Hold the lamp."),
    ("Ann", False, "Yes."),
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, (front, text) in NOTES.items():
        head = front if "tags" in front else f"tags: [lorebook]\n{front}"
        (vault / f"{name}.md").write_text(f"---\n{head}\n---\n{text}\n", encoding="utf-8")
    chat = tmp_path / "chat.jsonl"
    lines: list[dict[str, Any]] = [{"user_name": "Wren", "character_name": "Ann", "chat_metadata": {}}]
    lines += [{"name": name, "is_user": user, "mes": text} for name, user, text in TALK]
    chat.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return open_project([vault], chat)


def searched(project: Project, system: str, note: str, settings: Section, message: int = 3) -> WhyNot:
    kind = KINDS[system]
    simulator = Simulator(project, kind.make(settings, project))
    asyncio.run(simulator.replay())
    finder = SystemWhyNotFinder(simulator, Generation(message), kind, settings)
    return finder.find((project.index.vaults[0], note))


def changes(found: WhyNot) -> dict[str, str]:
    return {answer.change.code: answer.change.title for answer in found.answers if answer.holds.applies}


def set_by(found: WhyNot) -> dict[str, object]:
    return {name: value for answer in found.answers for name, value in answer.change.settings.items()}


def test_the_least_budget_that_lets_an_entry_in(project: Project) -> None:
    """The lamp takes 14 tokens (54 characters); without the conversation the budget has to have 14."""
    settings = ContextWindowSettings(total_token_budget=8, with_conversation=False)
    found = searched(project, "context-window", "Lamp.md", settings)
    assert found.fate is not None
    assert found.fate.reason == "cw_no_room"
    assert set_by(found)["total_token_budget"] == 14
    assert all(answer.holds is Holds.BOTH for answer in found.answers)
    assert "would" not in conclusion(found)


def test_what_the_chat_says_further_up_is_reached_by_looking_at_more_messages(project: Project) -> None:
    found = searched(project, "context-window", "Bell.md", ContextWindowSettings())
    assert set_by(found)["scanned_messages"] == 3
    assert set_by(found)["fill_mode"] is True
    assert any(answer.change.note is not None and answer.change.note.add == ("lamp",) for answer in found.answers)


def test_properties_of_the_context_window_that_keep_a_note_out(project: Project) -> None:
    locked = searched(project, "context-window", "Kept.md", ContextWindowSettings())
    assert changes(locked)["drop_property"] == "Take cw_lock from “Kept”"
    lacking = searched(project, "context-window", "Oath.md", ContextWindowSettings())
    assert changes(lacking)["drop_property"] == "Take cw_requires from “Oath”"


def test_the_threshold_of_hybrid_retrieval(project: Project) -> None:
    found = searched(project, "hybrid", "Lamp.md", HybridSettings(semantic_threshold=1.5))
    assert found.fate is not None
    assert found.fate.reason == "hy_below"
    score = found.fate.details["score"]
    threshold = set_by(found)["semantic_threshold"]
    assert isinstance(score, float)
    assert isinstance(threshold, float)
    assert score - 0.011 < threshold <= score


def test_a_block_is_taken_away_or_put_on(project: Project) -> None:
    went_in = searched(project, "world-info", "Lamp.md", WorldInfoSettings())
    assert went_in.keeps_out
    assert changes(went_in)["block"] == "Block “Lamp” in this chat"
    assert changes(went_in)["drop_key"] == "Take the key “lamp” from “Lamp”"


def test_world_info_by_its_scan_depth(project: Project) -> None:
    found = searched(project, "world-info", "Bell.md", WorldInfoSettings(depth=1))
    assert set_by(found)["depth"] == 3


def test_what_is_no_entry_and_stopping(project: Project) -> None:
    with pytest.raises(InputError, match="no such entry"):
        searched(project, "hybrid", "Nothing.md", HybridSettings())
    kind, settings = KINDS["hybrid"], HybridSettings(semantic_threshold=1.5)
    simulator = Simulator(project, kind.make(settings, project))
    with pytest.raises(ValueError, match="not been run"):
        SystemWhyNotFinder(simulator, Generation(3), kind, settings)
    asyncio.run(simulator.replay())
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        SystemWhyNotFinder(simulator, Generation(3), kind, settings).find(
            (project.index.vaults[0], "Lamp.md"), cancel=token
        )


def test_an_entry_of_a_lorebook_file(project: Project, tmp_path: Path) -> None:
    book = tmp_path / "book.json"
    book.write_text(json.dumps({"entries": {"0": {"uid": 0, "key": ["bell"], "content": "Old.", "comment": "Oil"}}}))
    kind, settings = KINDS["world-info"], WorldInfoSettings(book=str(book), depth=3)
    simulator = Simulator(project, kind.make(settings, project))
    asyncio.run(simulator.replay())
    ref = next(iter(simulator.traces[Generation(3)].entries.values()))
    found = SystemWhyNotFinder(simulator, Generation(3), kind, settings).find((ref.vault, ref.filename))
    assert found.keeps_out
    assert set_by(found)["depth"] == 2


@pytest.mark.parametrize("system", ["facts", "recap"])
def test_a_system_that_looks_at_no_notes_says_so(project: Project, system: str) -> None:
    found = searched(project, system, "Lamp.md", KINDS[system].settings())
    assert (found.complete, found.tried, found.answers) == (True, 0, ())
    assert "notes of the vault take no part. Choose a system that looks at notes" in conclusion(found)


def test_where_nothing_helps_the_run_itself_says_why(project: Project) -> None:
    """A guide is no lore in any system, whatever is set."""
    found = searched(project, "hybrid", "Guide.md", HybridSettings())
    assert found.answers == ()
    assert conclusion(found).startswith("No single change brings “Guide” in, by ")
    assert found.fate is not None
    words = found.fate.explain(found.trace)
    assert conclusion(found).endswith(f"{words.sentence} {words.fix}".rstrip())
