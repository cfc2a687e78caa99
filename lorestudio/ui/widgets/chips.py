"""A row of small labels that wraps: the facts about an entry at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lorestudio.ui.theme import Theme, scaled
from lorestudio.ui.widgets.paint import draw_glyph, hairline


@dataclass(frozen=True, slots=True)
class Chip:
    """One label. `tone` is good, neutral, warning or error; `icon` may be ""."""

    text: str
    tone: str = "neutral"
    icon: str = ""


class ChipRow(QWidget):
    """Chips in lines as wide as the widget; its accessible name lists them."""

    GAP, HEIGHT = 5, 20

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: tuple[Chip, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.changed.connect(self.update)

    def set_chips(self, chips: tuple[Chip, ...]) -> None:
        """Show other chips."""
        self._chips = chips
        self.setAccessibleName(", ".join(chip.text for chip in chips))
        self.setVisible(bool(chips))
        self._settle()
        self.update()

    def sizeHint(self) -> QSize:
        """Qt: one line at least."""
        return QSize(120, self.heightForWidth(max(self.width(), 120)))

    def heightForWidth(self, width: int) -> int:
        """Qt: as many lines as the chips need."""
        boxes = self._boxes(width)
        return boxes[-1].bottom() + 1 if boxes else 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrower row needs more lines."""
        super().resizeEvent(event)
        self._settle()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the chips."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(scaled(self.font(), 0.9))
        for chip, box in zip(self._chips, self._boxes(self.width()), strict=True):
            frame = QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.setPen(hairline(self._theme.color("border")))
            painter.setBrush(self._theme.color(f"{chip.tone}_soft"))
            painter.drawRoundedRect(frame, 5, 5)
            left = frame.left() + 7
            if chip.icon:
                ink = getattr(self._theme.palette, chip.tone)
                draw_glyph(painter, QRectF(left, frame.top(), 13, frame.height()), chip.icon, ink, 13)
                left += 17
            painter.setPen(self._theme.color("text"))
            where = QRectF(left, frame.top(), frame.right() - left - 4, frame.height())
            metrics = QFontMetricsF(painter.font())
            painter.drawText(
                where,
                int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft),
                metrics.elidedText(chip.text, Qt.TextElideMode.ElideRight, where.width() + 2),
            )

    def _settle(self) -> None:
        height = self.heightForWidth(self.width())
        if height != self.minimumHeight():
            self.setFixedHeight(max(height, 0))

    def _boxes(self, width: int) -> list[QRect]:
        metrics = QFontMetricsF(scaled(self.font(), 0.9))
        corner, boxes = QPoint(0, 0), []
        for chip in self._chips:
            wide = round(metrics.horizontalAdvance(chip.text) + 16 + (17 if chip.icon else 0))
            wide = min(wide, max(width, 40))
            if corner.x() and corner.x() + wide > width:
                corner = QPoint(0, corner.y() + self.HEIGHT + self.GAP)
            boxes.append(QRect(corner, QSize(wide, self.HEIGHT)))
            corner += QPoint(wide + self.GAP, 0)
        return boxes
