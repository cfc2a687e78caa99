from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from lorestudio.cli.output import folded
from lorestudio.cli.runs.explain import EntryExplained, entry_lines
from lorestudio.cli.screen import Screen
from lorestudio.domain.resources import resource
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import HeldRuns
from lorestudio.studio.tryout.why_not import WhyNotFinder
from lorestudio.systems.registry import KINDS, system_of

Run = Callable[..., Result]


@pytest.fixture
def demo() -> tuple[object, ...]:
    folder = Path(str(resource("demo")))
    return folder / "vault", "--chat", folder / "chat.jsonl", "--settings", folder / "settings.json"


def test_an_entry_stage_by_stage_with_what_would_have_followed(lorestudio: Run, demo: tuple[object, ...]) -> None:
    result = lorestudio("explain", *demo, "--entry", "storm glass", "--message", 8)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "“Storm Glass” (items/Storm Glass.md, priority 53, 95 tokens)"
    assert "Reply #8" in lines
    assert any(line.startswith("  keywords ") and line.endswith("refused") for line in lines)
    assert result.stdout.count("none of its refine keys") == 1
    assert (
        "which makes" not in lorestudio("explain", *demo, "--message", 8).stdout
    )  # what brought it in, not the budget
    assert any(line.startswith("  budget ") and "(would stop)" in line for line in lines)
    assert any(line.startswith("It would also be cut by the budget: needs ") for line in lines)


def test_what_would_bring_it_in(lorestudio: Run, demo: tuple[object, ...]) -> None:
    result = lorestudio("explain", *demo, "--entry", "Hat Wasps", "--message", 40, "--why-not")
    assert result.exit_code == 0
    assert "1 change brings “Hat Wasps” in" in result.stdout
    assert "  1. Remove “Hat Wasps” from the chat's blocks\n" in result.stdout
    assert "     for this chat: Nothing else moves; +87 tokens; no earlier reply changes.\n" in result.stdout


def test_the_same_as_json(lorestudio: Run, demo: tuple[object, ...]) -> None:
    result = lorestudio("explain", *demo, "--entry", "Law of the Letter", "--message", 8, "--why-not", "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert (told["message"], told["title"], told["state"]) == (8, "Law of the Letter", "removed")
    assert told["stages"][-1]["stage"] == "bookkeeping"
    answers = {answer["code"]: answer for answer in told["why_not"]["answers"]}
    # The budget says that 202 tokens more than 1,300 are needed.
    assert answers["token_budget"]["settings"] == {"max_tokens_budget": 1502}
    assert answers["priority"]["note"] == {
        "filename": "rules/Law of the Letter.md", "property": "priority", "removed": False, "value": 39,
        "add": [], "drop": [],
    }  # fmt: skip
    assert answers["pin"]["resized"] == ["Wreck of the Patient Margaret"]


def test_a_note_that_is_no_entry(lorestudio: Run, demo: tuple[object, ...]) -> None:
    name = "The Ending (do not read aloud)"
    result = lorestudio("explain", *demo, "--entry", name, "--message", 44, "--why-not")
    assert result.exit_code == 0
    assert f"{name}.md is no entry: " in result.stdout
    assert f"Remove the tag “lorebook-never” from “{name}.md”" in result.stdout


def test_a_whole_turn(lorestudio: Run, demo: tuple[object, ...]) -> None:
    result = lorestudio("explain", *demo, "--message", 40)
    assert result.exit_code == 0
    assert result.stdout.startswith("Reply #40: ")
    assert "Hat Wasps" in result.stdout
    told = json.loads(lorestudio("explain", *demo, "--message", 40, "--json").stdout)
    assert {"went in": 0, **{each["title"]: each["reason"] for each in told["entries"]}}["Hat Wasps"] == "blocked"


def test_what_no_text_brings_in_is_counted_and_not_listed(lorestudio: Run, tmp_path: Path) -> None:
    entries = {
        str(uid): {**NEW_ENTRY, "uid": uid, "key": ["tide"], "comment": title, "content": "High.", "disable": off}
        for uid, title, off in ((0, "Anchor", True), (1, "Buoy", False), (2, "Current", True))
    }
    (book := tmp_path / "Book.json").write_text(json.dumps({"entries": entries}), encoding="utf-8")
    (chat := tmp_path / "chat.txt").write_text("Ada: The tide.\n", encoding="utf-8")
    asked = ("explain", book, "--chat", chat)
    shown = lorestudio(*asked).stdout
    assert [name in shown for name in ("Anchor", "Buoy", "Current")] == [False, True, False]
    assert "2 more stay out whatever the text is; --entry says why." in " ".join(shown.split())
    assert len(json.loads(lorestudio(*asked, "--json").stdout)["entries"]) == 3
    assert "switched off" in lorestudio(*asked, "--entry", "Anchor").stdout


def test_at_a_terminal_lines_go_on_below_where_their_text_begins(
    lorestudio: Run, demo: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("explain", *demo, "--entry", "Storm Glass", "--message", 6, "--why-not")
    whole = lorestudio(*asked).stdout
    assert max(map(len, whole.splitlines())) > 100
    monkeypatch.setattr(Screen, "is_terminal", property(lambda _screen: True))
    monkeypatch.setenv("COLUMNS", "80")
    shown = lorestudio(*asked).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.split() == whole.split()
    lines = shown.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("  bootstrap "))
    assert lines[at + 1].index("bootstrap entries") == lines[at].index("The chat has 6")


def test_wide_letters_and_a_narrow_terminal_are_heeded() -> None:
    assert [*folded(["12. 霧の街 霧の街 霧の街", ""], 14)] == ["12. 霧の街", "    霧の街", "    霧の街", ""]
    assert [*folded(["  a stage      not looked at"], 12)] == ["  a stage", "not looked", "at"]


def test_a_message_that_is_no_reply_and_a_swipe(lorestudio: Run, demo: tuple[object, ...]) -> None:
    result = lorestudio("explain", *demo, "--entry", "Brumewhale", "--message", 3)
    assert result.exit_code == 0
    assert "#3 is no reply; the reply after it, #4, is explained." in result.stderr
    other = lorestudio("explain", *demo, "--entry", "Brumewhale", "--message", 28, "--swipe", 3)
    assert "Reply #28, swipe 3" in other.stdout


@pytest.mark.long
@pytest.mark.parametrize("system", KINDS)
def test_everything_is_said_once_and_in_words(demo: tuple[object, ...], system: str) -> None:
    """Of every note of the demo, in every system: no sentence twice, no inner names, no slips of grammar."""
    vault, _, chat, _, settings = (Path(str(each)) for each in demo)
    project = open_project([vault], chat, settings)
    simulator = Simulator(project, system_of(project.scene(), KINDS[system]))
    asyncio.run(simulator.replay())
    generation = next(each for each in simulator.generations if each.message == 38)
    trace, held = simulator.traces[generation], HeldRuns(simulator, generation)
    finder = WhyNotFinder(simulator, generation)
    for number, note in enumerate(project.index.entries):
        found = finder.find((note.vault, note.filename), first=True) if number % 16 == 0 else None
        explained = EntryExplained(trace, note, held.of(note.id), found, held.not_held)
        _head, *lines = entry_lines(explained)
        cells = [cell.strip() for line in lines for cell in line.strip().split("  ")]
        sentences = [cell.removeprefix("It ").rstrip(".") for cell in cells if cell.count(" ") > 2]
        assert len(sentences) == len(set(sentences)), sorted(sentences)
        text = "\n".join(cells).replace("refine_keys", "")
        assert re.findall(r"\w_\w|\b1 \w+s\b(?<!keys)|\.\.|None\b(?! of)|[{}]|[(“] | [)”]", text) == [], text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--entry", "Nobody"), "no note has the title or the file name “Nobody”"),
        (("--entry", "Glass"), "Did you mean “Storm Glass”?"),
        (("--entry", "Aldous Pim"), "Did you mean “Aldous Pym”?"),
        (("--message", 900), "the chat has no message #900"),
        (("--message", 4, "--swipe", 7), "reply #4 has 1 swipe"),
        (("--why-not",), "name the entry that it is about with --entry"),
        (("--answers", "someone"), "this asks no provider"),
        (("--mode", "psychic"), "there is no mode “psychic”"),
    ],
)
def test_what_cannot_be_explained(
    lorestudio: Run, demo: tuple[object, ...], arguments: tuple[object, ...], message: str
) -> None:
    result = lorestudio("explain", *demo, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("system", ["world-info", "context-window"])
def test_a_system_that_holds_nothing_in_says_why(lorestudio: Run, vault: Path, chat: Path, system: str) -> None:
    """Only about an entry that stayed out: of one that went in nothing is asked."""
    asked = ("explain", vault, "--chat", chat, "--message", 1, "--system", system, "--entry")
    sentence = KINDS[system].not_held
    found = json.loads(lorestudio(*asked, "Tide", "--json").stdout)
    assert (found["not_held"], found["would_also"]) == (sentence, [])
    for title in ("Tide", "Lamp", "Old Bell"):
        result = lorestudio(*asked, title)
        assert result.exit_code == 0, result.output
        went_in = json.loads(lorestudio(*asked, title, "--json").stdout)["state"] in {"injected", "truncated"}
        assert (sentence in result.stdout) is not went_in


@pytest.mark.parametrize("named", ["Caf\u00e9", "cafe\u0301", "Caf\u00e9.md"])
def test_an_accent_may_be_typed_otherwise_than_in_the_name(
    lorestudio: Run, vault: Path, chat: Path, named: str
) -> None:
    (vault / "Cafe\u0301.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nTea.\n", encoding="utf-8")
    result = lorestudio("explain", vault, "--chat", chat, "--entry", named)
    assert (result.exit_code, "(Cafe\u0301.md, " in result.stdout) == (0, True), result.output


def test_a_note_that_is_no_entry_where_another_system_decides(lorestudio: Run, vault: Path, chat: Path) -> None:
    """Which notes are entries is one question for all systems, and so is what makes one of them."""
    (vault / "Off.md").write_text("---\ntags: [lorebook]\nkeys: [bell]\nenabled: false\n---\nOff.\n", encoding="utf-8")
    asked = ("explain", vault, "--chat", chat, "--message", 1, "--entry", "Off.md", "--why-not")
    result = lorestudio(*asked, "--system", "world-info")
    assert result.exit_code == 0, result.output
    assert "1. Switch the note “Off.md” on" in result.stdout


@pytest.mark.parametrize(("system", "stage"), [("recap", "auto-hide"), ("facts", "memories")])
def test_a_note_is_not_kept_by_a_stage_that_looks_at_no_notes(
    lorestudio: Run, vault: Path, chat: Path, system: str, stage: str
) -> None:
    result = lorestudio("explain", vault, "--chat", chat, "--system", system, "--message", 3, "--entry", "Lamp")
    assert result.exit_code == 0, result.output
    assert "notes of the vault take no part" in result.stdout.split(f"  {stage} ")[0]
    assert "nearest" not in result.stdout
    (line,) = (line for line in result.stdout.splitlines() if line.strip().startswith(f"{stage} "))
    assert line.endswith("not looked at")


def told_of(lorestudio: Run, vault: Path, chat: Path, system: str, entry: str, message: int) -> str:
    options = ("--chat", chat, "--system", system, "--message", message, "--entry", entry, "--why-not")
    result = lorestudio("explain", vault, *options)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def test_recaps_of_messages_are_for_reading_whatever_is_changed(lorestudio: Run, vault: Path, tmp_path: Path) -> None:
    tale = tmp_path / "Tale.jsonl"
    header = {"user_name": "Wren", "character_name": "Quay"}
    recap = {"auto_recap": {"memory": "It was."}}
    said = [{"name": "Quay", "mes": "One two.", "extra": recap}, *({"name": "Quay", "mes": text} for text in "AB")]
    tale.write_text("\n".join(json.dumps(record) for record in [header, *said]), encoding="utf-8")
    told = told_of(lorestudio, vault, tale, "recap", "#0 Quay: One two.", 2)
    assert told.startswith("“#0 Quay: One two.” (message 0, ")
    assert "priority" not in told  # nothing of a memory has one
    assert "Recaps of messages are for reading; into the prompt goes the running recap alone." in told
    assert "runs of the engine" not in told  # nothing is tried
    told = told_of(lorestudio, vault, tale, "recap", "#1 Quay: A", 2)
    assert "No change that was tried brings “#1 Quay: A” in" in told
    assert "Those below" not in told
    assert told_of(lorestudio, vault, tale, "recap", "#1", 2) == told, "a beginning is enough"
    asked = ("explain", vault, "--chat", tale, "--system", "recap", "--message", 2, "--entry", "message")
    several = lorestudio(*asked)
    assert several.exit_code == 2
    assert "several entries are called “message”. Name one of: message 0, message 1" in several.output


def test_other_memories_are_no_first_step_for_one_of_later(lorestudio: Run, vault: Path, tmp_path: Path) -> None:
    tale = tmp_path / "Tale.jsonl"
    header = {"user_name": "Wren", "character_name": "Quay", "chat_metadata": {"integrity": "tale"}}
    said = ["I own the brass lamp.", "Yes.", "I want to see the tide.", "No."]
    rows = [{"name": "Wren", "is_user": True, "mes": text} if place % 2 == 0 else {"name": "Quay", "mes": text}
            for place, text in enumerate(said)]  # fmt: skip
    tale.write_text("\n".join(json.dumps(record) for record in [header, *rows]), encoding="utf-8")
    assert lorestudio("facts", "extract", tale, "--answers", "stand-in").exit_code == 0
    told = told_of(lorestudio, vault, tale, "facts", "I want to see the tide", 1)
    assert "which were not all written at this point" in told
    assert "Whose memories" not in told
