"""What stands above the list of memories: words, whose, which tag, in which order, only pinned ones."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from lorestudio.ui.memories.table import ORDERS, SIMILARITY, Filter
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import tr

ONE_ROW: Final = 530
"""A bar at least as wide (device-independent pixels) has everything in one row."""

_TAGS_MOST: Final = 200
"""More tags than this make no list that anybody reads; the field finds the others."""


class _Search(QLineEdit):
    """Escape empties it, Down goes to the list."""

    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: see the class."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Escape):
            self.left.emit()
        else:
            super().keyPressEvent(event)


class FilterBar(QWidget):
    """`changed` follows the fields but the words, which `typed` carries; `searched` carries them on Enter.

    `scoped` says whether memories of all chats are wanted, `ordered` carries a column, `left` goes to the list.
    """

    changed = Signal()
    typed = Signal(str)
    searched = Signal(str)
    scoped = Signal(bool)
    ordered = Signal(int)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.field = _Search(self)
        self.field.setPlaceholderText(tr("Filter by words; Enter searches by meaning"))
        self.field.setAccessibleName(tr("Filter by words, or search by meaning"))
        self.field.setClearButtonEnabled(True)
        self.find_button = QToolButton(self)
        self.find_button.setAccessibleName(tr("Search by meaning"))
        self.find_button.setToolTip(tr("List the memories most similar to this text (Enter)"))
        self.scope = self._combo(tr("Whose memories"), (tr("This chat"), tr("All chats")))
        self.tag = self._combo(tr("Only with this tag"), (tr("All tags"),))
        self.order = QToolButton(self)
        self.order.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.orders = QMenu(self.order)
        for column, words in ORDERS.items():
            act = self.orders.addAction(tr(words))
            act.setCheckable(True)
            act.setData(column)
        self.order.setMenu(self.orders)
        self.only_pinned = QCheckBox(tr("Pinned"), self)
        self.only_pinned.setToolTip(tr("List pinned memories only"))
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(8, 3, 8, 2)
        self._grid.setSpacing(5)
        self._one_row: bool | None = None
        self._arrange(one_row=False)
        self.field.textChanged.connect(self.typed)
        self.field.returnPressed.connect(self._search)
        self.field.left.connect(self.left)
        self.find_button.clicked.connect(self._search)
        self.scope.activated.connect(lambda place: self.scoped.emit(place == 1))
        self.tag.activated.connect(lambda _place: self.changed.emit())
        self.only_pinned.clicked.connect(lambda _on: self.changed.emit())
        self.orders.triggered.connect(lambda act: self.ordered.emit(int(act.data())))
        theme.changed.connect(self._paint)
        self._paint()

    def _combo(self, name: str, items: tuple[str, ...]) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(name)
        box.view().setAccessibleName(name)
        box.setToolTip(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(4)
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        box.addItems(list(items))
        return box

    def filter(self, *, words: bool) -> Filter:
        """What is let through, by its words or without them."""
        tag = self.tag.currentText() if self.tag.currentIndex() > 0 else ""
        return Filter(self.field.text() if words else "", tag, self.only_pinned.isChecked())

    def show_scope(self, *, everything: bool, chat: bool) -> None:
        """Show whose memories are listed; without a chat it can be those of all only."""
        self.scope.setEnabled(chat)
        self.scope.setCurrentIndex(int(everything))

    def show_tags(self, tags: tuple[str, ...]) -> None:
        """Offer these tags; the chosen one stays where it is among them."""
        tags = tags[:_TAGS_MOST]
        if [self.tag.itemText(place) for place in range(1, self.tag.count())] == list(tags):
            return
        chosen = self.tag.currentText() if self.tag.currentIndex() > 0 else ""
        self.tag.clear()
        self.tag.addItems([tr("All tags"), *tags])
        self.tag.setCurrentIndex(tags.index(chosen) + 1 if chosen in tags else 0)

    def show_order(self, column: int, *, scored: bool) -> None:
        """Show what the list is ordered by."""
        name = tr("Order of the list: {order}", order=tr(ORDERS[column]))
        self.order.setAccessibleName(name)
        self.order.setToolTip(name)
        for act in self.orders.actions():
            act.setChecked(act.data() == column)
            act.setVisible(act.data() != SIMILARITY or scored)

    def write(self, text: str) -> None:
        """Put words into the field; nothing is emitted about them."""
        self.field.blockSignals(True)
        self.field.setText(text)
        self.field.blockSignals(False)

    def clear(self) -> None:
        """Let everything through."""
        self.only_pinned.setChecked(False)
        self.tag.setCurrentIndex(0)
        self.write("")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: one row or two."""
        super().resizeEvent(event)
        self._arrange(one_row=self.width() >= ONE_ROW)

    def _search(self) -> None:
        self.searched.emit(self.field.text())

    def _paint(self) -> None:
        self.find_button.setIcon(self._theme.icon("search"))
        self.order.setIcon(self._theme.icon("list"))

    def _arrange(self, *, one_row: bool) -> None:
        if one_row == self._one_row:
            return
        self._one_row = one_row
        grid = self._grid
        grid.addWidget(self.field, 0, 0, 1, 1 if one_row else 2)
        grid.addWidget(self.find_button, 0, 1 if one_row else 2)
        grid.addWidget(self.order, 0, 2 if one_row else 3)
        for place, box in enumerate((self.scope, self.tag, self.only_pinned)):
            if one_row:
                grid.addWidget(box, 0, place + 3)
            else:
                grid.addWidget(box, 1, place, 1, 2 if box is self.only_pinned else 1)
        for place in range(6):
            grid.setColumnStretch(place, (5, 0, 0, 3, 3, 0)[place] if one_row else (1, 1, 0, 0, 0, 0)[place])
