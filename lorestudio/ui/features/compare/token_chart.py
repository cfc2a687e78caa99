"""The tokens of every turn as one line for each run that is compared; the table of turns says the same in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Final

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QIcon,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from lorestudio.studio.compare.comparison import Comparison
from lorestudio.trace.text import turn_words
from lorestudio.ui.shell.qt import V_LEFT, V_RIGHT
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.paint import Picture, draw_focus, hairline, png_bytes

FILLS: Final = ("blue", "vermilion", "green", "purple", "orange", "sky", "yellow", "grey")
"""Fills of the lines in order; each line has its own shape of points besides."""

_STYLES: Final = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)
_SHAPES: Final = 4
_LEFT: Final = 48.0
_RIGHT: Final = 12.0
_TOP: Final = 8.0
_BOTTOM: Final = 18.0
_LEAST: Final = 2.0
"""So wide at least is the room of a drawn turn (pixels)."""

_POINTS_FROM: Final = 9.0
"""From this width of a turn on its points are drawn."""

_CENTRE: Final = int(Qt.AlignmentFlag.AlignCenter)


class TokenChart(Picture):
    """`moved` carries the row of the turn that somebody goes to, by a click or the arrow keys."""

    moved = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Tokens of every turn, a line for each run"), parent)
        self._found: Comparison | None = None
        self.row = -1
        self.setMinimumHeight(96)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def set_comparison(self, found: Comparison | None) -> None:
        """Show another comparison."""
        self._found = found
        self.choose(self.row)

    def choose(self, row: int) -> None:
        """Look at a turn, none with -1."""
        turns = self._found.turns if self._found is not None else ()
        self.row = row if 0 <= row < len(turns) else -1
        self.setAccessibleDescription(self.describe(self.row))
        self.update()

    def describe(self, row: int) -> str:
        """A turn in words."""
        if self._found is None or not 0 <= row < len(self._found.turns):
            return ""
        turn = self._found.turns[row]
        parts = [
            f"{label}: {count(share.tokens, 'token', 'tokens')}"
            for label, share in zip(self._found.labels, turn.shares, strict=True)
        ]
        return "\n".join([turn_words(turn.turn), *parts])

    def picture(self, size: QSize) -> bytes:
        """The chart with its legend as PNG."""
        image = QImage(size, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        painter.setFont(self.font())
        painter.fillRect(image.rect(), self._theme.color("panel"))
        self._draw(painter, QRectF(0, 0, size.width(), size.height()), chosen=False)
        painter.end()
        return png_bytes(image)

    # ---- drawing ----------------------------------------------------------------------------------------------------

    def _legend(self, width: float) -> list[tuple[str, QPointF]]:
        """Where each run's name stands, in as many lines as it takes."""
        metrics = QFontMetricsF(scaled(self.font(), 0.9))
        places, x, y = [], _LEFT, _TOP
        for label in self._found.labels if self._found is not None else ():
            wide = 30 + metrics.horizontalAdvance(label) + 16
            if x > _LEFT and x + wide > width:
                x, y = _LEFT, y + metrics.height() + 4
            places.append((label, QPointF(x, y)))
            x += wide
        return places

    def _room(self, whole: QRectF) -> QRectF:
        legend = self._legend(whole.width())
        line = QFontMetricsF(scaled(self.font(), 0.9)).height() + 10
        top = legend[-1][1].y() + line if legend else _TOP
        return whole.adjusted(_LEFT, top, -_RIGHT, -_BOTTOM)

    def _draw(self, painter: QPainter, whole: QRectF, *, chosen: bool) -> None:
        found, theme = self._found, self._theme
        if found is None or not found.turns:
            return
        room = self._room(whole)
        painter.setFont(scaled(self.font(), 0.9))
        line = QFontMetricsF(painter.font()).height()
        for place, (label, at) in enumerate(self._legend(whole.width())):
            box = QRectF(at.x(), at.y(), 24, 16)
            painter.drawPixmap(box.topLeft(), swatch(theme, place).pixmap(24, 16))
            painter.setPen(theme.color("text"))
            painter.drawText(QRectF(at.x() + 30, at.y(), whole.width() - at.x() - 34, max(16, line)), V_LEFT, label)
        cell = room.width() / len(found.turns)
        most = max((share.tokens for turn in found.turns for share in turn.shares), default=0) or 1
        if chosen and self.row >= 0:
            band = QRectF(room.left() + self.row * cell, room.top(), max(2.0, cell), room.height())
            painter.fillRect(band, theme.color("accent_soft"))
        self._draw_scale(painter, room, most)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place in range(len(found.labels)):
            tokens = [turn.shares[place].tokens for turn in found.turns]
            share = max(1, ceil(_LEAST / cell))  # of turns that share a few pixels the largest is drawn
            points = [
                QPointF(
                    room.left() + (row + 0.5 * min(share, len(tokens) - row)) * cell,
                    room.bottom() - room.height() * max(tokens[row : row + share]) / most,
                )
                for row in range(0, len(tokens), share)
            ]
            draw_line(painter, theme, place, points, dots=cell >= _POINTS_FROM)
        self._draw_turns(painter, room, cell, chosen=chosen)

    def _draw_scale(self, painter: QPainter, room: QRectF, most: int) -> None:
        theme = self._theme
        painter.setFont(scaled(self.font(), 0.82))
        for part in (0.0, 0.5, 1.0):
            y = room.bottom() - part * room.height()
            painter.setPen(hairline(theme.color("border")))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(theme.color("text_muted"))
            painter.drawText(QRectF(0, y - 8, _LEFT - 6, 16), V_RIGHT, number(round(most * part)))

    def _draw_turns(self, painter: QPainter, room: QRectF, cell: float, *, chosen: bool) -> None:
        if self._found is None:
            return
        theme, turns = self._theme, self._found.turns
        step = max(1, round(34 / cell + 0.5)) if cell < 34 else 1
        painter.setFont(scaled(self.font(), 0.82))
        for row, turn in enumerate(turns):
            mine = chosen and row == self.row
            near = chosen and self.row >= 0 and abs(row - self.row) < step
            if not mine and (row % step or near):
                continue
            painter.setPen(theme.color("accent" if mine else "text_muted"))
            middle = min(max(room.left() + (row + 0.5) * cell, room.left() + 16), room.right() - 12)
            painter.drawText(QRectF(middle - 20, room.bottom() + 2, 40, _BOTTOM - 3), _CENTRE, f"#{turn.turn.message}")

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """Qt: room for a few lines."""
        return QSize(300, 160)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: the lines, with the turn that is looked at."""
        painter = QPainter(self)
        self._draw(painter, QRectF(self.rect()), chosen=True)
        if self.hasFocus():
            draw_focus(painter, self.rect(), self._theme)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: go to the turn under the pointer."""
        row = self._row_at(event.position().x())
        if event.button() is Qt.MouseButton.LeftButton and row >= 0:
            self.moved.emit(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows, Home and End go to other turns."""
        amount = len(self._found.turns) if self._found is not None else 0
        last = amount - 1
        places = {
            Qt.Key.Key_Left: max(0, self.row - 1),
            Qt.Key.Key_Right: min(last, self.row + 1),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        key = Qt.Key(event.key())
        if amount and key in places:
            self.moved.emit(places[key])
        else:
            super().keyPressEvent(event)

    def words_at(self, point: QPoint) -> str:
        """What the turn at a place has."""
        return self.describe(self._row_at(point.x()))

    def _row_at(self, x: float) -> int:
        turns = self._found.turns if self._found is not None else ()
        room = self._room(QRectF(self.rect()))
        if not turns or not room.left() <= x <= room.right():
            return -1
        return min(len(turns) - 1, int((x - room.left()) / room.width() * len(turns)))


def draw_line(painter: QPainter, theme: Theme, place: int, points: Sequence[QPointF], *, dots: bool) -> None:
    """One run's line: a colour, a dash pattern and a shape of points of its own."""
    color = theme.fill(FILLS[place % len(FILLS)])[0]
    pen = QPen(color, 2, _STYLES[place % len(_STYLES)])
    pen.setCosmetic(True)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if len(points) > 1:
        painter.drawPolyline(QPolygonF(list(points)))
    if dots or len(points) == 1:
        painter.setPen(hairline(theme.color("text_muted")))
        painter.setBrush(color)
        for point in points:
            _draw_point(painter, place % _SHAPES, point)


def _draw_point(painter: QPainter, shape: int, at: QPointF) -> None:
    x, y, r = at.x(), at.y(), 3.5
    if shape == 0:
        painter.drawEllipse(at, r, r)
    elif shape == 1:
        painter.drawRect(QRectF(x - r, y - r, 2 * r, 2 * r))
    elif shape == 2:
        painter.drawPolygon(QPolygonF([QPointF(x, y - r - 1), QPointF(x + r + 1, y + r), QPointF(x - r - 1, y + r)]))
    else:
        corners = [QPointF(x, y - r - 1), QPointF(x + r + 1, y), QPointF(x, y + r + 1), QPointF(x - r - 1, y)]
        painter.drawPolygon(QPolygonF(corners))


def swatch(theme: Theme, place: int) -> QIcon:
    """A run's line as a small picture, for legends."""
    pixmap = QPixmap(48, 32)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_line(painter, theme, place, [QPointF(1, 8), QPointF(23, 8)], dots=False)
    draw_line(painter, theme, place, [QPointF(12, 8)], dots=True)
    painter.end()
    return QIcon(pixmap)
