"""Dates of messages as SillyTavern has written them."""

from datetime import UTC, datetime

import pytest

from lorestudio.exchange.chats.document import sent_at


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-10-05T19:05:00.000Z", (2024, 10, 5, 19, 5)),
        ("2024-10-05T21:05:00+02:00", (2024, 10, 5, 19, 5)),
        ("2024-10-5 @19h 05m 00s 0ms", (2024, 10, 5, 19, 5)),
        ("2024-10-05@19h05m00s", (2024, 10, 5, 19, 5)),
        ("October 5, 2024 7:05pm", (2024, 10, 5, 19, 5)),
        ("Oct 5, 2024 12:05 AM", (2024, 10, 5, 0, 5)),
        ("1728155100000", (2024, 10, 5, 19, 5)),
        ("1728155100", (2024, 10, 5, 19, 5)),
    ],
)
def test_every_way_of_writing_a_date(text, moment):
    assert sent_at(text) == datetime(*moment, tzinfo=UTC).timestamp() * 1000


@pytest.mark.parametrize("text", ["", "yesterday", "2024-13-45 @99h 1m 1s", "Smarch 5, 2024 7:05pm", "9" * 40])
def test_what_is_no_date(text):
    assert sent_at(text) is None
