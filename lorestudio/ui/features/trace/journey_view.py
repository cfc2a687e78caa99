"""The journey matrix: titles that stay in sight, stage names written upwards, one glyph per cell."""

from __future__ import annotations

import math
from typing import Final

from PySide6.QtCore import QObject, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from lorestudio.trace.model import Phase, StageRecord
from lorestudio.ui.features.trace.journey_table import RESULT_COLUMN, JourneyTable
from lorestudio.ui.shell.qt import DISPLAY, HORIZONTAL, ITEM, MARK, VERTICAL, Index
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.marks import BROKEN, Mark
from lorestudio.ui.widgets.paint import draw_focus, draw_glyph, draw_mark, hairline

ROW_HEIGHT: Final = 24
CELL_WIDTH: Final = 28
LONGEST_RESULT: Final = "not a candidate"
_PHASE_FILL: Final = {
    Phase.LOAD: "grey",
    Phase.MATCH: "yellow",
    Phase.SELECT: "sky",
    Phase.GATE: "orange",
    Phase.BUDGET: "purple",
    Phase.INJECT: "green",
}
_V_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)


class StageHeader(QHeaderView):
    """Stage names written upwards, under a band that names the phase."""

    BAND = 18
    SIGN = 15
    """Room for the sign of a stage that runs or failed."""
    LEAST = 64
    """The header never gets lower than this."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(HORIZONTAL, parent)
        self._theme = theme
        self._most = 200
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(CELL_WIDTH)
        self.setAccessibleName(tr("Stages"))
        theme.changed.connect(self.viewport().update)

    def leave_room(self, height: int) -> None:
        """Take at most half of the view's `height` in pixels, so that a low pane shows rows too."""
        most = max(self.LEAST, height // 2)
        if most != self._most:
            self._most = most
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Qt: tall enough for the longest name, within reason."""
        metrics = QFontMetricsF(scaled(self.font(), 0.9))
        model = self.model()
        names = [str(model.headerData(column, HORIZONTAL) or "") for column in range(1, model.columnCount())]
        longest = max((metrics.horizontalAdvance(name) for name in names), default=60.0)
        signs = any(model.headerData(column, HORIZONTAL, MARK) for column in range(1, model.columnCount()))
        wanted = round(min(longest, 90) + self.BAND + 10 + (self.SIGN if signs else 0))
        return QSize(100, min(wanted, self._most))

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        """Qt: draw one stage."""
        theme, model = self._theme, self.model()
        painter.save()
        painter.fillRect(rect, theme.color("panel"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.setFont(scaled(self.font(), 0.9))
        text = str(model.headerData(logicalIndex, HORIZONTAL) or "")
        record = model.headerData(logicalIndex, HORIZONTAL, ITEM)
        if logicalIndex == RESULT_COLUMN or not isinstance(record, StageRecord):
            painter.setPen(theme.color("text_muted"))
            bottom_left = int(Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft)
            painter.drawText(rect.adjusted(8, 0, 0, -6), bottom_left, text)
            painter.restore()
            return
        before = model.headerData(logicalIndex - 1, HORIZONTAL, ITEM)
        first = not isinstance(before, StageRecord) or before.phase is not record.phase
        ground, _ink = theme.fill(_PHASE_FILL[record.phase])
        painter.fillRect(QRect(rect.left() + first, rect.top() + self.BAND - 4, rect.width() - first, 3), ground)
        if first:
            painter.drawLine(rect.topLeft() + QPoint(0, self.BAND - 4), rect.bottomLeft())
        metrics = QFontMetricsF(painter.font())
        room = rect.height() - self.BAND - 10
        mark = model.headerData(logicalIndex, HORIZONTAL, MARK)
        if isinstance(mark, Mark):
            ink = theme.palette.error if mark is BROKEN else theme.palette.accent
            sign = QRectF(rect.left(), rect.top() + self.BAND, rect.width(), self.SIGN)
            draw_glyph(painter, sign, mark.icon, ink, 13)
            room -= self.SIGN
        quiet = isinstance(model, JourneyTable) and model.is_quiet(record)
        painter.setPen(theme.color("error" if mark is BROKEN else "text_muted" if quiet else "text"))
        if quiet:
            font = painter.font()
            font.setItalic(True)
            painter.setFont(font)
        painter.translate(rect.left() + rect.width() / 2, rect.bottom() - 5)
        painter.rotate(-90)
        box = QRectF(0, -rect.width() / 2, room + 2, rect.width())
        if metrics.horizontalAdvance(text) <= room:
            painter.drawText(box, _V_LEFT, text)
        else:  # two lines, as near to the middle as a space allows
            painter.setFont(scaled(self.font(), 0.82))
            metrics = QFontMetricsF(painter.font())
            spaces = [place for place, letter in enumerate(text) if letter == " "] or [len(text)]
            middle = min(spaces, key=lambda place: abs(place - len(text) / 2))
            halves = (text[:middle], text[middle:].strip())
            lines = [metrics.elidedText(half, Qt.TextElideMode.ElideRight, room) for half in halves]
            painter.drawText(box, _V_LEFT, "\n".join(lines))
        painter.restore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: the sections, then the names of the phases over them."""
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setFont(scaled(self.font(), 0.82))
        metrics = QFontMetricsF(painter.font())
        model = self.model()
        column = 1
        while column < model.columnCount():
            record = model.headerData(column, HORIZONTAL, ITEM)
            last = column
            while last + 1 < model.columnCount() and self._phase(last + 1) is self._phase(column):
                last += 1
            left = self.sectionViewportPosition(column)
            right = self.sectionViewportPosition(last) + self.sectionSize(last)
            if isinstance(record, StageRecord):
                painter.setPen(self._theme.color("text_faint"))
                box = QRectF(left + 3, 0, right - left - 4, self.BAND - 5)
                text = metrics.elidedText(tr(record.phase.value), Qt.TextElideMode.ElideRight, box.width())
                painter.drawText(box, _V_LEFT, text if len(text) > 1 else "")
            column = last + 1
        painter.end()

    def _phase(self, column: int) -> Phase | None:
        record = self.model().headerData(column, HORIZONTAL, ITEM)
        return record.phase if isinstance(record, StageRecord) else None


class TitleHeader(QHeaderView):
    """Titles of the entries; as a header they stay in sight while the stages scroll."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(VERTICAL, parent)
        self._theme = theme
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setDefaultSectionSize(ROW_HEIGHT)
        self.setAccessibleName(tr("Entries"))
        theme.changed.connect(self.viewport().update)

    def sizeHint(self) -> QSize:
        """Qt: the width is set by the view; Qt itself would measure hundreds of titles."""
        return QSize(self.maximumWidth(), self.length())

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        """Qt: draw one title."""
        theme, model = self._theme, self.model()
        view = self.parent()
        chosen = isinstance(view, QTableView) and view.currentIndex().row() == logicalIndex
        painter.save()
        painter.fillRect(rect, theme.color("accent_soft" if chosen else "panel"))
        if chosen:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), theme.color("accent"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(rect.topRight(), rect.bottomRight())
        painter.setFont(scaled(self.font(), 1.0, bold=chosen))
        painter.setPen(theme.color("on_accent_soft" if chosen else "text"))
        metrics = QFontMetricsF(painter.font())
        title = str(model.headerData(logicalIndex, VERTICAL, DISPLAY) or "")
        box = QRectF(rect).adjusted(9, 0, -6, 0)
        painter.drawText(box, _V_LEFT, metrics.elidedText(title, Qt.TextElideMode.ElideRight, box.width()))
        painter.restore()


class CellDelegate(QStyledItemDelegate):
    """Draws one mark; the result column adds its word."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: cells are small squares, the result has room for its word."""
        return QSize(106 if index.column() == RESULT_COLUMN else CELL_WIDTH, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a cell."""
        theme, mark = self._theme, index.data(MARK)
        view = option.widget
        row_chosen = isinstance(view, QTableView) and view.currentIndex().row() == index.row()
        current = isinstance(view, QTableView) and view.currentIndex() == index
        painter.save()
        if row_chosen:
            painter.fillRect(option.rect, theme.color("accent_soft"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        if isinstance(mark, Mark):
            box = QRectF(option.rect)
            if index.column() == RESULT_COLUMN:
                draw_mark(painter, QRectF(box.left() + 6, box.top(), 20, box.height()), mark, theme)
                painter.setFont(scaled(option.font, 0.93))
                painter.setPen(theme.color("on_accent_soft" if row_chosen else "text_muted"))
                room = box.adjusted(31, 0, -2, 0)
                word = QFontMetricsF(painter.font()).elidedText(
                    tr(mark.word), Qt.TextElideMode.ElideRight, room.width()
                )
                painter.drawText(room, _V_LEFT, word)
            else:
                draw_mark(painter, box, mark, theme)
        if current:
            strong = bool(option.state & QStyle.StateFlag.State_HasFocus)
            if strong or index.column() != RESULT_COLUMN:
                draw_focus(painter, option.rect.adjusted(1, 1, -1, -2), theme)
        painter.restore()


class JourneyView(QTableView):
    """A table for a `JourneyTable`."""

    def __init__(self, theme: Theme, model: JourneyTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setItemDelegate(CellDelegate(theme, self))
        self.stages = StageHeader(theme, self)
        self.setHorizontalHeader(self.stages)
        self.setVerticalHeader(TitleHeader(theme, self))
        self.setShowGrid(False)
        self.setCornerButtonEnabled(False)
        self.setMouseTracking(True)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setAccessibleName(tr("Journey: entries and stages"))
        self.verticalHeader().sectionPressed.connect(self._choose_row)
        self._watching = False
        self.horizontalScrollBar().rangeChanged.connect(self._keep_last)
        model.modelReset.connect(self._size_columns)
        self._size_columns()

    def watch_last(self, on: bool) -> None:
        """Keep the last stage in sight, as long as a run is under way; scrolling by hand still works."""
        self._watching = on
        self._keep_last()

    def _keep_last(self) -> None:
        if self._watching:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.maximum())

    def _choose_row(self, row: int) -> None:
        self.setCurrentIndex(self.model().index(row, RESULT_COLUMN))
        self.setFocus()

    def _size_columns(self) -> None:
        header = self.horizontalHeader()
        for column in range(self.model().columnCount()):
            header.resizeSection(column, self._result_width() if column == RESULT_COLUMN else CELL_WIDTH)
        header.updateGeometry()
        self.updateGeometries()

    def _result_width(self) -> int:
        """Room for the longest result, so that none is cut off."""
        metrics = QFontMetricsF(scaled(self.font(), 0.93))
        return math.ceil(metrics.horizontalAdvance(tr(LONGEST_RESULT))) + 36

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: the chosen cell stays in sight."""
        # By the width of the whole view: the viewport's own changes with that of the titles.
        width = max(118, min(170, round(self.width() * 0.3)))
        if width != self.verticalHeader().maximumWidth():
            self.verticalHeader().setFixedWidth(width)
            self.updateGeometries()
        self.stages.leave_room(self.height())
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())
        self._keep_last()

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Qt: the titles show the chosen row too."""
        super().currentChanged(current, previous)
        self.verticalHeader().viewport().update()
        self.viewport().update()
