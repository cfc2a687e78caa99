"""A table of plain objects: each column says how it is read off a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QObject, Qt
from PySide6.QtGui import QColor

from lorestudio.ui.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import tr

_LEFT: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT: Final = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


@dataclass(frozen=True, slots=True)
class RowColumn:
    """`words` is what a cell shows, `spoken` what it says where that differs; `icon` a glyph with a palette's colour.

    `tone` is a palette's colour for the words, "" for that of all text.
    """

    title: str
    words: Callable[[Any], str]
    numeric: bool = False
    icon: Callable[[Any], tuple[str, str] | None] | None = None
    tone: Callable[[Any], str] | None = None
    spoken: Callable[[Any], str] | None = None


class RowTable(QAbstractTableModel):
    """Rows with columns. `key` tells a row from the others, `tip` is said to whoever points at it."""

    def __init__(
        self,
        theme: Theme,
        columns: Sequence[RowColumn],
        key: Callable[[Any], object],
        tip: Callable[[Any], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self.columns, self._key, self._tip = theme, tuple(columns), key, tip
        self.rows: tuple[Any, ...] = ()
        self._places: dict[object, int] = {}

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Show other rows; where they are the same ones changed, what is chosen stays chosen."""
        keys = {self._key(row): place for place, row in enumerate(rows)}
        if keys == self._places and len(rows) == len(self.rows):
            self.rows = tuple(rows)
            if rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(self.columns) - 1))
            return
        self.beginResetModel()
        self.rows, self._places = tuple(rows), keys
        self.endResetModel()

    def row(self, place: int) -> Any:  # noqa: ANN401  # whatever the table is made of
        """The row at a place, None where there is none."""
        return self.rows[place] if 0 <= place < len(self.rows) else None

    def key_of(self, row: Any) -> object:  # noqa: ANN401  # whatever the table is made of
        """What tells a row from the others."""
        return self._key(row)

    def place_of(self, key: object) -> int:
        """Where the row of this key is, -1 where it is nowhere."""
        return self._places.get(key, -1)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many columns."""
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the headings."""
        if orientation is not HORIZONTAL or not 0 <= section < len(self.columns):
            return None
        if role == DISPLAY:
            return tr(self.columns[section].title)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.columns[section].numeric else _LEFT
        return None

    def data(self, index: Index, role: int = DISPLAY) -> object:  # noqa: PLR0911  # a table of roles
        """Qt: a cell."""
        row = self.row(index.row())
        if row is None:
            return None
        column = self.columns[index.column()]
        if role == DISPLAY:
            return column.words(row)
        if role == ITEM:
            return row
        if role == TOOLTIP:
            return self._tip(row)
        if role == ACCESSIBLE_TEXT:
            return (column.spoken or column.words)(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column.numeric else _LEFT
        if role == Qt.ItemDataRole.DecorationRole and column.icon is not None:
            found = column.icon(row)
            return self._theme.icon(*found) if found is not None else None
        if role == Qt.ItemDataRole.ForegroundRole and column.tone is not None and (tone := column.tone(row)):
            return QColor(getattr(self._theme.palette, tone))
        return None
