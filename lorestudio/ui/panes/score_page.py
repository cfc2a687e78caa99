"""Why this score and this place: the numbers about the chosen entry, nested, to open, follow and copy."""

from __future__ import annotations

import logging
from functools import partial

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, Signal
from PySide6.QtGui import QGuiApplication, QPainter
from PySide6.QtWidgets import QHeaderView, QTreeView, QVBoxLayout, QWidget

from lorestudio.studio.scoring import Scorer
from lorestudio.trace.model import Trace
from lorestudio.trace.scores import Bm25Figures, Node, score_tree, tree_text
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.models.score_model import ScoreModel
from lorestudio.ui.qt import ENTRY_ID
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.paint import draw_glyph
from lorestudio.ui.words import tr

logger = logging.getLogger(__name__)


class _Tree(QTreeView):
    """A tree that shows which lines can be opened; the window's stylesheet takes Qt's own signs away."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        theme.changed.connect(self.viewport().update)

    def drawBranches(self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        """Qt: a chevron before a line with details."""
        if self.model().hasChildren(index):
            icon = "chevron-down" if self.isExpanded(index) else "chevron-right"
            box = QRectF(rect.right() - 17, rect.top(), 16, rect.height())
            draw_glyph(painter, box, icon, self._theme.palette.text_muted, 12)


class ScorePage(QWidget):
    """`entry_chosen` carries the entry that a line leads to (Enter or a double click)."""

    entry_chosen = Signal(int)

    def __init__(self, theme: Theme, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._asked = 0
        self.nodes: tuple[Node, ...] = ()
        self.model = ScoreModel(self)
        self.tree = _Tree(theme, self)
        self.tree.setModel(self.model)
        self.tree.setAccessibleName(tr("Scores and order, as a tree"))
        self.tree.setUniformRowHeights(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.activated.connect(self._open)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tree)

    def show_entry(self, trace: Trace, entry: int, scorer: Scorer | None) -> None:
        """Show an entry's numbers: those of the trace at once, those of its score when they have been worked out."""
        self._asked += 1
        self._fill(score_tree(trace, entry))
        if scorer is not None and scorer.trace is trace and scorer.has_scores:
            self._jobs.start(
                tr("Explaining a score"),
                lambda _report: scorer.figures(entry),
                done=partial(self._scored, self._asked, trace, entry),
                failed=partial(self._failed, self._asked),
            )

    def copy(self) -> None:
        """The tree as indented text, on the clipboard."""
        QGuiApplication.clipboard().setText(tree_text(self.nodes))

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _scored(self, asked: int, trace: Trace, entry: int, figures: Bm25Figures | None) -> None:
        if asked == self._asked and figures is not None:
            self._fill(score_tree(trace, entry, figures))

    def _failed(self, asked: int, error: Exception) -> None:
        logger.error("a score could not be explained: %s", error, exc_info=error)
        if asked == self._asked:
            self._fill((*self.nodes, Node(tr("The score could not be explained"), "", str(error))))

    def _fill(self, nodes: tuple[Node, ...]) -> None:
        self.nodes = nodes
        self.model.set_nodes(nodes)
        header = self.tree.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        self.tree.expandToDepth(0)
        for column in (0, 1):
            self.tree.resizeColumnToContents(column)
        self.tree.setColumnWidth(0, min(190, self.tree.columnWidth(0) + 24))
        self.tree.setColumnWidth(1, min(170, self.tree.columnWidth(1) + 8))

    def _open(self, index: QModelIndex) -> None:
        entry = index.siblingAtColumn(0).data(ENTRY_ID)
        if isinstance(entry, int):
            self.entry_chosen.emit(entry)
