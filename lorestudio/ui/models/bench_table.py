"""What a tested text triggers, as a table: who goes in, then who does not, each with its key and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QObject, Qt

from lorestudio.studio.bench import BenchRow
from lorestudio.ui.models.marks import fate_mark
from lorestudio.ui.qt import (
    ACCESSIBLE_TEXT,
    DISPLAY,
    ENTRY_ID,
    HORIZONTAL,
    ITEM,
    MARK,
    NO_INDEX,
    TOOLTIP,
    Index,
)
from lorestudio.ui.words import number, tr

ENTRY, KEY, WHY, TOKENS = range(4)
COLUMNS: Final = ("Entry", "Key", "Why", "Tokens")


def key_words(row: BenchRow) -> str:
    """The keys that were found, "" for none."""
    return ", ".join(row.keys)


def why_words(row: BenchRow) -> str:
    """In a word or two: how it came in, or what stopped it."""
    if row.injected:
        return row.how or row.label
    return row.label


def full_words(row: BenchRow) -> str:
    """How it came in, and what settled it, in sentences."""
    settled = row.sentence if not row.injected or not row.how_sentence or row.label == "Shortened" else ""
    return " ".join(part for part in (row.how_sentence, settled) if part)


class BenchTable(QAbstractTableModel):
    """The rows of one result."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[BenchRow, ...] = ()

    def set_rows(self, rows: Sequence[BenchRow]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    def row(self, number: int) -> BenchRow | None:
        """The row of that number."""
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def row_of(self, entry: int | None) -> int:
        """The row of an entry, -1 where it has none."""
        return next((place for place, row in enumerate(self._rows) if row.entry == entry), -1)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one row an entry."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: entry, key, why, tokens."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the headings."""
        if orientation is HORIZONTAL and 0 <= section < len(COLUMNS):
            if role == DISPLAY:
                return tr(COLUMNS[section])
            if role == Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if section == TOKENS else Qt.AlignmentFlag.AlignLeft
                return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = DISPLAY) -> object:  # noqa: PLR0911  # a table of roles
        """Qt: a cell."""
        row = self.row(index.row())
        if row is None:
            return None
        if role == ITEM:
            return row
        if role == ENTRY_ID:
            return row.entry
        if role == MARK:
            return fate_mark(row.fate) if index.column() == ENTRY else None
        if role == TOOLTIP:
            return full_words(row)
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == TOKENS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        words = {ENTRY: row.title, KEY: key_words(row), WHY: why_words(row), TOKENS: number(row.tokens)}
        if role == DISPLAY:
            return words[index.column()]
        if role == ACCESSIBLE_TEXT:
            if index.column() == ENTRY:
                return tr("{title}: {state}", title=row.title, state=tr(fate_mark(row.fate).word))
            return words[index.column()]
        return None
