"""Whatever paints itself does so again as soon as the theme is another one, and whenever it would look otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QDockWidget,
    QLineEdit,
    QListView,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.state import ChatControls, EntryRule
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
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme, load_palettes
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.diff_view import DiffView
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from tests.ui.conftest import drain, settle
from tests.ui.drawing import PaintWatch
from tests.ui.sharing import is_due
from tests.ui.shell.test_one_look import path_of
from tests.ui.worlds import CROWN, SKARN, make_project, make_trace


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


def test_every_button_of_the_window_has_its_icon_in_the_colours_of_the_theme(window: MainWindow) -> None:
    buttons = [
        each
        for each in window.findChildren(QAbstractButton)
        if not each.icon().isNull() and not isinstance(each.parentWidget(), QLineEdit | QDockWidget)  # Qt's own
    ]
    before = [each.icon().pixmap(16).toImage() for each in buttons]
    other = "dark" if window.theme.palette is not load_palettes()["dark"] else "light"
    window.theme.choose(other)
    drain()
    pairs = zip(buttons, before, strict=True)
    left = [path_of(each) for each, seen in pairs if each.icon().pixmap(16).toImage() == seen]
    assert left == []
    assert len(buttons) > 50


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


SHARES = 5
"""So many tests have a share of the panes each: all together take longer than a test may on a busy machine."""


def outdated(window: MainWindow, dock: QDockWidget) -> list[str]:
    """The parts of a pane that the screen shows otherwise than they would be painted now."""
    drain()
    place = QRect(dock.mapTo(window, QPoint()), dock.size())
    seen = window.screen().grabWindow(window.winId(), *place.getRect()).toImage()
    now = dock.grab().toImage().convertToFormat(seen.format())
    if seen == now:
        return []
    rooms = {each: QRect(each.mapTo(dock, QPoint()), each.size()) for each in visible(dock)}
    return [f"{each} {each.accessibleName()}" for each, room in rooms.items() if seen.copy(room) != now.copy(room)]


def visible(dock: QDockWidget) -> list[QWidget]:
    return [each for each in dock.findChildren(QWidget) if not each.visibleRegion().isEmpty()]


def paints_itself(widget: QWidget) -> bool:
    kinds = [each for each in type(widget).__mro__ if each.__module__.startswith("lorestudio.")]
    view = widget.parentWidget()
    is_view = isinstance(view, QAbstractScrollArea) and view.viewport() is widget
    return is_view or any("paintEvent" in vars(each) for each in kinds)


def touched(window: MainWindow, dock: QDockWidget) -> Iterator[str]:
    """Move the mouse over whatever paints itself and away again, use arrows, choose all there is; says what."""
    yield "shown"
    for part in filter(paints_itself, visible(dock)):
        for across, down in ((0.1, 0.15), (0.5, 0.6), (1, 0.5)):
            at = QPoint(int((part.width() - 12) * across), int(part.height() * down))
            if part.visibleRegion().contains(at):
                QTest.mouseMove(part, at)
                yield f"the mouse at {at} of {part}"
        QTest.mouseMove(window.context.status, QPoint(3, 3))
        yield f"the mouse away from {part}"
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Up):
        if dock.isAncestorOf(QApplication.focusWidget()):
            QTest.keyClick(QApplication.focusWidget(), key)
            yield str(key)
    for box in [each for each in visible(dock) if isinstance(each, QComboBox)]:
        for place in (*range(min(box.count(), 4)), box.currentIndex()):
            box.setCurrentIndex(place)
            box.activated.emit(place)
            settle(window)
            yield f"{box.itemText(place)} in {box.accessibleName()}"
    for entry in (CROWN, None, SKARN):
        window.context.selection.choose_entry(entry)
        settle(window)
        yield f"entry {entry}"
    window.context.show("chat" if dock.objectName() != "chat" else "vault")
    yield "the keyboard elsewhere"


@pytest.mark.long
@pytest.mark.dressed
@pytest.mark.parametrize("share", range(SHARES))
def test_the_screen_shows_every_pane_as_it_would_be_painted_now(
    make_window: Callable[..., MainWindow], tmp_path: Path, share: int
) -> None:
    window = make_window(make_project(tmp_path / "vault"))
    rules = ChatControls(character="Ilse", pins=(EntryRule("Crown"),), blocks=(EntryRule("Bell"),))
    window.session.parts.adjust("rules", controls=rules)
    settle(window)
    window.context.selection.choose_message(5, Generation(5, 0))
    window.context.selection.choose_entry(SKARN)
    found: dict[str, list[str]] = {}
    for name, dock in list(window.context.layout.docks.items())[share::SHARES]:
        window.context.show(name)
        settle(window)
        while is_due(window, 300):
            settle(window)
        for done in touched(window, dock):
            for part in outdated(window, dock):
                found.setdefault(f"{name}: {part}", []).append(done)
    assert found == {}
