"""Lorebooks, card and persona in every command that takes a chat."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.notes import BookNote, note_of
from lorestudio.trace.storage.serialize import from_json

Run = Callable[..., Result]


@pytest.fixture
def around(tmp_path: Path) -> list[str]:
    """Options for a lorebook, a card and a persona; one entry needs all three."""
    entry = {"key": ["riders"], "comment": "Riders", "content": "{{user}} rides to {{char}}.", "scanDepth": 1}
    asks = {"matchPersonaDescription": True, "characterFilter": {"names": ["ottoline_v2"]}}
    swipe = {"constant": True, "comment": "Again", "content": "x", "triggers": ["regenerate"]}
    entries = {"0": {**NEW_ENTRY, **entry, **asks, "uid": 0}, "1": {**NEW_ENTRY, **swipe, "uid": 1}}
    (tmp_path / "Book.json").write_text(json.dumps({"entries": entries}), encoding="utf-8")
    card = {"spec": "chara_card_v2", "data": {"name": "Ottoline"}}
    (tmp_path / "ottoline_v2.json").write_text(json.dumps(card), encoding="utf-8")
    book, file = str(tmp_path / "Book.json"), str(tmp_path / "ottoline_v2.json")
    persona = "# Ana\nOne of the riders."
    return ["--system", "world-info", "--book", f"chat:{book}", "--card", file, "--persona", persona]


@pytest.mark.parametrize(
    "asked",
    [
        ("replay", "{vault}", "--chat", "{chat}", "--json"),
        ("explain", "{vault}", "--chat", "{chat}", "--entry", "Riders"),
        ("diff", "{vault}", "--chat", "{chat}", "--message", 1, "--system2", "deeplore"),
        ("report", "{vault}", "--chat", "{chat}", "--message", 1),
        ("scenario", "{vault}", "--chat", "{chat}", "--message", 1),
        ("test", "{vault}", "--text", "nothing"),
        ("prompt", "{vault}", "--chat", "{chat}"),
    ],
    ids=lambda asked: asked[0],
)
def test_a_lorebook_a_card_and_a_persona(
    lorestudio: Run, vault: Path, chat: Path, around: list[str], asked: tuple[object, ...]
) -> None:
    result = lorestudio(*(str(each).format(vault=vault, chat=chat) for each in asked), *around)
    assert result.exit_code == 0, result.output
    wanted = "Ana rides to Ottoline." if asked[0] in {"replay", "prompt", "scenario"} else "Riders"
    found = result.stdout.replace("{{user}} rides to {{char}}", "Ana rides to Ottoline")
    assert wanted in found


def test_the_kind_of_generation(lorestudio: Run, vault: Path, chat: Path, around: list[str]) -> None:
    asked = ("replay", vault, "--chat", chat, "--messages", "3-3", *around)
    kept_out = "Again: other generation"
    assert kept_out in lorestudio(*asked).stdout
    for way in (("--set", "generation_type=regenerate"), ("--type", "regenerate")):
        assert kept_out not in lorestudio(*asked, *way).stdout
    assert "is none of normal, continue" in lorestudio(*asked, "--type", "backwards").output


def test_a_preview_and_a_comparison_take_books_too(lorestudio: Run, vault: Path, chat: Path, around: list[str]) -> None:
    result = lorestudio("preview", vault, "Lamp.md", "--chat", chat, *around)
    assert result.exit_code == 0, result.output
    pair = [option for option in around if option not in {"--system", "world-info"}]
    compared = lorestudio("compare", vault, "--chat", chat, "--run", "world-info", "--run", "deeplore", *pair, "--json")
    assert "Riders" in compared.stdout, compared.output


def test_a_lorebook_in_the_place_of_a_vault(lorestudio: Run, chat: Path, around: list[str], tmp_path: Path) -> None:
    book, people = tmp_path / "Book.json", around[4:]
    document = json.loads(book.read_text(encoding="utf-8"))
    document["entries"]["2"] = {**NEW_ENTRY, "uid": 2, "key": ["tide"], "comment": "Tide", "content": "High."}
    book.write_text(json.dumps(document), encoding="utf-8")
    replayed = lorestudio("replay", book, "--chat", chat, *people, "--json")
    traces = [from_json(each) for each in json.loads(replayed.stdout)]
    assert {trace.system for trace in traces} == {"world-info"}
    assert all("High." in trace.prompt[0].text for trace in traces)
    told = lorestudio("explain", book, "--chat", chat, "--entry", "Tide", *people)
    assert "“Tide” (uid 2" in told.stdout, told.output
    assert lorestudio("scenario", book, "--chat", chat, "-o", "turn.json").exit_code == 0
    assert lorestudio("run", "turn.json").exit_code == 0
    refused = lorestudio("replay", chat, "--chat", chat)
    assert refused.exit_code == 2
    assert "chat.jsonl" in refused.output


@pytest.mark.parametrize(
    "asked",
    [
        ("replay", "--chat", "{chat}"),
        ("test", "--text", "The tide."),
        ("score", "--chat", "{chat}"),
        ("compare", "--chat", "{chat}", "--run", "deeplore", "--run", "world-info"),
    ],
    ids=lambda asked: asked[0],
)
def test_that_a_lorebook_beside_a_vault_takes_no_part_is_said(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    book = tmp_path / "Book.json"
    entry = {**NEW_ENTRY, "uid": 0, "key": ["tide"], "comment": "Tide", "content": "High.", "disable": True}
    book.write_text(json.dumps({"entries": {"0": entry}}), encoding="utf-8")
    command, *more = (each.format(chat=chat) for each in asked)
    told = "“Book” beside the vault takes no part: DeepLore looks at notes alone, and World Info scans lorebooks."
    both = lorestudio(command, vault, book, *more)
    assert both.exit_code == 0, both.output
    assert both.stderr.count(told) == 1
    assert "takes no part" not in lorestudio(command, vault, *more).stderr
    if command == "replay":
        assert "takes no part" not in lorestudio(command, vault, book, *more, "--system", "world-info").stderr
        assert "part" not in lorestudio(command, vault, book, *more, "--system", "recap").stderr  # it takes no notes
        assert "part" not in lorestudio(command, book, *more).stderr
        as_notes = "each entry counts as the note that importing it makes, and 1 is left out."
        assert as_notes in lorestudio(command, book, *more, "--system", "deeplore").stderr


@pytest.mark.parametrize("command", ["replay", "explain", "usage", "score", "compare", "check", "scenario"])
def test_systems_that_choose_from_notes_take_a_book_alone_as_notes(
    lorestudio: Run, tmp_path: Path, command: str
) -> None:
    """What is switched off is none of them, and the numbers of all others are its own in each system."""
    book, chat, expected = tmp_path / "Book.json", tmp_path / "chat.txt", tmp_path / "expected.yaml"
    entries = {
        str(uid): {
            **NEW_ENTRY,
            "uid": uid,
            "key": ["tide"],
            "comment": title,
            "content": f"Of {title}.",
            "disable": off,
        }
        for uid, title, off in ((0, "Anchor", True), (1, "Buoy", False), (2, "Current", False))
    }
    book.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    chat.write_text("Ada: The tide.\n\nWren: It comes.\n", encoding="utf-8")
    expected.write_text(
        "expectations:\n  - {note: Buoy, should: be in}\n  - {note: Current, should: be in}\n", encoding="utf-8"
    )
    by = ("--system", "deeplore")
    runs = ("--run", "deeplore", "--run", "world-info")
    more: dict[str, tuple[object, ...]] = {
        "replay": (*by, "--json"), "explain": (*by, "--entry", "Current", "--json"), "usage": (*by, "--json"),
        "score": (*runs, "--expectations", expected, "--json"), "compare": (*runs, "--json"),
        "scenario": (*by, "--output", tmp_path / "turns.json"),
        "check": ("--run", "deeplore", "--expectations", expected, "--json"),
    }  # fmt: skip
    result = lorestudio(command, book, "--chat", chat, *more[command])
    assert result.exit_code == 0, result.output
    if command == "scenario":
        assert "decided otherwise" not in result.output
        assert "Buoy" in (ran := lorestudio("run", tmp_path / "turns.json").stdout)
        assert "Anchor" not in ran
        for system in ("hybrid", "context-window"):
            again = lorestudio(command, book, "--chat", chat, "--system", system, "--output", tmp_path / "turns.json")
            assert again.exit_code == 0, again.output  # it repeats
        return
    told = json.loads(result.stdout)
    if command == "replay":
        assert [[each["title"] for each in trace["trace"]["injections"]] for trace in told] == [["Buoy", "Current"]] * 2
    elif command == "explain":
        assert (told["filename"], told["state"]) == ("uid 2", "injected")
    elif command == "usage":
        assert {each["title"]: each["injected"] for each in told} == {"Buoy": 2, "Current": 2}
    elif command == "score":
        assert [run["metrics"]["met"]["value"] for run in told["runs"]] == [1, 1]
    elif command == "compare":
        assert all(turn["overlap"] == 1 for turn in told["turns"])
    else:
        assert [each["met"] for each in told["checks"][0]["expectations"]] == [True, True]


def test_a_lorebook_without_entries_is_called_by_its_name(lorestudio: Run, chat: Path, tmp_path: Path) -> None:
    book = tmp_path / "Empty.json"
    book.write_text('{"entries": {}}', encoding="utf-8")
    result = lorestudio("replay", book, "--chat", chat)
    assert result.stdout.startswith("Empty with chat.jsonl"), result.output


def test_files_given_in_the_wrong_place_are_recognised(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path
) -> None:
    book = tmp_path / "Book.json"
    book.write_text(json.dumps({"entries": {"0": {**NEW_ENTRY, "uid": 0}}}), encoding="utf-8")
    said = " ".join(lorestudio("replay", chat, "--chat", chat).stderr.split())
    assert "this is a chat, and no vault. Give it with --chat" in said
    said = " ".join(lorestudio("replay", vault, "--chat", book).stderr.split())
    assert "this is a lorebook, and no chat" in said
    assert "this is a lorebook, and no chat" in lorestudio("recap", "status", "--chat", book).stderr
    entries = {"entries": [{"keys": ["a"], "content": "A"}]}
    card = {"spec": "chara_card_v2", "data": {"name": "Ada", "character_book": entries}}
    book.write_text(json.dumps(card), encoding="utf-8")
    assert "this is a card, and no chat" in lorestudio("replay", vault, "--chat", book).stderr
    book.write_text('{"type": "risuChat", "ver": 1, "data": {"message": []}}', "utf-8")
    said = lorestudio("replay", vault, "--chat", book).stderr
    assert "A chat of another program becomes one where SillyTavern imports it." in said
    for name in ("empty.jsonl", "empty.txt", "empty.json"):
        (book.with_name(name)).write_text(" \n", encoding="utf-8")
        said = lorestudio("replay", vault, "--chat", book.with_name(name)).stderr
        assert "the file is empty. Give a chat with at least one message.\n" in said


@pytest.fixture
def quiet(tmp_path: Path) -> Path:
    """A lorebook with one entry that is found once “lamp” is among its keys."""
    entry = {**NEW_ENTRY, "uid": 0, "key": ["ferry"], "comment": "Ferry", "content": "It is late."}
    path = tmp_path / "Quiet.json"
    path.write_text(json.dumps({"entries": {"0": entry}}), encoding="utf-8")
    return path


def test_where_nothing_of_an_opened_lorebook_matched_its_entries_are_what_was_scanned(
    lorestudio: Run, chat: Path, quiet: Path
) -> None:
    told = lorestudio("explain", quiet, "--chat", chat, "--entry", "Ferry", "--why-not")
    assert "None of its keys was found" in told.stdout, told.output
    assert "take no part" not in told.stdout
    assert "runs of the engine" in told.stdout


def test_a_named_lorebook_s_entry_without_a_verdict_is_found(
    lorestudio: Run, vault: Path, chat: Path, quiet: Path
) -> None:
    asked = ("explain", vault, "--chat", chat, "--system", "world-info", "--book", quiet, "--why-not", "--entry")
    told = lorestudio(*asked, "ferry")
    assert told.exit_code == 0, told.output
    assert "“Ferry” (uid 0" in told.stdout
    assert "None of its keys was found" in told.stdout
    assert "runs of the engine" in told.stdout
    assert "take no part" not in told.stdout
    of_note = lorestudio(*asked, "Lamp").stdout
    assert "notes of the vault take no part" in of_note.splitlines()[3]
    assert "no note has the title" in lorestudio(*asked, "Nobody").output


def test_a_book_is_made_notes_of_once(
    lorestudio: Run, chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = {"0": {**NEW_ENTRY, "uid": 0, "key": ["riders"], "comment": "Riders", "content": "They ride."}}
    (tmp_path / "Book.json").write_text(json.dumps({"entries": entries}), encoding="utf-8")
    made: list[str] = []

    def counted(raw: dict[str, object], *others: Any, **more: bool) -> BookNote:
        made.append(str(raw["uid"]))
        return note_of(raw, *others, **more)

    monkeypatch.setattr("lorestudio.exchange.lorebooks.reading.note_of", counted)
    for asked in (("replay",), ("prompt",)):
        result = lorestudio(*asked, tmp_path / "Book.json", "--chat", chat, "--system", "deeplore")
        assert "each entry counts as the note that importing it makes" in result.output
        assert made == ["0"]
        made.clear()
