"""The list twin of the graph: all entries, the edges of the chosen one, and what seems to be missing.

The graph as tables: its entries, and the edges of the chosen one. They say all that the picture shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QSplitter,
    QTableView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.graph.analysis import GraphStudy, community_name
from lorestudio.studio.graph.graph import Edge, NoteGraph
from lorestudio.ui.features.graph.looks import EDGE_WORDS, KIND_WORDS, node_sentence
from lorestudio.ui.shell.qt import (
    ACCESSIBLE_TEXT,
    DISPLAY,
    ENTRY_ID,
    HORIZONTAL,
    ITEM,
    NO_INDEX,
    TOOLTIP,
    VERTICAL,
    Index,
)
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr

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


_PAIR = Qt.ItemDataRole.UserRole + 30


class GraphLists(QWidget):
    """Two tables. `chosen` and `opened` carry an entry's id."""

    chosen = Signal(int)
    opened = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entry: int | None = None
        self.model = EntryTable(self)
        self.entries = _table(self.model, tr("Entries of the graph"), self)
        self.entries.setSortingEnabled(True)
        self.entries.sortByColumn(CONNECTED, Qt.SortOrder.DescendingOrder)
        self.model.modelReset.connect(self._choose_again)
        self.edge_model = EdgeTable(self)
        self.edges = _table(self.edge_model, tr("Edges of the chosen entry"), self)
        self.edges_title = QLabel(self)
        self.edges_title.setProperty("kind", "section")
        self.edges_title.setContentsMargins(10, 6, 10, 3)
        below = QWidget(self)
        column = QVBoxLayout(below)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.edges_title)
        column.addWidget(self.edges, 1)
        split = QSplitter(VERTICAL, self)
        split.addWidget(self.entries)
        split.addWidget(below)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setChildrenCollapsible(False)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(split)
        self.entries.selectionModel().currentRowChanged.connect(self._row_chosen)
        self.entries.activated.connect(self._open)
        self.edges.activated.connect(self._follow)
        self.show_entry(None)

    def show_graph(self, found: GraphStudy, shown: NoteGraph, search: Mapping[int, str]) -> None:
        """Show another graph."""
        with QSignalBlocker(self.entries.selectionModel()):
            self.model.set_graph(found, shown, search)
        header = self.entries.horizontalHeader()
        header.resizeSection(0, 170)
        for column, width in enumerate((78, 74, 46, 46, 160, 56, 76), start=1):
            header.resizeSection(column, width)
        for column, width in enumerate((28, 104, 190, 70)):
            self.edges.horizontalHeader().resizeSection(column, width)

    def show_fired(self, fired: Mapping[int, int]) -> None:
        """Other counts of generations."""
        with QSignalBlocker(self.entries.selectionModel()):
            self.model.set_fired(fired)

    def search(self, text: str) -> None:
        """Show only the rows in which this text is."""
        with QSignalBlocker(self.entries.selectionModel()):
            self.model.set_search(text)

    def show_entry(self, entry: int | None) -> None:
        """Choose a row, and show its edges."""
        self._entry = entry
        self._choose_again()
        graph = self.model.shown
        known = entry is not None and entry in graph.nodes
        self.edge_model.set_entry(graph, entry if known else None)
        if known and entry is not None:
            edges = count(self.edge_model.rowCount(), "edge", "edges")
            self.edges_title.setText(tr("{edges} of {title}", edges=edges, title=graph.nodes[entry].title))
        else:
            self.edges_title.setText(tr("Choose an entry to see its edges"))

    def _choose_again(self) -> None:
        """Show the chosen entry in the rows as they are now."""
        selection, row = self.entries.selectionModel(), self.model.row_of(self._entry)
        with QSignalBlocker(selection):
            if row < 0:
                selection.clear()
            elif self.entries.currentIndex().row() != row:
                self.entries.selectRow(row)
        if row >= 0:
            self.entries.scrollTo(self.model.index(row, 0))
        self.entries.viewport().update()

    def _row_chosen(self, current: QModelIndex, _previous: QModelIndex) -> None:
        entry = current.data(ENTRY_ID)
        if isinstance(entry, int):
            self.chosen.emit(entry)

    def _open(self, index: QModelIndex) -> None:
        self.opened.emit(int(index.data(ENTRY_ID)))

    def _follow(self, index: QModelIndex) -> None:
        self.chosen.emit(int(index.data(ENTRY_ID)))


class GapList(QTreeWidget):
    """What seems to be missing, in groups. `chosen` carries the entries of a row."""

    chosen = Signal(object)  # tuple[int, ...]

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setHeaderHidden(True)
        self.setColumnCount(1)
        self.setIndentation(14)
        self.setWordWrap(True)
        self.setUniformRowHeights(False)
        self.setAccessibleName(tr("Gaps of the graph"))
        self.currentItemChanged.connect(self._chosen)

    def show_gaps(self, found: GraphStudy) -> None:
        """Show the gaps of another graph."""
        gaps, nodes = found.gaps, found.graph.nodes
        with QSignalBlocker(self):
            self.clear()
            self._group(
                tr("Circles of requires"),
                tr("Each entry needs the next, so none goes in without all others."),
                [
                    ((*circle,), " → ".join(nodes[entry].title for entry in (*circle, circle[0])))
                    for circle in gaps.circles
                ],
                tr("No entry requires itself by way of others."),
            )
            self._group(
                tr("Entries on their own"),
                tr("Nothing leads to them and they lead nowhere."),
                [((entry,), nodes[entry].title) for entry in gaps.orphans],
                tr("Every entry is connected."),
            )
            self._group(
                tr("Bridges"),
                tr("The only connection of two communities; without it they would fall apart."),
                [(ends, f"{nodes[ends[0]].title} – {nodes[ends[1]].title}") for ends in gaps.bridges],
                tr("No two communities hang together by a single connection."),
            )
            more = (
                tr(" {more} more pairs share something.", more=number(gaps.more_missing)) if gaps.more_missing else ""
            )
            common = tr(" Too common to count: {values}.", values=", ".join(gaps.too_common)) if gaps.too_common else ""
            self._group(
                tr("Connections that may be missing"),
                tr("They share values of gating fields but no edge; the rarest values first.") + more + common,
                [
                    (
                        (one.first, one.second),
                        f"{nodes[one.first].title} – {nodes[one.second].title}   ({', '.join(one.shared)})",
                    )
                    for one in gaps.missing
                ],
                tr("No two unconnected entries share the value of a gating field.") + common,
            )
            self.expandAll()

    def _group(self, title: str, explanation: str, rows: Iterable[tuple[tuple[int, ...], str]], nothing: str) -> None:
        rows = list(rows)
        top = QTreeWidgetItem(self, [f"{title} · {number(len(rows))}"])
        font = top.font(0)
        font.setBold(True)
        top.setFont(0, font)
        about = QTreeWidgetItem(top, [explanation if rows else nothing])
        about.setForeground(0, self._theme.color("text_muted"))
        about.setFlags(Qt.ItemFlag.ItemIsEnabled)
        for entries, text in rows:
            item = QTreeWidgetItem(top, [text])
            item.setData(0, _PAIR, entries)
            item.setData(0, ACCESSIBLE_TEXT, text)
            item.setToolTip(0, text)

    def _chosen(self, current: QTreeWidgetItem | None, _previous: QTreeWidgetItem | None) -> None:
        entries = current.data(0, _PAIR) if current is not None else None
        if entries:
            self.chosen.emit(tuple(entries))


def _table(model: EntryTable | EdgeTable, name: str, parent: QWidget) -> QTableView:
    table = QTableView(parent)
    table.setModel(model)
    table.setAccessibleName(name)
    table.setShowGrid(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.verticalHeader().hide()
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    table.verticalHeader().setDefaultSectionSize(24)
    table.horizontalHeader().setHighlightSections(False)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return table
