"""What nodes and edges of the graph look like: legends by each colouring, lines beside each other, heads by kind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.studio.graph.analysis import Gaps, GraphStudy, study
from lorestudio.studio.graph.graph import Edge, EdgeKind, GraphNode, NodeKind, NoteGraph, build_graph
from lorestudio.ui.features.graph.bar import EdgeLegend
from lorestudio.ui.features.graph.items import shown_graph
from lorestudio.ui.features.graph.lists import GapList
from lorestudio.ui.features.graph.looks import (
    ColourBy,
    Looks,
    Stroke,
    StrokeSet,
    connections_words,
    draw_heads,
    graph_looks,
    strokes,
)
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, TOOLTIP
from lorestudio.ui.shell.theme import Theme, load_palettes
from tests.ui.conftest import drain
from tests.ui.drawing import Drawn, drawn
from tests.ui.features.graph.test_pane import VAULT, shown_of
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, RULES, SKARN

LINK, REQUIRES, EXCLUDES, CASCADE, WAKES = (
    EdgeKind.LINK, EdgeKind.REQUIRES, EdgeKind.EXCLUDES, EdgeKind.CASCADE, EdgeKind.WAKES,
)  # fmt: skip


@pytest.fixture(scope="module")
def found() -> GraphStudy:
    """The small vault as the graph has it."""
    return study(build_graph(VaultIndex(VAULT)), VAULT)


def made(found: GraphStudy, by: ColourBy, fired: dict[int, int] | None = None) -> Looks:
    return graph_looks(found, by, fired or {}, load_palettes()["light"])


def legend(looks: Looks) -> list[tuple[str, int]]:
    return [(look.word, amount) for look, amount in looks.legend]


def texts(looks: Looks) -> list[str]:
    return [looks.of[entry].text for entry in (DAWNKEEP, SKARN, CROWN, RULES, BELL)]


def test_by_kind_priority_and_how_often_they_fired(found: GraphStudy) -> None:
    assert legend(made(found, ColourBy.KIND)) == [("constant", 1), ("regular", 4)]
    by_priority = made(found, ColourBy.PRIORITY)
    assert legend(by_priority) == [("to 25", 1), ("to 40", 0), ("to 55", 0), ("to 75", 0), ("above", 4)]
    assert texts(by_priority) == ["100", "20", "100", "100", "100"]
    fired = {SKARN: 8, RULES: 1, DAWNKEEP: 4}
    often = made(found, ColourBy.FIRED, fired)
    assert legend(often) == [("never", 2), ("1 to 2", 1), ("3 to 4", 1), ("5 to 6", 0), ("7 to 8", 1)]
    assert texts(often) == ["4", "8", "0", "1", "0"]
    assert legend(made(found, ColourBy.FIRED, {SKARN: 2})) == [("never", 4), ("1", 0), ("2", 1)]
    assert legend(made(found, ColourBy.FIRED)) == [("never", 5), ("1", 0)]
    fills = [look.fill for look, _amount in often.legend]
    assert len(set(fills)) == 5
    low, high = (QColor(color) for color in (load_palettes()["light"].panel, load_palettes()["light"].focus))
    for fill in map(QColor, fills):
        part = (fill.red() - low.red()) / (high.red() - low.red())
        assert fill.green() == pytest.approx(low.green() + part * (high.green() - low.green()), abs=1.5)
        assert fill.blue() == pytest.approx(low.blue() + part * (high.blue() - low.blue()), abs=1.5)
    ground = QColor(load_palettes()["light"].panel).lightness()
    away = [abs(QColor(fill).lightness() - ground) for fill in fills]
    assert away == sorted(away), "the more often, the stronger"
    first = [abs(QColor(look.fill).lightness() - ground) for look, _amount in by_priority.legend]
    assert first == sorted(first, reverse=True), "what goes in first is the strongest"


@pytest.mark.parametrize(("amount", "words"), [(0, "nothing"), (1, "1 entry"), (2, "2 entries")])
def test_how_many_are_connected_in_words(amount: int, words: str) -> None:
    assert connections_words(amount) == f"connected with {words}"


def test_by_centrality_in_steps_of_twenty(found: GraphStudy) -> None:
    central = replace(found, centrality={DAWNKEEP: 0.0, SKARN: 0.2, CROWN: 0.199, RULES: 1.0})
    looks = made(central, ColourBy.CENTRALITY)
    assert legend(looks) == [
        ("0 to 20 %", 3), ("20 to 40 %", 1), ("40 to 60 %", 0), ("60 to 80 %", 0), ("80 to 100 %", 1),
    ]  # fmt: skip
    assert texts(looks) == ["0", "20", "20", "100", "0"]


def test_communities_that_share_a_fill_are_hatched_and_the_smallest_are_counted(found: GraphStudy) -> None:
    (group,) = found.communities[:1]
    amount = 16  # of which the legend names eight
    many = replace(
        found, communities=(group,) * amount, community_of={DAWNKEEP: 0, SKARN: 6, CROWN: 7, RULES: amount - 1}
    )
    looks = made(many, ColourBy.COMMUNITY)
    assert texts(looks) == ["1", "7", "8", str(amount), ""]
    of, grey = looks.of, load_palettes()["light"].fill("grey")[0]
    assert of[CROWN].fill == of[DAWNKEEP].fill != of[SKARN].fill
    assert of[RULES].fill == grey != of[CROWN].fill
    assert [of[entry].hatched for entry in (DAWNKEEP, SKARN, CROWN, RULES)] == [False, False, True, True]
    (alone,) = [entry for entry in looks.legend if entry[0].word == "on its own"]
    assert alone[1] == 1
    assert (looks.legend[-1][0].word, looks.legend[-1][1]) == ("8 more", 8 * len(group.members))
    assert "more" not in legend(made(found, ColourBy.COMMUNITY))[-1][0]


def test_lines_of_several_kinds_stand_beside_each_other() -> None:
    edges = [Edge(0, 1, LINK), Edge(1, 0, LINK), Edge(0, 1, REQUIRES), Edge(1, 0, EXCLUDES), Edge(2, 1, CASCADE)]
    assert strokes(edges) == (
        Stroke(0, 1, LINK, True, True, -5.0),
        Stroke(0, 1, REQUIRES, True, False, 0.0),
        Stroke(0, 1, EXCLUDES, False, True, 5.0),
        Stroke(1, 2, CASCADE, False, True, 0.0),
    )


def ends(line: QLineF) -> tuple[float, ...]:
    return tuple(round(each, 2) for each in (line.x1(), line.y1(), line.x2(), line.y2()))


def test_lines_end_before_the_nodes_and_are_drawn_where_they_are_seen() -> None:
    edges = Edge(0, 1, LINK), Edge(1, 2, LINK), Edge(0, 1, REQUIRES), Edge(2, 3, LINK)
    lines = StrokeSet(NoteGraph(edges=edges), {0: 0, 1: 1, 2: 2})
    at, wide = np.array([[0.0, 0.0], [100.0, 0.0], [100.0, 200.0]]), np.array([10.0, 20.0, 5.0])
    lines.place(at, wide)
    kinds = [(stroke.first, stroke.second, stroke.kind) for stroke in lines.strokes]
    assert [ends(line) for line in lines.lines] == [
        {(0, 1, LINK): (11.5, -2.5, 78.5, -2.5), (0, 1, REQUIRES): (11.5, 2.5, 78.5, 2.5),
         (1, 2, LINK): (100, 21.5, 100, 193.5)}[kind] for kind in kinds
    ]  # fmt: skip
    near = [QRectF(0, -5, 90, 10)]
    assert [kinds[place] for place in lines.which(near, LINK)] == [(0, 1, LINK)]
    assert [kinds[place] for place in lines.which(near, REQUIRES)] == [(0, 1, REQUIRES)]
    assert list(lines.which([QRectF(0, 50, 90, 10)], LINK)) == []
    lines.show({LINK})
    assert {kinds[place] for place in range(3)} - {(0, 1, REQUIRES)} == {each[:3] for each in shown_of(lines)}
    lines.show({LINK, REQUIRES}, links={(1, 2)})
    assert {each[:3] for each in shown_of(lines)} == {(1, 2, LINK), (0, 1, REQUIRES)}
    at[2] = (100.0, 100.0)
    (moved,) = [place for place, kind in enumerate(kinds) if kind == (1, 2, LINK)]
    lines.place(at, wide, only=[moved])
    assert ends(lines.lines[moved]) == (100, 21.5, 100, 93.5)


def test_of_plentiful_kinds_only_the_remarkable_are_seen_where_that_is_asked_for() -> None:
    edges = tuple(Edge(0, 1, kind) for kind in EdgeKind), tuple(Edge(1, 2, kind) for kind in EdgeKind)
    graph = NoteGraph({entry: GraphNode(entry, "", "", NodeKind.REGULAR, 0) for entry in range(3)}, sum(edges, ()))
    seen = shown_graph(GraphStudy(graph, backbone=frozenset({(0, 1)})), remarkable=True)
    assert {edge.kind for edge in seen.edges if edge.pair == (0, 1)} == set(EdgeKind)
    assert {edge.kind for edge in seen.edges if edge.pair == (1, 2)} == {REQUIRES, EXCLUDES, CASCADE}
    lines = StrokeSet(graph, {entry: entry for entry in graph.nodes})
    lines.show(set(EdgeKind), links={(0, 1)})
    assert {(each.first, each.kind) for each in shown_of(lines)} == {(edge.source, edge.kind) for edge in seen.edges}


def heads(qtbot: QtBot, kind: EdgeKind, *, forth: bool = True, back: bool = False, seen: bool = True) -> list[Drawn]:
    """What is drawn at the ends of a line from (20, 20) to (80, 20)."""

    class Heads(QWidget):
        def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 (Qt)
            line, area = QLineF(20, 20, 80, 20), QRectF(0, 0, 100 if seen else 10, 40)
            stroke = Stroke(0, 1, kind, forth, back, 0)
            draw_heads(QPainter(self), [(line, stroke)], kind, QColor("#123456"), [area])

    widget = Heads()
    qtbot.addWidget(widget)
    widget.resize(100, 40)
    return drawn(widget)[1:]  # after the ground


def box(drawing: Drawn) -> tuple[float, ...]:
    return tuple(round(each, 1) for each in drawing.box.getCoords())


@pytest.mark.parametrize(
    ("kind", "boxes", "fill"),
    [
        (LINK, [(74, 17, 80, 20), (74, 20, 80, 23)], "none"),
        (REQUIRES, [(72, 16, 80, 24)], "#123456"),
        (EXCLUDES, [(80, 15, 80, 25)], "none"),
        (CASCADE, [(73.8, 16.8, 80.2, 23.2)], "#123456"),
        (WAKES, [(70, 17, 76, 20), (70, 20, 76, 23), (74, 17, 80, 20), (74, 20, 80, 23)], "none"),
    ],
)
def test_each_kind_has_a_head_of_its_own(
    qtbot: QtBot, kind: EdgeKind, boxes: list[tuple[float, ...]], fill: str
) -> None:
    found = heads(qtbot, kind)
    assert sorted(map(box, found)) == boxes
    assert {each.fill for each in found} == {fill}
    assert len(heads(qtbot, kind, back=True)) == 2 * len(boxes)
    mirrored = [(round(100 - right, 1), 40 - low, round(100 - left, 1), 40 - high) for left, high, right, low in boxes]
    assert sorted(map(box, heads(qtbot, kind, forth=False, back=True))) == sorted(mirrored)
    assert heads(qtbot, kind, forth=False) == heads(qtbot, kind, seen=False) == []


def test_where_entries_wake_each_other_only_kinds_that_there_are_stand_there(theme: Theme, qtbot: QtBot) -> None:
    bar = EdgeLegend(theme)
    qtbot.addWidget(bar)
    bar.show()

    def shown(counts: dict[EdgeKind, int]) -> list[str]:
        bar.set_counts(counts)
        bar.resize(bar._wide(), 60)
        drain()
        buttons = [button for button in bar.buttons.values() if button.isVisible()]
        assert [button.x() for button in buttons] == sorted(button.x() for button in buttons)
        assert {button.y() for button in buttons} == {buttons[0].y()}
        return [button.text() for button in buttons]

    assert shown({WAKES: 3}) == ["Wakes 3"]
    assert shown({WAKES: 3, CASCADE: 1}) == ["Cascade 1", "Wakes 3"]
    assert shown({}) == ["Links 0", "Requires 0", "Excludes 0", "Cascade 0"]


def test_kinds_of_edges_stand_in_one_row_where_there_is_room(theme: Theme, qtbot: QtBot) -> None:
    bar = EdgeLegend(theme)
    qtbot.addWidget(bar)
    bar.set_counts({LINK: 1200, EXCLUDES: 1})
    shown = [button.text() for button in bar.buttons.values() if not button.isHidden()]
    assert shown == ["Links 1,200", "Requires 0", "Excludes 1", "Cascade 0"]
    bar.show()
    rows = []
    for width in (bar._wide(), bar._wide() - 1, bar._wide() + 50):
        bar.resize(width, 60)
        drain()
        rows.append(len({button.y() for button in bar.buttons.values() if not button.isHidden()}))
    assert rows == [1, 2, 1]
    told: list[frozenset[EdgeKind]] = []
    bar.changed.connect(lambda: told.append(bar.shown()))
    bar.buttons[LINK].click()
    assert told == [frozenset({REQUIRES, EXCLUDES, CASCADE, WAKES})]


def test_gaps_are_told_in_groups(theme: Theme, qtbot: QtBot, found: GraphStudy) -> None:
    shown = GapList(theme)
    qtbot.addWidget(shown)
    shown.show()
    told: list[object] = []
    shown.chosen.connect(told.append)

    def groups() -> dict[str, list[str]]:
        return {top.text: [row.text for row in top.children] for top in shown.model().root.children}

    shown.show_gaps(replace(found, gaps=Gaps()))
    assert groups() == {
        "Circles of requires · 0": ["No entry of the graph requires itself by way of others."],
        "Entries on their own · 0": ["Every entry of the graph is connected."],
        "Bridges · 0": ["No two communities hang together by a single connection."],
        "Connections that may be missing · 0": ["No two unconnected entries share the value of a gating field."],
    }
    missing = SimpleNamespace(first=BELL, second=RULES, shared=("era: fog", "tag: sea"))
    gaps: Any = replace(
        Gaps(), orphans=(BELL,), bridges=((RULES, CROWN),), circles=((CROWN, DAWNKEEP),), missing=(missing,),
        more_missing=1200, too_common=("era: now",),
    )  # fmt: skip
    shown.show_gaps(replace(found, gaps=gaps))
    rows = {title: rows[1:] for title, rows in groups().items()}
    assert rows == {
        "Circles of requires · 1": ["Crown → Dawnkeep → Crown"],
        "Entries on their own · 1": ["Bell"],
        "Bridges · 1": ["Rules – Crown"],
        "Connections that may be missing · 1 of 1,201": ["Bell – Rules   (era: fog, tag: sea)"],
    }
    shown.show_gaps(replace(found, gaps=replace(gaps, more_missing=1)))
    assert " 1 more pair shares something." in shown.model().root.children[3].children[0].text
    shown.show_gaps(replace(found, gaps=gaps))
    tops = shown.model().root.children
    about = shown.model().index_of(tops[3].children[0])
    assert about.data().endswith(" 1,200 more pairs share something. Too common to count: era: now.")
    assert about.data(ACCESSIBLE_TEXT) == about.data(), "the row may be too narrow for it"
    assert "1,200 more pairs share something." in " ".join(about.data(TOOLTIP).split())
    assert told == [], "nobody has chosen yet"
    for top, entries in zip(tops, ((CROWN, DAWNKEEP), (BELL,), (RULES, CROWN), (BELL, RULES)), strict=True):
        assert shown.isExpanded(shown.model().index_of(top))
        shown.setCurrentIndex(shown.model().index_of(top.children[1]))
        assert told[-1] == entries
    amount = len(told)
    shown.setCurrentIndex(shown.model().index_of(tops[0]))
    assert len([each for each in told[amount:] if each]) == 0
