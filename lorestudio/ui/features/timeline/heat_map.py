"""The heat map of a chat: entries by turns, drawn for what is in sight only."""

from __future__ import annotations

import math
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from lorestudio.ui.features.timeline.drawing import AXIS, ROW_HEIGHT, Geometry, MapDrawing
from lorestudio.ui.features.timeline.map_content import MapContent
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.paint import shows_tip, tell

ZOOMS: Final = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 14.0, 20.0, 28.0)
"""Widths of a column to choose from, in device-independent pixels."""

USUAL: Final = 14.0
_PAGE: Final = 10
_STEPS: Final = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_PageUp: (-_PAGE, 0),
    Qt.Key.Key_PageDown: (_PAGE, 0),
}


class HeatMap(QAbstractScrollArea):
    """`moved` carries the drawn row and column that the keyboard or a click went to, `entered` one that is wanted.

    A row or column of -1 means none.
    """

    moved = Signal(int, int)
    entered = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.content = MapContent()
        self._row = self._column = -1
        self.cell = USUAL
        """The width of a column in device-independent pixels."""
        self._zoomed = False
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.setMinimumHeight(AXIS + ROW_HEIGHT)
        self.setAccessibleName(tr("Heat map: entries and turns"))
        self.horizontalScrollBar().valueChanged.connect(self._scrolled)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        theme.changed.connect(self.viewport().update)

    # ---- content ----------------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> tuple[int, int]:
        """The drawn row and column that is looked at, -1 for none."""
        return self._row, self._column

    def set_content(self, content: MapContent, *, fresh: bool = False) -> None:
        """Show other cells; `fresh` says that it is another chat, for which the width of columns is chosen anew."""
        self.content = content
        if fresh:
            self._zoomed = False
        if not self._zoomed:
            self.cell = self._fitting()
        self._size_bars()
        self._describe()
        self.viewport().update()

    def choose(self, row: int, column: int, *, reveal: bool = True) -> None:
        """Look at a cell, and scroll to it."""
        if (row, column) == (self._row, self._column):
            return
        self._row, self._column = row, column
        if reveal:
            self.reveal()
        self._describe()
        self.viewport().update()

    def reveal(self) -> None:
        """Scroll so that the chosen cell is in sight, a chosen column with a little room around it."""
        at = self.geometry_now()
        if self._column >= 0:
            bar, room = self.horizontalScrollBar(), at.grid.width()
            left = self._column * self.cell
            margin = min(3 * self.cell, room / 4)
            bar.setValue(round(max(min(bar.value(), left - margin), left + self.cell + margin - room)))
        if self._row >= 0:
            bar, room = self.verticalScrollBar(), at.grid.height()
            top = self._row * ROW_HEIGHT
            bar.setValue(round(max(min(bar.value(), top), top + ROW_HEIGHT - room)))

    # ---- zoom -------------------------------------------------------------------------------------------------------

    def zoom(self, steps: int, at: float | None = None) -> None:
        """Make columns wider, or narrower for less than 0; what is at `at`, or the chosen turn, stays in its place."""
        place = min(range(len(ZOOMS)), key=lambda index: abs(ZOOMS[index] - self.cell))
        self.set_cell(ZOOMS[max(0, min(len(ZOOMS) - 1, place + steps))], at)

    def set_cell(self, cell: float, at: float | None = None) -> None:
        """Give columns this width, within the limits."""
        cell = max(ZOOMS[0], min(ZOOMS[-1], cell))
        geometry = self.geometry_now()
        if at is None:
            own = geometry.left_of(self._column) - geometry.titles if self._column >= 0 else -1.0
            at = own if 0 <= own <= geometry.grid.width() else geometry.grid.width() / 2
        column = (geometry.x + at) / self.cell
        self.cell, self._zoomed = cell, True
        self._size_bars()
        self.horizontalScrollBar().setValue(round(column * cell - at))
        self.viewport().update()

    def _fitting(self) -> float:
        """The width at which the whole chat is in sight, or the usual one where that would be too narrow for glyphs."""
        room = self.geometry_now().grid.width()
        wanted = room / max(1, len(self.content.columns))
        return max((zoom for zoom in ZOOMS if USUAL <= zoom <= wanted), default=USUAL)

    # ---- geometry ---------------------------------------------------------------------------------------------------

    def geometry_now(self) -> Geometry:
        """Where things stand at the moment."""
        wide, high = self.viewport().width(), self.viewport().height()
        titles = float(max(84, min(180, round(wide * 0.28))))
        bars = self.horizontalScrollBar().value(), self.verticalScrollBar().value()
        return Geometry(wide, high, titles, self.cell, *bars)

    def cell_at(self, point: QPointF) -> tuple[int, int]:
        """The drawn row and column at a point, -1 outside of rows or columns."""
        at = self.geometry_now()
        column = math.floor((point.x() - at.titles + at.x) / self.cell) if point.x() >= at.titles else -1
        row = math.floor((point.y() - at.top + at.y) / ROW_HEIGHT) if point.y() >= at.top else -1
        return (
            row if row < len(self.content.rows) else -1,
            column if column < len(self.content.columns) else -1,
        )

    def _size_bars(self) -> None:
        at = self.geometry_now()
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        across.setRange(0, max(0, math.ceil(len(self.content.columns) * self.cell - at.grid.width())))
        across.setPageStep(max(1, round(at.grid.width())))
        across.setSingleStep(max(1, round(self.cell * 3)))
        down.setRange(0, max(0, math.ceil(len(self.content.rows) * ROW_HEIGHT - at.grid.height())))
        down.setPageStep(max(1, round(at.grid.height())))
        down.setSingleStep(ROW_HEIGHT)

    def _scrolled(self) -> None:
        self.viewport().update()

    def _describe(self) -> None:
        row, column = self._row, self._column
        content = self.content
        if 0 <= row < len(content.rows) and 0 <= column < len(content.columns):
            text = content.describe(row, column)
        elif 0 <= column < len(content.columns):
            text = content.describe_column(column)
        else:
            text = tr("{rows} entries, {columns} turns", rows=len(content.rows), columns=len(content.columns))
        tell(self, text)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def minimumSizeHint(self) -> QSize:
        """Qt: a row."""
        return QSize(160, AXIS + ROW_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw what is in sight."""
        painter = QPainter(self.viewport())
        drawing = MapDrawing(self._theme, self.font(), self.content, self.geometry_now())
        drawing.draw(painter, (self._row, self._column), focus=self.hasFocus())
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: another part is in sight."""
        super().resizeEvent(event)
        if not self._zoomed:
            self.cell = self._fitting()
        self._size_bars()
        self.reveal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows go from cell to cell, Home and End to the first and last turn, Enter wants the cell."""
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
            return
        rows, columns = len(self.content.rows), len(self.content.columns)
        key = Qt.Key(event.key())
        if key in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self._column >= 0:
            self.entered.emit(self._row, self._column)
        elif key in {Qt.Key.Key_Home, Qt.Key.Key_End} and columns:
            self.moved.emit(self._row, 0 if key == Qt.Key.Key_Home else columns - 1)
        elif key in _STEPS and columns:
            down, across = _STEPS[key]
            row = max(0, min(rows - 1, self._row + down)) if down and rows else self._row
            if down and self._row < 0 and rows:
                row = 0 if down > 0 else rows - 1
            column = max(0, min(columns - 1, self._column + across)) if self._column >= 0 else columns - 1
            self.moved.emit(row, column)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: go to the cell, or to the entry or turn alone on its title or bar."""
        row, column = self.cell_at(event.position())
        if event.button() is Qt.MouseButton.LeftButton and (row >= 0 or column >= 0):
            self.moved.emit(row if row >= 0 else self._row, column if column >= 0 else self._column)
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt: the cell is wanted."""
        row, column = self.cell_at(event.position())
        if row >= 0 and column >= 0:
            self.entered.emit(row, column)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: Ctrl zooms around the pointer, Shift scrolls through the turns."""
        turned = event.angleDelta().y() or event.angleDelta().x()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if turned > 0 else -1, event.position().x() - self.geometry_now().titles)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - turned)
        else:
            super().wheelEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Qt: what is under the pointer, in words."""
        return shows_tip(self, event, self._words_at) or super().viewportEvent(event)

    def _words_at(self, point: QPoint) -> str:
        row, column = self.cell_at(QPointF(point))
        if column >= 0:
            return self.content.describe(row, column) if row >= 0 else self.content.describe_column(column)
        return self.content.titles[row] if row >= 0 else ""

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt: the chosen cell has the keyboard."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Qt: it has not any more."""
        super().focusOutEvent(event)
        self.viewport().update()
