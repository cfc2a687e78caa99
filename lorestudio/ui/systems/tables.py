"""The tables of a comparison of systems: turn by turn, and over the whole chat."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QAbstractTableModel, QObject, Qt

from lorestudio.studio.comparing import Comparison
from lorestudio.studio.comparison_report import generation_of, names_of, total_rows
from lorestudio.studio.generation import Generation
from lorestudio.trace.text import turn_words
from lorestudio.ui.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.words import count, number, tr

_ALIGN: Final = int(Qt.ItemDataRole.TextAlignmentRole)
_RIGHT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
_LEFT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_FIRST: Final = 2


class TurnsTable(QAbstractTableModel):
    """A row for every turn: its name, the overlap, and for each run its amount and what it alone puts in.

    `ITEM` is the generation.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.found: Comparison | None = None

    def set_comparison(self, found: Comparison | None) -> None:
        """Show another comparison."""
        self.beginResetModel()
        self.found = found
        self.endResetModel()

    def row_of(self, generation: Generation | None) -> int:
        """The row of a generation, -1 where it has none."""
        turns = self.found.turns if self.found is not None else ()
        return next((row for row, turn in enumerate(turns) if generation_of(turn.turn) == generation), -1)

    def generation(self, row: int) -> Generation | None:
        """The generation of a row."""
        turns = self.found.turns if self.found is not None else ()
        return generation_of(turns[row].turn) if 0 <= row < len(turns) else None

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the turns."""
        return 0 if parent.isValid() or self.found is None else len(self.found.turns)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: turn, overlap, and two columns for every run."""
        return 0 if parent.isValid() or self.found is None else _FIRST + 2 * len(self.found.labels)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: what the columns are; rows have no name."""
        found = self.found
        if found is None or orientation != HORIZONTAL or not 0 <= section < self.columnCount():
            return None
        if role == _ALIGN:
            return _LEFT
        if role not in {DISPLAY, TOOLTIP, ACCESSIBLE_TEXT}:
            return None
        if section < _FIRST:
            tips = (tr("Turn"), tr("What all runs put in, as a part of what any of them puts in"))
            return tips[section] if role == TOOLTIP else (tr("Turn"), tr("Overlap"))[section]
        place, alone = divmod(section - _FIRST, 2)
        label = found.labels[place]
        if alone:
            long = tr("Entries that {run} alone puts in", run=label)
            return tr("only there") if role == DISPLAY else long
        return label if role == DISPLAY else tr("{run}: entries and tokens", run=label)

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: the texts."""
        found = self.found
        if found is None or not 0 <= index.row() < len(found.turns):
            return None
        turn, column = found.turns[index.row()], index.column()
        if role == ITEM:
            return generation_of(turn.turn)
        if role == _ALIGN:
            return _RIGHT if column == 1 else _LEFT
        if role == DISPLAY:
            return self._text(index.row(), column)
        if role in {TOOLTIP, ACCESSIBLE_TEXT}:
            head = self.headerData(column, HORIZONTAL, ACCESSIBLE_TEXT)
            return f"{head}: {self._text(index.row(), column, long=True) or tr('none')}"
        return None

    def _text(self, row: int, column: int, *, long: bool = False) -> str:
        found = self.found
        if found is None:
            return ""
        turn = found.turns[row]
        if column == 0:
            return turn_words(turn.turn)
        if column == 1:
            return f"{turn.overlap:.0%}"
        place, alone = divmod(column - _FIRST, 2)
        if alone:
            return ", ".join(names_of(found, turn.alone[place]))
        share = turn.shares[place]
        if long:
            entries = count(len(share.notes), "entry", "entries")
            return f"{entries}, {count(share.tokens, 'token', 'tokens')}: {', '.join(names_of(found, share.notes))}"
        return f"{len(share.notes)} · {number(share.tokens)}"


class TotalsTable(QAbstractTableModel):
    """A row for every run over the whole chat, with how far it agrees with each other one."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[list[str]] = []

    def set_comparison(self, found: Comparison | None) -> None:
        """Show another comparison."""
        self.beginResetModel()
        self._rows = total_rows(found) if found is not None else []
        self.endResetModel()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the runs."""
        return 0 if parent.isValid() else max(0, len(self._rows) - 1)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: what is said of a run."""
        return len(self._rows[0]) if self._rows and not parent.isValid() else 0

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: what the columns are."""
        if orientation != HORIZONTAL or not 0 <= section < self.columnCount():
            return None
        return tr(self._rows[0][section]) if role in {DISPLAY, ACCESSIBLE_TEXT, TOOLTIP} else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: the texts."""
        if not 0 <= index.row() < self.rowCount():
            return None
        text = self._rows[index.row() + 1][index.column()]
        if role == DISPLAY:
            return text
        if role == _ALIGN:
            return _RIGHT if index.column() else _LEFT
        if role in {TOOLTIP, ACCESSIBLE_TEXT}:
            return f"{tr(self._rows[0][index.column()])}: {text}"
        return None
