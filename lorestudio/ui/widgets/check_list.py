"""A table of what would change, with boxes, and buttons for all and none of them."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QLabel, QPushButton, QTableView, QVBoxLayout, QWidget

from lorestudio.ui.models.check_table import CheckTable
from lorestudio.ui.words import count, tr


class CheckList(QWidget):
    """Shows a `CheckTable`; Space ticks the chosen row."""

    def __init__(self, model: CheckTable, name: str, parent: QWidget | None = None, *, checkable: bool = True) -> None:
        super().__init__(parent)
        self.model = model
        self.view = _Table(self)
        self.view.setModel(model)
        self.view.setAccessibleName(name)
        self.amount = QLabel(self)
        self.amount.setProperty("kind", "small")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.view, 1)
        row = QHBoxLayout()
        row.addWidget(self.amount, 1)
        self.buttons = [QPushButton(tr("All"), self), QPushButton(tr("None"), self)]
        for button, every in zip(self.buttons, (True, False), strict=True):
            button.setProperty("kind", "small")
            button.setVisible(checkable)
            button.clicked.connect(partial(model.choose_all, all_of_them=every))
            row.addWidget(button)
        self.buttons[0].setAccessibleName(tr("Tick all"))
        self.buttons[1].setAccessibleName(tr("Tick none"))
        column.addLayout(row)
        self._checkable = checkable
        model.chosen_changed.connect(self._say)
        self._say()

    def _say(self) -> None:
        rows = len(self.model.rows)
        if self._checkable:
            text = tr("{some} of {rows} chosen", some=len(self.model.chosen), rows=rows) if rows else ""
        else:
            text = count(rows, "difference", "differences")
        self.amount.setText(text)
        for button in self.buttons:
            button.setEnabled(rows > 0)


class _Table(QTableView):
    """One row at a time; the texts share the room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().lineSpacing() + 8)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setTabKeyNavigation(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: the box is in the first column, wherever the keyboard is."""
        index = self.currentIndex()
        if event.key() == Qt.Key.Key_Space and index.isValid():
            self._tick(index.siblingAtColumn(0))
            return
        super().keyPressEvent(event)

    def _tick(self, index: QModelIndex) -> None:
        role = Qt.ItemDataRole.CheckStateRole
        state = index.data(role)
        if state is not None:
            ticked = Qt.CheckState(state) is Qt.CheckState.Checked
            self.model().setData(index, Qt.CheckState.Unchecked if ticked else Qt.CheckState.Checked, role)
