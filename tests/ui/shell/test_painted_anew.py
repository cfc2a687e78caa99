"""Whatever paints itself does so again as soon as the theme is another one, without being touched."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QListView, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.facts.pane import FilterBar
from lorestudio.ui.features.graph.bar import ColourLegend, EdgeLegend
from lorestudio.ui.features.timeline.pane import HeatMap
from lorestudio.ui.features.timeline.strip import Legend, LegendPart
from lorestudio.ui.features.trace.answer_view import AnswerView
from lorestudio.ui.features.trace.answers import AnswerTable
from lorestudio.ui.features.trace.flow import FlowPage, FunnelList
from lorestudio.ui.features.trace.prompt_page import PromptPage
from lorestudio.ui.features.trace.summary import Said, SummaryLine
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.theme import Theme, load_palettes
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.diff_view import DiffView
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from tests.ui.conftest import drain
from tests.ui.drawing import PaintWatch
from tests.ui.worlds import make_trace


def answers(theme: Theme) -> AnswerView:
    model = AnswerTable()
    model.set_trace(make_trace())
    made = AnswerView(theme, model)
    model.setParent(made)
    return made


def flow_page(theme: Theme) -> FlowPage:
    model, funnel = FunnelList(), QListView()
    funnel.setModel(model)
    made = FlowPage(theme, funnel, model)
    model.setParent(made)
    made.set_trace(make_trace())
    return made


def table(theme: Theme) -> RecordView:
    model = RecordTable([Column("Ship", str)])
    made = RecordView(theme, model, "Ships")
    model.setParent(made)
    return made


PAINTED: dict[str, tuple[Callable[[Theme], QWidget], Callable[[QWidget], QWidget]]] = {
    "heat map": (HeatMap, lambda made: made.viewport()),
    "legend": (Legend, lambda made: made),
    "colours": (ColourLegend, lambda made: made),
    "phases": (answers, lambda made: made.phases.viewport()),
    "entries": (answers, lambda made: made.verticalHeader().viewport()),
    "funnel": (flow_page, lambda made: made.focus_target().viewport()),
    "table": (table, lambda made: made.viewport()),
    "prompt": (lambda theme: PromptPage(theme, Jobs()), lambda made: made.view.viewport()),
}


@pytest.mark.parametrize("name", PAINTED)
def test_what_paints_itself_is_painted_anew(theme: Theme, qtbot: QtBot, name: str) -> None:
    make, part = PAINTED[name]
    made = make(theme)
    qtbot.addWidget(made)
    if isinstance(made, Legend):
        made.say([LegendPart("cut", "purple")])
    made.resize(600, 300)
    made.show()
    qtbot.waitExposed(made)
    drain()
    watch = PaintWatch(part(made))
    drain()
    assert watch.seen == 0
    theme.choose("dark")
    qtbot.waitUntil(lambda: watch.seen > 0)


def icons(made: QWidget) -> list[object]:
    return [each.icon().pixmap(16).toImage() for each in made.findChildren(QToolButton)]


@pytest.mark.parametrize("make", [EdgeLegend, FilterBar])
def test_icons_have_the_colours_of_the_theme(
    theme: Theme, qtbot: QtBot, make: Callable[[Theme, QWidget], QWidget]
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = make(theme, parent)
    before = icons(made)
    theme.palette = load_palettes()["dark"]
    theme.changed.emit()
    assert icons(made) != before
    theme.palette = load_palettes()["light"]
    theme.changed.emit()
    assert icons(made) == before


def test_texts_have_the_colours_of_the_theme(theme: Theme, qtbot: QtBot) -> None:
    line, diff = SummaryLine(theme), DiffView(theme, ("Saved", "Now"))
    for made in (line, diff):
        qtbot.addWidget(made)
    line.set_notes([Said("It broke.", "error")])
    diff.show_texts("one\n", "two\n")
    light, dark = (load_palettes()[name] for name in ("light", "dark"))
    assert light.error in line.text()
    for palette in (dark, light):
        theme.palette = palette
        theme.changed.emit()
        assert f"color:{palette.error}" in line.text()
        grounds = set()
        block = diff.view.document().begin()
        while block.isValid():
            grounds.add(block.blockFormat().background().color().name())
            block = block.next()
        assert {theme.color("error_soft").name(), theme.color("good_soft").name()} <= grounds
