"""What the graph view draws: all edges in one item, all nodes in another, the titles in a third."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from lorestudio.domain.texts import shorten
from lorestudio.studio.graph.analysis import Gaps, GraphStudy
from lorestudio.studio.graph.graph import ALL_KINDS, PLENTIFUL, EdgeKind, NoteGraph, Point, pair
from lorestudio.studio.graph.layout import radii
from lorestudio.ui.features.graph.looks import NodeLook, StrokeSet, draw_strokes
from lorestudio.ui.shell.theme import Theme, glyph, scaled
from lorestudio.ui.widgets.paint import hairline, set_inks

TITLE_LENGTH: Final = 30
MARGIN: Final = 400.0
"""Free room around the nodes, so that each can be brought to the middle."""

SMALLEST_SEEN: Final = 3.0
"""No node has a smaller radius on the screen."""

_GLYPH_FROM: Final = 6.5
"""Nodes with at least this radius on the screen show their glyph or number."""

_STAMPED_FROM: Final = 200
_STAMPED_BELOW: Final = 12.0
"""With more nodes than the first in sight those of a smaller radius than the second are drawn from pictures."""

_STAMPS_KEPT: Final = 3000

_TITLES_CONSIDERED: Final = 500
_FEWEST_TITLES: Final = 3
_TITLE_AREA: Final = 6_000


class Drawing:
    """What is drawn at the moment. Whoever changes it asks the view to draw again."""

    def __init__(self) -> None:
        self.found = GraphStudy(NoteGraph())
        self.graph = NoteGraph()
        self.rows: dict[int, int] = {}
        self.ids: tuple[int, ...] = ()
        self.points: dict[int, QPointF] = {}
        self.at: NDArray[np.float64] = np.zeros((0, 2))
        self.wide: NDArray[np.float64] = np.zeros(0)
        self.radius: dict[int, float] = {}
        self.strokes = StrokeSet(self.graph, {})
        self.looks: Mapping[int, NodeLook] = {}
        self.light: NDArray[np.float64] | None = None
        self.chosen: int | None = None
        self.hovered: int | None = None
        self.hits: frozenset[int] = frozenset()
        self.path: tuple[int, ...] = ()
        self.pinned: set[int] = set()
        self.titles = True
        self.gaps: Gaps | None = None
        self.exposed: tuple[QRectF, ...] = ()

    def take(self, found: GraphStudy, positions: Mapping[int, Point], ready: StrokeSet | None = None) -> None:
        """Other nodes and places; only nodes that have a place are drawn, with the edges between them.

        The strokes of a large graph take a while: where `ready` ones are of these nodes, they are used.
        """
        self.found, self.graph = found, found.graph
        self.ids = tuple(entry for entry in found.graph.nodes if entry in positions)
        self.rows = {entry: row for row, entry in enumerate(self.ids)}
        self.points = {entry: QPointF(*positions[entry]) for entry in self.ids}
        self.at = np.array([positions[entry] for entry in self.ids], dtype=np.float64).reshape(-1, 2)
        sizes = radii([len(others) for others in found.graph.neighbours.values()])
        every = dict(zip(found.graph.nodes, sizes, strict=True))
        self.radius = {entry: every[entry] for entry in self.ids}
        self.wide = np.array([every[entry] for entry in self.ids], dtype=np.float64)
        known = (each for each in (self.strokes, ready) if each is not None and each.graph is found.graph)
        fitting = (each for each in known if each.row_of == self.rows)
        self.strokes = next(fitting, None) or StrokeSet(found.graph, self.rows)
        self.strokes.place(self.at, self.wide)
        self.light = None

    def show_edges(self, graph: NoteGraph, kinds: Collection[EdgeKind], *, remarkable: bool) -> None:
        """Draw, and go along, only the edges of `graph`: those of some kinds, of links perhaps the remarkable ones."""
        self.graph = graph
        self.strokes.show(kinds, self.found.backbone if remarkable else None)

    def move(self, entry: int, to: QPointF) -> None:
        """Put one node elsewhere; its edges follow."""
        self.points[entry] = to
        self.at[self.rows[entry]] = (to.x(), to.y())
        self.strokes.place(self.at, self.wide, self.strokes.of.get(entry, ()))

    def shine(self, light: Mapping[int, float] | None, ambient: float) -> None:
        """How bright each node is, 0 to 1; those that are not named get `ambient`. None: all are bright."""
        self.light = None
        if light is not None:
            self.light = np.array([light.get(entry, ambient) for entry in self.ids], dtype=np.float64)

    def bounds(self) -> QRectF:
        """The rectangle that holds all nodes."""
        if not len(self.at):
            return QRectF(-1, -1, 2, 2)
        low, high = (self.at - self.wide[:, None]).min(axis=0), (self.at + self.wide[:, None]).max(axis=0)
        return QRectF(QPointF(*low), QPointF(*high))

    def node_at(self, where: QPointF, slack: float) -> int | None:
        """The node under a point, or the nearest within `slack` of its rim."""
        if not len(self.at):
            return None
        away = np.hypot(self.at[:, 0] - where.x(), self.at[:, 1] - where.y()) - self.wide
        nearest = int(away.argmin())
        return self.ids[nearest] if away[nearest] <= slack else None

    def areas(self, option: QStyleOptionGraphicsItem, around: float) -> list[QRectF]:
        """What has to be drawn again, with so much around it.

        After scrolling across these are two strips; the option knows only the rectangle around both, which is all.
        """
        return [area.adjusted(-around, -around, around, around) for area in self.exposed or (option.exposedRect,)]

    def inside(self, areas: Sequence[QRectF]) -> list[int]:
        """The rows of the nodes that meet one of these areas, the largest last."""
        at, wide = self.at, self.wide
        meet = np.zeros(len(wide), dtype=bool)
        for area in areas:
            meet |= (
                (at[:, 0] + wide >= area.left())
                & (at[:, 0] - wide <= area.right())
                & (at[:, 1] + wide >= area.top())
                & (at[:, 1] - wide <= area.bottom())
            )
        rows = np.nonzero(meet)[0]
        return [int(row) for row in rows[np.argsort(self.wide[rows], kind="stable")]]

    def emphasised(self) -> tuple[int, ...]:
        """Nodes whose title is always written, the most important first."""
        middle = self.hovered if self.hovered is not None else self.chosen
        wanted = [entry for entry in (self.hovered, self.chosen) if entry is not None]
        wanted += [*self.path, *sorted(self.hits)[:40]]
        if middle is not None:
            wanted += self.graph.neighbours.get(middle, ())[:24]
        return tuple(entry for entry in dict.fromkeys(wanted) if entry in self.rows)


class _Layer(QGraphicsItem):
    """Something drawn over the whole scene, in the parts that are exposed."""

    def __init__(self, drawing: Drawing, theme: Theme) -> None:
        super().__init__()
        self.drawing, self.theme = drawing, theme
        self._area = QRectF()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def settle(self) -> None:
        """Take the size of what is drawn."""
        self.prepareGeometryChange()
        self._area = self.drawing.bounds().adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)

    def boundingRect(self) -> QRectF:
        """Qt: the scene."""
        return self._area


class EdgeLayer(_Layer):
    """All edges, by kind; what connects the chosen or the hovered node is drawn strongly and last."""

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Qt: draw the exposed edges."""
        drawing = self.drawing
        areas = drawing.areas(option, 12)
        middle = drawing.hovered if drawing.hovered is not None else drawing.chosen
        strong = set(drawing.strokes.of.get(middle, ())) if middle is not None else set()
        steps = {pair(*ends) for ends in zip(drawing.path, drawing.path[1:], strict=False)}
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for kind in EdgeKind:
            places = drawing.strokes.which(areas, kind)
            for light, group in self._by_light(places):
                painter.setOpacity(light)
                draw_strokes(painter, drawing.strokes, group, kind, self.theme, areas, strong=False)
        painter.setOpacity(1.0)
        for kind in EdgeKind:
            own = [int(at) for at in drawing.strokes.which(areas, kind) if at in strong]
            draw_strokes(painter, drawing.strokes, own, kind, self.theme, areas, strong=True)
        self._draw_lines(painter, steps, self.theme.color("focus"), 3.5)
        if drawing.gaps is not None:
            missing = {(found.first, found.second) for found in drawing.gaps.missing}
            self._draw_lines(painter, set(drawing.gaps.bridges), self.theme.color("warning"), 3, [3, 2])
            self._draw_lines(painter, missing, self.theme.color("accent"), 1.4, [2, 4])

    def _by_light(self, places: NDArray[np.int64]) -> Iterable[tuple[float, Sequence[int]]]:
        light = self.drawing.light
        if light is None or not len(places):
            return [(1.0, places.tolist())]
        bright = light[self.drawing.strokes.rows[places]].min(axis=1)
        return [(float(value), places[bright == value].tolist()) for value in sorted(set(bright.tolist()))]

    def _draw_lines(
        self,
        painter: QPainter,
        ends: Collection[tuple[int, int]],
        color: QColor,
        width: float,
        dashes: Sequence[float] = (),
    ) -> None:
        points = self.drawing.points
        pen = hairline(color, width)
        if dashes:
            pen.setDashPattern(dashes)
        painter.setPen(pen)
        for first, second in ends:
            if first in points and second in points:
                painter.drawLine(points[first], points[second])


class NodeLayer(_Layer):
    """All nodes: a disc in the colour of its sort with a glyph or number, and rings for what is special about it."""

    def __init__(self, drawing: Drawing, theme: Theme) -> None:
        super().__init__(drawing, theme)
        self._stamps: dict[tuple[object, ...], QPixmap] = {}
        theme.changed.connect(self._stamps.clear)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Qt: draw the exposed nodes."""
        drawing, theme = self.drawing, self.theme
        scale = painter.worldTransform().m11()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        alone = set(drawing.gaps.orphans) if drawing.gaps is not None else set()
        plain = NodeLook(theme.palette.raised, theme.palette.text, "")
        rows = drawing.inside(drawing.areas(option, 10 / scale))
        if widget is not None and len(rows) > _STAMPED_FROM:  # exported pictures are drawn exactly
            special = {*alone, *drawing.hits, *drawing.pinned, drawing.chosen}
            small = [row for row in rows if drawing.wide[row] * scale < _STAMPED_BELOW]
            usual = [row for row in small if drawing.ids[row] not in special]
            self._stamp(painter, usual, plain, widget.devicePixelRatio())
            rows = [row for row in small if drawing.ids[row] in special] + rows[len(small) :]
        for row in rows:
            entry = drawing.ids[row]
            look = drawing.looks.get(entry, plain)
            point, radius = drawing.points[entry], max(drawing.radius[entry], SMALLEST_SEEN / scale)
            if drawing.light is not None:
                painter.setOpacity(float(drawing.light[row]))
            self._rings(painter, entry, point, radius, scale, alone)
            self._disc(painter, look, point, radius)
            if radius * scale >= _GLYPH_FROM:
                self._sign(painter, look, point, radius)
            if entry in drawing.pinned:
                self._pin(painter, point, radius, scale)
        painter.setOpacity(1.0)

    def _disc(self, painter: QPainter, look: NodeLook, point: QPointF, radius: float) -> None:
        set_inks(painter, hairline(self.theme.color("fill_edge")), QColor(look.fill))
        painter.drawEllipse(point, radius, radius)
        if look.hatched:
            painter.setBrush(QBrush(QColor(look.ink), Qt.BrushStyle.BDiagPattern))
            painter.drawEllipse(point, radius, radius)

    def _stamp(self, painter: QPainter, rows: Sequence[int], plain: NodeLook, ratio: float) -> None:
        """Draw nodes from pictures of their discs, a quarter of a pixel exact; thousands of circles take too long."""
        drawing, transform = self.drawing, painter.worldTransform()
        scale = transform.m11()
        at = drawing.at[rows] * scale + (transform.dx(), transform.dy())
        wide = np.maximum(drawing.wide[rows] * scale, SMALLEST_SEEN)
        quarters = np.rint(4 * np.column_stack([at, wide])).astype(np.int64).tolist()
        if len(self._stamps) > _STAMPS_KEPT:
            self._stamps.clear()
        painter.setWorldTransform(QTransform())
        for row, (x, y, size) in zip(rows, quarters, strict=True):
            look = drawing.looks.get(drawing.ids[row], plain)
            key = (look.fill, look.ink, look.hatched, size, x & 3, y & 3, ratio)
            stamp, middle = self._stamps.get(key), size // 4 + 3
            if stamp is None:
                stamp = self._stamps[key] = QPixmap(round(2 * middle * ratio), round(2 * middle * ratio))
                stamp.setDevicePixelRatio(ratio)
                stamp.fill(Qt.GlobalColor.transparent)
                with QPainter(stamp) as into:
                    into.setRenderHint(QPainter.RenderHint.Antialiasing)
                    self._disc(into, look, QPointF(middle + (x & 3) / 4, middle + (y & 3) / 4), size / 4)
            if drawing.light is not None:
                painter.setOpacity(float(drawing.light[row]))
            painter.drawPixmap((x >> 2) - middle, (y >> 2) - middle, stamp)
            if size >= 4 * _GLYPH_FROM:
                self._sign(painter, look, QPointF(x / 4, y / 4), size / 4)
        painter.setWorldTransform(transform)

    def _rings(
        self, painter: QPainter, entry: int, point: QPointF, radius: float, scale: float, alone: Collection[int]
    ) -> None:
        drawing, theme = self.drawing, self.theme
        painter.setBrush(Qt.BrushStyle.NoBrush)
        gap = 3 / max(scale, 0.05)
        if entry in drawing.hits:
            set_inks(painter, Qt.PenStyle.NoPen, theme.color("mark"))
            painter.drawEllipse(point, radius + 3 * gap, radius + 3 * gap)
            set_inks(painter, hairline(theme.color("text_muted")), Qt.BrushStyle.NoBrush)
            painter.drawEllipse(point, radius + 3 * gap, radius + 3 * gap)
        if entry in alone:
            painter.setPen(QPen(hairline(theme.color("error"), 2)))
            painter.drawEllipse(point, radius + 1.5 * gap, radius + 1.5 * gap)
        if entry == drawing.chosen:
            painter.setPen(hairline(theme.color("focus"), 3))
            painter.drawEllipse(point, radius + 1.6 * gap, radius + 1.6 * gap)

    def _sign(self, painter: QPainter, look: NodeLook, point: QPointF, radius: float) -> None:
        side = radius * 1.25
        box = QRectF(point.x() - side / 2, point.y() - side / 2, side, side)
        if look.icon:
            pixmap = glyph(look.icon, look.ink, 32)
            painter.drawPixmap(box, pixmap, QRectF(pixmap.rect()))
        elif look.text:
            font, pixels = painter.font(), max(5, round(radius * (1.1 if len(look.text) < 3 else 0.8)))
            if font.pixelSize() != pixels:
                font.setPixelSize(pixels)
                font.setWeight(QFont.Weight.DemiBold)
                painter.setFont(font)
            painter.setPen(QColor(look.ink))
            painter.drawText(box.adjusted(-side, -side, side, side), Qt.AlignmentFlag.AlignCenter, look.text)

    def _pin(self, painter: QPainter, point: QPointF, radius: float, scale: float) -> None:
        size = 3.2 / max(scale, 0.05)
        set_inks(painter, hairline(self.theme.color("panel"), 1), self.theme.color("text"))
        corner = point + QPointF(radius * 0.72, -radius * 0.72)
        painter.drawRect(QRectF(corner.x() - size, corner.y() - size, 2 * size, 2 * size))


class TitleLayer(_Layer):
    """Titles below their nodes, as many as fit without covering each other; the size is the same at every scale."""

    def __init__(self, drawing: Drawing, theme: Theme, font: QFont) -> None:
        super().__init__(drawing, theme)
        self._font = scaled(font, 0.9)
        self._metrics = QFontMetricsF(self._font)
        self._placed: dict[int, tuple[str, QRectF]] = {}
        self._sizes: dict[int, tuple[str, QRectF]] = {}
        self._for: tuple[object, ...] = ()
        self._order: list[int] = []

    def settle(self) -> None:
        """Qt: take the size, and the order in which titles get their place."""
        super().settle()
        drawing = self.drawing
        self._order = sorted(drawing.ids, key=lambda entry: (-drawing.radius[entry], entry))[:_TITLES_CONSIDERED]
        self._sizes.clear()
        self._for = ()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Qt: draw the exposed titles."""
        transform = painter.worldTransform()
        scale = transform.m11()
        wanted = (round(scale, 4), self.drawing.titles, self.drawing.emphasised(), self.drawing.hovered)
        if wanted != self._for:
            self._for = wanted
            self._placed = self._place(scale)
        painter.save()
        painter.setWorldTransform(QTransform())
        areas = [transform.mapRect(area) for area in self.drawing.areas(option, 0)]
        ground = self.theme.color("panel")
        ground.setAlpha(215)
        for entry, (text, size) in self._placed.items():
            box = self._box(transform.map(self.drawing.points[entry]), size, self.drawing.radius[entry] * scale)
            if not any(box.intersects(area) for area in areas):
                continue
            strong = entry in (self.drawing.chosen, self.drawing.hovered)
            if self.drawing.light is not None:
                painter.setOpacity(float(self.drawing.light[self.drawing.rows[entry]]))
            set_inks(painter, Qt.PenStyle.NoPen, ground)
            painter.drawRoundedRect(box, 3, 3)
            painter.setFont(scaled(self._font, 1.0, bold=strong))
            painter.setPen(self.theme.color("text" if strong else "text_muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()

    def _box(self, point: QPointF, size: QRectF, radius: float) -> QRectF:
        return QRectF(point.x() - size.width() / 2, point.y() + radius + 2, size.width(), size.height())

    def _place(self, scale: float) -> dict[int, tuple[str, QRectF]]:
        """The titles that fit at this scale, whatever part of the scene is seen."""
        drawing = self.drawing
        emphasised = drawing.emphasised()
        seen = drawing.bounds()
        room = max(_FEWEST_TITLES, round(seen.width() * seen.height() * scale**2 / _TITLE_AREA))
        discs: _Boxes = defaultdict(list)
        at, wide = drawing.at * scale, drawing.wide[:, None] * scale
        homes, ends = np.floor(at / 64).astype(np.int64), np.concatenate([at - wide, at + wide], axis=1)
        for (column, row), disc in zip(homes.tolist(), ends.tolist(), strict=True):
            discs[column, row].append(disc)
        taken: _Boxes = defaultdict(list)
        placed: dict[int, tuple[str, QRectF]] = {}
        for entry in (*emphasised, *(self._order if drawing.titles else ())):
            if entry in placed or (len(placed) >= room and entry not in drawing.path):
                continue
            text, size = self._sizes.get(entry) or self._measure(entry)
            area = self._box(drawing.points[entry] * scale, size, drawing.radius[entry] * scale)
            box = area.left(), area.top(), area.right(), area.bottom()
            left, top, right, bottom = (int(end // 64) for end in box)
            cells = [(column, row) for column in range(left, right + 1) for row in range(top, bottom + 1)]
            # A title covers no other, and no node unless it is among the first.
            forced = entry in (drawing.chosen, drawing.hovered)
            free = forced or not _meets(box, cells, taken)
            if free and (len(placed) < _FEWEST_TITLES or forced or not _meets(box, cells, discs)):
                placed[entry] = (text, size)
                for cell in cells:
                    taken[cell].append(box)
        return placed

    def _measure(self, entry: int) -> tuple[str, QRectF]:
        text = shorten(self.drawing.graph.nodes[entry].title, TITLE_LENGTH)
        wide, high = self._metrics.horizontalAdvance(text) * 1.08 + 8, self._metrics.height() + 1
        known = self._sizes[entry] = text, QRectF(0, 0, wide, high)
        return known


_Boxes: TypeAlias = "defaultdict[tuple[int, int], list[Sequence[float]]]"
"""Left, top, right and bottom of what stands in each square of the picture."""


def _meets(box: Sequence[float], cells: Iterable[tuple[int, int]], boxes: _Boxes) -> bool:
    left, top, right, bottom = box
    return any(
        left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
        for cell in cells
        if cell in boxes
        for other in boxes[cell]
    )


def shown_graph(found: GraphStudy, kinds: Collection[EdgeKind] = ALL_KINDS, *, remarkable: bool = False) -> NoteGraph:
    """The graph with the edges that are to be seen; of plentiful ones only the remarkable where that is asked for."""
    graph = found.graph.only(kinds)
    if not remarkable:
        return graph
    kept = tuple(edge for edge in graph.edges if edge.kind not in PLENTIFUL or edge.pair in found.backbone)
    return NoteGraph(graph.nodes, kept, graph.hidden)
