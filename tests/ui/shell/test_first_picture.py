"""What somebody sees first: the vault, the chat and the answers of the demo, with no word of them cut off."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QBuffer, QPoint
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.projects.actions import COACHED
from lorestudio.ui.features.trace.answers import WHY
from lorestudio.ui.shell.qt import DISPLAY
from lorestudio.ui.shell.theme import Theme
from tests.ui.conftest import drain, settle

pytestmark = pytest.mark.dressed

COLUMNS = ("vault", "chat", "trace")


def painted(widget: QWidget) -> list[str]:
    """Each text as it is drawn: a picture in a format that keeps texts holds them."""
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    made = QSvgGenerator()
    made.setOutputDevice(buffer)
    made.setSize(widget.size())
    painter = QPainter(made)
    widget.render(painter, QPoint())
    painter.end()
    drawn = re.findall(r"<text [^>]*>(.*?)</text>", bytes(buffer.data().data()).decode(), re.DOTALL)
    return [unescape(each).strip() for each in drawn]


@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "letters"), [((1280, 800), 1), ((1024, 640), 1), ((1280, 800), 2)], indirect=["letters"], ids=str
)
@pytest.mark.parametrize("look", ["light", "contrast"])
def test_no_word_of_the_three_columns_is_cut_off(
    make_window: Any, tmp_path: Path, theme: Theme, look: str, letters: float, size: tuple[int, int]
) -> None:
    del letters
    theme.choose(look)
    window = make_window(make_simulator=Simulator)
    window.settings.setValue(COACHED, "true")
    window.resize(*size)
    window.session.set_project(demo_project(tmp_path / "demo"))
    settle(window)
    drain()
    for name in COLUMNS:
        pane = window.docks[name].pane
        texts = painted(window.docks[name])
        assert texts, name
        own = [each for each in texts if "\N{HORIZONTAL ELLIPSIS}" in each[1:]]
        meant = {field.placeholderText() for field in pane.findChildren(QWidget) if hasattr(field, "placeholderText")}
        assert [each for each in own if each not in meant] == [], name
    view, model = window.trace.answers, window.trace.model
    drawn = "".join(painted(view)).replace(" ", "")
    seen = [row for row in range(model.rowCount())
            if view.viewport().rect().contains(view.visualRect(model.index(row, WHY)))]  # fmt: skip
    for row in seen:
        for text in (model.title(model.entry(row)), model.index(row, WHY).data(DISPLAY)):
            for word in re.findall(r"\S+", text):
                assert word in drawn, (row, text)
