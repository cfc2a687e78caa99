"""What all models of trees share: rows that know their children and the row above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject

from lorestudio.ui.qt import NO_INDEX, Index


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
