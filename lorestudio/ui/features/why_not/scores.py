"""The similarity of every candidate of a turn as bars, with the threshold as a line through all of them.

The numbers about an entry as a tree of value, description and details.

Why this score and this place: the numbers about the chosen entry, nested, to open, follow and copy.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QHeaderView,
    QLabel,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.replay.rerun import Rerun
from lorestudio.trace.model import Trace
from lorestudio.trace.scores import Bm25Figures, Node, score_tree, tree_text
from lorestudio.trace.similarity import Similarities, Similarity
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, ENTRY_ID, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.paint import draw_glyph, hairline

COLUMNS: Final = ("What", "Value", "How it came about")


class ScoreModel(QStandardItemModel):
    """Three columns; a line that leads to an entry carries its id as `ENTRY_ID`."""

    def set_nodes(self, nodes: tuple[Node, ...]) -> None:
        """Show another tree."""
        self.clear()
        self.setHorizontalHeaderLabels([tr(name) for name in COLUMNS])
        for node in nodes:
            self.appendRow(_row(node))


def _row(node: Node) -> list[QStandardItem]:
    texts = (node.title, node.value, node.description)
    items = [QStandardItem(tr(text)) for text in texts]
    for item, text in zip(items, texts, strict=True):
        item.setEditable(False)
        item.setData(text, TOOLTIP)
        item.setData(node.entry, ENTRY_ID)
    items[0].setData(", ".join(text for text in texts if text), ACCESSIBLE_TEXT)
    for detail in node.details:
        items[0].appendRow(_row(detail))
    return items


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

    def show_entry(self, trace: Trace, entry: int, run: Rerun | None) -> None:
        """Show an entry's numbers: those of the trace at once, those of its score when they have been worked out."""
        self._asked += 1
        self._fill(score_tree(trace, entry))
        if run is not None and run.before is trace:
            self._jobs.start(
                tr("Explaining a score"),
                lambda _report: run.system.explain_score(run.moment, run.state, trace, entry),
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


RANK, ENTRY, SCORE, RESULT = range(4)
_HEADS: Final = ("#", "Entry", "Similarity", "Result")
_ALIGN: Final = int(Qt.ItemDataRole.TextAlignmentRole)
_V_RIGHT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
_NUMBER: Final = 52.0
"""Room for a score in digits, before its bar."""


class SimilarityTable(QAbstractTableModel):
    """A row for each candidate; `ITEM` is the `Similarity`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.found: Similarities | None = None

    def set_similarities(self, found: Similarities | None) -> None:
        """Show another run."""
        self.beginResetModel()
        self.found = found
        self.endResetModel()

    def row_of(self, entry: int | None) -> int:
        """The row of an entry, -1 where it has none."""
        entries = self.found.entries if self.found is not None else ()
        return next((row for row, each in enumerate(entries) if each.entry == entry), -1)

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the candidates."""
        return 0 if parent.isValid() or self.found is None else len(self.found.entries)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: rank, entry, similarity, result."""
        return 0 if parent.isValid() else len(_HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: what the columns are."""
        if orientation == HORIZONTAL and role in {DISPLAY, ACCESSIBLE_TEXT} and 0 <= section < len(_HEADS):
            return tr(_HEADS[section])
        return None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: the texts."""
        found = self.found
        if found is None or not 0 <= index.row() < len(found.entries):
            return None
        each = found.entries[index.row()]
        if role == ITEM:
            return each
        if role == ENTRY_ID:
            return each.entry
        if role == _ALIGN and index.column() == RANK:
            return _V_RIGHT
        if role == DISPLAY:
            return (str(each.rank), each.title, f"{each.score:.3f}", tr(each.result))[index.column()]
        if role in {TOOLTIP, ACCESSIBLE_TEXT}:
            text = tr("{title}: similarity {score}, threshold {threshold}, number {rank}: {result}")
            return text.format(
                title=each.title,
                score=f"{each.score:.3f}",
                threshold=f"{found.threshold:g}",
                rank=each.rank,
                result=tr(each.result),
            )
        return None


class BarDelegate(QStyledItemDelegate):
    """Paints a similarity as its digits and a bar; the threshold is a dashed line at the same place in every row."""

    def __init__(self, theme: Theme, model: SimilarityTable, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme, self._model = theme, model

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: the ground, the digits, the bar, the line."""
        each, found, theme = index.data(ITEM), self._model.found, self._theme
        if not isinstance(each, Similarity) or found is None:
            return
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        box = QRectF(option.rect)
        painter.save()
        if chosen:
            painter.fillRect(box, theme.color("accent_soft"))
        painter.setPen(theme.color("on_accent_soft" if chosen else "text"))
        digits = QRectF(box.left(), box.top(), _NUMBER - 6, box.height())
        painter.drawText(digits, _V_RIGHT, f"{each.score:.3f}")
        room = QRectF(box.left() + _NUMBER, box.top(), max(1.0, box.width() - _NUMBER - 8), box.height())
        low = min(0.0, found.entries[-1].score)
        high = max(1.0, found.entries[0].score, found.threshold)

        def across(value: float) -> float:
            return room.left() + room.width() * (min(max(value, low), high) - low) / (high - low)

        start, end = sorted((across(0.0), across(each.score)))
        bar = QRectF(start, box.top() + 5, max(1.0, end - start), box.height() - 10)
        painter.setPen(hairline(theme.color("border_strong")))
        painter.setBrush(theme.fill("green" if each.taken else "grey")[0])
        painter.drawRect(bar)
        pen = hairline(theme.color("text"), 1.5)
        pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        at = across(found.threshold)
        painter.drawLine(QPointF(at, box.top()), QPointF(at, box.bottom()))
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: room for digits and a bar."""
        return QSize(180, super().sizeHint(option, index).height())


class SimilarityPage(QWidget):
    """A sentence and the bars. `entry_chosen` carries the entry of the row that somebody goes to."""

    entry_chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = SimilarityTable(self)
        self.sentence = QLabel(self)
        self.sentence.setProperty("kind", "small")
        self.sentence.setWordWrap(True)
        self.sentence.setContentsMargins(12, 2, 12, 4)
        self.view = QTableView(self)
        self.view.setModel(self.model)
        self.view.setItemDelegateForColumn(SCORE, BarDelegate(theme, self.model, self.view))
        self.view.setAccessibleName(tr("Similarity of every candidate"))
        self.view.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.view.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.view.setShowGrid(False)
        self.view.setWordWrap(False)
        self.view.setTabKeyNavigation(False)
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(self.view.fontMetrics().height() + 7)
        header = self.view.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(SCORE, QHeaderView.ResizeMode.Stretch)
        for column, wide in ((RANK, 34), (ENTRY, 150), (RESULT, 124)):
            header.resizeSection(column, wide)
        header.setMinimumSectionSize(30)
        column_of_all = QVBoxLayout(self)
        column_of_all.setContentsMargins(0, 0, 0, 0)
        column_of_all.setSpacing(0)
        column_of_all.addWidget(self.sentence)
        column_of_all.addWidget(self.view, 1)
        self.view.selectionModel().currentRowChanged.connect(self._chosen)
        theme.changed.connect(self.view.viewport().update)

    def show_run(self, found: Similarities, entry: int | None) -> None:
        """Show a run, with an entry chosen."""
        blocked = self.view.selectionModel().blockSignals(True)
        if found != self.model.found:
            self.model.set_similarities(found)
            self.sentence.setText(tr(found.sentence))
        row = self.model.row_of(entry)
        if row < 0:
            self.view.selectionModel().clear()
        elif self.view.currentIndex().row() != row:
            self.view.selectRow(row)
            self.view.scrollTo(self.model.index(row, ENTRY))
        self.view.selectionModel().blockSignals(blocked)
        self.view.viewport().update()

    def _chosen(self, current: QModelIndex, _before: QModelIndex) -> None:
        entry = current.data(ENTRY_ID)
        if isinstance(entry, int):
            self.entry_chosen.emit(entry)
