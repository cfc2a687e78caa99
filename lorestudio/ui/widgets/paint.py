"""Small things that several delegates draw: marks, chips, rounded boxes.

Breaking a text into lines, fast enough for thousands of messages: words are measured once and remembered.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Final, TypeAlias

from PySide6.QtCore import QBuffer, QByteArray, QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QImage,
    QImageWriter,
    QPainter,
    QPen,
    QPixmap,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QToolTip, QWidget

from lorestudio.ui.shell.qt import V_LEFT, plain
from lorestudio.ui.shell.theme import Theme, glyph
from lorestudio.ui.widgets.marks import KeyMark, Mark


def hairline(color: QColor, width: float = 1.0) -> QPen:
    """A pen of `width` device-independent pixels that no transformation widens."""
    pen = QPen(color, width)
    pen.setCosmetic(True)
    return pen


def hatch(color: QColor, theme: Theme) -> QBrush:
    """The pattern of what was cut, in a shade of `color` that stands out from a pane."""
    return QBrush(color if theme.palette.dark else color.darker(125), Qt.BrushStyle.BDiagPattern)


def draw_glyph(painter: QPainter, box: QRectF, name: str, color: str, size: int = 16) -> None:
    """The icon `name` centred in `box`; `color` is `#RRGGBB`."""
    if name:
        corner = box.center() - QPointF(size / 2, size / 2)
        painter.drawPixmap(corner, glyph(name, color, size))


def draw_mark(painter: QPainter, box: QRectF, mark: Mark, theme: Theme, size: int = 18) -> None:
    """A mark centred in `box`: its glyph on its fill, or the bare glyph where it has none."""
    square = QRectF(box.center().x() - size / 2, box.center().y() - size / 2, size, size)
    if not mark.fill:
        ink = theme.palette.text_faint if mark.icon in {"check", "dot"} else theme.palette.text_muted
        draw_glyph(painter, square, mark.icon, ink, size - 4)
        return
    ground, ink = theme.palette.fill(mark.fill)
    if mark.hollow:
        _draw_hollow(painter, square, mark, theme, ground)
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(hairline(theme.color("fill_edge")))
    painter.setBrush(QColor(ground))
    painter.drawRoundedRect(square.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    painter.restore()
    draw_glyph(painter, square, mark.icon, ink, size - 5)


def _draw_hollow(painter: QPainter, square: QRectF, mark: Mark, theme: Theme, edge: str) -> None:
    """An outline in the colour that the mark would be filled with; one without a glyph is small."""
    inset = 0.5 if mark.icon else square.width() / 3.6
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = hairline(QColor(edge) if theme.palette.dark else QColor(edge).darker(125), 1.3)
    if mark.icon:
        pen.setStyle(Qt.PenStyle.DashLine)
        pen.setDashPattern([2.2, 1.8])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    box = square.adjusted(inset, inset, -inset, -inset)
    painter.drawRoundedRect(box, 4 if mark.icon else 2, 4 if mark.icon else 2)
    painter.restore()
    draw_glyph(painter, square, mark.icon, theme.palette.text_muted, round(square.width()) - 6)


def mark_pixmap(mark: Mark, theme: Theme, size: int = 16) -> QPixmap:
    """A mark as a picture of `size` device-independent pixels."""
    pixmap = QPixmap(2 * size, 2 * size)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    draw_mark(painter, QRectF(0, 0, size, size), mark, theme, size)
    painter.end()
    return pixmap


def chip_width(metrics: QFontMetricsF, text: str) -> float:
    """How wide a chip with `text` is."""
    return metrics.horizontalAdvance(text) + 16


def draw_key_mark(painter: QPainter, box: QRectF, mark: KeyMark, theme: Theme) -> None:
    """The ground behind a found key in `box`: filled with a full edge, for a refine key a broken edge without fill.

    A key that was not enough has a dotted line below, as the keys of entries that are stopped have in the bench.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    area = box.adjusted(-1.5, 0.5, 1.5, -0.5)
    if mark.refine:
        pen = QPen(theme.color("text"), 1.2, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([3.0, 2.0])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        area.adjust(0.5, 0.5, -0.5, -0.5)
    else:
        painter.setPen(hairline(theme.color("border_strong")))
        painter.setBrush(theme.color("mark"))
    painter.drawRoundedRect(area, 3, 3)
    if mark.lacking:
        painter.setPen(QPen(theme.color("on_mark"), 1.6, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(area.left() + 1, area.bottom() - 1), QPointF(area.right() - 1, area.bottom() - 1))
    painter.restore()


def draw_chip(painter: QPainter, box: QRectF, text: str, ground: QColor, ink: QColor, edge: QColor) -> None:
    """A rounded chip with `text` in the painter's font."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(hairline(edge))
    painter.setBrush(ground)
    radius = box.height() / 2
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    painter.setPen(ink)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()


def draw_focus(painter: QPainter, rect: QRect | QRectF, theme: Theme) -> None:
    """The two pixel ring of what the keyboard is on."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(hairline(theme.color("focus"), 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), 4, 4)
    painter.restore()


def draw_words(painter: QPainter, box: QRectF, text: str, align: int = V_LEFT) -> None:
    """A line of text in the painter's font, shortened where `box` is too narrow for it."""
    shown = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, align, shown)


def whole_parts(text: str, metrics: QFontMetricsF, width: float) -> str:
    """As many parts of a line ("one · two") from its start as there is room for in `width` pixels, none shortened."""
    parts = text.split(" · ")
    while parts and metrics.horizontalAdvance(" · ".join(parts)) > width:
        parts.pop()
    return " · ".join(parts)


# ---- painted widgets ------------------------------------------------------------------------------------------------


def tell(widget: QWidget, text: str) -> None:
    """What a painted widget shows now, for screen readers."""
    widget.setAccessibleDescription(text)
    QAccessible.updateAccessibility(QAccessibleEvent(widget, QAccessible.Event.DescriptionChanged))


def shows_tip(widget: QWidget, event: QEvent, words: Callable[[QPoint], str]) -> bool:
    """Whether an event asks for a tool tip, which is shown: the words about a place of the widget, "" for none."""
    if event.type() is not QEvent.Type.ToolTip or not isinstance(event, QHelpEvent):
        return False
    QToolTip.showText(event.globalPos(), plain(words(event.pos())), widget)
    return True


class Picture(QWidget):
    """A painted widget that takes the keyboard, and says in words what is under the pointer."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(name)
        theme.changed.connect(self.update)

    @abstractmethod
    def words_at(self, point: QPoint) -> str:
        """What is said about a place, "" for nothing."""

    def event(self, event: QEvent) -> bool:
        """Qt: what is under the pointer."""
        return shows_tip(self, event, self.words_at) or super().event(event)


def png_bytes(image: QImage) -> bytes:
    """A picture as a PNG file."""
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def svg_bytes(size: QSize, title: str, draw: Callable[[QPainter], None]) -> bytes:
    """What is drawn in a room of that size as an SVG file."""
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    made = QSvgGenerator()
    made.setOutputDevice(buffer)
    made.setSize(size)
    made.setViewBox(QRect(0, 0, size.width(), size.height()))
    made.setTitle(title)
    painter = QPainter(made)
    draw(painter)
    painter.end()
    return bytes(buffer.data().data())


_REMEMBERED: Final = 50_000

Line: TypeAlias = tuple[int, int]
"""A line of a text, as start and end: `text[start:end]`."""


class Wrapper:
    """Breaks texts in one font. A word that is wider than a line is broken between characters."""

    def __init__(self, font: QFont) -> None:
        self.font = QFont(font)
        self.metrics = QFontMetricsF(self.font)
        self._widths: dict[str, float] = {}

    def width(self, piece: str) -> float:
        """The width of a piece of text in device-independent pixels."""
        known = self._widths.get(piece)
        if known is None:
            if len(self._widths) > _REMEMBERED:
                self._widths.clear()
            known = self._widths[piece] = self.metrics.horizontalAdvance(piece)
        return known

    def lines(self, text: str, width: float, most: int | None = None) -> list[Line]:
        """The lines of `text` in a column of `width` pixels; at least one, and not many more than `most`."""
        if most is not None:  # no line holds more characters than fit at half their usual width
            text = text[: round(most * 2 * width / max(1.0, self.metrics.averageCharWidth())) + 1]
        lines: list[Line] = []
        place = 0
        for paragraph in text.split("\n"):
            if most is not None and len(lines) > most:
                break
            self._break_paragraph(text, place, paragraph, width, lines)
            place += len(paragraph) + 1
        return lines

    def _break_paragraph(self, text: str, place: int, paragraph: str, width: float, lines: list[Line]) -> None:
        known, space = self._widths, self.width(" ")
        start = end = place
        used = 0.0
        for word in paragraph.split(" "):
            wide = known.get(word)
            if wide is None:
                wide = self.width(word)
            after = place + len(word)
            if used and used + space + wide > width:
                lines.append((start, end))
                start, used = place, 0.0
            if wide > width:
                start, used = self._break_word(text, start if used else place, after, width, lines)
            else:
                used += wide + (space if place > start else 0.0)
            end = after
            place = after + 1
        lines.append((start, end))

    def _break_word(self, text: str, start: int, end: int, width: float, lines: list[Line]) -> tuple[int, float]:
        used = 0.0
        for place in range(start, end):
            wide = self.width(text[place])
            if used + wide > width and place > start:
                lines.append((start, place))
                start, used = place, 0.0
            used += wide
        return start, used
