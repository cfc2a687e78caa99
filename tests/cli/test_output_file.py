"""Files that a command writes (see `cli.written`): no chat, note or book is lost to a mistaken name."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]


@pytest.mark.parametrize(
    "asked",
    [
        ("usage", "{vault}", "--chat", "{chat}", "-o", "{chat}"),
        ("usage", "{vault}", "-o", "{chat}"),
        ("scenario", "{vault}", "--chat", "{chat}", "-o", "{chat}"),
        ("report", "{vault}", "--chat", "{chat}", "-o", "{vault}/Lamp.md"),
        ("report", "{vault}", "--chat", "{chat}", "--settings", "{settings}", "-o", "{settings}"),
        ("report", "{vault}", "--chat", "{chat}", "-o", "{basis}"),
        ("run", "{scenario}", "-o", "{scenario}"),
        ("check", "{vault}", "--chat", "{chat}", "--junit", "{chat}"),
        ("tune", "{vault}", "--chat", "{chat}", "--run", "hybrid:{settings}", "--output", "{settings}"),
        ("tune", "{vault}", "--chat", "{chat}", "--report", "{vault}/Lamp.md"),
        ("import", "{book}", "--into", "{vault}", "--yes", "--report", "{book}"),
        ("import", "{book}", "--into", "{vault}", "--yes", "--report", "{chat}"),
        ("demo", "--screenshot", "{chat}"),
        ("open", "{vault}", "--screenshot", "{vault}/Lamp.md"),
    ],
)
def test_what_people_wrote_is_not_written_over(
    lorestudio: Run, vault: Path, chat: Path, scenario: object, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    made = {
        "settings": "{}", "basis": "{}", "scenario": json.dumps(scenario),
        "book": json.dumps({"entries": {"0": {"uid": 0, "key": ["wharf"], "content": "A wharf."}}}),
    }  # fmt: skip
    names = {"vault": vault, "chat": chat, **{name: tmp_path / f"{name}.json" for name in made}}
    names["basis"] = chat.with_name("chat.lorestudio.json")
    for name, text in made.items():
        names[name].write_text(text, encoding="utf-8")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    result = lorestudio(*(part.format(**names) for part in asked))
    assert result.exit_code == 2
    assert "Choose another name" in result.stderr
    assert {path: path.read_bytes() for path in before} == before


def test_a_write_protected_file_is_left_alone(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root, as whom tests may run, may write everything, so the answer of the system is given here."""
    (kept := tmp_path / "out.html").write_text("{}", encoding="utf-8")
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: (mode != os.W_OK or Path(path) != kept) and may(path, mode))
    result = lorestudio("report", vault, "--chat", chat, "-o", kept)
    assert (result.exit_code, "write-protected" in result.stderr) == (2, True)
    assert kept.read_text(encoding="utf-8") == "{}"


def test_a_link_to_what_is_read_is_the_same_file(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    (link := tmp_path / "list.csv").symlink_to(chat)
    assert lorestudio("usage", vault, "--chat", chat, "-o", link).exit_code == 2


@pytest.mark.parametrize(
    "name",
    ["XDG_CONFIG_HOME/lorestudio/profiles.json", "XDG_DATA_HOME/lorestudio/notes/log", "XDG_CACHE_HOME/lorestudio/x"],
)
def test_what_the_studio_keeps_for_itself_is_not_written_over(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path, name: str
) -> None:
    own = tmp_path / "home" / name
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text('{"profiles": []}', encoding="utf-8")
    result = lorestudio("scenario", vault, "--chat", chat, "-o", own)
    assert result.exit_code == 2
    assert "lorestudio keeps this file for itself" in result.stderr
    assert own.read_text(encoding="utf-8") == '{"profiles": []}'


BOOK = json.dumps({"entries": {"0": {"uid": 0, "key": ["wharf"], "content": "A wharf."}}})
CHAT = '{"user_name": "Ann", "character_name": "Bo", "chat_metadata": {}}\n{"name": "Ann", "mes": "Fog."}\n'


@pytest.mark.parametrize(
    ("asked", "name", "text", "told"),
    [
        ("report", "other.json", BOOK, "this is a lorebook"),
        ("report", "other.json", CHAT.splitlines()[0], "this is a chat"),
        ("report", "other.json", '{"data": {"first_mes": "Hello."}, "spec": "chara_card_v2"}', "this is a card"),
        ("report", "other.json", '{"power_user": {}}', "this is a settings file"),
        ("report", "Other.md", "---\ntags: [lorebook]\n---\nFog.\n", "this is a note"),
        ("scenario", "other.jsonl", CHAT, "this is a chat"),
    ],
)
def test_lore_that_has_the_ending_of_a_result_is_not_written_over(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path, asked: str, name: str, text: str, told: str
) -> None:
    (other := tmp_path / name).write_text(text, encoding="utf-8")
    result = lorestudio(asked, vault, "--chat", chat, "-o", other)
    assert result.exit_code == 2
    assert told in result.stderr
    assert "so it is left alone. Choose another name." in result.stderr
    assert other.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "asked", [("report", "{vault}"), ("scenario", "{vault}"), ("run", "{scenario}"), ("settings", "export", "--all")]
)
def test_a_dash_prints_the_result(
    lorestudio: Run, vault: Path, chat: Path, scenario: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    asked: tuple[str, ...],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (turn := tmp_path / "turn.json").write_text(json.dumps(scenario), encoding="utf-8")
    command = [part.format(vault=vault, scenario=turn) for part in asked]
    (tmp_path / "settings.json").write_text('{"scanDepth": 6}', encoding="utf-8")
    more = {"run": [], "settings": ["--settings", str(tmp_path / "settings.json")]}
    command += more.get(asked[0], ["--chat", str(chat)])
    printed = lorestudio(*command)
    dashed = lorestudio(*command, "-o", "-")
    assert (dashed.exit_code, dashed.stdout) == (0, printed.stdout)
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(("asked", "ending"), [(("usage", "-o"), ".csv"), (("check", "--junit"), ".xml")])
def test_a_dash_is_no_file_where_nothing_would_be_printed(
    lorestudio: Run, vault: Path, chat: Path, asked: tuple[str, str], ending: str
) -> None:
    command, option = asked
    result = lorestudio(command, vault, "--chat", chat, option, "-")
    assert (result.exit_code, f"a name that ends in {ending}" in result.stderr) == (2, True)


def test_a_result_is_written_again(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    (tmp_path / "book.json").write_text(BOOK, encoding="utf-8")
    for folder in ("first", "second"):
        imported = lorestudio(
            "import", tmp_path / "book.json", "--into", tmp_path / folder, "--yes", "--report", "import.json"
        )
        assert imported.exit_code == 0, imported.stderr
    for arguments in (
        ("report", vault, "--chat", chat, "-o", "report.json"),
        ("report", vault, "--chat", chat, "-o", "lore.md"),
        ("scenario", vault, "--chat", chat, "-o", "turn.json"),
        ("usage", vault, "-o", "list.csv"),
        ("usage", vault, "-o", "list"),
        ("run", "turn.json", "-o", "out.jsonl"),
    ):
        for _ in range(2):
            assert lorestudio(*arguments).exit_code == 0


def test_a_result_that_is_larger_than_what_is_read_is_written_again(
    lorestudio: Run, vault: Path, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("report", vault, "--chat", chat, "-o", "report.json")
    assert lorestudio(*asked).exit_code == 0
    path = Path("report.json")
    path.write_bytes(path.read_bytes() + b" " * 100_000)
    monkeypatch.setattr("lorestudio.settings.files.TEXT_AT_MOST", 100_000)
    again = lorestudio(*asked)
    assert (again.exit_code, path.stat().st_size < 100_000) == (0, True), again.output


@pytest.mark.parametrize(
    "asked",
    [
        ("replay", "--messages", "3-3"),
        ("explain", "--message", "3"),
        ("explain", "--message", "3", "--entry", "Lamp"),
        ("compare", "--run", "deeplore", "--run", "hybrid"),
        ("usage",),
    ],
    ids=" ".join,
)
def test_nothing_that_is_asked_for_hides_another(
    lorestudio: Run, vault: Path, chat: Path, asked: tuple[str, ...]
) -> None:
    """A file has the form that its name says, or that was asked for; what was to be printed is printed."""

    def result(*options: str) -> str:
        command, *rest = asked
        done = lorestudio(command, vault, "--chat", chat, *rest, *options)
        assert done.exit_code == 0, done.output
        said = f"lorestudio: {options[-1]} was written." if "-o" in options else ""
        assert not said or done.stderr.splitlines()[-1] == said
        return untimed(done.stdout)

    def untimed(text: str) -> str:
        return re.sub(r'"duration_ms": [\d.e-]+', '"duration_ms": 0', text)

    printed = result("--json")
    assert json.loads(printed)
    for options in (("-o", "made.JSON"), ("--json", "-o", "made.json"), ("--json", "-o", "made")):
        for _ in range(2):
            assert result(*options) == ""
            assert untimed(Path(options[-1]).read_text("utf-8")) == printed
    if "--entry" in asked:
        return  # there is no table of one entry
    assert result("--json", "-o", "made.csv") == printed
    assert result("-o", "table") == ""
    assert Path("table").read_bytes() == Path("made.csv").read_bytes()
    assert len(Path("table").read_text("utf-8-sig").splitlines()) > 1


def test_tables_are_written_for_spreadsheets(lorestudio: Run, vault: Path, chat: Path) -> None:
    """The replies of a replay, the stages of a reply, and a comparison: what the window saves."""

    def written(command: str, *options: object) -> list[list[str]]:
        result = lorestudio(command, vault, "--chat", chat, *options, "-o", "made.csv")
        assert (result.exit_code, result.stdout) == (0, ""), result.output
        assert result.stderr.splitlines()[-1] == "lorestudio: made.csv was written."
        return [*csv.reader(io.StringIO(Path("made.csv").read_text("utf-8-sig"), newline=""))]

    head, *replies = written("replay")
    assert head == ["reply", "matched", "in", "tokens", "what happened"]
    assert [row[0].split()[0] for row in replies] == ["#1", "#1", "#3", "next"]
    head, *stages = written("explain", "--message", 3)
    assert head == ["Stage", "Phase", "What", "Reason", "Entries", "Tokens", "Titles"]
    assert any("Lamp" in row[6] for row in stages), stages
    head, *turns = written("compare", "--run", "deeplore", "--run", "hybrid")
    assert (head[0], head[-1], len(turns)) == ("Turn", "Overlap", len(replies))
    refused = lorestudio("explain", vault, "--chat", chat, "--entry", "Tide", "-o", "other.csv")
    assert (refused.exit_code, "Leave --entry out" in refused.stderr) == (2, True)
