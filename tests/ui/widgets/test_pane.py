"""Two parts beside each other, or below each other where there is little room."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from lorestudio.ui.widgets.pane import ElidedLabel, FoldingRow
from tests.ui.conftest import drain

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
