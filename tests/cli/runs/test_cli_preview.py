from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lorestudio.cli.app import app

Run = Callable[..., Result]

BELL = "---\ntags: [lorebook]\nkeys: [bell, tide, nowhere]\n---\nThe old bell rings under water.\n"


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """Old Bell without the field that a gate holds against it, and with more keys."""
    path = tmp_path / "edited.md"
    path.write_text(BELL, encoding="utf-8")
    return path


def test_what_an_edit_changes(lorestudio: Run, vault: Path, chat: Path, edited: Path) -> None:
    before = (vault / "Old Bell.md").read_bytes()
    result = lorestudio("preview", vault, "Old Bell", "--chat", chat, "--message", 1, "--text", edited)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("before  ")
    assert lines[1].startswith("edited  ")
    assert any(line.startswith("  + Old Bell goes in (") for line in lines)
    assert "Old Bell (Old Bell.md)" in lines
    assert "  goes in: 8 tokens, 14 with the template" in lines
    assert any(line.startswith("    key “bell”: found once, last in #0 at ") for line in lines)
    assert "    key “nowhere”: not found" in lines
    assert (vault / "Old Bell.md").read_bytes() == before
    options = ("--chat", chat, "--message", 1, "--text", edited, "--json")
    told = json.loads(lorestudio("preview", vault, "Old Bell", *options).stdout)
    assert [each["filename"] for each in told["entered"]] == ["Old Bell.md"]
    (note,) = told["notes"]
    assert (note["outcome"]["goes_in"], note["injected"]) == (
        True,
        {"tokens": 8, "whole_tokens": 14, "truncated": False},
    )
    assert [each["count"] for each in note["match"]["keys"]] == [1, 1, 0]


def test_a_note_as_it_is_saved(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("preview", vault, "Lamp.md", "--chat", chat)
    assert result.exit_code == 0
    assert "  The same entries go in, with as many tokens." in result.stdout
    assert "would match in the last" in result.stdout


def test_text_from_standard_input_that_makes_the_note_no_entry(vault: Path, chat: Path) -> None:
    arguments = ["preview", str(vault), "lamp", "--chat", str(chat), "--text", "-"]
    result = CliRunner().invoke(app, arguments, input="Just a note.")
    assert result.exit_code == 0
    assert "  - Lamp no longer goes in" in result.stdout
    assert "Lamp.md is no entry: “Lamp.md” has no front matter" in result.stdout


def test_a_new_note(lorestudio: Run, vault: Path, chat: Path, edited: Path) -> None:
    result = lorestudio("preview", vault, "sub/New.md", "--chat", chat, "--text", edited)
    assert result.exit_code == 0
    assert "New (sub/New.md)" in result.stdout
    assert not (vault / "sub").exists()


def test_two_stage_says_who_answered(lorestudio: Run, vault: Path, chat: Path, edited: Path) -> None:
    asked = ("--mode", "two-stage", "--text", edited)
    result = lorestudio("preview", vault, "Lamp", "--chat", chat, "--message", 1, *asked)
    assert result.exit_code == 0
    assert "The offline stand-in answers for the model." in result.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("Nobody",), "NOTE: no note has the title or the file name “Nobody”"),
        (("Lamp", "--message", 2), "--message: #2 is no reply of the chat's. There are: #1, #3, #4."),
        (("Lamp", "--text", "absent.md"), "absent.md: there is no such file"),
        (("Lamp", "--answers", "Ollama"), "--answers: this asks no provider"),
        (("Lamp", "--answers", "recorded", "--mode", "two-stage"), "no answers are recorded yet"),
        (("New.md",), "New.md"),
    ],
)
def test_what_cannot_be_used(
    lorestudio: Run, vault: Path, chat: Path, arguments: tuple[object, ...], told: str
) -> None:
    result = lorestudio("preview", vault, *arguments, "--chat", chat)
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_a_text_in_another_encoding(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    path = tmp_path / "latin.md"
    path.write_bytes(b"\xe9")
    result = lorestudio("preview", vault, "Lamp", "--chat", chat, "--text", path)
    assert (result.exit_code, "not UTF-8" in result.stderr) == (2, True)


def test_a_title_that_two_notes_have(lorestudio: Run, vault: Path, chat: Path, edited: Path) -> None:
    (vault / "Second.md").write_text("---\ntags: [lorebook]\n---\n# Lamp\n", encoding="utf-8")
    result = lorestudio("preview", vault, "Lamp", "--chat", chat, "--text", edited)
    assert result.exit_code == 2
    assert "Lamp.md, Second.md" in result.stderr
    assert lorestudio("preview", vault, "Lamp.md", "--chat", chat, "--text", edited).exit_code == 0


def test_an_edit_where_another_system_decides(lorestudio: Run, vault: Path, chat: Path, edited: Path) -> None:
    edited.write_text(BELL.replace("bell, tide, nowhere", "nowhere"), encoding="utf-8")
    asked = ("preview", vault, "Old Bell", "--chat", chat, "--message", 1, "--text", edited)
    result = lorestudio(*asked, "--system", "world-info")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "  - Old Bell no longer goes in" in lines
    assert any(line.startswith("  does not go in: None of its keys") for line in lines)
    assert "no such setting" in lorestudio(*asked, "--system", "world-info", "--set", "limit_of_nothing=1").output


def test_the_text_as_another_system_would_put_it_in(lorestudio: Run, vault: Path, chat: Path, edited: Path) -> None:
    asked = ("preview", vault, "Old Bell", "--chat", chat, "--message", 1, "--text", edited)
    result = lorestudio(*asked, "--system", "hybrid", "--set", "embedder=none")
    assert result.exit_code == 0, result.output
    found = re.search(r"^  goes in: (\d+) tokens, (\d+) with the template$", result.stdout, re.MULTILINE)
    assert found is not None, result.stdout
    assert int(found[1]) < int(found[2])


def test_a_note_in_a_folder_is_found_by_its_file_name(lorestudio: Run, vault: Path, chat: Path) -> None:
    (vault / "deep").mkdir()
    (vault / "deep" / "Bell.md").write_text("---\ntags: [lorebook]\nkeys: [bell]\n---\n# Great Bell\n", "utf-8")
    result = lorestudio("preview", vault, "Bell.md", "--chat", chat)
    assert (result.exit_code, "Great Bell (deep/Bell.md)" in result.stdout) == (0, True), result.output
    assert "counts as a new one" not in result.stderr
    (vault / "sea").mkdir()
    (vault / "sea" / "Bell.md").write_text("---\ntags: [lorebook]\nkeys: [bell]\n---\n# Sea Bell\n", "utf-8")
    several = lorestudio("preview", vault, "Bell.md", "--chat", chat)
    told = "several notes are called “Bell.md”. Name the file: deep/Bell.md, sea/Bell.md."
    assert (several.exit_code, told in several.stderr) == (2, True), several.output
