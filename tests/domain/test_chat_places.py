"""Where the messages of a chat stand after it was changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Message, places_in
from lorestudio.domain.records import replace


def chat(words: str) -> list[Message]:
    return [Message("Ada", word, send_date=word) for word in words]


@pytest.mark.parametrize(
    ("before", "after", "places"),
    [
        ("abc", "abcde", {0: 0, 1: 1, 2: 2}),
        ("abc", "xabc", {0: 1, 1: 2, 2: 3}),
        ("abc", "ac", {0: 0, 2: 1}),
        ("abcd", "acde", {0: 0, 2: 1, 3: 2}),  # one is gone and one is new: no other is in its place
        ("abc", "aXc", {0: 0, 1: 1, 2: 2}),
        ("abcd", "aXYd", {0: 0, 1: 1, 2: 2, 3: 3}),
        ("abcd", "aXd", {0: 0, 3: 2}),  # of two, nobody knows which one it was
        ("abcde", "bXde", {1: 0, 2: 1, 3: 2, 4: 3}),
        ("aaaa", "aaa", {0: 0, 1: 1, 2: 2}),
        ("", "ab", {}),
        ("ab", "", {}),
    ],
)
def test_messages_are_found_again(before: str, after: str, places: dict[int, int]) -> None:
    assert places_in(chat(after), chat(before)) == places


def test_what_changed_beside_the_words_makes_no_other_message() -> None:
    before = chat("abc")
    after = [Message("Ada", "x"), *(replace(each, is_system=True, extra={"n": 1}) for each in before[1:])]
    assert places_in(after, before) == {0: 0, 1: 1, 2: 2}


@given(st.text("abcd", max_size=8), st.text("abcd", max_size=8))
def test_places_are_in_the_chats_and_in_order(before: str, after: str) -> None:
    places = places_in(chat(after), chat(before))
    assert list(places) == sorted(places)
    assert list(places.values()) == sorted(set(places.values()))
    assert set(places) <= set(range(len(before)))
    assert set(places.values()) <= set(range(len(after)))
