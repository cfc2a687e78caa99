"""What a painted widget draws, read from a picture of it: words, boxes and lines with their places and colours."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPixmap, QTransform
from PySide6.QtWidgets import QWidget

from lorestudio.ui.widgets.chart import PlaceChart
from lorestudio.ui.widgets.paint import svg_bytes

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LINK = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A text, rect, path, polyline, circle, ellipse or image; hatchings are fills like "url(#…)".

    `dashes` are strokes and gaps of the edge, "" or "none" for a whole one. `wide` is the edge's width, `image`
    what `image_of` says of a glyph; words have `points` and `weight`.
    """

    kind: str
    box: QRectF
    fill: str
    edge: str
    words: str = ""
    dashes: str = ""
    wide: float = 1.0
    image: str = ""
    points: float = 0
    weight: int = 0


def drawn(widget: QWidget) -> list[Drawn]:
    """All that is drawn of a widget, in order; words have the place where they start and no size."""
    return drawn_by(lambda painter: widget.render(painter, QPoint()), widget.size())


def drawn_by(draw: Callable[[QPainter], object], size: QSize = QSize(200, 100)) -> list[Drawn]:  # noqa: B008 (not changed)
    """All that a function draws with a painter; what it clips is there too."""
    root = ET.fromstring(svg_bytes(size, "", draw))  # noqa: S314 (Qt's)
    found = []
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        matrix = [float(each) for each in NUMBER.findall(group.get("transform", ""))] or [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
        for item in group:
            kind = item.tag.rpartition("}")[2]
            if kind != "g":
                box = QTransform(*matrix).mapRect(_box(item))
                names = ("fill", "stroke", "stroke-dasharray")
                fill, edge, dashes = (item.get(name) or group.get(name, "") for name in names)
                wide, image = float(group.get("stroke-width", "1")), item.get(_LINK, "")
                points, weight = float(item.get("font-size", "0")), int(item.get("font-weight", "0"))
                found.append(Drawn(kind, box, fill, edge, item.text or "", dashes, wide, image, points, weight))
    return found


def image_of(pixmap: QPixmap) -> str:
    """How a glyph is found among what is drawn: its name, its colour and its size all show in it."""
    return drawn_by(lambda painter: painter.drawPixmap(0, 0, pixmap))[0].image


class _Watched(QPainter):
    """Notes how each round or slanting thing is drawn."""

    def __init__(self, image: QImage) -> None:
        super().__init__(image)
        self.smooth: list[bool] = []

    def _note(self) -> None:
        self.smooth.append(self.testRenderHint(QPainter.RenderHint.Antialiasing))

    def drawRoundedRect(self, *args: Any) -> None:  # noqa: N802 (Qt)
        self._note()
        super().drawRoundedRect(*args)

    def drawEllipse(self, *args: Any) -> None:  # noqa: N802 (Qt)
        self._note()
        super().drawEllipse(*args)

    def drawPolygon(self, *args: Any) -> None:  # noqa: N802 (Qt)
        self._note()
        super().drawPolygon(*args)

    def drawPath(self, *args: Any) -> None:  # noqa: N802 (Qt)
        self._note()
        super().drawPath(*args)


def smooth(draw: Callable[[QPainter], object]) -> list[bool]:
    """Of each shape that is not straight, whether its edge is smooth. Afterwards the painter has to be as it was."""
    image = QImage(200, 100, QImage.Format.Format_ARGB32_Premultiplied)  # the painter does not keep it
    painter = _Watched(image)
    painter.setPen(Qt.PenStyle.DotLine)

    def state() -> tuple[object, ...]:
        return painter.pen(), painter.brush(), painter.renderHints(), painter.font()

    before = state()
    draw(painter)
    after = state()
    painter.end()
    assert after == before
    return painter.smooth


class PaintWatch(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.seen = 0
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt)
        self.seen += event.type() is QEvent.Type.Paint
        return False


def words_drawn(widget: QWidget) -> list[str]:
    """The words that are drawn, in order."""
    return [each.words for each in drawn(widget) if each.kind == "text"]


def at_the_right(model: QAbstractItemModel) -> list[int]:
    """The columns of a table that stand at the right, as numbers do: their heads, and the cells of the first row."""
    align, across = Qt.ItemDataRole.TextAlignmentRole, Qt.Orientation.Horizontal
    columns = range(model.columnCount())
    heads = [column for column in columns if _is_right(model.headerData(column, across, align))]
    cells = [column for column in columns if _is_right(model.index(0, column).data(align))]
    assert heads == cells
    return heads


def _is_right(alignment: int) -> bool:
    return bool(Qt.AlignmentFlag(alignment) & Qt.AlignmentFlag.AlignRight)


def _box(item: ET.Element) -> QRectF:
    if item.get("x") is not None:
        return QRectF(*(float(item.get(each, "0")) for each in ("x", "y", "width", "height")))
    if item.get("cx") is not None:
        x, y, wide, high = (float(item.get(each) or item.get("r", "0")) for each in ("cx", "cy", "rx", "ry"))
        return QRectF(x - wide, y - high, 2 * wide, 2 * high)
    places = [float(each) for each in NUMBER.findall(item.get("d", item.get("points", "")))] or [0.0, 0.0]
    across, down = places[::2], places[1::2]
    return QRectF(min(across), min(down), max(across) - min(across), max(down) - min(down))


def place_point(chart: PlaceChart, place: int) -> QPoint:
    """The middle of a place of a chart."""
    return QPointF(chart.frame.x(place), chart.frame.room.center().y()).toPoint()
