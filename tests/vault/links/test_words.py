from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.vault.links.mentions import lower_in_place, spellings, stands_alone


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("the ferry.", "ferry", True),
        ("ferryman", "ferry", False),
        ("a_ferry", "ferry", False),
        ("ferry's", "ferry", True),
        ("Äferry", "ferry", False),
        ("龙王来了", "龙", True),
        ("スカルンは", "スカルン", True),
        ("스카른은", "스카른", True),
        ("มังกรบิน", "มังกร", True),
        ("渡ferry口", "ferry", True),
        ("cafe\u0301", "cafe", False),
        ("C++11", "C++", True),
        ("xC++", "C++", False),
    ],
)
def test_stands_alone(text: str, word: str, expected: bool) -> None:
    start = text.index(word)
    assert stands_alone(text, start, start + len(word)) is expected


@given(st.text())
def test_lower_in_place_keeps_every_place(text: str) -> None:
    lower = lower_in_place(text)
    assert len(lower) == len(text)
    if len(text.lower()) == len(text):
        assert lower == text.lower()


def test_lower_in_place_leaves_what_would_grow() -> None:
    assert lower_in_place("İSTANBUL A") == "İstanbul a"


def test_spellings_are_composed_and_decomposed() -> None:
    assert spellings("Skarn") == ("skarn",)
    assert spellings("Jörn") == ("jörn", "jo\u0308rn")
