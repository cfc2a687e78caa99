"""The graph as a picture to walk in: pan, zoom, hover, choose, and everything by keyboard too.

Pictures and data that the person asks for go to disk, and so does the layout.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, cast

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QGraphicsScene, QGraphicsView, QWidget

from lorestudio.studio.graph.analysis import Gaps, GraphStudy, graph_json, local_graph
from lorestudio.studio.graph.graph import EdgeKind, NoteGraph, Point
from lorestudio.studio.graph.layout import LayoutStore, PreparedGraph, SavedLayout
from lorestudio.ui.features.graph.items import MARGIN, Drawing, EdgeLayer, NodeLayer, TitleLayer
from lorestudio.ui.features.graph.looks import NodeLook, StrokeSet, node_sentence
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Notice, sentence_of, tr
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.paint import png_bytes, shows_tip, svg_bytes, tell

CLOSEST, FARTHEST = 3.0, 0.02
ZOOM_STEP: Final = 1.25
PAN_STEP: Final = 60
FIT_MARGIN: Final = 20
LARGEST_PICTURE: Final = 6000
"""No side of an exported picture has more pixels."""

_ARROWS: Final = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}


class GraphView(QGraphicsView):
    """Shows a `Drawing`. `chosen` and `opened` carry an entry's id, `menu_wanted` one or None and where.

    Arrows go to the nearest node in that direction, neighbours first; Tab goes round the neighbours of the node that
    was chosen last by other means, then on to the next widget. Shift and an arrow pan.
    """

    chosen = Signal(int)
    opened = Signal(int)
    menu_wanted = Signal(object, QPoint)
    moved = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.drawing = Drawing()
        self._fired: Mapping[int, int] = {}
        self._light = (3, 0.55, 0.06)
        self._anchor: int | None = None
        self._round: list[int] = []
        self._press: QPoint | None = None
        self._dragged: int | None = None
        self._panning = False
        self._whole = True  # nobody has looked closer or elsewhere since all was brought into sight
        self._upon: QWidget | None = None
        scene = QGraphicsScene(self, itemIndexMethod=QGraphicsScene.ItemIndexMethod.NoIndex)
        self.setScene(scene)
        self._layers = (
            EdgeLayer(self.drawing, theme),
            NodeLayer(self.drawing, theme),
            TitleLayer(self.drawing, theme, self.font()),
        )
        for layer in self._layers:
            scene.addItem(layer)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.AnchorViewCenter)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.setMinimumHeight(80)
        self.setAccessibleName(tr("Relationship graph"))
        # What scrolls is drawn again in full unless the viewport paints all of itself.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        theme.changed.connect(self._paint)
        self._paint()
        self._tell()

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def show_graph(
        self, found: GraphStudy, positions: Mapping[int, Point], ready: StrokeSet | None = None, *, fit: bool
    ) -> None:
        """Show nodes at their places, perhaps with strokes that are ready; `fit` brings all nodes into sight."""
        self.drawing.hovered = None
        self.drawing.take(found, positions, ready)
        self.drawing.path = tuple(entry for entry in self.drawing.path if entry in positions)
        self._settle()
        if fit:
            self.fit()
        self.redraw()

    def show_edges(self, graph: NoteGraph, kinds: Collection[EdgeKind], *, remarkable: bool) -> None:
        """Draw only some of the edges: those of `graph`, which is what keys and hovering go along."""
        self.drawing.show_edges(graph, kinds, remarkable=remarkable)
        self.redraw()

    def show_looks(self, looks: Mapping[int, NodeLook], fired: Mapping[int, int]) -> None:
        """Show nodes in other colours; `fired` is what tooltips and the description say."""
        self.drawing.looks, self._fired = looks, fired
        self._tell()
        self.redraw()

    def show_hits(self, hits: Collection[int]) -> None:
        """Mark the nodes that a search found, and bring them into sight."""
        hits = frozenset(hits) & self.drawing.rows.keys()
        if hits != self.drawing.hits:
            self.drawing.hits = frozenset(hits)
            if hits:
                self._bring(hits)
            self.redraw()

    def show_path(self, path: tuple[int, ...]) -> None:
        """Draw a way through the graph, () for none."""
        self.drawing.path = path
        if path:
            self._bring(path)
        self.redraw()

    def show_gaps(self, gaps: Gaps | None) -> None:
        """Draw what seems to be missing, None for not."""
        self.drawing.gaps = gaps
        self.redraw()

    def show_pinned(self, pinned: Collection[int]) -> None:
        """Mark the nodes that stay where they are."""
        self.drawing.pinned = set(pinned)
        self.redraw()

    def set_light(self, hops: int, falloff: float, ambient: float) -> None:
        """How light falls off from the hovered node (rules: deeplore-tools 3.8 "View")."""
        self._light = (hops, falloff, ambient)

    def choose(self, entry: int | None) -> None:
        """Show which node is chosen, and bring it into sight."""
        if entry != self.drawing.chosen:
            self.drawing.chosen = entry
            if entry not in self._round:
                self._anchor, self._round = entry, []
            if entry in self.drawing.rows:
                point = self.drawing.points[entry]
                seen = self.mapToScene(self.viewport().rect().adjusted(30, 30, -30, -40)).boundingRect()
                if not self._whole and not seen.contains(point):
                    self.centerOn(point)
            self._tell()
            self.redraw()

    def redraw(self) -> None:
        """Draw everything again."""
        self.viewport().update()

    def lay_upon(self, widget: QWidget) -> None:
        """Put a widget into the lower right corner."""
        widget.setParent(self)
        self._upon = widget
        widget.show()

    # ---- where one looks --------------------------------------------------------------------------------------------

    def fit(self) -> None:
        """Bring all nodes into sight, also in the room that the view has later, until somebody looks elsewhere."""
        self._whole = True
        self._look_at(self.drawing.bounds(), 1.4)

    def zoom(self, factor: float, around: QPointF | None = None) -> None:
        """Come nearer or go away; the point of the viewport `around`, or its middle, stays where it is."""
        scale = min(max(self.transform().m11() * factor, FARTHEST), CLOSEST) / self.transform().m11()
        if abs(scale - 1) < 1e-6:
            return
        self._whole = False
        point = around or QPointF(self.viewport().rect().center())
        before = self.mapToScene(point.toPoint())
        self.scale(scale, scale)
        after = self.mapToScene(point.toPoint())
        self.translate(after.x() - before.x(), after.y() - before.y())

    def pan(self, dx: int, dy: int) -> None:
        """Look further to the right and down, in pixels."""
        self._whole = False
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() + dx)
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() + dy)

    def step(self, dx: int, dy: int) -> int | None:
        """The node that is nearest in a direction from the chosen one: a neighbour, or any where there is none."""
        drawing = self.drawing
        start = drawing.chosen
        if start not in drawing.rows or start is None:
            return None
        here = drawing.points[start]

        def cost(entry: int) -> float:
            way = drawing.points[entry] - here
            ahead, aside = way.x() * dx + way.y() * dy, abs(way.x() * dy) + abs(way.y() * dx)
            return math.hypot(ahead, 2 * aside) if ahead > 1e-6 and aside <= 2 * ahead else math.inf

        near = [other for other in drawing.graph.neighbours.get(start, ()) if other in drawing.rows]
        for group in (near, drawing.ids):
            best = min(group, key=lambda entry: (cost(entry), entry), default=start)
            if cost(best) < math.inf:
                return best
        return None

    # ---- pictures ---------------------------------------------------------------------------------------------------

    def picture(self, scale: float = 1.5) -> QImage:
        """All of the graph as a picture, at `scale` pixels per unit or as large as may be."""
        area = self._picture_area()
        scale = min(scale, LARGEST_PICTURE / max(area.width(), area.height()))
        size = QSize(max(1, round(area.width() * scale)), max(1, round(area.height() * scale)))
        image = QImage(size, QImage.Format.Format_RGB32)
        image.fill(self._theme.color("panel"))
        with QPainter(image) as painter:
            self.scene().render(painter, QRectF(image.rect()), area)
        return image

    def svg(self) -> bytes:
        """All of the graph as SVG."""
        area = self._picture_area()
        whole = QRectF(QPointF(), area.size())

        def draw(painter: QPainter) -> None:
            painter.fillRect(whole, self._theme.color("panel"))
            self.scene().render(painter, whole, area)

        return svg_bytes(area.size().toSize(), self.accessibleName(), draw)

    def _paint(self) -> None:
        self.setBackgroundBrush(self._theme.color("panel"))
        self.redraw()

    def _settle(self) -> None:
        for layer in self._layers:
            layer.settle()
        self.setSceneRect(self.drawing.bounds().adjusted(-4 * MARGIN, -4 * MARGIN, 4 * MARGIN, 4 * MARGIN))

    def _picture_area(self) -> QRectF:
        return self.drawing.bounds().adjusted(-60, -30, 60, 40)

    def _look_at(self, area: QRectF, closest: float) -> None:
        room = self.viewport().rect().adjusted(FIT_MARGIN, FIT_MARGIN, -FIT_MARGIN, -FIT_MARGIN)
        if room.width() < 10 or room.height() < 10:
            return
        scale = min(room.width() / max(area.width(), 1), room.height() / max(area.height(), 1), closest)
        self.resetTransform()
        self.scale(scale, scale)
        self.centerOn(area.center())
        self.redraw()

    def _bring(self, entries: Collection[int]) -> None:
        """Bring nodes into sight, near enough to read their titles where they are few."""
        area = QRectF()
        for entry in entries:
            point, room = self.drawing.points[entry], self.drawing.radius[entry] + 60
            area |= QRectF(point.x() - room, point.y() - room, 2 * room, 2 * room)
        self._whole = False
        self._look_at(area, 1.2)

    def _tell(self) -> None:
        """Say to screen readers what is chosen."""
        entry = self.drawing.chosen
        known = entry is not None and entry in self.drawing.graph.nodes
        text = node_sentence(self.drawing.found, entry, self._fired) if known and entry is not None else ""
        tell(self, text or tr("No entry is chosen"))

    def _hover(self, entry: int | None) -> None:
        drawing = self.drawing
        if entry == drawing.hovered:
            return
        drawing.hovered = entry
        if entry is None:
            drawing.shine(None, 1.0)
        else:
            hops, falloff, ambient = self._light
            near = local_graph(drawing.graph.neighbours, entry, hops)
            drawing.shine({other: max(ambient, falloff**away) for other, away in near.items()}, ambient)
        shapes = Qt.CursorShape
        self.viewport().setCursor(shapes.PointingHandCursor if entry is not None else shapes.ArrowCursor)
        self.redraw()

    def _node_under(self, where: QPoint) -> int | None:
        return self.drawing.node_at(self.mapToScene(where), 4 / max(self.transform().m11(), 0.01))

    def _take(self, entry: int | None) -> None:
        if entry is not None:
            self.choose(entry)
            self.chosen.emit(entry)

    def _go_round(self, steps: int) -> bool:
        """Choose the next neighbour of the anchor; False after the last."""
        anchor = self._anchor
        if anchor is None or anchor not in self.drawing.rows:
            return False
        if not self._round:
            here = self.drawing.points[anchor]

            def angle(entry: int) -> float:
                way = self.drawing.points[entry] - here
                return (math.atan2(way.x(), -way.y()) + 2 * math.pi) % (2 * math.pi)

            near = [other for other in self.drawing.graph.neighbours.get(anchor, ()) if other in self.drawing.rows]
            self._round = sorted(near, key=lambda entry: (angle(entry), entry))
        chosen = self.drawing.chosen
        place = self._round.index(chosen) if chosen in self._round else (-1 if steps > 0 else len(self._round))
        place += steps
        if not 0 <= place < len(self._round):
            self._round = []
            return False
        self._take(self._round[place])
        return True

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002  # Qt's name
        """Qt: Tab goes round the neighbours before it leaves."""
        return self._go_round(1 if next else -1) or super().focusNextPrevChild(next)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: everything that the mouse can do."""
        key = Qt.Key(event.key())
        if key in _ARROWS:
            dx, dy = _ARROWS[key]
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or self.drawing.chosen not in self.drawing.rows:
                self.pan(dx * PAN_STEP, dy * PAN_STEP)
            else:
                self._take(self.step(dx, dy))
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.drawing.chosen is not None:
            self.opened.emit(self.drawing.chosen)
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self.zoom(ZOOM_STEP)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / ZOOM_STEP)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key == Qt.Key.Key_Escape and self._round and self._anchor is not None:
            self._take(self._anchor)
        elif key == Qt.Key.Key_Menu and self.drawing.chosen in self.drawing.rows:
            self._open_menu(self.drawing.chosen)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: the wheel zooms around the pointer."""
        self.zoom(ZOOM_STEP ** (event.angleDelta().y() / 120), event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: begin to choose, to drag a node, or to pan."""
        if event.button() in {Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton}:
            self._press = event.position().toPoint()
            self._dragged = self._node_under(self._press) if event.button() == Qt.MouseButton.LeftButton else None
            self._panning = False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: drag, pan, or hover."""
        where = event.position().toPoint()
        if self._press is None:
            self._hover(self._node_under(where))
            return
        if not self._panning and (where - self._press).manhattanLength() < QApplication.startDragDistance():
            return
        if self._dragged is not None:
            self._panning = True
            self.drawing.move(self._dragged, self.mapToScene(where))
            self.redraw()
        else:
            self._panning = True
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            self.pan(self._press.x() - where.x(), self._press.y() - where.y())
            self._press = where

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a node was chosen or moved."""
        if self._press is None:
            return
        moved, node = self._panning, self._dragged
        self._press, self._dragged, self._panning = None, None, False
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        if node is not None and moved:
            self._settle()
            self.moved.emit(node)
        elif node is not None:
            self._take(node)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt: open the note."""
        node = self._node_under(event.position().toPoint())
        if node is not None and event.button() == Qt.MouseButton.LeftButton:
            self._take(node)
            self.opened.emit(node)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Qt: what can be done with a node, or with the graph."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self._open_menu(self.drawing.chosen if self.drawing.chosen in self.drawing.rows else None)
        else:
            self.menu_wanted.emit(self._node_under(event.pos()), event.globalPos())
        event.accept()

    def _open_menu(self, entry: int | None) -> None:
        point = self.mapFromScene(self.drawing.points[entry]) if entry is not None else self.viewport().rect().center()
        self.menu_wanted.emit(entry, self.viewport().mapToGlobal(point))

    def viewportEvent(self, event: QEvent) -> bool:
        """Qt: tooltips, and the end of hovering."""
        if event.type() == QEvent.Type.Leave:
            self._hover(None)
        return shows_tip(self, event, self._words_at) or super().viewportEvent(event)

    def _words_at(self, point: QPoint) -> str:
        entry = self._node_under(point)
        return node_sentence(self.drawing.found, entry, self._fired) if entry is not None else ""

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt: say what is chosen."""
        super().focusInEvent(event)
        self._tell()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: only what is exposed is drawn."""
        self.drawing.exposed = tuple(self.mapToScene(rect).boundingRect() for rect in _rectangles(event.region()))
        try:
            super().paintEvent(event)
        finally:
            self.drawing.exposed = ()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: what lies upon it stays in its corner, and all in sight that was."""
        super().resizeEvent(event)
        if self._whole:
            self.fit()
        if self._upon is not None:
            box = QRect(QPoint(), self._upon.sizeHint())
            box.moveBottomRight(self.rect().bottomRight() - QPoint(8, 8))
            self._upon.setGeometry(box)


def _rectangles(region: QRegion) -> list[QRect]:
    """The rectangles of a region; Qt's types do not know that it can be iterated over."""
    return list(cast("Iterable[QRect]", region))


SAVE_AFTER_MS: Final = 800
"""So long nothing may be moved before the layout is kept."""


def graph_bytes(view: GraphView, prepared: PreparedGraph, fired: Mapping[int, int], kind: str) -> bytes:
    """The graph as `png` or `svg`, as it is shown, or all of it as `json`."""
    if kind == "json":
        data = graph_json(prepared.found, fired, prepared.positions)
        return (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "backslashreplace")
    return view.svg() if kind == "svg" else png_bytes(view.picture())


class GraphKeeper(QObject):
    """Keeps positions and pins when nothing was moved for a moment.

    `to_keep` gives the places of the vault and the layout, None where there is none yet.
    """

    def __init__(
        self,
        session: Session,
        store: LayoutStore,
        to_keep: Callable[[], tuple[tuple[str, ...], SavedLayout] | None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._store, self._to_keep = session, store, to_keep
        self.later = later(self, self._save, SAVE_AFTER_MS)
        """Started whenever something was moved, pinned or let go."""

    def finish(self) -> None:
        """Keep at once what waits, because the window or the vault goes."""
        if not self.later.isActive():
            return
        self.later.stop()
        made = self._to_keep()
        if made is not None:
            try:
                self._store.save(*made)
            except OSError as error:
                self._failed(error)

    def _save(self) -> None:
        made = self._to_keep()
        if made is not None:
            store, title = self._store, tr("Keeping the graph's layout")
            self._session.jobs.start(title, lambda _report: store.save(*made), failed=self._failed)

    def _failed(self, error: Exception) -> None:
        text = tr("The layout of the graph could not be kept: {error}", error=sentence_of(error))
        self._session.notice.emit(Notice(text, "warning", key="graph"))
