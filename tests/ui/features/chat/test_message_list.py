"""A long chat: only what is in sight is measured, and what is looked at stays where it is."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt
from PySide6.QtGui import QPainter, QStandardItem, QStandardItemModel
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.ui.features.chat.delegate import _AVATAR, _EDGE, _GAP
from lorestudio.ui.features.chat.message_list import MessageList
from lorestudio.ui.features.chat.reply import EndKeeper
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import drain
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
    assert 0 < len(view._true) < 100


def test_rows_in_sight_have_their_true_height_and_follow_each_other(view: MessageList) -> None:
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    first, last = row_at(view, 0), row_at(view, view.viewport().height() - 1)
    assert 0 < first < last < ROWS
    rects = [view.visualRect(view.model().index(row, 0)) for row in range(first, last + 1)]
    assert [rect.height() for rect in rects] == [true_height(view, row) for row in range(first, last + 1)]
    assert all(one.bottom() + 1 == other.top() for one, other in pairwise(rects))


@pytest.mark.always
def test_where_nothing_moves_slowly_the_end_is_kept_at_once(view: MessageList) -> None:
    bar, keeper = view.verticalScrollBar(), EndKeeper(view)
    view.hide()
    bar.setValue(bar.maximum())
    keeper.start()
    bar.setMaximum(bar.maximum() + 500)
    assert bar.value() == bar.maximum()
    bar.setValue(bar.value() - 200)
    bar.setMaximum(bar.maximum() + 500)
    assert (bar.maximum() - bar.value(), keeper.following) == (700, False)
    keeper.stop()


def test_the_end_is_followed_while_something_comes_and_the_person_leaves_it_there(qtbot: QtBot) -> None:
    view = QPlainTextEdit("Fog.\n" * 200)
    view.settling = False
    qtbot.addWidget(view)
    view.resize(200, 100)
    view.show()
    keeper, bar = EndKeeper(view), view.verticalScrollBar()
    end, followed = bar.maximum(), []

    def scroll(*places: int) -> None:
        for place in places:
            bar.setValue(place)
            followed.append(keeper.following)

    scroll(0, end)
    keeper.start()
    scroll(end - 50, end - 40, end)
    view.settling = True  # heights are found out, and nobody scrolls
    scroll(0, end)
    keeper.stop()
    scroll(0, end)
    assert followed == [False, False, False, False, True, True, True, False, False]


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
    assert [index.row() for index in view.selectionModel().selectedIndexes()] == [500]


@pytest.mark.dressed
def test_another_width_keeps_the_chosen_row_in_sight(view: MessageList) -> None:
    view.setCurrentIndex(view.model().index(1200, 0))
    view.scrollTo(view.model().index(1200, 0))
    view.resize(view.width() - 90, view.height())
    QTest.qWait(20)
    rect = view.visualRect(view.model().index(1200, 0))
    assert rect.intersects(view.viewport().rect())
    assert rect.height() == true_height(view, 1200)


@pytest.mark.dressed
def test_another_width_leaves_what_is_read_away_from_the_chosen_row(view: MessageList) -> None:
    view.setCurrentIndex(view.model().index(1200, 0))
    view.scrollTo(view.model().index(1200, 0))
    view.scrollTo(view.model().index(300, 0), MessageList.ScrollHint.PositionAtTop)
    for width in (view.width() - 90, view.width()):
        view.resize(width, view.height())
        drain()
        assert row_at(view, 0) == 300
    view.resize(view.width() - 90, view.height())
    drain()
    assert row_at(view, 0) == 300


def test_an_opened_message_is_measured_again(view: MessageList) -> None:
    row = 1
    before = view.visualRect(view.model().index(row, 0)).height()
    view.model().toggle_expanded(row)
    after = view.visualRect(view.model().index(row, 0)).height()
    assert after == true_height(view, row) > before


def test_a_message_that_is_edited_comes_into_sight(view: MessageList) -> None:
    window = view.window()
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    view.setCurrentIndex(view.model().index(3, 0))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    assert row_at(view, 0) > 100
    window.run("message.edit")
    assert row_at(view, 0) <= 3
    field = view.viewport().findChild(QPlainTextEdit)
    assert view.viewport().rect().contains(field.geometry())
    QTest.keyClick(field, Qt.Key.Key_Escape)
    drain()


# ---- a list of its own -----------------------------------------------------------------------------------------------


class Painted(QStyledItemDelegate):
    """Rows of 30 pixels, and of each how it was painted last."""

    def __init__(self, view: MessageList) -> None:
        super().__init__(view)
        self.states: dict[int, QStyle.StateFlag] = {}
        self.heights: list[int] = []

    def sizeHint(self, _option: object, index: QModelIndex) -> QSize:  # noqa: N802 (Qt's name)
        return QSize(100, self.heights[index.row()] if self.heights else 30)

    def paint(
        self, _painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        self.states[index.row()] = option.state

    def rows(self, flag: QStyle.StateFlag) -> list[int]:
        return sorted(row for row, state in self.states.items() if state & flag)


def short_list(qtbot: QtBot, rows: int) -> tuple[MessageList, Painted]:
    view = MessageList()
    qtbot.addWidget(view)
    model = QStandardItemModel(view)
    for number in range(rows):
        model.appendRow(QStandardItem(f"row {number}"))
    delegate = Painted(view)
    view.setItemDelegate(delegate)
    view.setModel(model)
    view.set_guess(lambda: [1] * rows, lambda _length, _width: 30)
    view.setMouseTracking(True)
    view.setFrameShape(MessageList.Shape.NoFrame)
    view.resize(200, 300)
    view.show()
    qtbot.waitExposed(view)
    return view, delegate


def test_rows_are_painted_as_chosen_under_the_mouse_and_with_the_keyboard(qtbot: QtBot) -> None:
    view, delegate = short_list(qtbot, 5)
    flags = QStyle.StateFlag
    view.setCurrentIndex(view.model().index(1, 0))
    view.setFocus()
    qtbot.waitUntil(lambda: delegate.rows(flags.State_Enabled) == [0, 1, 2, 3, 4])
    for y, row in ((75, 2), (105, 3), (75, 2)):
        delegate.states.clear()
        QTest.mouseMove(view.viewport(), QPoint(5, y))
        qtbot.waitUntil(lambda row=row: delegate.rows(flags.State_MouseOver) == [row])
    assert delegate.rows(flags.State_Enabled) == [2, 3], "the row that the mouse left is painted, too"
    view.viewport().grab()
    assert delegate.rows(flags.State_Selected) == [1]
    assert delegate.rows(flags.State_MouseOver) == [2]
    assert delegate.rows(flags.State_HasFocus) == [1]
    QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
    view.clearFocus()
    view.viewport().grab()
    assert delegate.rows(flags.State_MouseOver) == []
    assert delegate.rows(flags.State_HasFocus) == []
    assert delegate.rows(flags.State_Selected) == [1]


def test_the_first_key_leads_to_the_first_row_and_others_to_the_ends(qtbot: QtBot) -> None:
    view, _delegate = short_list(qtbot, 50)
    for first in (Qt.Key.Key_PageDown, Qt.Key.Key_Up):
        view.selectionModel().clear()
        QTest.keyClick(view, first)
        assert view.currentIndex().row() == 0
    view.selectionModel().clear()
    seen = []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Home, Qt.Key.Key_Up,
                Qt.Key.Key_PageDown, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp, Qt.Key.Key_Down):  # fmt: skip
        QTest.keyClick(view, key)
        seen.append(view.currentIndex().row())
    assert seen == [0, 49, 49, 48, 0, 0, 10, 20, 10, 11]  # ten rows of 30 pixels are a page
    view.set_guess(lambda: [1] * 50, lambda _length, _width: 60)
    QTest.keyClick(view, Qt.Key.Key_PageDown)  # before they were painted as high as they are now
    assert view.currentIndex().row() == 16


def test_laid_out_anew_the_rows_have_the_heights_of_now_at_once(qtbot: QtBot) -> None:
    view, delegate = short_list(qtbot, 5)
    drain()
    delegate.heights = [100] * 5
    view.doItemsLayout()
    assert view.verticalScrollBar().maximum() == 5 * 100 - 300


def test_a_page_is_one_row_at_least(qtbot: QtBot) -> None:
    view, _delegate = short_list(qtbot, 5)
    view.resize(200, 20)
    drain()
    seen = []
    for key in (Qt.Key.Key_Home, Qt.Key.Key_PageDown, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp):
        QTest.keyClick(view, key)
        seen.append(view.currentIndex().row())
    assert seen == [0, 1, 2, 1]


def test_a_list_without_rows_takes_keys_and_clicks(qtbot: QtBot) -> None:
    view, delegate = short_list(qtbot, 0)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_PageUp):
        QTest.keyClick(view, key)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert not view.currentIndex().isValid()
    assert view.top() == (0, 0)
    view.put_top(3, 0)
    assert delegate.states == {}


def test_a_click_below_all_rows_chooses_none(qtbot: QtBot) -> None:
    view, _delegate = short_list(qtbot, 3)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 89))
    assert view.currentIndex().row() == 2
    assert not view.indexAt(QPoint(5, 90)).isValid()
    assert not view.indexAt(QPoint(5, -1)).isValid()
    assert view.indexAt(QPoint(5, 0)).row() == 0


def test_what_is_on_top_is_put_there_again(qtbot: QtBot) -> None:
    view, _delegate = short_list(qtbot, 50)
    view.verticalScrollBar().setValue(100)
    assert view.top() == (3, -10)
    view.verticalScrollBar().setValue(0)
    view.put_top(3, -10)
    assert view.verticalScrollBar().value() == 100
    view.put_top(99, 0)
    assert view.verticalScrollBar().value() == 50 * 30 - 300


@pytest.mark.parametrize(
    ("start", "row", "hint", "value"),
    [
        (0, 5, MessageList.ScrollHint.EnsureVisible, 0),  # in sight already
        (0, 9, MessageList.ScrollHint.EnsureVisible, 0),
        (0, 10, MessageList.ScrollHint.EnsureVisible, 30),
        (300, 9, MessageList.ScrollHint.EnsureVisible, 270),
        (301, 10, MessageList.ScrollHint.EnsureVisible, 300),
        (0, 5, MessageList.ScrollHint.PositionAtTop, 150),
        (90, 9, MessageList.ScrollHint.PositionAtBottom, 0),
        (0, 20, MessageList.ScrollHint.PositionAtCenter, 600 + 14 - 150),
    ],
)
def test_a_row_comes_into_sight_where_it_is_wanted(
    qtbot: QtBot, start: int, row: int, hint: MessageList.ScrollHint, value: int
) -> None:
    view, _delegate = short_list(qtbot, 50)
    view.verticalScrollBar().setValue(start)
    view.scrollTo(view.model().index(row, 0), hint)
    assert view.verticalScrollBar().value() == value


@pytest.mark.parametrize(("row", "start", "value"), [(0, 29, 0), (0, 30, 30), (10, 0, 0), (10, 1, 30), (-1, 7, 7)])
def test_another_width_brings_the_chosen_row_back_where_any_of_it_was_in_sight(
    qtbot: QtBot, row: int, start: int, value: int
) -> None:
    view, _delegate = short_list(qtbot, 50)
    view.setCurrentIndex(view.model().index(row, 0))
    view.verticalScrollBar().setValue(start)
    view.resize(view.width() + 40, view.height())
    drain()
    assert view.verticalScrollBar().value() == value


@pytest.mark.parametrize(("start", "value"), [(0, 80), (120, 120), (30, 80), (200, 200)])
def test_where_the_list_gets_lower_the_chosen_row_stays_in_sight(qtbot: QtBot, start: int, value: int) -> None:
    view, _delegate = short_list(qtbot, 50)
    view.resize(view.width(), 299)
    drain()  # the scroll bar came, which took of the width
    view.setCurrentIndex(view.model().index(5, 0))  # 150 to 180
    view.verticalScrollBar().setValue(start)
    view.resize(view.width(), 100)
    drain()
    assert view.verticalScrollBar().value() == value


@pytest.mark.parametrize(
    ("start", "heights", "value"), [(0, (90, 120), 0), (70, (110, 120), 70), (350, (110, 120), 350), (0, (25,), 30)]
)
def test_who_reads_the_middle_of_a_long_chosen_row_stays_there_where_the_list_gets_lower_or_higher(
    qtbot: QtBot, start: int, heights: tuple[int, ...], value: int
) -> None:
    """A bar above the chat, and each line more that is written below it, led back to the row's beginning."""
    view, delegate = short_list(qtbot, 10)
    delegate.heights = [30, 400, *[30] * 8]
    view.resize(view.width(), 120)
    view.reset()
    drain()
    view.setCurrentIndex(view.model().index(1, 0))  # 30 to 430
    view.verticalScrollBar().setValue(start)
    for height in heights:
        view.resize(view.width(), height)
        drain()
        assert view.verticalScrollBar().value() == value


@pytest.mark.parametrize("seed", [1, 32, 34, 92])
def test_rows_of_other_heights_than_guessed_come_where_they_are_wanted(qtbot: QtBot, seed: int) -> None:
    rnd, hints = random.Random(seed), MessageList.ScrollHint
    view, delegate = short_list(qtbot, 60)
    delegate.heights = [rnd.choice([20, 30, 60, 150, 290, 20, 90]) for _ in range(60)]
    view.set_guess(lambda: [1] * 60, lambda _length, _width: rnd.choice([30, 100]))
    view.reset()
    for _ in range(20):
        row, hint = rnd.randrange(60), rnd.choice([*hints])
        view.scrollTo(view.model().index(row, 0), hint)
        rect, value = view.visualRect(view.model().index(row, 0)), view.verticalScrollBar().value()
        assert rect.height() == delegate.heights[row]
        assert view.viewport().rect().contains(rect)
        wanted = {
            hints.PositionAtTop: rect.top(),
            hints.PositionAtBottom: rect.bottom() - 299,
            hints.PositionAtCenter: rect.center().y() - 150,
        }
        at_an_end = value in (0, view.verticalScrollBar().maximum())
        assert at_an_end or hint not in wanted or wanted[hint] == 0 or rect.top() == 0


def test_rows_that_come_and_go_have_their_place(qtbot: QtBot) -> None:
    view, _delegate = short_list(qtbot, 5)
    model = view.model()
    assert isinstance(model, QStandardItemModel)
    for change, rows in (
        (lambda: model.appendRow(QStandardItem("new")), 6),
        (lambda: model.insertRow(0, QStandardItem("first")), 7),
        (lambda: model.removeRows(0, 3), 4),
        (model.clear, 0),
    ):
        change()
        assert [view.visualRect(model.index(row, 0)).top() for row in range(rows)] == [30 * row for row in range(rows)]
        assert view.indexAt(QPoint(5, 30 * rows - 1)).row() == rows - 1
        assert not view.indexAt(QPoint(5, 30 * rows)).isValid()
    view.setModel(None)
    assert not view.indexAt(QPoint(5, 5)).isValid()


def test_what_is_in_sight_stays_there_where_rows_above_come_and_go(view: MessageList) -> None:
    window = view.window()
    assert isinstance(window, MainWindow)
    session, chat = window.session, long_chat()
    window.chat.choose(1001)
    view.scrollTo(view.model().index(1000), view.ScrollHint.PositionAtTop)
    drain()

    def in_sight() -> tuple[str, int, str]:
        row, above = view.top()
        return view.model().index(row).data(), above, view.currentIndex().data()

    before = in_sight()
    for after in (
        replace(chat, messages=chat.messages[7:]),
        chat,
        replace(chat, messages=(*chat.messages, Message("Ann", "More."))),
    ):
        project = session.project
        assert project is not None
        session.set_project(replace(project, chat=after), renewed="The chat went on.")
        drain()
        assert in_sight() == before
