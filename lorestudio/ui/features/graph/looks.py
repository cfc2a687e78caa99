"""How the graph looks: what the colour of a node can stand for, and its edges as lines and heads.

Words, glyphs and numbers say the same without colour; kinds of edges differ in dashes and heads, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from lorestudio.domain.texts import shorten
from lorestudio.studio.graph.analysis import GraphStudy, community_name
from lorestudio.studio.graph.graph import PLENTIFUL, Edge, EdgeKind, NodeKind, NoteGraph
from lorestudio.ui.shell.theme import Palette, Theme, contrast
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.paint import hairline, set_inks


class ColourBy(StrEnum):
    """What colours stand for. The values are those of DeepLore's setting `graphDefaultColorMode`."""

    KIND = "type"
    COMMUNITY = "community"
    FIRED = "frequency"
    PRIORITY = "priority"
    CENTRALITY = "centrality"


COLOUR_WORDS: Final = {
    ColourBy.KIND: "Kind",
    ColourBy.COMMUNITY: "Community",
    ColourBy.FIRED: "Fired in this chat",
    ColourBy.PRIORITY: "Priority",
    ColourBy.CENTRALITY: "Centrality",
}

KIND_WORDS: Final = {
    NodeKind.GUIDE: "writing guide",
    NodeKind.CONSTANT: "constant",
    NodeKind.SEED: "seed",
    NodeKind.BOOTSTRAP: "bootstrap",
    NodeKind.REGULAR: "regular",
}
EDGE_WORDS: Final = {
    EdgeKind.LINK: ("links to", "linked from"),
    EdgeKind.REQUIRES: ("requires", "required by"),
    EdgeKind.EXCLUDES: ("excludes", "excluded by"),
    EdgeKind.CASCADE: ("cascades to", "cascaded from"),
    EdgeKind.WAKES: ("wakes", "woken by"),
}
EDGE_NAMES: Final = {
    EdgeKind.LINK: "Links",
    EdgeKind.REQUIRES: "Requires",
    EdgeKind.EXCLUDES: "Excludes",
    EdgeKind.CASCADE: "Cascade",
    EdgeKind.WAKES: "Wakes",
}

LEGEND_COMMUNITIES: Final = 8
"""The legend names so many communities; the list names all."""

_KIND_LOOKS: Final = {
    NodeKind.GUIDE: ("grey", "guide"),
    NodeKind.CONSTANT: ("vermilion", "constant"),
    NodeKind.SEED: ("green", "seed"),
    NodeKind.BOOTSTRAP: ("orange", "bootstrap"),
    NodeKind.REGULAR: ("sky", ""),
}
_COMMUNITY_FILLS: Final = ("sky", "orange", "green", "yellow", "purple", "vermilion", "blue")
_PRIORITY_STEPS: Final = (25, 40, 55, 75)
_SCALE: Final = (0.12, 0.34, 0.56, 0.78, 1.0)


class NodeLook(Struct, frozen=True):
    """How nodes of one sort are drawn. Colours are `#RRGGBB`; `word` is what the legend says of them.

    Upon the fill stands an icon or a text, so that the colour is not needed; `hatched` tells communities apart that
    share a fill.
    """

    fill: str
    ink: str
    word: str
    icon: str = ""
    text: str = ""
    hatched: bool = False


class Looks(Struct, frozen=True):
    """The look of each entry, and the legend: each sort with how many entries are of it."""

    of: Mapping[int, NodeLook]
    legend: tuple[tuple[NodeLook, int], ...]


def graph_looks(found: GraphStudy, colour_by: ColourBy, fired: Mapping[int, int], palette: Palette) -> Looks:
    """How the nodes of a graph look; `fired` is in how many generations each entry was injected."""
    return _MAKERS[colour_by](found, fired, palette)


def node_sentence(found: GraphStudy, entry: int, fired: Mapping[int, int]) -> str:
    """Everything that the picture says of a node, in words."""
    node = found.graph.nodes[entry]
    parts = [
        tr(KIND_WORDS[node.kind]),
        tr("order {priority}" if node.by_order else "priority {priority}", priority=number(node.priority)),
        connections_words(len(found.graph.neighbours[entry])),
    ]
    place = found.community_of.get(entry)
    if place is not None:
        name = community_name(found.communities[place], found.graph)
        parts.append(tr("community {place}, {name}", place=place + 1, name=name))
    times = fired.get(entry, 0)
    told = tr("fired in {times} of this chat", times=count(times, "reply", "replies"))
    parts.append(told if times else tr("not fired in this chat"))
    return f"{node.title}: {', '.join(parts)}"


def connections_words(amount: int) -> str:
    """`connected with 3 entries`."""
    entries = count(amount, "entry", "entries")
    return tr("connected with {entries}", entries=entries) if amount else tr("connected with nothing")


def _filled(
    palette: Palette, name: str, word: str, icon: str = "", text: str = "", *, hatched: bool = False
) -> NodeLook:
    ground, ink = palette.fill(name)
    return NodeLook(ground, ink, word, icon, text, hatched)


def _by_kind(found: GraphStudy, _fired: Mapping[int, int], palette: Palette) -> Looks:
    looks = {kind: _filled(palette, fill, tr(KIND_WORDS[kind]), icon) for kind, (fill, icon) in _KIND_LOOKS.items()}
    return _gathered({entry: looks[node.kind] for entry, node in found.graph.nodes.items()}, list(looks.values()))


def _by_community(found: GraphStudy, _fired: Mapping[int, int], palette: Palette) -> Looks:
    made = []
    for place, group in enumerate(found.communities):
        turn, which = divmod(place, len(_COMMUNITY_FILLS))
        fill = _COMMUNITY_FILLS[which] if turn < 2 else "grey"
        word = f"{place + 1} {shorten(community_name(group, found.graph), 20)}"
        made.append(_filled(palette, fill, word, text=str(place + 1), hatched=turn > 0))
    alone = NodeLook(palette.panel, palette.text, tr("on its own"), "dash")
    of = {
        entry: made[found.community_of[entry]] if entry in found.community_of else alone for entry in found.graph.nodes
    }
    looks = _gathered(of, [*made[:LEGEND_COMMUNITIES], alone])
    more = len(made) - LEGEND_COMMUNITIES
    if more > 0:
        rest = NodeLook(palette.raised, palette.text, tr("{more} more", more=number(more)), text="…")
        amount = sum(len(group.members) for group in found.communities[LEGEND_COMMUNITIES:])
        return Looks(looks.of, (*looks.legend, (rest, amount)))
    return looks


def _by_priority(found: GraphStudy, _fired: Mapping[int, int], palette: Palette) -> Looks:
    first = [tr("to {step}", step=step) for step in _PRIORITY_STEPS] + [tr("above")]

    def step(entry: int) -> int:
        priority = found.graph.nodes[entry].priority
        return sum(priority > limit for limit in _PRIORITY_STEPS)

    return _scaled(
        found, palette, step, lambda entry: number(found.graph.nodes[entry].priority), first,
        darkest_first=not any(node.by_order for node in found.graph.nodes.values()),
    )  # fmt: skip


def _by_fired(found: GraphStudy, fired: Mapping[int, int], palette: Palette) -> Looks:
    most = max([fired.get(entry, 0) for entry in found.graph.nodes] + [1])
    limits = sorted({max(1, round(most * part)) for part in (0.25, 0.5, 0.75, 1.0)})
    words = [tr("never")]
    before = 0
    for limit in limits:
        words.append(str(limit) if limit == before + 1 else tr("{low} to {high}", low=before + 1, high=limit))
        before = limit

    def step(entry: int) -> int:
        times = fired.get(entry, 0)
        return next(place for place, limit in enumerate((0, *limits)) if times <= limit)

    return _scaled(found, palette, step, lambda entry: str(fired.get(entry, 0)), words)


def _by_centrality(found: GraphStudy, _fired: Mapping[int, int], palette: Palette) -> Looks:
    words = [tr("{low} to {high} %", low=20 * step, high=20 * step + 20) for step in range(5)]

    def value(entry: int) -> float:
        return found.centrality.get(entry, 0.0)

    return _scaled(
        found, palette, lambda entry: min(4, int(5 * value(entry))), lambda entry: f"{100 * value(entry):.0f}", words
    )


def _scaled(
    found: GraphStudy,
    palette: Palette,
    step: Callable[[int], int],
    text: Callable[[int], str],
    words: list[str],
    *,
    darkest_first: bool = False,
) -> Looks:
    """Steps of one colour; upon each node stands its own value."""
    scale = [_mixed(palette, part) for part in _SCALE[: len(words)]]
    if darkest_first:
        scale.reverse()
    legend = [NodeLook(fill, ink, word) for (fill, ink), word in zip(scale, words, strict=True)]
    steps = {entry: step(entry) for entry in found.graph.nodes}
    of = {
        entry: NodeLook(legend[place].fill, legend[place].ink, legend[place].word, text=text(entry))
        for entry, place in steps.items()
    }
    counts = [list(steps.values()).count(place) for place in range(len(legend))]
    return Looks(of, tuple(zip(legend, counts, strict=True)))


def _mixed(palette: Palette, part: float) -> tuple[str, str]:
    """So much of the colour of the keyboard on the pane's, and what can be read upon it."""
    ends = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in (palette.panel, palette.focus)]
    fill = "#" + "".join(f"{round(low + (high - low) * part):02X}" for low, high in zip(*ends, strict=True))
    return fill, max((palette.text, palette.panel), key=lambda ink: contrast(ink, fill))


def _gathered(of: Mapping[int, NodeLook], order: list[NodeLook]) -> Looks:
    counts: dict[NodeLook, int] = {}
    for look in of.values():
        counts[look] = counts.get(look, 0) + 1
    return Looks(of, tuple((look, counts[look]) for look in order if look in counts))


_MAKERS: Final[Mapping[ColourBy, Callable[[GraphStudy, Mapping[int, int], Palette], Looks]]] = {
    ColourBy.KIND: _by_kind,
    ColourBy.COMMUNITY: _by_community,
    ColourBy.FIRED: _by_fired,
    ColourBy.PRIORITY: _by_priority,
    ColourBy.CENTRALITY: _by_centrality,
}


HEADS_UP_TO: Final = 1500
"""So many edges at a time have heads; with more, or from far away, they would be a smear."""

SMOOTH_UP_TO: Final = 800
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
    EdgeKind.WAKES: "warning",
}
_WIDTHS: Final = {
    EdgeKind.LINK: 1.0, EdgeKind.REQUIRES: 2.2, EdgeKind.EXCLUDES: 1.6, EdgeKind.CASCADE: 1.8, EdgeKind.WAKES: 1.4,
}  # fmt: skip


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
    """The pen of a kind: links thin, requires thick, excludes dashed, cascade dotted, wakes between thin and thick."""
    colour = "text_muted" if strong and kind is EdgeKind.LINK else _COLOURS[kind]
    pen = hairline(theme.color(colour), _WIDTHS[kind] + strong * 0.7)
    if kind is EdgeKind.EXCLUDES:
        pen.setDashPattern([4, 3])
    elif kind is EdgeKind.CASCADE:
        pen.setDashPattern([1, 2.2])
    return pen


class StrokeSet:
    """The strokes of a graph with their places; `which` asks for those that cross a rectangle.

    `row_of` says in which row of the nodes' arrays each node is; edges of others are left out.
    """

    def __init__(self, graph: NoteGraph, row_of: Mapping[int, int]) -> None:
        self.graph, self.row_of = graph, row_of
        self.strokes = made = strokes(each for each in graph.edges if each.source in row_of and each.target in row_of)
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
        """Draw only these kinds, and of plentiful ones only those between these pairs."""
        self._on = np.isin(self.kinds, [_PLACES[kind] for kind in kinds])
        if links is not None:
            self._on &= np.array(
                [one.kind not in PLENTIFUL or (one.first, one.second) in links for one in self.strokes], dtype=bool
            )

    def which(self, areas: Sequence[QRectF], kind: EdgeKind) -> NDArray[np.int64]:
        """The shown strokes of a kind whose surroundings meet one of these areas."""
        left, right = np.minimum(self._ends[:, 0], self._ends[:, 2]), np.maximum(self._ends[:, 0], self._ends[:, 2])
        top, bottom = np.minimum(self._ends[:, 1], self._ends[:, 3]), np.maximum(self._ends[:, 1], self._ends[:, 3])
        inside = np.zeros(len(self._on), dtype=bool)
        for area in areas:
            inside |= (left <= area.right()) & (right >= area.left()) & (top <= area.bottom()) & (bottom >= area.top())
        return np.nonzero(inside & self._on & (self.kinds == _PLACES[kind]))[0]


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
    if kind in PLENTIFUL and len(places) > few:
        color = QColor(pen.color())
        color.setAlpha(max(_FAINTEST, round(255 * math.sqrt(few / len(places)))))
        pen.setColor(color)
    smooth = len(places) <= SMOOTH_UP_TO
    if not smooth:
        pen.setWidthF(max(pen.widthF(), 1.01))  # above 1 Qt fills rows of pixels, which takes two thirds of the time
    set_inks(painter, pen, Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, smooth)
    painter.drawLines([made.lines[at] for at in places])
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if painter.worldTransform().m11() >= HEADS_FROM and len(places) <= HEADS_UP_TO:
        draw_heads(painter, [(made.lines[at], made.strokes[at]) for at in places], kind, pen.color(), areas)


def draw_sample(kind: EdgeKind, theme: Theme, room: QRectF, painter: QPainter) -> None:
    """A line of this kind with its head, as wide as there is room."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen, middle = pen_of(kind, theme), room.center().y()
    line = QLineF(room.left() + 1, middle, room.right() - 3, middle)
    painter.setPen(pen)
    painter.drawLine(line)
    draw_heads(painter, [(line, Stroke(0, 1, kind, True, False, 0))], kind, pen.color(), [room])


def draw_heads(
    painter: QPainter, ends: Iterable[tuple[QLineF, Stroke]], kind: EdgeKind, color: QColor, areas: Sequence[QRectF]
) -> None:
    """The heads of some strokes of one kind, as far as they lie in these areas.

    Links end in an open arrow, wakes in two, requires in a full one, excludes in a bar, cascade in a disc.
    """
    lines: list[QLineF] = []
    solid = kind in {EdgeKind.REQUIRES, EdgeKind.CASCADE}
    set_inks(painter, hairline(color, 1.0 if solid else 1.6), color if solid else Qt.BrushStyle.NoBrush)
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
        for end in (tip, tip - along * 4) if kind is EdgeKind.WAKES else (tip,):
            base = end - along * 6
            lines += [QLineF(base + across * 3, end), QLineF(end, base - across * 3)]


_PLACES: Final = {kind: place for place, kind in enumerate(EdgeKind)}
