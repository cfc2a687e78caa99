"""Chips: rounded buttons and labels that stand beside each other, in as many lines as they need."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from PySide6.QtCore import QPoint, QRect, QRectF, QSize
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.paint import draw_focus, hairline

LOWEST = 24
"""So high a chip is at least (device-independent pixels): what is smaller is hard to hit."""
GAP = 4


def chip_height(widget: QWidget) -> int:
    """How high the chips of a widget are, in letters of its size."""
    return max(LOWEST, widget.fontMetrics().height() + 8)


def in_lines(
    widths: Iterable[int], right: int, corner: QPoint, left: int = 0, *, height: int, gap: int = GAP
) -> list[QRect]:
    """Boxes of these widths from `corner` on, each line between `left` and `right`."""
    boxes, at = [], QPoint(corner)
    for wide in widths:
        if at.x() > left and at.x() + wide > right:
            at = QPoint(left, at.y() + height + gap)
        boxes.append(QRect(at, QSize(wide, height)))
        at = at + QPoint(wide + gap, 0)
    return boxes


def draw_ground(painter: QPainter, button: QAbstractButton, theme: Theme, *, warning: bool) -> QRectF:
    """The ground of a chip, as mouse and keyboard stand to it; returns the box that it fills."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(button.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
    painter.setPen(hairline(theme.color("warning" if warning else "border")))
    ground = "warning_soft" if warning else "hover" if button.underMouse() else "raised"
    painter.setBrush(theme.color("accent_soft" if button.hasFocus() else ground))
    painter.drawRoundedRect(box, 6, 6)
    if button.hasFocus():
        draw_focus(painter, button.rect(), theme)
    return box


class Wrapping(QWidget):
    """A widget that is as high as the lines of its content at its width."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @abstractmethod
    def arrange(self, width: int, *, move: bool) -> int:
        """How high the content is in this width; with `move`, put it in its place."""

    def settle(self) -> None:
        """The content is another one: take the height that it needs."""
        height = self.arrange(max(self.width(), 60), move=True)
        if height != self.minimumHeight():
            self.setFixedHeight(height)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Qt: one line at least."""
        return QSize(160, self.heightForWidth(max(self.width(), 160)))

    def heightForWidth(self, width: int) -> int:
        """Qt: as many lines as the content needs."""
        return self.arrange(width, move=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrower widget needs more lines."""
        super().resizeEvent(event)
        self.settle()
