"""Entries against stages: what every stage of one run did with every entry that came into question.

The journey matrix: titles that stay in sight, stage names written upwards, one glyph per cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QObject, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from lorestudio.domain.entry import VaultIndex
from lorestudio.trace.explain import explain_stage
from lorestudio.trace.held_run import WouldAlso, WouldCell
from lorestudio.trace.journey import CellState, JourneyCell, Journeys, explain_cell
from lorestudio.trace.model import Phase, StageRecord, StageStatus, Trace
from lorestudio.ui.shell.qt import (
    ACCESSIBLE_DESCRIPTION,
    ACCESSIBLE_TEXT,
    DISPLAY,
    ENTRY_ID,
    HORIZONTAL,
    ITEM,
    MARK,
    NO_INDEX,
    TOOLTIP,
    V_LEFT,
    VERTICAL,
    Index,
)
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import sentence_case, tr
from lorestudio.ui.state.ai_calls import stage_failure
from lorestudio.ui.widgets.marks import BLANK, BROKEN, DECIDING, Mark, cell_mark, fate_mark, would_mark
from lorestudio.ui.widgets.paint import draw_focus, draw_glyph, draw_mark, draw_words, hairline

RESULT_COLUMN: Final = 0

_UNREACHED: Final = frozenset({CellState.NOT_REACHED, CellState.ABSENT})
"""Cells that have room for what would have been."""


class JourneyTable(QAbstractTableModel):
    """Column 0 says what became of the entry; every other column is a stage. The row header is the entry's title.

    Quiet stages, which decided nothing, are left out unless `set_all_stages(True)`; only the one that was chosen
    elsewhere has a column (`set_guest_stage`). Cells are worked out when first shown. `trace` is the run that is shown.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.trace: Trace | None = None
        self.all_stages = False
        self._index: VaultIndex | None = None
        self._all_rows: list[int] = []
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._cells: dict[int, tuple[JourneyCell, ...]] = {}
        self._journeys: Journeys | None = None
        self._filter = ""
        self._only: frozenset[int] | None = None
        self._guest: int | None = None
        self._guest_stage = ""
        self._running = ""
        self._failed: dict[str, str] = {}
        self._would: dict[int, WouldAlso] = {}

    # ---- content ----------------------------------------------------------------------------------------------------

    @contextmanager
    def _arranging(self) -> Iterator[None]:
        """Other rows or columns are to be shown after what is done within."""
        self.beginResetModel()
        yield
        self._arrange()
        self.endResetModel()

    def set_trace(
        self,
        trace: Trace | None,
        index: VaultIndex | None = None,
        running: str = "",
        journeys: Journeys | None = None,
    ) -> None:
        """Show another run; `index` names the entries that no stage decided about.

        `journeys` is the same trace, where it was read already. `running` is the stage of a run under way that has not
        decided yet; it is the last one.
        """
        stages = trace.stages if trace is not None else ()
        with self._arranging():
            found = ((record.name, stage_failure(record, trace)) for record in stages) if trace is not None else ()
            self._failed = {name: sentence for name, sentence in found if sentence}
            self.trace, self._index, self._running = trace, index, running
            self._cells, self._would = {}, {}
            self._journeys = (journeys or Journeys(trace)) if trace is not None else None
            self._all_rows = list(self._journeys.rows) if self._journeys is not None else []

    def set_all_stages(self, everything: bool) -> None:
        """Whether stages that decided nothing have a column too."""
        with self._arranging():
            self.all_stages = everything

    def set_guest_stage(self, stage: str | None) -> None:
        """The chosen stage has a column even where it is quiet, for as long as it is chosen."""
        quiet = next((record for record in self._quiet if record.name == stage), None)
        guest = quiet.name if quiet is not None and not self.all_stages else ""
        if guest != self._guest_stage:
            with self._arranging():
                self._guest_stage = guest

    def set_filter(self, text: str) -> None:
        """Show only entries whose title or result contains `text`."""
        with self._arranging():
            self._filter = text.casefold().strip()

    def set_only(self, entries: frozenset[int] | None) -> None:
        """Show only these entries, None for all."""
        with self._arranging():
            self._only = entries

    def set_guest(self, entry: int | None) -> None:
        """The chosen entry has a row even where it never came into question."""
        if self.trace is not None and entry is not None and entry not in self._rows:
            self._drop_guest()
            self.beginInsertRows(NO_INDEX, len(self._rows), len(self._rows))
            self._guest = entry
            self._rows.append(entry)
            self.endInsertRows()
        elif entry != self._guest:
            self._drop_guest()

    def set_would(self, entry: int, would: WouldAlso) -> None:
        """Show what the stages behind the one that stopped the entry would have done."""
        self._would[entry] = would
        row = self.row_of(entry)
        if row >= 0:
            self.dataChanged.emit(self.index(row, 0), self.index(row, self.columnCount() - 1))

    def would(self, entry: int, stage: str) -> WouldCell | None:
        """What a stage that the entry did not reach would have done, None where that is not known."""
        known = self._would.get(entry)
        return known.at(stage) if known is not None else None

    def entry(self, row: int) -> int | None:
        """The entry of a row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, entry: int | None) -> int:
        """The row of an entry, -1 where it has none."""
        return self._rows.index(entry) if entry in self._rows else -1

    def stage(self, column: int) -> StageRecord | None:
        """The stage of a column, None for the result column."""
        if self.trace is None or not 0 < column <= len(self._columns):
            return None
        return self.trace.stages[self._columns[column - 1]]

    def column_of(self, stage: str | None) -> int:
        """The column of a stage, the result column where it has none."""
        columns = range(1, self.columnCount())
        named = (column for column in columns if (record := self.stage(column)) is not None and record.name == stage)
        return next(named, RESULT_COLUMN)

    @property
    def quiet_stages(self) -> int:
        """How many stages decided nothing, shown or not."""
        return len(self._quiet)

    @property
    def hidden_stages(self) -> int:
        """How many stages have no column because they decided nothing."""
        return (len(self.trace.stages) if self.trace is not None else 0) - len(self._columns)

    def is_quiet(self, record: StageRecord) -> bool:
        """Whether a stage decided nothing, did not fail and does not run."""
        return not record.verdicts and record.name not in self._failed and record is not self._undecided

    @property
    def candidates(self) -> int:
        """How many entries came into question."""
        return len(self._all_rows)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one row per entry."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the result and the stages."""
        return 0 if parent.isValid() or self.trace is None else 1 + len(self._columns)

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: marks to draw, and the same in words."""
        trace, entry = self.trace, self.entry(index.row())
        if trace is None or entry is None:
            return None
        if role == ENTRY_ID:
            return entry
        record = self.stage(index.column())
        if record is None:
            return self._result_data(trace, entry, role)
        return self._cell_data(trace, entry, record, self.cell(entry, self._columns[index.column() - 1]), role)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: stage names across, titles down."""
        if self.trace is None:
            return None
        return self._stage_header(section, role) if orientation == HORIZONTAL else self._title_header(section, role)

    # ---- inside -----------------------------------------------------------------------------------------------------

    def title(self, entry: int) -> str:
        """What an entry is called."""
        ref = self.trace.entries.get(entry) if self.trace is not None else None
        if ref is not None:
            return ref.title
        entries = self._index.entries if self._index is not None else ()
        return entries[entry].title if entry < len(entries) else tr("entry {entry}", entry=entry)

    def cell(self, entry: int, stage: int) -> JourneyCell:
        """What the stage at index `stage` of the run did with an entry."""
        if entry not in self._cells and self._journeys is not None:
            self._cells[entry] = self._journeys.cells(entry)
        return self._cells[entry][stage]

    def result(self, entry: int) -> Mark:
        """What became of an entry."""
        return fate_mark(self._journeys.fate(entry)) if self._journeys is not None else BLANK

    def _stage_header(self, section: int, role: int) -> object:
        record = self.stage(section)
        if role in {DISPLAY, ACCESSIBLE_TEXT}:
            return record.name if record is not None else tr("Result")
        if role == ITEM:
            return record
        if role == MARK and record is not None:
            if record is self._undecided:
                return DECIDING
            return BROKEN if record.name in self._failed else None
        if role == TOOLTIP and record is not None and self.trace is not None:
            if record is self._undecided:
                return tr("{stage}\nThis stage is running.", stage=record.name)
            quiet = tr("{stage} (quiet: it decided nothing)", stage=record.name)
            name = quiet if self.is_quiet(record) else record.name
            return f"{name}\n{self._failed.get(record.name) or explain_stage(record, self.trace)}"
        return None

    @property
    def _undecided(self) -> StageRecord | None:
        """The stage that runs."""
        stages = self.trace.stages if self.trace is not None else ()
        return stages[-1] if self._running and stages else None

    def _title_header(self, section: int, role: int) -> object:
        entry = self.entry(section)
        if entry is None:
            return None
        if role in {DISPLAY, ACCESSIBLE_TEXT}:
            return self.title(entry)
        if role == MARK:
            return self.result(entry)
        return f"{self.title(entry)}\n{tr(self.result(entry).word)}" if role == TOOLTIP else None

    def _cell_data(self, trace: Trace, entry: int, record: StageRecord, cell: JourneyCell, role: int) -> object:
        mark = cell_mark(cell, record.phase)
        would = self.would(entry, record.name) if cell.state in _UNREACHED else None
        if would is not None:
            mark = would_mark(would)
        if record is self._undecided:
            mark = DECIDING if entry in record.left else mark
        if role == MARK:
            return mark
        if role == ITEM:
            return cell
        if role == DISPLAY:
            return tr(mark.word)
        if role == ACCESSIBLE_TEXT:
            return tr("{title}, {stage}: {word}", title=self.title(entry), stage=record.name, word=tr(mark.word))
        if role in {TOOLTIP, ACCESSIBLE_DESCRIPTION}:
            if mark is DECIDING:
                return tr("{stage}: running; it has not decided yet.", stage=record.name)
            if would is not None:
                return f"{record.name}: {would.sentence or tr('would let it pass')}"
            return f"{record.name}: {cell_sentence(trace, entry, record, cell)}"
        return None

    def _result_data(self, trace: Trace, entry: int, role: int) -> object:
        mark = self.result(entry)
        if role == MARK:
            return mark
        if role == DISPLAY:
            return tr(mark.word)
        if role == ACCESSIBLE_TEXT:
            return tr("{title}: {word}", title=self.title(entry), word=tr(mark.word))
        if role in {TOOLTIP, ACCESSIBLE_DESCRIPTION}:
            fate = self._journeys.fate(entry) if self._journeys is not None else None
            if fate is None:
                return None
            known = self._would.get(entry)
            later = "".join(f"\n{sentence_case(each)}." for each in known.sentences) if known is not None else ""
            return f"{self.title(entry)}: {fate.explain(trace).sentence}{later}"
        return None

    def _arrange(self) -> None:
        trace = self.trace
        self._guest = None
        if trace is None:
            self._rows, self._columns = [], []
            return
        self._rows = [
            entry
            for entry in self._all_rows
            if (self._only is None or entry in self._only)
            and (not self._filter or self._filter in f"{self.title(entry)}\n{self.result(entry).word}".casefold())
        ]
        self._columns = [
            number
            for number, record in enumerate(trace.stages)
            if self.all_stages or not self.is_quiet(record) or record.name == self._guest_stage
        ]

    @property
    def _quiet(self) -> tuple[StageRecord, ...]:
        return tuple(record for record in self.trace.stages if self.is_quiet(record)) if self.trace else ()

    def _drop_guest(self) -> None:
        if self._guest is not None and self._guest in self._rows:
            row = self._rows.index(self._guest)
            self.beginRemoveRows(NO_INDEX, row, row)
            del self._rows[row]
            self.endRemoveRows()
        self._guest = None


def cell_sentence(trace: Trace, entry: int, record: StageRecord, cell: JourneyCell) -> str:
    """Why a cell is as it is, in one sentence."""
    explanation = explain_cell(trace, entry, cell)
    if explanation is not None:
        return explanation.sentence
    if cell.state is CellState.NOT_REACHED:
        if record.status is StageStatus.SKIPPED:
            return tr("This stage was skipped.")
        return tr("This stage did not look at it: it was no candidate here.")
    if cell.state is CellState.ABSENT:
        return tr("This stage could have brought it in and found no reason to.")
    return tr("It passed; this stage had nothing to say about it.")


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
            painter.drawText(box, V_LEFT, text)
        else:  # two lines, as near to the middle as a space allows
            painter.setFont(scaled(self.font(), 0.82))
            metrics = QFontMetricsF(painter.font())
            spaces = [place for place, letter in enumerate(text) if letter == " "] or [len(text)]
            middle = min(spaces, key=lambda place: abs(place - len(text) / 2))
            halves = (text[:middle], text[middle:].strip())
            lines = [metrics.elidedText(half, Qt.TextElideMode.ElideRight, room) for half in halves]
            painter.drawText(box, V_LEFT, "\n".join(lines))
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
                painter.drawText(box, V_LEFT, text if len(text) > 1 else "")
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
        title = str(model.headerData(logicalIndex, VERTICAL, DISPLAY) or "")
        draw_words(painter, QRectF(rect).adjusted(9, 0, -6, 0), title)
        painter.restore()


class MarkDelegate(QStyledItemDelegate):
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
                draw_words(painter, box.adjusted(31, 0, -2, 0), tr(mark.word))
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
        self.setItemDelegate(MarkDelegate(theme, self))
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
