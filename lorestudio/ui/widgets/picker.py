"""A popup to pick something by a few letters: the command palette and the quick switcher.

Finding names by a few of their letters, for the command palette and the quick switcher.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq

from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, ITEM, NO_INDEX, Index
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, tr

_PREFIX, _WORD, _INITIALS = 30, 20, 15


def score(query: str, text: str) -> float | None:
    """How well `query` fits `text`, None where its letters do not occur in order.

    Where the text or a word of it begins so, or the letters are those that words begin with, it fits best.
    """
    typed, name = query.casefold().strip(), text.casefold()
    letters = typed.replace(" ", "")
    if not letters:
        return 0.0
    if LCSseq.similarity(letters, name) < len(letters):
        return None
    words = re.findall(r"\w+", name)
    points = fuzz.WRatio(typed, name) + _PREFIX * name.startswith(typed)
    points += _WORD * any(word.startswith(typed) for word in words)
    return points + _INITIALS * LCSseq.similarity(letters, "".join(word[0] for word in words)) / len(letters)


def ranked(query: str, texts: Iterable[str]) -> list[int]:
    """The places of the texts that fit, best first; equally good ones stay in order."""
    scored = ((score(query, text), place) for place, text in enumerate(texts))
    return [place for _points, place in sorted((-points, place) for points, place in scored if points is not None)]


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to pick: what it is called, more about it, its shortcut, and what the picker hands back."""

    title: str
    detail: str
    hint: str
    key: object
    enabled: bool = True


class _Choices(QAbstractListModel):
    def __init__(self, choices: Sequence[Choice], parent: QObject) -> None:
        super().__init__(parent)
        self._all = list(choices)
        self._shown = list(choices)

    def search(self, text: str) -> None:
        """Show what fits `text`."""
        self.beginResetModel()
        self._shown = [self._all[place] for place in ranked(text, (choice.title for choice in self._all))]
        self.endResetModel()

    def add(self, choices: Sequence[Choice], text: str) -> None:
        """More choices, behind those that are known."""
        self._all += choices
        self.search(text)

    def replace(self, choices: Sequence[Choice], text: str) -> None:
        """Other choices, such as the same ones with more to say about them."""
        self._all = list(choices)
        self.search(text)

    def row_of(self, choice: object) -> int:
        """The row of a choice, -1 where it is not shown."""
        return self._shown.index(choice) if isinstance(choice, Choice) and choice in self._shown else -1

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one row per choice."""
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: a choice."""
        if not 0 <= index.row() < len(self._shown):
            return None
        choice = self._shown[index.row()]
        if role == ITEM:
            return choice
        if role == DISPLAY:
            return choice.title
        if role == ACCESSIBLE_TEXT:
            parts = [choice.title, choice.detail, choice.hint, "" if choice.enabled else tr("not available now")]
            return ", ".join(part for part in parts if part)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Qt: what is not available is shown, and says so, but cannot be picked."""
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class _ChoiceDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: one line."""
        return QSize(200, 30)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a choice."""
        choice = index.data(ITEM)
        if not isinstance(choice, Choice):
            return
        theme = self._theme
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        if chosen:
            painter.fillRect(option.rect, theme.color("accent_soft"))
        box = QRectF(option.rect).adjusted(12, 0, -12, 0)
        plain = theme.color("text" if choice.enabled else "border_strong")
        painter.setPen(theme.color("on_accent_soft") if chosen and choice.enabled else plain)
        painter.drawText(box, _LEFT, choice.title)
        wide = QFontMetricsF(option.font).horizontalAdvance(choice.title) + 10
        painter.setFont(scaled(option.font, 0.9))
        painter.setPen(theme.color("on_accent_soft" if chosen else "text_faint"))
        metrics = QFontMetricsF(painter.font())
        painter.drawText(box, _RIGHT, choice.hint)
        room = box.width() - wide - metrics.horizontalAdvance(choice.hint) - 10
        detail = metrics.elidedText(choice.detail, Qt.TextElideMode.ElideRight, max(room, 0))
        painter.drawText(box.adjusted(wide, 0, 0, 0), _LEFT, detail)
        painter.restore()


class Picker(QDialog):
    """Type, arrow keys, Enter. `picked` carries the key of the choice; Escape closes and picks nothing.

    `wanted_new` carries what was typed, where Shift+Enter asks for something new of that name.
    """

    picked = Signal(object)
    wanted_new = Signal(str)

    def __init__(
        self, theme: Theme, title: str, placeholder: str, choices: Sequence[Choice], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        frame = QFrame(self)
        frame.setObjectName("Popup")
        outer.addWidget(frame)
        column = QVBoxLayout(frame)
        column.setContentsMargins(8, 8, 8, 6)
        column.setSpacing(6)
        self.field = QLineEdit(frame)
        self.field.setPlaceholderText(placeholder)
        self.field.setAccessibleName(title)
        self.field.setClearButtonEnabled(True)
        self._model = _Choices(choices, self)
        self.view = QListView(frame)
        self.view.setModel(self._model)
        self.view.setItemDelegate(_ChoiceDelegate(theme, self.view))
        self.view.setUniformItemSizes(True)
        self.view.setAccessibleName(tr("Matches"))
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the arrow keys reach it through the field
        self._count = QLabel(frame)
        self._count.setProperty("kind", "small")
        column.addWidget(self.field)
        column.addWidget(self.view, 1)
        self._hint = QLabel(frame)
        self._hint.setProperty("kind", "small")
        self._hint.hide()
        foot = QHBoxLayout()
        foot.addWidget(self._count)
        foot.addStretch(1)
        foot.addWidget(self._hint)
        column.addLayout(foot)
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.view.clicked.connect(self._pick)
        self._search("")

    def set_hint(self, text: str) -> None:
        """Say which keys do what."""
        self._hint.setText(text)
        self._hint.setVisible(bool(text))

    def add(self, choices: Sequence[Choice]) -> None:
        """More to pick, found meanwhile; the row that the keyboard is on stays where it still fits."""
        chosen = self.view.currentIndex().data(ITEM)
        self._model.add(choices, self.field.text())
        self.view.setCurrentIndex(self._model.index(max(self._model.row_of(chosen), 0)))
        self._say_count()

    def open_over(self, window: QWidget) -> None:
        """Show the popup in the upper middle of `window`."""
        width = min(620, max(360, window.width() - 200))
        height = min(420, max(240, window.height() - 200))
        self.resize(width, height)
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - width) // 2, corner.y() + 64)
        self.show()
        self.field.setFocus()

    def pick_current(self) -> None:
        """Take the row that the keyboard is on."""
        self._pick(self.view.currentIndex())

    def replace(self, choices: Sequence[Choice]) -> None:
        """Say more about the choices; the row that the keyboard is on stays, whatever is said of it now."""
        row = self.view.currentIndex().row()
        self._model.replace(choices, self.field.text())
        self.view.setCurrentIndex(self._model.index(max(row, 0)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: arrow keys move through the list while the field keeps the keyboard."""
        if watched is self.field and event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            rows, row = self._model.rowCount(), self.view.currentIndex().row()
            page = 8
            moves = {
                Qt.Key.Key_Down: row + 1,
                Qt.Key.Key_Up: row - 1,
                Qt.Key.Key_PageDown: row + page,
                Qt.Key.Key_PageUp: row - page,
            }
            if event.key() in moves and rows:
                self.view.setCurrentIndex(self._model.index(max(0, min(rows - 1, moves[Qt.Key(event.key())]))))
                return True
            if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
                if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._hint.isVisible():
                    self._want_new()
                    return True
                self.pick_current()
                return True
        return super().eventFilter(watched, event)

    def _search(self, text: str) -> None:
        self._model.search(text)
        self.view.setCurrentIndex(self._model.index(0))
        self._say_count()

    def _want_new(self) -> None:
        name = self.field.text().strip()
        if name:
            self.close()
            self.wanted_new.emit(name)

    def _say_count(self) -> None:
        found = self._model.rowCount()
        none = tr("Nothing has these letters in this order.")
        self._count.setText(count(found, "match", "matches") if found else none)

    def _pick(self, index: Index) -> None:
        choice = index.data(ITEM)
        if isinstance(choice, Choice) and choice.enabled:
            self.close()
            self.picked.emit(choice.key)
