"""The list twin of the graph: all entries, the edges of the chosen one, and what seems to be missing.

The tables say all that the picture shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QTreeView, QWidget

from lorestudio.domain.texts import comparable
from lorestudio.studio.graph.analysis import GraphStudy, community_name
from lorestudio.studio.graph.graph import Edge, NoteGraph
from lorestudio.ui.features.graph.looks import EDGE_WORDS, KIND_WORDS, node_sentence
from lorestudio.ui.shell.qt import ENTRY_ID
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.layouts import column, holding, label, split, tight
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from lorestudio.ui.widgets.rows import action
from lorestudio.ui.widgets.tree import RecordTree, RecordTreeView, TreeRow

CONNECTED: Final = 2


def _entry_columns(lists: GraphLists) -> list[Column]:
    """What is read off an entry of the graph, by its id."""

    def title(entry: int) -> str:
        return lists.shown.nodes[entry].title

    def kind(entry: int) -> str:
        return tr(KIND_WORDS[lists.shown.nodes[entry].kind])

    def community(entry: int) -> str:
        found, place = lists.found, lists.found.community_of.get(entry)
        if place is None:
            return tr("none")
        return f"{place + 1} {community_name(found.communities[place], found.graph)}"

    def place_of(entry: int) -> int:
        return lists.found.community_of.get(entry, len(lists.found.communities))

    def central(entry: int) -> float:
        return lists.found.centrality.get(entry, 0.0)

    def counted(title: str, help_: str, width: int, amount: Callable[[int], int]) -> Column:
        return Column(title, lambda entry: number(amount(entry)), help=help_, width=width, numeric=True, sort=amount)

    return [
        Column("Entry", title, help="The title of the note", width=170),
        Column("Kind", kind, help="What sort of entry it is", width=78),
        counted("Connected", "With how many other entries it is connected", 74,
                lambda entry: len(lists.shown.neighbours[entry])),
        counted("Out", "How many edges begin here", 46, lambda entry: len(lists.shown.outgoing.get(entry, ()))),
        counted("In", "How many edges end here", 46, lambda entry: len(lists.shown.incoming.get(entry, ()))),
        Column("Community", community, width=160, sort=place_of,
               help="Entries that are connected with each other more than with the rest"),
        counted("Fired", "In how many replies of this chat it was injected", 56,
                lambda entry: lists.fired.get(entry, 0)),
        Column("Centrality", lambda entry: f"{central(entry):.0%}", width=76, numeric=True, sort=central,
               help="How often it lies on the way between two others, relative to the most central entry"),
    ]  # fmt: skip


class EdgeRow(Struct, frozen=True):
    """An edge of the chosen entry: whether it leads away, what it means, and the other end."""

    edge: Edge
    out: bool
    other: int
    title: str

    @property
    def relation(self) -> str:
        """What the chosen entry does with the other."""
        return tr(EDGE_WORDS[self.edge.kind][0 if self.out else 1])


_EDGE_COLUMNS: Final = (
    Column("", lambda row: "→" if row.out else "←", width=28,
           help="Whether the edge leads away from the chosen entry or to it"),
    Column("Relation", attrgetter("relation"), width=104, help="What the chosen entry does with the other"),
    Column("Entry", attrgetter("title"), width=190, help="The other end"),
    Column("Mentions", lambda row: number(row.edge.weight), width=70, numeric=True,
           help="How often the two notes name each other, at least 1"),
)  # fmt: skip


def _relation(row: EdgeRow, _column: Column) -> str:
    return f"{row.relation} {row.title}"


class GraphLists(QWidget):
    """Two tables. `chosen` and `opened` carry an entry's id."""

    chosen = Signal(int)
    opened = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.found, self.shown = GraphStudy(NoteGraph()), NoteGraph()
        self.fired: Mapping[int, int] = {}
        self._search: Mapping[int, str] = {}
        self.model = RecordTable(
            _entry_columns(self), key=int, entry=int, spoken=self._sentence, tip=self._sentence, parent=self
        )
        self.entries = RecordView(theme, self.model, tr("Entries of the graph"), self)
        self.entries.setSortingEnabled(True)
        self.entries.sortByColumn(CONNECTED, Qt.SortOrder.DescendingOrder)
        self.edge_model = RecordTable(_EDGE_COLUMNS, spoken=_relation, tip=_relation, parent=self)
        self.edges = RecordView(theme, self.edge_model, tr("Edges of the chosen entry"), self)
        self.edges_title = label(self, kind="section", wrap=False, margins=(10, 6, 10, 2))
        parts = split(self.entries, holding(tight(self.edges_title, (self.edges, 1))), of=self, stretch=(3, 2))
        column(parts, of=self, margins=0)
        self.entries.picked.connect(self.chosen.emit)
        self.entries.activated.connect(lambda index: self.opened.emit(int(index.data(ENTRY_ID))))
        self.edges.activated.connect(lambda index: self.chosen.emit(self.edge_model.row(index.row()).other))
        self.edges.offered = [action(tr("Go to this entry"), lambda: self.chosen.emit(self.edges.current.other), self)]
        self.show_entry(None)

    def show_graph(self, found: GraphStudy, shown: NoteGraph, search: Mapping[int, str]) -> None:
        """Show another graph; `shown` has the edges that are counted, `search` the text to look in by entry."""
        self.found, self.shown, self._search = found, shown, search
        self.model.set_rows(list(shown.nodes))

    def show_fired(self, fired: Mapping[int, int]) -> None:
        """Other counts of generations."""
        if fired != self.fired:
            self.fired = fired
            self.model.set_rows(list(self.shown.nodes))

    def search(self, text: str) -> None:
        """Show only the rows in which this text is, in any case."""
        wanted = comparable(text)
        self.model.show_only((lambda entry: wanted in self._search.get(entry, "")) if wanted else None)

    def show_entry(self, entry: int | None) -> None:
        """Choose a row, and show its edges."""
        self.entries.choose(entry)
        graph = self.shown
        if entry is None or entry not in graph.nodes:
            self.edge_model.set_rows(())
            self.edges_title.setText(tr("Choose an entry to see its edges"))
            return
        ends = [(edge, edge.target if edge.source == entry else edge.source) for edge in graph.edges_of(entry)]
        rows = [EdgeRow(edge, edge.source == entry, other, graph.nodes[other].title) for edge, other in ends]
        self.edge_model.set_rows(rows)
        edges = count(len(rows), "edge", "edges")
        self.edges_title.setText(tr("{edges} of {title}", edges=edges, title=graph.nodes[entry].title))

    def _sentence(self, entry: int, _column: Column) -> str:
        return node_sentence(self.found, entry, self.fired)


@dataclass(slots=True, eq=False)
class GapRow(TreeRow):
    """A group with what it means below it, then what is missing: a text, and the entries that it is about."""

    text: str
    entries: tuple[int, ...] = ()


_GAP_COLUMN: Final = Column(
    "", attrgetter("text"), tip=attrgetter("text"), bold=lambda row: bool(row.children),
    tone=lambda row: "" if row.children or row.entries else "text_muted",
)  # fmt: skip


class GapList(RecordTreeView):
    """What seems to be missing, in groups, once somebody looks. `chosen` carries the entries of a row."""

    chosen = Signal(object)  # tuple[int, ...]

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        model = RecordTree(
            GapRow(""), [_GAP_COLUMN], theme=theme, parent=parent,
            entry=lambda row: row.entries[0] if len(row.entries) == 1 else None,
        )  # fmt: skip
        super().__init__(theme, model, tr("Gaps of the graph"), parent)
        self._found: GraphStudy | None = None
        self.setHeaderHidden(True)
        self.setIndentation(14)
        self.setUniformRowHeights(False)
        self.setWordWrap(True)
        self.setSelectionMode(QTreeView.SelectionMode.SingleSelection)
        self.selectionModel().currentChanged.connect(self._choose)

    def show_gaps(self, found: GraphStudy) -> None:
        """Show the gaps of another graph."""
        self._found = found
        if self.isVisible():
            self._fill(found)

    def _fill(self, found: GraphStudy) -> None:
        self._found = None
        gaps, nodes, root = found.gaps, found.graph.nodes, GapRow("")

        def titled(entries: Iterable[int], between: str = " – ") -> str:
            return between.join(nodes[entry].title for entry in entries)

        def group(title: str, meaning: str, rows: Sequence[GapRow], nothing: str, more: int = 0) -> None:
            """Add a group; `more` counts what has no row."""
            amount = number(len(rows))
            if more:
                amount = tr("{shown} of {all}", shown=amount, all=number(len(rows) + more))
            made = GapRow(f"{title} · {amount}")
            made.add(GapRow(meaning if rows else nothing), *rows)
            root.add(made)

        besides = count(gaps.more_missing, "more pair shares something.", "more pairs share something.")
        more = f" {besides}" if gaps.more_missing else ""
        common = tr(" Too common to count: {values}.", values=", ".join(gaps.too_common)) if gaps.too_common else ""
        group(
            tr("Circles of requires"),
            tr("Each entry needs the next, so none goes in without all others."),
            [GapRow(titled((*circle, circle[0]), " → "), circle) for circle in gaps.circles],
            tr("No entry of the graph requires itself by way of others."),
        )
        group(
            tr("Entries on their own"),
            tr("Nothing leads to them and they lead nowhere."),
            [GapRow(nodes[entry].title, (entry,)) for entry in gaps.orphans],
            tr("Every entry of the graph is connected."),
        )
        group(
            tr("Bridges"),
            tr("The only connection of two communities; without it they would fall apart."),
            [GapRow(titled(ends), ends) for ends in gaps.bridges],
            tr("No two communities hang together by a single connection."),
        )
        pairs = [((one.first, one.second), ", ".join(one.shared)) for one in gaps.missing]
        group(
            tr("Connections that may be missing"),
            tr("They share values of gating fields but no edge; the rarest values first.") + more + common,
            [GapRow(f"{titled(pair)}   ({shared})", pair) for pair, shared in pairs],
            tr("No two unconnected entries share the value of a gating field.") + common,
            gaps.more_missing,
        )
        self._rows.show_root(root)
        self.expandAll()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: somebody looks."""
        if self._found is not None:
            self._fill(self._found)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: texts are broken elsewhere in another width."""
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()

    def _choose(self, current: QModelIndex, _previous: QModelIndex) -> None:
        entries = self._rows.node(current).entries
        if entries:
            self.chosen.emit(entries)
