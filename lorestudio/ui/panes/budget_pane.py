"""The budget of the chosen generation: the bar, and under it the same as a list."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QLabel,
    QListView,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from lorestudio.trace.model import Trace
from lorestudio.trace.remarks import estimate
from lorestudio.ui.models.budget import BudgetView, Segment, budget_view
from lorestudio.ui.qt import ACCESSIBLE_TEXT, DISPLAY, ENTRY_ID, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.selection import Selection
from lorestudio.ui.session import Session
from lorestudio.ui.theme import Theme, scaled
from lorestudio.ui.widgets.budget_bar import BudgetBar
from lorestudio.ui.widgets.empty import EmptyState
from lorestudio.ui.widgets.paint import draw_focus, draw_glyph, hairline, hatch
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.words import number, tr

_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


class SegmentList(QAbstractListModel):
    """The segments of a budget: cut ones first, since they are what people look for."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._segments: tuple[Segment, ...] = ()
        self._maximum: float | None = None

    def set_view(self, view: BudgetView | None) -> None:
        """Show another budget."""
        self.beginResetModel()
        outlets = tuple(item for item in view.segments if item.outlet) if view is not None else ()
        self._segments = (*view.cut, *view.inside, *outlets) if view is not None else ()
        self._maximum = view.maximum if view is not None else None
        self.endResetModel()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one row per segment."""
        return 0 if parent.isValid() else len(self._segments)

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: a segment, or it in words."""
        if not 0 <= index.row() < len(self._segments):
            return None
        segment = self._segments[index.row()]
        if role == ITEM:
            return segment
        if role == ENTRY_ID:
            return segment.entry
        if role == DISPLAY:
            return segment.title
        if role == ACCESSIBLE_TEXT:
            state = tr("cut") if segment.cut else tr("in")
            return f"{state}: {segment.describe(self._maximum)}"
        return segment.describe(self._maximum) if role == TOOLTIP else None

    def row_of(self, entry: int | None) -> int:
        """The row of an entry, -1 where it has none."""
        return next((row for row, segment in enumerate(self._segments) if segment.entry == entry), -1)


class _SegmentDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: one line."""
        return QSize(200, round(QFontMetricsF(option.font).height()) + 7)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a segment."""
        segment = index.data(ITEM)
        if not isinstance(segment, Segment):
            return
        theme, rect = self._theme, QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        ink = theme.color("on_accent_soft" if chosen else "text")
        faint = theme.color("on_accent_soft" if chosen else "text_muted")
        painter.save()
        if chosen:
            painter.fillRect(rect, theme.color("accent_soft"))
        swatch = QRectF(rect.left() + 12, rect.center().y() - 7, 14, 14)
        ground, letter = theme.fill("purple" if segment.cut else segment.origin.fill)
        painter.setPen(hairline(theme.color("fill_edge")))
        painter.setBrush(theme.color("panel") if segment.cut else ground)
        painter.drawRect(swatch)
        if segment.cut:
            painter.setBrush(hatch(ground, theme))
            painter.drawRect(swatch)
            draw_glyph(painter, swatch, "scissors", theme.palette.text, 12)
        else:
            painter.setFont(scaled(option.font, 0.76, bold=True))
            painter.setPen(letter)
            painter.drawText(swatch, Qt.AlignmentFlag.AlignCenter, segment.origin.letter)
        painter.setFont(option.font)
        painter.setPen(ink)
        tokens = QRectF(rect.right() - 60, rect.top(), 48, rect.height())
        painter.drawText(tokens, _RIGHT, number(segment.tokens))
        box = QRectF(swatch.right() + 8, rect.top(), tokens.left() - swatch.right() - 12, rect.height())
        metrics = QFontMetricsF(option.font)
        title = metrics.elidedText(segment.title, Qt.TextElideMode.ElideRight, box.width() * 0.6)
        painter.drawText(box, _LEFT, title)
        painter.setFont(scaled(option.font, 0.9))
        painter.setPen(faint)
        rest = box.adjusted(metrics.horizontalAdvance(title) + 9, 0, 0, 0)
        note = QFontMetricsF(painter.font()).elidedText(_note(segment), Qt.TextElideMode.ElideRight, rest.width())
        painter.drawText(rest, _LEFT, note)
        if chosen and option.state & QStyle.StateFlag.State_HasFocus:
            draw_focus(painter, rect, theme)
        painter.restore()


def _note(segment: Segment) -> str:
    if segment.cut:
        if segment.needs is not None:
            return tr("cut, needs {needs} more tokens", needs=number(segment.needs))
        return tr("cut: {why}", why=segment.why)
    if segment.outlet:
        return tr("outlet, outside the budget")
    if segment.truncated_from is not None:
        return tr("{origin}, trimmed from {tokens}", origin=segment.origin.word, tokens=number(segment.truncated_from))
    return tr(segment.origin.word)


class BudgetPane(Pane):
    """Follows the chosen generation and entry; segments and rows choose entries."""

    def __init__(self, theme: Theme, session: Session, selection: Selection) -> None:
        super().__init__("budget", tr("Budget"), theme)
        self._session, self._selection = session, selection
        self._trace: Trace | None = None
        self.bar = BudgetBar(theme, self)
        self.bar.entry_chosen.connect(self._choose)
        self.model = SegmentList(self)
        self.list = QListView(self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(_SegmentDelegate(theme, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setAccessibleName(tr("Budget as a list"))
        self.list.setMouseTracking(True)
        self.list.setMinimumHeight(20)
        self.empty = EmptyState(theme, "budget", self)
        shown = QWidget(self)
        column = QVBoxLayout(shown)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.bar)
        column.addWidget(self.list, 1)
        self.counts = QLabel(self)
        self.counts.setProperty("kind", "small")
        self.counts.setWordWrap(True)
        self.counts.setContentsMargins(12, 2, 12, 4)
        self.counts.setAccessibleName(tr("How tokens were counted"))
        column.addWidget(self.counts)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(shown)
        self._pages.addWidget(self.empty)
        self.column.addWidget(self._pages, 1)
        self._shown_page = shown
        self.list.selectionModel().currentChanged.connect(self._row_chosen)
        session.project_changed.connect(self._show)
        session.traces_changed.connect(lambda _generations: self._show())
        session.preview_changed.connect(self._show)
        selection.generation_changed.connect(self._show)
        selection.entry_changed.connect(self._show_entry)
        theme.changed.connect(self.list.viewport().update)
        self._show()

    def focus_target(self) -> QWidget:
        """The bar."""
        return self.bar if self._pages.currentWidget() is self._shown_page else self

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        trace = self._session.trace(self._selection.generation)
        if trace is not None and trace is self._trace:
            return
        self._trace = trace
        if trace is None:
            self.note_changed.emit("")
            self.empty.say(tr("No budget yet"), tr("A run shows here what it spent its tokens on."))
            self._pages.setCurrentWidget(self.empty)
            return
        view = budget_view(trace)
        self.bar.set_view(view)
        self.model.set_view(view)
        self.note_changed.emit(_headline(view))
        self.counts.setText(tr(estimate(trace)))
        self.counts.setVisible(bool(self.counts.text()))
        if view.segments:
            self._pages.setCurrentWidget(self._shown_page)
        else:
            self.empty.say(tr("Nothing was injected"), tr("No entry reached the budget in this run."))
            self._pages.setCurrentWidget(self.empty)
        self._show_entry()

    def _show_entry(self) -> None:
        self.bar.choose(self._selection.entry)
        row = self.model.row_of(self._selection.entry)
        if row >= 0 and self.list.currentIndex().row() != row:
            self.list.setCurrentIndex(self.model.index(row))
        elif row < 0:
            self.list.selectionModel().clear()

    def _row_chosen(self, current: QModelIndex, _previous: QModelIndex) -> None:
        entry = current.data(ENTRY_ID)
        if isinstance(entry, int) and entry != self._selection.entry:
            self._choose(entry)

    def _choose(self, entry: int) -> None:
        if entry != self._selection.entry:
            self._selection.choose_entry(entry)


def _headline(view: BudgetView) -> str:
    parts = [view.headline()]
    if view.entries_maximum is not None:
        used, most = number(view.entries_used), number(view.entries_maximum)
        parts.append(tr("{used} of {most} entries", used=used, most=most))
    return " · ".join(parts)
