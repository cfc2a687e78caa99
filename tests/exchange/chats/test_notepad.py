from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.chat import Message
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.document import read_message
from lorestudio.exchange.chats.notepad import notes_of, with_notes


def record(**fields: Any) -> dict[str, Any]:
    return {"name": "Ottoline", "is_user": False, "mes": "One.", "send_date": "x", **fields}


SWIPED = record(
    mes="Two.",
    swipes=["One.", "Two."],
    swipe_id=1,
    extra={"deeplore_ai_notes": "second", "token_count": 2},
    swipe_info=[
        {"send_date": "a", "extra": {"deeplore_ai_notes": "first"}},
        {"send_date": "b", "extra": {"deeplore_ai_notes": "second", "token_count": 2}},
    ],
)


def test_a_message_remembers_its_notes_and_forgets_them():
    message = with_notes(read_message(record()), "Visible.", "He lied.")
    assert (message.text, notes_of(message)) == ("Visible.", "He lied.")
    assert message.raw == record(mes="Visible.", extra={"deeplore_ai_notes": "He lied."})
    assert with_notes(message, "Visible.", "").raw["extra"] == {}


def test_other_fields_of_extra_stay():
    message = with_notes(read_message(record(extra={"api": "x"})), "One.", "n")
    assert message.extra == {"api": "x", "deeplore_ai_notes": "n"}


def test_a_message_without_a_record_needs_none():
    message = with_notes(Message("Ottoline", "One."), "Visible.", "n")
    assert (message.text, message.extra, message.raw) == ("Visible.", {"deeplore_ai_notes": "n"}, {})


def showing(message: Message, swipe: int) -> Message:
    """The message with another swipe active, its record as it was read."""
    return replace(message, swipe_id=swipe, text=message.swipes[swipe])


@pytest.mark.parametrize("value", [None, 5, ["a"], {}])
def test_notes_of_another_shape_are_none(value: Any):
    assert notes_of(read_message(record(extra={"deeplore_ai_notes": value}))) == ""


def test_each_swipe_has_its_own_notes():
    message = read_message(SWIPED)
    assert notes_of(message) == "second"
    # The simulator shows another swipe without changing what the record says.
    assert notes_of(showing(message, 0)) == "first"


def test_writing_one_swipe_leaves_the_others_alone():
    message = with_notes(showing(read_message(SWIPED), 0), "Cleaned.", "new")
    assert message.swipes == ("Cleaned.", "Two.")
    infos = message.raw["swipe_info"]
    assert infos == [{"send_date": "a", "extra": {"deeplore_ai_notes": "new"}}, SWIPED["swipe_info"][1]]
    assert (message.raw["mes"], message.raw["swipe_id"]) == ("Cleaned.", 0)
    assert message.raw["swipes"] == ["Cleaned.", "Two."]


def test_a_fresh_swipe_begins_without_notes():
    raw = {**SWIPED, "swipes": ["One.", "Two.", "Three."]}
    message = showing(read_message(raw), 2)
    assert notes_of(message) == ""
