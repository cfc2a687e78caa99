"""How the answers of a run look: entry and result stay in sight while reasons, tokens and phases scroll."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFont, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from lorestudio.studio.report.pictures import PHASE_FILLS
from lorestudio.trace.journey import PHASES
from lorestudio.ui.features.trace.answers import TOKENS, WHY, AnswerTable, RowChange
from lorestudio.ui.shell.qt import DISPLAY, HELD, HORIZONTAL, ITEM, MARK, V_LEFT, V_RIGHT, VERTICAL, Index
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import sentence_case, tr
from lorestudio.ui.state.expected import ExpectedMark
from lorestudio.ui.widgets.paint import (
    BROKEN,
    Mark,
    Wrapper,
    draw_box,
    draw_focus,
    draw_glyph,
    draw_mark,
    draw_words,
    hairline,
    set_inks,
)
from lorestudio.ui.widgets.rows import RowTable

_SMALL: Final = 0.9
_REASON: Final = 0.95
_BUTTON: Final = 26
"""Pixels that a button of a row needs around its words."""
_SIGN: Final = 20
"""The room of the mark before a result."""
MEASURED: Final = 60
"""The titles of so many rows are measured."""


def cell_width(font: QFont) -> int:
    """How wide a column of marks is: a mark, and a name written upwards."""
    return max(24, round(QFontMetricsF(scaled(font, _SMALL)).height()) + 6)


def row_height(font: QFont) -> int:
    """Two lines."""
    return round(QFontMetricsF(font).height() + QFontMetricsF(scaled(font, _SMALL)).height()) + 7


class RowWords(Struct, frozen=True):
    """The words of a row, broken into the lines that its cells have room for; only a title of many is shortened.

    `beside` says that what has changed stands in the line of the result. `fix` is what the button says.
    """

    title: tuple[str, ...]
    result: tuple[str, ...]
    change: tuple[str, ...]
    reason: tuple[str, ...]
    fix: tuple[str, ...]
    beside: bool


class RowFonts:
    """The fonts of a row, with what breaks texts in them: titles stand out where their row is chosen."""

    def __init__(self, font: QFont) -> None:
        self.font = QFont(font)
        self.title = Wrapper(scaled(font, 1.0, bold=True))
        self.small = Wrapper(scaled(font, _SMALL))
        self.change = Wrapper(scaled(font, _SMALL, bold=True))
        self.reason = Wrapper(scaled(font, _REASON))
        self._least = row_height(font)

    def height(self, words: RowWords) -> int:
        """The height of a row in pixels, two lines at least."""
        small = self.small.metrics.height()
        below = len(words.result) + len(words.change) - (words.beside and bool(words.change))
        head = len(words.title) * self.title.metrics.height() + below * small
        why = len(words.reason) * self.reason.metrics.height() + (self.button_height(words) + 2 if words.fix else 0)
        return max(self._least, math.ceil(max(head, why)) + 6)

    def button_height(self, words: RowWords) -> float:
        """The height of the button of a row."""
        return len(words.fix) * self.small.metrics.height() + 3

    def button(self, cell: QRectF, words: RowWords) -> QRectF:
        """Where the button is in the cell of the reason."""
        widest = max((self.small.metrics.horizontalAdvance(line) for line in words.fix), default=0.0)
        high = self.button_height(words)
        wide = max(0.0, min(widest + _BUTTON, cell.width() - 10))
        return QRectF(cell.left() + 6, cell.bottom() - high - 2, wide, high)


MOST_LINES: Final = 3
"""A title takes no more of a row, whose tooltip and story have all of it."""


def _broken(wrapper: Wrapper, text: str, width: float, most: int = 0) -> tuple[str, ...]:
    wide = max(width, 20.0)
    lines = wrapper.lines(text, wide) if text else []
    found = [text[start:end] for start, end in lines]
    if most and len(lines) > most:
        rest = text[lines[most - 1][0] :]
        found[most - 1 :] = [wrapper.metrics.elidedText(rest, Qt.TextElideMode.ElideRight, wide)]
    return tuple(found)


def draw_lines(painter: QPainter, box: QRectF, texts: Sequence[str]) -> float:
    """Lines of text in the painter's font from the top of `box`; returns where they end."""
    top, high = box.top(), QFontMetricsF(painter.font()).height()
    for text in texts:
        painter.drawText(QRectF(box.left(), top, box.width() + 40, high), V_LEFT, text)
        top += high
    return top


class PhaseHeader(QHeaderView):
    """Names of phases and stages written upwards, each phase under a band of its colour. A click folds and unfolds."""

    BAND = 5
    SIGN = 15
    """Room for the sign of a stage that runs or failed, and for the one that folds."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(HORIZONTAL, parent)
        self._theme = theme
        self._most = 260
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(20)
        self.setAccessibleName(tr("Phases and stages"))

    def leave_room(self, height: int) -> None:
        """Take at most half of the view's `height` in pixels, so that a low pane shows rows too."""
        names = round(self._longest(phases=True)) + self.BAND + self.SIGN + 8
        low = height - names < 6 * row_height(self.font())  # then only bands and the beginnings of names
        most = self.BAND + self.SIGN + 2 if low else max(names, height // 2)
        if most != self._most:
            self._most = most
            self.updateGeometry()

    def _longest(self, *, phases: bool = False) -> float:
        model, metrics = self.model(), QFontMetricsF(scaled(self.font(), _SMALL))
        if phases:
            names = [tr("Tokens"), *(sentence_case(tr(phase.value)) for phase in PHASES)]
            return max(metrics.horizontalAdvance(name) for name in names)
        names = [str(model.headerData(column, HORIZONTAL) or "") for column in range(TOKENS, model.columnCount())]
        return max((metrics.horizontalAdvance(name) for name in names), default=40.0)

    def sizeHint(self) -> QSize:
        """Qt: as high as the longest name, so that none is cut off while there is room."""
        return QSize(100, min(round(self._longest()) + self.BAND + self.SIGN + 8, self._most))

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        """Qt: draw one phase or stage."""
        theme, model = self._theme, self.model()
        if not isinstance(model, AnswerTable):
            return
        painter.save()
        painter.fillRect(rect, theme.color("panel"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.setFont(scaled(self.font(), _SMALL))
        text = str(model.headerData(logicalIndex, HORIZONTAL) or "")
        phase, record = model.phase(logicalIndex), model.stage(logicalIndex)
        if model.is_there(logicalIndex) or logicalIndex == TOKENS:
            painter.setPen(theme.color("text_muted" if logicalIndex == TOKENS else "text"))
            self._write(painter, rect, text)
            painter.restore()
            return
        if phase is None:
            painter.setPen(theme.color("text_muted"))
            painter.drawText(rect.adjusted(6, 0, -4, -5), int(Qt.AlignmentFlag.AlignBottom), text)
            painter.restore()
            return
        first = model.phase(logicalIndex - 1) is not phase
        ground, _ink = theme.fill(PHASE_FILLS[phase])
        painter.fillRect(QRect(rect.left() + first, rect.top(), rect.width() - first, self.BAND - 1), ground)
        if first:
            painter.drawLine(rect.topLeft(), rect.bottomLeft())
        mark = model.headerData(logicalIndex, HORIZONTAL, MARK)
        sign = QRectF(rect.left(), rect.top() + self.BAND, rect.width(), self.SIGN)
        if isinstance(mark, Mark):
            draw_glyph(painter, sign, mark.icon, theme.palette.error if mark is BROKEN else theme.palette.accent, 13)
        elif first and not self._is_low:
            draw_glyph(painter, sign, "plus" if record is None else "minus", theme.palette.text_faint, 10)
        quiet = record is not None and model.is_quiet(record)
        painter.setPen(theme.color("error" if mark is BROKEN else "text_muted" if quiet else "text"))
        font = painter.font()
        font.setItalic(quiet)
        painter.setFont(font)
        if not self._is_low or (record is None and not isinstance(mark, Mark)):
            self._write(painter, rect, text)
        painter.restore()

    @property
    def _is_low(self) -> bool:
        return self.height() < 2 * (self.BAND + self.SIGN)

    def _write(self, painter: QPainter, rect: QRect, text: str) -> None:
        """Upwards, or where that has no room across: “Tokens”, and “Ma”, “Se”, “Ga” of phases."""
        if self._is_low:
            words = text if painter.fontMetrics().horizontalAdvance(text) < rect.width() else text[:2]
            painter.drawText(rect.adjusted(0, self.BAND, 0, 0), int(Qt.AlignmentFlag.AlignCenter), words)
            return
        painter.translate(rect.left() + rect.width() / 2, rect.bottom() - 4)
        painter.rotate(-90)
        room = rect.height() - self.BAND - self.SIGN - 5
        draw_words(painter, QRectF(0, -rect.width() / 2, room, rect.width()), text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: the sections, then the names of unfolded phases over theirs."""
        super().paintEvent(event)
        model = self.model()
        if not isinstance(model, AnswerTable):
            return
        with QPainter(self.viewport()) as painter:
            set_inks(painter, self._theme.color("text_muted"), font=scaled(self.font(), _SMALL))
            for phase in model.unfolded:
                own = [column for column in range(2, model.columnCount()) if model.phase(column) is phase]
                if own:
                    left = self.sectionViewportPosition(own[0]) + self.sectionSize(own[0])
                    right = self.sectionViewportPosition(own[-1]) + self.sectionSize(own[-1])
                    box = QRectF(left, self.BAND, right - left, self.SIGN)
                    draw_words(painter, box, sentence_case(tr(phase.value)))


class EntryHeader(QHeaderView):
    """Entries with what became of them; as a header they stay in sight while the phases scroll."""

    def __init__(self, theme: Theme, parent: AnswerView) -> None:
        super().__init__(VERTICAL, parent)
        self._theme, self._view = theme, parent
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setAccessibleName(tr("Entries and what became of them"))

    def sizeHint(self) -> QSize:
        """Qt: the width is set by the view; Qt itself would measure hundreds of titles."""
        return QSize(self.maximumWidth(), self.length())

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        """Qt: draw one entry."""
        theme, model = self._theme, self.model()
        chosen = self._view.currentIndex().row() == logicalIndex
        mark, change = (model.headerData(logicalIndex, VERTICAL, role) for role in (MARK, ITEM))
        painter.save()
        painter.fillRect(rect, theme.color("accent_soft" if chosen else "panel"))
        if chosen:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), theme.color("accent"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(rect.topRight(), rect.bottomRight())
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        ink = "on_accent_soft" if chosen else ""
        fonts, words = self._view.fonts, self._view.words(logicalIndex)
        area = QRectF(rect).adjusted(_LEFT, 3, -_RIGHT, 0)
        held = model.headerData(logicalIndex, VERTICAL, HELD)
        if isinstance(held, ExpectedMark):
            icon, tone = held.glyph
            box = QRectF(area.right() - 15, area.top(), 14, fonts.title.metrics.height())
            draw_glyph(painter, box, icon, theme.color(tone).name(), 13)
        set_inks(painter, theme.color(ink or "text"), font=scaled(self.font(), 1.0, bold=chosen))
        area.setTop(draw_lines(painter, area, words.title))
        set_inks(painter, theme.color(ink or "text_muted"), font=fonts.small.font)
        if isinstance(mark, Mark):
            draw_mark(painter, QRectF(area.left(), area.top(), 15, fonts.small.metrics.height()), mark, theme, 14)
            area.setLeft(area.left() + _SIGN)
        area.setTop(draw_lines(painter, area, words.result))
        if isinstance(change, RowChange):
            if words.beside and words.result:
                wide = fonts.small.metrics.horizontalAdvance(words.result[-1]) + _APART
                area.adjust(wide, -fonts.small.metrics.height(), 0, 0)
            set_inks(painter, theme.color(ink or change.tone), font=fonts.change.font)
            draw_lines(painter, area, words.change)
        painter.restore()


_LEFT: Final = 9
_RIGHT: Final = 4
_APART: Final = 8
"""Pixels beside the words of an entry, and between its result and what has changed."""


class AnswerDelegate(QStyledItemDelegate):
    """Draws the reason with its button, tokens, and marks."""

    def __init__(self, theme: Theme, parent: AnswerView) -> None:
        super().__init__(parent)
        self._theme, self._view = theme, parent

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a cell."""
        theme, view = self._theme, self._view
        chosen, current = view.currentIndex().row() == index.row(), view.currentIndex() == index
        painter.save()
        if chosen:
            painter.fillRect(option.rect, theme.color("accent_soft"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        ink = theme.color("on_accent_soft" if chosen else "text")
        if index.column() == WHY:
            self._draw_why(painter, QRectF(option.rect), index.row(), chosen=chosen)
        elif index.column() == TOKENS:
            set_inks(painter, ink, font=scaled(option.font, _REASON))
            painter.drawText(QRectF(option.rect).adjusted(0, 0, -5, 0), V_RIGHT, str(index.data(DISPLAY)))
        else:
            mark = index.data(MARK)
            if isinstance(mark, Mark):
                draw_mark(painter, QRectF(option.rect), mark, theme)
        if current and (bool(option.state & QStyle.StateFlag.State_HasFocus) or index.column() > TOKENS):
            draw_focus(painter, option.rect.adjusted(1, 1, -1, -2), theme)
        painter.restore()

    def _draw_why(self, painter: QPainter, cell: QRectF, row: int, *, chosen: bool) -> None:
        theme, fonts, words = self._theme, self._view.fonts, self._view.words(row)
        set_inks(painter, theme.color("on_accent_soft" if chosen else "text"), font=fonts.reason.font)
        area = cell.adjusted(6, 3, -4, 0)
        if not words.fix:
            room = cell.height() - len(words.reason) * fonts.reason.metrics.height()
            area.setTop(cell.top() + max(0.0, room / 2))
            draw_lines(painter, area, words.reason)
            return
        draw_lines(painter, area, words.reason)
        box = fonts.button(cell, words)
        draw_box(painter, box, 4, hairline(theme.color("border_strong")), theme.color("panel"))
        draw_glyph(painter, QRectF(box.left() + 4, box.top(), 14, box.height()), "bolt", theme.palette.accent, 12)
        set_inks(painter, theme.color("text"), font=fonts.small.font)
        draw_lines(painter, box.adjusted(20, 1.5, 0, 0), words.fix)


class AnswerView(RowTable):
    """`fix_wanted` carries an entry whose fix is to be made, `fold_wanted` a phase to fold or unfold.

    `copy` is what the menu of a row copies.
    """

    copy: Callable[[], object]
    fix_wanted = Signal(int)
    fold_wanted = Signal(object)
    opened = Signal()

    def __init__(self, theme: Theme, model: AnswerTable, parent: QWidget | None = None) -> None:
        super().__init__(parent, showGrid=False, cornerButtonEnabled=False)
        self.table = model
        self.fonts = RowFonts(self.font())
        self._fitting = False
        self.setModel(model)
        self.setItemDelegate(AnswerDelegate(theme, self))
        self.phases = PhaseHeader(theme, self)
        self.setHorizontalHeader(self.phases)
        self.setVerticalHeader(EntryHeader(theme, self))
        self.setMouseTracking(True)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setAccessibleName(tr("Answers: entries, why, and the phases of the run"))
        self.verticalHeader().sectionPressed.connect(self._choose_row)
        self.verticalHeader().sectionDoubleClicked.connect(lambda _row: self.opened.emit())
        self.phases.sectionPressed.connect(self._fold)
        self._watching = False
        self.horizontalScrollBar().rangeChanged.connect(self._keep_last)
        model.modelReset.connect(self._size)
        self.verticalScrollBar().valueChanged.connect(self.fit)
        model.rowsInserted.connect(self._size)
        model.dataChanged.connect(self._grow)
        self._size()

    def watch_last(self, on: bool) -> None:
        """Keep the last stage in sight, as long as a run is under way; scrolling by hand still works."""
        self._watching = on
        self._keep_last()

    def changeEvent(self, event: QEvent) -> None:
        """Qt: with another font everything has another size."""
        super().changeEvent(event)
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange}:
            self._size()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: the chosen cell stays in sight."""
        self._size()
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())
        self._keep_last()

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Qt: the entries show the chosen row too."""
        super().currentChanged(current, previous)
        self.verticalHeader().viewport().update()
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt: the keyboard comes; where no row is current Qt would take the first, which chooses another entry."""
        chosen = self.currentIndex().isValid()
        with QSignalBlocker(self.selectionModel()):
            super().focusInEvent(event)
            if not chosen:
                self.selectionModel().clearCurrentIndex()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter makes the change that the row offers, Space folds or unfolds the phase of the cell."""
        index, model = self.currentIndex(), self.table
        phase = model.phase(index.column()) if index.isValid() else None
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and model.fix(model.entry(index.row())):
            self._make(index.row())
        elif event.key() == Qt.Key.Key_Space and phase is not None:
            self.fold_wanted.emit(phase)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a click on the button of a row makes its change."""
        super().mouseReleaseEvent(event)
        row = self._button_at(event.position())
        if row >= 0 and event.button() is Qt.MouseButton.LeftButton:
            self._make(row)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt: a row is opened, as in the other lists; its button is only pressed."""
        super().mouseDoubleClickEvent(event)
        if self.indexAt(event.position().toPoint()).isValid() and self._button_at(event.position()) < 0:
            self.opened.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: buttons look as if they could be pressed."""
        super().mouseMoveEvent(event)
        over = self._button_at(event.position()) >= 0
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def button(self, row: int) -> QRect:
        """Where the button of a row is in the viewport; empty where it has none."""
        if not self.table.fix(self.table.entry(row)):
            return QRect()
        return self.fonts.button(QRectF(self.visualRect(self.table.index(row, WHY))), self.words(row)).toRect()

    def words(self, row: int) -> RowWords:
        """The words of a row as its cells have room for them."""
        table, fonts, entry = self.table, self.fonts, self.table.entry(row)
        if entry is None:
            return RowWords((), (), (), (), (), beside=False)
        change, word = table.change(entry), tr(table.result(entry).word)
        wide = self.verticalHeader().width() - _LEFT - _RIGHT
        title = _broken(fonts.title, table.title(entry), wide - 18 * (table.held(entry) is not None), MOST_LINES)
        result = _broken(fonts.small, word, wide - _SIGN)
        news = change.words if change is not None else ""
        last = fonts.small.metrics.horizontalAdvance(result[-1]) + _APART if result else 0.0
        beside = last + fonts.change.metrics.horizontalAdvance(news) <= wide - _SIGN
        why = self.columnWidth(WHY)
        return RowWords(
            title, result, (news,) if beside and news else _broken(fonts.change, news, wide - _SIGN),
            _broken(fonts.reason, table.reason(entry), why - 10),
            _broken(fonts.small, table.fix(entry), why - 10 - _BUTTON), beside,
        )  # fmt: skip

    def _grow(self, first: Index, last: Index) -> None:
        """Rows say other things: the chosen one stays in sight as it was."""
        chosen, across = self.currentIndex(), self.horizontalScrollBar().value()
        seen = chosen.isValid() and self.visualRect(chosen).intersects(self.viewport().rect())
        self._fit(range(first.row(), last.row() + 1))
        if seen:
            super().scrollTo(chosen)
            self.horizontalScrollBar().setValue(across)

    def fit(self) -> None:
        """Each row in sight is as high as its words need; the others when they come into sight."""
        self._fit(range(self.table.rowCount()))

    def _fit(self, rows: range) -> None:
        """The same for those of these rows that are in sight."""
        if self._fitting:
            return
        self._fitting = True  # other heights scroll the rows
        row, down, room = max(self.rowAt(0), 0), self.verticalHeader(), self.viewport().height()
        top = self.rowViewportPosition(row)
        while row < self.table.rowCount() and top < room:
            if row in rows and (high := self.fonts.height(self.words(row))) != self.rowHeight(row):
                down.resizeSection(row, high)
            row, top = row + 1, top + self.rowHeight(row)
        self.updateGeometries()  # who scrolls now needs the new range, for which Qt would wait
        self._fitting = False
        self.verticalHeader().viewport().update()

    def scrollTo(self, index: Index, hint: QTableView.ScrollHint = QTableView.ScrollHint.EnsureVisible) -> None:
        """Qt: rows that come into sight get their heights; a reason stays in sight while nobody walks over marks."""
        if not self.hasFocus() and not self.table.unfolded:
            index = self.table.index(index.row(), WHY)
        super().scrollTo(index, hint)
        self.fit()
        super().scrollTo(index, hint)

    def _make(self, row: int) -> None:
        entry = self.table.entry(row)
        if entry is not None:
            self.fix_wanted.emit(entry)

    def _button_at(self, place: QPointF) -> int:
        row = self.rowAt(round(place.y()))
        return row if row >= 0 and self.button(row).contains(QPoint(round(place.x()), round(place.y()))) else -1

    def _keep_last(self) -> None:
        if self._watching:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.maximum())

    def _choose_row(self, row: int) -> None:
        self.setCurrentIndex(self.table.index(row, WHY))
        self.setFocus()

    def _fold(self, section: int) -> None:
        phase = self.table.phase(section)
        if phase is not None:
            self.fold_wanted.emit(phase)

    def _size(self) -> None:
        """Everything by the font, and the reason with what the others leave."""
        font = self.font()
        if self.fonts.font != font:
            self.fonts = RowFonts(font)
        em = QFontMetricsF(font).averageCharWidth()
        across, down = self.horizontalHeader(), self.verticalHeader()
        down.setDefaultSectionSize(row_height(font))
        # By the width of the whole view: the viewport's own changes with that of the titles.
        bold = QFontMetricsF(scaled(font, 1.0, bold=True))
        shown = [self.table.entry(row) for row in range(min(self.table.rowCount(), MEASURED))]
        names = {self.table.title(each) for each in shown if each is not None}
        longest = max(map(bold.horizontalAdvance, names), default=0)
        marks, tokens = cell_width(font), math.ceil(self.fonts.reason.metrics.horizontalAdvance("00,000")) + 9
        columns: Sequence[int] = range(2, self.table.columnCount())
        bar = self.verticalScrollBar().sizeHint().width()
        others = tokens + marks * len(columns) + bar + 2 * self.frameWidth() + 1
        folded = len(columns) - self.table.is_there(columns[-1]) <= len(PHASES) if columns else True
        least, enough = round((13 if folded else 24) * em), round(16 * em)
        room = self.width() - others
        crowded = room - least < enough  # words are read before numbers
        self.setColumnHidden(TOKENS, crowded)
        room += tokens * crowded
        widest = min(round(self.width() * 0.36), max(enough, room // 2), room - least)
        small = self.fonts.small.metrics
        results = {tr(self.table.result(each).word) for each in shown if each is not None}
        words = max((bold.horizontalAdvance(word) for name in names for word in name.split()), default=0)
        words = max([words, *(small.horizontalAdvance(word) + _SIGN for result in results for word in result.split())])
        whole = min(math.ceil(words) + _LEFT + _RIGHT + 1, self.width() // 2)  # no word is broken
        titles = max(round(11 * em), whole, min(round(longest) + 16, widest))
        if titles != down.maximumWidth():
            down.setFixedWidth(titles)
        why = max(least, room - titles)
        for column in range(self.table.columnCount()):
            across.resizeSection(column, why if column == WHY else tokens if column == TOKENS else marks)
        self.phases.leave_room(self.height())
        across.updateGeometry()
        self.updateGeometries()
        self.fit()
