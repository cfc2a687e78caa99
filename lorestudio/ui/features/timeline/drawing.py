"""Drawing a heat map: titles, cells and the playhead, on a screen, a picture (PNG) or an SVG file.

Cells are drawn as one small image that is enlarged, so that a chat of thousands of turns costs no more than a short
one; glyphs and lines are added where cells are large enough to hold them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen

from lorestudio.ui.features.timeline.map_content import MapContent
from lorestudio.ui.shell.qt import V_LEFT
from lorestudio.ui.shell.theme import Theme, glyph, scaled
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.paint import Mark, draw_focus, draw_words, hairline, hatch, png_bytes, svg_bytes

ROW_HEIGHT: Final = 18
AXIS: Final = 17
"""Height of the line with the numbers of the replies."""
GLYPH_CELL: Final = 13
"""From this width of a cell on its glyph is drawn; narrower ones have their colour only."""
LINE_CELL: Final = 6
"""From this width on columns are told apart by a line."""
GLYPH: Final = 11
BAND: Final = 16
"""So many rows are filled at once: Qt lets no other thread of the program go on meanwhile."""


class Geometry(Struct, frozen=True):
    """Where things stand, in device-independent pixels: `cell` is a column's width, `x` and `y` what is scrolled by."""

    width: float
    height: float
    titles: float
    cell: float
    x: float = 0
    y: float = 0

    @property
    def top(self) -> float:
        """Where the cells begin."""
        return AXIS

    @property
    def grid(self) -> QRectF:
        """The room for cells."""
        return QRectF(self.titles, self.top, max(0.0, self.width - self.titles), max(0.0, self.height - self.top))

    def left_of(self, column: int) -> float:
        """The left edge of a column."""
        return self.titles + column * self.cell - self.x

    def top_of(self, row: int) -> float:
        """The upper edge of a row."""
        return self.top + row * ROW_HEIGHT - self.y

    def columns(self, amount: int) -> range:
        """The columns in sight."""
        first = max(0, math.floor(self.x / self.cell))
        last = min(amount, math.ceil((self.x + self.grid.width()) / self.cell))
        return range(first, max(first, last))

    def rows(self, amount: int) -> range:
        """The rows in sight."""
        first = max(0, math.floor(self.y / ROW_HEIGHT))
        last = min(amount, math.ceil((self.y + self.grid.height()) / ROW_HEIGHT))
        return range(first, max(first, last))


def cell_colors(marks: tuple[Mark, ...], theme: Theme) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """The colour of each code, as `0xAARRGGBB`; of outcomes without a fill it is that of a line."""
    colors = np.full(256, theme.color("panel").rgba(), dtype=np.uint32)
    for code, mark in enumerate(marks[:256]):
        if mark.fill:
            colors[code] = theme.fill(mark.fill)[0].rgba()
        elif code:
            colors[code] = theme.color("sunken").rgba()
    return colors


class MapDrawing:
    """Draws one map in the colours of now, in any thread; it has to be made on the GUI thread."""

    def __init__(self, theme: Theme, font: QFont, content: MapContent, geometry: Geometry) -> None:
        self._theme, self._font, self._content, self._at = theme, font, content, geometry
        self._palette = palette = theme.palette
        self._columns = geometry.columns(len(content.columns))
        self._rows = geometry.rows(len(content.rows))
        self._colors, self._unknown = cell_colors(content.marks, theme), hatch(theme.color("border"), theme)
        self._glyphs: list[QImage] = []
        """Those of the codes, where columns have room for them."""
        if geometry.cell >= GLYPH_CELL:
            inks = (palette.fill(mark.fill)[1] if mark.fill else palette.text_muted for mark in content.marks)
            self._glyphs = [
                glyph(mark.icon, ink, GLYPH).toImage() if mark.icon else QImage()
                for mark, ink in zip(content.marks, inks, strict=True)
            ]

    def draw(self, painter: QPainter, chosen: tuple[int, int] = (-1, -1), *, focus: bool = False) -> None:
        """Draw everything. `chosen` is the drawn row and column that is looked at, -1 for none."""
        row, column = chosen
        wide, high, band = self._at.width, self._at.height, BAND * ROW_HEIGHT
        for top in range(0, math.ceil(high), band):
            painter.fillRect(QRectF(0, top, wide, min(band, high - top)), QColor(self._palette.panel))
        self._draw_cells(painter)
        if column >= 0:
            self._draw_playhead(painter, column)
        self._draw_axis(painter, column)
        self._draw_titles(painter, row)
        if row >= 0 and column >= 0:
            self._draw_chosen(painter, row, column, focus=focus)

    # ---- cells ------------------------------------------------------------------------------------------------------

    def _draw_cells(self, painter: QPainter) -> None:
        at, columns, rows = self._at, self._columns, self._rows
        painter.save()
        painter.setClipRect(at.grid)
        if columns and rows:
            box = QRectF(
                at.left_of(columns.start), at.top_of(rows.start), len(columns) * at.cell, len(rows) * ROW_HEIGHT
            )
            for start in range(rows.start, rows.stop, BAND):
                some = range(start, min(rows.stop, start + BAND))
                band = QRectF(box.left(), at.top_of(start), box.width(), len(some) * ROW_HEIGHT)
                painter.drawImage(band, self._image(some))
            self._draw_unknown(painter, box.top(), box.bottom())
            self._draw_lines(painter, box)
            if self._glyphs:
                self._draw_glyphs(painter)
        painter.restore()

    def _codes(self, rows: range, width: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
        content = self._content
        columns = [content.columns[column] for column in self._columns]
        return content.grid.picture([content.rows[row] for row in rows], columns, width)

    def _image(self, rows: range) -> QImage:
        """The cells of these drawn rows, one pixel each, no more of them than there is room for."""
        wide = len(self._columns)
        codes = self._codes(rows, max(1, round(wide * self._at.cell)) if self._at.cell < 1 else wide)
        pixels = np.ascontiguousarray(self._colors[codes])
        down, across = pixels.shape
        return QImage(pixels.data, across, down, 4 * across, QImage.Format.Format_RGB32).copy()

    def _draw_unknown(self, painter: QPainter, top: float, bottom: float) -> None:
        """Turns that were not run yet are hatched."""
        at, turns = self._at, self._content.turns
        start: int | None = None
        for column in (*self._columns, self._columns.stop):
            missing = column < self._columns.stop and turns[column] is None
            if missing and start is None:
                start = column
            elif not missing and start is not None:
                left = at.left_of(start)
                painter.fillRect(QRectF(left, top, at.left_of(column) - left, bottom - top), self._unknown)
                start = None

    def _draw_lines(self, painter: QPainter, box: QRectF) -> None:
        at = self._at
        painter.setPen(hairline(QColor(self._palette.panel), 2 if at.cell >= GLYPH_CELL else 1))
        lines = [
            QLineF(box.left(), at.top_of(row), box.right(), at.top_of(row)) for row in (*self._rows, self._rows.stop)
        ]
        if at.cell >= LINE_CELL:
            lines += [
                QLineF(at.left_of(column), box.top(), at.left_of(column), box.bottom())
                for column in (*self._columns, self._columns.stop)
            ]
        painter.drawLines(lines)

    def _draw_glyphs(self, painter: QPainter) -> None:
        at, middle = self._at, QPointF(self._at.cell - GLYPH, ROW_HEIGHT - GLYPH) / 2
        codes = self._codes(self._rows, len(self._columns))
        for down, across in np.argwhere(codes):
            corner = QPointF(at.left_of(self._columns.start + int(across)), at.top_of(self._rows.start + int(down)))
            painter.drawImage(corner + middle, self._glyphs[int(codes[down, across])])

    # ---- around them ------------------------------------------------------------------------------------------------

    def _draw_playhead(self, painter: QPainter, column: int) -> None:
        """The chosen turn, a ground behind its name, which is often wider, and lines through the cells."""
        at, palette = self._at, self._palette
        left, wide = at.left_of(column), max(at.cell, 2.0)
        painter.save()
        painter.setClipRect(QRectF(at.titles, 0, at.grid.width(), at.height))
        painter.fillRect(QRectF(left, 0, wide, AXIS), QColor(palette.accent_soft))
        painter.setPen(hairline(QColor(palette.accent), 1.5))
        bottom = min(at.height, at.top_of(len(self._content.rows)))
        if at.cell >= LINE_CELL:
            painter.drawLine(QLineF(left, AXIS, left, bottom))
            painter.drawLine(QLineF(left + wide, AXIS, left + wide, bottom))
        else:
            painter.drawLine(QLineF(left + wide / 2, AXIS, left + wide / 2, bottom))
        painter.restore()

    def _draw_axis(self, painter: QPainter, chosen: int) -> None:
        at, palette, content = self._at, self._palette, self._content
        painter.save()
        painter.setClipRect(QRectF(at.titles, 0, at.grid.width(), AXIS))
        metrics = QFontMetricsF(scaled(self._font, 0.82))
        ends = (self._columns.start, self._columns.stop - 1) if self._columns else ()
        widest = max((metrics.horizontalAdvance(content.label(each)) for each in ends), default=20.0)
        step = max(1, math.ceil((widest + 8) / at.cell))
        free = -math.inf
        labels = sorted({column for column in self._columns if column % step == 0} | ({chosen} & {*self._columns}))
        for column in labels:
            if column != chosen and chosen >= 0 and abs(column - chosen) < step:
                continue
            text = content.label(column)
            wide = metrics.horizontalAdvance(text)
            left = at.left_of(column) + max(1.0, (at.cell - wide) / 2)
            if left < free:
                continue
            painter.setFont(scaled(self._font, 0.82, bold=column == chosen))
            painter.setPen(QColor(palette.accent if column == chosen else palette.text_faint))
            painter.drawText(QRectF(left, 0, wide + 8, AXIS), V_LEFT, text)
            free = left + wide + 4
        painter.restore()

    def _draw_titles(self, painter: QPainter, chosen: int) -> None:
        at, palette, content = self._at, self._palette, self._content
        painter.save()
        painter.setClipRect(QRectF(0, at.top, at.titles, at.grid.height()))
        painter.setFont(self._font)
        for row in self._rows:
            box = QRectF(0, at.top_of(row), at.titles - 4, ROW_HEIGHT)
            if row == chosen:
                painter.fillRect(box, QColor(palette.accent_soft))
                painter.fillRect(QRectF(0, box.top(), 3, ROW_HEIGHT), QColor(palette.accent))
            painter.setPen(QColor(palette.on_accent_soft if row == chosen else palette.text))
            draw_words(painter, box.adjusted(8, 0, -4, 0), content.titles[row])
        painter.restore()

    def _draw_chosen(self, painter: QPainter, row: int, column: int, *, focus: bool) -> None:
        at = self._at
        painter.save()
        painter.setClipRect(at.grid)
        box = QRectF(at.left_of(column), at.top_of(row), max(at.cell, 4.0), ROW_HEIGHT)
        if focus:
            draw_focus(painter, box.adjusted(-1, -1, 1, 1), self._theme)
        else:
            painter.setPen(QPen(QColor(self._palette.focus), 1))
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.restore()


LARGEST: Final = 16_000
"""Pictures are at most so wide and high (pixels); columns of longer chats become narrower."""

TITLES: Final = 200.0


def picture(theme: Theme, font: QFont, content: MapContent, cell: float, kind: str) -> Callable[[], bytes]:
    """What makes the whole map as PNG or SVG, in any thread, with the cells and colours of now.

    Raises ValueError for another kind, and where there is nothing to draw.
    """
    if not content.columns:
        message = tr("There are no turns to draw yet. Replay the chat first.")
        raise ValueError(message)
    if kind not in {".png", ".svg"}:
        what = kind or tr("a file without an ending")
        message = tr("A picture is saved as .png or .svg, not as {kind}.", kind=what)
        raise ValueError(message)
    cell = min(cell, (LARGEST - TITLES) / len(content.columns))
    rows = min(len(content.rows), (LARGEST - AXIS) // ROW_HEIGHT)
    size = QSize(math.ceil(TITLES + cell * len(content.columns) + 12), math.ceil(AXIS + ROW_HEIGHT * rows + 6))
    still = content.as_now()
    drawing = MapDrawing(theme, font, still, Geometry(size.width(), size.height(), TITLES, cell))

    def as_png() -> bytes:
        image = QImage(size, QImage.Format.Format_RGB32)
        with QPainter(image) as painter:
            painter.setFont(font)
            drawing.draw(painter)
        return png_bytes(image)

    return partial(svg_bytes, size, tr("Timeline"), drawing.draw) if kind == ".svg" else as_png
