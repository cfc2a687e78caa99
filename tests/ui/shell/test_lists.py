"""Every list, tree and table of the window, in each pane and page, with the keyboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTabWidget
from shiboken6 import isValid

from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import settle

pytestmark = pytest.mark.long


def lists(window: MainWindow) -> Iterator[tuple[str, QAbstractItemView]]:
    """Each that is seen and has rows, once, with the pane that it is in."""
    known: set[QAbstractItemView] = set()
    for name, dock in window.context.layout.docks.items():
        window.context.uncover(name)
        settle(window)
        for tabs in [None, *dock.findChildren(QTabWidget)]:
            for page in range(tabs.count() if tabs is not None else 1):
                if tabs is not None:
                    tabs.setCurrentIndex(page)
                    settle(window)
                for view in dock.findChildren(QAbstractItemView):
                    if view in known or isinstance(view, QHeaderView) or not view.isVisible() or not view.isEnabled():
                        continue
                    if view.model() is not None and view.model().rowCount(view.rootIndex()):
                        known.add(view)
                        yield name, view


def test_the_row_that_the_keyboard_comes_to_is_in_sight(studio: MainWindow) -> None:
    lost, seen = [], 0
    studio.resize(1024, 640)
    for name, view in lists(studio):
        for key in (Qt.Key.Key_End, Qt.Key.Key_Home):
            QTest.keyClick(view, key, Qt.KeyboardModifier.ControlModifier)
            QTest.keyClick(view, key)
            settle(studio)
            if not isValid(view) or not view.isVisible() or not view.currentIndex().isValid():
                break
            seen += 1
            row = view.visualRect(view.currentIndex())
            if row.isEmpty() or not view.viewport().rect().contains(row.center().x(), row.center().y()):
                lost.append((name, view.accessibleName(), key.name, row))
    assert seen > 20
    assert lost == []
