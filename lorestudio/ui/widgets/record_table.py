"""A table of plain objects: each column says how it is read off a row.

The view of a `RowTable`: one row is chosen at a time, the last column takes what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr

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


ROW_HEIGHT: Final = 24


class RowView(QTableView):
    """`chosen` carries the row that is looked at, or None; `pressed` follows Enter or a double click.

    `picked` carries a row that a person has gone to.
    """

    chosen = Signal(object)
    picked = Signal(object)
    pressed = Signal(object)

    def __init__(
        self, theme: Theme, model: RowTable, name: str, widths: Sequence[int], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._rows = model
        self._key: object = None
        self._following = False
        self.setModel(model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setIconSize(QSize(14, 14))
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(ROW_HEIGHT)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setStretchLastSection(True)
        for place, width in enumerate(widths):
            head.resizeSection(place, width)
        # The current row alone also changes when the keyboard comes in, which is no choice.
        self.selectionModel().selectionChanged.connect(lambda *_both: self._changed())
        self.doubleClicked.connect(lambda index: self.pressed.emit(model.row(index.row())))
        model.modelReset.connect(self._find_again)
        model.dataChanged.connect(lambda *_all: self._tell())
        theme.changed.connect(self.viewport().update)

    @property
    def current(self) -> Any:  # noqa: ANN401  # whatever the table is made of
        """The row that is looked at, None where none is."""
        chosen = self.selectionModel().selectedRows()
        return self._rows.row(chosen[0].row()) if chosen else None

    def choose(self, key: object) -> None:
        """Look at the row of this key; nothing is emitted about it as a person's choice."""
        place = self._rows.place_of(key)
        self._following = True
        try:
            if place < 0:
                self.selectionModel().clear()
            elif self.current is not self._rows.row(place):
                self.selectRow(place)
                self.scrollTo(self._rows.index(place, 0))
        finally:
            self._following = False
        self._tell()

    def _changed(self) -> None:
        row = self.current
        if row is not None:
            self._key = self._rows.key_of(row)
            if not self._following:
                self._tell()
                self.picked.emit(row)

    def _find_again(self) -> None:
        """The rows are other ones: the one that was looked at is looked at again."""
        if self._key is not None:
            self.choose(self._key)
        else:
            self._tell()

    def _tell(self) -> None:
        self.chosen.emit(self.current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter goes on with the row."""
        if event.matches(QKeySequence.StandardKey.InsertParagraphSeparator) and self.current is not None:
            self.pressed.emit(self.current)
            return
        super().keyPressEvent(event)
