"""What a painted widget draws, read from a picture of it: words, boxes and lines with their places and colours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from PySide6.QtCore import QAbstractItemModel, QPoint, QRectF, Qt
from PySide6.QtGui import QTransform
from PySide6.QtWidgets import QWidget

from lorestudio.ui.widgets.paint import svg_bytes

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A text, rect, path, polyline, circle, ellipse or image; hatchings are fills like "url(#…)".

    `dashes` are strokes and gaps of the edge, "" or "none" for a whole one.
    """

    kind: str
    box: QRectF
    fill: str
    edge: str
    words: str = ""
    dashes: str = ""


def drawn(widget: QWidget) -> list[Drawn]:
    """All that is drawn of a widget, in order; words have the place where they start and no size."""
    root = ET.fromstring(svg_bytes(widget.size(), "", lambda painter: widget.render(painter, QPoint())))  # noqa: S314 (Qt's)
    found = []
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        matrix = [float(each) for each in NUMBER.findall(group.get("transform", ""))] or [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
        for item in group:
            kind = item.tag.rpartition("}")[2]
            if kind != "g":
                box = QTransform(*matrix).mapRect(_box(item))
                names = ("fill", "stroke", "stroke-dasharray")
                fill, edge, dashes = (item.get(name) or group.get(name, "") for name in names)
                found.append(Drawn(kind, box, fill, edge, item.text or "", dashes))
    return found


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
