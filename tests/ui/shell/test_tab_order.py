"""Tab and Shift+Tab through the whole window."""

from __future__ import annotations

from itertools import groupby

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget

from lorestudio.ui.shell.layout import WORKSPACES
from tests.ui.conftest import drain, settle
from tests.ui.worlds import SKARN

pytestmark = pytest.mark.dressed


def walked(start: QWidget, key: Qt.Key, most: int = 400) -> list[QWidget]:
    """What gets the keyboard until it comes back to the start; links in a text are gone through one by one."""
    start.setFocus()
    seen = [start]
    for _ in range(most):
        QTest.keyClick(QApplication.focusWidget(), key)
        now = QApplication.focusWidget()
        if now is start:
            return seen
        if now is not seen[-1]:
            assert now not in seen, f"{now} comes twice"
            seen.append(now)
    raise AssertionError(f"it never comes back from {seen[-1]}")


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
    in_sight = {
        each
        for each in window.findChildren(QWidget)
        if each.isEnabled() and each.focusPolicy() & Qt.FocusPolicy.TabFocus and each.focusProxy() is None
        and not each.visibleRegion().isEmpty() and each.window() is window
    }  # fmt: skip
    assert in_sight <= set(forward)
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
