from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QContextMenuEvent, QFontMetricsF, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from lorestudio.domain.entry import Entry
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.graph import layout
from lorestudio.studio.graph.graph import Edge, EdgeKind
from lorestudio.studio.project.project import open_project
from lorestudio.systems.registry import kind_of
from lorestudio.ui.features.graph import looks
from lorestudio.ui.features.graph import pane as graph_pane
from lorestudio.ui.features.graph.lists import GapList
from lorestudio.ui.features.graph.looks import ColourBy, Stroke, StrokeSet, graph_looks, pen_of, strokes
from lorestudio.ui.features.graph.pane import GAPS, LIST, GraphPane
from lorestudio.ui.features.graph.view import ZOOM_STEP
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, ENTRY_ID, HORIZONTAL
from lorestudio.ui.shell.theme import Theme, contrast, load_palettes, scaled
from tests.ui.conftest import drain, menu_of_row, titles_of, turned_round
from tests.ui.drawing import at_the_right, drawn, words_drawn
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, RULES, SKARN, make_project

NAMES = ("Dawnkeep", "Skarn", "Crown", "Rules", "Bell")
VAULT = (
    Entry(DAWNKEEP, "places/Dawnkeep.md", "vault", "Dawnkeep", "Skarn.", ("fortress",), resolved_links=("Skarn",)),
    Entry(SKARN, "Skarn.md", "vault", "Skarn", "", ("skarn",), priority=20, resolved_links=("Dawnkeep",)),
    Entry(CROWN, "items/Crown.md", "vault", "Crown", "", ("crown",), requires=("Dawnkeep",), excludes=("Skarn",)),
    Entry(RULES, "Rules.md", "vault", "Rules", "Be kind.", constant=True, cascade_links=("Crown",)),
    Entry(BELL, "Bell.md", "vault", "Bell", "It rings.", ("bell",)),
)
Make = Callable[..., MainWindow]


def shown_of(lines: StrokeSet) -> list[Stroke]:
    """The strokes that are drawn where all of the picture is."""
    everywhere = [QRectF(-1e6, -1e6, 2e6, 2e6)]
    return [lines.strokes[place] for kind in EdgeKind for place in lines.which(everywhere, kind)]


def settled(qtbot: QtBot, window: MainWindow) -> GraphPane:
    """The pane once its graph is made."""
    qtbot.waitUntil(lambda: not window.features.graph.pane.working and window.session.jobs.idle, timeout=20_000)
    drain()
    return window.features.graph.pane


@pytest.fixture
def window(share_window: Make, qtbot: QtBot) -> MainWindow:
    """With the graph in sight."""

    def prepare(window: MainWindow) -> None:
        window.run("go.graph")
        settled(qtbot, window)

    return share_window(lambda folder: make_project(folder / "vault", entries=VAULT), prepare=prepare)


@pytest.fixture
def pane(window: MainWindow) -> GraphPane:
    return window.features.graph.pane


@pytest.fixture
def new_window(make_window: Make, tmp_path: Path) -> MainWindow:
    return make_window(make_project(tmp_path / "vault", entries=VAULT))


def test_a_lorebooks_entries_have_an_order(make_window: Make, qtbot: QtBot, tmp_path: Path, theme: Theme) -> None:
    book = tmp_path / "Book.json"
    made = [{"uid": uid, "comment": f"E{uid}", "key": ["k"], "content": "T.", "order": 99 * uid} for uid in (0, 1)]
    book.write_text(json.dumps({"entries": {str(each["uid"]): each for each in made}}), encoding="utf-8")
    window = make_window(open_project([book]))
    window.run("go.graph")
    pane = settled(qtbot, window)
    nodes = pane._prepared.found.graph.nodes
    low, high = sorted(nodes, key=lambda entry: nodes[entry].priority)
    window.selection.choose_entry(high)
    drain()
    assert "E1: regular, order 99, " in pane.view.accessibleDescription()
    looks = graph_looks(pane._prepared.found, ColourBy.PRIORITY, {}, theme.palette).of
    shown = [contrast(looks[entry].fill, theme.palette.panel) for entry in (low, high)]
    assert shown == sorted(shown)  # the higher order counts for more, and is the stronger colour


def test_entries_of_a_lorebook_are_connected_by_wakes(make_window: Make, qtbot: QtBot, tmp_path: Path) -> None:
    book, texts = tmp_path / "Book.json", ("The tower.", "A bell in the fog.", "Grey.")
    made = {
        str(uid): {**NEW_ENTRY, "uid": uid, "comment": key, "key": [key], "content": text}
        for uid, (key, text) in enumerate(zip(("bell", "Tower", "fog"), texts, strict=True))
    }
    book.write_text(json.dumps({"entries": made}), encoding="utf-8")
    window = make_window(open_project([book]))
    window.run("go.graph")
    pane = settled(qtbot, window)

    def told() -> set[tuple[str, str, str]]:
        graph = pane._prepared.found.graph
        return {(graph.nodes[edge.source].title, edge.kind, graph.nodes[edge.target].title) for edge in graph.edges}

    wakes = {("Tower", "wakes", "bell"), ("Tower", "wakes", "fog")}
    assert told() == {("bell", "wakes", "Tower"), *wakes}
    assert [each.text() for each in pane.edges.buttons.values() if each.isVisible()] == ["Wakes 3"]
    window.selection.choose_entry(
        next(each.id for each in window.session.project.index.entries if each.title == "bell")
    )
    drain()
    model = pane.lists.edge_model
    assert {model.index(row, 1).data(DISPLAY) for row in range(model.rowCount())} == {"wakes", "woken by"}
    system = window.session.project.system
    for setting, left in ({"case_sensitive": True}, wakes), ({"recursive": False}, set()):
        settings = kind_of(system).settings().model_copy(update=setting)
        window.session.replays.configure({system: settings})
        settled(qtbot, window)
        assert told() == left


def test_of_a_vault_what_wakes_what_is_shown_where_somebody_asks(window: MainWindow, qtbot: QtBot) -> None:
    pane, session = window.features.graph.pane, window.session

    def told() -> set[tuple[str, str]]:
        graph = pane._prepared.found.graph
        wakes = (edge for edge in graph.edges if edge.kind is EdgeKind.WAKES)
        return {(graph.nodes[edge.source].title, graph.nodes[edge.target].title) for edge in wakes}

    before = session.project
    for recursive, expected in ((True, {("Dawnkeep", "Skarn")}), (False, set())):
        settings = before.settings.model_copy(update={"recursive_scan": recursive})
        session.set_project(replace(before, settings=settings))
        settled(qtbot, window)
        pane.bar.options["wakes"].setChecked(True)
        settled(qtbot, window)
        assert told() == expected
        assert pane.note.text() == ("" if recursive else "Recursion is off in the settings, so no text wakes an entry.")
        pane.bar.options["wakes"].setChecked(False)
        settled(qtbot, window)
        assert (told(), pane.note.text()) == (set(), "")
    session.set_project(before)
    settled(qtbot, window)


def test_each_lorebook_keeps_where_its_nodes_stand(make_window: Make, qtbot: QtBot, tmp_path: Path) -> None:
    entry, books = {**NEW_ENTRY, "uid": 0, "key": ["k"]}, [tmp_path / name / "Book.json" for name in ("one", "two")]
    for book in books:
        book.parent.mkdir()
        book.write_text(json.dumps({"entries": {"0": entry, "1": {**entry, "uid": 1}}}), encoding="utf-8")
    window = make_window(open_project([books[0]]))
    window.run("go.graph")
    pane = settled(qtbot, window)
    pane._pin(0, on=True)
    for book, pinned in (books[1], set()), (books[0], {0}):
        window.session.set_project(open_project([book]))
        settled(qtbot, window)
        assert pane._prepared.pinned == pinned


def test_another_vault_begins_with_what_its_settings_say(new_window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    new_window.run("go.graph")
    pane = settled(qtbot, new_window)
    assert (pane.bar.colour_by(), pane.bar.scope.steps.value()) == (ColourBy.KIND, 2)
    settings = DeepLoreSettings(graph_default_color_mode="priority", graph_focus_tree_depth=3)
    other = replace(make_project(tmp_path / "other", entries=VAULT), places=("other",), settings=settings)
    new_window.session.set_project(other)
    settled(qtbot, new_window)
    assert (pane.bar.colour_by(), pane.bar.scope.steps.value()) == (ColourBy.PRIORITY, 3)
    pane.bar.choose_colour("frequency")
    new_window.session.set_project(replace(other, settings=DeepLoreSettings()))
    settled(qtbot, new_window)
    assert pane.bar.colour_by() is ColourBy.FIRED  # the person's choice holds while it is the same vault


@pytest.mark.always
def test_a_graph_of_the_vault_before_that_is_made_late_is_not_shown(
    new_window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    new_window.run("go.graph")
    pane = settled(qtbot, new_window)
    with turned_round(lambda: qtbot.waitUntil(lambda: new_window.session.jobs.idle)):
        pane._make(again=True)
        qtbot.waitUntil(lambda: new_window.session.jobs.idle)
        other = make_project(tmp_path / "other", entries=VAULT[:2])
        new_window.session.set_project(replace(other, places=("other",)))
    assert sorted(table(pane)) == ["Dawnkeep", "Skarn"]
    settled(qtbot, new_window)


def table(pane: GraphPane) -> dict[str, list[str]]:
    rows = pane.lists.model
    return {
        rows.index(row, 0).data(): [rows.index(row, column).data() for column in range(1, rows.columnCount())]
        for row in range(rows.rowCount())
    }


def press(qtbot: QtBot, pane: GraphPane, key: Qt.Key, modifier=Qt.KeyboardModifier.NoModifier) -> None:
    qtbot.keyClick(pane.view, key, modifier)


def place(pane: GraphPane, points: dict[int, tuple[float, float]]) -> None:
    """Put nodes where a test wants them."""
    for entry, point in points.items():
        pane.view.drawing.move(entry, QPointF(*point))


# ---- where it lives -------------------------------------------------------------------------------------------------


def test_the_graph_is_hidden_until_it_is_wanted_and_made_only_then(new_window: MainWindow, qtbot: QtBot) -> None:
    window = new_window
    assert window.docks["graph"].isHidden()
    assert table(window.features.graph.pane) == {}
    assert window.docks["entry"].bar._name.isVisible() or window.width() < 1150  # no tab says it yet
    window.run("go.graph")
    pane = settled(qtbot, window)
    assert window.docks["graph"].isVisible()
    assert window.docks["trace"] in window.tabifiedDockWidgets(window.docks["graph"])
    assert not window.docks["entry"].visibleRegion().isEmpty()  # the note of a node that is chosen is read beside it
    assert set(table(pane)) == set(NAMES)
    assert pane.view.hasFocus()


@pytest.mark.always
def test_without_edges_or_entries_it_says_so(make_window: Make, qtbot: QtBot, tmp_path: Path) -> None:
    window = make_window(make_project(tmp_path, entries=()))
    window.run("go.graph")
    pane = settled(qtbot, window)
    assert pane.empty.isVisible()
    assert pane.empty.title.text() == "No entries"
    asked: list[str] = []
    pane.wanted.connect(asked.append)
    for door in pane.empty.findChildren(QPushButton):
        door.click()
    assert asked == ["note.entries", "note.new"]
    (dialog,) = (each for each in window.findChildren(QDialog) if each.isVisible())
    assert dialog.windowTitle() == "Make entries of notes"
    dialog.close()
    settled(qtbot, window)


@pytest.mark.always
def test_entries_kept_out_of_the_graph_are_counted_and_can_be_shown(make_window: Make, qtbot: QtBot) -> None:
    hidden = (Entry(0, "A.md", "vault", "A", graph=False),)
    window = make_window(make_project(entries=hidden))
    window.run("go.graph")
    pane = settled(qtbot, window)
    assert pane.empty.title.text() == "Nothing to draw"
    assert pane.empty.text.text() == "Every note of this vault says “graph: false”."
    (door,) = pane.empty.findChildren(QPushButton)
    assert door.text() == "Show such entries too"
    door.click()
    settled(qtbot, window)
    assert set(table(pane)) == {"A"}
    assert pane.view.isVisible()


# ---- one selection --------------------------------------------------------------------------------------------------


def test_what_is_not_kept_yet_is_kept_where_the_window_ends(
    window: MainWindow, pane: GraphPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[bool] = []
    monkeypatch.setattr(pane, "stop", lambda: stopped.append(True))
    window.features.graph.stop()
    assert stopped == [True]


def test_choosing_elsewhere_shows_in_picture_and_lists(window: MainWindow, pane: GraphPane) -> None:
    window.selection.choose_entry(CROWN)
    assert pane.view.drawing.chosen == CROWN
    assert pane.lists.entries.currentIndex().data(ENTRY_ID) == CROWN
    assert "Crown" in pane.view.accessibleDescription()
    assert "3 edges of Crown" in pane.lists.edges_title.text()


def test_a_click_on_a_node_chooses_its_entry(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    point = pane.view.mapFromScene(pane.view.drawing.points[SKARN])
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert window.selection.entry == SKARN
    assert window.vault.tree.currentIndex().data(ENTRY_ID) == SKARN


@pytest.mark.always
@pytest.mark.own_window
def test_a_row_of_the_list_and_of_its_edges_chooses(window: MainWindow, pane: GraphPane) -> None:
    pane.tabs.setCurrentIndex(LIST)
    rows = pane.lists.model
    row = next(row for row in range(rows.rowCount()) if rows.index(row, 0).data() == "Rules")
    pane.lists.entries.setCurrentIndex(rows.index(row, 0))
    assert window.selection.entry == RULES
    edges = pane.lists.edge_model
    assert [edges.index(0, column).data() for column in range(4)] == ["→", "cascades to", "Crown", "1"]
    pane.lists.edges.activated.emit(edges.index(0, 0))
    assert window.selection.entry == CROWN


def test_a_double_click_and_enter_open_the_note(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    point = pane.view.mapFromScene(pane.view.drawing.points[CROWN])
    with qtbot.waitSignal(pane.opened):
        qtbot.mouseDClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert window.current_pane() is window.entry
    window.show_pane("graph")
    window.selection.choose_entry(DAWNKEEP)
    press(qtbot, pane, Qt.Key.Key_Return)
    assert window.current_pane() is window.entry
    assert window.selection.entry == DAWNKEEP


def test_a_double_click_beside_the_nodes_or_with_another_button_opens_nothing(pane: GraphPane, qtbot: QtBot) -> None:
    view, opened = pane.view, []
    pane.opened.connect(lambda: opened.append(True))
    place(pane, {CROWN: (0, 0), DAWNKEEP: (400, 0)})
    corner = view.mapFromScene(view.drawing.points[CROWN]) + QPoint(40, 40)
    assert view.viewport().rect().contains(corner)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=corner)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.RightButton, pos=view.mapFromScene(view.drawing.points[CROWN]))
    assert opened == []


# ---- keyboard -------------------------------------------------------------------------------------------------------


def test_arrows_go_to_the_nearest_neighbour_in_that_direction(
    window: MainWindow, pane: GraphPane, qtbot: QtBot
) -> None:
    # Crown is connected with Dawnkeep, Skarn and Rules, not with Bell, which is nearer on the right.
    place(pane, {CROWN: (0, 0), DAWNKEEP: (200, 20), SKARN: (0, -200), RULES: (-200, 0), BELL: (60, 0)})
    window.selection.choose_entry(CROWN)
    for key, wanted in ((Qt.Key.Key_Right, DAWNKEEP), (Qt.Key.Key_Up, SKARN), (Qt.Key.Key_Left, RULES)):
        window.selection.choose_entry(CROWN)
        press(qtbot, pane, key)
        assert window.selection.entry == wanted
    window.selection.choose_entry(RULES)  # its only neighbour lies to the right; further left there is nothing
    press(qtbot, pane, Qt.Key.Key_Left)
    assert window.selection.entry == RULES


def test_where_no_neighbour_lies_in_a_direction_any_node_will_do(
    window: MainWindow, pane: GraphPane, qtbot: QtBot
) -> None:
    place(pane, {BELL: (0, 0), CROWN: (300, 0), SKARN: (100, 10), DAWNKEEP: (-50, 400), RULES: (-50, 300)})
    window.selection.choose_entry(BELL)
    press(qtbot, pane, Qt.Key.Key_Right)
    assert window.selection.entry == SKARN


def test_tab_goes_round_the_neighbours_and_then_on(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    place(pane, {CROWN: (0, 0), SKARN: (0, -100), DAWNKEEP: (100, 0), RULES: (-100, 0)})
    window.selection.choose_entry(CROWN)
    pane.view.setFocus()
    seen = []
    for _ in range(3):
        press(qtbot, pane, Qt.Key.Key_Tab)
        seen.append(window.selection.entry)
        assert pane.view.hasFocus()
    assert seen == [SKARN, DAWNKEEP, RULES]  # clockwise from the top
    press(qtbot, pane, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert window.selection.entry == DAWNKEEP
    press(qtbot, pane, Qt.Key.Key_Escape)
    assert window.selection.entry == CROWN
    for entry in (BELL, None):  # without neighbours, or where nothing is chosen
        pane.view.setFocus()
        window.selection.choose_entry(entry)
        for key in (Qt.Key.Key_Right, Qt.Key.Key_Tab)[entry is BELL :]:
            press(qtbot, pane, key)
            assert window.selection.entry == entry
        assert not pane.view.hasFocus()


def test_zoom_fit_and_pan_by_keyboard(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    view = pane.view
    before = view.transform().m11()
    press(qtbot, pane, Qt.Key.Key_Plus)
    assert view.transform().m11() > before
    press(qtbot, pane, Qt.Key.Key_Minus)
    assert view.transform().m11() == pytest.approx(before)
    middle = view.mapToScene(view.viewport().rect().center())
    window.selection.choose_entry(None)
    press(qtbot, pane, Qt.Key.Key_Right)
    assert view.mapToScene(view.viewport().rect().center()).x() > middle.x()
    for _ in range(9):
        press(qtbot, pane, Qt.Key.Key_Plus)

    def all_seen() -> bool:
        return view.mapToScene(view.viewport().rect()).boundingRect().contains(view.drawing.bounds())

    assert not all_seen()
    press(qtbot, pane, Qt.Key.Key_0)
    assert all_seen()


def test_everything_has_an_accessible_name(pane: GraphPane) -> None:
    widgets = [pane.view, pane.lists.entries, pane.lists.edges, pane.gaps, pane.bar.search, pane.bar.colours]
    widgets += [pane.bar.menu_button, pane.bar.scope.steps, *pane.edges.buttons.values(), pane.colours]
    widgets += [pane.bar.zoom.nearer, pane.bar.zoom.farther, pane.bar.zoom.fit]
    assert all(widget.accessibleName() for widget in widgets)


# ---- list twin ------------------------------------------------------------------------------------------------------


def test_the_list_has_the_facts_of_the_picture(pane: GraphPane) -> None:
    found = pane._prepared.found
    rows = table(pane)
    fired = {"Rules", "Skarn", "Dawnkeep"}  # the hand-made traces: two of the five generations inject nothing
    for entry, node in found.graph.nodes.items():
        kind, connected, out, into, community, times, central = rows[node.title]
        assert connected == str(len(found.graph.neighbours[entry]))
        assert out == str(len(found.graph.outgoing.get(entry, ())))
        assert into == str(len(found.graph.incoming.get(entry, ())))
        assert (community == "none") == (node.title == "Bell")
        assert (times != "0") == (node.title in fired)
        assert kind == ("constant" if node.title == "Rules" else "regular")
        assert central.endswith("%")
    assert rows["Crown"][1:4] == ["3", "2", "1"]
    heads = [pane.lists.model.headerData(at, HORIZONTAL) for at in at_the_right(pane.lists.model)]
    assert heads == ["Connected", "Out", "In", "Fired", "Centrality"]
    assert set(pane.view.drawing.ids) == set(found.graph.nodes)


def test_fired_counts_generations_of_the_traces(window: MainWindow, pane: GraphPane) -> None:
    traces = window.session.runs.traces.values()
    injected = sum(any(injection.entry == SKARN for injection in trace.injections) for trace in traces)
    assert injected > 1
    assert table(pane)["Skarn"][5] == str(injected)
    assert f"fired in {injected} replies" in pane.lists.model.index(pane.lists.model.place_of(SKARN), 0).data(
        ACCESSIBLE_TEXT
    )


def test_a_run_that_comes_while_the_graph_is_looked_at_is_counted(new_window: MainWindow, qtbot: QtBot) -> None:
    new_window.run("go.graph")
    pane, runs = settled(qtbot, new_window), new_window.session.runs.traces
    before = int(table(pane)["Skarn"][5])
    first, trace = next((at, run) for at, run in runs.items() if any(each.entry == SKARN for each in run.injections))
    runs.take({first: replace(trace, injections=())})
    new_window.session.traces_changed.emit((first,))
    settled(qtbot, new_window)
    assert int(table(pane)["Skarn"][5]) == before - 1


def test_the_list_shows_what_is_looked_at_and_searched_when_it_is_turned_to(
    new_window: MainWindow, qtbot: QtBot
) -> None:
    new_window.run("go.graph")
    pane = settled(qtbot, new_window)
    assert "lists" not in vars(pane), "nobody looks at it"
    pane.bar.search.setText("sk")
    new_window.selection.choose_entry(SKARN)
    pane.tabs.setCurrentIndex(LIST)
    assert pane.focus_target().isVisible()
    assert list(table(pane)) == ["Skarn"]
    assert pane.lists.entries.current == SKARN
    assert pane.lists.edge_model.rowCount() == 3


def test_columns_sort_by_value(pane: GraphPane) -> None:
    pane.lists.entries.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    amounts = [int(pane.lists.model.index(row, 2).data(DISPLAY)) for row in range(5)]
    assert amounts == sorted(amounts, reverse=True)


# ---- filters, search, colours ---------------------------------------------------------------------------------------


def test_kinds_of_edges_can_be_switched_off_in_picture_and_list(window: MainWindow, pane: GraphPane) -> None:
    window.selection.choose_entry(CROWN)
    pane.edges.buttons[EdgeKind.REQUIRES].click()
    assert {stroke.kind for stroke in shown_of(pane.view.drawing.strokes)} == {
        EdgeKind.LINK, EdgeKind.EXCLUDES, EdgeKind.CASCADE,
    }  # fmt: skip
    assert table(pane)["Crown"][1:4] == ["2", "1", "1"]
    assert pane.lists.edge_model.rowCount() == 2
    pane.edges.buttons[EdgeKind.REQUIRES].click()
    assert pane.lists.edge_model.rowCount() == 3


def test_the_list_does_not_wait_until_the_picture_is_laid_out(pane: GraphPane) -> None:
    made, whole = pane._prepared, table(pane)
    kinds = ["Links 2", "Requires 1", "Excludes 1", "Cascade 1", "Wakes 0"]
    assert [button.text() for button in pane.edges.buttons.values()] == kinds
    pane._take(None)
    assert table(pane) == {}
    assert [button.text()[-2:] for button in pane.edges.buttons.values()] == [" 0"] * 5
    assert pane.tabs.tabText(GAPS) == "Gaps"
    pane._reported(replace(made, positions=None))
    assert table(pane) == whole
    assert pane.gaps._found is made.found, "nobody looks at the gaps yet"
    pane.tabs.setCurrentIndex(GAPS)
    assert pane.gaps.model().rowCount() == 4
    pane.gaps.collapse(pane.gaps.model().index(1, 0))
    pane._made(made)
    assert not pane.working
    assert not pane.gaps.isExpanded(pane.gaps.model().index(1, 0))  # the lists stand as they did


def test_the_lines_of_the_whole_graph_are_made_in_its_job(
    window: MainWindow, pane: GraphPane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of thousands of notes take longer than the window may stand still."""
    made: list[bool] = []

    def look(edges: Iterable[Edge]) -> tuple[Stroke, ...]:
        made.append(current_thread() is main_thread())
        return strokes(edges)

    shown = pane.view.drawing.strokes.strokes
    monkeypatch.setattr(looks, "strokes", look)
    pane._make(again=True)
    qtbot.waitUntil(lambda: not pane.working, timeout=20_000)
    assert made == [False]
    assert pane.view.drawing.strokes.strokes == shown
    window.selection.choose_entry(BELL)
    pane.bar.scope.local.click()  # what is near the entry is little, and made here
    assert made == [False, True]
    pane.bar.scope.local.click()
    assert made == [False, True]
    assert pane.view.drawing.strokes.strokes == shown


def test_search_marks_hits_and_filters_the_list(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    project = window.session.project
    index = project.index
    apart = replace(index.entries[SKARN], keys=("cafe\u0301",))
    window.session.project = replace(
        project, index=replace(index, entries=(index.entries[0], apart, *index.entries[2:]))
    )
    pane._show_study(fit=False)
    pane.bar.search.setText("Caf\u00e9")
    assert (pane.view.drawing.hits, set(table(pane))) == ({SKARN}, {"Skarn"})
    window.session.project = project
    pane._show_study(fit=False)
    pane.bar.search.setText("FORTR")  # a key of Dawnkeep
    assert pane.view.drawing.hits == {DAWNKEEP}
    assert set(table(pane)) == {"Dawnkeep"}
    assert pane.bar.hits.text() == "1 hit"
    qtbot.keyClick(pane.bar.search, Qt.Key.Key_Return)
    assert window.selection.entry == DAWNKEEP
    qtbot.keyClick(pane.bar.search, Qt.Key.Key_Escape)
    assert (pane.bar.search.text(), pane.view.drawing.hits) == ("", frozenset())
    assert set(table(pane)) == set(NAMES)
    pane.bar.search.setText("nowhere")
    pane.lists.entries.findChild(QPushButton).click()  # there is no row
    assert (pane.bar.search.text(), set(table(pane))) == ("", set(NAMES))


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
@pytest.mark.parametrize("colour_by", list(ColourBy))
def test_every_colour_has_a_word_and_what_stands_upon_it_can_be_read(
    pane: GraphPane, colour_by: ColourBy, name: str
) -> None:
    palette = load_palettes()[name]
    looks = graph_looks(pane._prepared.found, colour_by, {SKARN: 3, RULES: 1}, palette)
    assert set(looks.of) == set(range(5))
    assert sum(amount for _look, amount in looks.legend) == 5
    for look in looks.of.values():
        assert look.word
        assert contrast(look.fill, look.ink) >= 4.5
    if colour_by is not ColourBy.KIND:
        assert all(look.text or look.icon for look in looks.of.values())


def test_kinds_of_edges_differ_without_colour(pane: GraphPane, theme) -> None:
    assert {kind: (pen_of(kind, theme).dashPattern(), pen_of(kind, theme).widthF()) for kind in EdgeKind} == {
        EdgeKind.LINK: ([], 1.0), EdgeKind.REQUIRES: ([], 2.2), EdgeKind.EXCLUDES: ([4, 3], 1.6),
        EdgeKind.CASCADE: ([1, 2.2], 1.8), EdgeKind.WAKES: ([], 1.4),
    }  # fmt: skip


def test_mutual_edges_are_one_line_with_two_heads(pane: GraphPane) -> None:
    made = {(stroke.first, stroke.second, stroke.kind): stroke for stroke in strokes(pane._shown.edges)}
    mutual, single = made[DAWNKEEP, SKARN, EdgeKind.LINK], made[DAWNKEEP, CROWN, EdgeKind.REQUIRES]
    assert (mutual.forth, mutual.back) == (True, True)
    assert (single.forth, single.back) == (False, True)  # from Crown, the higher id, to Dawnkeep


def test_hovering_dims_what_is_far(pane: GraphPane) -> None:
    view = pane.view
    view.set_light(1, 0.5, 0.1)
    view._hover(RULES)
    light = dict(zip(view.drawing.ids, view.drawing.light, strict=True))
    assert light == {RULES: 1.0, CROWN: 0.5, DAWNKEEP: 0.1, SKARN: 0.1, BELL: 0.1}
    view._hover(None)
    assert view.drawing.light is None


# ---- surroundings, ways, gaps, pins ---------------------------------------------------------------------------------


def test_the_local_graph_follows_the_selection_and_the_depth(window: MainWindow, pane: GraphPane) -> None:
    pane.bar.scope.local.setChecked(True)
    assert pane.empty.title.text() == "No entry is chosen"
    pane.bar.scope.steps.setValue(1)
    window.selection.choose_entry(RULES)
    assert set(pane.view.drawing.ids) == {RULES, CROWN}
    assert pane.note.text() == "", "all of them are shown"
    pane.bar.scope.steps.setValue(2)
    assert set(pane.view.drawing.ids) == {RULES, CROWN, DAWNKEEP, SKARN}
    pane.bar.scope.steps.setValue(9)
    assert pane.bar.scope.steps.value() == 3, "further away nearly all are connected"
    window.selection.choose_entry(BELL)
    assert set(pane.view.drawing.ids) == {BELL}
    assert "Nothing is connected" in pane.note.text()
    pane.bar.scope.local.setChecked(False)
    assert len(pane.view.drawing.ids) == 5


def test_a_large_local_graph_is_cut_and_says_so(window: MainWindow, pane: GraphPane, monkeypatch) -> None:
    monkeypatch.setattr(graph_pane, "MOST_LOCAL", 3)
    window.selection.choose_entry(RULES)
    pane.bar.scope.local.setChecked(True)
    assert set(pane.view.drawing.ids) == {RULES, CROWN, DAWNKEEP}
    assert "3 of 4" in pane.note.text()


@pytest.mark.own_window
def test_a_way_is_drawn_and_told(window: MainWindow, pane: GraphPane) -> None:
    pane.show_way(RULES, SKARN)
    assert pane.view.drawing.path == (RULES, CROWN, SKARN)
    assert pane.note.text() == "2 steps: Rules → Crown → Skarn"
    pane.show_way(RULES, BELL)
    assert pane.view.drawing.path == ()
    assert "No way" in pane.note.text()


def test_what_is_told_of_the_picture_goes_with_it(window: MainWindow, pane: GraphPane) -> None:
    pane.show_way(RULES, SKARN)
    assert pane.note.isVisible()
    window.selection.clear()
    pane.bar.scope.local.setChecked(True)
    assert pane.empty.title.text() == "No entry is chosen"
    assert not pane.note.isVisible()


@pytest.mark.own_window  # what it pins would stay
def test_the_menu_of_a_node_does_what_it_says(window: MainWindow, pane: GraphPane) -> None:
    window.selection.choose_entry(RULES)
    actions = {action.text(): action for action in pane.make_menu(SKARN).actions()}
    actions["Copy the title"].trigger()
    assert QGuiApplication.clipboard().text() == "Skarn"
    actions["Pin its place"].trigger()
    assert pane.view.drawing.pinned == {SKARN}
    assert [each.text() for each in pane.make_menu(SKARN).actions() if "place" in each.text()] == ["Unpin its place"]
    actions["Show the way from Rules"].trigger()
    assert pane.view.drawing.path[-1] == SKARN
    actions["Show its surroundings"].trigger()
    assert (pane.bar.scope.local.isChecked(), window.selection.entry) == (True, SKARN)


def test_gaps_are_listed_and_lead_to_their_entries(window: MainWindow, pane: GraphPane) -> None:
    pane.tabs.setCurrentIndex(GAPS)
    alone = next(group for group in pane.gaps.model().root.children if group.text.startswith("Entries on their own"))
    assert [row.text for row in alone.children] == ["Nothing leads to them and they lead nowhere.", "Bell"]
    pane.gaps.setCurrentIndex(pane.gaps.model().index_of(alone.children[1]))
    assert window.selection.entry == BELL
    pane.bar.options["gaps"].setChecked(True)
    assert pane.view.drawing.gaps.orphans == (BELL,)
    made = pane._prepared
    amount = made.found.gaps.count
    assert pane.tabs.tabText(GAPS) == f"Gaps ({amount})"
    pane._take(replace(made, found=replace(made.found, gaps=replace(made.found.gaps, more_missing=1))))
    assert pane.tabs.tabText(GAPS) == f"Gaps ({amount + 1})", "those without a row count, too"
    pane._take(made)


def test_a_gap_is_copied_from_its_row_and_an_entry_on_its_own_pinned(window: MainWindow, pane: GraphPane) -> None:
    pane.tabs.setCurrentIndex(GAPS)
    model = pane.gaps.model()
    alone = model.index_of(next(row for row in model.root.below() if row.text == "Bell"))
    pane.gaps.scrollTo(alone)
    menu = menu_of_row(pane.gaps, alone)
    titles = [each.text().split("\t")[0] for each in menu.actions() if each.text()]
    assert titles == ["Pin in this chat", "Block in this chat", "Copy"]
    assert window.selection.entry == BELL
    QTest.keyClick(menu, Qt.Key.Key_Up)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == "Bell"
    menu = menu_of_row(pane.gaps, model.index(0, 0))
    assert [each.text().split("\t")[0] for each in menu.actions()] == ["Copy"]
    menu.close()


def test_gaps_can_be_read_whole_in_a_narrow_pane_too(pane: GraphPane, theme: Theme, qtbot: QtBot) -> None:
    gaps = GapList(theme)
    qtbot.addWidget(gaps)
    gaps.show_gaps(pane._prepared.found)
    gaps.show()
    high = {}
    for wide in (*range(200, 340, 10), 1600):  # among them some where the last word just fits
        gaps.resize(wide, 900)
        drain()
        places = [gaps.model().index_of(each) for each in gaps.model().root.below()]
        high[wide] = [gaps.visualRect(each).height() for each in places]
        for place, height in zip(places, high[wide], strict=True):
            rect = gaps.visualRect(place)
            needed = gaps.fontMetrics().boundingRect(
                QRect(0, 0, rect.width() - 6, 1000), Qt.TextFlag.TextWordWrap, place.data(DISPLAY)
            )
            assert rect.right() <= gaps.viewport().width()
            assert height >= needed.height(), place.data(DISPLAY)
    assert len(set(high[1600])) == 1, "wherever there is room, a row is one line"
    assert max(high[300]) > max(high[1600])


@pytest.mark.long
def test_a_dragged_node_is_pinned_and_comes_back_there(make_window: Make, qtbot: QtBot, tmp_path: Path) -> None:
    project = make_project(tmp_path / "vault", entries=VAULT)
    places = replace(project, places=("/vault",))
    first = make_window(places, keep_in=tmp_path / "runs")
    first.run("go.graph")
    pane = settled(qtbot, first)
    view, port = pane.view, pane.view.viewport()
    start = view.mapFromScene(view.drawing.points[BELL])
    qtbot.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(port, start + QPoint(30, -20))
    qtbot.mouseMove(port, start + QPoint(60, -40))
    qtbot.mouseRelease(port, Qt.MouseButton.LeftButton, pos=start + QPoint(60, -40))
    moved = view.drawing.points[BELL]
    assert view.drawing.pinned == {BELL}
    assert first.selection.entry != BELL  # moving is not choosing
    first.close()
    second = make_window(places, keep_in=tmp_path / "runs", file="second.ini")
    second.run("go.graph")
    again = settled(qtbot, second).view.drawing
    assert again.pinned == {BELL}
    assert (again.points[BELL] - moved).manhattanLength() < 1


# ---- large vaults, changes, exports ---------------------------------------------------------------------------------


@pytest.mark.always
def test_a_large_vault_offers_the_surroundings_first(
    make_window: Make, qtbot: QtBot, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(layout, "LARGE", 3)
    window = make_window(make_project(tmp_path / "vault", entries=VAULT))
    window.run("go.graph")
    pane = settled(qtbot, window)
    assert pane.empty.title.text() == "A large vault"
    assert set(table(pane)) == set(NAMES)  # the list does not wait for a picture
    window.selection.choose_entry(SKARN)
    pane.empty.pressed.emit("local")
    assert pane.view.isVisible()
    assert SKARN in pane.view.drawing.rows
    pane.bar.scope.local.setChecked(False)
    drain()
    (door,) = (each for each in pane.empty.findChildren(QPushButton) if each.text() == "Lay out all 5")
    door.click()
    settled(qtbot, window)
    assert len(pane.view.drawing.ids) == 5


@pytest.mark.own_window
def test_a_changed_vault_keeps_the_places(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    before = {entry: QPointF(point) for entry, point in pane.view.drawing.points.items()}
    more = Entry(5, "New.md", "vault", "New", resolved_links=("Bell",))
    window.session.set_project(make_project(entries=(*VAULT, more)))
    settled(qtbot, window)
    drawing = pane.view.drawing
    assert 5 in drawing.rows
    for entry in (DAWNKEEP, SKARN, CROWN, RULES):
        assert (drawing.points[entry] - before[entry]).manhattanLength() < 150


@pytest.mark.own_window
def test_a_renamed_note_has_its_new_title_in_the_picture(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    view = pane.view.viewport()

    def words() -> list[str]:
        pane.view.resize(800, 600)
        pane.view.fit()
        return words_drawn(view)

    assert "Bell" in words()
    renamed = (replace(each, title="Carillon of the keep") if each.title == "Bell" else each for each in VAULT)
    window.session.set_project(make_project(entries=tuple(renamed)))
    settled(qtbot, window)
    assert "Bell" not in words()
    titles = [each for each in drawn(view) if each.words == "Carillon of the keep"]
    assert len(titles) == 1
    wide = QFontMetricsF(scaled(pane.view.font(), 0.9)).horizontalAdvance("Carillon of the keep")
    grounds = [each.box for each in drawn(view) if each.kind == "path" and each.box.contains(titles[0].box.center())]
    assert any(ground.width() > wide for ground in grounds), "its ground is as wide"


@pytest.mark.always
@pytest.mark.own_window
def test_a_hidden_pane_works_nothing_out(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    window.docks["graph"].close()
    window.session.set_project(make_project(entries=(*VAULT, Entry(5, "New.md", "vault", "New"))))
    qtbot.waitUntil(lambda: window.session.jobs.idle)
    assert 5 not in pane.view.drawing.rows
    window.run("go.graph")
    settled(qtbot, window)
    assert 5 in pane.view.drawing.rows


def test_a_stopped_layout_can_be_taken_up_again(make_window: Make, qtbot: QtBot) -> None:
    window = make_window(make_project(entries=VAULT))
    window.run("go.graph")
    window.features.graph.pane.strip.cancelled.emit()
    pane = settled(qtbot, window)
    assert pane.empty.title.text() in {"No graph", "Not laid out"}
    pane.empty.pressed.emit("again")
    settled(qtbot, window)
    assert len(pane.view.drawing.ids) == 5


def test_the_window_closes_while_the_graph_is_made(make_window: Make) -> None:
    entries = tuple(
        Entry(place, f"{place}.md", "vault", f"n{place}", resolved_links=(f"n{place // 2}",)) for place in range(900)
    )
    window = make_window(make_project(entries=entries, chat=False))
    window.run("go.graph")
    assert window.features.graph.pane.working
    window.close()
    assert window.session.jobs.wait(60_000)


@pytest.mark.own_window
def test_exports(window: MainWindow, pane: GraphPane, tmp_path: Path) -> None:
    for kind in ("png", "svg", "json"):
        pane.save_picture(tmp_path / f"graph.{kind}", kind)
    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "graph.svg").read_text(encoding="utf-8")
    assert "<svg" in svg
    assert "Dawnkeep" in svg
    data = json.loads((tmp_path / "graph.json").read_text(encoding="utf-8"))
    assert [node["title"] for node in data["nodes"]] == list(NAMES)
    assert {(edge["source"], edge["kind"], edge["target"]) for edge in data["edges"]} == {
        (DAWNKEEP, "link", SKARN), (SKARN, "link", DAWNKEEP), (CROWN, "requires", DAWNKEEP),
        (CROWN, "excludes", SKARN), (RULES, "cascade", CROWN),
    }  # fmt: skip
    assert data["nodes"][SKARN]["x"] == round(pane.view.drawing.points[SKARN].x(), 1)


def test_a_picture_that_cannot_be_written_is_told(window: MainWindow, pane: GraphPane, tmp_path: Path) -> None:
    (tmp_path / "graph.png").mkdir()
    pane._write(tmp_path / "graph.png", "png")
    assert any("graph.png" in label.text() for label in window.bars.findChildren(QLabel))


# ---- the menu of the pane -------------------------------------------------------------------------------------------


def choose_in_menu(qtbot: QtBot, window: MainWindow, name: str) -> GraphPane:
    """Choose a line of the pane's menu, by the beginning of its words."""
    pane = window.features.graph.pane
    (action,) = [each for each in pane.bar.menu_button.menu().actions() if each.text().startswith(name)]
    action.trigger()
    return settled(qtbot, window)


def in_sight(pane: GraphPane) -> QRectF:
    return pane.view.mapToScene(pane.view.viewport().rect()).boundingRect()


@pytest.mark.long
def test_the_whole_is_in_sight_at_first_and_what_is_made_anew_stays_as_near_as_it_was(
    new_window: MainWindow, qtbot: QtBot
) -> None:
    new_window.resize(1024, 640)  # in more room five nodes stay as large as they are told apart well
    new_window.run("go.graph")
    pane = settled(qtbot, new_window)
    nodes, sight = pane.view.drawing.bounds(), in_sight(pane)
    assert sight.contains(nodes)
    assert max(nodes.width() / sight.width(), nodes.height() / sight.height()) > 0.5
    pane.view.zoom(2)
    near = pane.view.transform().m11()
    choose_in_menu(qtbot, new_window, "Lay out")
    assert pane.view.transform().m11() == near
    pane.bar.scope.local.setChecked(True)
    new_window.selection.choose_entry(BELL)
    drain()
    assert pane.note.text() == "Nothing is connected with this entry by the kinds of edges that are shown."
    pane.bar.scope.local.setChecked(False)
    assert in_sight(pane).contains(pane.view.drawing.bounds()), "the whole again"
    assert pane.note.isHidden()


@pytest.mark.always
def test_surroundings_of_what_is_kept_out_can_be_asked_for(make_window: Make, qtbot: QtBot) -> None:
    window = make_window(make_project(entries=(*VAULT, Entry(5, "Secret.md", "vault", "Secret", graph=False))))
    window.run("go.graph")
    pane = settled(qtbot, window)
    assert window.docks["graph"].bar._note.text().endswith(" · 1 kept out")
    pane.bar.scope.local.setChecked(True)
    assert pane.empty.title.text() == "No entry is chosen"
    window.selection.choose_entry(5)
    drain()
    assert pane.empty.title.text() == "This entry is kept out of the graph"
    assert pane.empty.text.text() == "Its note says “graph: false”."
    drain()
    (door,) = (each for each in pane.empty.findChildren(QPushButton) if each.isVisible())
    assert door.text() == "Show such entries too"
    door.click()
    settled(qtbot, window)
    assert list(pane.view.drawing.ids) == [5]
    assert pane.view.isVisible()


def test_pins_are_let_go_titles_and_gaps_shown_by_the_menu(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    pane._pin(CROWN, on=True)
    pane._pin(BELL, on=True)
    assert pane.view.drawing.pinned == {CROWN, BELL}
    choose_in_menu(qtbot, window, "Unpin all")
    assert pane.view.drawing.pinned == set()
    assert pane._keeper.later.isActive()
    pane._keeper.finish()
    assert not pane._keeper.later.isActive()
    titles = pane.bar.options["titles"]
    for on in (not titles.isChecked(), titles.isChecked()):
        choose_in_menu(qtbot, window, titles.text())
        assert (titles.isChecked(), pane.view.drawing.titles) == (on, on)


@pytest.mark.always
@pytest.mark.own_window
def test_the_graph_is_saved_where_the_dialog_says(
    window: MainWindow, pane: GraphPane, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[str] = []

    def choose(dialog: QFileDialog) -> None:
        offered.append(Path(dialog.selectedFiles()[0]).name)
        dialog.fileSelected.emit(str(tmp_path / offered[-1]))
        dialog.deleteLater()

    monkeypatch.setattr(QFileDialog, "open", choose)
    for kind in ("PNG", "SVG", "JSON"):
        (action,) = [each for each in pane.bar.menu_button.menu().actions() if kind in each.text()]
        action.trigger()
        assert pane.note.text() == f"{offered[-1]} was written."
        assert (tmp_path / offered[-1]).stat().st_size > 100
    assert offered == ["vault graph.png", "vault graph.svg", "vault graph.json"]


def test_the_menu_stands_where_it_was_asked_for(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    asked: list[object] = []
    pane.view.menu_wanted.connect(lambda entry, _where: asked.append(entry))
    window.selection.choose_entry(CROWN)
    drain()
    view = pane.view
    for where, reason in (
        (view.mapFromScene(view.drawing.points[SKARN]), QContextMenuEvent.Reason.Mouse),
        (QPoint(1, 1), QContextMenuEvent.Reason.Mouse),
        (QPoint(1, 1), QContextMenuEvent.Reason.Keyboard),
    ):
        QApplication.sendEvent(view.viewport(), QContextMenuEvent(reason, where, view.viewport().mapToGlobal(where)))
        menu = QApplication.activePopupWidget()
        assert menu is not None
        menu.close()
        drain()
    assert asked == [SKARN, None, CROWN]


@pytest.mark.always
@pytest.mark.own_window
def test_the_menu_of_a_node_fits_what_is_the_case(window: MainWindow, pane: GraphPane) -> None:
    def words(entry: int) -> list[str]:
        menu = pane.make_menu(entry)
        found = [action.text() for action in menu.actions() if action.text()]
        menu.close()
        menu.deleteLater()
        return found

    always = ["Open the note", "Show its surroundings"]
    copies = ["Copy the title", "Copy what is known"]
    window.selection.choose_entry(None)
    assert words(CROWN) == [*always, "Pin its place", *copies]
    window.selection.choose_entry(CROWN)
    assert words(CROWN) == [*always, "Pin its place", *copies]
    assert words(SKARN) == [*always, "Show the way from Crown", "Pin its place", *copies]
    pane.bar.scope.local.setChecked(True)
    assert words(SKARN) == [*always, "Show the way from Crown", *copies]
    pane.bar.scope.local.setChecked(False)
    pane.show_way(BELL, CROWN)
    assert pane.note.text() == "No way leads from Bell to Crown."
    pane.show_way(RULES, DAWNKEEP)
    assert pane.note.text() == "2 steps: Rules → Crown → Dawnkeep"
    menu = pane.make_menu(SKARN)
    next(action for action in menu.actions() if action.text() == "Show its surroundings").trigger()
    assert (window.selection.entry, pane.bar.scope.local.isChecked()) == (SKARN, True)
    menu.deleteLater()


def test_the_next_hit_goes_round(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    window.selection.choose_entry(None)
    pane.bar.search.setText("r")  # in the title or a key of all but one
    hits = [entry for entry, node in enumerate(VAULT) if "r" in " ".join((node.title, *node.keys)).lower()]
    assert pane.bar.hits.text() == f"{len(hits)} hits"
    gone = []
    for _ in range(len(hits) + 1):
        qtbot.keyClick(pane.bar.search, Qt.Key.Key_Return)
        gone.append(window.selection.entry)
    assert gone == [*hits, hits[0]]
    pane.bar.search.setText("nowhere")
    qtbot.keyClick(pane.bar.search, Qt.Key.Key_Return)
    assert (pane.bar.hits.text(), window.selection.entry) == ("0 hits", hits[0])
    pane.bar.search.clear()
    assert pane.bar.hits.text() == ""


# ---- what goes wrong, and where the keyboard goes -------------------------------------------------------------------


@pytest.mark.long
def test_a_graph_that_cannot_be_made_is_told_and_can_be_tried_again(
    new_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> None:
        raise ValueError("the links are knotted")

    with monkeypatch.context() as patched:
        patched.setattr(graph_pane, "prepare", broken)
        new_window.run("go.graph")
        pane = settled(qtbot, new_window)
    assert new_window.bars.texts == ["the links are knotted"]
    assert (pane.empty.title.text(), pane.strip.isHidden()) == ("No graph", True)
    assert pane.empty.text.text() == "It was not finished.", "nobody stopped it"
    pane.empty.pressed.emit("again")
    settled(qtbot, new_window)
    assert pane.view.isVisible()
    new_window.session.close_project()
    drain()
    assert pane.empty.title.text() == "No vault"


@pytest.mark.always
@pytest.mark.parametrize("stopped", [True, False])
def test_while_it_is_made_the_pane_says_how_far_it_is_and_then_what_there_is(
    new_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    pane = new_window.features.graph.pane
    read, laid_out, make = Event(), Event(), graph_pane.prepare

    def slow(project: Any, store: Any, wish: Any, report: Callable[[object], None], cancel: CancelToken) -> object:
        assert read.wait(60)
        report(replace(make(project, store, wish, lambda _news: None, cancel), positions=None))
        assert laid_out.wait(60)
        if cancel.cancelled:
            raise Cancelled
        raise ValueError("the springs broke")

    def said() -> tuple[str, str, list[str]]:
        buttons = [each.text() for each in pane.empty.findChildren(QPushButton) if each.isVisible()]
        return pane.empty.title.text(), pane.empty.text.text(), buttons

    with monkeypatch.context() as patched:
        patched.setattr(graph_pane, "prepare", slow)
        new_window.run("go.graph")
        assert said() == ("Making the graph", "Links, groups and places are being worked out.", [])
        read.set()
        qtbot.waitUntil(lambda: pane.empty.title.text() != "Making the graph")
        drain()
        assert said() == ("Laying out the graph", "5 entries are finding their places. The list is ready.", [])
        if stopped:
            qtbot.mouseClick(pane.strip.stop, Qt.MouseButton.LeftButton)
        laid_out.set()
        settled(qtbot, new_window)
    rest = "The list and the surroundings of single entries work without it."
    ways = ["Lay out the graph", "Around the chosen entry"]
    assert said() == ("Not laid out", f"The layout is unfinished. {rest}", ways)
    assert new_window.bars.texts == ([] if stopped else ["the springs broke"])


@pytest.mark.always
@pytest.mark.own_window
def test_a_layout_that_cannot_be_kept_is_told(
    window: MainWindow, pane: GraphPane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(pane._keeper._store, "save", full)
    pane._pin(CROWN, on=True)
    pane._keeper.later.stop()
    pane._keeper._save()
    settled(qtbot, window)
    told = "The layout of the graph could not be kept: the disk is full"
    assert [text.rstrip(".") for text in window.bars.texts] == [told]
    window.bars.clear()
    pane._pin(BELL, on=True)
    window.close()
    drain()
    assert [text.rstrip(".") for text in window.bars.texts] == [told]


@pytest.mark.own_window
def test_the_keyboard_goes_to_what_is_in_front_and_its_search(
    window: MainWindow, pane: GraphPane, qtbot: QtBot
) -> None:
    assert pane.focus_target() is pane.view
    pane.tabs.setCurrentIndex(LIST)
    assert pane.focus_target() is pane.lists.entries
    pane.bar.search.setText("bell")
    assert pane.open_search()
    assert (pane.bar.search.hasFocus(), pane.bar.search.selectedText()) == (True, "bell")
    pane.bar.search.clear()
    pane.tabs.setCurrentIndex(0)


def test_only_remarkable_links_are_drawn_where_that_is_wanted(window: MainWindow, pane: GraphPane) -> None:
    option = pane.bar.options["remarkable"]
    before = {edge.kind for edge in pane._shown.edges}
    option.trigger()
    kept = [edge for edge in pane._shown.edges if edge.kind is EdgeKind.LINK]
    backbone = pane._prepared.found.backbone
    assert all((min(edge.source, edge.target), max(edge.source, edge.target)) in backbone for edge in kept)
    assert {edge.kind for edge in pane._shown.edges} >= before - {EdgeKind.LINK}
    option.trigger()
    assert {edge.kind for edge in pane._shown.edges} == before


def test_the_list_says_each_row_in_words(window: MainWindow, pane: GraphPane) -> None:
    window.selection.choose_entry(CROWN)
    rows = pane.lists.edge_model
    said = [rows.index(row, 0).data(ACCESSIBLE_TEXT) for row in range(rows.rowCount())]
    assert sorted(said) == ["cascaded from Rules", "excludes Skarn", "requires Dawnkeep"]
    assert pane.lists.edges_title.text() == "3 edges of Crown"
    assert [rows.headerData(at, HORIZONTAL) for at in at_the_right(rows)] == ["Mentions"]
    arrows = {rows.index(row, 1).data(): rows.index(row, 0).data() for row in range(rows.rowCount())}
    assert arrows == {"cascaded from": "←", "excludes": "→", "requires": "→"}
    window.selection.choose_entry(None)
    drain()
    assert (pane.lists.edges_title.text(), rows.rowCount()) == ("Choose an entry to see its edges", 0)


def test_buttons_upon_the_picture_come_nearer_go_away_and_show_all(
    window: MainWindow, pane: GraphPane, qtbot: QtBot
) -> None:
    bar, scale = pane.bar.zoom, lambda: pane.view.transform().m11()
    bar.fit.click()
    whole = scale()
    bar.nearer.click()
    assert scale() == pytest.approx(whole * ZOOM_STEP)
    bar.farther.click()
    bar.farther.click()
    assert scale() == pytest.approx(whole / ZOOM_STEP)
    bar.fit.click()
    assert scale() == pytest.approx(whole)


def test_a_gap_is_shown_as_a_way_in_the_picture(window: MainWindow, pane: GraphPane) -> None:
    pane.gaps.chosen.emit((BELL, RULES))
    assert window.selection.entry == BELL
    assert pane.view.drawing.path == (BELL, RULES)
    pane.gaps.chosen.emit((CROWN,))
    assert (window.selection.entry, pane.view.drawing.path) == (CROWN, (CROWN,))
    pane.gaps.chosen.emit(())
    assert window.selection.entry == CROWN
    pane.view.show_path(())


def test_other_colours_are_chosen_in_the_bar(window: MainWindow, pane: GraphPane) -> None:
    box = pane.bar.colours
    before = box.currentIndex()
    box.setCurrentIndex(box.findText("Priority"))
    assert {look.text for look in pane.view.drawing.looks.values()} == {"100", "20"}
    assert pane.colours.accessibleName().startswith("Colours: to 25 · 1, ")
    box.setCurrentIndex(before)
    assert not pane.colours.accessibleName().startswith("Colours: to 25")


def test_surroundings_come_back_with_their_entry(window: MainWindow, pane: GraphPane) -> None:
    window.selection.choose_entry(CROWN)
    pane.bar.scope.local.setChecked(True)
    shown = set(pane.view.drawing.ids)
    window.selection.choose_entry(None)
    drain()
    assert pane.empty.title.text() == "No entry is chosen"
    assert not pane.view.isVisible()
    window.selection.choose_entry(CROWN)
    drain()
    assert pane.view.isVisible()
    assert set(pane.view.drawing.ids) == shown
    pane.bar.scope.local.setChecked(False)


def test_hits_stay_where_edges_are_switched_off(window: MainWindow, pane: GraphPane) -> None:
    pane.bar.search.setText("bell")
    pane.edges.buttons[EdgeKind.LINK].click()
    assert (pane.bar.hits.text(), pane.view.drawing.hits) == ("1 hit", {BELL})
    assert list(table(pane)) == ["Bell"]
    pane.edges.buttons[EdgeKind.LINK].click()
    pane.bar.search.clear()
    assert pane.view.drawing.hits == frozenset()


def test_those_with_most_edges_stand_first(window: MainWindow, pane: GraphPane) -> None:
    heads = [pane.lists.model.headerData(place, HORIZONTAL) for place in range(pane.lists.model.columnCount())]
    by = pane.lists.entries.horizontalHeader().sortIndicatorSection()
    numbers = [int(row[by - 1]) for row in table(pane).values()]
    assert (heads[by], numbers) == ("Connected", sorted(numbers, reverse=True))
    assert len(set(numbers)) > 1


@pytest.mark.own_window
def test_what_comes_in_is_found_by_what_is_looked_for(window: MainWindow, pane: GraphPane, qtbot: QtBot) -> None:
    pane.bar.search.setText("harbour")
    assert pane.bar.hits.text() == "0 hits"
    window.session.set_project(make_project(entries=(*VAULT, Entry(5, "New.md", "vault", "Harbour"))))
    settled(qtbot, window)
    assert (pane.bar.hits.text(), pane.view.drawing.hits) == ("1 hit", {5})


def test_in_a_flat_pane_the_legend_stands_beside_the_picture(window: MainWindow, pane: GraphPane) -> None:
    def places(width: int, height: int) -> tuple[QRect, QRect]:
        pane.resize(width, height)
        pane.tabs.resize(width, height - 70)
        for each in (pane.tabs.widget(0), pane.tabs.widget(0).parentWidget()):
            each.resize(width, height - 110)
        pane.tabs.widget(0).layout().activate()
        return tuple(QRect(each.mapTo(pane, QPoint()), each.size()) for each in (pane.view, pane.edges))

    view, legend = places(480, 270)
    assert legend.left() > view.right()
    assert legend.right() <= 480
    view, legend = places(400, 500)
    assert legend.top() > view.bottom()
    assert view.width() == 400


def test_the_menu_of_an_edge_leads_to_its_other_end_and_pins_nobody_else(window: MainWindow, pane: GraphPane) -> None:
    pane.tabs.setCurrentIndex(LIST)
    window.selection.choose_entry(SKARN)
    drain()
    view = pane.lists.edges
    other = pane.lists.edge_model.rows[0].other
    menu = menu_of_row(view, pane.lists.edge_model.index(0, 0))
    assert titles_of(menu) == ["Go to this entry", "Copy"], "to pin would be about the entry that is chosen"
    menu.actions()[0].trigger()
    menu.close()
    assert window.selection.entry == other
