"""Two parts beside each other, or below each other where there is little room."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.pane import (
    ElidedLabel,
    EmptyState,
    FoldingRow,
    MessageBar,
    Pane,
    PaneDock,
    PaneTitle,
    PlannedPane,
)
from tests.ui.conftest import drain
from tests.ui.drawing import words_drawn

pytestmark = pytest.mark.dressed


def test_the_second_part_goes_below_where_both_do_not_fit(qtbot: QtBot) -> None:
    first, second = ElidedLabel(), QLabel("what it is")
    first.setText("A title of some length")
    row = FoldingRow(first, second)
    qtbot.addWidget(row)
    row.resize(600, 60)
    row.show()
    drain()
    assert not row.folded
    assert second.geometry().left() >= first.geometry().right()
    row.resize(first.sizeHint().width() + 20, 60)
    drain()
    assert row.folded
    assert second.geometry().top() >= first.geometry().bottom()
    first.setText("A")
    drain()
    assert not row.folded


def test_a_label_can_be_narrower_than_its_text(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.setText("A title of some length")
    assert label.minimumSizeHint().width() < label.sizeHint().width() // 2


class Watched(Pane):
    """Knows whether somebody sees it."""

    seen: bool | None = None

    def set_seen(self, seen: bool) -> None:
        self.seen = seen


def test_a_pane_knows_whether_it_is_seen_also_before_and_behind_another(qtbot: QtBot, theme: Theme) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    panes = [Watched(name, name, theme) for name in ("Vault", "Search")]
    docks = [PaneDock(PlannedPane(pane.name, pane.title, lambda pane=pane: pane), theme, window) for pane in panes]
    for dock, pane in zip(docks, panes, strict=True):
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
        dock.take(pane)
    assert [pane.seen for pane in panes] == [False, False]
    window.tabifyDockWidget(*docks)
    window.show()
    for front in (0, 1, 0):
        docks[front].raise_()
        drain()
        assert [pane.seen for pane in panes] == [front == 0, front == 1]
    docks[0].hide()
    drain()
    assert [pane.seen for pane in panes] == [False, True]


def test_the_bar_of_a_dock_takes_it_out_of_the_window_and_puts_it_back(qtbot: QtBot, theme: Theme) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    dock = QDockWidget("Budget", window)
    bar = PaneTitle(dock, "Budget", theme)
    dock.setTitleBarWidget(bar)
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    window.show()
    floats, closes = bar.findChildren(QToolButton)
    assert (floats.accessibleName(), closes.accessibleName()) == ("Float Budget", "Close Budget")
    for floating in (True, False):
        floats.click()
        assert dock.isFloating() is floating
    closes.click()
    assert dock.isHidden()


def test_a_label_leaves_its_last_parts_out_where_there_is_no_room(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.setText("Reply #5 · 5 entries · without 1 broken note")
    seen: dict[str, None] = {}
    for width in range(600, 80, -20):
        label.resize(width, 20)
        seen |= dict.fromkeys(words_drawn(label))
    assert list(seen) == ["Reply #5 · 5 entries · without 1 broken note", "Reply #5 · 5 entries", "Reply #5"]


def test_the_first_button_of_an_empty_pane_takes_the_keyboard(qtbot: QtBot, theme: Theme) -> None:
    empty = EmptyState(theme, "trace")
    qtbot.addWidget(empty)
    empty.show()
    told: list[str] = []
    empty.pressed.connect(told.append)
    empty.say("No chat", "Open one.", (("chat.open", "Open…"), ("chat.new", "New…")))
    assert (empty.accessibleName(), empty.accessibleDescription()) == ("No chat", "Open one.")
    drain()
    empty.focus_first()
    first, second = empty.findChildren(QPushButton)
    assert (first.text(), empty.focusWidget() is first) == ("Open…", True)
    assert (first.property("kind") == "primary", second.property("kind") == "primary") == (True, False)
    second.click()
    assert told == ["chat.new"]


@pytest.mark.parametrize("stacked", [True, False])
def test_a_message_goes_with_its_cross_and_is_answered_by_its_buttons(
    qtbot: QtBot, theme: Theme, stacked: bool
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    bar = MessageBar(theme, parent, stacked=stacked)
    told: list[str] = []
    bar.closed.connect(lambda: told.append("closed"))
    bar.pressed.connect(told.append)
    parent.show()
    assert bar.isHidden()
    bar.say("It was written.", "good", (("undo", "Undo"),), "vault/Bell.md")
    assert (bar.isVisible(), bar.tone, bar.accessibleName()) == (True, "good", "It was written.")
    assert bar.label.toolTip() == "vault/Bell.md"
    next(each for each in bar.findChildren(QPushButton) if each.text() == "Undo").click()
    assert (told, bar.isVisible()) == (["undo"], True)
    next(each for each in bar.findChildren(QToolButton) if each.accessibleName() == "Dismiss this message").click()
    assert (told, bar.isHidden()) == (["undo", "closed"], True)
