"""What the selecting model reads of the chat (rules: deeplore 4.7 steps 2 to 5)."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.chat import Message, transcript
from lorestudio.systems.deeplore.ai.asking import CHAT_HEADING, STORY_HEADING, SUMMARY_HEADING, conversation, settled
from tests.systems.worlds import entries_of, entry, message, settings_of


def chat_of(*said: str | Message) -> list[Message]:
    return [message(one) if isinstance(one, str) else one for one in said]


HIDDEN = message("U: secret", is_system=True)
THOUGHT = message("Ann: hm", is_thoughts=True)
NARRATOR = message("Ann: meanwhile", extra={"type": "narrator"})
TOOL = message("Ann: tool", extra={"tool_invocations": []})


def test_the_verified_lines() -> None:
    chat = [Message("U", "hi", is_user=True), Message(None, "yo"), Message("X", "")]
    assert transcript(chat, 4) == "U (user): hi\nUnknown (character): yo\nX (character): "


@pytest.mark.parametrize(
    ("said", "depth", "searched_only", "expected"),
    [
        (["U: a", "X: b", "U: c"], 2, False, "X (character): b\nU (user): c"),
        (["U: a"], 9, False, "U (user): a"),
        (["U: a"], 0, False, ""),
        (["U: a", HIDDEN, THOUGHT, "X: b"], 3, False, "X (character): b"),  # hidden ones use up places
        (["U: a", HIDDEN, THOUGHT, "X: b"], 3, True, "U (user): a\nX (character): b"),
        (["U: a", NARRATOR, TOOL], 9, False, "U (user): a"),
        (["U: two\nlines"], 9, False, "U (user): two\nlines"),
        ([message(": nameless")], 9, False, "Unknown (character): nameless"),
        ([], 4, False, ""),
    ],
)
def test_lines(said: list[Any], depth: int, searched_only: bool, expected: str) -> None:
    assert transcript(chat_of(*said), depth, searched_only=searched_only) == expected


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (["U: a", "X: b"], 1),
        (["U: a"], 1),
        (["X: b"], 0),
        (["U: a", "X: b", "X: c"], 2),  # only the last message
        (["U: a", HIDDEN], 2),
        (["X: a", message("S: b", is_system=True)], 2),
        (["U: a", THOUGHT], 1),
        ([], 0),
    ],
)
def test_a_trailing_reply_is_hidden(said: list[Any], left: int) -> None:
    assert len(settled(chat_of(*said))) == left


SEEDS = entries_of([
    entry("S", seed=True, content="Once."), entry("A", content="no"), entry("T", seed=True, content="A\nland."),
])  # fmt: skip


def told(*said: Any, seeds: bool = True, summary: str = "", **settings: Any) -> tuple[str, bool]:
    switches = {"hide_trailing": settings.pop("hide_trailing", True)}
    found = conversation(chat_of(*said), SEEDS if seeds else (), summary, settings_of(**settings), **switches)
    return found.text, found.new_chat


STORY = f"{STORY_HEADING}\nOnce.\n\nA\nland.\n\n{CHAT_HEADING}\n"


@pytest.mark.parametrize(
    ("said", "settings", "expected"),
    [
        (["U: a"], {}, (f"{STORY}U (user): a", True)),
        (["U: a"], {"seeds": False}, ("U (user): a", True)),
        (["U: a", "X: b", "U: c"], {}, (f"{STORY}U (user): a\nX (character): b\nU (user): c", True)),
        # counted without the trailing reply: four messages are still a new chat
        (["U: a", "X: b", "U: c", "X: d"], {}, (f"{STORY}U (user): a\nX (character): b\nU (user): c", True)),
        (["U: a", "X: b", "U: c", "X: d", "U: e"], {"ai_search_scan_depth": 1}, ("U (user): e", False)),
        (["U: a", "X: b"], {"new_chat_threshold": 1, "hide_trailing": False},
         ("U (user): a\nX (character): b", False)),
        (["X: hello"], {}, ("", True)),  # only a greeting: nothing to read, whatever the seeds say
        ([HIDDEN], {}, ("", True)),
        ([], {}, ("", True)),
    ],
)  # fmt: skip
def test_a_new_chat_gets_the_seeds(said: list[Any], settings: dict[str, Any], expected: tuple[str, bool]) -> None:
    assert told(*said, **settings) == expected


@pytest.mark.parametrize(
    ("summary", "wanted", "added"),
    [
        (" So far. \n", True, f"\n\n{SUMMARY_HEADING}\nSo far."),
        ("So far.", False, ""),
        (" \n", True, ""),
        ("", True, ""),
    ],
)
def test_the_session_summary(summary: str, wanted: bool, added: str) -> None:
    text, _ = told("U: a", summary=summary, scribe_informed_retrieval=wanted)
    assert text == f"{STORY}U (user): a{added}"


def test_a_summary_alone_is_no_conversation() -> None:
    assert told("X: hello", summary="So far.", scribe_informed_retrieval=True) == ("", True)
