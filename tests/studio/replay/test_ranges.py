from __future__ import annotations

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.exchange.problems import InputError
from lorestudio.studio.replay.ranges import MessageRange

CHAT = (Generation(2), Generation(2, 1), Generation(4), Generation(8), Generation(9))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("12-40", 12, 40), ("12-", 12, None), ("-40", None, 40), ("12", 12, 12), (" #3 - #4 ", 3, 4), ("5–6", 5, 6)],
)
def test_ranges_as_they_are_written(text: str, first: int | None, last: int | None) -> None:
    assert MessageRange.parse(text) == MessageRange(first, last)


@pytest.mark.parametrize("text", ["", "-", "x", "1-2-3", "1,2", "--5", pytest.param(" " * 5_000 + "x", id="blanks")])
def test_what_is_no_range_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="Write 12-40"):
        MessageRange.parse(text, "--messages")


def test_a_range_that_ends_before_it_begins() -> None:
    with pytest.raises(InputError, match=r"ends .#3. before it begins .#7."):
        MessageRange.parse("7-3")


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("4", (4, 4)), ("4-9", (4, 9)), ("4-", (4, 19)), ("-3", (0, 3)), ("4-90", (4, 90)),
        pytest.param("0" * 5_000 + "4-9", (4, 9), id="more figures than Python reads"),
    ],
)  # fmt: skip
def test_the_ends_of_a_range_in_a_chat(text: str, ends: tuple[int, int]) -> None:
    assert MessageRange.parse(text).ends(20) == ends


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("2-4", range(3)),
        ("3-", range(2, 5)),
        ("-2", range(2)),
        ("4", range(2, 3)),
        ("0-99", range(5)),
        (f"3-{'9' * 5_000}", range(2, 5)),
    ],
)
def test_where_a_range_is_swipes_included(text: str, part: range) -> None:
    assert MessageRange.parse(text).part(CHAT) == part


def test_a_range_without_a_reply_says_where_the_replies_are() -> None:
    with pytest.raises(ValueError, match=r"from message 5 to 7. The replies are messages #2, #4, #8, #9"):
        MessageRange(5, 7).part(CHAT)
