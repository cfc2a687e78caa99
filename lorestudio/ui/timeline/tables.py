"""The table twins of the timeline: turns, entries, and what costs prompt caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QObject, Qt

from lorestudio.domain.entry import VaultIndex
from lorestudio.studio.generation import Generation
from lorestudio.trace.diff import Key
from lorestudio.trace.prompt_cache import CacheTotals, CauseTotal
from lorestudio.ui.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.timeline.map_content import MapContent
from lorestudio.ui.timeline.words import cause_text, changes_text
from lorestudio.ui.words import count, number, tr

_RIGHT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
_LEFT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_ALIGN: Final = int(Qt.ItemDataRole.TextAlignmentRole)


@dataclass(frozen=True, slots=True)
class Names:
    """Titles of entries by vault and file name."""

    titles: dict[Key, str] = field(default_factory=dict, repr=False)
    ids: dict[Key, int] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, index: VaultIndex) -> Names:
        """The names of an index."""
        return cls(
            {(entry.vault, entry.filename): entry.title for entry in index.entries},
            {(entry.vault, entry.filename): entry.id for entry in index.entries},
        )

    def title(self, key: Key) -> str:
        """The title, or the file name where there is no such entry any more."""
        return self.titles.get(key, key[1])

    def id(self, key: Key) -> int | None:
        """The entry's id, None where there is no such entry any more."""
        return self.ids.get(key)


class _Table(QAbstractTableModel):
    """A table of texts. Rows are computed when they are looked at."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.content = MapContent()
        self.names = Names()

    def headings(self) -> Sequence[tuple[str, bool]]:
        """Each column's heading, and whether it holds numbers."""
        return ()

    def text(self, row: int, column: int) -> str:
        """The text of a cell."""
        return ""

    def rows(self) -> int:
        """How many rows there are."""
        return 0

    def item(self, row: int, column: int) -> object:
        """What a cell is about."""
        return None

    def set_content(self, content: MapContent, names: Names) -> None:
        """Show another timeline."""
        self.beginResetModel()
        self.content, self.names = content, names
        self.endResetModel()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the rows."""
        return 0 if parent.isValid() else self.rows()

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the headings."""
        return 0 if parent.isValid() else len(self.headings())

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: headings; rows have none."""
        if orientation is not HORIZONTAL or not 0 <= section < len(self.headings()):
            return None
        heading, right = self.headings()[section]
        if role == _ALIGN:
            return _RIGHT if right else _LEFT
        return heading if role in {DISPLAY, ACCESSIBLE_TEXT, TOOLTIP} else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: a cell."""
        row, column = index.row(), index.column()
        if not (0 <= row < self.rows() and 0 <= column < len(self.headings())):
            return None
        if role in {DISPLAY, TOOLTIP}:
            return self.text(row, column)
        if role == ACCESSIBLE_TEXT:
            return f"{self.headings()[column][0]}: {self.text(row, column) or tr('nothing')}"
        if role == ITEM:
            return self.item(row, column)
        if role == _ALIGN:
            return _RIGHT if self.headings()[column][1] else _LEFT
        return None


class TurnTable(_Table):
    """A row for each turn: what went in, what changed, and what the prompt cache kept. `ITEM` is its generation."""

    _HEADINGS = (
        ("Reply", False), ("In", True), ("Tokens", True), ("Of budget", True), ("Entered", True), ("Left", True),
        ("What changed", False), ("Cache kept", True), ("Read again", True), ("By placed texts", True),
        ("Because", False),
    )  # fmt: skip

    def headings(self) -> Sequence[tuple[str, bool]]:
        """Each column's heading, and whether it holds numbers."""
        return tuple((tr(heading), right) for heading, right in self._HEADINGS)

    def rows(self) -> int:
        """A row for each turn."""
        return len(self.content.turns)

    def item(self, row: int, column: int) -> Generation:
        """The turn's generation."""
        return self.content.generations[row]

    def text(self, row: int, column: int) -> str:
        """One cell; a turn that was not run has a name only."""
        turn = self.content.turns[row]
        if column == 0:
            return self.content.label(row)
        if turn is None:
            return tr("not run yet") if column == 1 else ""
        summary, changes, cache = turn.summary, turn.changes, turn.cache
        share = f"{summary.used / summary.budget:.0%}" if summary.budget else ""
        cells = (
            number(len(summary.injected)),
            number(summary.tokens),
            share,
            number(len(changes.entered)),
            number(len(changes.left)),
        )
        if column <= len(cells):
            return cells[column - 1]
        if column == 6:
            return changes_text(changes, self.names.title)
        if cache is None:
            return ""
        cause = cause_text(cache.cause) if cache.cause is not None else tr("new messages") if cache.missed else ""
        return (number(cache.kept), number(cache.missed), number(cache.by_lore), cause)[column - 7]


class EntryTable(_Table):
    """A row for each entry of the heat map, with a column for each turn behind its totals. `ITEM` is the entry's id."""

    _FIXED = (("Entry", False), ("In", True), ("Candidate", True), ("First in", False), ("Last in", False))

    def set_content(self, content: MapContent, names: Names) -> None:
        """Show another timeline."""
        self._injected = content.grid.injected(content.columns)
        self._candidates = content.grid.candidates(content.columns)
        super().set_content(content, names)

    def headings(self) -> Sequence[tuple[str, bool]]:
        """Each column's heading, and whether it holds numbers."""
        return tuple((tr(heading), right) for heading, right in self._FIXED)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the totals and the turns."""
        return 0 if parent.isValid() else len(self._FIXED) + len(self.content.columns)

    def rows(self) -> int:
        """A row for each entry."""
        return len(self.content.rows)

    def item(self, row: int, column: int) -> object:
        """The entry, and for a turn's column its generation."""
        place = column - len(self._FIXED)
        return self.content.entry(row), self.content.generations[place] if place >= 0 else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: headings, then the turns."""
        place = section - len(self._FIXED)
        if place < 0 or orientation is not HORIZONTAL:
            return super().headerData(section, orientation, role)
        return self.content.label(place) if role in {DISPLAY, ACCESSIBLE_TEXT} else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: a total, or how a turn ended for the entry."""
        row, place = index.row(), index.column() - len(self._FIXED)
        if place < 0 or not (0 <= row < self.rows() and place < len(self.content.columns)):
            return super().data(index, role)
        if role == DISPLAY:
            ending = self.content.ending(row, place)
            return self.content.word(row, place) if ending is not None or self.content.turns[place] is None else ""
        if role in {ACCESSIBLE_TEXT, TOOLTIP}:
            return self.content.describe(row, place)
        return self.item(row, index.column()) if role == ITEM else None

    def text(self, row: int, column: int) -> str:
        """A total."""
        content = self.content
        place = content.rows[row]
        if column == 0:
            return content.titles[row]
        if column == 1:
            return number(int(self._injected[place]))
        if column == 2:
            return number(int(self._candidates[place]))
        turns = [
            at for at in range(len(content.columns)) if (end := content.ending(row, at)) is not None and end.injected
        ]
        return content.label(turns[0 if column == 3 else -1]) if turns else ""


class CauseTable(_Table):
    """What costs prompt caches, the worst first. `ITEM` is a `CauseTotal`."""

    _HEADINGS = (("Because", False), ("Turns", True), ("Tokens read again", True), ("Share", True))

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._causes: tuple[CauseTotal, ...] = ()
        self._missed = 0

    def set_totals(self, totals: CacheTotals) -> None:
        """Show other totals."""
        self.beginResetModel()
        self._causes, self._missed = totals.causes, totals.missed
        self.endResetModel()

    def headings(self) -> Sequence[tuple[str, bool]]:
        """Each column's heading, and whether it holds numbers."""
        return tuple((tr(heading), right) for heading, right in self._HEADINGS)

    def rows(self) -> int:
        """A row for each cause."""
        return len(self._causes)

    def item(self, row: int, column: int) -> CauseTotal:
        """The cause."""
        return self._causes[row]

    def text(self, row: int, column: int) -> str:
        """One cell."""
        cause = self._causes[row]
        share = f"{cause.tokens / self._missed:.0%}" if self._missed else ""
        return (cause_text(cause), number(cause.turns), number(cause.tokens), share)[column]


def as_rows(model: QAbstractTableModel) -> list[list[str]]:
    """Everything that a table shows, headings first, for files."""
    columns = range(model.columnCount())
    found = [[str(model.headerData(column, HORIZONTAL, DISPLAY) or "") for column in columns]]
    found += [
        [str(model.data(model.index(row, column), DISPLAY) or "") for column in columns]
        for row in range(model.rowCount())
    ]
    return found


def how_many(content: MapContent) -> str:
    """`24 turns · 31 entries`, for the pane's title."""
    if not content.columns:
        return ""
    turns = count(len(content.columns), "turn", "turns")
    return f"{turns} · {count(len(content.rows), 'entry', 'entries')}"
