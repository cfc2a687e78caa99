"""One choice for the chat as a chip: icon, words, what it does in smaller letters, and a cross."""

from __future__ import annotations

from typing import Final, Protocol

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from lorestudio.ui.control_chips import ControlChip
from lorestudio.ui.theme import Theme, scaled
from lorestudio.ui.widgets.paint import draw_focus, draw_glyph, hairline

HEIGHT: Final = 24
_CROSS: Final = 16
_WIDEST: Final = 300


class Bar(Protocol):
    """What a chip asks of the bar that it stands in."""

    @property
    def narrow(self) -> bool:
        """Whether there is little room."""
        ...

    def remove(self, button: ChipButton) -> None:
        """Ask for the choice to be taken away."""
        ...

    def focused(self, button: ChipButton) -> None:
        """The keyboard came to this chip."""
        ...

    def chip_key(self, button: ChipButton, event: QKeyEvent) -> bool:
        """Do what a key means; False where it means nothing."""
        ...


class ChipButton(QAbstractButton):
    """One chip: Enter and a click change what it stands for, Delete and the cross remove it."""

    def __init__(self, bar: Bar, theme: Theme, chip: ControlChip, parent: QWidget) -> None:
        super().__init__(parent)
        self._bar, self._theme = bar, theme
        self.chip = chip
        self._on_cross = False
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_chip(chip)

    def show_chip(self, chip: ControlChip) -> None:
        """Stand for another chip."""
        self.chip = chip
        self.setText(chip.text)
        self.setToolTip(chip.tip)
        self.setAccessibleName(chip.name)
        self.setAccessibleDescription(chip.tip)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Qt: icon, text, detail and cross in one line."""
        wide = QFontMetricsF(self.font()).horizontalAdvance(self._words()) + 30
        if self.chip.detail:
            wide += QFontMetricsF(scaled(self.font(), 0.9)).horizontalAdvance(self._detail()) + 3
        return QSize(round(min(wide + (_CROSS if self.chip.change is not None else 2), _WIDEST)), HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the chip."""
        theme, chip = self._theme, self.chip
        warning = chip.tone == "warning"
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(hairline(theme.color("warning" if warning else "border")))
        ground = "warning_soft" if warning else "hover" if self.underMouse() else "raised"
        painter.setBrush(theme.color("accent_soft" if self.hasFocus() else ground))
        painter.drawRoundedRect(box, 6, 6)
        ink = theme.palette.warning if warning else theme.palette.text_muted
        draw_glyph(painter, QRectF(box.left() + 6, box.top(), 14, box.height()), chip.icon, ink, 13)
        left = box.left() + 24
        right = box.right() - (_CROSS if chip.change is not None else 5)
        align = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        detail, small = self._detail(), scaled(self.font(), 0.9)
        behind = QFontMetricsF(small).horizontalAdvance(detail) + 3 if detail else 0.0
        metrics = QFontMetricsF(self.font())
        text = metrics.elidedText(self._words(), Qt.TextElideMode.ElideRight, right - left - behind + 2)
        painter.setPen(theme.color("on_accent_soft" if self.hasFocus() else "text"))
        painter.drawText(QRectF(left, box.top(), right - left, box.height()), align, text)
        if detail:
            left += metrics.horizontalAdvance(text) + 3
            painter.setFont(small)
            painter.setPen(theme.color("on_accent_soft" if self.hasFocus() else "text_muted"))
            painter.drawText(QRectF(left, box.top(), right - left, box.height()), align, detail)
        if chip.change is not None:
            shown = self._on_cross or self.hasFocus()
            cross = theme.palette.text if shown else theme.palette.text_faint
            draw_glyph(painter, QRectF(right, box.top(), _CROSS - 2, box.height()), "close", cross, 10)
        if self.hasFocus():
            draw_focus(painter, self.rect(), theme)

    def _words(self) -> str:
        return self.chip.short if self.chip.short and self._bar.narrow else self.chip.text

    def _detail(self) -> str:
        return f"· {self.chip.detail}" if self.chip.detail else ""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: the bar knows what a key does to a chip."""
        if not self._bar.chip_key(self, event):
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: the cross stands out under the mouse."""
        super().mouseMoveEvent(event)
        self._show_cross(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a click on the cross removes the chip, one beside it changes what it stands for."""
        self._show_cross(event)
        if self._on_cross and event.button() is Qt.MouseButton.LeftButton:
            self.setDown(False)
            self._bar.remove(self)
            return
        super().mouseReleaseEvent(event)

    def _show_cross(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        on = self.chip.change is not None and self.rect().contains(place) and place.x() > self.width() - _CROSS - 2
        if on != self._on_cross:
            self._on_cross = on
            self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt: Tab comes back to the chip that it left."""
        super().focusInEvent(event)
        self._bar.focused(self)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Qt: without the ring."""
        super().focusOutEvent(event)
        self.update()
