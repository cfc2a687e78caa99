"""Nothing that a note, a chat or a provider says steers the terminal, or reorders what is read there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lorestudio.cli.output import echo
from lorestudio.cli.screen import Screen, filled, listing

STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
EVIL = "\x1b]0;owned\x07 \x9b31m \u202eneprah \u2066[bold]L\x7famp[/nothing] :boom:"
HARMLESS = "]0;owned 31m neprah [bold]Lamp[/nothing] :boom:"
COMMANDS = (
    "replay --chat", "replay --json --chat", "explain --message 1 --chat", "prompt --message 1 --chat",
    "lint", "lint --json", "entries", "usage --chat", "search lamp", "report -o lore.txt --chat", "links Plain",
    "scenario --message 1 --chat",
)  # fmt: skip


@pytest.fixture
def evil(tmp_path: Path) -> tuple[Path, Path]:
    """A vault and a chat whose every name and text would clear the screen."""
    vault, chat = tmp_path / "vault", tmp_path / "chat.jsonl"
    vault.mkdir()
    front = json.dumps(EVIL)
    front = f"tags: [lorebook]\nkeys: [lamp, {front}]\nsummary: {front}\nera: {front}"
    note = f"---\n{front}\n---\n# {EVIL}\n\n{EVIL} [[{EVIL}]]\n"
    (vault / "Lamp [bold]\x1b[2J.md").write_text(note, encoding="utf-8")
    (vault / "Plain.md").write_text(f"# {EVIL}\n\n{EVIL}\n", encoding="utf-8")
    records = [{"user_name": EVIL, "character_name": EVIL}]
    records += [{"name": EVIL, "is_user": user, "mes": f"lamp {EVIL}"} for user in (True, False, True, False)]
    chat.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return vault, chat


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_what_steers_a_terminal(lorestudio, evil, command) -> None:
    vault, chat = evil
    name, *more = command.split()
    told = lorestudio(name, vault, *more, *([chat] if more[-1:] == ["--chat"] else []))
    assert told.exit_code in {0, 1}, told.output
    assert "neprah" in told.output or name in {"links", "report"}
    assert not STEERING.findall(told.output), told.output


@pytest.mark.parametrize("command", ["search bell", "links Plain", "lint --severity info", "prompt --message 1 --chat"])
def test_no_line_ends_where_only_some_readers_see_an_end(lorestudio, tmp_path, command) -> None:
    cut = "a\u2028bell\u2029rings"
    for name in ("Plain", "Bell"):
        note = f"---\ntags: [lorebook]\nkeys: [bell]\n---\n# {name}\n[[Plain]] {cut} [[{cut}]]\n"
        (tmp_path / f"{name}.md").write_text(note, encoding="utf-8")
    (tmp_path / "chat.txt").write_text(f"Ann: {cut}\nBea: Yes.\n", encoding="utf-8")
    name, *more = command.split()
    told = lorestudio(name, tmp_path, *more, *([tmp_path / "chat.txt"] if more[-1:] == ["--chat"] else []))
    assert told.exit_code in {0, 1}, told.output
    assert "a bell rings" in told.output
    assert not re.search("[\u2028\u2029]", told.output)


@pytest.mark.parametrize("form", ["snippet", "file", "list"])
def test_no_exported_setting_steers_a_terminal(lorestudio, tmp_path, form) -> None:
    (file := tmp_path / "settings.json").write_text(json.dumps({"aiSearchSystemPrompt": EVIL}), encoding="utf-8")
    told = lorestudio("settings", "export", "--settings", file, "--as", form)
    assert told.exit_code == 0
    assert "neprah" in told.stdout
    assert not STEERING.findall(told.stdout)
    if form == "snippet":
        assert json.loads(told.stdout)["aiSearchSystemPrompt"] == EVIL


@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_no_report_holds_what_steers_a_terminal(lorestudio, evil, tmp_path, ending) -> None:
    vault, chat = evil
    path = tmp_path / f"report.{ending}"
    assert lorestudio("report", vault, "--message", 1, "--chat", chat, "-o", path).exit_code == 0
    text = path.read_text(encoding="utf-8")
    assert not STEERING.findall(text)
    if ending == "json":  # a program reads the very texts
        assert EVIL in {message["speaker"] for turn in json.loads(text)["turns"] for message in turn["messages"]}


def test_what_is_printed_keeps_its_words(capsys) -> None:
    echo(EVIL)
    Screen().print(filled(listing(EVIL), [[EVIL]]), EVIL)
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == [HARMLESS] * 4
