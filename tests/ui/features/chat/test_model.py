"""The rows of the chat: who speaks, what went in, and where the found keys stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt

from lorestudio.domain.chat import Chat, Message, places_in
from lorestudio.domain.records import replace
from lorestudio.trace.found_keys import FoundKey
from lorestudio.trace.model import SeenChat
from lorestudio.ui.features.chat.model import ChatList, ChatRow, Speaker, chip_text
from lorestudio.ui.shell.qt import ACCESSIBLE_DESCRIPTION, ACCESSIBLE_TEXT, DISPLAY, ITEM, TOOLTIP
from lorestudio.ui.widgets.paint import KeyQuery
from tests.ui.conftest import check
from tests.ui.worlds import SKARN, make_chat, make_trace

pytestmark = pytest.mark.usefixtures("qapp")


def test_one_row_per_message_and_the_reply_to_come() -> None:
    model = ChatList()
    check(model)
    model.set_chat(make_chat())
    kinds = [model.row(row).speaker for row in range(model.rowCount())]
    assert kinds == [
        Speaker.CHARACTER,
        Speaker.USER,
        Speaker.CHARACTER,
        Speaker.HIDDEN,
        Speaker.USER,
        Speaker.CHARACTER,
        Speaker.USER,
        Speaker.NEXT,
    ]
    model.set_chat(None)
    assert model.rowCount() == 0


def test_what_is_said_is_of_rows_that_there_are() -> None:
    model = ChatList()
    model.set_chat(make_chat())
    first = model.index(0)
    words = model.row(0).describe()
    assert [first.data(role) for role in (ACCESSIBLE_TEXT, ACCESSIBLE_DESCRIPTION)] == [words, words]
    assert (first.data(DISPLAY), first.data(ITEM), first.data(TOOLTIP)) == (model.row(0).text, model.row(0), None)
    assert [model.data(QModelIndex(), role) for role in (DISPLAY, ITEM)] == [None, None]
    assert model.rowCount(first) == 0


def test_chips_and_swipes() -> None:
    model = ChatList()
    model.set_chat(make_chat())
    model.set_traces(lambda message, swipe: make_trace() if (message, swipe) == (2, 0) else None)
    assert (model.row(2).text, model.row(2).swipe, model.row(2).swipes) == ("Dawnkeep stands.", 1, 2)
    assert model.row(2).chip == ""
    model.view_swipe(2, 0)
    assert model.row(2).text == "It fell."
    assert model.row(2).chip == "3 entries · 100 tokens"
    assert "swipe 1 of 2" in model.index(2).data(ACCESSIBLE_TEXT)


def test_whatever_a_row_shows_is_said_in_words() -> None:
    query = KeyQuery((FoundKey(SKARN, "ebb", 0, 0, 3),), 1, "Skarn")
    marks = query.marks(0, "ebb tide")
    badge = ("check", "good", "as recorded")
    row = ChatRow(
        7, "Wren", Speaker.CHARACTER, "ebb tide", 1, 3, "2 entries", marks, False, "damaged", "asked", "hidden", badge
    )
    told = row.describe()
    shown = (
        "7",
        "Wren",
        "character",
        "swipe 2 of 3",
        "2 entries",
        "the key “ebb”",
        "damaged",
        "asked",
        "hidden",
        "as recorded",
        "ebb tide",
    )
    assert [each for each in shown if each not in told] == []


def test_keys_are_marked_where_the_run_looked() -> None:
    model = ChatList()
    model.set_chat(make_chat())
    model.highlight(KeyQuery((FoundKey(SKARN, "skarn"),), 5))
    assert [(mark.start, mark.end) for mark in model.row(4).marks] == [(4, 9)]
    assert not model.row(5).marks  # the reply itself was not searched
    model.highlight(KeyQuery((FoundKey(SKARN, "skarn", 1),), 5))
    assert not model.row(4).marks


def test_a_refine_key_is_marked_apart_from_the_key_and_says_whose_it_is() -> None:
    model = ChatList()
    model.set_chat(make_chat())
    keys = (FoundKey(SKARN, "skarn", 4, 4, 9), FoundKey(SKARN, "crown", 4, 19, 24, refine=True))
    model.highlight(KeyQuery(keys, 5, "Skarn"))
    first, second = model.row(4).marks
    assert (first.start, first.refine, second.start, second.refine) == (4, False, 19, True)
    assert second.words == "“crown” is a refine key of “Skarn”. Its key “skarn” is in #4."
    assert "the key “skarn” was found here, the refine key “crown” was found here" in model.row(4).describe()


def test_a_key_that_is_its_own_refine_key_is_marked_once() -> None:
    query = KeyQuery((FoundKey(SKARN, "ebb", 0, 0, 3), FoundKey(SKARN, "ebb", 0, 0, 3, refine=True)), 1, "Skarn")
    assert [mark.refine for mark in query.marks(0, "ebb tide")] == [False]


def test_a_key_without_its_refine_keys_says_what_is_missing() -> None:
    query = KeyQuery((FoundKey(SKARN, "ebb", 0, 0, 3, missing="None of its refine keys is there."),), 1, "Skarn")
    (mark,) = query.marks(0, "ebb tide")
    assert mark.lacking
    assert mark.words.endswith("None of its refine keys is there.")


def rows(model: ChatList, *messages: int) -> list[str]:
    return [model.row(message).text for message in messages]


def test_a_reply_that_is_coming_stands_where_it_will_be() -> None:
    model, changed = ChatList(), []
    model.set_chat(make_chat())
    model.dataChanged.connect(lambda first, _last: changed.append(first.row()))
    model.write_reply(7, "", "asked")
    assert model.row(7).speaker is Speaker.NEXT  # nothing of it is there yet
    model.write_reply(7, "I fly", "writing…")
    coming = model.row(7)
    assert (coming.speaker, coming.name, coming.text, coming.writing, coming.expanded) == (
        Speaker.CHARACTER, "Ada", "I fly", "writing…", True,
    )  # fmt: skip
    model.write_reply(5, "Another", "writing…")  # a swipe of a message
    assert (model.row(5).text, model.row(5).expanded) == ("Another", True)
    assert model.row(7).text == "I fly"  # as it was asked for last
    model.end_reply()
    assert (model.row(5).text, model.row(5).expanded) == ("Skarn circles above Dawnkeep.", False)
    model.write_reply(99, "Nowhere", "")
    model.end_reply()
    model.end_reply()
    assert changed == [7, 7, 5, 5]


def test_words_beside_a_message_are_in_its_row_and_told_once() -> None:
    model, told = ChatList(), []
    model.set_chat(make_chat())
    model.marks_changed.connect(lambda: told.append(1))
    seen = SeenChat(shown=((1, 2),), assumed=((2, 3),))
    for _twice in range(2):
        model.set_remarks({1: "it is damaged"})
        model.set_badges({(2, 1): ("check", "good", "as recorded")})
        model.look_from(seen)
    assert len(told) == 3
    assert model.row(1).describe() == (
        "message 1, Wren, you, hidden today, in sight then, it is damaged. Tell me about the fortress."
    )
    assert "swipe 2 of 2, beside what was recorded: as recorded, hidden today" in model.row(2).describe()
    assert [model.row(message).seen for message in range(5)] == [
        "", "hidden today, in sight then", "hidden today, in sight then (assumed)", "hidden, then too (assumed)", "",
    ]  # fmt: skip


def test_a_message_folds_out_and_only_messages_can_be_edited() -> None:
    model = ChatList()
    model.set_chat(make_chat())
    model.toggle_expanded(1)
    assert [model.row(message).expanded for message in (1, 2)] == [True, False]
    model.toggle_expanded(1)
    assert not model.row(1).expanded
    editable = [bool(model.flags(model.index(row)) & Qt.ItemFlag.ItemIsEditable) for row in range(8)]
    assert editable == [True] * 7 + [False]
    assert [model.data(model.index(0), role) for role in (DISPLAY, ITEM)] == ["Welcome, traveller.", model.row(0)]
    assert model.index(8).data(DISPLAY) is None


def test_swipes_beyond_the_end_are_those_of_nothing() -> None:
    model = ChatList()
    model.set_chat(make_chat())
    assert [(model.viewed_swipe(message), model.swipes(message)) for message in (0, 2, 7)] == [(0, 1), (1, 2), (0, 1)]
    model.view_swipe(7, 3)
    assert model.viewed_swipe(7) == 0
    model.view_swipe(2, 0)
    assert (model.viewed_swipe(2), rows(model, 2)) == (0, ["It fell."])
    model.set_chat(make_chat())
    assert model.viewed_swipe(2) == 1
    assert model.chat is not None
    assert model.lengths()[0] == len("Welcome, traveller.")


def test_a_chip_says_what_went_in() -> None:
    trace = make_trace()
    assert chip_text(None) == ""
    assert chip_text(replace(trace, injections=())) == "nothing injected"
    assert chip_text(replace(trace, injections=trace.injections[:1])) == "1 entry · 10 tokens"


def test_new_runs_are_asked_for_anew() -> None:
    model, runs = ChatList(), {}
    model.set_chat(make_chat())
    model.set_traces(lambda message, _swipe: runs.get(message))
    assert (model.row(5).chip, model.row(7).chip) == ("", "")
    runs |= {5: make_trace(), 7: make_trace()}
    model.refresh((5,))
    assert (model.row(5).chip, model.row(7).chip) == ("3 entries · 100 tokens", "")
    model.refresh()
    assert model.row(7).chip == "3 entries · 100 tokens"


letters = st.lists(st.sampled_from("abcdef"), max_size=6)


@given(letters, letters)
def test_a_changed_chat_is_shown_as_if_it_were_another_and_what_is_unfolded_stays(before: str, after: str) -> None:
    one, two = (
        Chat(tuple(Message("Ada", text, send_date=text, swipes=("old", text), swipe_id=1) for text in texts))
        for texts in (before, after)
    )
    model = ChatList()
    check(model)
    model.set_chat(one)
    for place in range(0, len(before), 2):
        model.toggle_expanded(place)
        model.view_swipe(place, 0)
    places = places_in(two.messages, one.messages)
    rows_before = [model.row(place).text for place in range(model.rowCount())]
    kept = [QPersistentModelIndex(model.index(place)) for place in range(len(before))]
    assert [model.data(index) for index in map(QModelIndex, kept)] == rows_before[:-1]
    model.change_chat(two, places)
    shown = ChatList()
    shown.set_chat(two)
    for was in range(0, len(before), 2):
        if was in places:
            shown.view_swipe(places[was], 0)
    assert [model.row(place).text for place in range(model.rowCount())] == [
        shown.row(place).text for place in range(shown.rowCount())
    ]
    assert {was: index.row() for was, index in enumerate(kept) if index.isValid()} == places
    unfolded = {place for place in range(len(after)) if model.row(place).expanded}
    assert unfolded == {now for was, now in places.items() if was % 2 == 0}


def test_the_swipe_that_is_shown_stays_while_the_swipes_are_the_same() -> None:
    model, chat = ChatList(), make_chat()
    model.set_chat(chat)
    model.view_swipe(2, 0)
    changed: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, last: changed.append((first.row(), last.row())))

    def change(after: Chat) -> None:
        assert model.chat is not None
        model.change_chat(after, places_in(after.messages, model.chat.messages))

    hidden = chat.with_message(2, replace(chat.messages[2], is_system=True))
    change(replace(hidden, messages=(Message("Ada", "First."), *hidden.messages)))
    assert (model.viewed_swipe(3), model.row(3).text, changed) == (0, "It fell.", [(3, 3)])
    change(hidden)
    assert model.viewed_swipe(2) == 0
    swiped = replace(chat.messages[2], text="c", swipes=("It fell.", "Dawnkeep stands.", "c"), swipe_id=2)
    change(chat.with_message(2, swiped))
    assert (model.viewed_swipe(2), model.row(2).text) == (2, "c")
