"""What all models of trees share: rows that know their children and the row above.

Places in notes as a tree of two levels: what they belong to, and below it the lines with what was found in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt, Signal

from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.shell.words import number, tr


class TreeRow(Protocol):
    """One row. `row` is its place among the children of `parent`."""

    row: int

    @property
    def parent(self) -> TreeRow | None:
        """The row above; the invisible root's is None."""

    @property
    def children(self) -> Sequence[TreeRow]:
        """The rows below."""


R = TypeVar("R", bound=TreeRow)


class TreeModel(QAbstractItemModel, Generic[R]):
    """A tree below the invisible `_root`, which a model replaces to show something else."""

    def __init__(self, root: R, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root = root

    def node(self, index: Index) -> R:
        """The row behind an index; the invisible root for an invalid one."""
        item = index.internalPointer() if index.isValid() else None
        return item if isinstance(item, type(self._root)) else self._root

    def index(self, row: int, column: int, parent: Index = NO_INDEX) -> QModelIndex:
        """Qt: the index of a child."""
        children = self.node(parent).children
        return self.createIndex(row, column, children[row]) if 0 <= row < len(children) else QModelIndex()

    def parent(self, index: Index = NO_INDEX) -> QModelIndex:  # type: ignore[override] # the stubs know only QObject's
        """Qt: the index of the row above."""
        above = self.node(index).parent
        return QModelIndex() if above is None or above is self._root else self.createIndex(above.row, 0, above)

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many rows are below; only the first column has any."""
        return 0 if parent.isValid() and parent.column() > 0 else len(self.node(parent).children)


_CHECK = Qt.ItemDataRole.CheckStateRole


@dataclass(slots=True, eq=False)
class PlaceRow:
    """One row. A row with children is a group; `text[start:end]` is what was found, `title` what stands before it.

    `after` is shown on the right; `line` counts from 1, 0 for the note as such. `checked` None has no box. `key` is
    whatever the pane wants to know about the row.
    """

    title: str
    text: str = ""
    start: int = 0
    end: int = 0
    path: Path | None = None
    line: int = 0
    icon: str = ""
    after: str = ""
    new_text: str | None = None
    checked: bool | None = None
    key: object = None
    tip: str = ""
    children: list[PlaceRow] = field(default_factory=list)
    parent: PlaceRow | None = None
    row: int = 0


class PlaceTree(TreeModel[PlaceRow]):
    """`ITEM` is the row. Groups can be appended while others are shown already; `checks_changed` follows each tick."""

    checks_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(PlaceRow(""), parent)

    @property
    def groups(self) -> Sequence[PlaceRow]:
        """The rows of the first level."""
        return self._root.children

    def lines(self) -> Iterator[PlaceRow]:
        """The rows of the second level."""
        for group in self._root.children:
            yield from group.children

    def clear(self) -> None:
        """Show nothing."""
        self.set_groups(())

    def set_groups(self, groups: Sequence[PlaceRow]) -> None:
        """Show these groups."""
        self.beginResetModel()
        self._root = PlaceRow("")
        self._adopt(groups)
        self.endResetModel()

    def append(self, groups: Sequence[PlaceRow]) -> None:
        """Show these groups too, behind the others."""
        if groups:
            first = len(self._root.children)
            self.beginInsertRows(NO_INDEX, first, first + len(groups) - 1)
            self._adopt(groups)
            self.endInsertRows()

    def refresh(self) -> None:
        """The rows are the same and say something else."""
        if self._root.children:
            last = len(self._root.children) - 1
            self.dataChanged.emit(self.index(0, 0), self.index(last, 0))

    def set_checked(self, rows: Sequence[PlaceRow], checked: bool) -> None:
        """Tick or untick lines."""
        for row in rows:
            if row.checked is not None:
                row.checked = checked
        self.refresh()
        self.checks_changed.emit()

    def place(self, index: Index) -> PlaceRow | None:
        """The row behind an index."""
        row = self.node(index)
        return None if row is self._root else row

    def index_of(self, row: PlaceRow) -> QModelIndex:
        """The index of a row."""
        return self.createIndex(row.row, 0, row)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one column."""
        return 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Qt: every row can be chosen; some can be ticked."""
        row = self.place(index)
        if row is None:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsUserCheckable if self._state(row) is not None else flags

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: what a row shows and says."""
        row = self.place(index)
        if row is None:
            return None
        if role == ITEM:
            return row
        if role == DISPLAY:
            return row.title if row.children else f"{row.title} {row.text}".strip()
        if role == TOOLTIP:
            return row.tip or None
        if role == _CHECK:
            return self._state(row)
        return _spoken(row) if role == ACCESSIBLE_TEXT else None

    def setData(self, index: Index, value: object, role: int = DISPLAY) -> bool:
        """Qt: a box was ticked; that of a group stands for all its lines."""
        row = self.place(index)
        if row is None or role != _CHECK or self._state(row) is None:
            return False
        checked = Qt.CheckState(value) is Qt.CheckState.Checked
        self.set_checked(row.children or [row], checked)
        return True

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _state(self, row: PlaceRow) -> Qt.CheckState | None:
        if not row.children:
            return None if row.checked is None else _tick(row.checked)
        known = {child.checked for child in row.children if child.checked is not None}
        if not known:
            return None
        return Qt.CheckState.PartiallyChecked if len(known) > 1 else _tick(known.pop())

    def _adopt(self, groups: Sequence[PlaceRow]) -> None:
        for group in groups:
            group.parent, group.row = self._root, len(self._root.children)
            self._root.children.append(group)
            for place, child in enumerate(group.children):
                child.parent, child.row = group, place


def _tick(checked: bool) -> Qt.CheckState:
    return Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked


def _spoken(row: PlaceRow) -> str:
    if row.children:
        return ", ".join(part for part in (row.title, row.after or number(len(row.children))) if part)
    parts = [row.title, tr("line {line}", line=number(row.line)) if row.line else "", row.text.strip(), row.after]
    if row.new_text is not None:
        parts.append(tr("becomes {new}", new=row.new_text or tr("nothing")))
    return ", ".join(part for part in parts if part)
