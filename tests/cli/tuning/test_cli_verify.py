"""`lorestudio verify`: a chat's records held against its runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A chat whose two replies say that the lamp went in."""
    lamp, tide = (
        {"title": title, "filename": f"{title}.md", "matchedBy": title.lower(), "vaultSource": "Default"}
        for title in ("Lamp", "Tide")
    )
    lines = [
        {"user_name": "Wren", "character_name": "Ann", "chat_metadata": {}},
        {"name": "Wren", "is_user": True, "mes": "The lamp burns."},
        {"name": "Ann", "is_user": False, "mes": "Yes.", "extra": {"deeplore_sources": [lamp]}},
        {"name": "Wren", "is_user": True, "mes": "And the tide?"},
        {"name": "Ann", "is_user": False, "mes": "It is out.", "extra": {"deeplore_sources": [lamp, tide]}},
    ]
    path = tmp_path / "recorded.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_a_chat_that_agrees(lorestudio: Run, vault: Path, recorded: Path) -> None:
    result = lorestudio("verify", vault, "--chat", recorded, "--json", "--fail-under", 100)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["percent"], found["judged"], found["agrees"], found["causes"]) == (100, 2, 2, [])
    assert [each["recorded"][0]["title"] for each in found["replies"]] == ["Lamp", "Lamp"]


def test_replies_in_a_row_of_which_the_same_is_said_are_one_row(lorestudio: Run, vault: Path, recorded: Path) -> None:
    bare = json.dumps({"name": "Ann", "is_user": False, "mes": "Well."})
    recorded.write_text("\n".join([recorded.read_text("utf-8"), bare, bare, bare]), encoding="utf-8")
    shown = lorestudio("verify", vault, "--chat", recorded).stdout
    rows = [line.split() for line in shown.splitlines() if "#" in line]
    assert [row[:5] for row in rows[-1:]] == [["#4", "to", "#6", "(3)", "no"]]
    assert len(rows) < 4


def test_a_note_that_is_gone_is_named_and_fails(lorestudio: Run, vault: Path, recorded: Path) -> None:
    (vault / "Lamp.md").unlink()
    result = lorestudio("verify", vault, "--chat", recorded, "--fail-under", 90)
    assert result.exit_code == 1
    assert "The note “Lamp” was there then" in result.stdout
    assert "0 of 2 replies agree: 0.0 %." in result.stdout
    assert lorestudio("verify", vault, "--chat", recorded).exit_code == 0


def test_an_entry_that_is_gone_from_a_lorebook_or_has_other_keys_is_named(lorestudio: Run, tmp_path: Path) -> None:
    book, chat = tmp_path / "Town.json", tmp_path / "chat.jsonl"
    book.write_text(
        json.dumps({"entries": {"0": {"uid": 0, "key": ["bell"], "comment": "Bell", "content": "Cracked."}}})
    )
    lines = [
        {"user_name": "Wren", "character_name": "Ann", "chat_metadata": {}},
        {"name": "Wren", "is_user": True, "mes": "The lamp burns."},
        {"name": "Ann", "mes": "Yes.", "extra": {"activeLorebookEntries": [{"world": "Town", "comment": "Lamp"}]}},
    ]
    chat.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (cause,) = json.loads(lorestudio("verify", book, "--chat", chat, "--json").stdout)["causes"]
    assert cause["cause"] == "The entry “Lamp” was there then: no entry of that title is in the lorebooks now."
    entry = {"world": "Town", "comment": "Bell", "keys": ["lamp", "bell"]}
    lines[2]["extra"] = {"activeLorebookEntries": [entry]}
    chat.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (cause,) = json.loads(lorestudio("verify", book, "--chat", chat, "--json").stdout)["causes"]
    assert cause["cause"] == (
        "The entry “Bell” was another one then: it had the key “lamp”, which it does not have now."
    )


@pytest.mark.parametrize("in_book", [True, False])
def test_an_entry_that_was_switched_off_since_is_named(lorestudio: Run, tmp_path: Path, in_book: bool) -> None:
    place, chat = tmp_path / "Town.json", tmp_path / "chat.jsonl"
    entry = {"uid": 0, "key": ["lamp"], "comment": "Lamp", "content": "Brass.", "disable": True}
    place.write_text(json.dumps({"entries": {"0": entry}}))
    if not in_book:
        place = tmp_path / "vault"
        place.mkdir()
        note = "---\ntags: [lorebook]\nkeys: [lamp]\nwi_disable: true\n---\nBrass.\n"
        (place / "Lamp.md").write_text(note, encoding="utf-8")
    lines = [
        {"user_name": "Wren", "character_name": "Ann", "chat_metadata": {}},
        {"name": "Wren", "is_user": True, "mes": "The lamp burns."},
        {"name": "Ann", "mes": "Yes.", "extra": {"activeLorebookEntries": [{"world": "Town", "comment": "Lamp"}]}},
    ]
    chat.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = json.loads(lorestudio("verify", place, "--chat", chat, "--system", "world-info", "--json").stdout)
    (cause,) = found["causes"]
    what = "entry" if in_book else "note"
    assert cause["cause"] == f"The {what} “Lamp” was another one then: it was switched on."


def test_a_chat_without_records_fails_only_where_something_is_asked_for(
    lorestudio: Run, vault: Path, chat: Path
) -> None:
    result = lorestudio("verify", vault, "--chat", chat)
    assert result.exit_code == 0
    assert "No reply could be judged" in result.stdout
    assert lorestudio("verify", vault, "--chat", chat, "--fail-under", 1).exit_code == 1


def test_what_a_person_can_mend_is_said(lorestudio: Run, vault: Path, recorded: Path) -> None:
    assert lorestudio("verify", vault, "--chat", recorded, "--fail-under", 120).exit_code == 2
    missing = lorestudio("verify", vault, "--chat", vault / "none.jsonl")
    assert missing.exit_code == 2
    assert "none.jsonl" in missing.output
    unrecorded = lorestudio("verify", vault, "--chat", recorded, "--system", "hybrid")
    assert unrecorded.exit_code == 2
    assert "no chat keeps what Hybrid retrieval put into its prompts" in unrecorded.output
