"""The graph as tables: its entries, and the edges of the chosen one. They say all that the picture shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QObject, Qt

from lorestudio.studio.graph_analysis import GraphStudy
from lorestudio.studio.graph_export import community_name
from lorestudio.studio.note_graph import Edge, NoteGraph
from lorestudio.ui.models.graph_looks import EDGE_WORDS, KIND_WORDS, node_sentence
from lorestudio.ui.qt import ACCESSIBLE_TEXT, DISPLAY, ENTRY_ID, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.words import number, tr

CONNECTED, OUT, COMMUNITY, FIRED, CENTRALITY = 2, 3, 5, 6, 7

_RIGHT: Final = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_ENTRY_COLUMNS: Final = (
    ("Entry", "The title of the note"),
    ("Kind", "What sort of entry it is"),
    ("Connected", "With how many other entries it is connected"),
    ("Out", "How many edges begin here"),
    ("In", "How many edges end here"),
    ("Community", "Entries that are connected with each other more than with the rest"),
    ("Fired", "In how many generations of this chat it was injected"),
    ("Centrality", "How often it lies on the way between two others, relative to the most central entry"),
)
_EDGE_COLUMNS: Final = (
    ("", "Whether the edge leads away from the chosen entry or to it"),
    ("Relation", "What the chosen entry does with the other"),
    ("Entry", "The other end"),
    ("Mentions", "How often the two notes name each other, at least 1"),
)


class EntryTable(QAbstractTableModel):
    """One row per entry of the graph, sorted and filtered here: a proxy asks for every cell through Qt."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._found, self._shown = GraphStudy(NoteGraph()), NoteGraph()
        self._fired: Mapping[int, int] = {}
        self._search: Mapping[int, str] = {}
        self._wanted = ""
        self._column, self._order = CONNECTED, Qt.SortOrder.DescendingOrder
        self._rows: tuple[int, ...] = ()
        self._row_of: Mapping[int, int] = {}

    def set_graph(self, found: GraphStudy, shown: NoteGraph, search: Mapping[int, str]) -> None:
        """Show another graph; `shown` has the edges that are counted, `search` the text to look in by entry."""
        self._found, self._shown, self._search = found, shown, search
        self._arrange()

    def set_fired(self, fired: Mapping[int, int]) -> None:
        """Other counts of generations."""
        if fired != self._fired:
            self._fired = fired
            self._arrange()

    def set_search(self, text: str) -> None:
        """Show only the entries in whose text this is, in any case; "" for all."""
        if text != self._wanted:
            self._wanted = text
            self._arrange()

    @property
    def shown(self) -> NoteGraph:
        """The graph with the edges that are counted."""
        return self._shown

    def row_of(self, entry: int | None) -> int:
        """The row of an entry, -1 where it has none."""
        return -1 if entry is None else self._row_of.get(entry, -1)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Qt: another order of the rows; equal ones stay as in the index."""
        self._column, self._order = column, order
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        wanted = self._wanted.casefold()
        rows = [entry for entry in self._shown.nodes if wanted in self._search.get(entry, "").casefold()]
        rows.sort(key=self._sort_key(), reverse=self._order == Qt.SortOrder.DescendingOrder)
        self._rows = tuple(rows)
        self._row_of = {entry: row for row, entry in enumerate(rows)}
        self.endResetModel()

    def _sort_key(self) -> Callable[[int], Any]:
        """What the chosen column is sorted by."""
        nodes, places, none = self._shown.nodes, self._found.community_of, len(self._found.communities)
        if self._column == 0:
            return lambda entry: nodes[entry].title.casefold()
        if self._column == 1:
            return lambda entry: KIND_WORDS[nodes[entry].kind]
        if self._column == COMMUNITY:
            return lambda entry: places.get(entry, none)
        if self._column == CENTRALITY:
            return lambda entry: self._found.centrality.get(entry, 0.0)
        return lambda entry: self._amount(entry, self._column)

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many columns."""
        return 0 if parent.isValid() else len(_ENTRY_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the name of a column."""
        if orientation == HORIZONTAL and role in {DISPLAY, TOOLTIP}:
            return tr(_ENTRY_COLUMNS[section][role == TOOLTIP])
        return None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: one cell."""
        if not index.isValid():
            return None
        entry, column = self._rows[index.row()], index.column()
        if role == DISPLAY:
            return self._cell(entry, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in {2, 3, 4, 6, 7}:
            return _RIGHT
        if role in {ACCESSIBLE_TEXT, TOOLTIP}:
            return node_sentence(self._found, entry, self._fired)
        return entry if role == ENTRY_ID else None

    def _cell(self, entry: int, column: int) -> str:
        node = self._shown.nodes[entry]
        if column == 0:
            return node.title
        if column == 1:
            return tr(KIND_WORDS[node.kind])
        if column == COMMUNITY:
            place = self._found.community_of.get(entry)
            if place is None:
                return tr("none")
            return f"{place + 1} {community_name(self._found.communities[place], self._found.graph)}"
        if column == CENTRALITY:
            return f"{self._found.centrality.get(entry, 0.0):.0%}"
        return number(self._amount(entry, column))

    def _amount(self, entry: int, column: int) -> int:
        """What is counted in a column."""
        shown = self._shown
        if column == CONNECTED:
            return len(shown.neighbours[entry])
        if column == FIRED:
            return self._fired.get(entry, 0)
        return len((shown.outgoing if column == OUT else shown.incoming).get(entry, ()))


class EdgeTable(QAbstractTableModel):
    """One row per edge of the chosen entry."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._graph = NoteGraph()
        self._entry = -1
        self._rows: tuple[Edge, ...] = ()

    def set_entry(self, graph: NoteGraph, entry: int | None) -> None:
        """Show the edges of another entry; of none where it is not in the graph."""
        self.beginResetModel()
        self._graph, self._entry = graph, -1 if entry is None else entry
        self._rows = graph.edges_of(self._entry)
        self.endResetModel()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many columns."""
        return 0 if parent.isValid() else len(_EDGE_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the name of a column."""
        if orientation == HORIZONTAL and role in {DISPLAY, TOOLTIP}:
            return tr(_EDGE_COLUMNS[section][role == TOOLTIP])
        return None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: one cell."""
        if not index.isValid():
            return None
        edge = self._rows[index.row()]
        out = edge.source == self._entry
        other = edge.target if out else edge.source
        relation = tr(EDGE_WORDS[edge.kind][0 if out else 1])
        if role == DISPLAY:
            return ("→" if out else "←", relation, self._graph.nodes[other].title, number(edge.weight))[index.column()]
        if role in {ACCESSIBLE_TEXT, TOOLTIP}:
            return f"{relation} {self._graph.nodes[other].title}"
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == 3:
            return _RIGHT
        return {ENTRY_ID: other, ITEM: edge}.get(role)
