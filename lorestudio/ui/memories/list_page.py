"""The page of memories: what is listed, in which order, and the chosen one below."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.facts.picture import FactsPicture, MemoryRow
from lorestudio.ui.memories.detail import MemoryDetail
from lorestudio.ui.memories.filter_bar import FilterBar
from lorestudio.ui.memories.place import Hits
from lorestudio.ui.memories.table import (
    SIMILARITY,
    WHEN,
    Filter,
    MemoryTable,
    MemoryView,
    in_order,
    usual_direction,
)
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.empty import EmptyState
from lorestudio.ui.widgets.filter_strip import FilterStrip
from lorestudio.ui.words import count, number, shorten, tr

BESIDE: Final = ((520, 330), (640, 560))
"""A page at least as wide, and not as high (device-independent pixels), has the chosen memory beside the list."""


class MemoryPage(QWidget):
    """`searched` carries a text to search by meaning, `cleared` follows its end, `scoped` whether all are wanted.

    `menu_wanted` carries where on the screen a menu is asked for, `chosen` the row that is looked at or None, `wanted`
    an action's id.
    """

    searched = Signal(str)
    cleared = Signal()
    scoped = Signal(bool)
    menu_wanted = Signal(QPoint)
    chosen = Signal(object)
    wanted = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(tr("Memories"))
        self._picture: FactsPicture | None = None
        self._hits: Hits | None = None
        self._searching = False
        self._order, self._descending = WHEN, True
        self._before = (WHEN, True)
        self.bar = FilterBar(theme, self)
        self.strip = FilterStrip(self)
        self.model = MemoryTable(theme, self)
        self.view = MemoryView(theme, self.model, self)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.empty = EmptyState(theme, "star", self)
        self.detail = MemoryDetail(theme, self)
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._build()
        self._connect()
        self.detail.hide()
        self.order_by(WHEN)

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(self.strip)
        upper = QWidget(self)
        stack = QVBoxLayout(upper)
        stack.setContentsMargins(0, 2, 0, 0)
        stack.addWidget(self.view)
        stack.addWidget(self.empty)
        self.splitter.addWidget(upper)
        self.splitter.addWidget(self.detail)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 0)
        self.splitter.setChildrenCollapsible(False)
        column.addWidget(self.splitter, 1)

    def _connect(self) -> None:
        self.bar.typed.connect(self._typed)
        self.bar.changed.connect(self._fill)
        self.bar.searched.connect(self.searched)
        self.bar.scoped.connect(self.scoped)
        self.bar.ordered.connect(self.order_by)
        self.bar.left.connect(self.view.setFocus)
        self.view.horizontalHeader().sectionClicked.connect(self._head_clicked)
        self.view.customContextMenuRequested.connect(
            lambda place: self.menu_wanted.emit(self.view.viewport().mapToGlobal(place))
        )
        self.view.chosen.connect(self._choose)
        self.view.pressed.connect(lambda _row: self.wanted.emit("memories.edit"))
        self.strip.cleared.connect(self.cleared)
        self.empty.pressed.connect(self._press)
        self.detail.left.connect(self.view.setFocus)

    # ---- what is shown ----------------------------------------------------------------------------------------------

    @property
    def current(self) -> MemoryRow | None:
        """The memory that is looked at."""
        row = self.view.current
        return row if isinstance(row, MemoryRow) else None

    @property
    def filter(self) -> Filter:
        """What is let through. The words of a search by meaning are no filter."""
        return self.bar.filter(words=self._hits is None and not self._searching)

    def show_picture(self, picture: FactsPicture | None, *, chat: bool) -> None:
        """Show the memories as they are now; without a chat they are those of all."""
        self._picture = picture
        if picture is not None:
            self.bar.show_scope(everything=picture.everything, chat=chat)
            self.bar.show_tags(picture.tags)
        self._fill()

    def show_hits(self, hits: Hits | None, searching: str) -> None:
        """Show what a search found, that it is under way, or all again."""
        found, had = hits is not None, self._hits is not None
        self._hits, self._searching = hits, bool(searching)
        self.model.scores = hits.scores if hits is not None else {}
        self.view.show_scores(shown=found)
        if searching:
            self.strip.say(tr("searching for “{what}”…", what=shorten(searching, 60)))
        elif hits is not None:
            self.strip.say(tr("the most similar to “{what}”", what=shorten(hits.text, 60)))
        else:
            self.strip.hide()
        if found and not had:
            self._before = (self._order, self._descending)
            self.order_by(SIMILARITY)
        elif had and not found:
            self.bar.write("")
            self.order_by(*self._before)
        else:
            self._fill()

    def order_by(self, column: int, descending: bool | None = None) -> None:
        """Put the list in the order of a column; that of the same one again turns round."""
        self._order = column
        self._descending = usual_direction(column) if descending is None else descending
        self.bar.show_order(column, scored=self._hits is not None)
        direction = Qt.SortOrder.DescendingOrder if self._descending else Qt.SortOrder.AscendingOrder
        self.view.horizontalHeader().setSortIndicator(column, direction)
        self._fill()

    def choose(self, memory: str) -> bool:
        """Look at a memory, past any filter; False where it is not listed."""
        if self.model.place_of(memory) < 0:
            self.show_all()
        self.view.choose(memory)
        return self.model.place_of(memory) >= 0

    def show_all(self) -> None:
        """Take away what keeps memories from being listed."""
        self.bar.clear()
        if self._hits is not None:
            self.cleared.emit()
        self._fill()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        rows = self._picture.rows if self._picture is not None else ()
        if self._hits is not None:
            scores = self._hits.scores
            rows = tuple(row for row in rows if row.id in scores)
        chosen = self.filter
        shown = rows if chosen.empty else tuple(row for row in rows if chosen.passes(row))
        self.model.set_rows(in_order(shown, self._order, self.model.scores, descending=self._descending))
        self.view.setVisible(bool(shown))
        self.empty.setVisible(not shown)
        if not shown:
            self._say_empty(chosen)

    def _say_empty(self, chosen: Filter) -> None:
        picture = self._picture
        everything = (("all", tr("List all memories")),)
        if picture is None:
            self.empty.say(tr("Reading the memories…"), "")
        elif self._hits is not None and chosen.empty:
            self.empty.say(tr("Nothing found"), tr("No memory has a vector to compare."), everything)
        elif picture.rows:
            self.empty.say(tr("Nothing fits"), tr("No memory has these words, this tag and this pin."), everything)
        elif picture.waiting:
            waits = count(picture.waiting, "passage of it waits", "passages of it wait")
            text = tr("{waits} to be read. Facts are drawn out of them and kept as memories.", waits=waits)
            self.empty.say(tr("No memories of this chat yet"), text, (("memories.extract", tr("Draw out facts")),))
        elif picture.everything:
            text = tr("Open a chat and have its facts drawn out: who promised what, who owns what.")
            self.empty.say(tr("No memories yet"), text)
        elif not picture.total:
            text = tr("Its passages held no facts. Choose who reads them, and have them read once more.")
            again = (("memories.again", tr("Read the whole chat again…")),)
            self.empty.say(tr("No memories of this chat"), text, again)
        else:
            elsewhere = count(picture.total, "memory", "memories")
            text = tr("Its passages held no facts. There are {amount} in all.", amount=elsewhere)
            self.empty.say(tr("No memories of this chat"), text, (("scope", tr("Show those of all chats")),))

    def _choose(self, row: object) -> None:
        there = row is not None
        if there != self.detail.isVisibleTo(self):
            self.detail.setVisible(there)
            if there:
                self._divide()
        self.chosen.emit(row)

    def _divide(self) -> None:
        """The list and the chosen memory share the room; the list keeps the chosen row in sight."""
        size = self.splitter.width() if self.splitter.orientation() == Qt.Orientation.Horizontal else self.height()
        self.splitter.setSizes([size * 11 // 20, size * 9 // 20])
        QTimer.singleShot(0, self.view, lambda: self.view.scrollTo(self.view.currentIndex()))

    def _press(self, name: str) -> None:
        if name == "all":
            self.show_all()
        elif name == "scope":
            self.scoped.emit(True)
        else:
            self.wanted.emit(name)

    def _typed(self, text: str) -> None:
        if self._hits is None:
            self._fill()
        elif not text:
            self.cleared.emit()

    def _head_clicked(self, column: int) -> None:
        self.order_by(column, not self._descending if column == self._order else None)

    def note(self) -> str:
        """What is listed, in a few words for the title."""
        picture = self._picture
        if picture is None:
            return ""
        listed, there = len(self.model.rows), len(picture.rows)
        memories = count(there, "memory", "memories")
        return memories if listed == there else tr("{listed} of {memories}", listed=number(listed), memories=memories)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a wide and low page has the chosen memory beside the list."""
        super().resizeEvent(event)
        beside = any(self.width() >= wide and self.height() < low for wide, low in BESIDE)
        wanted = Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical
        if wanted != self.splitter.orientation():
            self.splitter.setOrientation(wanted)
            self._divide()
