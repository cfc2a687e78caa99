"""A timeline as a picture: PNG or SVG of its heat map."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize
from PySide6.QtGui import QFont, QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgGenerator

from lorestudio.settings.files import write_atomically
from lorestudio.ui.features.timeline.drawing import AXIS, BARS, ROW_HEIGHT, Geometry, MapDrawing
from lorestudio.ui.features.timeline.map_content import MapContent
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr

LARGEST: Final = 16_000
"""Pictures are at most so wide and high (pixels); columns of longer chats become narrower."""

TITLES: Final = 200.0
KINDS: Final = {".csv": "CSV", ".png": "PNG", ".svg": "SVG"}


def picture(theme: Theme, font: QFont, content: MapContent, cell: float, kind: str) -> bytes:
    """The whole map as PNG or SVG. Raises ValueError for another kind, and where there is nothing to draw."""
    if not content.columns:
        message = tr("There are no turns to draw yet. Replay the chat first.")
        raise ValueError(message)
    cell = min(cell, (LARGEST - TITLES) / len(content.columns))
    rows = min(len(content.rows), (LARGEST - BARS - AXIS) // ROW_HEIGHT)
    wide = math.ceil(TITLES + cell * len(content.columns) + 12)
    high = math.ceil(BARS + AXIS + ROW_HEIGHT * rows + 6)
    drawing = MapDrawing(theme, font, content, Geometry(wide, high, TITLES, cell))
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if kind == ".svg":
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(QSize(wide, high))
        generator.setViewBox(QRectF(0, 0, wide, high))
        generator.setTitle(tr("Timeline"))
        painter = QPainter(generator)
        drawing.draw(painter, (-1, -1))
        painter.end()
    elif kind == ".png":
        image = QImage(wide, high, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        painter.setFont(font)
        drawing.draw(painter, (-1, -1))
        painter.end()
        QImageWriter(buffer, QByteArray(b"PNG")).write(image)
    else:
        message = tr("A picture is saved as .png or .svg, not as {kind}.", kind=kind or tr("a file without an ending"))
        raise ValueError(message)
    buffer.close()
    return bytes(data.data())


def write(path: Path, data: bytes) -> None:
    """Put the bytes into the file in one step. Raises OSError."""
    write_atomically(path, data)
