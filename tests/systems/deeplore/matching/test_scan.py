"""The searched text (rules: deeplore 3.3)."""

from __future__ import annotations

import math

import pytest

from lorestudio.domain.chat import Message
from lorestudio.systems.deeplore.matching.scan import ScanWindow
from tests.systems.worlds import message

CHAT = (
    message("A: one"),
    message("B: two", is_system=True),
    message("C: three", extra={"type": "narrator"}),
    Message(None, "four"),
    Message("D", ""),  # a text that is no string is read as ""
    message("E: six", extra={"isSmallSys": True}),
    message("F: seven"),
)
"""The verified example (rules: deeplore 3.3)."""


def window(*chat: Message, deepest: float = 100) -> ScanWindow:
    return ScanWindow(chat, deepest, case_sensitive=True)


@pytest.mark.parametrize(
    ("depth", "text"),
    [
        (1, "F: seven"),
        (2, "F: seven"),
        (4, ": four\nD: \nF: seven"),
        (7, "A: one\n: four\nD: \nF: seven"),
        (100, "A: one\n: four\nD: \nF: seven"),
        (0.5, "A: one\n: four\nD: \nF: seven"),
        (math.inf, "A: one\n: four\nD: \nF: seven"),
        (3.9, "D: \nF: seven"),  # truncated towards zero
        (0, ""),
        (-1, ""),
    ],
)
def test_verified_windows(depth: float, text: str) -> None:
    scanned = window(*CHAT)
    assert scanned.tail(depth) == scanned.raw_tail(depth) == text
    assert scanned.count(depth) == (text.count("\n") + 1 if text else 0)


@pytest.mark.parametrize("deepest", [4, 7, 100, math.inf])
def test_a_shallower_window_is_the_same_however_deep_the_deepest(deepest: float) -> None:
    assert window(*CHAT, deepest=deepest).tail(4) == ": four\nD: \nF: seven"


@pytest.mark.parametrize(
    "unscannable",
    [
        message("X: x", is_system=True),
        message("X: x", is_thoughts=True),
        message("X: x", extra={"tool_invocations": []}),  # an empty list counts
        message("X: x", extra={"tool_invocations": [{}]}),
        message("X: x", extra={"type": "narrator"}),
        message("X: x", extra={"isSmallSys": True}),
    ],
)
def test_unscannable_messages_use_up_a_place(unscannable: Message) -> None:
    assert window(message("A: a"), unscannable).tail(1) == ""
    assert window(message("A: a"), unscannable).tail(2) == "A: a"


@pytest.mark.parametrize("extra", [{}, {"type": "other"}, {"isSmallSys": False}, {"tool_invocations": None}])
def test_other_extras_are_scanned(extra: dict[str, object]) -> None:
    assert window(message("X: x", extra=extra)).tail(1) == "X: x"


def test_only_what_is_searched_is_folded() -> None:
    folded = ScanWindow((message("Anna: ÉLAN e\u0301"),), 1, case_sensitive=False)
    assert (folded.tail(1), folded.raw_tail(1)) == ("anna: élan é", "Anna: ÉLAN e\u0301")


def test_an_empty_window_starts_past_the_end() -> None:
    """So that nothing lies in it, not even at the very end of the text."""
    scanned = window(message("A: a"))
    assert scanned.offset(0) > len(scanned.text)
    assert window().tail(4) == ""


@pytest.mark.parametrize(
    ("word", "where"),
    [
        ("a: one", {"message": 0, "in_name": True}),
        ("one", {"message": 0, "start": 0, "end": 3}),
        ("four", {"message": 3, "start": 0, "end": 4}),
        ("ven", {"message": 6, "start": 2, "end": 5}),
    ],
)
def test_locate(word: str, where: dict[str, object]) -> None:
    scanned = ScanWindow(CHAT, 100, case_sensitive=False)
    assert scanned.locate(scanned.text.index(word), len(word)) == where
