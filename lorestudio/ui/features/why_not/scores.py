"""The similarity of every candidate of a turn as bars, with the threshold as a line through all of them.

The numbers about an entry as a tree of value, description and details.

Why this score and this place: the numbers about the chosen entry, nested, to open, follow and copy.
"""

from __future__ import annotations

import logging
from functools import partial
from operator import attrgetter

from PySide6.QtCore import QModelIndex, QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHeaderView, QWidget

from lorestudio.studio.replay.rerun import Rerun
from lorestudio.trace.matching.scores import Bm25Figures, ScoreNode, score_tree, tree_text
from lorestudio.trace.matching.similarity import Similarities, Similarity
from lorestudio.trace.model import Trace
from lorestudio.ui.shell.jobs import Jobs, Newest
from lorestudio.ui.shell.qt import ENTRY_ID
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.cells import Bar, Column, Look, Words, one_line, same_words
from lorestudio.ui.widgets.layouts import column, label, tight
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from lorestudio.ui.widgets.tree import ItemRow, RecordTree, RecordTreeView

logger = logging.getLogger(__name__)


def _score_row(node: ScoreNode) -> ItemRow:
    row = ItemRow(node)
    row.add(*map(_score_row, node.details))
    return row


def _spoken_node(row: ItemRow) -> str:
    node: ScoreNode = row.item
    return ", ".join(text for text in (node.title, node.value, node.description) if text)


def score_model(parent: QObject) -> RecordTree[ItemRow]:
    """The numbers about an entry; a line may lead to another entry."""
    columns = (
        Column("What", lambda row: tr(row.item.title), spoken=_spoken_node),
        Column("Value", lambda row: tr(row.item.value)),
        Column("How it came about", lambda row: tr(row.item.description)),
    )
    return RecordTree(ItemRow(None), columns, tip=same_words, entry=lambda row: row.item.entry, parent=parent)


class ScorePage(QWidget):
    """`entry_chosen` carries the entry that a line leads to (Enter or a double click)."""

    entry_chosen = Signal(int)

    def __init__(self, theme: Theme, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._newest = Newest(jobs)
        self.nodes: tuple[ScoreNode, ...] = ()
        self.model = score_model(self)
        self.tree = RecordTreeView(theme, self.model, tr("Scores and order, as a tree"), self)
        self.tree.activated.connect(self._open)
        column(self.tree, of=self, margins=0)

    def show_entry(self, trace: Trace, entry: int, run: Rerun | None) -> None:
        """Show an entry's numbers: those of the trace at once, those of its score when they have been worked out."""
        self._newest.cancel()
        self._fill(score_tree(trace, entry))
        if run is not None and run.before is trace:
            self._newest.start(
                tr("Explaining a score"),
                lambda _job: run.system.explain_score(run.moment, run.state, trace, entry),
                done=partial(self._scored, trace, entry),
                failed=self._failed,
                owner=self,
            )

    def copy(self) -> None:
        """The tree as indented text, on the clipboard."""
        QGuiApplication.clipboard().setText(tree_text(self.nodes))

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _scored(self, trace: Trace, entry: int, figures: Bm25Figures | None) -> None:
        if figures is not None:
            self._fill(score_tree(trace, entry, figures))

    def _failed(self, error: Exception) -> None:
        logger.error("a score could not be explained: %s", error, exc_info=error)
        self._fill((*self.nodes, ScoreNode(tr("The score could not be explained"), "", str(error))))

    def _fill(self, nodes: tuple[ScoreNode, ...]) -> None:
        self.nodes = nodes
        root = ItemRow(None)
        root.add(*map(_score_row, nodes))
        self.model.show_root(root)
        header = self.tree.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        self.tree.expandToDepth(0)
        for place, most, more in ((0, 190, 24), (1, 170, 8)):
            self.tree.resizeColumnToContents(place)
            self.tree.setColumnWidth(place, min(most, self.tree.columnWidth(place) + more))

    def _open(self, index: QModelIndex) -> None:
        entry = index.siblingAtColumn(0).data(ENTRY_ID)
        if isinstance(entry, int):
            self.entry_chosen.emit(entry)


class SimilarityTable(RecordTable):
    """A row for each candidate: its similarity in digits and as a bar, with the threshold through all rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        self.found: Similarities | None = None
        entry = attrgetter("entry")
        columns = (
            Column("#", lambda each: str(each.rank), width=34, numeric=True),
            Column("Entry", attrgetter("title"), width=150),
            Column("Similarity", lambda each: f"{each.score:.3f}", look=self._bar),
            Column("Result", lambda each: tr(each.result), width=124),
        )
        super().__init__(columns, key=entry, entry=entry, spoken=self._say, tip=self._say, parent=parent)

    def set_similarities(self, found: Similarities | None) -> None:
        """Show another run."""
        self.found = found
        self.set_rows(found.entries if found is not None else ())

    def _say(self, each: Similarity, _column: Column) -> str:
        return tr(
            "{title}: similarity {score}, threshold {threshold}, number {rank}: {result}",
            title=each.title,
            score=f"{each.score:.3f}",
            threshold=f"{self.found.threshold if self.found is not None else 0:g}",
            rank=each.rank,
            result=tr(each.result),
        )

    def _bar(self, each: Similarity) -> Look | None:
        found = self.found
        if found is None:
            return None
        low, high = min(0.0, found.entries[-1].score), max(1.0, found.entries[0].score, found.threshold)

        def across(value: float) -> float:
            return (min(max(value, low), high) - low) / (high - low)

        start, end = sorted((across(0.0), across(each.score)))
        fill = "green" if each.taken else "grey"
        bar = Bar(((start, end, fill),), edge="border_strong", line=across(found.threshold))
        return one_line(Words(f"{each.score:.3f}", width=46, gap=6, right=True), bar, margin=0)


class SimilarityPage(QWidget):
    """A sentence and the bars. `entry_chosen` carries the entry of the row that somebody goes to."""

    entry_chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = SimilarityTable(self)
        self.sentence = label(self, kind="small")
        self.sentence.setContentsMargins(12, 2, 12, 4)
        self.view = RecordView(theme, self.model, tr("Similarity of every candidate"), self)
        self.view.horizontalHeader().setMinimumSectionSize(30)
        tight(self.sentence, (self.view, 1), of=self)
        self.view.picked.connect(lambda each: self.entry_chosen.emit(each.entry))

    def show_run(self, found: Similarities, entry: int | None) -> None:
        """Show a run, with an entry chosen."""
        if found != self.model.found:
            self.model.set_similarities(found)
            self.sentence.setText(tr(found.sentence))
        self.view.choose(entry)
