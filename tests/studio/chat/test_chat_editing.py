from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.exchange.chats.document import message_record
from lorestudio.exchange.chats.sillytavern import parse_chat
from lorestudio.studio.chat import editing
from lorestudio.studio.chat.editing import Voice

NOW = datetime(2024, 9, 28, 14, 5, 9)  # noqa: DTZ001  # SillyTavern notes local time without its zone
LAST = (
    '{"name":"Ada","is_user":false,"mes":"b","gen_started":"S1","send_date":"D1",'
    '"extra":{"model":"two","deeplore_ai_notes":"Nb"},"swipes":["a","b"],"swipe_id":1,'
    '"swipe_info":[{"send_date":"D0","gen_started":"S0","extra":{"model":"one"}},{}]}'
)
LINES = (
    '{"user_name":"Wren","character_name":"Ada","chat_metadata":{"tainted":true}}',
    '{"name":"Ada","is_user":false,"mes":"Welcome.","extra":{}}',
    '{"name":"Wren","is_user":true,"mes":"Hello.","extra":{"token_count":2}}',
    LAST,
)
FILE = "\n".join(LINES)
LOADED = parse_chat(FILE, "chat.jsonl")
CHAT = LOADED.chat


def written(chat: Chat) -> Chat:
    """The chat as it is read again from what would be written."""
    return parse_chat(LOADED.document.text_for(chat), "chat.jsonl").chat


def texts(chat: Chat) -> list[str]:
    return [message.text for message in written(chat).messages]


@pytest.mark.parametrize(
    ("voice", "name", "user", "kind"),
    [
        (Voice.YOU, "Wren", True, None),
        (Voice.CHARACTER, "Ada", False, None),
        (Voice.SYSTEM, "System", False, "narrator"),
    ],
)
def test_a_message_is_written_as_somebody(voice: Voice, name: str, user: bool, kind: str | None) -> None:
    chat = editing.append(CHAT, editing.new_message(CHAT, "So.", voice, NOW))
    last = written(chat).messages[-1]
    assert (last.name, last.text, last.is_user, last.is_system) == (name, "So.", user, False)
    assert last.extra.get("type") == kind
    assert last.send_date == "September 28, 2024 2:05pm"
    assert last.scannable is (voice is not Voice.SYSTEM)


def test_a_message_is_put_between_others() -> None:
    assert texts(editing.insert(CHAT, 1, editing.new_message(CHAT, "x", Voice.YOU, NOW))) == [
        "Welcome.",
        "x",
        "Hello.",
        "b",
    ]


def test_an_edit_changes_text_and_active_swipe() -> None:
    last = written(editing.edit(CHAT, 2, "B!")).messages[2]
    assert (last.text, last.swipes, last.swipe) == ("B!", ("a", "B!"), 1)
    assert last.extra == {"model": "two"}  # its notes were about the old text


def test_a_swipe_that_is_not_active_can_be_edited() -> None:
    last = written(editing.edit(CHAT, 2, "A!", swipe=0)).messages[2]
    assert (last.text, last.swipes, last.swipe) == ("b", ("A!", "b"), 1)


def test_an_edit_without_a_change_is_none() -> None:
    assert editing.edit(CHAT, 1, "Hello.") is CHAT


def test_deleting_and_hiding() -> None:
    assert texts(editing.delete(CHAT, 1)) == ["Welcome.", "b"]
    hidden = editing.hide(CHAT, 1, hidden=True)
    assert written(hidden).messages[1].is_system
    assert editing.hide(hidden, 1, hidden=False) == CHAT


def test_a_new_swipe_is_active_and_the_old_one_keeps_what_is_its() -> None:
    chat = editing.add_swipe(CHAT, 2, NOW)
    last = written(chat).messages[2]
    assert (last.text, last.swipes, last.swipe, last.extra) == ("", ("a", "b", ""), 2, {})
    infos = last.raw["swipe_info"]
    assert isinstance(infos, list)
    assert infos[1] == {"send_date": "D1", "gen_started": "S1", "extra": {"model": "two", "deeplore_ai_notes": "Nb"}}
    assert "gen_started" not in last.raw
    again = written(editing.choose_swipe(chat, 2, 1)).messages[2]
    assert (again.text, again.send_date, again.raw["gen_started"]) == ("b", "D1", "S1")
    assert again.extra == CHAT.messages[2].extra


def test_the_first_swipe_of_a_message_that_had_none() -> None:
    first = written(editing.add_swipe(CHAT, 0, NOW)).messages[0]
    assert (first.text, first.swipes, first.swipe) == ("", ("Welcome.", ""), 1)


def test_choosing_a_swipe_brings_what_belongs_to_it() -> None:
    chosen = written(editing.choose_swipe(CHAT, 2, 0)).messages[2]
    assert (chosen.text, chosen.swipe, chosen.extra) == ("a", 0, {"model": "one"})
    assert (chosen.raw["gen_started"], chosen.send_date) == ("S0", "D0")
    back = editing.choose_swipe(editing.choose_swipe(CHAT, 2, 0), 2, 1)
    assert written(back).messages == CHAT.messages


def test_deleting_swipes() -> None:
    active = written(editing.delete_swipe(CHAT, 2, 1)).messages[2]
    assert (active.text, active.swipes, active.swipe, active.extra) == ("a", ("a",), 0, {"model": "one"})
    other = written(editing.delete_swipe(CHAT, 2, 0)).messages[2]
    assert (other.text, other.swipes, other.swipe) == ("b", ("b",), 0)
    with pytest.raises(ValueError, match="Delete the message instead"):
        editing.delete_swipe(editing.delete_swipe(CHAT, 2, 0), 2, 0)


def test_a_branch_ends_at_its_message_and_leaves_a_mark_there() -> None:
    made = editing.branch(CHAT, 1, "Ada - 2024", NOW)
    assert made.name == "Branch #1 - 2024-09-28@14h05m09s"
    text = LOADED.document.until(CHAT, 2).text_for(made.branch)
    lines = FILE.split("\n")
    assert text == "\n".join([lines[0].replace("true}", 'true,"main_chat":"Ada - 2024"}'), *lines[1:3]])
    assert written(made.original).messages[1].extra == {"token_count": 2, "branches": [made.name]}
    twice = editing.branch(made.original, 1, "Ada", replace_second(NOW))
    assert len(twice.original.messages[1].extra["branches"]) == 2  # type: ignore[arg-type]  # a list


def replace_second(now: datetime) -> datetime:
    return now.replace(second=10)


def test_the_notepad_follows_swipes_and_edits_and_stays_when_a_message_goes() -> None:
    controls = ChatControls(notepad="Early.\nNb")
    turned = editing.choose_swipe(CHAT, 2, 0)
    assert editing.notes_followed(controls, CHAT, turned).notepad == "Early."
    assert editing.notes_followed(controls, CHAT, editing.edit(CHAT, 2, "x")).notepad == "Early."
    assert editing.notes_followed(controls, CHAT, editing.delete(CHAT, 2)) == controls


@pytest.mark.parametrize("place", [-1, 3])
def test_a_message_that_is_not_there(place: int) -> None:
    with pytest.raises(IndexError):
        editing.edit(CHAT, place, "x")
    with pytest.raises(IndexError):
        editing.choose_swipe(CHAT, 2, 9)


def test_dates_before_noon_and_at_midnight() -> None:
    assert editing.send_date(NOW.replace(hour=0)) == "September 28, 2024 12:05am"
    assert editing.send_date(NOW.replace(hour=12)) == "September 28, 2024 12:05pm"


STEPS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4), st.integers(0, 3), st.text(max_size=4)), max_size=8)


@given(STEPS)
def test_whatever_is_done_the_file_says_the_same_as_the_chat(steps: list[tuple[int, int, int, str]]) -> None:
    chat = CHAT
    for kind, place, swipe, text in steps:
        if place >= len(chat.messages):
            continue
        message = chat.messages[place]
        if kind == 0:
            chat = editing.edit(chat, place, text)
        elif kind == 1 and len(chat.messages) > 1:
            chat = editing.delete(chat, place)
        elif kind == 2:
            chat = editing.edit(editing.add_swipe(chat, place, NOW), place, text)
        elif kind == 3 and swipe < len(message.swipes):
            chat = editing.choose_swipe(chat, place, swipe)
        elif kind == 4 and swipe < len(message.swipes) > 1:
            chat = editing.delete_swipe(chat, place, swipe)
        elif kind == 5:
            chat = editing.insert(chat, place, editing.new_message(chat, text, Voice.CHARACTER, NOW))
        else:
            chat = editing.hide(chat, place, hidden=not message.is_system)
    again = written(chat)
    assert again.messages == chat.messages
    assert [message_record(one) for one in again.messages] == [message_record(one) for one in chat.messages]
    assert all(each.text == each.swipes[each.swipe] for each in chat.messages if each.swipes)
    assert again.header == replace(chat).header
