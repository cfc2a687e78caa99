"""The rows of the chat: who speaks, what went in, and where the found keys stand."""

from __future__ import annotations

import pytest

from lorestudio.trace.matching.found_keys import FoundKey
from lorestudio.ui.features.chat.model import ChatList, Speaker
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT
from lorestudio.ui.widgets.marks import KeyQuery
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
