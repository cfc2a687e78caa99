"""What is chosen for the chat, as chips in a bar that wraps, and in a narrow window keeps to one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from lorestudio.ui.control_chips import ControlChip, Key
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.chip_button import HEIGHT, ChipButton
from lorestudio.ui.words import tr

GAP: Final = 4
FEWEST: Final = 1
"""A wide bar shows at least so many lines before it folds."""
SHARE: Final = 300
"""Of a taller pane it takes one line for so many pixels of height (device-independent)."""
_SIDE: Final = 8


class ControlBar(QWidget):
    """`removed` and `opened` carry the key of a chip. The menus of `add` and `presets` belong to whoever fills them.

    `narrow` keeps the bar to one line; what does not fit is behind a button that says how many there are.
    """

    removed = Signal(object)
    opened = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: list[ChipButton] = []
        self._narrow = self._unfolded = False
        self._lines = FEWEST
        self._wanted: Key | None = None
        self.setAccessibleName(tr("Chosen for this chat"))
        self.add = self._button(tr("Add to the choices for this chat"))
        self.presets = self._button(tr("Scenario presets"))
        self.presets.setText(tr("Presets"))
        self.presets.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.more = QToolButton(self)
        self.more.setProperty("kind", "text")
        self.more.setCheckable(True)
        self.more.clicked.connect(self._unfold)
        self.nothing = QLabel(tr("Nothing pinned, blocked or filtered"), self)
        self.nothing.setProperty("kind", "small")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.changed.connect(self._paint)
        self._paint()
        self._name_more(0)
        self._settle()

    # ---- content ----------------------------------------------------------------------------------------------------

    @property
    def chips(self) -> Sequence[ChipButton]:
        """The chips as they stand, those that are folded away included."""
        return tuple(self._chips)

    @property
    def hidden_chips(self) -> int:
        """How many chips are folded away."""
        return sum(chip.isHidden() for chip in self._chips)

    def set_chips(self, chips: Sequence[ControlChip]) -> None:
        """Show other chips; the keyboard stays on its chip, or on the one that took its place."""
        focus = next((place for place, chip in enumerate(self._chips) if chip.hasFocus()), None)
        focused = self._chips[focus].chip.key if focus is not None else None
        while len(self._chips) > len(chips):
            self._drop(self._chips.pop())
        for button, chip in zip(self._chips, chips, strict=False):
            button.show_chip(chip)
        for chip in chips[len(self._chips) :]:
            self._chips.append(ChipButton(self, self._theme, chip, self))
            self._chips[-1].clicked.connect(self._open)
        self.nothing.setVisible(not chips)
        if focus is not None:
            same = next((place for place, chip in enumerate(self._chips) if chip.chip.key == focused), focus)
            self.focus_chip(min(same, len(self._chips) - 1))
        elif self._chips and all(chip.focusPolicy() is not Qt.FocusPolicy.StrongFocus for chip in self._chips):
            self._chips[0].setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._settle()

    @property
    def narrow(self) -> bool:
        """Whether there is room for one line only."""
        return self._narrow

    def set_narrow(self, narrow: bool) -> None:
        """Keep to one line, or wrap."""
        if narrow != self._narrow:
            self._narrow, self._unfolded = narrow, False
            styles = Qt.ToolButtonStyle
            self.presets.setToolButtonStyle(styles.ToolButtonIconOnly if narrow else styles.ToolButtonTextBesideIcon)
            for chip in self._chips:
                chip.update()
            self._settle()

    def set_room(self, height: int) -> None:
        """A wide bar shows more lines in a pane that is so high."""
        lines = max(FEWEST, height // SHARE)
        if lines != self._lines:
            self._lines = lines
            self._settle()

    def focus_chip(self, place: int = 0) -> None:
        """Give the keyboard to a chip, or to the button that adds one where there is none."""
        if 0 <= place < len(self._chips):
            if self._chips[place].isHidden():
                self._unfolded = True
                self._settle()
            self._chips[place].setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self.add.setFocus(Qt.FocusReason.TabFocusReason)

    # ---- what chips do ----------------------------------------------------------------------------------------------

    def remove(self, button: ChipButton) -> None:
        """Ask for a chip to be taken away."""
        if button.chip.change is not None:
            self.removed.emit(button.chip.key)

    def focused(self, button: ChipButton) -> None:
        """Tab comes to this chip from now on, arrow keys to the others."""
        for chip in self._chips:
            chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus if chip is button else Qt.FocusPolicy.ClickFocus)

    def chip_key(self, button: ChipButton, event: QKeyEvent) -> bool:
        """Do what a key means on a chip; False where it means nothing."""
        place = self._chips.index(button)
        key = event.key()
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(key))
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
            return False
        if steps is not None:
            self.focus_chip(max(0, min(place + steps, len(self._chips) - 1)))
        elif key in {Qt.Key.Key_Home, Qt.Key.Key_End}:
            self.focus_chip(0 if key == Qt.Key.Key_Home else len(self._chips) - 1)
        elif key in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}:
            self.remove(button)
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2}:
            self.opened.emit(button.chip.key)
        else:
            return False
        return True

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """Qt: one line at least."""
        return QSize(200, self.heightForWidth(max(self.width(), 200)))

    def heightForWidth(self, width: int) -> int:
        """Qt: as many lines as are shown."""
        return self._arrange(width, move=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrower bar needs more lines, or hides more."""
        super().resizeEvent(event)
        self._settle()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _button(self, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(QMenu(button))
        return button

    def _open(self) -> None:
        button = self.sender()
        if isinstance(button, ChipButton):
            self.opened.emit(button.chip.key)

    def _unfold(self) -> None:
        self._unfolded = not self._unfolded
        self._settle()

    def _drop(self, chip: ChipButton) -> None:
        chip.hide()
        chip.setParent(None)
        chip.deleteLater()

    def _settle(self) -> None:
        height = self._arrange(max(self.width(), 120), move=True)
        if height != self.minimumHeight():
            self.setFixedHeight(height)
            self.updateGeometry()

    def _arrange(self, width: int, *, move: bool) -> int:
        """Put everything in its place, or say how high that would be."""
        corner = QPoint(_SIDE, 0)
        for button in (self.add, self.presets):
            size = QSize(button.sizeHint().width(), HEIGHT)
            if move:
                button.setGeometry(QRect(corner, size))
            corner.setX(corner.x() + size.width() + GAP)
        lines = 1 if self._narrow else self._lines
        boxes = self._boxes(corner, width - _SIDE)
        shown = len(boxes)
        needed = boxes[-1].y() // (HEIGHT + GAP) + 1 if boxes else 1
        folds = needed > lines
        end = boxes[-1].topRight() + QPoint(GAP + 1, 0) if boxes else corner
        if folds:
            more = self._more_width()
            if not self._unfolded:
                limit = lines * (HEIGHT + GAP)
                shown = sum(box.y() < limit for box in boxes)
                while shown and self._beside(boxes[shown - 1]) + more > width - _SIDE:
                    shown -= 1
            end = QPoint(self._beside(boxes[shown - 1]), boxes[shown - 1].y()) if shown else corner
            if end.x() + more > width - _SIDE and self._unfolded:
                end = QPoint(_SIDE, end.y() + HEIGHT + GAP)
        if move:
            for place, (chip, box) in enumerate(zip(self._chips, boxes, strict=True)):
                chip.setGeometry(box)
                chip.setVisible(place < shown)
            self.more.setVisible(folds)
            if folds:
                self._name_more(len(boxes) - shown)
                self.more.setGeometry(QRect(end, QSize(self.more.sizeHint().width(), HEIGHT)))
            self.nothing.setGeometry(QRect(corner + QPoint(2, 0), QSize(max(width - corner.x() - _SIDE, 0), HEIGHT)))
        bottom = max([end.y() if folds else 0, *(box.y() for box in boxes[:shown])], default=0)
        return bottom + HEIGHT + GAP

    def _boxes(self, corner: QPoint, right: int) -> list[QRect]:
        boxes, at = [], QPoint(corner)
        for chip in self._chips:
            wide = min(chip.sizeHint().width(), right - _SIDE)
            if at.x() > _SIDE and at.x() + wide > right:
                at = QPoint(_SIDE, at.y() + HEIGHT + GAP)
            boxes.append(QRect(at, QSize(wide, HEIGHT)))
            at = at + QPoint(wide + GAP, 0)
        return boxes

    @staticmethod
    def _beside(box: QRect) -> int:
        return box.x() + box.width() + GAP

    def _more_width(self) -> int:
        self._name_more(len(self._chips))
        return self.more.sizeHint().width()

    def _name_more(self, hidden: int) -> None:
        self.more.setText(tr("Less") if self._unfolded else tr("+{hidden}", hidden=hidden))
        name = tr("Show less") if self._unfolded else tr("Show {hidden} more choices for this chat", hidden=hidden)
        self.more.setAccessibleName(name)
        self.more.setToolTip(name)
        self.more.setChecked(self._unfolded)

    def _paint(self) -> None:
        self.add.setIcon(self._theme.icon("plus"))
        self.presets.setIcon(self._theme.icon("list"))
        for chip in self._chips:
            chip.update()
