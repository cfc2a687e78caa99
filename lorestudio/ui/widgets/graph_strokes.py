"""The edges of the graph as lines and heads; kinds differ in dashes and heads, not in colour alone."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from lorestudio.studio.note_graph import Edge, EdgeKind
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.paint import hairline

HEADS_UP_TO: Final = 1500
"""So many edges at a time have heads; with more, or from far away, they would be a smear."""

SMOOTH_UP_TO: Final = 1200
"""More lines at a time are drawn without smoothing, which takes most of the time and cannot be seen in a throng."""

HEADS_FROM: Final = 0.4
"""From this scale on heads are drawn."""

_FEW, _FEW_STRONG, _FAINTEST = 120, 24, 62
_BESIDE: Final = 5.0
_COLOURS: Final = {
    EdgeKind.LINK: "border_strong",
    EdgeKind.REQUIRES: "accent",
    EdgeKind.EXCLUDES: "error",
    EdgeKind.CASCADE: "good",
}


class Stroke(NamedTuple):
    """Edges of one kind between two nodes, drawn as one line; `forth` and `back` say which ends have a head."""

    first: int
    second: int
    kind: EdgeKind
    forth: bool
    back: bool
    beside: float


def strokes(edges: Iterable[Edge]) -> tuple[Stroke, ...]:
    """Mutual edges of a kind become one line with two heads; lines of several kinds stand beside each other."""
    ways: dict[tuple[int, int], dict[EdgeKind, int]] = {}
    for edge in edges:
        source, target = edge.source, edge.target
        ends, way = ((source, target), 1) if source < target else ((target, source), 2)
        kinds = ways.get(ends)
        if kinds is None:
            ways[ends] = {edge.kind: way}
        else:
            kinds[edge.kind] = kinds.get(edge.kind, 0) | way
    made = []
    for (first, second), kinds in ways.items():
        beside = -_BESIDE * (len(kinds) - 1) / 2
        for kind, way in kinds.items():
            made.append(Stroke(first, second, kind, way & 1 == 1, way & 2 == 2, beside))
            beside += _BESIDE
    return tuple(made)


def pen_of(kind: EdgeKind, theme: Theme, *, strong: bool = False) -> QPen:
    """The pen of a kind: links thin, requires thick, excludes dashed, cascade dotted."""
    width = {EdgeKind.LINK: 1.0, EdgeKind.REQUIRES: 2.2, EdgeKind.EXCLUDES: 1.6, EdgeKind.CASCADE: 1.8}[kind]
    pen = hairline(
        theme.color("text_muted" if strong and kind is EdgeKind.LINK else _COLOURS[kind]), width + strong * 0.7
    )
    if kind is EdgeKind.EXCLUDES:
        pen.setDashPattern([4, 3])
    elif kind is EdgeKind.CASCADE:
        pen.setDashPattern([1, 2.2])
    return pen


class StrokeSet:
    """All strokes with their places; `which` asks for those that cross a rectangle.

    `rows` says in which row of the nodes' arrays the ends of each stroke are.
    """

    def __init__(self, made: Sequence[Stroke], row_of: Mapping[int, int]) -> None:
        self.strokes = tuple(made)
        self.rows = np.array([(row_of[one.first], row_of[one.second]) for one in made], dtype=np.int64).reshape(-1, 2)
        self.kinds = np.array([_PLACES[one.kind] for one in made], dtype=np.int64)
        self.lines: list[QLineF] = []
        self.of: dict[int, list[int]] = {}
        for place, stroke in enumerate(made):
            self.of.setdefault(stroke.first, []).append(place)
            self.of.setdefault(stroke.second, []).append(place)
        self._beside = np.array([one.beside for one in made], dtype=np.float64)
        self._ends: NDArray[np.float64] = np.zeros((len(made), 4))
        self._on = np.ones(len(made), dtype=bool)

    def place(self, at: NDArray[np.float64], wide: NDArray[np.float64], only: Sequence[int] | None = None) -> None:
        """Take the places and radii of the nodes; for all strokes, or only for some."""
        which = slice(None) if only is None else np.array(only, dtype=np.int64)
        first, second = self.rows[which, 0], self.rows[which, 1]
        way = at[second] - at[first]
        length = np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-6)
        along = way / length[:, None]
        aside = np.stack([-along[:, 1], along[:, 0]], axis=1) * self._beside[which, None]
        start = at[first] + along * np.minimum(wide[first] + 1.5, length / 2)[:, None] + aside
        end = at[second] - along * np.minimum(wide[second] + 1.5, length / 2)[:, None] + aside
        self._ends[which] = np.concatenate([start, end], axis=1)
        if only is None:
            self.lines = [QLineF(*ends) for ends in self._ends.tolist()]
        else:
            for place in only:
                self.lines[place] = QLineF(*self._ends[place].tolist())

    def show(self, kinds: Collection[EdgeKind], links: Collection[tuple[int, int]] | None = None) -> None:
        """Draw only these kinds, and of the links only those between these pairs."""
        self._on = np.isin(self.kinds, [_PLACES[kind] for kind in kinds])
        if links is not None:
            self._on &= np.array(
                [one.kind is not EdgeKind.LINK or (one.first, one.second) in links for one in self.strokes], dtype=bool
            )

    def which(self, areas: Sequence[QRectF], kind: EdgeKind) -> NDArray[np.int64]:
        """The shown strokes of a kind whose surroundings meet one of these areas."""
        left, right = np.minimum(self._ends[:, 0], self._ends[:, 2]), np.maximum(self._ends[:, 0], self._ends[:, 2])
        top, bottom = np.minimum(self._ends[:, 1], self._ends[:, 3]), np.maximum(self._ends[:, 1], self._ends[:, 3])
        inside = np.zeros(len(self._on), dtype=bool)
        for area in areas:
            inside |= (left <= area.right()) & (right >= area.left()) & (top <= area.bottom()) & (bottom >= area.top())
        return np.nonzero(inside & self._on & (self.kinds == _PLACES[kind]))[0]

    def shown(self) -> tuple[Stroke, ...]:
        """The strokes that are drawn."""
        return tuple(self.strokes[place] for place in np.nonzero(self._on)[0])


def draw_strokes(
    painter: QPainter,
    made: StrokeSet,
    places: Sequence[int],
    kind: EdgeKind,
    theme: Theme,
    areas: Sequence[QRectF],
    *,
    strong: bool,
) -> None:
    """Draw some strokes of one kind; heads where they lie in `areas` and can be seen."""
    if not places:
        return
    pen = pen_of(kind, theme, strong=strong)
    few = _FEW_STRONG if strong else _FEW
    if kind is EdgeKind.LINK and len(places) > few:
        color = QColor(pen.color())
        color.setAlpha(max(_FAINTEST, round(255 * math.sqrt(few / len(places)))))
        pen.setColor(color)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, len(places) <= SMOOTH_UP_TO)
    painter.drawLines([made.lines[at] for at in places])
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if painter.worldTransform().m11() >= HEADS_FROM and len(places) <= HEADS_UP_TO:
        draw_heads(painter, [(made.lines[at], made.strokes[at]) for at in places], kind, pen.color(), areas)


def draw_heads(
    painter: QPainter, ends: Iterable[tuple[QLineF, Stroke]], kind: EdgeKind, color: QColor, areas: Sequence[QRectF]
) -> None:
    """The heads of some strokes of one kind, as far as they lie in these areas.

    Links end in an open arrow, requires in a full one, excludes in a bar, cascade in a disc.
    """
    lines: list[QLineF] = []
    solid = kind in {EdgeKind.REQUIRES, EdgeKind.CASCADE}
    painter.setPen(hairline(color, 1.0 if solid else 1.6))
    painter.setBrush(color if solid else Qt.BrushStyle.NoBrush)
    for line, stroke in ends:
        length = line.length()
        if length > 4:
            along = QPointF(line.dx() / length, line.dy() / length)
            if stroke.forth and any(area.contains(line.p2()) for area in areas):
                _draw_head(painter, line.p2(), along, kind, lines)
            if stroke.back and any(area.contains(line.p1()) for area in areas):
                _draw_head(painter, line.p1(), -along, kind, lines)
    if lines:
        painter.drawLines(lines)


def _draw_head(painter: QPainter, tip: QPointF, along: QPointF, kind: EdgeKind, lines: list[QLineF]) -> None:
    """Draw a head, or add it to the lines that are drawn together."""
    across = QPointF(-along.y(), along.x())
    if kind is EdgeKind.EXCLUDES:
        lines.append(QLineF(tip + across * 5, tip - across * 5))
    elif kind is EdgeKind.CASCADE:
        painter.drawEllipse(tip - along * 3, 3.2, 3.2)
    elif kind is EdgeKind.REQUIRES:
        base = tip - along * 8
        painter.drawPolygon([base + across * 4, tip, base - across * 4])
    else:
        base = tip - along * 6
        lines += [QLineF(base + across * 3, tip), QLineF(tip, base - across * 3)]


_PLACES: Final = {kind: place for place, kind in enumerate(EdgeKind)}
