"""`lorestudio captures compare`: which reply a captured prompt made, and what differs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from lorestudio.studio.attach.captures import Capture, Captures, default_folder
from lorestudio.trace.storage.serialize import from_json

Run = Callable[..., Result]


@pytest.fixture
def store(lorestudio: Run) -> Captures:
    """Where the command looks, in the test's own home."""
    assert callable(lorestudio)
    return Captures(default_folder())


def capture(name: str, answer: str, *texts: str) -> Capture:
    at = int(name.partition("-")[0])
    body = {"model": "m", "messages": [{"role": "user", "content": text} for text in texts]}
    reply = {"choices": [{"message": {"content": answer}}]}
    return Capture(name, at, at + 5, "/chat/completions", body=json.dumps(body), answer=json.dumps(reply))


def test_a_captured_prompt_is_compared_with_the_run_of_its_reply(
    lorestudio: Run, vault: Path, chat: Path, store: Captures
) -> None:
    said = ("A lamp, a bell and the tide.", "Yes.", "The tide?")
    store.add(capture("4000000000000-aaaaaa", "Later.", "<Lamp>\nLamp.\n</Lamp>", *said, "And so it was that day."))
    store.add(capture("4000000000001-bbbbbb", "Blue.", "Name a colour."))
    result = lorestudio("captures", "compare", vault, "--chat", chat, "--json")
    assert result.exit_code == 0, result.output
    [made, other] = json.loads(result.stdout)
    assert (made["reply"], other["reply"], other["kind"]) == ({"message": 3, "swipe": 0}, None, "a tool's question")
    # By the run the lamp, which is in sight of the scan, goes in; the tide rests after the first reply.
    there: list[dict[str, Any]] = made["both"]
    assert [(each["title"], each["message"], each["grade"]) for each in there] == [("Lamp", 0, "as it was put in")]
    assert (made["only_there"], made["only_here"]) == ([], [])
    assert made["unknown"] == [{"message": 4, "line": "And so it was that day."}]
    shown = lorestudio("captures", "compare", vault, "--chat", chat)
    assert "1 entry in both" in shown.stdout
    assert "2 captures, 1 of replies in this chat; 1 with the same lore" in shown.stderr


def test_no_column_is_squeezed_by_another(
    lorestudio: Run, vault: Path, chat: Path, store: Captures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = ("A lamp, a bell and the tide.", "Yes.", "The tide?")
    store.add(capture("4000000000000-aaaaaa", "Later.", "<Lamp>\nLamp.\n</Lamp>", *said))
    store.add(capture("4000000000001-bbbbbb", "They met.", *said, "Summarise the story."))
    lines = lorestudio("captures", "compare", vault, "--chat", chat).stdout.splitlines()
    because = next(line.index("because") for line in lines if "because" in line)
    lore = next(line.index("1 entry in both") for line in lines if "1 entry in both" in line)
    assert lore - because > 14


def test_the_models_choice_is_kept_and_replayed(lorestudio: Run, vault: Path, chat: Path, store: Captures) -> None:
    by = (vault, "--chat", chat, "--mode", "ai-only")
    first = from_json(json.loads(lorestudio("replay", *by, "--json").stdout)[0])
    question = first.ai_calls[0].user
    theirs = question.rpartition("\n\n")[0] + "\n\nAnswer as you were told."
    store.add(capture("4000000000000-aaaaaa", '[{"title": "Tide"}]', "Pick lore.", theirs))
    kept = lorestudio("captures", "compare", *by, "--keep-answers")
    assert (kept.exit_code, "Captures answer 1 question of the runs" in kept.stderr) == (0, True)
    none = lorestudio("captures", "compare", vault, "--chat", chat, "--mode", "keywords-only", "--keep-answers")
    assert "No capture answers a question that the runs ask" in none.stderr
    again = from_json(json.loads(lorestudio("replay", *by, "--answers", "recorded", "--json").stdout)[0])
    verdicts = [each for stage in again.stages for each in stage.verdicts]
    assert {again.title(each.entry) for each in verdicts if each.reason == "ai_pick"} == {"Tide"}


def test_without_captures_nothing_is_compared(lorestudio: Run, vault: Path, chat: Path, store: Captures) -> None:
    assert store.list() == ()
    result = lorestudio("captures", "compare", vault, "--chat", chat)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing was captured yet" in result.stderr
    assert json.loads(lorestudio("captures", "compare", vault, "--chat", chat, "--json").stdout) == []


def test_captures_are_listed_shown_masked_and_deleted(
    lorestudio: Run, store: Captures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert "nothing was captured yet" in lorestudio("captures", "list").stderr
    store.add(capture("4000000000000-aaaaaa", "Later.", "A lamp?"))
    store.add(capture("4000000000001-bbbbbb", "Blue.", "Name a colour."))
    listed = lorestudio("captures", "list")
    assert "2 captures" in listed.stderr
    assert [line.split(maxsplit=1)[-1].strip() for line in listed.stdout.splitlines()[2::2]] == ["answered, 0.0 s"] * 2
    assert [each["id"] for each in json.loads(lorestudio("captures", "list", "--json").stdout)] == [
        "4000000000001-bbbbbb", "4000000000000-aaaaaa",
    ]  # fmt: skip
    shown = lorestudio("captures", "show", "4000000000000").stdout
    assert "--- 1 of 1: user\nA lamp?" in shown
    assert "--- answer\nLater." in shown
    assert json.loads(lorestudio("captures", "show", "4000000000001", "--json").stdout)["status"] == 0
    assert "was redacted" in lorestudio("captures", "redact", "4000000000000").stderr
    assert "lamp" not in lorestudio("captures", "show", "4000000000000").stdout
    which = lorestudio("captures", "delete")
    assert (which.exit_code, "or --all" in which.stderr) == (2, True)
    asked = lorestudio("captures", "delete", "--all")
    assert (asked.exit_code, "Delete 2 captures for good? [y/N]" in asked.stderr) == (2, True)
    assert "1 deleted" in lorestudio("captures", "delete", "4000000000001", "--yes").stderr
    assert "0 deleted" in lorestudio("captures", "prune", "--days", "30").stderr
    assert "1 deleted" in lorestudio("captures", "delete", "--all", "--yes").stderr
    assert store.list() == ()


def test_a_capture_that_cannot_be_read_as_a_prompt_is_still_shown(lorestudio: Run, store: Captures) -> None:
    store.add(Capture("4000000000002-cccccc", 4_000_000_000_002, 4_000_000_000_009, "/chat/completions", body="{}"))
    assert "cannot be read as a prompt" in lorestudio("captures", "show", "4000000000002").stdout
    assert lorestudio("captures", "show", "5").exit_code == 2


def test_damaged_captures_keep_nothing_from_being_compared_and_can_be_deleted(
    lorestudio: Run, vault: Path, chat: Path, store: Captures
) -> None:
    store.add(capture("4000000000000-aaaaaa", "Later.", "Name a colour."))
    store.add(capture("4000000000001-bbbbbb", "Later.", "Name a colour."))
    torn = store.folder / "4000000000001-bbbbbb.capture"
    torn.write_bytes(torn.read_bytes()[:-9])  # the head is whole, the bodies are not
    (store.folder / "4000000000002-cccccc.capture").write_text("{", "ascii")
    compared = lorestudio("captures", "compare", vault, "--chat", chat, "--json")
    assert [each["capture"] for each in json.loads(compared.stdout)] == ["4000000000000-aaaaaa"]
    assert compared.stderr.count("this capture cannot be read") == 2
    assert lorestudio("captures", "delete", "4000000000001", "--yes").exit_code == 0
    assert not torn.exists()
    assert "2 deleted" in lorestudio("captures", "delete", "--all", "--yes").stderr
    assert store.ids() == ()


def test_what_stands_on_one_side_alone_is_told(lorestudio: Run, vault: Path, chat: Path, store: Captures) -> None:
    said = ("A lamp, a bell and the tide.", "Yes.", "The tide?")
    first = capture("4000000000000-aaaaaa", "Later.", "<Old Bell>\nOld Bell.\n</Old Bell>", *said)
    store.add(first)
    store.add(capture("4000000000005-dddddd", "Later.", "<Old Bell>\nOld Bell.\n</Old Bell>", *said))
    shown = " ".join(lorestudio("captures", "compare", vault, "--chat", chat).stdout.split())
    assert "another request made the reply" in shown
    assert "+ Old Bell: only" in shown
    assert "- Lamp: only" in shown
