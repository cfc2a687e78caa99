"""What two sequences have in common at their ends, and two chats from their first message on."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat, Message, first_difference
from lorestudio.domain.records import same_ends, same_start

TEXTS = st.text("ab", max_size=8)


@given(TEXTS, TEXTS)
def test_the_start_ends_where_they_differ(one: str, other: str) -> None:
    head = same_start(one, other)
    assert one[:head] == other[:head]
    assert one[head : head + 1] != other[head : head + 1] or head == len(one) == len(other)


@given(TEXTS, TEXTS)
def test_start_and_end_never_share_an_item(one: str, other: str) -> None:
    head, tail = same_ends(one, other)
    assert head == same_start(one, other)
    assert head + tail <= min(len(one), len(other))
    assert one[len(one) - tail :] == other[len(other) - tail :]
    rest = min(len(one), len(other)) - head - tail
    assert not rest or one[len(one) - tail - 1] != other[len(other) - tail - 1]


def test_what_is_the_same_is_said_and_an_item_is_always_the_same_as_itself() -> None:
    assert same_start(["A", "b"], ["a", "c"], lambda mine, yours: mine.lower() == yours.lower()) == 1
    assert same_ends([1, 2, 3], [11, 4, 13], lambda mine, yours: mine % 10 == yours % 10) == (1, 1)
    nothing = [math.nan]
    assert same_start(nothing, nothing) == 1
    assert same_start(nothing, [float("nan")]) == 0


def test_the_first_difference_of_two_chats() -> None:
    chat = Chat((Message("Ada", "Welcome."), Message("Wren", "Where?", is_user=True)))
    longer = Chat((*chat.messages, Message("Ada", "Here.")))
    assert first_difference(chat, chat) == 2
    assert first_difference(chat, longer) == 2
    assert first_difference(longer, chat.with_message(0, Message("Ada", "Hello."))) == 0
    assert first_difference(chat, chat.with_message(1, Message("Wren", "Why?", is_user=True))) == 1
    assert first_difference(None, chat) == 0
