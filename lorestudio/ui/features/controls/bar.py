"""What is chosen for the chat, as chips in a bar that wraps, and in a narrow window keeps to one line.

A chip has an icon, words, what it does in smaller letters, and a cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QMenu, QToolButton, QWidget

from lorestudio.ui.features.controls.chips import ControlChip
from lorestudio.ui.shell.qt import plain, takes_f2
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.layouts import GAP, Wrapping, chip_height, draw_ground, iconed, in_lines, label, named, tool
from lorestudio.ui.widgets.paint import draw_glyph, set_inks

_CROSS: Final = 16
_WIDEST: Final = 300


class ChipButton(QAbstractButton):
    """One chip: Enter and a click change what it stands for, Delete and the cross remove it."""

    def __init__(self, bar: ControlBar, theme: Theme, chip: ControlChip) -> None:
        super().__init__(bar)
        self._bar, self._theme = bar, theme
        self.chip = chip
        self._on_cross = False
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_chip(chip)

    def show_chip(self, chip: ControlChip) -> None:
        """Stand for another chip."""
        self.chip = chip
        self.setText(chip.text)
        self.setToolTip(plain(chip.tip))
        self.setAccessibleName(chip.name)
        self.setAccessibleDescription(chip.tip)
        self.updateGeometry()
        self.update()

    def event(self, event: QEvent) -> bool:
        """Qt: F2 is its own."""
        return takes_f2(event) or super().event(event)

    def sizeHint(self) -> QSize:
        """Qt: icon, text, detail and cross in one line."""
        wide = QFontMetricsF(self.font()).horizontalAdvance(self._words()) + 30
        if self.chip.detail:
            wide += QFontMetricsF(scaled(self.font(), 0.9)).horizontalAdvance(self._detail()) + 3
        return QSize(round(min(wide + (_CROSS if self.chip.change is not None else 2), _WIDEST)), chip_height(self))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the chip."""
        theme, chip = self._theme, self.chip
        warning = chip.tone == "warning"
        painter = QPainter(self)
        box = draw_ground(painter, self, theme, warning=warning)
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
            set_inks(painter, theme.color("on_accent_soft" if self.hasFocus() else "text_muted"), font=small)
            painter.drawText(QRectF(left, box.top(), right - left, box.height()), align, detail)
        if chip.change is not None:
            shown = self._on_cross or self.hasFocus()
            cross = theme.palette.text if shown else theme.palette.text_faint
            draw_glyph(painter, QRectF(right, box.top(), _CROSS - 2, box.height()), "close", cross, 10)

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

    def leaveEvent(self, event: QEvent) -> None:
        """Qt: the mouse is elsewhere."""
        self._on_cross = False
        self.update()

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


FEWEST: Final = 1
"""A wide bar shows at least so many lines before it folds."""
SHARE: Final = 300
"""Of a taller pane it takes one line for so many pixels of height (device-independent)."""
_SIDE: Final = 8


class ControlBar(Wrapping):
    """`removed` and `opened` carry the key of a chip. The menus of `add` and `presets` belong to whoever fills them.

    `narrow` keeps the bar to one line; what does not fit is behind a button that says how many there are.
    """

    removed = Signal(object)
    opened = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.chips: list[ChipButton] = []
        """The chips as they stand, those that are folded away included."""
        self.narrow = self._unfolded = False
        self._lines = FEWEST
        self.setAccessibleName(tr("Chosen for this chat"))
        self.add = self._button(tr("Add to the choices for this chat"), "plus")
        self.presets = self._button(tr("Scenario presets"), "list")
        self.presets.setText(tr("Presets"))
        self.presets.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.more = tool(self, "", self._unfold, kind="text", checkable=True)
        self.nothing = label(self, tr("Nothing pinned, blocked or filtered"), "small", wrap=False)
        self._name_more(0)
        self.settle()

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_chips(self, chips: Sequence[ControlChip]) -> None:
        """Show other chips; the keyboard stays on its chip, or on the one that took its place."""
        focus = next((place for place, chip in enumerate(self.chips) if chip.hasFocus()), None)
        focused = self.chips[focus].chip.key if focus is not None else None
        while len(self.chips) > len(chips):
            gone = self.chips.pop()
            gone.hide()
            gone.setParent(None)
            gone.deleteLater()
        for button, chip in zip(self.chips, chips, strict=False):
            button.show_chip(chip)
        for chip in chips[len(self.chips) :]:
            self.chips.append(ChipButton(self, self._theme, chip))
            self.chips[-1].clicked.connect(self._open)
        self.nothing.setVisible(not chips)
        if focus is not None:
            same = next((place for place, chip in enumerate(self.chips) if chip.chip.key == focused), focus)
            self.focus_chip(min(same, len(self.chips) - 1))
        elif self.chips and all(chip.focusPolicy() is not Qt.FocusPolicy.StrongFocus for chip in self.chips):
            self.chips[0].setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.settle()

    def set_narrow(self, narrow: bool) -> None:
        """Keep to one line, or wrap."""
        if narrow != self.narrow:
            self.narrow, self._unfolded = narrow, False
            styles = Qt.ToolButtonStyle
            self.presets.setToolButtonStyle(styles.ToolButtonIconOnly if narrow else styles.ToolButtonTextBesideIcon)
            for chip in self.chips:
                chip.update()
            self.settle()

    def set_room(self, height: int) -> None:
        """A wide bar shows more lines in a pane that is so high."""
        lines = max(FEWEST, height // SHARE)
        if lines != self._lines:
            self._lines = lines
            self.settle()

    def focus_chip(self, place: int = 0) -> None:
        """Give the keyboard to a chip, or to the button that adds one where there is none."""
        if 0 <= place < len(self.chips):
            if self.chips[place].isHidden():
                self._unfolded = True
                self.settle()
            self.chips[place].setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self.add.setFocus(Qt.FocusReason.TabFocusReason)

    # ---- what chips do ----------------------------------------------------------------------------------------------

    def remove(self, button: ChipButton) -> None:
        """Ask for a chip to be taken away."""
        if button.chip.change is not None:
            self.removed.emit(button.chip.key)

    def focused(self, button: ChipButton) -> None:
        """Tab comes to this chip from now on, arrow keys to the others."""
        for chip in self.chips:
            chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus if chip is button else Qt.FocusPolicy.ClickFocus)

    def chip_key(self, button: ChipButton, event: QKeyEvent) -> bool:
        """Do what a key means on a chip; False where it means nothing."""
        place = self.chips.index(button)
        key = event.key()
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(key))
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
            return False
        if steps is not None:
            self.focus_chip(max(0, min(place + steps, len(self.chips) - 1)))
        elif key in {Qt.Key.Key_Home, Qt.Key.Key_End}:
            self.focus_chip(0 if key == Qt.Key.Key_Home else len(self.chips) - 1)
        elif key in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}:
            self.remove(button)
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2}:
            self.opened.emit(button.chip.key)
        else:
            return False
        return True

    def _button(self, name: str, icon: str) -> QToolButton:
        button = iconed(self._theme, tool(self, name), icon)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(QMenu(button))
        return button

    def _open(self) -> None:
        button = self.sender()
        if isinstance(button, ChipButton):
            self.opened.emit(button.chip.key)

    def _unfold(self) -> None:
        self._unfolded = not self._unfolded
        self.settle()

    def arrange(self, width: int, *, move: bool) -> int:
        """Put everything in its place, or say how high that would be."""
        corner, high = QPoint(_SIDE, 0), chip_height(self)
        for button in (self.add, self.presets):
            size = QSize(button.sizeHint().width(), high)
            if move:
                button.setGeometry(QRect(corner, size))
            corner.setX(corner.x() + size.width() + GAP)
        lines = 1 if self.narrow else self._lines
        widths = (min(chip.sizeHint().width(), width - 2 * _SIDE) for chip in self.chips)
        boxes = in_lines(widths, width - _SIDE, corner, _SIDE, height=high)
        shown = len(boxes)
        needed = boxes[-1].y() // (high + GAP) + 1 if boxes else 1
        folds = needed > lines
        end = boxes[-1].topRight() + QPoint(GAP + 1, 0) if boxes else corner
        if folds:
            self._name_more(len(self.chips))
            more = self.more.sizeHint().width()
            if not self._unfolded:
                limit = lines * (high + GAP)
                shown = sum(box.y() < limit for box in boxes)
                while shown and self._beside(boxes[shown - 1]) + more > width - _SIDE:
                    shown -= 1
            end = QPoint(self._beside(boxes[shown - 1]), boxes[shown - 1].y()) if shown else corner
            if end.x() + more > width - _SIDE and self._unfolded:
                end = QPoint(_SIDE, end.y() + high + GAP)
        if move:
            for place, (chip, box) in enumerate(zip(self.chips, boxes, strict=True)):
                chip.setGeometry(box)
                chip.setVisible(place < shown)
            self.more.setVisible(folds)
        if folds:
            self._name_more(sum(chip.isHidden() for chip in self.chips))
        if move:
            self.more.setGeometry(QRect(end, QSize(self.more.sizeHint().width(), high)))
            self.nothing.setGeometry(QRect(corner + QPoint(2, 0), QSize(max(width - corner.x() - _SIDE, 0), high)))
        bottom = max([end.y() if folds else 0, *(box.y() for box in boxes[:shown])], default=0)
        return bottom + high + GAP

    @staticmethod
    def _beside(box: QRect) -> int:
        return box.x() + box.width() + GAP

    def _name_more(self, hidden: int) -> None:
        self.more.setText(tr("Less") if self._unfolded else tr("+{hidden}", hidden=hidden))
        choices = count(hidden, "more choice", "more choices")
        name = tr("Show less") if self._unfolded else tr("Show {choices} for this chat", choices=choices)
        named(self.more, name, name)
        self.more.setChecked(self._unfolded)
