from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lorestudio.cli.app import app
from tests.cli.provider import provider
from tests.llm.server import completion, reply

Run = Callable[..., Result]


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    """Two notes without a summary, one of them locked, and one with."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    notes = {
        "Lamp": "keys: [lamp]\n---\n# Lamp\n\nThe lamp was lit by Mara Vey. It shows the way home.\n",
        "Bell": "locked: true\n---\nThe bell rings at dawn.\n",
        "Tide": "summary: It rises.\n---\nThe tide.\n",
    }
    for name, text in notes.items():
        (folder / f"{name}.md").write_text(f"---\ntags: [lorebook]\n{text}", encoding="utf-8")
    return folder


def typing(text: str, *arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}


def test_proposals_are_shown_and_nothing_is_written(lorestudio: Run, harbour: Path) -> None:
    before = contents(harbour)
    result = lorestudio("propose", "summaries", harbour)
    assert result.exit_code == 0
    assert "+++ b/Lamp.md" in result.stdout
    assert "+summary: The lamp was lit by Mara Vey. It shows the way home." in result.stdout
    assert "not by a model" in result.stdout
    assert "Bell.md was skipped: It is locked by its own property “locked”." in result.stderr
    assert "nothing was written" in result.stderr
    assert contents(harbour) == before


def test_what_is_accepted_is_written_and_undone(lorestudio: Run, harbour: Path) -> None:
    before = contents(harbour)
    result = typing("n\ny\n", "propose", "summaries", harbour, "--again", "--apply")
    assert result.exit_code == 0, result.output
    after = contents(harbour)
    assert {name for name in after if after[name] != before[name]} == {"Tide.md"}
    assert after["Tide.md"] == before["Tide.md"].replace("summary: It rises.", "summary: The tide.")
    assert f"to undo this: lorestudio undo {harbour}," in result.stderr
    assert "undone: Summary of Tide (1 file)." in lorestudio("undo", harbour, "--yes").stderr
    assert contents(harbour) == before


@pytest.mark.parametrize(("typed", "written"), [("a\n", {"Lamp.md", "Tide.md"}), ("q\n", set()), ("\n\n", set())])
def test_all_that_follow_quit_and_no(harbour: Path, typed: str, written: set[str]) -> None:
    before = contents(harbour)
    result = typing(typed, "propose", "summaries", harbour, "--again", "--apply")
    assert result.exit_code == 0
    after = contents(harbour)
    assert {name for name in after if after[name] != before[name]} == written


def test_nobody_there_to_accept_means_nothing_is_written(harbour: Path) -> None:
    before = contents(harbour)
    result = typing("y\n", "propose", "summaries", harbour, "--again", "--apply")
    assert result.exit_code == 2
    assert "--accept-all" in result.stderr
    assert contents(harbour) == before


def test_accepting_all_leaves_doubtful_ones(lorestudio: Run, harbour: Path, chat: Path) -> None:
    result = lorestudio("propose", "keys", harbour, "--note", "Lamp", "--note", "Tide", "--accept-all", "--chat", chat)
    assert result.exit_code == 0
    text = (harbour / "Lamp.md").read_text(encoding="utf-8")
    assert "keys: [lamp]" in text  # the title is the same word: two keys are left, and three were asked for
    assert "Lamp: not accepted unseen. The answer has only 2 keys" in result.stderr


def test_keys_come_with_what_they_find(lorestudio: Run, harbour: Path, chat: Path) -> None:
    result = lorestudio("propose", "keys", harbour, "--note", "lamp", "--chat", chat, "--json")
    document = json.loads(result.stdout_bytes)
    (made,) = document["proposals"]
    assert made["before"] == ["lamp"]
    assert made["after"] == ["Lamp", "Mara Vey"]
    assert [(item["key"], item["messages"]) for item in made["keys"]] == [
        ("Lamp", [0]),
        ("Mara Vey", []),
        ("lamp", [0]),
    ]
    assert made["written"] is False
    assert "+++ b/Lamp.md" in made["difference"]
    assert made["answered_by"] == "offline stand-in"


def test_a_draft_is_made_and_written(harbour: Path, tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text("Wren: Who is Old Tam?\n\nAda: They say Old Tam rows. Ask Old Tam.\n", encoding="utf-8")
    result = typing("y\n", "propose", "draft", harbour, "--chat", story, "--messages", "0-1", "--apply")
    assert result.exit_code == 0, result.output
    text = (harbour / "Old Tam.md").read_text(encoding="utf-8")
    assert "# Old Tam\n\nWho is Old Tam? They say Old Tam rows. Ask Old Tam.\n" in text
    again = typing("y\n", "propose", "draft", harbour, "--chat", story, "--messages", "0-1", "--apply")
    assert again.exit_code == 1
    assert (harbour / "Old Tam.md").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("messages", ["x", "4-2", "-", "", "90", "0,", "0-99999999999"])
def test_messages_that_cannot_be_are_refused(lorestudio: Run, harbour: Path, chat: Path, messages: str) -> None:
    result = lorestudio("propose", "draft", harbour, "--chat", chat, "--messages", messages)
    assert result.exit_code == 2
    assert result.stderr.startswith("lorestudio: --messages: ")


def test_unknown_notes_and_modes_are_refused(lorestudio: Run, harbour: Path) -> None:
    assert "“Nobody”" in lorestudio("propose", "keys", harbour, "--note", "Nobody").stderr
    assert "two-stage" in lorestudio("propose", "keys", harbour, "--note", "Lamp", "--mode", "loose").stderr


def test_locking_and_unlocking(lorestudio: Run, harbour: Path) -> None:
    assert "No note is locked" in lorestudio("propose", "locks", harbour).stdout
    assert lorestudio("propose", "locks", harbour, "--lock", "Lamp.md").stdout == "Lamp.md\n"
    assert json.loads(lorestudio("propose", "locks", harbour, "--json").stdout) == ["Lamp.md"]
    result = lorestudio("propose", "summaries", harbour, "--accept-all")
    assert "Lamp.md was skipped: It is locked in the studio" in result.stderr
    assert "nothing to ask about" in result.stderr
    assert lorestudio("propose", "locks", harbour, "--lock", "Nothing.md").exit_code == 2
    assert lorestudio("propose", "locks", harbour, "--unlock", "Lamp.md", "--lock", ".").stdout == ".\n"
    assert "Lamp.md was skipped: It is locked" in lorestudio("propose", "summaries", harbour, "--accept-all").stderr
    assert lorestudio("propose", "locks", harbour, "--unlock", ".", "--lock", "Lamp.md").stdout == "Lamp.md\n"
    assert "No note is locked" in lorestudio("propose", "locks", harbour, "--unlock", "Lamp.md").stdout
    outside = lorestudio("propose", "locks", harbour, "--lock", "..")
    assert (outside.exit_code, "it does not lie in this vault" in outside.stderr) == (2, True)
    lorestudio("propose", "locks", harbour.parent, "--lock", ".")
    assert lorestudio("propose", "locks", harbour).stdout == "..\n", "all of this is locked, too"
    assert "No note is locked" in lorestudio("propose", "locks", harbour, "--unlock", "..").stdout


def test_one_entry_of_a_lorebook_is_locked(lorestudio: Run, tmp_path: Path) -> None:
    book = tmp_path / "Book.json"
    entry = {"uid": 3, "comment": "Lamp", "key": ["lamp"], "content": "A lamp burns."}
    book.write_text(json.dumps({"entries": {"3": entry}}), encoding="utf-8")
    assert lorestudio("propose", "locks", book, "--lock", "uid 3").stdout == "uid 3\n"
    assert "uid 3 was skipped: It is locked" in lorestudio("propose", "keys", book, "--note", "Lamp").stderr
    assert lorestudio("propose", "locks", book, "--lock", "uid 4").exit_code == 2
    assert "No note is locked" in lorestudio("propose", "locks", book, "--unlock", "uid 3").stdout


def test_a_provider_is_asked_only_after_the_cost_was_told(lorestudio: Run, harbour: Path) -> None:
    with provider(reply(completion("A lamp that shows the way."))) as server:
        lorestudio("profiles", "add", "Local", "--url", server.url, "--model", "tiny")
        result = typing("n\n", "propose", "summaries", harbour, "--answers", "Local")
        assert result.exit_code == 130
        assert "1 call to the provider" in result.stderr
        assert server.calls == []
        result = typing("y\n", "propose", "summaries", harbour, "--answers", "Local")
        assert result.exit_code == 0, result.output
        assert "+summary: A lamp that shows the way." in result.stdout
        assert len(server.calls) == 1
        again = lorestudio("propose", "summaries", harbour, "--answers", "Local", "--accept-all")
        assert "No calls to a provider are needed. 1 answer already recorded." in again.stderr
        assert len(server.calls) == 1
    assert "summary: A lamp that shows the way." in (harbour / "Lamp.md").read_text(encoding="utf-8")


def test_an_answer_that_cannot_be_used_is_shown_and_asked_for_again_on_demand(
    lorestudio: Run, harbour: Path, chat: Path
) -> None:
    command = ("propose", "keys", harbour, "--note", "Lamp", "--chat", chat, "--answers", "Local", "--yes")
    with provider(
        reply(completion(f"Sure:\n  {'keys ' * 200}")), reply(completion(json.dumps({"keys": ["lamp", "wick", "oil"]})))
    ) as server:
        lorestudio("profiles", "add", "Local", "--url", server.url, "--model", "tiny")
        first = lorestudio(*command)
        assert (first.exit_code, len(server.calls)) == (1, 1)
        (answer,) = [line for line in first.stdout.splitlines() if line.startswith("  the answer: ")]
        assert answer.startswith("  the answer: Sure: keys keys")  # the model's words, not what carried them
        assert "keys keys" in answer
        assert len(answer) < 650
        assert lorestudio(*command).stdout == first.stdout
        assert len(server.calls) == 1
        second = lorestudio(*command, "--ask-again")
        assert "1 call to the provider" in second.stderr
        assert (second.exit_code, len(server.calls)) == (0, 2)
        assert "+keys: [lamp, wick, oil]" in second.stdout
        assert "the answer:" not in second.stdout
        assert lorestudio(*command).stdout == second.stdout  # what came last is what is on record
        assert len(server.calls) == 2


def test_a_refused_key_ends_the_batch_with_the_reason(lorestudio: Run, harbour: Path) -> None:
    (harbour / "Gull.md").write_text("---\ntags: [lorebook]\n---\nA gull.\n", encoding="utf-8")
    with provider(reply('{"error": {"message": "bad key"}}', "401 Unauthorized")) as server:
        lorestudio("profiles", "add", "Local", "--url", server.url)
        result = lorestudio("propose", "summaries", harbour, "--answers", "Local", "--yes", "--accept-all")
        assert len(server.calls) == 1
    assert result.exit_code == 1
    assert "refused the key" in result.stdout
    assert "1 note was not asked about" in result.stderr


def test_keys_of_a_lorebooks_entry_are_written_into_its_file_and_undone(lorestudio: Run, tmp_path: Path) -> None:
    book = tmp_path / "Book.json"
    text = (
        '{"entries": {"3": {"uid": 3, "comment": "Bell", "key": ["gong"], "position": 0,  "order": 1e2, '
        '"content": "The bell of Mara Vey. Old Tam rings it."}}}'
    )
    book.write_text(text, encoding="utf-8")
    result = lorestudio("propose", "keys", book, "--note", "Bell", "--accept-all")
    assert result.exit_code == 0, result.output
    assert "+++ b/uid 3" in result.stdout
    assert "1 file written" in result.stderr
    keys = json.loads(book.read_text(encoding="utf-8"))["entries"]["3"]["key"]
    assert {"Bell", "gong", "Mara Vey"} <= set(keys)
    assert '"position": 0,  "order": 1e2, "content"' in book.read_text(encoding="utf-8")
    assert lorestudio("undo", tmp_path, "--yes").exit_code == 0
    assert book.read_text(encoding="utf-8") == text
