"""Panes that wait until somebody looks: docks and actions are there at once, and nothing that came before is lost."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.facts.pane import MemoryPage
from lorestudio.ui.shell.layout import TUNE
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.record_table import RecordView
from lorestudio.ui.widgets.work_pane import RowsPage
from tests.ui.conftest import settle

AT_ONCE = {"vault", "chat", "entry", "trace", "problems"}
"""What the first workspace shows, and the pane whose findings are counted in the last line."""


def made(window: MainWindow) -> set[str]:
    return {name for name, dock in window.docks.items() if dock.made is not None}


@pytest.mark.own_window
def test_a_window_has_every_dock_and_makes_only_what_is_in_sight(window) -> None:
    assert made(window) >= AT_ONCE
    assert not made(window) & {"budget", "graph", "settings", "recap", "memories", "compare", "scores", "tuning"}
    assert "bench" not in made(window)
    assert {f"pane.{name}" for name in window.docks} <= set(window.commands.actions)


@pytest.mark.long
@pytest.mark.own_window
def test_each_pane_is_what_its_dock_is_called(window) -> None:
    for name, dock in window.docks.items():
        pane = dock.pane
        assert (pane.name, pane.title) == (name, dock.windowTitle())
        assert dock.widget() is pane
        assert dock.pane is pane, "it is made once"


@pytest.mark.own_window
def test_a_dock_that_comes_into_sight_makes_its_pane(window, qtbot: QtBot) -> None:
    dock = window.docks["search"]
    assert dock.made is None
    dock.show()
    dock.raise_()
    qtbot.waitUntil(lambda: isinstance(dock.made, Pane))


@pytest.mark.own_window
def test_a_pane_that_is_made_in_sight_is_told_so(window, qtbot: QtBot) -> None:
    dock = window.docks["timeline"]
    assert dock.made is None
    dock.raise_()
    qtbot.waitUntil(lambda: dock.made is not None)
    assert dock.made._seen


@pytest.mark.own_window
def test_a_pane_that_is_uncovered_is_made_before_it_is_seen(window) -> None:
    dock = window.docks["timeline"]
    assert dock.made is None
    window.raise_pane("timeline")
    assert dock.made is not None, "without a turn of the window between"


@pytest.mark.own_window
def test_a_pane_says_in_its_title_what_it_found_while_it_was_made(window) -> None:
    window.show_pane("settings")
    dock = window.docks["settings"]
    assert dock.pane.last_note
    assert dock.bar._note.text() == dock.pane.last_note


@pytest.mark.own_window
def test_panes_that_come_into_sight_together_are_made_one_after_the_other(window, qtbot: QtBot) -> None:
    """Two of them take longer than a turn of the window may."""
    window.resize(1280, 1000)  # a low one has the budget behind the trace
    settle(window)
    turns, before = [], made(window)

    def look() -> None:
        turns.append(made(window) - before)

    timer = QTimer(window, interval=0)
    timer.timeout.connect(look)
    timer.start()
    window.context.layout.enter(TUNE)
    qtbot.waitUntil(lambda: {"settings", "budget"} <= made(window))
    look()
    new = [len(now - then) for then, now in pairwise(turns)]
    assert max(new) == 1, f"made in each turn: {new}"


@pytest.mark.own_window
@pytest.mark.parametrize(
    "name", ["bench", "budget", "compare", "graph", "scores", "settings", "timeline", "tuning", "verify"]
)
def test_a_pane_is_made_where_it_will_stand(window, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[str] = []
    usual = Pane.event

    def event(pane: Pane, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ParentChange:
            moved.append(pane.name)
        return usual(pane, event)

    monkeypatch.setattr(Pane, "event", event)
    assert window.docks[name].pane.parent() is window.docks[name]
    assert name not in moved


@pytest.mark.own_window
@pytest.mark.parametrize("name", ["recap", "memories"])
def test_a_pane_and_the_parts_of_its_tabs_are_made_where_they_will_stand(
    window, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is moved is dressed again by the style sheet, with all that is in it: half of the time that a pane took."""
    moved: list[str] = []

    def look_at(kind: type[QWidget]) -> None:
        usual = kind.event

        def event(widget: QWidget, event: QEvent) -> bool:
            if event.type() is QEvent.Type.ParentChange:
                moved.append(widget.accessibleName())
            return usual(widget, event)

        monkeypatch.setattr(kind, "event", event, raising=False)

    for kind in (Pane, RowsPage, MemoryPage, RecordView):
        look_at(kind)
    pane = window.docks[name].pane
    assert pane.isAncestorOf(pane.tabs.currentWidget().view)
    assert moved == []


@pytest.mark.own_window
@pytest.mark.parametrize(
    ("name", "tables"), [("timeline", 1), ("scores", 0), ("recap", 0), ("memories", 2), ("graph", 0)]
)
def test_tables_that_nobody_sees_are_not_made_with_their_pane(window, name: str, tables: int) -> None:
    assert len(window.docks[name].pane.findChildren(RecordView)) == tables


def test_the_pane_of_recaps_is_there_before_the_system_is_loaded() -> None:
    """It took a quarter of the turn in which somebody first looks; recaps are read in a job."""
    code = "import lorestudio.ui.features.recap.pane, sys; print('lorestudio.systems.recap.session' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert told.stdout.strip() == "False"


def test_python_imports_as_it_always_does() -> None:
    """PySide6's own import reads the source of every module that follows."""
    code = "import lorestudio.ui, builtins; print(builtins.__import__.__name__)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert told.stdout.strip() == "__import__"


@pytest.mark.long
@pytest.mark.parametrize("pane", ["graph", "facts"])
def test_the_window_loads_neither_what_draws_graphs_nor_what_asks_the_network(pane: str) -> None:
    """Not even with the pane that shows what the work has found: it took 200 ms for the graph, 40 for memories.

    Nor recap memory, which took 60.
    """
    memories = {f"lorestudio.systems.{each}.session" for each in ("facts", "recap")}
    left = {"networkx", "httpx", "h11", "keyring", *memories}
    code = f"import lorestudio.ui.shell.app, lorestudio.ui.features.{pane}.pane, sys; print(*{left} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert not told.stdout.strip()
