"""The notes that something is proposed for: entry, what, state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QObject, Qt

from lorestudio.studio.proposals import Proposal, ProposalKind
from lorestudio.ui.proposing import Row, RowState
from lorestudio.ui.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import count, tr

ENTRY, WHAT, STATE = range(3)
_HEADS: Final = ("Entry", "What", "State")
_DECORATION: Final = Qt.ItemDataRole.DecorationRole

_LOOKS: Final[Mapping[RowState, tuple[str, str, str]]] = {
    RowState.WAITING: ("pause", "text_faint", "waiting"),
    RowState.ASKING: ("live", "accent", "being asked"),
    RowState.PROPOSED: ("question", "accent", "to decide"),
    RowState.FAILED: ("error", "error", "no proposal"),
    RowState.ACCEPTED: ("check", "good", "accepted"),
    RowState.SKIPPED: ("dash", "text_muted", "skipped by you"),
    RowState.LEFT_OUT: ("slash", "text_muted", "left out"),
}
"""Icon, colour and word of each state."""

_BLOCKED: Final = ("warning", "warning", "cannot be accepted yet")
_DOUBTFUL: Final = ("warning", "warning", "look at it")


class ProposalTable(QAbstractTableModel):
    """Shows rows that somebody else changes; `touch` says which."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: Sequence[Row] = ()
        self._places: dict[int, int] = {}
        theme.changed.connect(self.touch_all)

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows = tuple(rows)
        self._places = {id(row): place for place, row in enumerate(self._rows)}
        self.endResetModel()

    def touch(self, row: Row) -> None:
        """A row has changed."""
        place = self._places.get(id(row))
        if place is not None:
            self.dataChanged.emit(self.index(place, 0), self.index(place, STATE))

    def touch_all(self) -> None:
        """Many rows have changed."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, STATE))

    def place_of(self, row: Row) -> int:
        """Where a row is, -1 where it is not shown."""
        return self._places.get(id(row), -1)

    def row(self, place: int) -> Row | None:
        """The row at a place, None outside."""
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many notes."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: three."""
        return len(_HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: what the columns are."""
        return tr(_HEADS[section]) if orientation == HORIZONTAL and role == DISPLAY else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: what a cell shows and says."""
        row = self.row(index.row())
        if row is None:
            return None
        if role == ITEM:
            return row
        icon, color, word = look_of(row)
        if role == DISPLAY:
            return (row.title, what(row), tr(word))[index.column()]
        if role == _DECORATION and index.column() == STATE:
            return self._theme.icon(icon, color)
        if role == TOOLTIP:
            return "\n".join(filter(None, (row.filename, row.note)))
        if role == ACCESSIBLE_TEXT:
            return ", ".join(filter(None, (row.title, what(row), tr(word), row.note)))
        return None


def look_of(row: Row) -> tuple[str, str, str]:
    """Icon, colour and word of a row's state."""
    proposal = row.proposal
    if row.state is RowState.PROPOSED and proposal is not None:
        if proposal.problem:
            return _BLOCKED
        if proposal.doubtful:
            return _DOUBTFUL
    return _LOOKS[row.state]


def what(row: Row) -> str:
    """What would change, in a few words."""
    proposal = row.proposal
    if proposal is None or not proposal.after:
        return row.note if row.state is RowState.LEFT_OUT else ""
    if isinstance(proposal.after, tuple):
        return _keys(proposal)
    if proposal.kind is ProposalKind.DRAFT:
        return tr("new note “{title}”", title=proposal.title)
    size = count(len(proposal.after), "character", "characters")
    return tr("{size}, {before} before", size=size, before=len(proposal.before)) if proposal.before else size


def _keys(proposal: Proposal) -> str:
    before, after = set(proposal.before), set(proposal.after)
    parts = [count(len(after), "key", "keys")]
    if after - before:
        parts.append(f"+{len(after - before)}")
    if before - after:
        parts.append(f"−{len(before - after)}")
    return " ".join(parts)
