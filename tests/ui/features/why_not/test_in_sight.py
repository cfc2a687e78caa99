"""Which rows are asked about in the background: those that a person sees, of the run that is asked about."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtWidgets import QTableWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.why_not.actions import WhyNotFeature

RUN, OTHER = object(), object()


@pytest.mark.parametrize(
    ("shown", "asked", "rows", "seen"),
    [
        (True, RUN, 3, [10, 12]),
        (True, RUN, 30, [10, 12, 13]),
        (True, RUN, 0, []),
        (True, OTHER, 3, []),
        (False, RUN, 3, []),
    ],
)
def test_rows_in_sight(qtbot: QtBot, shown: bool, asked: object, rows: int, seen: list[int]) -> None:
    view = QTableWidget(rows, 1)
    qtbot.addWidget(view)
    view.horizontalHeader().hide()
    view.verticalHeader().setDefaultSectionSize(30)
    view.resize(200, 4 * 30)  # four rows at most; the second row is a heading, which has no entry
    if shown:
        view.show()
    model = SimpleNamespace(trace=RUN, rowCount=lambda: rows, entry=lambda row: None if row == 1 else 10 + row)
    feature: Any = SimpleNamespace(_trace=SimpleNamespace(answers=view, model=model))
    work: Any = SimpleNamespace(trace=asked)
    assert list(WhyNotFeature._in_sight(feature, work)) == seen
