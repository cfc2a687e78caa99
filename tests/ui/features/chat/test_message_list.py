"""A long chat: only what is in sight is measured, and what is looked at stays where it is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.ui.features.chat.delegate import _AVATAR, _EDGE, _GAP
from lorestudio.ui.features.chat.message_list import MessageList
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.worlds import make_project

ROWS = 2000


def long_chat() -> Chat:
    """Messages of one to some forty lines, and wide ones that a guess by length gets wrong."""
    texts = ("A word.", "Words and words. " * 40, "WWWW MMMM " * 15, "i l i l i l " * 30)
    return Chat(tuple(Message("Wren", f"{n} {texts[n % 4]}", is_user=n % 2 == 1) for n in range(ROWS)), "Wren", "Ann")


@pytest.fixture
def view(make_window: Callable[..., MainWindow]) -> MessageList:
    window = make_window(replace(make_project(), chat=long_chat()), replay=False)
    QApplication.processEvents()
    window.chat.choose(0)
    QApplication.processEvents()
    return window.chat.view


def row_at(view: MessageList, y: int) -> int:
    return view.indexAt(QPoint(5, y)).row()


def true_height(view: MessageList, row: int) -> int:
    return view.itemDelegate().sizeHint(QStyleOptionViewItem(), view.model().index(row, 0)).height()


def test_only_rows_that_came_into_sight_are_measured(view: MessageList) -> None:
    assert view.model().rowCount() == ROWS + 1
    assert 0 < view.measured < 100


def test_rows_in_sight_have_their_true_height_and_follow_each_other(view: MessageList) -> None:
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    first, last = row_at(view, 0), row_at(view, view.viewport().height() - 1)
    assert 0 < first < last < ROWS
    rects = [view.visualRect(view.model().index(row, 0)) for row in range(first, last + 1)]
    assert [rect.height() for rect in rects] == [true_height(view, row) for row in range(first, last + 1)]
    assert all(one.bottom() + 1 == other.top() for one, other in pairwise(rects))


def test_a_guess_goes_on_in_another_line_where_the_room_beside_the_picture_ends(view: MessageList) -> None:
    guess, width, metrics = view.itemDelegate().guess, 600, view.itemDelegate().wrapper().metrics
    fits = int((width - 2 * _EDGE - _AVATAR - _GAP) // metrics.averageCharWidth())
    assert guess(1, width) == guess(fits, width) < guess(fits + 1, width) < guess(3 * fits, width)
    assert guess(7 * fits, width) - guess(fits, width) == pytest.approx(6 * 1.12 * metrics.height(), abs=1)


@pytest.mark.parametrize("row", [0, 1, 777, ROWS - 1, ROWS])
def test_any_row_can_be_brought_into_sight(view: MessageList, row: int) -> None:
    view.scrollTo(view.model().index(row, 0))
    rect = view.visualRect(view.model().index(row, 0))
    assert rect.top() >= 0 or rect.height() > view.viewport().height()
    assert rect.top() < view.viewport().height()
    assert rect.bottom() < view.viewport().height() or rect.height() > view.viewport().height()


@pytest.mark.parametrize("row", [402, 1202])
def test_a_row_just_out_of_sight_leaves_no_gap_when_it_is_brought_into_sight(view: MessageList, row: int) -> None:
    bar = view.verticalScrollBar()
    view.scrollTo(view.model().index(row, 0))
    bar.setValue(view.visualRect(view.model().index(row, 0)).top() + bar.value() - view.viewport().height() - 40)
    view.reset()  # other rows: their heights are guessed again
    view.scrollTo(view.model().index(row, 0))
    rects = [view.visualRect(view.model().index(near, 0)) for near in range(row - 2, row + 2)]
    assert all(one.bottom() + 1 == other.top() for one, other in pairwise(rects))
    assert rects[2].height() == true_height(view, row)


def test_scrolling_up_shows_every_row_and_never_jumps(view: MessageList) -> None:
    bar = view.verticalScrollBar()
    view.scrollTo(view.model().index(1000, 0))
    seen = [row_at(view, 0)]
    for _ in range(150):
        place = view.visualRect(view.model().index(seen[-1], 0)).top()
        before = bar.value()
        bar.setValue(before - 40)
        # What was on top has gone down by what was scrolled, however the rows above it turned out.
        assert view.visualRect(view.model().index(seen[-1], 0)).top() == place + 40
        seen.append(row_at(view, 0))
    assert seen == sorted(seen, reverse=True)
    assert {earlier - later for earlier, later in pairwise(seen)} <= {0, 1}


def test_the_end_can_be_reached_and_is_the_end(view: MessageList) -> None:
    for _ in range(4):
        view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    rect = view.visualRect(view.model().index(ROWS, 0))
    assert rect.bottom() + 1 == view.viewport().height()


def test_keys_lead_where_they_say(view: MessageList) -> None:
    view.setFocus()
    for key, row in ((Qt.Key.Key_Down, 1), (Qt.Key.Key_Down, 2), (Qt.Key.Key_Up, 1)):
        QTest.keyClick(view, key)
        assert view.currentIndex().row() == row
    QTest.keyClick(view, Qt.Key.Key_PageDown)
    assert view.currentIndex().row() > 1
    for _ in range(5):
        QTest.keyClick(view, Qt.Key.Key_PageUp)
    assert view.currentIndex().row() == 0


def test_a_click_chooses_the_row_under_it(view: MessageList) -> None:
    view.scrollTo(view.model().index(500, 0))
    rect = view.visualRect(view.model().index(500, 0))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert view.currentIndex().row() == 500


@pytest.mark.dressed
def test_another_width_keeps_the_chosen_row_in_sight(view: MessageList) -> None:
    view.setCurrentIndex(view.model().index(1200, 0))
    view.scrollTo(view.model().index(1200, 0))
    view.resize(view.width() - 90, view.height())
    QTest.qWait(20)
    rect = view.visualRect(view.model().index(1200, 0))
    assert rect.intersects(view.viewport().rect())
    assert rect.height() == true_height(view, 1200)


def test_an_opened_message_is_measured_again(view: MessageList) -> None:
    row = 1
    before = view.visualRect(view.model().index(row, 0)).height()
    view.model().toggle_expanded(row)
    after = view.visualRect(view.model().index(row, 0)).height()
    assert after == true_height(view, row) > before
