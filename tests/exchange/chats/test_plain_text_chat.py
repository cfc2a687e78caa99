from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.exchange.chats.document import ChatLine, LineKind
from lorestudio.exchange.chats.loading import read_plain_text
from lorestudio.exchange.problems import InputError


def spoken(text: str, user_name: str = "") -> list[tuple[str | None, str, bool]]:
    chat = read_plain_text(text, "chat.txt", user_name).chat
    return [(message.name, message.text, message.is_user) for message in chat.messages]


def test_a_name_and_a_colon_begin_a_message_and_other_lines_go_on_with_it() -> None:
    text = "Wren: Hello.\n\nAre you in?\nOttoline:\nYou are early.\n"
    assert spoken(text) == [("Wren", "Hello.\n\nAre you in?", True), ("Ottoline", "You are early.", False)]


@pytest.mark.parametrize("name", ["User", "you", "ME", "Human"])
def test_the_person_is_whoever_is_called_so(name: str) -> None:
    assert spoken(f"Ottoline: Early.\n{name}: Hello.") == [("Ottoline", "Early.", False), (name, "Hello.", True)]


def test_the_person_can_be_named() -> None:
    chat = read_plain_text("Ottoline: Early.\nWren: Hello.", "chat.txt", "Wren").chat
    assert (chat.user_name, chat.character_name) == ("Wren", "Ottoline")
    assert [message.is_user for message in chat.messages] == [False, True]


def test_the_first_speaker_is_the_person_where_nothing_else_says_so() -> None:
    chat = read_plain_text("Wren: Hello.\nOttoline: Early.", "chat.txt").chat
    assert (chat.user_name, chat.character_name) == ("Wren", "Ottoline")


def test_a_text_without_speakers_is_one_message_of_the_person() -> None:
    assert spoken("It rains.\nIt rains more.") == [("User", "It rains.\nIt rains more.", True)]


def test_addresses_and_times_are_no_speakers() -> None:
    assert spoken("Wren: see\nhttps://example.org/a\n12:30 it was") == [
        ("Wren", "see\nhttps://example.org/a\n12:30 it was", True)
    ]


def test_byte_order_mark_is_no_part_of_the_first_name() -> None:
    assert spoken("\ufeffWren: Hello.")[0][0] == "Wren"


@pytest.mark.parametrize("text", ["", "\ufeff", " \n\t\n"])
def test_a_text_with_nothing_in_it_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^chat\.txt: the file has no text\. Write one message a line"):
        read_plain_text(text, "chat.txt")


@given(st.lists(st.tuples(st.sampled_from(["Wren", "Ottoline"]), st.text("ab c.", min_size=1)), min_size=1))
def test_what_is_written_line_by_line_comes_back(turns: list[tuple[str, str]]) -> None:
    text = "\n".join(f"{name}: {words}" for name, words in turns)
    assert [(name, words) for name, words, _ in spoken(text)] == [(name, words.strip()) for name, words in turns]


def test_the_lines_of_a_long_message_are_put_together_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def line(number: int, text: str, kind: LineKind) -> ChatLine:
        made.append(text)
        return ChatLine(number, text, kind)

    monkeypatch.setattr("lorestudio.exchange.chats.loading.ChatLine", line)
    text = "Wren: Hello\n" + "and on\n" * 50 + "Ottoline: Yes\n"
    loaded = read_plain_text(text, "chat.txt")
    assert made == ["Wren: Hello\n", "Ottoline: Yes\n"]
    assert [each.text for each in loaded.document.lines] == ["Wren: Hello\n" + "and on\n" * 50, "Ottoline: Yes\n"]
