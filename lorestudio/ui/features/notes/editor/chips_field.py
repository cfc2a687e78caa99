"""A list of words as chips: typed, pasted, moved and removed with the keyboard or the mouse."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QDrag,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QCompleter, QLineEdit, QWidget

from lorestudio.ui.shell.qt import plain, takes_f2
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.layouts import GAP, Wrapping, chip_height, draw_ground, in_lines
from lorestudio.ui.widgets.paint import draw_glyph, draw_words

_SEPARATORS: Final = re.compile(r"[,\n\r\u2028\u2029]+")
_ITEM: Final = re.compile(r"\s*(/(?:\\.|[^/\\\r\n])+/\w*(?=\s*(?:[,\r\n]|$))|[^,\r\n\u2028\u2029]+)")
"""A pattern between slashes, which may hold commas, or what stands between two separators."""

_OPEN: Final = re.compile(r"/(?:\\.|[^/\\])*")
_BULLET: Final = re.compile(r"-\s+(['\"]?)(.+)\1")
"""A line of YAML's lists."""

_MIME: Final = "application/x-lorestudio-chip"
_CROSS: Final = 16
_LEAST_INPUT: Final = 90

Mark = Callable[[str], str]
"""Says what is wrong with an item, "" for nothing."""


def split_items(text: str) -> list[str]:
    """The items of a pasted text: cut at commas and line ends, trimmed, empty ones dropped, without a list's dashes."""
    pieces = [item for found in _ITEM.finditer(text) if (item := found[1].strip())]
    return [bullet[2] if (bullet := _BULLET.fullmatch(item)) else item for item in pieces]


class _Chip(QAbstractButton):
    """One item. The field that it belongs to does what its keys mean."""

    def __init__(self, field: ChipsField, theme: Theme, text: str) -> None:
        super().__init__(field)
        self._theme, self._field = theme, field
        self.setText(text)
        self.warning = ""
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._pressed: QPoint | None = None

    def event(self, event: QEvent) -> bool:
        """Qt: F2 is its own."""
        return takes_f2(event) or super().event(event)

    def sizeHint(self) -> QSize:
        """Qt: the text, a warning sign, and the cross."""
        wide = QFontMetricsF(self.font()).horizontalAdvance(self._shown()) + 16 + _CROSS + (16 if self.warning else 0)
        return QSize(round(wide), chip_height(self))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the chip."""
        theme = self._theme
        painter = QPainter(self)
        box = draw_ground(painter, self, theme, warning=bool(self.warning))
        left = box.left() + 8
        if self.warning:
            draw_glyph(painter, QRectF(left - 2, box.top(), 14, box.height()), "warning", theme.palette.warning, 13)
            left += 16
        painter.setPen(theme.color("on_accent_soft" if self.hasFocus() else "text"))
        room = box.right() - left - (_CROSS if not self._field.read_only else 2)
        draw_words(painter, QRectF(left, box.top(), room + 3, box.height()), self._shown())
        if not self._field.read_only:
            ink = theme.palette.text if self.underMouse() or self.hasFocus() else theme.palette.text_faint
            draw_glyph(painter, QRectF(box.right() - _CROSS - 1, box.top(), _CROSS, box.height()), "close", ink, 10)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: the field knows what a key does to its item."""
        if not self._field.chip_key(self, event):
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: the cross removes, the rest may be dragged."""
        self._pressed = event.position().toPoint()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a click on the cross removes the item."""
        if (
            self._pressed is not None
            and event.position().x() > self.width() - _CROSS - 2
            and self.rect().contains(event.position().toPoint())
        ):
            self._field.remove(self)
        self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt: edit the item."""
        self._field.edit(self)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: begin to drag once the mouse has moved far enough."""
        if self._pressed is None or self._field.read_only:
            return
        if (event.position().toPoint() - self._pressed).manhattanLength() < QApplication.startDragDistance():
            return
        self._pressed = None
        self._field.drag(self)

    def _shown(self) -> str:
        return self.text() or tr("(empty)")


class ChipsField(Wrapping):
    """The items of a list property. `changed` carries all of them after each change by a person.

    Enter or a comma adds what was typed; Left goes from the empty line to the chips. On a chip: Left and Right move,
    with Ctrl+Shift they move the chip; Delete and Backspace remove it; F2 and Enter edit it.
    """

    changed = Signal(object)
    left = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._name = theme, name
        self._chips: list[_Chip] = []
        self._mark: Mark = lambda _item: ""
        self._editing: int | None = None
        self.read_only = False
        self.input = QLineEdit(self)
        self.input.setProperty("kind", "quiet")
        self.input.setAccessibleName(tr("Add to {name}", name=name))
        self.input.installEventFilter(self)
        self.input.returnPressed.connect(self.take_input)
        self.input.textChanged.connect(lambda _text: self.settle())
        self.setAcceptDrops(True)
        self.setFocusProxy(self.input)
        self.refresh()

    # ---- value ------------------------------------------------------------------------------------------------------

    @property
    def items(self) -> list[str]:
        """The items as they are shown."""
        return [chip.text() for chip in self._chips]

    @property
    def chips(self) -> Sequence[QAbstractButton]:
        """The buttons that stand for the items."""
        return tuple(self._chips)

    def set_items(self, items: Sequence[str]) -> None:
        """Show other items; nothing is emitted. One that is written anew is followed; once gone, it is a new one."""
        if self._editing is not None:
            place, edited = self._editing, self._chips[self._editing].text()
            stays = place < len(items) and items[place] == edited
            self._editing = place if stays else items.index(edited) if edited in items else None
        focus = next((place for place, chip in enumerate(self._chips) if chip.hasFocus()), None)
        if list(items) != self.items:
            while len(self._chips) > len(items):
                self._drop(self._chips.pop())
            for chip, item in zip(self._chips, items, strict=False):
                chip.setText(item)
            self._chips += [_Chip(self, self._theme, item) for item in items[len(self._chips) :]]
        if focus is not None:
            self._focus(min(focus, len(self._chips) - 1))
        self.refresh()

    def set_mark(self, mark: Mark) -> None:
        """How to tell that an item is doubtful, such as a title that no note has."""
        self._mark = mark
        self.refresh()

    def set_completer(self, completer: QCompleter) -> None:
        """What is offered while typing."""
        self.input.setCompleter(completer)
        popup = completer.popup()
        if popup is not None:
            popup.installEventFilter(self)
        # It writes its choice into the line after it has told it.
        completer.activated.connect(self._take_whole, Qt.ConnectionType.QueuedConnection)

    def refresh(self) -> None:
        """Marks and names anew, and everything in its place."""
        total = len(self._chips)
        for place, chip in enumerate(self._chips, start=1):
            chip.warning = self._mark(chip.text())
            chip.setToolTip(plain(chip.warning) or tr("Delete removes it, F2 edits it, Ctrl+Shift+arrow moves it"))
            name = tr("{item}, {place} of {total}", item=chip.text() or tr("(empty)"), place=place, total=total)
            chip.setAccessibleName(name)
            chip.setAccessibleDescription(chip.toolTip())
        listed = ", ".join(self.items) or tr("none")
        self.setAccessibleName(f"{self._name}: {listed}")
        self.input.setAccessibleDescription(tr("At present: {items}", items=listed))
        self.input.setPlaceholderText("" if self._chips else tr("Add…"))
        self.settle()

    # ---- changes ----------------------------------------------------------------------------------------------------

    @property
    def half_typed(self) -> bool:
        """Whether the line holds what is no item yet."""
        before = self._chips[self._editing].text() if self._editing is not None else ""
        return self.input.text().strip() != before.strip()

    def give_up(self) -> None:
        """Forget what is half typed: it is of a note that is shown no more."""
        self._editing = None
        self.input.clear()

    def take_input(self) -> None:
        """Add what was typed, in which a comma separates several, unless an item that has one is written anew."""
        if self._keeps_commas():
            self._take_whole()
        else:
            self._take(split_items(self.input.text()))

    def remove(self, chip: QObject) -> None:
        """Take an item away."""
        place = self._place(chip)
        if place is None or self.read_only:
            return
        now = self.items
        del now[place]
        self._change(now)

    def shift(self, chip: QObject, steps: int) -> None:
        """Put an item so many places further on."""
        place = self._place(chip)
        if place is None or self.read_only or not 0 <= place + steps < len(self._chips):
            return
        now = self.items
        now.insert(place + steps, now.pop(place))
        self._change(now)
        self._focus(place + steps)

    def edit(self, chip: QObject) -> None:
        """Write an item anew in the line; Enter puts it back in its place, Escape leaves it as it was."""
        place = self._place(chip)
        if place is not None and not self.read_only:
            self._editing = place
            self.input.setText(self._chips[place].text())
            self.input.selectAll()
            self.input.setFocus()

    def drag(self, chip: QObject) -> None:
        """Begin to drag an item."""
        place = self._place(chip)
        if place is not None:
            data = QMimeData()
            data.setData(_MIME, str(place).encode())
            data.setText(self._chips[place].text())
            drag = QDrag(self)
            drag.setMimeData(data)
            drag.setPixmap(self._chips[place].grab())
            drag.exec(Qt.DropAction.MoveAction)

    def chip_key(self, chip: QObject, event: QKeyEvent) -> bool:
        """Do what a key means on a chip; False where it means nothing."""
        place = self._place(chip)
        if place is None:
            return False
        key, held = event.key(), event.modifiers()
        move = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(key))
        if steps is not None and held & move == move:
            self.shift(chip, steps)
        elif steps is not None and not held & Qt.KeyboardModifier.AltModifier:
            self._focus(place + steps)
        elif key in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}:
            self.remove(chip)
        elif key in {Qt.Key.Key_F2, Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.edit(chip)
        elif key == Qt.Key.Key_Escape:
            self.input.setFocus()
        elif key in {Qt.Key.Key_Home, Qt.Key.Key_End}:
            self._focus(0 if key == Qt.Key.Key_Home else len(self._chips))
        elif event.matches(QKeySequence.StandardKey.Copy):
            QApplication.clipboard().setText(self._chips[place].text())
        else:
            return False
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: what the line does besides typing."""
        if watched is not self.input:
            return self._popup_key(watched, event)
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._input_key(event)
        if event.type() in {QEvent.Type.FocusIn, QEvent.Type.FocusOut}:
            QTimer.singleShot(0, self, self.settle)  # the line needs less room without the keyboard
        if event.type() is QEvent.Type.FocusOut and isinstance(event, QFocusEvent):
            popup = event.reason() is Qt.FocusReason.PopupFocusReason
            if not popup and (self.input.text().strip() or self._editing is not None):
                self.take_input()  # nothing that was typed is lost
        return False

    def _popup_key(self, popup: QObject, event: QEvent) -> bool:
        """Enter takes what stands in the line, as typed or as offered; the completer would take an offer besides."""
        enter = {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        taken = event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() in enter
        if taken and isinstance(popup, QWidget):
            offered = isinstance(popup, QAbstractItemView) and popup.currentIndex().isValid()
            popup.hide()
            (self._take_whole if offered else self.take_input)()
        return taken

    def _input_key(self, event: QKeyEvent) -> bool:
        line = self.input
        at_start = line.cursorPosition() == 0 and not line.hasSelectedText()
        backwards = event.key() in {Qt.Key.Key_Left, Qt.Key.Key_Backspace}
        if event.matches(QKeySequence.StandardKey.Paste):
            text = QApplication.clipboard().text()
            if _SEPARATORS.search(text.strip()):
                self.add_text(text)
                return True
        elif event.text() == "," and not (self._keeps_commas() or _OPEN.fullmatch(line.text())):
            self.take_input()
            return True
        elif at_start and backwards and self._chips and self._editing is None and not event.modifiers():
            self._focus(len(self._chips) - 1)
            return True
        elif event.key() == Qt.Key.Key_Escape:
            if self._editing is not None:
                self._editing = None
                line.clear()
                return True
            self.left.emit()
            return True
        return False

    def add_text(self, text: str) -> None:
        """Add every item of a pasted text, together with what was typed around it."""
        line, typed = self.input, self.input.text()
        start = line.selectionStart() if line.hasSelectedText() else line.cursorPosition()
        self._take(split_items(typed[:start] + text + typed[start + len(line.selectedText()) :]))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Qt: only chips of this field are moved here."""
        if event.source() is self and event.mimeData().hasFormat(_MIME):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Qt: as long as it comes from here."""
        if event.source() is self:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Qt: put the chip where it was dropped."""
        place = int(bytes(event.mimeData().data(_MIME).data()).decode() or 0)
        event.acceptProposedAction()
        if place < len(self._chips):
            target = self.place_at(event.position().toPoint())
            self.shift(self._chips[place], target - place - (1 if target > place else 0))

    def place_at(self, point: QPoint) -> int:
        """Before which item something dropped at `point` belongs."""
        for place, chip in enumerate(self._chips):
            box = chip.geometry()
            if point.y() < box.bottom() + GAP and point.x() < box.center().x():
                return place
            if point.y() < box.top():
                return place
        return len(self._chips)

    # ---- inner ------------------------------------------------------------------------------------------------------

    def _change(self, items: list[str]) -> None:
        self.set_items(items)
        self.changed.emit(items)

    def _keeps_commas(self) -> bool:
        return self._editing is not None and "," in self._chips[self._editing].text()

    def _take_whole(self) -> None:
        text = self.input.text().strip()
        self._take([text] if text else [])

    def _take(self, items: list[str]) -> None:
        self.input.clear()
        place, self._editing = self._editing, None
        now = self.items
        if place is not None:
            now[place : place + 1] = items
            self._change(now)
        elif items:
            self._change([*now, *items])

    def _place(self, chip: QObject) -> int | None:
        return next((place for place, item in enumerate(self._chips) if item is chip), None)

    def _focus(self, place: int) -> None:
        if 0 <= place < len(self._chips):
            self._chips[place].setFocus(Qt.FocusReason.TabFocusReason)
        elif place >= len(self._chips) or not self._chips:
            self.input.setFocus(Qt.FocusReason.TabFocusReason)

    def _drop(self, chip: _Chip) -> None:
        if chip.hasFocus():
            self.input.setFocus()
        chip.setParent(None)
        chip.deleteLater()

    def arrange(self, width: int, *, move: bool) -> int:
        """See `Wrapping`: the chips, and behind them the line to type in."""
        high = chip_height(self)
        shown = [chip for place, chip in enumerate(self._chips) if place != self._editing]
        boxes = in_lines((min(chip.sizeHint().width(), width) for chip in shown), width, QPoint(), height=high)
        end = boxes[-1].topRight() + QPoint(GAP + 1, 0) if boxes else QPoint()
        typing = not self._chips or self.input.hasFocus() or bool(self.input.text())
        if not self.read_only and end.x() and end.x() + (_LEAST_INPUT if typing else 2 * GAP) > width:
            end = QPoint(0, end.y() + high + GAP)
        if move:
            for chip in self._chips:
                chip.setVisible(chip in shown)
            for chip, box in zip(shown, boxes, strict=True):
                chip.setGeometry(box)
            self.input.setVisible(not self.read_only)
            self.input.setGeometry(QRect(end, QSize(max(width - end.x(), 4), high)))
        return end.y() + high
