"""The stream of a run as a table: what came in, joined, left and went on at every stage."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QAbstractTableModel, QObject, Qt

from lorestudio.trace.flow import TABLE_COLUMNS, Flow, flow_rows
from lorestudio.trace.model import Trace
from lorestudio.ui.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.words import number, tr

_RIGHT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


class FlowTable(QAbstractTableModel):
    """Rows of `trace.flow.flow_rows`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[tuple[str | int, ...], ...] = ()

    def set_flow(self, stream: Flow | None, trace: Trace | None, *, everything: bool = False) -> None:
        """Show another run."""
        self.beginResetModel()
        shown = stream is not None and trace is not None
        self._rows = flow_rows(stream, trace, everything=everything) if shown and stream and trace else ()
        self.endResetModel()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: stages and ribbons."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: as the export has them."""
        return 0 if parent.isValid() else len(TABLE_COLUMNS)

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: a cell."""
        if not (0 <= index.row() < len(self._rows) and 0 <= index.column() < len(TABLE_COLUMNS)):
            return None
        value = self._rows[index.row()][index.column()]
        text = number(value) if isinstance(value, int) else value
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if isinstance(value, int) else None
        if role == ACCESSIBLE_TEXT:
            return f"{tr(TABLE_COLUMNS[index.column()])}: {text}"
        return text if role in {DISPLAY, TOOLTIP} else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: names of the columns."""
        if role == DISPLAY and orientation == HORIZONTAL:
            return tr(TABLE_COLUMNS[section])
        return None
