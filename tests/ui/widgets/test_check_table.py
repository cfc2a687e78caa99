"""Rows with boxes: what is ticked is what is told, one by one, all, none, and from the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from lorestudio.ui.widgets.record_table import CheckList, CheckRow, change_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lorestudio.ui.shell.theme import Theme

CHECK, ON, OFF = Qt.ItemDataRole.CheckStateRole, Qt.CheckState.Checked, Qt.CheckState.Unchecked
ROWS = [CheckRow(key, key.title(), "1", "2", f"About {key}") for key in ("depth", "budget", "mode")]


@pytest.fixture
def shown(theme: Theme) -> Iterator[CheckList]:
    holder = QWidget()
    model = change_table(("What", "Before", "After"), holder)
    made = CheckList(theme, model, "Settings", holder)
    model.set_rows(ROWS)
    model.choose(["budget", "gone"])
    yield made
    holder.deleteLater()


def ticks(shown: CheckList) -> list[bool]:
    model = shown.model
    return [model.index(row, 0).data(CHECK) == ON for row in range(model.rowCount())]


def test_only_rows_that_are_there_are_ticked(shown: CheckList) -> None:
    assert shown.model.chosen == {"budget"}
    assert ticks(shown) == [False, True, False]
    assert shown.amount.text() == "1 of 3 chosen"


def test_a_box_is_ticked_and_cleared(shown: CheckList) -> None:
    told: list[int] = []
    shown.model.ticked.connect(lambda: told.append(len(shown.model.chosen)))
    assert shown.model.setData(shown.model.index(0, 0), ON, CHECK)
    assert shown.model.chosen == {"depth", "budget"}
    assert shown.model.setData(shown.model.index(1, 0), OFF, CHECK)
    assert shown.model.chosen == {"depth"}
    assert not shown.model.setData(shown.model.index(2, 0), "2", Qt.ItemDataRole.EditRole)
    assert told == [2, 1]


def test_all_and_none(shown: CheckList) -> None:
    every, none = shown.buttons
    every.click()
    assert ticks(shown) == [True] * 3
    none.click()
    assert shown.model.chosen == frozenset()
    assert shown.amount.text() == "0 of 3 chosen"
    shown.model.set_rows([])
    assert not every.isEnabled()


def test_space_ticks_the_chosen_row_wherever_the_keyboard_is(shown: CheckList) -> None:
    shown.view.setCurrentIndex(shown.model.index(2, 1))
    for expected in (True, False):
        QTest.keyClick(shown.view, Qt.Key.Key_Space)
        assert ticks(shown)[2] is expected


def test_a_click_on_a_box_ticks_its_row_and_one_beside_it_does_not(shown: CheckList) -> None:
    shown.resize(500, 300)
    shown.show()
    for across, expected in ((9, True), (60, True), (9, False)):
        where = shown.view.visualRect(shown.model.index(2, 0))
        point = QPoint(where.left() + across, where.center().y())
        QTest.mouseClick(shown.view.viewport(), Qt.MouseButton.LeftButton, pos=point)
        assert ticks(shown)[2] is expected


def test_differences_that_are_only_shown_have_no_boxes(theme: Theme) -> None:
    holder = QWidget()
    model = change_table(("What", "Before", "After"), holder, checkable=False)
    made = CheckList(theme, model, "Settings", holder)
    model.set_rows(ROWS)
    model.choose(["depth"])
    assert made.amount.text() == "3 differences"
    assert model.index(0, 0).data(CHECK) is None
    assert not model.setData(model.index(0, 0), ON, CHECK)
    assert made.buttons[0].isHidden()
    holder.deleteLater()
