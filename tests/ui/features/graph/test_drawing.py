# ruff: noqa: F811 (fixtures of another module)
"""How the graph is drawn: rings, lines, signs and titles; its legend; and what mouse and wheel do in the picture."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.graph.bar import SAMPLE, ColourLegend, EdgeLegend
from lorestudio.ui.features.graph.looks import NodeLook, node_sentence, pen_of
from lorestudio.ui.features.graph.pane import GraphPane
from lorestudio.ui.features.graph.view import CLOSEST, FARTHEST, ZOOM_STEP
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme
from tests.ui.drawing import Drawn, drawn, words_drawn
from tests.ui.features.graph.test_pane import new_window, pane, place, window  # noqa: F401 (fixtures)
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, RULES, SKARN

PLACES = {DAWNKEEP: (0, 0), SKARN: (200, 0), CROWN: (0, 150), RULES: (200, 150), BELL: (100, 300)}


@pytest.fixture
def seen(pane: GraphPane) -> GraphPane:
    pane.view.resize(800, 600)
    place(pane, PLACES)
    pane.view.fit()
    return pane


def disc(pane: GraphPane, entry: int) -> QPoint:
    return pane.view.mapFromScene(pane.view.drawing.points[entry])


def around(pane: GraphPane, entry: int) -> list[Drawn]:
    """The round things that are drawn around a node, from the back to the front."""
    middle = QPointF(disc(pane, entry))
    found = [each for each in drawn(pane.view.viewport()) if each.kind in {"circle", "ellipse", "path"}]
    return [each for each in found if (each.box.center() - middle).manhattanLength() < 4 and each.box.width() < 90]


def test_every_node_has_its_colour_and_its_title(seen: GraphPane) -> None:
    titles = {"Dawnkeep", "Skarn", "Crown", "Rules", "Bell"}
    assert titles <= set(words_drawn(seen.view.viewport()))
    looks = seen.view.drawing.looks
    for entry in PLACES:
        assert looks[entry].fill.lower() in {each.fill for each in around(seen, entry)}
    seen.view.drawing.titles = False
    assert not titles & set(words_drawn(seen.view.viewport()))
    seen.view.drawing.titles = True


def test_what_is_chosen_found_alone_or_pinned_is_set_apart(
    window: MainWindow,
    seen: GraphPane,
    theme: Theme,
) -> None:
    bare = {entry: len(around(seen, entry)) for entry in PLACES}
    window.selection.choose_entry(SKARN)
    seen.bar.search.setText("fortr")
    seen.bar.options["gaps"].setChecked(True)
    seen.view.fit()
    rings = {entry: len(around(seen, entry)) - bare[entry] for entry in PLACES}
    assert rings == {DAWNKEEP: 2, SKARN: 1, CROWN: 0, RULES: 0, BELL: 1}
    edges = {entry: {each.edge for each in around(seen, entry)} for entry in PLACES}
    focus, error = (theme.color(name).name() for name in ("focus", "error"))
    assert [entry for entry in PLACES if focus in edges[entry]] == [SKARN]
    assert [entry for entry in PLACES if error in edges[entry]] == [BELL]
    assert theme.color("mark").name() in {each.fill for each in around(seen, DAWNKEEP)}
    squares = len([each for each in drawn(seen.view.viewport()) if each.kind == "rect"])
    seen.view.drawing.pinned = frozenset({CROWN})
    found = [each for each in drawn(seen.view.viewport()) if each.kind == "rect"]
    assert len(found) == squares + 1
    pins = [
        each for each in found if (each.fill, each.edge) == (theme.color("text").name(), theme.color("panel").name())
    ]
    from_the_middle = pins[0].box.center() - QPointF(disc(seen, CROWN))
    assert from_the_middle.x() > 0 > from_the_middle.y(), "at the upper right"
    seen.view.drawing.pinned = frozenset()


def strands(pane: GraphPane, color: str) -> list[tuple[int, int, int, int]]:
    """The lines of this colour: left, top, right, bottom, in the picture."""
    found = [each.box for each in drawn(pane.view.viewport()) if each.kind == "polyline" and each.edge == color]
    return [tuple(round(side) for side in (box.left(), box.top(), box.right(), box.bottom())) for box in found]


def between(pane: GraphPane, first: int, second: int) -> tuple[int, int, int, int]:
    ends = [pane.view.viewportTransform().map(pane.view.drawing.points[entry]) for entry in (first, second)]
    across, down = sorted(end.x() for end in ends), sorted(end.y() for end in ends)
    return round(across[0]), round(down[0]), round(across[1]), round(down[1])


def test_bridges_missing_connections_and_ways_are_lines_of_their_own(seen: GraphPane, theme: Theme) -> None:
    bridge, missing, way = (theme.color(name).name() for name in ("warning", "accent", "focus"))
    drawing = seen.view.drawing
    before = strands(seen, missing)  # edges have that colour, too
    assert len(before) == 1, "Crown requires Dawnkeep"
    assert [strands(seen, color) for color in (bridge, way)] == [[], []]
    gaps = SimpleNamespace(
        bridges=((RULES, CROWN),), missing=(SimpleNamespace(first=BELL, second=RULES),), orphans=(BELL,)
    )
    drawing.gaps, drawing.path = gaps, (SKARN, DAWNKEEP, CROWN)
    assert strands(seen, bridge) == [between(seen, RULES, CROWN)]
    assert [each for each in strands(seen, missing) if each not in before] == [between(seen, BELL, RULES)]
    assert sorted(strands(seen, way)) == sorted([between(seen, SKARN, DAWNKEEP), between(seen, DAWNKEEP, CROWN)])
    drawing.gaps, drawing.path = None, ()


def test_signs_of_nodes_are_numbers_icons_and_hatchings(seen: GraphPane) -> None:
    drawing = seen.view.drawing
    looks = dict(drawing.looks)
    drawing.looks = looks | {
        RULES: NodeLook("#102030", "#a0b0c0", "Seven", text="7"),
        CROWN: NodeLook("#112233", "#a1b1c1", "Hatched", hatched=True),
    }
    found = drawn(seen.view.viewport())
    assert [(each.words, each.fill) for each in found if each.words == "7"] == [("7", "#a0b0c0")]
    assert [each.fill[:4] for each in around(seen, CROWN)][-2:] == ["#112", "url("]
    assert [each for each in around(seen, RULES) if each.fill.startswith("url")] == []
    drawing.looks = looks


def test_what_hangs_together_with_the_chosen_is_always_named(seen: GraphPane) -> None:
    drawing = seen.view.drawing
    drawing.chosen, drawing.hovered, drawing.path = RULES, None, ()
    assert drawing.emphasised() == (RULES, CROWN)
    drawing.hovered = BELL
    assert drawing.emphasised() == (BELL, RULES)
    drawing.hovered, drawing.path, drawing.hits = None, (RULES, CROWN, SKARN), frozenset({BELL})
    assert drawing.emphasised() == (RULES, CROWN, SKARN, BELL)
    drawing.chosen, drawing.path, drawing.hits = None, (), frozenset()
    assert drawing.emphasised() == ()


def test_nodes_are_found_by_place(seen: GraphPane) -> None:
    drawing = seen.view.drawing
    right = drawing.radius[SKARN] + 200
    assert drawing.node_at(QPointF(right + 4, 0), 5) == SKARN
    assert drawing.node_at(QPointF(right + 6, 0), 5) is None
    bounds = drawing.bounds()
    assert (bounds.right(), bounds.top()) == (
        pytest.approx(200 + max(drawing.radius[each] for each in (SKARN, RULES))),
        pytest.approx(-max(drawing.radius[each] for each in (SKARN, DAWNKEEP))),
    )


def test_a_node_in_words(seen: GraphPane) -> None:
    found = seen.view.drawing.found
    assert node_sentence(found, RULES, {RULES: 2}).endswith(", fired in 2 generations of this chat")
    words = node_sentence(found, BELL, {})
    assert words.startswith("Bell: ")
    assert words.endswith(", not fired in this chat")
    assert ", connected with nothing, " in words
    place = found.community_of[RULES]
    assert f", community {place + 1}, " in node_sentence(found, RULES, {})
    assert "priority 20" in node_sentence(found, SKARN, {})


# ---- mouse and wheel ------------------------------------------------------------------------------------------------


def send(view: QWidget, kind: QEvent.Type, at: QPoint, button: Qt.MouseButton, held: Qt.MouseButton) -> None:
    place = QPointF(at)
    event = QMouseEvent(kind, place, QPointF(view.mapToGlobal(at)), button, held, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(view, event)


def drag(pane: GraphPane, start: QPoint, by: QPoint, button: Qt.MouseButton) -> None:
    view, none = pane.view.viewport(), Qt.MouseButton.NoButton
    send(view, QEvent.Type.MouseButtonPress, start, button, button)
    send(view, QEvent.Type.MouseMove, start + by, none, button)
    send(view, QEvent.Type.MouseButtonRelease, start + by, button, none)


def test_a_node_is_dragged_and_the_ground_pans(window: MainWindow, seen: GraphPane) -> None:
    told: list[int] = []
    seen.view.moved.connect(told.append)
    start, left = disc(seen, BELL), Qt.MouseButton.LeftButton
    drag(seen, start, QPoint(1, 1), left)  # too little: that is a click
    assert (told, window.selection.entry) == ([], BELL)
    assert disc(seen, BELL) == start
    drag(seen, start, QPoint(40, 0), left)
    assert told == [BELL]
    assert disc(seen, BELL).x() - start.x() == pytest.approx(40, abs=2)
    ground = disc(seen, DAWNKEEP)
    seen.view.zoom(3)
    ground = disc(seen, DAWNKEEP)
    empty = next(
        point for point in (QPoint(5, 5), QPoint(790, 5), QPoint(5, 560)) if seen.view._node_under(point) is None
    )
    drag(seen, empty, QPoint(30, 20), left)
    assert (disc(seen, DAWNKEEP) - ground).manhattanLength() == pytest.approx(50, abs=4)
    ground = disc(seen, DAWNKEEP)
    drag(seen, ground, QPoint(-30, 0), Qt.MouseButton.MiddleButton)  # that moves no node
    assert (disc(seen, DAWNKEEP) - ground).x() == pytest.approx(-30, abs=2)
    assert told == [BELL]


def test_the_wheel_zooms_around_the_pointer(seen: GraphPane) -> None:
    view = seen.view
    where = QPointF(disc(seen, SKARN))
    before = view.transform().m11()
    for turned, factor in ((120, ZOOM_STEP), (-120, 1)):
        event = QWheelEvent(
            where, view.viewport().mapToGlobal(where), QPoint(), QPoint(0, turned), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(view.viewport(), event)
        assert view.transform().m11() == pytest.approx(before * factor, rel=0.01)
    assert (disc(seen, SKARN) - where.toPoint()).manhattanLength() <= 3


# ---- the legend -----------------------------------------------------------------------------------------------------


def test_each_kind_of_edge_has_a_sample_in_its_colour(theme: Theme, qtbot: QtBot) -> None:
    legend = EdgeLegend(theme)
    qtbot.addWidget(legend)
    for kind, button in legend.buttons.items():
        sample = button.icon().pixmap(SAMPLE * 2).toImage()
        seen = [sample.pixelColor(x, y) for x in range(sample.width()) for y in range(sample.height())]
        fullest, wanted = max(seen, key=QColor.alpha), pen_of(kind, theme).color()
        assert fullest.alpha() > 100
        for channel in (QColor.red, QColor.green, QColor.blue):
            assert abs(channel(fullest) - channel(wanted)) < 8


def test_a_legend_names_its_colours_and_says_how_many_have_no_room(theme: Theme, qtbot: QtBot) -> None:
    legend = ColourLegend(theme)
    qtbot.addWidget(legend)
    legend.show()
    legend.resize(700, 60)
    looks = [
        NodeLook("#112233", "#ffffff", "constant", icon="check"), NodeLook("#445566", "#ffffff", "seed", text="S"),
        NodeLook("#778899", "#000000", "off", hatched=True),
    ]  # fmt: skip
    legend.set_legend(tuple((look, amount) for look, amount in zip(looks, (1200, 2, 3), strict=True)))
    assert legend.toolTip() == "constant · 1,200\nseed · 2\noff · 3"
    assert legend.accessibleName() == "Colours: constant · 1,200, seed · 2, off · 3"
    assert words_drawn(legend) == ["constant · 1,200", "S", "seed · 2", "off · 3"]
    shown = drawn(legend)
    assert {look.fill for look in looks} <= {each.fill for each in shown}
    assert len([each for each in shown if each.kind == "image"]) == 1
    assert len([each for each in shown if each.fill.startswith("url(#fillpattern")]) == 1
    low = legend.height()
    legend.resize(240, 60)
    assert legend.height() > low
    legend.set_legend(tuple((look, 1) for look in looks * 3))
    words = words_drawn(legend)
    assert words[-1] == f"{9 - len([each for each in words if ' · ' in each])} more"


def test_what_is_under_the_mouse_is_lit_and_told(window: MainWindow, seen: GraphPane) -> None:
    view, none = seen.view, Qt.MouseButton.NoButton
    view.set_light(1, 0.5, 0.1)
    send(view.viewport(), QEvent.Type.MouseMove, disc(seen, RULES), none, none)
    assert view.drawing.hovered == RULES
    assert view.viewport().cursor().shape() is Qt.CursorShape.PointingHandCursor
    assert [round(float(view.drawing.light[view.drawing.rows[entry]]), 2) for entry in (RULES, CROWN, BELL)] == [
        1.0, 0.5, 0.1,
    ]  # fmt: skip
    assert {"Rules", "Crown"} <= set(words_drawn(view.viewport()))
    send(view.viewport(), QEvent.Type.MouseMove, QPoint(2, 2), none, none)
    assert (view.drawing.hovered, view.drawing.light) == (None, None)
    assert view.viewport().cursor().shape() is Qt.CursorShape.ArrowCursor
    send(view.viewport(), QEvent.Type.MouseMove, disc(seen, RULES), none, none)
    QApplication.sendEvent(view.viewport(), QEvent(QEvent.Type.Leave))
    assert view.drawing.hovered is None
    where = disc(seen, RULES)
    tip = QHelpEvent(QEvent.Type.ToolTip, where, view.viewport().mapToGlobal(where))
    QApplication.sendEvent(view.viewport(), tip)
    assert QToolTip.text().startswith("Rules: constant, ")
    QToolTip.hideText()
    assert view._words_at(QPoint(2, 2)) == ""


def test_one_comes_no_nearer_than_makes_sense_and_a_picture_has_all(seen: GraphPane) -> None:
    view = seen.view
    for factor, limit in ((1e6, CLOSEST), (1e-9, FARTHEST)):
        view.zoom(factor)
        assert view.transform().m11() == pytest.approx(limit)
    view.fit()
    picture, small = view.picture(2), view.picture(1)
    assert (picture.width(), picture.height()) == (2 * small.width(), 2 * small.height())
    bounds = view.drawing.bounds()
    assert (small.width(), small.height()) == (round(bounds.width() + 120), round(bounds.height() + 70))


def test_a_node_out_of_sight_is_brought_there_and_one_in_sight_moves_nothing(
    window: MainWindow, seen: GraphPane
) -> None:
    view = seen.view
    view.choose(CROWN)
    before = view.mapToScene(0, 0)
    view.choose(SKARN)
    assert view.mapToScene(0, 0) == before
    view.zoom(6)
    view.centerOn(view.drawing.points[SKARN])
    view.choose(BELL)
    middle = view.mapToScene(view.viewport().rect().center())
    assert (middle - view.drawing.points[BELL]).manhattanLength() < 4
    assert view.accessibleDescription().startswith("Bell: ")
    view.choose(None)
    assert view.accessibleDescription() == "No entry is chosen"


def test_whatever_changes_is_drawn_again(seen: GraphPane, monkeypatch: pytest.MonkeyPatch) -> None:
    view, drawn_again = seen.view, [0]
    looks, edges = dict(view.drawing.looks), seen._shown

    def redraw() -> None:
        drawn_again[0] += 1

    monkeypatch.setattr(view, "redraw", redraw)
    for change in (
        lambda: view.show_looks(looks, {}), lambda: view.show_hits({BELL}), lambda: view.show_hits(()),
        lambda: view.show_path((CROWN, RULES)), lambda: view.show_path(()), lambda: view.show_gaps(None),
        lambda: view.show_pinned({BELL}), lambda: view.show_pinned(()), lambda: view.choose(BELL),
        lambda: view.choose(None), lambda: view.show_edges(edges, seen.edges.shown(), remarkable=False),
        lambda: view._hover(BELL), lambda: view._hover(None), view.fit,
    ):  # fmt: skip
        before = drawn_again[0]
        change()
        assert drawn_again[0] > before
    before = drawn_again[0]
    view.choose(None)
    view._hover(None)
    assert drawn_again[0] == before, "nothing has changed"
