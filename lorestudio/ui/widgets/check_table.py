"""Rows that say what would change, each with a box to tick: settings to carry over, choices to write into a chat.

A table of what would change, with boxes, and buttons for all and none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QLabel, QPushButton, QTableView, QVBoxLayout, QWidget

from lorestudio.settings.differences import SettingChange, value_text
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.shell.words import count, tr

_CHECK = Qt.ItemDataRole.CheckStateRole


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One row. `key` names it for programs, `note` is said to whoever points at it."""

    key: str
    title: str
    before: str
    after: str
    note: str = ""


def setting_rows(changes: Sequence[SettingChange]) -> list[CheckRow]:
    """Rows of settings with both values."""
    return [
        CheckRow(
            each.declaration.alias,
            tr(each.declaration.label),
            value_text(each.declaration, each.before),
            value_text(each.declaration, each.after),
            f"{each.declaration.alias}: {tr(each.declaration.help)}",
        )
        for each in changes
    ]


class CheckTable(QAbstractTableModel):
    """Three columns: what, before, after. `chosen_changed` follows every tick."""

    chosen_changed = Signal()

    def __init__(self, heads: tuple[str, str, str], parent: QObject | None = None, *, checkable: bool = True) -> None:
        super().__init__(parent)
        self._heads, self._checkable = heads, checkable
        self.rows: tuple[CheckRow, ...] = ()
        self._chosen: set[str] = set()

    @property
    def chosen(self) -> frozenset[str]:
        """The keys of the ticked rows."""
        return frozenset(self._chosen)

    def set_rows(
        self, rows: Sequence[CheckRow], chosen: Sequence[str] = (), heads: tuple[str, str, str] | None = None
    ) -> None:
        """Show other rows with these ticked."""
        self.beginResetModel()
        self.rows = tuple(rows)
        self._chosen = {row.key for row in rows} & set(chosen)
        self._heads = heads or self._heads
        self.endResetModel()
        self.chosen_changed.emit()

    def choose(self, keys: Sequence[str]) -> None:
        """Tick exactly these."""
        self._chosen = {row.key for row in self.rows} & set(keys)
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, 0))
        self.chosen_changed.emit()

    def choose_all(self, *, all_of_them: bool) -> None:
        """Tick every row, or none."""
        self.choose([row.key for row in self.rows] if all_of_them else [])

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: three."""
        return len(self._heads)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: what the columns are."""
        return tr(self._heads[section]) if orientation == HORIZONTAL and role == DISPLAY else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Qt: the first column has the boxes."""
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsUserCheckable if self._checkable and index.column() == 0 else flags

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: what a cell shows and says."""
        row = self.rows[index.row()]
        if role == DISPLAY:
            return (row.title, row.before, row.after)[index.column()]
        if role == ITEM:
            return row
        if role == _CHECK and self._checkable and index.column() == 0:
            return Qt.CheckState.Checked if row.key in self._chosen else Qt.CheckState.Unchecked
        if role == TOOLTIP:
            return "\n".join(filter(None, (f"{row.before} → {row.after}", row.note)))
        if role == ACCESSIBLE_TEXT:
            return tr("{title}: {before}, then {after}", title=row.title, before=row.before, after=row.after)
        return None

    def setData(self, index: Index, value: object, role: int = DISPLAY) -> bool:
        """Qt: tick a row, or not."""
        if role != _CHECK or not self._checkable:
            return False
        key = self.rows[index.row()].key
        if Qt.CheckState(value) is Qt.CheckState.Checked:
            self._chosen.add(key)
        else:
            self._chosen.discard(key)
        self.dataChanged.emit(index, index)
        self.chosen_changed.emit()
        return True


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
