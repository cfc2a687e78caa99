"""`lorestudio captures compare`: which reply a captured prompt made, and what differs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from lorestudio.studio.attach.captures import Capture, Captures, default_folder

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


def test_without_captures_nothing_is_compared(lorestudio: Run, vault: Path, chat: Path, store: Captures) -> None:
    assert store.list() == ()
    result = lorestudio("captures", "compare", vault, "--chat", chat)
    assert "0 captures" in result.stderr
