"""Which rule lets whom in or out when a chat goes from the rules of 2.0.2 to those of 2.6."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from lorestudio.studio.compare.comparison import by_rules, compare_candidates, comparison_as_markdown, comparison_rows
from lorestudio.studio.project.project import Project, open_project

if TYPE_CHECKING:
    from pathlib import Path

    from lorestudio.studio.compare.comparison import Comparison


def made(folder: Path, notes: dict[str, str], said: list[str], **settings: object) -> Project:
    """A chat in which each text of a person's gets a reply."""
    vault = folder / "vault"
    vault.mkdir()
    for title, front in notes.items():
        (vault / f"{title}.md").write_text(f"---\ntags: [lorebook]\n{front}\n---\n{title} stands.\n", encoding="utf-8")
    records: list[dict[str, object]] = [{"user_name": "Wren", "character_name": "Jun"}, {"name": "Jun", "mes": "Yes?"}]
    for text in said:
        records += [{"name": "Wren", "is_user": True, "mes": text}, {"name": "Jun", "mes": "So."}]
    chat = folder / "chat.jsonl"
    chat.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    chosen = folder / "settings.json"
    chosen.write_text(json.dumps({"enabled": True, "rules": "2.0.2", "scanDepth": 1, **settings}), encoding="utf-8")
    return open_project([vault], chat, chosen)


def compared(project: Project, *versions: str) -> Comparison:
    return asyncio.run(compare_candidates(project, [by_rules(project, each) for each in versions]))


def told(found: Comparison) -> list[tuple[int, list[str], list[str]]]:
    """For each reply who leaves and who comes in, each with why."""
    rows = []
    for turn in found.turns:
        place = turn.turn.message, turn.turn.swipe
        sides = [sorted(f"{found.titles[note]}: {found.why[place, note]}" for note in side) for side in turn.alone]
        rows.append((turn.turn.message, sides[0], sides[1]))
    return rows


def test_the_duplicate_log_alone_keeps_lore_of_recent_replies_out(tmp_path: Path) -> None:
    """The table of rules: deeplore-newer 1.8: Gate; Gate and Hill; Gate and Hill; Gate and Hill, look-back 2."""
    project = made(tmp_path, {"Gate": "keys: [gate]", "Hill": "keys: [hill]"}, ["gate", *["gate, hill"] * 3])
    found = compared(project, "2.0.2", "2.6")
    why = "Duplicate stripping"
    assert told(found)[:4] == [
        (2, [], []), (4, [f"Gate: {why}"], []), (6, [f"Gate: {why}", f"Hill: {why}"], []), (8, [f"Hill: {why}"], []),
    ]  # fmt: skip
    assert found.reasons == ((why, 3),)
    rows = comparison_rows(found)
    assert f"Gate ({why})" in rows[2]
    assert "## What made the difference" in comparison_as_markdown(found)


def test_a_rule_that_acts_alone_is_told_from_those_that_need_each_other(tmp_path: Path) -> None:
    """A new swipe takes nothing back (rules: deeplore-newer 1.7), so the kept log strips what the first one had."""
    project = made(tmp_path, {"Gate": "keys: [gate]"}, ["gate"])
    chat = project.chat_path
    assert chat is not None
    *before, last = map(json.loads, chat.read_text(encoding="utf-8").splitlines())
    last |= {"swipes": ["Or.", "So."], "swipe_id": 1}
    chat.write_text("\n".join(map(json.dumps, [*before, last])), encoding="utf-8")
    found = compared(project.with_chat(chat), "2.0.2", "2.6")
    why = "Which reply is being written + Duplicate stripping"
    assert told(found)[:2] == [(2, [], []), (2, [f"Gate: {why}"], [])]
    assert found.reasons == (("Which reply is being written", 1), ("Duplicate stripping", 1))


def test_priority_0_is_found_among_all_rules_but_one(tmp_path: Path) -> None:
    """The example of rules: deeplore-newer 1.6."""
    notes = {
        "Zero": "keys: [gate]\npriority: 0\nexcludes: [Twenty]",
        "Twenty": "keys: [gate]\npriority: 20\nexcludes: [Zero]",
    }
    found = compared(made(tmp_path, notes, ["gate"]), "2.0.2", "2.6-kept_log")
    assert told(found)[0] == (2, ["Twenty: Priority 0"], ["Zero: Priority 0"])


def test_a_rule_about_reading_notes_is_found_too(tmp_path: Path) -> None:
    notes = {"Gate": "keys: [gate]\nrefine_keys: [moon]\nselective_logic: not_any"}
    found = compared(made(tmp_path, notes, ["gate", "gate and moon"]), "2.0.2", "2.6")
    why = "Logic of refine keys"
    assert told(found)[:2] == [(2, [], [f"Gate: {why}"]), (4, [f"Gate: {why}"], [])]


def test_where_nothing_changes_no_rule_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = made(tmp_path, {"Gate": "keys: [gate]"}, ["nothing"])
    runs: list[str] = []
    monkeypatch.setattr("lorestudio.studio.compare.comparison.by_rules", lambda _project, rules: runs.append(rules))
    chosen = [by_rules(project, each) for each in ("2.0.2", "2.6")]
    found = asyncio.run(compare_candidates(project, chosen))
    assert (found.why, found.reasons, runs) == ({}, (), [])
