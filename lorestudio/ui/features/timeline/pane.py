"""The whole chat at once: which entry went in when, what each turn changed, and what it costs a prompt cache.

The heat map of entries by turns is drawn for what is in sight only.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import Final

import numpy as np
from PySide6.QtCore import QEvent, QModelIndex, QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QLabel, QSizePolicy, QWidget

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.studio.replay.timeline_grid import RowOrder
from lorestudio.systems.registry import words_of
from lorestudio.trace.prompt_cache import CacheTurn
from lorestudio.trace.text import csv_bytes
from lorestudio.ui.features.timeline.drawing import AXIS, ROW_HEIGHT, Geometry, MapDrawing
from lorestudio.ui.features.timeline.map_content import MapContent, Shown, make_content, shown_generations
from lorestudio.ui.features.timeline.tables import (
    TOTALS,
    Names,
    advice,
    cache_bar_words,
    cache_text,
    cause_columns,
    changes_html,
    changes_text,
    entry_columns,
    how_many,
    place_table,
    totals_text,
    turn_columns,
)
from lorestudio.ui.features.timeline.turns import TimelineFeed
from lorestudio.ui.shell.qt import later, plain
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.cells import Cells
from lorestudio.ui.widgets.chart import BarChart, Bars, Layer
from lorestudio.ui.widgets.layouts import (
    TabCorner,
    column,
    combo,
    filling,
    holding,
    iconed,
    label,
    named,
    row,
    scrolled,
    show_words,
    tabbed,
    tight,
    tool,
)
from lorestudio.ui.widgets.paint import shows_tip, tell
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from lorestudio.ui.widgets.rows import PictureMenu

ZOOMS: Final = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 14.0, 20.0, 28.0)
"""Widths of a column to choose from, in device-independent pixels."""

USUAL: Final = 14.0
_PAGE: Final = 10
_STEPS: Final = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_PageUp: (-_PAGE, 0),
    Qt.Key.Key_PageDown: (_PAGE, 0),
}


class HeatMap(PictureMenu, QAbstractScrollArea):
    """`moved` carries the drawn row and column that the keyboard or a click went to, `entered` one that is wanted.

    A row or column of -1 means none.
    """

    moved = Signal(int, int)
    entered = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.content = MapContent()
        self._row = self._column = -1
        self.cell = USUAL
        """The width of a column in device-independent pixels."""
        self._zoomed = self._owed = False
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.setMinimumHeight(AXIS + ROW_HEIGHT)
        self.setAccessibleName(tr("Heat map: entries and turns"))

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_content(self, content: MapContent, *, fresh: bool = False) -> None:
        """Show other cells; `fresh` says that it is another chat, for which the width of columns is chosen anew."""
        self.content = content
        if fresh:
            self._zoomed = False
        if not self._zoomed:
            self.cell = self._fitting()
        self._size_bars()
        if self._owed:
            self.reveal()
        self._describe()
        self.viewport().update()

    def choose(self, row: int, column: int, *, reveal: bool = True) -> None:
        """Look at a cell, and scroll to it."""
        if (row, column) == (self._row, self._column):
            return
        self._row, self._column = row, column
        if reveal:
            self.reveal()
        self._describe()
        self.viewport().update()

    def reveal(self) -> None:
        """Scroll so that the chosen cell is in sight, a chosen column with a little room around it.

        Where no row is chosen and nothing of the column is in sight, what went into it comes into sight, also later.
        """
        at = self.geometry_now()
        if self._column >= 0:
            bar, room = self.horizontalScrollBar(), at.grid.width()
            left = self._column * self.cell
            margin = min(3 * self.cell, room / 4)
            bar.setValue(round(max(min(bar.value(), left - margin), left + self.cell + margin - room)))
        if self._row >= 0:
            bar, room = self.verticalScrollBar(), at.grid.height()
            top = self._row * ROW_HEIGHT
            bar.setValue(round(max(min(bar.value(), top), top + ROW_HEIGHT - room)))
        there = self.content.filled(self._column) if self._row < 0 else ()
        self._owed = self._row < 0 <= self._column and not there
        bar, high = self.verticalScrollBar(), max(1, int(at.grid.height() // ROW_HEIGHT))
        now = math.ceil(bar.value() / ROW_HEIGHT)
        if there and not any(now <= row < now + high for row in there):
            bar.setValue(ROW_HEIGHT * max(there, key=lambda top: sum(top <= row < top + high for row in there)))

    # ---- zoom -------------------------------------------------------------------------------------------------------

    def zoom(self, steps: int, at: float | None = None) -> None:
        """Make columns wider, or narrower for less than 0; what is at `at`, or the chosen turn, stays in its place."""
        place = min(range(len(ZOOMS)), key=lambda index: abs(ZOOMS[index] - self.cell))
        self.set_cell(ZOOMS[max(0, min(len(ZOOMS) - 1, place + steps))], at)

    def set_cell(self, cell: float, at: float | None = None) -> None:
        """Give columns this width, within the limits."""
        cell = max(ZOOMS[0], min(ZOOMS[-1], cell))
        geometry = self.geometry_now()
        if at is None:
            own = geometry.left_of(self._column) - geometry.titles if self._column >= 0 else -1.0
            at = own if 0 <= own <= geometry.grid.width() else geometry.grid.width() / 2
        column = (geometry.x + at) / self.cell
        self.cell, self._zoomed = cell, True
        self._size_bars()
        self.horizontalScrollBar().setValue(round(column * cell - at))
        self.viewport().update()

    def _fitting(self) -> float:
        """The width at which the whole chat is in sight, or the usual one where that would be too narrow for glyphs."""
        room = self.geometry_now().grid.width()
        wanted = room / max(1, len(self.content.columns))
        return max((zoom for zoom in ZOOMS if USUAL <= zoom <= wanted), default=USUAL)

    # ---- geometry ---------------------------------------------------------------------------------------------------

    def geometry_now(self) -> Geometry:
        """Where things stand at the moment."""
        wide, high = self.viewport().width(), self.viewport().height()
        titles = float(max(84, min(180, round(wide * 0.28))))
        bars = self.horizontalScrollBar().value(), self.verticalScrollBar().value()
        return Geometry(wide, high, titles, self.cell, *bars)

    def cell_at(self, point: QPointF) -> tuple[int, int]:
        """The drawn row and column at a point, -1 outside of rows or columns."""
        at = self.geometry_now()
        column = math.floor((point.x() - at.titles + at.x) / self.cell) if point.x() >= at.titles else -1
        row = math.floor((point.y() - at.top + at.y) / ROW_HEIGHT) if point.y() >= at.top else -1
        return (row if row < len(self.content.rows) else -1, column if column < len(self.content.columns) else -1)

    def _size_bars(self) -> None:
        at = self.geometry_now()
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        across.setRange(0, max(0, math.ceil(len(self.content.columns) * self.cell - at.grid.width())))
        across.setPageStep(max(1, round(at.grid.width())))
        across.setSingleStep(max(1, round(self.cell * 3)))
        down.setRange(0, max(0, math.ceil(len(self.content.rows) * ROW_HEIGHT - at.grid.height())))
        down.setPageStep(max(1, round(at.grid.height())))
        down.setSingleStep(ROW_HEIGHT)

    def _describe(self) -> None:
        row, column = self._row, self._column
        content = self.content
        if 0 <= row < len(content.rows) and 0 <= column < len(content.columns):
            text = content.describe(row, column)
        elif 0 <= column < len(content.columns):
            text = content.describe_column(column)
        else:
            text = f"{count(len(content.rows), 'entry', 'entries')}, {count(len(content.columns), 'turn', 'turns')}"
        tell(self, text)

    def minimumSizeHint(self) -> QSize:
        """Qt: a row."""
        return QSize(160, AXIS + ROW_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw what is in sight."""
        with QPainter(self.viewport()) as painter:
            drawing = MapDrawing(self._theme, self.font(), self.content, self.geometry_now())
            drawing.draw(painter, (self._row, self._column), focus=self.hasFocus())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: another part is in sight."""
        super().resizeEvent(event)
        if not self._zoomed:
            self.cell = self._fitting()
        self._size_bars()
        self.reveal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows go from cell to cell, Home and End to the first and last turn, Enter wants the cell."""
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
            return
        rows, columns = len(self.content.rows), len(self.content.columns)
        key = Qt.Key(event.key())
        if key in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self._column >= 0:
            self.entered.emit(self._row, self._column)
        elif key in {Qt.Key.Key_Home, Qt.Key.Key_End} and columns:
            self.moved.emit(self._row, 0 if key == Qt.Key.Key_Home else columns - 1)
        elif key in _STEPS and columns:
            down, across = _STEPS[key]
            row = max(0, min(rows - 1, self._row + down)) if down and rows else self._row
            if down and self._row < 0 and rows:
                row = 0 if down > 0 else rows - 1
            column = max(0, min(columns - 1, self._column + across)) if self._column >= 0 else columns - 1
            self.moved.emit(row, column)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: go to the cell."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._clicked(event.position())
        super().mousePressEvent(event)

    def _clicked(self, point: QPointF) -> None:
        """Go to the cell, or to the entry or turn alone on its title or bar."""
        row, column = self.cell_at(point)
        if row >= 0 or column >= 0:
            self.moved.emit(row if row >= 0 else self._row, column if column >= 0 else self._column)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt: the cell is wanted."""
        row, column = self.cell_at(event.position())
        if row >= 0 and column >= 0:
            self.entered.emit(row, column)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: Ctrl zooms around the pointer, Shift scrolls through the turns."""
        turned = event.angleDelta().y() or event.angleDelta().x()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if turned > 0 else -1, event.position().x() - self.geometry_now().titles)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - turned)
        else:
            super().wheelEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Qt: what is under the pointer, in words."""
        return shows_tip(self, event, self._words_at) or super().viewportEvent(event)

    def _words_at(self, point: QPoint) -> str:
        row, column = self.cell_at(QPointF(point))
        if column >= 0:
            return self.content.describe(row, column) if row >= 0 else self.content.describe_column(column)
        return self.content.titles[row] if row >= 0 else ""

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt: the chosen cell has the keyboard."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Qt: it has not any more."""
        super().focusOutEvent(event)
        self.viewport().update()


REFRESH_MS: Final = 120
"""While turns come in the views are filled at most so often."""

LOW: Final = 270
"""In less height (device-independent pixels) the line about the prompt cache gives way to the map."""

MAP, TURNS, ENTRIES, CACHE = range(4)
_ORDERS: Final = {
    RowOrder.FIRST: ("By turn", "Those that went in first come first"),
    RowOrder.OFTEN: ("By count", "Those that went in most often come first"),
    RowOrder.FOLDER: ("By folder", "Folder by folder"),
    RowOrder.TITLE: ("By title", "From A to Z"),
}


class TimelinePane(Pane):
    """Follows the chosen generation and entry. `jump` carries a generation and an entry's id (or None) to go to."""

    jump = Signal(object, object)

    def __init__(
        self, theme: Theme, session: Session, selection: Selection, feed: TimelineFeed, parent: QWidget | None = None
    ) -> None:
        super().__init__("timeline", tr("Timeline"), theme, parent)
        self._session, self._selection = session, selection
        self.feed = feed
        self.shown = Shown()
        self.content = MapContent()
        self._names = Names()
        self._fresh = self._stale = True
        self._seen = False
        self._refresh = later(self, self._fill, REFRESH_MS)
        self._build()
        self._connect()
        self._fill()

    def _build(self) -> None:
        theme = self.theme
        self.changes = self._line(tr("What changed"), links=True)
        self.cache = self._line(tr("Prompt cache"), "small")
        self.map = HeatMap(theme, self)
        self.turn_table, self.entry_table, self.cause_table = (place_table(self) for _ in range(3))
        self.causes = self._table(self.cause_table, tr("What costs the prompt cache"), self)
        self._whole, self._turns_place, self._entries_place = QWidget(self), QWidget(self), QWidget(self)
        pages = (self.map, tr("Map")), (self._turns_place, tr("Turns")), (self._entries_place, tr("Entries"))
        self.or_empty("list", self._whole)
        self.tabs = tabbed(self._whole, tr("Views of the timeline"), *pages, (self._cache_page(), tr("Cache")))
        place = QWidget(self._whole)
        TabCorner(self.tabs, self._corner(), place)
        tight(self.changes, self.cache, place, (self.tabs, 1), of=self._whole)
        self.pages.setMinimumSize(240, 24)
        self.pages.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.column.addWidget(self.pages, 1)

    def _line(self, name: str, kind: str = "", *, links: bool = False) -> QLabel:
        line = named(label(self, kind=kind, links=links, margins=(12, 2, 12, 2)), name)
        line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        return line

    def _cache_page(self) -> QWidget:
        self.totals, self.advice = self._line(tr("The whole chat")), self._line(tr("What to do"), "small")
        self.cache_bars = BarChart(self.theme, tr("What the prompt cache keeps of every turn"), self)
        self.cache_bars.setFixedHeight(5 * self.fontMetrics().height())
        self.legend = self._line(tr("What the bars show"), "small")
        parts = (self.totals, self.advice, self.cache_bars, self.legend, (self.causes, 1))
        self.causes.setMinimumHeight(6 * self.fontMetrics().height())
        return scrolled(holding(column(*parts, spacing=2, margins=(0, 4, 0, 0))), tr("The whole chat"))

    @cached_property
    def turns(self) -> RecordView:
        """A row a turn; made when somebody first turns to it, or asks for it."""
        return filling(self._turns_place, self._table(self.turn_table, tr("Turns as a table"), self._turns_place))

    @cached_property
    def entries(self) -> RecordView:
        """A row an entry; made as the one of turns."""
        name = tr("Entries and turns as a table")
        return filling(self._entries_place, self._table(self.entry_table, name, self._entries_place))

    def _table(self, model: RecordTable, name: str, parent: QWidget) -> RecordView:
        table = RecordView(self.theme, model, name, parent)
        table.activated.connect(self._row_entered)
        table.clicked.connect(self._row_entered)
        return table

    def _corner(self) -> QWidget:
        name = tr("Order of the entries")
        self.order = combo(self, name, {order: tr(words) for order, (words, _tip) in _ORDERS.items()})
        for place, (_words, tip) in enumerate(_ORDERS.values()):
            self.order.setItemData(place, tr(tip), Qt.ItemDataRole.ToolTipRole)
        self.order.activated.connect(lambda place: self.show_as(replace(self.shown, order=[*_ORDERS][place])))
        self.out = tool(self, tr("Narrower turns ([)"), partial(self.map.zoom, -1))
        self.into = tool(self, tr("Wider turns (])"), partial(self.map.zoom, 1))
        self.swipes = tool(self, tr("Show every swipe as a turn"), self.toggle_swipes, checkable=True)
        self.injected = tool(self, tr("Show only entries that went in"), self.toggle_injected, checkable=True)
        self.save = tool(self, tr("Save the timeline"))
        buttons = (self.out, self.into, self.swipes, self.injected, self.save)
        for button, icon in zip(buttons, ("minus", "plus", "columns", "check", "save"), strict=True):
            iconed(self.theme, button, icon)
        return holding(row(self.order, 1, *buttons, spacing=2, margins=0))

    def _connect(self) -> None:
        session, selection = self._session, self._selection
        self.map.moved.connect(self._go)
        self.map.entered.connect(self._enter)
        self.cache_bars.picked.connect(lambda column: self._go(-1, column))
        self.changes.linkActivated.connect(self._link)
        self.tabs.currentChanged.connect(lambda _page: self._fill_tab())
        self.feed.changed.connect(self._later)
        self.feed.replaced.connect(self._replaced)
        session.state_changed.connect(self._later)
        selection.generation_changed.connect(self._show_chosen)
        selection.entry_changed.connect(self._show_chosen)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def set_seen(self, seen: bool) -> None:
        """Whether somebody sees the pane: a tab behind another one is not seen, though Qt calls it visible."""
        self._seen = seen
        self.feed.watch(self.name, looks=seen, cache=True)
        if not seen:
            self._refresh.stop()
        elif self._stale:
            self._fill()

    def focus_target(self) -> QWidget:
        """The view that is shown."""
        if self.pages.currentWidget() is not self._whole:
            return self
        page = self.tabs.currentIndex()
        if page in {TURNS, ENTRIES}:
            return self.turns if page == TURNS else self.entries
        return self.causes if page == CACHE else self.map

    def show_as(self, shown: Shown) -> None:
        """Show other rows or columns, or the same in another order."""
        self.shown = shown
        self.order.setCurrentIndex(self.order.findData(self.shown.order))
        self.swipes.setChecked(self.shown.swipes)
        self.injected.setChecked(self.shown.only_injected)
        self._fill()

    def toggle_swipes(self) -> None:
        """Show every swipe as a turn, or one for each reply."""
        self.show_as(replace(self.shown, swipes=not self.shown.swipes))

    def toggle_injected(self) -> None:
        """Show only entries that went in, or candidates too."""
        self.show_as(replace(self.shown, only_injected=not self.shown.only_injected))

    def csv(self, *, entries: bool) -> Callable[[], bytes]:
        """What makes the table of entries or of turns for spreadsheets, in any thread; it is the table of now."""
        content, names = self.content.as_now(), self._names

        def make() -> bytes:
            cells = Cells(tuple(entry_columns(content) if entries else turn_columns(content, names)))
            return csv_bytes(cells.texts(range(len(content.rows if entries else content.turns))), grouped=True)

        return make

    # ---- filling ----------------------------------------------------------------------------------------------------

    def _later(self) -> None:
        self._stale = True
        if self._seen and not self._refresh.isActive():
            self._refresh.start()

    def _replaced(self) -> None:
        self._fresh = self._stale = True
        if self._seen:
            self._fill()

    def _fill(self) -> None:
        """Show what is known of the turns by now."""
        begun = time.perf_counter()
        self._fill_now()
        # Where there is much to sort, less often, so that a replay and the person get their share.
        spent = 1000 * (time.perf_counter() - begun)
        self._refresh.setInterval(max(REFRESH_MS, min(2000, round(8 * spent))))

    def _fill_now(self) -> None:
        self._refresh.stop()
        self._stale = False
        project, feed = self._session.project, self.feed
        if project is None or project.chat is None:
            self.content = MapContent()
            self.note_changed.emit("")
            text = tr("Open a chat to see which notes went into its replies, turn by turn.")
            self.say_empty(tr("No chat open"), text, (("chat.open", tr("Open chat…")),))
            return
        chosen = self._selection.generation
        self._names = Names.of(project.index, feed.turns.values())
        generations = shown_generations(feed.generations, feed.line, chosen, swipes=self.shown.swipes)
        last = len(project.chat.messages)
        self.content = make_content(
            feed.grid, feed.columns, feed.turns, generations, project.index, self.shown, feed.swiped, last
        )
        self.note_changed.emit(how_many(self.content))
        self.map.set_content(self.content, fresh=self._fresh)
        self._fresh = False
        self._show_page()
        self._tell_chosen()
        self._fill_tab()

    def _show_page(self) -> None:
        if not self._session.runs.traces and not self.feed.turns:
            if self._session.busy:
                self.say_empty(tr("The chat is being replayed"), tr("Turns appear here as they are run."))
            else:
                text = tr("Replay the chat to see which notes went into its replies, turn by turn.")
                self.say_empty(tr("No turn was run yet"), text, (("replay.all", tr("Replay all")),))
        elif not (turns := self.feed.turns) or (not self.content.rows and len(turns) < len(self._session.runs.traces)):
            self.say_empty(tr("Looking at the turns"), tr("They appear here in a moment."))
        elif not self.content.rows and self.shown.only_injected:
            text = tr("Nothing went into any turn. Show candidates too, to see what stopped them.")
            self.say_empty(tr("Nothing went in"), text, (("timeline.injected", tr("Show candidates too")),))
        elif not self.content.rows:
            choice = self._session.choice
            text = tr("No note was a candidate in any turn. The trace of a reply says which messages were searched.")
            if not words_of(choice.system).of_notes:
                text = tr("{system} had nothing to choose from in any turn. The trace of a reply says why.")
                text = text.format(system=choice.title)
            self.say_empty(tr("Nothing was found in this chat"), text)
        else:
            self.pages.setCurrentWidget(self._whole)

    def _fill_tab(self) -> None:
        page = self.tabs.currentIndex()
        if page in {TURNS, ENTRIES}:
            view, model = (self.turns, self.turn_table) if page == TURNS else (self.entries, self.entry_table)
            places = view.horizontalScrollBar().value(), view.verticalScrollBar().value()
            turns, rows = len(self.content.turns), len(self.content.rows)
            if page == TURNS:
                model.set_rows(range(turns), turn_columns(self.content, self._names))
            else:
                model.set_rows(range(rows), entry_columns(self.content))
            view.horizontalScrollBar().setValue(places[0])
            view.verticalScrollBar().setValue(places[1])
            self._show_rows()
        elif page == CACHE:
            totals = self.feed.totals
            self.cause_table.set_rows(totals.causes, cause_columns(totals))
            self.totals.setText(totals_text(totals))
            bars = tr(
                "Each prompt, from below: kept, new messages (blue), read again because of placed texts (purple)."
            )
            if self.feed.whole_prompts:
                counted = tr("Counted is the whole prompt: frame, card, persona, notes, lore and chat.")
            else:
                counted = tr("In a chat this long only lore and chat are counted.")
            self.legend.setText(f"{bars} {counted}")
            show_words(self.advice, advice(totals.causes))
            self.cache_bars.set_bars(self._cache_bars())
            self.cache_bars.choose(self.content.column_of(self._selection.generation))
            self.causes.setVisible(bool(totals.causes))

    def _cache_bars(self) -> Bars:
        content = self.content
        caches = [turn.cache if turn is not None else None for turn in content.turns]

        def layer(fill: str, read: Callable[[CacheTurn], int]) -> Layer:
            return Layer(fill, np.array([read(each) if each is not None else 0 for each in caches], dtype=float))

        layers = (
            layer("grey", lambda each: each.kept), layer("sky", lambda each: each.new),
            layer("purple", lambda each: each.by_lore),
        )  # fmt: skip
        return Bars(layers, label=content.label, words=lambda place: cache_bar_words(content, place))

    def _show_chosen(self) -> None:
        chosen, content = self._selection.generation, self.content
        if chosen is not None and chosen in self.feed.columns and chosen not in content.generations and content.columns:
            self._fill()  # another swipe of a reply is looked at
        else:
            self._tell_chosen()

    def _tell_chosen(self) -> None:
        chosen, content = self._selection.generation, self.content
        column = content.column_of(chosen)
        self.map.choose(content.row_of(self._selection.entry), column)
        self.cache_bars.choose(column)
        turn = self.feed.turns.get(chosen) if chosen is not None else None
        if turn is None:
            self.changes.setText(tr("This reply was not run yet.") if chosen is not None else tr("Choose a reply."))
            self.cache.setText("")
        else:
            before, sent = self._name(turn.before), self._name(turn.sent_before)
            names = self._names
            self.changes.setText(changes_html(turn, before, names.title, names.id))
            self.changes.setToolTip(plain(changes_text(turn.changes, names.title)))
            self.cache.setText(cache_text(turn, tr("as at {reply}", reply=sent)))
        self._show_lines()
        self._show_rows()

    def _show_lines(self) -> None:
        """In little height the map needs the room; what is left out then is in the table of turns."""
        self.cache.setVisible(bool(self.cache.text()) and self.height() >= LOW)

    def _name(self, generation: Generation | None) -> str:
        if generation is None:
            return ""
        several = generation.message in self.content.swiped
        return f"#{generation.message}" + (f" ‹{generation.swipe + 1}›" if several else "")

    def _show_rows(self) -> None:
        """The table that is turned to follows what is looked at."""
        content, page = self.content, self.tabs.currentIndex()
        if page not in {TURNS, ENTRIES}:
            return
        view = self.turns if page == TURNS else self.entries
        chosen = self._selection
        place = content.column_of(chosen.generation) if page == TURNS else content.row_of(chosen.entry)
        index = view.model().index(place, max(0, view.currentIndex().column()))
        if view.currentIndex().row() != place and index.isValid():
            view.setCurrentIndex(index)

    # ---- going ------------------------------------------------------------------------------------------------------

    def _go(self, row: int, column: int) -> None:
        if 0 <= column < len(self.content.generations):
            self.jump.emit(self.content.generations[column], self.content.entry(row))

    def _enter(self, row: int, column: int) -> None:
        self._go(row, column)
        if self.content.entry(row) is not None:
            self.wanted.emit("trace.why")

    def _row_entered(self, index: QModelIndex) -> None:
        content = self.content
        if self.tabs.currentIndex() == TURNS:
            self.jump.emit(content.generations[index.row()], None)
        elif self.tabs.currentIndex() == ENTRIES:
            place = index.column() - TOTALS
            turn = content.generations[place] if place >= 0 else self._selection.generation
            self.jump.emit(turn, content.entry(index.row()))
        elif (key := self.cause_table.row(index.row()).key) is not None:
            self.jump.emit(self._selection.generation, self._names.id(key))

    def _link(self, link: str) -> None:
        number = link.removeprefix("entry:")
        if number.isdecimal():
            self.jump.emit(self._selection.generation, int(number))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrow pane has room for fewer buttons."""
        wide = event.size().width() >= 500
        self.out.setVisible(wide)
        self.into.setVisible(wide)
        self.order.setMaximumWidth(140 if wide else 92)
        self._show_lines()
