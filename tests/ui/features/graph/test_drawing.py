# ruff: noqa: F811 (fixtures of another module)
"""How the graph is drawn: rings, lines, signs and titles; its legend; and what mouse and wheel do in the picture."""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QHelpEvent,
    QImage,
    QMouseEvent,
    QPainter,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.domain.lifecycle import Progress
from lorestudio.domain.records import replace
from lorestudio.studio.graph.analysis import GraphStudy
from lorestudio.studio.graph.graph import PLENTIFUL, Edge, EdgeKind, GraphNode, NodeKind, NoteGraph
from lorestudio.ui.features.graph import items
from lorestudio.ui.features.graph.bar import SAMPLE, ColourLegend, EdgeLegend
from lorestudio.ui.features.graph.looks import HEADS_FROM, NodeLook, StrokeSet, draw_strokes, node_sentence, pen_of
from lorestudio.ui.features.graph.pane import GraphPane
from lorestudio.ui.features.graph.view import CLOSEST, FARTHEST, FIT_MARGIN, LARGEST_PICTURE, ZOOM_STEP, GraphView
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme, glyph, scaled
from tests.ui.drawing import Drawn, drawn, image_of, words_drawn
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


def test_what_is_chosen_found_alone_or_pinned_is_set_apart(window: MainWindow, seen: GraphPane, theme: Theme) -> None:
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
    assert pins[0].box.width() == pytest.approx(pins[0].box.height())
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
    lines = [each for each in drawn(seen.view.viewport()) if each.kind == "polyline" and each.edge in (bridge, way)]
    assert {(each.edge, each.dashes in {"", "none"}) for each in lines} == {(bridge, False), (way, True)}
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
    assert node_sentence(found, RULES, {RULES: 2}).endswith(", fired in 2 replies of this chat")
    assert node_sentence(found, RULES, {RULES: 1}).endswith(", fired in 1 reply of this chat")
    words = node_sentence(found, BELL, {})
    assert words.startswith("Bell: ")
    assert words.endswith(", not fired in this chat")
    assert ", connected with nothing, " in words
    place = found.community_of[RULES]
    assert f", community {place + 1}, " in node_sentence(found, RULES, {})
    assert "priority 20" in node_sentence(found, SKARN, {})


def radius_of(pane: GraphPane, entry: int) -> float:
    return pane.view.drawing.radius[entry] * pane.view.transform().m11()


def test_nodes_and_rings_are_as_large_as_they_should_be(window: MainWindow, seen: GraphPane, theme: Theme) -> None:
    """Rings stand so many pixels outside of their node, however near one looks."""
    drawing = seen.view.drawing
    window.selection.choose_entry(None)
    for factor in (1.0, 0.6):
        seen.view.zoom(factor)
        for entry in (SKARN, BELL):
            (node,) = (each for each in around(seen, entry) if each.edge == theme.color("fill_edge").name())
            assert node.box.width() / 2 == pytest.approx(max(3, radius_of(seen, entry)), abs=0.1)
        drawing.hits, drawing.gaps = frozenset({CROWN}), SimpleNamespace(bridges=(), missing=(), orphans=(BELL,))
        drawing.chosen = SKARN
        wide = {
            name: next(each.box.width() / 2 for each in around(seen, entry) if name in {each.fill, each.edge})
            for name, entry in ((theme.color(tone).name(), of) for tone, of in (
                ("mark", CROWN), ("text_muted", CROWN), ("error", BELL), ("focus", SKARN)
            ))
        }  # fmt: skip
        outside = {theme.color("mark").name(): (CROWN, 9), theme.color("text_muted").name(): (CROWN, 9),
                   theme.color("error").name(): (BELL, 4.5), theme.color("focus").name(): (SKARN, 4.8)}  # fmt: skip
        for name, (entry, pixels) in outside.items():
            assert wide[name] == pytest.approx(radius_of(seen, entry) + pixels, abs=0.1)
        drawing.hits, drawing.gaps, drawing.chosen = frozenset(), None, None
    seen.view.fit()


def test_a_far_node_is_still_seen_without_its_sign(seen: GraphPane, theme: Theme) -> None:
    looks = dict(seen.view.drawing.looks)
    seen.view.drawing.looks = looks | {RULES: NodeLook("#102030", "#a0b0c0", "Seven", text="7")}
    seen.view.zoom(FARTHEST / seen.view.transform().m11())
    node = next(each for each in around(seen, RULES) if each.fill == "#102030")
    assert node.box.width() / 2 == pytest.approx(max(3, radius_of(seen, RULES)), abs=0.1)
    assert "7" not in words_drawn(seen.view.viewport())
    seen.view.drawing.looks = looks
    seen.view.fit()


def test_a_node_that_no_colouring_names_is_plain(seen: GraphPane, theme: Theme) -> None:
    looks = seen.view.drawing.looks
    seen.view.drawing.looks = {}
    assert theme.color("raised").name() in {each.fill for each in around(seen, BELL)}
    seen.view.drawing.looks = looks


def test_a_sign_stands_in_the_middle_of_its_node_and_grows_with_it(seen: GraphPane) -> None:
    looks = dict(seen.view.drawing.looks)
    drawing = seen.view.drawing
    drawing.looks = looks | {
        RULES: NodeLook("#102030", "#a0b0c0", "Seven", text="7"),
        CROWN: NodeLook("#112233", "#a1b1c1", "Many", text="1234"),
        BELL: NodeLook("#112233", "#a1b1c1", "Icon", icon="check"),
    }
    shown = drawn(seen.view.viewport())
    (icon,) = (each for each in shown if each.kind == "image")
    middle = disc(seen, BELL)
    assert abs(icon.box.center().x() - middle.x()) < 2
    assert abs(icon.box.center().y() - middle.y()) < 2
    assert icon.box.width() == pytest.approx(1.25 * radius_of(seen, BELL), abs=1)
    short, long = (next(each for each in shown if each.words == word) for word in ("7", "1234"))
    for word, entry in ((short, RULES), (long, CROWN)):
        assert word.box.left() < disc(seen, entry).x() < word.box.left() + 2 * radius_of(seen, entry)
        assert word.weight == 600
    drawing.looks = looks


def test_titles_stand_below_their_nodes_on_a_ground_and_that_of_the_chosen_is_bold(
    window: MainWindow, seen: GraphPane, theme: Theme
) -> None:
    window.selection.choose_entry(SKARN)
    seen.view.fit()
    shown = drawn(seen.view.viewport())
    for entry, name in ((SKARN, "Skarn"), (CROWN, "Crown")):
        (word,) = (each for each in shown if each.words == name)
        middle = disc(seen, entry)
        assert word.box.left() < middle.x()
        assert word.box.top() > middle.y() + radius_of(seen, entry) + 2
        assert (word.weight, word.fill) == (
            (600, theme.color("text").name()) if entry == SKARN else (400, theme.color("text_muted").name())
        )
        grounds = [each.box for each in shown if each.fill == theme.color("panel").name() and each.kind == "path"]
        ground = next(box for box in grounds if abs(box.center().x() - middle.x()) < 2 and box.top() > middle.y())
        assert ground.top() == pytest.approx(middle.y() + radius_of(seen, entry) + 2, abs=1.5)
        assert ground.left() < word.box.left()
    seen.view.zoom(0.5)
    points = {each.points for each in drawn(seen.view.viewport()) if each.words in {"Skarn", "Crown"}}
    assert points == {next(each.points for each in shown if each.words == "Skarn")}  # as large at every scale
    seen.view.fit()


def test_titles_cover_neither_each_other_nor_a_node_but_those_of_the_most_connected(
    window: MainWindow, seen: GraphPane, theme: Theme
) -> None:
    view, names = seen.view, {"Dawnkeep", "Skarn", "Crown", "Rules", "Bell"}

    def titles(places: dict[int, tuple[float, float]]) -> set[str]:
        place(seen, places)
        view._settle()
        view.resetTransform()
        view.centerOn(0, 0)
        shown = drawn(view.viewport())
        grounds = [each.box for each in shown if each.fill == theme.color("panel").name() and each.kind == "path"]
        assert not [pair for pair in combinations(grounds, 2) if pair[0].intersects(pair[1])]
        return names & {each.words for each in shown}

    window.selection.choose_entry(None)
    apart = {CROWN: (-150.0, 0.0), DAWNKEEP: (0.0, -120.0), SKARN: (150.0, 0.0), RULES: (0.0, 0.0), BELL: (0.0, 120.0)}
    assert titles(apart) == names
    # Skarn's title starts left of where Dawnkeep's ends; the one with the lower number of two like ones is first.
    assert titles(apart | {SKARN: (20.0, -120.0)}) == names - {"Skarn"}
    assert titles(apart | {SKARN: (-130.0, 0.0)}) == names - {"Skarn"}, (
        "Crown has more connections, and a higher number"
    )
    window.selection.choose_entry(SKARN)
    assert titles(apart | {SKARN: (20.0, -120.0)}) == names - {"Dawnkeep"}, "the chosen one has its title"
    window.selection.choose_entry(None)
    below = disc(seen, RULES).y() + radius_of(seen, RULES) + 10  # where its title stands
    under = view.mapToScene(disc(seen, RULES).x(), round(below)).y()
    assert titles(apart | {BELL: (0.0, under)}) == names - {"Rules"}, "three have their title whatever it covers"
    assert titles(apart | {CROWN: (0.0, 0.0), RULES: (-150.0, 0.0), BELL: (0.0, under + 5)}) == names


def test_what_is_far_from_the_hovered_is_dim(seen: GraphPane) -> None:
    drawing = seen.view.drawing
    drawing.shine({RULES: 1.0}, 0.25)
    assert [float(drawing.light[drawing.rows[entry]]) for entry in (RULES, BELL)] == [1.0, 0.25]
    image = seen.view.viewport().grab().toImage()
    dim, bright = (image.pixelColor(disc(seen, entry) + QPoint(0, -3)) for entry in (BELL, RULES))
    drawing.shine(None, 1.0)
    image = seen.view.viewport().grab().toImage()
    assert image.pixelColor(disc(seen, BELL) + QPoint(0, -3)) != dim
    assert image.pixelColor(disc(seen, RULES) + QPoint(0, -3)) == bright


def test_another_picture_is_not_dim_for_what_was_hovered_in_the_one_before(seen: GraphPane) -> None:
    view, found = seen.view, seen.view.drawing.found
    view._hover(BELL)
    assert view.drawing.light is not None
    view.show_graph(found, PLACES, fit=True)
    assert view.drawing.light is None


def test_edges_of_the_chosen_are_strong(window: MainWindow, seen: GraphPane, theme: Theme) -> None:
    """Crown excludes Skarn; the line is drawn once more, thicker, when one of both is chosen."""
    ink = theme.color("error").name()

    def widths() -> list[float]:
        found = [each for each in drawn(seen.view.viewport()) if each.edge == ink and each.dashes not in {"", "none"}]
        return sorted({each.wide for each in found})

    window.selection.choose_entry(BELL)
    assert widths() == [1.6]
    window.selection.choose_entry(SKARN)
    assert widths() == [1.6, pytest.approx(2.3)]
    seen.view.drawing.hovered = BELL  # what is under the pointer counts before it
    assert widths() == [1.6]
    seen.view.drawing.hovered = None


@pytest.mark.parametrize("kind", sorted(PLENTIFUL))
def test_many_links_are_faint_and_far_ones_have_no_heads(theme: Theme, kind: EdgeKind) -> None:
    """More than a hundred of them would make one dark surface."""
    amount = 400
    rows = {place: place for place in range(amount + 1)}
    edges = tuple(Edge(0, place, kind) for place in range(1, amount + 1))
    lines = StrokeSet(NoteGraph(edges=edges), rows)
    at = np.array([[0.0, 0.0], *([100.0, float(place)] for place in range(amount))])
    lines.place(at, np.ones(amount + 1))
    area = [QRectF(-500, -500, 2000, 2000)]

    def look(places: int, scale: float = 1.0, *, strong: bool = False) -> tuple[int, bool]:
        told: list[int] = []

        class Noting(QPainter):
            def drawLines(self, _made: list[QLineF]) -> None:  # noqa: N802 (Qt)
                told.append(self.pen().color().alpha())

        image = QImage(50, 50, QImage.Format.Format_ARGB32_Premultiplied)
        painter = Noting(image)
        painter.scale(scale, scale)
        draw_strokes(painter, lines, range(places), kind, theme, area, strong=strong)
        assert painter.testRenderHint(QPainter.RenderHint.Antialiasing) or not places
        painter.end()
        return (told[0], len(told) > 1) if told else (0, False)

    assert look(0) == (0, False)
    assert look(120) == (255, True)
    assert look(240)[0] == round(255 * math.sqrt(1 / 2))
    assert look(400)[0] == max(62, round(255 * math.sqrt(120 / 400)))
    assert look(24, strong=True)[0] == 255
    assert look(48, strong=True)[0] == round(255 * math.sqrt(1 / 2))
    assert look(400, strong=True)[0] == 62
    assert [look(10, scale)[1] for scale in (HEADS_FROM, HEADS_FROM - 0.01)] == [True, False]


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
        left = [x for x in range(8) for y in range(sample.height()) if sample.pixelColor(x, y).alpha() > 60]
        assert left, "the line begins at the left, the head stands at the right"
        for channel in (QColor.red, QColor.green, QColor.blue):
            assert abs(channel(fullest) - channel(wanted)) < 8


def test_the_round_samples_of_colours_have_smooth_edges(theme: Theme, qtbot: QtBot) -> None:
    legend = ColourLegend(theme)
    qtbot.addWidget(legend)
    legend.resize(200, 30)
    legend.set_legend(((NodeLook("#112233", "#ffffff", "constant"), 1),))
    picture = legend.grab().toImage()
    left = next(each.box.left() for each in drawn(legend) if each.words)
    seen = {picture.pixelColor(x, y).name() for x in range(int(left)) for y in range(picture.height())}
    assert len(seen) > 6  # between ground, edge and colour


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
    sample = next(each.box for each in shown if each.fill == "#445566")
    letter = next(each.box for each in shown if each.words == "S")
    assert sample.left() + sample.width() / 8 < letter.left() < sample.center().x(), "it stands in the middle"
    assert {look.fill for look in looks} <= {each.fill for each in shown}
    assert len([each for each in shown if each.kind == "image"]) == 1
    assert len([each for each in shown if each.fill.startswith("url(#fillpattern")]) == 1
    low = legend.height()
    legend.resize(240, 60)
    assert legend.height() > low
    legend.set_legend(tuple((look, 1) for look in looks * 3))
    words = words_drawn(legend)
    assert words[-1] == f"{9 - len([each for each in words if ' · ' in each])} more"


LEGEND = (
    NodeLook("#112233", "#ffffff", "constant", icon="check"), NodeLook("#445566", "#ffffff", "seed", text="S"),
    NodeLook("#778899", "#010203", "off", hatched=True),
)  # fmt: skip


@pytest.fixture
def colours(theme: Theme, qtbot: QtBot) -> ColourLegend:
    made = ColourLegend(theme)
    qtbot.addWidget(made)
    made.resize(700, 60)
    made.set_legend(tuple((look, 7) for look in LEGEND))
    made.show()
    return made


def test_samples_stand_before_their_words_with_room_between(colours: ColourLegend, theme: Theme) -> None:
    metrics = QFontMetricsF(scaled(colours.font(), 0.9))
    high = max(18, round(metrics.height()) + 3)
    shown = drawn(colours)
    left = 10
    for look in LEGEND:
        (disc,) = (each for each in shown if each.fill == look.fill and not each.image)
        (word,) = (each for each in shown if each.words == f"{look.word} · 7")
        assert disc.edge == theme.color("fill_edge").name()
        assert (disc.box.left(), disc.box.width(), disc.box.height()) == (pytest.approx(left), 13, 13)
        assert disc.box.center().y() == pytest.approx(2 + high / 2, abs=1)
        assert word.box.left() == left + 13 + 5
        assert (word.fill, word.weight) == (theme.color("text_muted").name(), 400)
        assert word.points == pytest.approx(0.9 * colours.font().pointSizeF(), abs=0.01)
        left += round(metrics.horizontalAdvance(word.words) + 13 + 8) + 10
    (sign,) = (each for each in shown if each.image)
    assert sign.image == image_of(glyph("check", "#ffffff", 9))
    (letter,) = (each for each in shown if each.words == "S")
    assert (letter.fill, letter.weight) == ("#ffffff", 600)
    assert letter.points == pytest.approx(0.9 * 0.72 * colours.font().pointSizeF(), abs=0.02)
    assert colours.height() == 2 + high + 5 - 1
    assert (colours.sizeHint().width(), colours.sizeHint().height()) == (120, colours.height())
    assert colours.sizePolicy().verticalPolicy() is QSizePolicy.Policy.Fixed


def test_a_legend_has_two_lines_and_no_more(colours: ColourLegend) -> None:
    metrics = QFontMetricsF(scaled(colours.font(), 0.9))
    high = max(18, round(metrics.height()) + 3)
    colours.set_legend(tuple((look, 7) for look in LEGEND * 6))
    for width in (700, 400, 260, 150):
        colours.resize(width, 60)
        words = [each for each in drawn(colours) if " · " in each.words or "more" in each.words]
        assert len({round(each.box.top()) for each in words}) <= 2
        assert max(each.box.left() for each in words) < width - 10
    assert colours.height() == 2 + 2 * high + 5 - 1
    colours.set_legend(())
    assert (colours.height(), [each for each in drawn(colours) if each.words]) == (0, [])


def test_a_switch_of_edges_says_what_it_shows(theme: Theme, qtbot: QtBot) -> None:
    legend = EdgeLegend(theme)
    qtbot.addWidget(legend)
    legend.set_counts({EdgeKind.LINK: 1200})
    button = legend.buttons[EdgeKind.LINK]
    assert (button.text(), button.accessibleName()) == ("Links 1,200", "Show edges: Links, 1,200")
    assert button.toolTip().startswith("“links to …”")
    assert all(each.isCheckable() and each.isChecked() for each in legend.buttons.values())
    assert all(
        each.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon for each in legend.buttons.values()
    )
    widest = sorted(each.sizeHint().width() for each in legend.buttons.values())[-2:]
    assert sum(widest) <= legend.minimumSizeHint().width() < legend._wide()
    samples = [each.icon().pixmap(SAMPLE).toImage() for each in legend.buttons.values()]
    assert len({bytes(each.constBits()) for each in samples}) == 5, "each kind has a line and a head of its own"


def test_the_depth_of_the_surroundings_is_seen_where_it_counts(theme: Theme, qtbot: QtBot, seen: GraphPane) -> None:
    scope = seen.bar.scope
    told: list[int] = []
    scope.changed.connect(lambda: told.append(scope.steps.value()))
    assert (scope.local.isChecked(), scope.steps.isHidden(), scope.text.isHidden()) == (False, True, True)
    scope.local.setChecked(True)
    assert (scope.steps.isHidden(), scope.text.isHidden(), scope.text.text()) == (False, False, "2 steps")
    scope.set_narrow(True)
    assert (scope.steps.isHidden(), scope.text.isHidden()) == (False, True)
    scope.steps.setValue(1)
    assert (scope.text.text(), scope.steps.toolTip()) == ("1 step", "Up to 1 step from the chosen entry")
    assert scope.text.isHidden()
    scope.set_narrow(False)
    assert not scope.text.isHidden()
    assert told[-1] == 1
    scope.steps.setValue(2)
    scope.local.setChecked(False)
    assert scope.text.isHidden()


@pytest.mark.always
@pytest.mark.own_window
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


def test_the_whole_fits_the_room_that_there_is_until_somebody_looks_closer(seen: GraphPane) -> None:
    view = seen.view
    view.choose(SKARN)

    def share() -> float:
        sight, nodes = view.mapToScene(view.viewport().rect()).boundingRect(), view.drawing.bounds()
        assert sight.contains(nodes)
        return max(nodes.width() / sight.width(), nodes.height() / sight.height())

    view.fit()
    for size in ((400, 120), (700, 500), (300, 300)):
        view.resize(*size)
        assert share() > 0.5
        view.choose(BELL if view.drawing.chosen == SKARN else SKARN)
        assert share() > 0.5
    for look in (lambda: view.zoom(1.2), lambda: view.pan(3, 0), lambda: view._bring({BELL})):
        view.fit()
        look()
        near = view.transform().m11()
        view.resize(view.width() + 60, view.height() + 60)
        assert view.transform().m11() == near


@pytest.mark.own_window
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


def test_the_menu_of_a_node_stands_at_it_and_that_of_the_graph_in_the_middle(
    window: MainWindow, seen: GraphPane, qtbot: QtBot
) -> None:
    told: list[tuple[object, QPoint]] = []
    seen.view.menu_wanted.disconnect()
    seen.view.menu_wanted.connect(lambda entry, where: told.append((entry, seen.view.viewport().mapFromGlobal(where))))
    window.selection.choose_entry(SKARN)
    qtbot.keyClick(seen.view, Qt.Key.Key_Menu)
    reason = QContextMenuEvent.Reason.Keyboard
    for chosen in (CROWN, None):
        window.selection.choose_entry(chosen)
        event = QContextMenuEvent(reason, QPoint(3, 3), seen.view.viewport().mapToGlobal(QPoint(3, 3)))
        QApplication.sendEvent(seen.view.viewport(), event)
        assert event.isAccepted()
    seen.view.menu_wanted.connect(seen._open_menu)
    middle = seen.view.viewport().rect().center()
    assert told == [(SKARN, disc(seen, SKARN)), (CROWN, disc(seen, CROWN)), (None, middle)]


def test_enter_opens_only_what_is_chosen(window: MainWindow, seen: GraphPane, qtbot: QtBot) -> None:
    opened: list[int] = []
    seen.view.opened.disconnect()
    seen.view.opened.connect(opened.append)
    window.selection.choose_entry(None)
    qtbot.keyClick(seen.view, Qt.Key.Key_Return)
    window.selection.choose_entry(CROWN)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        qtbot.keyClick(seen.view, key)
    seen.view.opened.connect(seen._open)
    assert opened == [CROWN, CROWN]


def test_to_open_a_node_is_to_choose_it(window: MainWindow, seen: GraphPane) -> None:
    window.selection.choose_entry(SKARN)
    told: list[bool] = []
    seen.opened.disconnect()
    seen.opened.connect(lambda: told.append(True))
    seen._open(CROWN)
    assert (window.selection.entry, told) == (CROWN, [True])


def test_where_there_is_hardly_any_room_the_picture_stays_as_it_is(seen: GraphPane) -> None:
    before = seen.view.transform().m11()
    frame = seen.view.width() - seen.view.viewport().width()
    for room, same in ((9, True), (10, False)):
        seen.view.resize(2 * FIT_MARGIN + room + frame, 400)
        seen.view.fit()
        assert (seen.view.transform().m11() == before) == same
    seen.view.resize(800, 600)
    seen.view.fit()


def test_a_zoom_keeps_the_middle_where_it_is(seen: GraphPane) -> None:
    view = seen.view
    middle = view.viewport().rect().center()
    before = view.mapToScene(middle)
    view.zoom(2)
    assert (view.mapToScene(middle) - before).manhattanLength() < 4
    where = QPointF(disc(seen, CROWN))
    view.zoom(0.5, where)
    assert (disc(seen, CROWN) - where.toPoint()).manhattanLength() <= 3
    view.fit()


def test_a_picture_is_never_larger_than_can_be_stored(seen: GraphPane) -> None:
    place(seen, PLACES | {BELL: (200_000, 300)})
    picture = seen.view.picture(2)
    assert max(picture.width(), picture.height()) == LARGEST_PICTURE
    place(seen, PLACES)
    image = seen.view.picture(1)
    assert image.pixelColor(1, 1) == seen.theme.color("panel")
    made = seen.view.svg().decode()
    assert all(f">{name}<" in made for name in ("Dawnkeep", "Skarn", "Crown", "Rules", "Bell"))
    bounds = seen.view.drawing.bounds()
    assert f'viewBox="0 0 {round(bounds.width() + 120)} {round(bounds.height() + 70)}"' in made


def test_what_lies_upon_the_picture_stays_in_its_lower_right_corner(seen: GraphPane) -> None:
    for size in ((800, 600), (640, 420)):
        seen.view.resize(*size)
        upon = seen.view._upon.geometry()
        assert (upon.right(), upon.bottom()) == (size[0] - 1 - 8, size[1] - 1 - 8)
        assert upon.size() == seen.view._upon.sizeHint()
    seen.view.resize(800, 600)


def test_a_way_is_drawn_as_far_as_its_nodes_are_still_there(seen: GraphPane) -> None:
    view, found = seen.view, seen.view.drawing.found
    view.show_path((SKARN, DAWNKEEP, CROWN))
    without = {entry: point for entry, point in PLACES.items() if entry != CROWN}
    view.show_graph(found, without, fit=False)
    assert view.drawing.path == (SKARN, DAWNKEEP)
    assert view.drawing.hovered is None
    view.show_path(())
    view.show_graph(found, PLACES, fit=True)


def test_how_far_the_layout_is_and_that_it_was_stopped_is_said(seen: GraphPane, theme: Theme) -> None:
    seen.strip.start("Reading how the notes are connected…", stoppable=True)
    seen._reported(Progress(30, 100))
    assert (seen.strip.bar.value(), seen.strip.bar.maximum()) == (30, 100)
    assert seen.strip.label.text() == "Laying out the graph…"
    seen.strip.finish()
    prepared = replace(seen._prepared, positions=None)
    seen._say_no_positions(prepared)
    assert seen.empty.title.text() == "Not laid out"
    assert [each.text() for each in seen.empty.findChildren(QPushButton) if not each.isHidden()] == [
        "Lay out the graph", "Around the chosen entry",
    ]  # fmt: skip
    seen._show_picture()


def test_a_gap_of_nothing_is_no_way(window: MainWindow, seen: GraphPane) -> None:
    window.selection.choose_entry(SKARN)
    seen._show_gap(())
    assert window.selection.entry == SKARN
    seen._show_gap((BELL, RULES))
    assert (window.selection.entry, seen.view.drawing.path) == (BELL, (BELL, RULES))
    seen.view.show_path(())


def test_pins_are_kept_and_let_go(seen: GraphPane) -> None:
    seen._keeper.later.stop()
    seen._pin(BELL, on=True)
    assert (BELL in seen._prepared.pinned, BELL in seen.view.drawing.pinned, seen._keeper.later.isActive()) == (
        True, True, True,
    )  # fmt: skip
    seen._pin(BELL, on=False)
    assert (BELL in seen._prepared.pinned, BELL in seen.view.drawing.pinned) == (False, False)
    seen._keeper.later.stop()


def test_a_throng_of_small_nodes_looks_as_a_few_do(theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Discs in crowds are drawn from pictures: in place, in colour, dimmed and marked as those that are drawn alone."""
    nodes = {entry: GraphNode(entry, str(entry), "", NodeKind.REGULAR, 50) for entry in range(300)}
    view = GraphView(theme)
    qtbot.addWidget(view)
    view.resize(600, 500)
    view.show()
    places = {entry: (30.4 * (entry % 20), 30.7 * (entry // 20)) for entry in nodes}
    view.show_graph(GraphStudy(NoteGraph(nodes)), places, fit=True)
    sorts = [NodeLook("#e07010", "#000000", "A", text="1"), NodeLook("#2060c0", "#ffffff", "B", hatched=True)]
    view.show_looks({entry: sorts[entry % 7 == 0] for entry in list(nodes)[:-1]}, {})
    view.show_pinned({67})
    view.drawing.titles = False
    view.drawing.chosen, view.drawing.hits = 21, frozenset({44})

    def shown(few: int) -> NDArray[np.int16]:
        """The picture as from afar, where hatchings are shades: from pictures where more than `few` are in sight."""
        monkeypatch.setattr(items, "_STAMPED_FROM", few)
        image = view.viewport().grab().toImage()
        small = image.scaled(image.size() / 6, mode=Qt.TransformationMode.SmoothTransformation)
        return np.array(small.convertToFormat(QImage.Format.Format_RGB32).constBits(), dtype=np.int16)

    for name in ("light", "dark"):
        theme.choose(name)
        for light, scale in ((None, 1.0), (None, 0.6), ({21: 1.0, 22: 0.5}, 1.0)):
            view.drawing.shine(light, 0.2)
            view.zoom(scale)
            apart = np.abs(shown(1000) - shown(200))
            assert apart.any()  # pictures they are
            assert apart.mean() < 0.85
            assert apart.max() < 60
