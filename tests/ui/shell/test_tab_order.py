"""Tab and Shift+Tab through the whole window."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, groupby

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QDockWidget, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.layout import WORKSPACES
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import move_keyboard, stops
from lorestudio.ui.widgets.layouts import column
from tests.ui.conftest import drain, settle
from tests.ui.shell.conftest import dialogs
from tests.ui.shell.test_accessible import said_of
from tests.ui.shell.test_room import pages
from tests.ui.worlds import SKARN

pytestmark = pytest.mark.dressed


def test_where_nothing_takes_the_keyboard_tab_moves_it_nowhere(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    line = column(QLabel("Words", window), of=window)
    assert [move_keyboard(window, forward=forward) for forward in (True, False)] == [False, False]
    parts = [QLineEdit(window), QPushButton("One", window), QLineEdit(window)]
    for each in parts:
        line.addWidget(each)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    parts[-1].setFocus()
    for forward, place in ((True, 0), (True, 1), (True, 2), (True, 0), (False, 2), (False, 1)):
        assert move_keyboard(window, forward=forward)
        assert QApplication.focusWidget() is parts[place]
    parts[1].setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    hints = QApplication.styleHints()
    usual = hints.tabFocusBehavior()
    for all_of_them in (True, False):  # on macOS a person may want Tab to come to fields alone
        kinds = Qt.TabFocusBehavior
        hints.setTabFocusBehavior(kinds.TabFocusAllControls if all_of_them else kinds.TabFocusTextControls)
        parts[1].setFocusPolicy(Qt.FocusPolicy.TabFocus)
        parts[0].setFocus()
        assert (parts[1] in stops(window)) is all_of_them
    hints.setTabFocusBehavior(usual)


def test_tab_comes_to_what_begins_left_of_its_view(qtbot: QtBot) -> None:
    """A view that is scrolled has a part of it outside; Tab failed there."""
    window = QWidget()
    qtbot.addWidget(window)
    parts = [QLineEdit(window), QLineEdit(window)]
    for each, left in zip(parts, (-30, 90), strict=True):
        each.setGeometry(left, 10, 100, 20)
    window.resize(300, 60)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    parts[1].setFocus()
    assert stops(window) == parts[:1]


def walked(start: QWidget, key: Qt.Key, most: int = 400, *, within: QWidget | None = None) -> list[QWidget]:
    """What gets the keyboard until it comes back to the start, or leaves what it should go through.

    Links in a text are gone through one by one.
    """
    start.setFocus()
    seen = [start]
    for _ in range(most):
        QTest.keyClick(QApplication.focusWidget(), key)
        now = QApplication.focusWidget()
        if now is start or (within is not None and not within.isAncestorOf(now)):
            return seen
        if now is not seen[-1]:
            assert now not in seen, f"{now} comes twice"
            seen.append(now)
    raise AssertionError(f"it never comes back from {seen[-1]}")


def in_sight(whole: QWidget) -> set[QWidget]:
    """What of a window, a pane or a dialog Tab should come to."""
    return {
        each
        for each in whole.findChildren(QWidget)
        if each.isEnabled() and each.focusPolicy() & Qt.FocusPolicy.TabFocus and each.focusProxy() is None
        and not each.visibleRegion().isEmpty() and each.window() is whole.window()
    }  # fmt: skip


def pane_of(widget: QWidget) -> str:
    while widget is not None and not isinstance(widget, QDockWidget):
        widget = widget.parentWidget()
    return "" if widget is None else widget.objectName()


@pytest.mark.parametrize("workspace", WORKSPACES, ids=lambda each: each.name)
def test_tab_comes_to_everything_in_sight_both_ways_and_pane_by_pane(window, workspace) -> None:
    window.selection.choose_entry(SKARN)
    window.run(f"workspace.{workspace.name}")
    settle(window)
    start = window.features.window.buttons[0]
    forward = walked(start, Qt.Key.Key_Tab)
    backward = walked(start, Qt.Key.Key_Backtab)
    assert backward == [start, *reversed(forward[1:])]
    assert in_sight(window) <= set(forward)
    behind = {dock.objectName() for dock in window.docks.values() if dock.visibleRegion().isEmpty()}
    panes = [name for name, _ in groupby(forward, pane_of) if name]
    assert not behind & set(panes)
    assert len(panes) == len(set(panes))


def test_a_pane_in_a_window_of_its_own_has_the_same_order(window) -> None:
    window.selection.choose_entry(SKARN)
    window.show_pane("entry")
    settle(window)
    form, dock = window.entry.editor.form, window.docks["entry"]
    dock.setFloating(True)
    dock.activateWindow()
    drain()
    reached = walked(window.entry.editor.toggle, Qt.Key.Key_Backtab)
    fields = [form.row(name).field.focusProxy() for name in form.names]
    assert [each for each in reversed(reached) if each in fields] == fields
    assert {dock} == {each.window() for each in reached}
    for key, name in ((Qt.Key.Key_1, "vault"), (Qt.Key.Key_3, "entry")):
        QTest.keyClick(QApplication.focusWidget(), key, Qt.KeyboardModifier.ControlModifier)
        drain()
        assert window.docks[name].pane.isAncestorOf(QApplication.focusWidget()), "the keyboard goes to the other window"


def place_beside(widget: QWidget, other: QWidget) -> QRect:
    """Where a widget lies, compared with another: what scrolls without the other one lies where its area does."""
    seen, around = widget, widget.parentWidget()
    while not around.isAncestorOf(other):
        seen = around if isinstance(around, QAbstractScrollArea) else seen
        around = around.parentWidget()
    return QRect(seen.mapTo(seen.window(), seen.rect().topLeft()), seen.size())


def turned_back(order: list[QWidget]) -> Iterator[str]:
    """What comes after another though it stands above it, in the same column, or left of it, in the same line."""
    for earlier, later in combinations(order, 2):
        if earlier.isAncestorOf(later):
            continue
        one, other = place_beside(earlier, later), place_beside(later, earlier)
        in_line = one.top() <= other.bottom() and other.top() <= one.bottom()
        in_column = one.left() <= other.right() and other.left() <= one.right()
        if (in_column and other.bottom() < one.top()) or (in_line and other.right() < one.left()):
            yield f"{said_of(later)} after {said_of(earlier)}"


def test_tab_goes_through_each_pane_as_it_is_read(studio: MainWindow) -> None:
    for name, dock in studio.docks.items():
        studio.show_pane(name)
        settle(studio)
        for _ in pages(dock):
            studio.features.window.buttons[0].setFocus()
            first = next(each for each in stops(studio) if dock.isAncestorOf(each))
            order = walked(first, Qt.Key.Key_Tab, within=dock)
            assert in_sight(dock) <= set(order), name
            assert list(turned_back(order)) == [], name


def test_tab_goes_through_each_dialog_as_it_is_read(studio: MainWindow) -> None:
    seen = 0
    for name, dialog in dialogs(studio):
        for _ in pages(dialog):
            order = walked(QApplication.focusWidget(), Qt.Key.Key_Tab)
            assert in_sight(dialog) <= set(order), name
            begun = [[*order[place:], *order[:place]] for place in range(len(order))]  # it may begin further down
            assert min(map(list, map(turned_back, begun)), key=len) == [], name
            seen += 1
    assert seen > 40
