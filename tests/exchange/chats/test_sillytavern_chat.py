from __future__ import annotations

import json
from typing import Any

import pytest

from lorestudio.exchange.chats.document import read_message
from lorestudio.exchange.chats.sillytavern import LoadedChat, parse_chat
from lorestudio.exchange.problems import InputError

HEADER = {"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": {"deeplore_pins": ["Lamp"]}}


def lines(*records: Any, end: str = "\n") -> str:
    return end.join(record if isinstance(record, str) else json.dumps(record) for record in records)


def said(text: str, *, user: bool = False, name: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name or ("Wren" if user else "Ottoline"), "is_user": user, "is_system": False, "mes": text, **more}


def parsed(*records: Any, end: str = "\n") -> LoadedChat:
    return parse_chat(lines(*records, end=end), "chat.jsonl")


def test_header_gives_names_and_metadata() -> None:
    loaded = parsed(HEADER, said("Hello."), said("Hi.", user=True))
    assert loaded.problems == ()
    assert loaded.chat.user_name == "Wren"
    assert loaded.chat.character_name == "Ottoline"
    assert loaded.chat.metadata == {"deeplore_pins": ["Lamp"]}
    assert [(message.text, message.is_user) for message in loaded.chat.messages] == [("Hello.", False), ("Hi.", True)]


def test_final_newline_and_empty_lines_do_not_count() -> None:
    loaded = parse_chat(lines(HEADER, "", said("Hello.")) + "\n\n", "chat.jsonl")
    assert len(loaded.chat.messages) == 1
    assert loaded.problems == ()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark(end: str, mark: str) -> None:
    loaded = parse_chat(mark + lines(HEADER, said("One.\nTwo."), said("Three.", user=True), end=end), "chat.jsonl")
    assert loaded.problems == ()
    assert [message.text for message in loaded.chat.messages] == ["One.\nTwo.", "Three."]
    assert loaded.chat.user_name == "Wren"


def test_swipes_and_which_is_active() -> None:
    message = parsed(HEADER, said("b", swipes=["a", "b", "c"], swipe_id=1)).chat.messages[0]
    assert message.swipes == ("a", "b", "c")
    assert message.swipe == 1


def test_a_message_without_swipes_is_its_own_first_swipe() -> None:
    message = parsed(HEADER, said("a")).chat.messages[0]
    assert (message.swipes, message.swipe_id, message.swipe) == ((), None, 0)


@pytest.mark.parametrize(
    ("value", "read"), [(2, 2), (2.0, 2), (0, 0), (1.5, None), ("1", None), (True, None), (None, None), ([1], None)]
)
def test_swipe_id_is_a_whole_number_or_nothing(value: object, read: int | None) -> None:
    assert read_message({"mes": "x", "swipe_id": value}).swipe_id == read  # type: ignore[dict-item]  # odd on purpose


@pytest.mark.parametrize(
    "record",
    [
        said("x", is_system=True),
        said("x", is_thoughts=True),
        said("x", extra={"type": "narrator"}),
        said("x", extra={"isSmallSys": True}),
        said("x", extra={"tool_invocations": [{"name": "dice"}]}),
        said("x", extra={"tool_invocations": []}),
    ],
)
def test_hidden_narrator_and_tool_messages_are_not_searched(record: dict[str, Any]) -> None:
    loaded = parsed(HEADER, said("Hello."), record)
    assert not loaded.chat.messages[1].scannable
    assert loaded.chat.replies == ((1,) if record["is_system"] else ())  # hidden since, and a reply all the same


def test_a_group_chat_has_no_header_and_takes_its_names_from_the_messages() -> None:
    loaded = parsed(
        said("Rain.", name="Narrator", extra={"type": "narrator"}),
        said("Evening.", name="Mina"),
        said("Hi.", user=True, name="Wren"),
        said("Cheese?", name="Hob"),
    )
    assert loaded.problems == ()
    assert len(loaded.chat.messages) == 4
    assert (loaded.chat.user_name, loaded.chat.character_name) == ("Wren", "Mina")
    assert loaded.chat.metadata == {}


def test_the_word_unused_in_a_header_is_no_name() -> None:
    chat = parsed({"user_name": "unused", "character_name": "unused", "chat_metadata": {}}, said("Hi.")).chat
    assert (chat.user_name, chat.character_name) == ("User", "Ottoline")


def test_a_second_record_without_text_is_no_second_header() -> None:
    loaded = parsed(HEADER, {"user_name": "Other", "chat_metadata": {}}, said("Hello."))
    assert loaded.chat.user_name == "Wren"
    assert loaded.problems == ("Line 2 has no “mes”; it counts as an empty message.",)
    assert [message.text for message in loaded.chat.messages] == ["", "Hello."]


def test_broken_lines_are_named_and_left_out() -> None:
    loaded = parsed(HEADER, '{"mes": "cut off', said("Hello."), "[1, 2]", "nonsense", said("Bye."))
    assert [message.text for message in loaded.chat.messages] == ["Hello.", "Bye."]
    assert [problem.split(" is ")[0] for problem in loaded.problems] == ["Line 2", "Line 4", "Line 5"]
    assert "column 9" in loaded.problems[0]
    assert loaded.problems[1] == "Line 4 is no JSON object; it was left out and stays in the file."


def test_a_line_nested_too_deeply_is_left_out() -> None:
    loaded = parsed(HEADER, '{"mes": ' + "[" * 200_000, said("Hello."))
    assert [message.text for message in loaded.chat.messages] == ["Hello."]
    assert loaded.problems[0].startswith("Line 2 is n")


def test_a_broken_header_costs_the_metadata_only() -> None:
    loaded = parsed('{"user_name": "Wr', said("Hello."), said("Hi.", user=True))
    assert loaded.problems[0].startswith("Line 1 is no JSON")
    assert len(loaded.chat.messages) == 2
    assert loaded.chat.user_name == "Wren"


@pytest.mark.parametrize("text", ["", "\n\n", "{broken\n{broken", '["a list"]', '{"id": "x", "scenario": {}}'])
def test_without_a_usable_line_the_chat_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^some\.jsonl: no line is a message or a header\..* Open a SillyTavern chat"):
        parse_chat(text, "some.jsonl")


def test_a_header_alone_is_an_empty_chat() -> None:
    loaded = parsed(HEADER)
    assert loaded.chat.messages == ()
    assert loaded.chat.character_name == "Ottoline"


def test_fields_of_odd_shapes_count_as_missing_and_the_record_is_kept() -> None:
    record = {"name": 7, "mes": None, "swipes": "abc", "extra": [], "send_date": 1728150000000, "other": {"kept": 1}}
    message = read_message(record)  # type: ignore[arg-type]  # odd on purpose
    assert (message.name, message.text, message.swipes, dict(message.extra)) == (None, "", (), {})
    assert message.send_date == "1728150000000"
    assert message.raw["other"] == {"kept": 1}


def test_swipes_that_are_no_text_are_empty() -> None:
    assert read_message({"mes": "a", "swipes": ["a", None, 5]}).swipes == ("a", "", "")


def test_metadata_of_an_odd_shape_counts_as_none() -> None:
    assert parsed({"user_name": "Wren", "chat_metadata": ["x"]}, said("Hi.")).chat.metadata == {}
