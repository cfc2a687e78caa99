"""`lorestudio effects`: a change over whole chats, and every setting by a step."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

EXPECTED = """\
expectations:
  - {note: Lamp, should: be in, whenever: tide}
  - {note: Tide, should: not be in, whenever: lamp}
"""


@pytest.fixture
def expecting(vault: Path) -> Path:
    (vault / "lorestudio-expectations.yaml").write_text(EXPECTED, encoding="utf-8")
    return vault


def test_a_property_of_a_note_over_the_whole_chat(lorestudio: Run, expecting: Path, chat: Path) -> None:
    result = lorestudio("effects", expecting, "--chat", chat, "--note", "Lamp:keys=[nobody says this]", "--json")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["effects"]
    first = found["turns"][0]
    assert (first["reply"], first["entered"], first["left"]) == (1, [], ["Lamp"])
    assert first["lost"] == ["Lamp should be in whenever “tide” is said"]
    assert found["lost"] == sum(len(turn["lost"]) for turn in found["turns"]) > 0
    assert found["look_first"][0] == 1
    printed = lorestudio("effects", expecting, "--chat", chat, "--note", "Lamp:keys=[nobody says this]").stdout
    assert "Look first at #1" in printed


def test_a_setting_and_the_text_of_a_note(lorestudio: Run, expecting: Path, chat: Path, tmp_path: Path) -> None:
    told = lorestudio("effects", expecting, "--chat", chat, "--set", "enabled=false", "--json")
    (found,) = json.loads(told.stdout)["effects"]
    assert found["changed"] > 0
    assert found["tokens_per_reply"] < 0
    file = tmp_path / "new.md"
    file.write_text("---\ntags: [lorebook]\nkeys: [later]\n---\nA gull.\n", encoding="utf-8")
    told = lorestudio("effects", expecting, "--chat", chat, "--text", f"Gull.md={file}", "--json")
    (made,) = json.loads(told.stdout)["effects"]
    assert [turn["entered"] for turn in made["turns"]] == [[], [], ["Gull"]]


def test_every_setting_by_a_step(lorestudio: Run, expecting: Path, chat: Path) -> None:
    result = lorestudio("effects", expecting, "--chat", chat, "--each", "--setting", "maxEntries", "--json")
    (found,) = json.loads(result.stdout)["effects"]
    assert [(row["setting"], row["before"], row["after"]) for row in found["settings"]] == [
        ("maxEntries", 10, 5),
        ("maxEntries", 10, 15),
    ]
    printed = lorestudio("effects", expecting, "--chat", chat, "--each", "--setting", "enabled").stdout
    assert not re.search(r"-\d", printed)  # a minus sign, as tokens have one
    assert "on -> off" in printed


def test_a_pin_a_block_and_both_taken_away(lorestudio: Run, expecting: Path, chat: Path) -> None:
    def told(*change: str) -> dict[str, Any]:
        result = lorestudio("effects", expecting, "--chat", chat, *change, "--json")
        assert result.exit_code == 0, result.output
        (found,) = json.loads(result.stdout)["effects"]
        return found

    assert {title for turn in told("--block", "Lamp")["turns"] for title in turn["left"]} == {"Lamp"}
    assert {title for turn in told("--pin", "Tide")["turns"] for title in turn["entered"]} >= {"Tide"}
    assert told("--free", "Lamp")["changed"] == 0
    result = lorestudio("effects", expecting, "--chat", chat, "--free", "Limp")
    assert (result.exit_code, "--free: no entry is called “Limp”" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--set"),
        (("--each", "--set", "enabled=false"), "--each: this tries"),
        (("--set", "scanDeep=3"), "Did you mean"),
        (("--note", "Lamp"), "NOTE:NAME=VALUE"),
        (("--note", "Limp:priority=3"), "Limp"),
        (("--text", "Lamp"), "NOTE=FILE"),
        (("--each", "--setting", "nothing"), "there is no setting"),
        (("--each", "--setting", "scanDept"), "Did you mean “scanDepth”?"),
    ],
)
def test_what_cannot_be_used_is_told(
    lorestudio: Run, vault: Path, chat: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = lorestudio("effects", vault, "--chat", chat, *arguments)
    assert (result.exit_code, message in result.stderr) == (2, True), result.output


def test_a_text_for_a_note_that_there_is_not_is_told(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    (new := tmp_path / "new.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nNew.", encoding="utf-8")
    for asked in (
        ("effects", vault, "--text", f"places/Typo.md={new}"),
        ("preview", vault, "places/Typo.md", "--text", new),
    ):
        result = lorestudio(*asked, "--chat", chat)
        assert (result.exit_code, result.stderr.count("no note is called “places/Typo.md”")) == (0, 1)


def test_a_choice_that_the_system_does_not_heed_is_told_and_is_no_step(
    lorestudio: Run, vault: Path, chat: Path
) -> None:
    ignored = "lorestudio: World Info: pins count for nothing here.\n"
    for command in (("effects", "--run"), ("replay", "--system")):
        call = (command[0], vault, "--chat", chat, command[1])
        assert lorestudio(*call, "world-info", "--pin", "Lamp", "--block", "Tide").stderr.count(ignored) == 1
        assert "for nothing" not in lorestudio(*call, "world-info", "--block", "Tide").stderr
        assert "for nothing" not in lorestudio(*call, "deeplore", "--pin", "Lamp").stderr
    assert ignored in lorestudio("test", vault, "--system", "world-info", "--text", "lamp", "--pin", "Lamp").stderr


def test_all_differences_have_the_same_signs(lorestudio: Run, vault: Path, tmp_path: Path) -> None:
    chat = tmp_path / "long.txt"
    chat.write_text("Wren: A lamp!\nHob: Yes.\n" * 8, encoding="utf-8")
    printed = lorestudio("effects", vault, "--chat", chat, "--note", "Lamp:keys=[nobody says this]").stdout
    assert "−" in printed.partition("(95 %: ")[2]
    assert "-" not in printed.partition("Lamp")[2]
