"""The list twin of the graph: all entries, the edges of the chosen one, and what seems to be missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
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

from lorestudio.studio.graph_analysis import GraphStudy
from lorestudio.studio.note_graph import NoteGraph
from lorestudio.ui.models.graph_tables import CONNECTED, EdgeTable, EntryTable
from lorestudio.ui.qt import ACCESSIBLE_TEXT, ENTRY_ID, VERTICAL
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import count, number, tr

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
