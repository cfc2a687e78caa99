"""The view on a `PlaceTree`: Enter or a click goes to a place."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QTreeView, QWidget

from lorestudio.ui.models.place_tree import PlaceTree
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.place_delegate import PlaceDelegate

_BOX = 20


class PlaceView(QTreeView):
    """`entered` carries the row that somebody wants to go to. A click on a box only ticks it."""

    entered = Signal(QModelIndex)

    def __init__(self, theme: Theme, model: PlaceTree, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(13)
        self.setItemDelegate(PlaceDelegate(theme, self))
        self.setAccessibleName(name)
        self.setExpandsOnDoubleClick(False)
        theme.changed.connect(self.viewport().update)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter goes to the place, Space ticks it."""
        index = self.currentIndex()
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.entered.emit(index)
        elif event.key() == Qt.Key.Key_Space:
            self._tick(index)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a click goes to the place, one on the box ticks it."""
        super().mouseReleaseEvent(event)
        point = event.position().toPoint()
        index = self.indexAt(point)
        if event.button() is not Qt.MouseButton.LeftButton or not index.isValid():
            return
        if self._on_box(index, point):
            self._tick(index)
        elif self.visualRect(index).contains(point):
            self.entered.emit(index)

    def _tick(self, index: QModelIndex) -> None:
        state = index.data(Qt.ItemDataRole.CheckStateRole)
        if state is not None:
            on = Qt.CheckState(state) is not Qt.CheckState.Checked
            wanted = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
            self.model().setData(index, wanted.value, Qt.ItemDataRole.CheckStateRole)

    def _on_box(self, index: QModelIndex, point: QPoint) -> bool:
        left = self.visualRect(index).left()
        return index.data(Qt.ItemDataRole.CheckStateRole) is not None and left <= point.x() < left + _BOX
