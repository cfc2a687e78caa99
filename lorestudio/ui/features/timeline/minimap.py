"""The whole heat map in small, with a frame around what is in sight, and the tokens of a whole chat as a sparkline."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lorestudio.ui.features.timeline.drawing import ROW_HEIGHT, cells_image, draw_bars
from lorestudio.ui.features.timeline.heat_map import HeatMap
from lorestudio.ui.features.timeline.map_content import MapContent
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.paint import Picture, draw_focus, hairline

HEIGHT: Final = 40
GRIP: Final = 5.0
"""So near to an edge of the frame it is the edge that is dragged."""


class _Drag(Enum):
    NONE = auto()
    MOVE = auto()
    LEFT = auto()
    RIGHT = auto()


class Minimap(QWidget):
    """Dragging the frame scrolls the heat map, dragging its left or right edge zooms; arrow keys scroll."""

    def __init__(self, theme: Theme, view: HeatMap, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._view = theme, view
        self._image: QImage | None = None
        self._drag = _Drag.NONE
        self._grabbed = QPointF()
        self.setFixedHeight(HEIGHT)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Overview of the whole chat"))
        view.seen.connect(self.update)
        theme.changed.connect(self.refresh)

    def refresh(self) -> None:
        """The content is another one."""
        self._image = None
        content = self._view.content
        rows, columns = count(len(content.rows), "entry", "entries"), count(len(content.columns), "turn", "turns")
        self.setAccessibleDescription(f"{rows}, {columns}")
        self.update()

    @property
    def frame(self) -> QRectF:
        """Where what is in sight stands in the whole."""
        at, content = self._view.geometry_now(), self._view.content
        box = self._box()
        across = len(content.columns) * at.cell or 1.0
        down = len(content.rows) * ROW_HEIGHT or 1.0
        left = box.left() + box.width() * min(1.0, at.x / across)
        top = box.top() + box.height() * min(1.0, at.y / down)
        wide = box.width() * min(1.0, at.grid.width() / across)
        high = box.height() * min(1.0, at.grid.height() / down)
        return QRectF(left, top, max(4.0, wide), max(4.0, high)) & box

    def _box(self) -> QRectF:
        return QRectF(8, 4, max(1, self.width() - 16), max(1, self.height() - 8))

    def _part(self, point: QPointF) -> _Drag:
        frame = self.frame
        if abs(point.x() - frame.left()) <= GRIP and frame.width() < self._box().width():
            return _Drag.LEFT
        if abs(point.x() - frame.right()) <= GRIP and frame.width() < self._box().width():
            return _Drag.RIGHT
        return _Drag.MOVE

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: the map, what is out of sight dimmed, and the frame."""
        painter = QPainter(self)
        theme, content, box = self._theme, self._view.content, self._box()
        painter.fillRect(box, theme.color("sunken"))
        if content.rows and content.columns:
            if self._image is None:
                columns, rows = range(len(content.columns)), range(len(content.rows))
                size = round(box.width()), round(box.height())
                self._image = cells_image(content, theme, rows, columns, *size)
            painter.drawImage(box, self._image)
            frame = self.frame
            veil = theme.color("panel")
            veil.setAlpha(150)
            for side in (
                QRectF(box.left(), box.top(), frame.left() - box.left(), box.height()),
                QRectF(frame.right(), box.top(), box.right() - frame.right(), box.height()),
            ):
                painter.fillRect(side, veil)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(hairline(theme.color("accent"), 2))
            painter.drawRect(frame.adjusted(1, 1, -1, -1))
            column = self._view.chosen[1]
            if column >= 0:
                x = box.left() + box.width() * (column + 0.5) / len(content.columns)
                painter.drawLine(QPointF(x, box.top() - 3), QPointF(x, box.bottom() + 3))
        if self.hasFocus():
            draw_focus(painter, self.rect(), theme)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: another width holds other pixels."""
        super().resizeEvent(event)
        self._image = None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: take the frame or one of its edges; elsewhere the frame comes to the pointer."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        self._drag = self._part(event.position())
        frame = self.frame
        if self._drag is _Drag.MOVE and not frame.contains(event.position()):
            self._grabbed = QPointF(frame.width() / 2, frame.height() / 2)
        else:
            self._grabbed = event.position() - frame.topLeft()
        self._dragged(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: drag, or show what could be dragged."""
        if self._drag is not _Drag.NONE:
            self._dragged(event.position())
        elif self._part(event.position()) is _Drag.MOVE:
            self.setCursor(Qt.CursorShape.OpenHandCursor)
        else:
            self.setCursor(Qt.CursorShape.SizeHorCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: let go."""
        self._drag = _Drag.NONE

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows, Home and End scroll through the chat."""
        bar = self._view.horizontalScrollBar()
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: -3, Qt.Key.Key_PageDown: 3}
        key = Qt.Key(event.key())
        if key in steps:
            bar.setValue(bar.value() + steps[key] * max(1, bar.pageStep() // 3))
        elif key in {Qt.Key.Key_Home, Qt.Key.Key_End}:
            bar.setValue(0 if key == Qt.Key.Key_Home else bar.maximum())
        else:
            super().keyPressEvent(event)

    def _dragged(self, point: QPointF) -> None:
        content, box, frame = self._view.content, self._box(), self.frame
        amount = len(content.columns)
        if not amount:
            return

        def column(x: float) -> float:
            return max(0.0, min(1.0, (x - box.left()) / box.width())) * amount

        if self._drag is _Drag.MOVE:
            row = max(0.0, (point.y() - self._grabbed.y() - box.top()) / box.height()) * len(content.rows)
            self._view.scroll_to(column(point.x() - self._grabbed.x()), row)
        elif self._drag is _Drag.LEFT:
            self._view.show_columns(column(min(point.x(), frame.right() - GRIP)), column(frame.right()))
        elif self._drag is _Drag.RIGHT:
            self._view.show_columns(column(frame.left()), column(max(point.x(), frame.left() + GRIP)))


class Sparkline(Picture):
    """The injected tokens of every turn in one line; a click goes to the turn. `moved` carries its drawn column."""

    moved = Signal(int)
    NAME = "Injected tokens of every turn"

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr(self.NAME), parent)
        self._content = MapContent()
        self._column = -1
        self.setMinimumHeight(24)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_content(self, content: MapContent) -> None:
        """Show other turns."""
        self._content = content
        self.choose(min(self._column, len(content.columns) - 1))

    def choose(self, column: int) -> None:
        """Look at a turn."""
        self._column = column
        known = 0 <= column < len(self._content.columns)
        self.setAccessibleDescription(self.describe(column) if known else "")
        self.update()

    def _box(self) -> QRectF:
        return QRectF(10, 3, max(1, self.width() - 20), max(1, self.height() - 6))

    def sizeHint(self) -> QSize:
        """Qt: a line of bars."""
        return QSize(200, 48)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: bars over the whole width, with the turn that is looked at."""
        painter = QPainter(self)
        theme, box, amount = self._theme, self._box(), len(self._content.columns)
        if amount:
            cell = box.width() / amount
            if self._column >= 0:
                left = box.left() + self._column * cell
                painter.fillRect(QRectF(left, box.top(), max(2.0, cell), box.height()), theme.color("accent_soft"))
            self.draw(painter, QRectF(box.left(), box.top(), cell, box.height()))
            if self._column >= 0:
                painter.setPen(hairline(theme.color("accent"), 1.5))
                middle = box.left() + (self._column + 0.5) * cell
                painter.drawLine(QPointF(middle, box.top()), QPointF(middle, box.bottom()))
        else:
            painter.setFont(scaled(self.font(), 0.9))
            painter.setPen(theme.color("text_muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, tr("No turns yet"))
        if self.hasFocus():
            draw_focus(painter, self.rect(), theme)
        painter.end()

    def draw(self, painter: QPainter, first: QRectF) -> None:
        """Draw the bars; `first` is the room of the first turn."""
        draw_bars(painter, self._theme, self._content, range(len(self._content.columns)), first)

    def describe(self, column: int) -> str:
        """A turn in words."""
        return self._content.describe_column(column)

    def words_at(self, point: QPoint) -> str:
        """The turn at a place, in words."""
        column = self._column_at(point.x())
        return self.describe(column) if column >= 0 else ""

    def _column_at(self, x: float) -> int:
        amount, box = len(self._content.columns), self._box()
        return max(0, min(amount - 1, int((x - box.left()) / box.width() * amount))) if amount else -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: go to the turn under the pointer."""
        column = self._column_at(event.position().x())
        if column >= 0:
            self.moved.emit(column)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows go from turn to turn."""
        amount = len(self._content.columns)
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -amount, Qt.Key.Key_End: amount}
        key = Qt.Key(event.key())
        if key in steps and amount:
            self.moved.emit(max(0, min(amount - 1, self._column + steps[key])))
        else:
            super().keyPressEvent(event)


class CacheBars(Sparkline):
    """What a prompt cache keeps of every turn, from below: kept, new messages, and read again because of others."""

    NAME = "What the prompt cache keeps of every turn"

    def describe(self, column: int) -> str:
        """A turn in words."""
        turn = self._content.turns[column]
        cache = turn.cache if turn is not None else None
        if cache is None:
            return tr("{reply}: nothing to compare with", reply=self._content.label(column))
        return tr(
            "{reply}: {kept} kept (grey), {new} new (blue), {lore} read again because of placed texts (purple)",
            reply=self._content.label(column),
            kept=count(cache.kept, "token", "tokens"),
            new=number(cache.new),
            lore=number(cache.by_lore),
        )

    def draw(self, painter: QPainter, first: QRectF) -> None:
        """Draw the bars, stacked; where several turns share a pixel, that with the most lore."""
        caches = [turn.cache if turn is not None else None for turn in self._content.turns]
        most = max((cache.tokens for cache in caches if cache is not None), default=1) or 1
        scale, cell = first.height() / most, first.width()
        share = max(1, int(1 / cell)) if cell < 1 else 1
        stacks: tuple[list[QRectF], ...] = ([], [], [])
        for start in range(0, len(caches), share):
            some = [cache for cache in caches[start : start + share] if cache is not None]
            if not some:
                continue
            cache = max(some, key=lambda each: each.by_lore)
            left, wide = first.left() + start * cell, max(1.0, cell * share - (1 if cell >= 3 else 0))
            bottom = first.bottom()
            for stack, tokens in zip(stacks, (cache.kept, cache.new, cache.by_lore), strict=True):
                high = tokens * scale
                stack.append(QRectF(left, bottom - high, wide, high))
                bottom -= high
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        for fill, boxes in zip(("grey", "sky", "purple"), stacks, strict=True):
            painter.setBrush(self._theme.fill(fill)[0])
            painter.drawRects(boxes)
        painter.restore()
