"""The memories pane: the work and its state on top, below it the memories, the passages and the profile.

Memories are filtered by words, whose they are, tag and pin, and put in order; the chosen one stands below them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QSizePolicy, QToolButton, QWidget

from lorestudio.domain.texts import shorten
from lorestudio.systems.facts.picture import FactsPicture, MemoryRow
from lorestudio.ui.features.facts.extraction import Under
from lorestudio.ui.features.facts.origins import MemoryDetail, PassagePage, ProfilePage
from lorestudio.ui.features.facts.store import Hits
from lorestudio.ui.features.facts.table import ORDERS, SIMILARITY, USES, WHEN, MemoryTable, MemoryView, usual_direction
from lorestudio.ui.shell.actions import Commands
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.layouts import (
    SearchField,
    able,
    column,
    combo,
    iconed,
    menu_of,
    named,
    row,
    show_words,
    split,
    tight,
    tool,
)
from lorestudio.ui.widgets.pane import EmptyState, FilterStrip, FoldingRow
from lorestudio.ui.widgets.work_pane import WorkPane

_TAGS_MOST: Final = 200
"""More tags than this make no list that anybody reads; the field finds the others."""


class FilterBar(FoldingRow):
    """`changed` follows what is beside the `field` with the words, `searched` carries those on Enter.

    `scoped` says whether memories of all chats are wanted, `ordered` carries a column.
    """

    changed = Signal()
    searched = Signal(str)
    scoped = Signal(bool)
    ordered = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        upper, lower = QWidget(parent), QWidget(parent)
        super().__init__(upper, lower, parent, margins=(8, 2, 8, 2))
        self.field = SearchField(self, tr("Filter by words, or search by meaning"), tr("Words; Enter: by meaning"))
        find_tip = tr("List the memories most similar to this text (Enter)")
        self.find_button = iconed(theme, tool(self, tr("Search by meaning"), self._search, tip=find_tip), "search")
        self.scope = self._combo(tr("Whose memories"), (tr("This chat"), tr("All chats")))
        self.tag = self._combo(tr("Only with this tag"), (tr("All tags"),))
        self.order = iconed(theme, QToolButton(self), "list")
        self.orders = menu_of(self.order)
        for place, words in ORDERS.items():
            act = self.orders.addAction(tr(words))
            act.setCheckable(True)
            act.setData(place)
        self.only_pinned = named(QCheckBox(tr("Pinned"), self), "", tr("List pinned memories only"))
        upper.setLayout(row((self.field, 1), self.find_button, self.order, spacing=4, margins=0))
        lower.setLayout(row((self.scope, 1), (self.tag, 1), self.only_pinned, spacing=4, margins=0))
        self.field.returnPressed.connect(self._search)
        self.scope.activated.connect(lambda place: self.scoped.emit(place == 1))
        self.tag.activated.connect(lambda _place: self.changed.emit())
        self.only_pinned.clicked.connect(lambda _on: self.changed.emit())
        self.orders.triggered.connect(lambda act: self.ordered.emit(int(act.data())))

    def _combo(self, name: str, items: tuple[str, ...]) -> QComboBox:
        box = combo(self, name, least=4)
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        box.addItems(list(items))
        return box

    @property
    def chosen_tag(self) -> str:
        """The tag that memories must have, "" for any."""
        return self.tag.currentText() if self.tag.currentIndex() > 0 else ""

    def show_tags(self, tags: tuple[str, ...]) -> None:
        """Offer these tags; the chosen one stays where it is among them."""
        tags = tags[:_TAGS_MOST]
        if [self.tag.itemText(place) for place in range(1, self.tag.count())] == list(tags):
            return
        chosen = self.chosen_tag
        self.tag.clear()
        self.tag.addItems([tr("All tags"), *tags])
        self.tag.setCurrentIndex(tags.index(chosen) + 1 if chosen in tags else 0)

    def show_order(self, place: int, *, without: Collection[int]) -> None:
        """Show what the list is ordered by; the columns `without` are not offered."""
        name = tr("Order of the list: {order}", order=tr(ORDERS[place]))
        named(self.order, name, name)
        for act in self.orders.actions():
            act.setChecked(act.data() == place)
            act.setVisible(act.data() not in without)

    def write(self, text: str) -> None:
        """Put words into the field; nothing is emitted about them."""
        with QSignalBlocker(self.field):
            self.field.setText(text)

    def clear(self) -> None:
        """Let everything through."""
        self.only_pinned.setChecked(False)
        self.tag.setCurrentIndex(0)
        self.write("")

    def _search(self) -> None:
        self.searched.emit(self.field.text())


BESIDE: Final = ((520, 330), (640, 560))
"""A page at least as wide, and not as high (device-independent pixels), has the chosen memory beside the list."""


class MemoryPage(QWidget):
    """`cleared` follows the end of a search by meaning, which the `bar` asks for.

    `chosen` carries the row that is looked at or None, `wanted` an action's id.
    """

    cleared = Signal()
    chosen = Signal(object)
    wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Memories"))
        self._picture: FactsPicture | None = None
        self._quotes = False
        self._hits: Hits | None = None
        self._searching = False
        self._order, self._descending = WHEN, True
        self._before = (WHEN, True)
        self.bar = FilterBar(theme, self)
        self.strip = FilterStrip(theme, self)
        self.model = MemoryTable(theme, self)
        listed = QWidget(self)
        self.splitter = split(listed, of=self, stretch=0)
        self.view = MemoryView(theme, self.model, listed)
        self.empty = EmptyState(theme, "star", listed)
        column(self.view, self.empty, of=listed, margins=(0, 2, 0, 0))
        self.detail = MemoryDetail(theme, self.splitter)
        tight(self.bar, self.strip, (self.splitter, 1), of=self)
        self._connect()
        self.detail.hide()
        self.order_by(WHEN)

    def _connect(self) -> None:
        self.bar.field.textChanged.connect(self._typed)
        self.bar.changed.connect(self._fill)
        self.bar.ordered.connect(self.order_by)
        self.view.horizontalHeader().sectionClicked.connect(self._head_clicked)
        self.view.chosen.connect(self._choose)
        self.view.pressed.connect(lambda _row: self.wanted.emit("memories.edit"))
        self.strip.cleared.connect(self.cleared)
        self.empty.pressed.connect(self._press)
        self.detail.left.connect(self.view.setFocus)

    # ---- what is shown ----------------------------------------------------------------------------------------------

    @property
    def current(self) -> MemoryRow | None:
        """The memory that is looked at."""
        row: MemoryRow | None = self.view.current
        return row

    def show_picture(self, picture: FactsPicture | None, *, chat: bool) -> None:
        """Show the memories as they are now; without a chat they are those of all."""
        self._picture = picture
        if picture is not None:
            able(self.bar.scope, chat, tr("Open a chat or begin a new one first."))
            self.bar.scope.setCurrentIndex(int(picture.everything))
            self.bar.show_tags(picture.tags)
        self.model.set_rows(picture.rows if picture is not None else ())
        self._fill()

    def show_hits(self, hits: Hits | None, searching: str) -> None:
        """Show what a search found, that it is under way, or all again."""
        found, had = hits is not None, self._hits is not None
        self._hits, self._searching = hits, bool(searching)
        self.model.scores = hits.scores if hits is not None else {}
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
            self.order_by(self._order, self._descending)

    def show_uses(self, uses: Mapping[str, int] | None) -> None:
        """Show in how many replies of the run each memory went; None where no run of fact memory is shown."""
        self.model.uses = uses
        if uses is None and self._order == USES:
            self.order_by(WHEN)
        else:
            self.order_by(self._order, self._descending)

    def order_by(self, place: int, descending: bool | None = None) -> None:
        """Put the list in the order of a column; that of the same one again turns round."""
        self._order = place
        self._descending = usual_direction(place) if descending is None else descending
        known = {SIMILARITY: self._hits is not None, USES: self.model.uses is not None}
        without = [each for each, there in known.items() if not there]
        self.bar.show_order(place, without=without)
        self.view.go_without(without)
        direction = Qt.SortOrder.DescendingOrder if self._descending else Qt.SortOrder.AscendingOrder
        self.view.horizontalHeader().setSortIndicator(place, direction)
        self.model.sort(place, direction)
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

    def _fill(self) -> None:
        """List what the bar lets through; the words of a search by meaning are no filter."""
        words = self.bar.field.text() if self._hits is None and not self._searching else ""
        scores = self._hits.scores if self._hits is not None else None
        tag, pinned = self.bar.chosen_tag, self.bar.only_pinned.isChecked()

        def passes(row: MemoryRow) -> bool:
            found = scores is None or row.id in scores
            return found and (not pinned or bool(row.memory.pinned)) and (not tag or tag in row.memory.tag_names)

        self.model.set_filter(words)
        self.model.show_only(passes)
        shown = bool(self.model.rows)
        self.view.setVisible(shown)
        self.empty.setVisible(not shown)
        if not shown:
            self._say_empty(filtered=bool(words.strip() or tag or pinned))

    def use_rules(self, quotes: bool) -> None:
        """Whether no model draws facts out, but plain rules take sentences as they stand."""
        if quotes != self._quotes:
            self._quotes = quotes
            self._fill()

    def _say_empty(self, *, filtered: bool) -> None:
        picture = self._picture
        everything = (("all", tr("List all memories")),)
        if picture is None:
            self.empty.say(tr("Reading the memories…"), "")
        elif self._hits is not None and not filtered:
            self.empty.say(tr("Nothing found"), tr("No memory has a vector to compare."), everything)
        elif picture.rows:
            self.empty.say(tr("Nothing fits"), tr("No memory has these words, this tag and this pin."), everything)
        elif picture.waiting:
            waits = count(picture.waiting, "passage of it waits", "passages of it wait")
            text = tr("{waits} to be read. Facts are drawn out of them and kept as memories.", waits=waits)
            doors: tuple[tuple[str, str], ...] = (("memories.extract", tr("Draw out facts")),)
            if self._quotes:
                text = tr(
                    "{waits} to be read. A model draws facts out of them. Without one, plain rules take sentences with "
                    "words such as “I” and “my” as they stand, which is often half of what was meant.",
                    waits=waits,
                )
                doors = (("profiles.edit", tr("Connect a model…")), ("memories.extract", tr("Take sentences")))
            self.empty.say(tr("No memories of this chat yet"), text, doors)
        elif picture.everything:
            text = tr("Open a chat and have its facts drawn out: who promised what, who owns what.")
            self.empty.say(tr("No memories yet"), text, (("chat.open", tr("Open chat…")),))
        elif not picture.total:
            text = tr("Its passages held no facts. Choose who reads them, and have them read once more.")
            again = (("memories.again", tr("Read the whole chat again…")),)
            self.empty.say(tr("No memories of this chat"), text, again)
        else:
            elsewhere = count(picture.total, "memory", "memories")
            text = tr("Its passages held no facts. There are {amount} in all.", amount=elsewhere)
            self.empty.say(tr("No memories of this chat"), text, (("scope", tr("Show those of all chats")),))

    def _choose(self, row: MemoryRow | None) -> None:
        there = row is not None
        if there != self.detail.isVisibleTo(self):
            self.detail.setVisible(there)
            if there:
                self._divide()
        self.chosen.emit(row)

    def _divide(self) -> None:
        """The list and the chosen memory share the room."""
        size = self.splitter.width() if self.splitter.orientation() == Qt.Orientation.Horizontal else self.height()
        self.splitter.setSizes([size * 11 // 20, size * 9 // 20])

    def _press(self, name: str) -> None:
        if name == "all":
            self.show_all()
        elif name == "scope":
            self.bar.scoped.emit(True)
        else:
            self.wanted.emit(name)

    def _typed(self, text: str) -> None:
        if self._hits is None:
            self._fill()
        elif not text:
            self.cleared.emit()

    def _head_clicked(self, place: int) -> None:
        self.order_by(place, not self._descending if place == self._order else None)

    def note(self) -> str:
        """What is listed, in a few words for the title."""
        picture = self._picture
        if picture is None:
            return ""
        listed, there = len(self.model.rows), len(picture.rows)
        memories = count(there, "memory", "memories")
        return memories if listed == there else tr("{listed} of {memories}", listed=number(listed), memories=memories)

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Qt: a wide and low page has the chosen memory beside the list."""
        beside = any(self.width() >= wide and self.height() < low for wide, low in BESIDE)
        wanted = Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical
        if wanted != self.splitter.orientation():
            self.splitter.setOrientation(wanted)
            self._divide()


class MemoriesPane(WorkPane):
    """Shows what it is given. `again` follows the wish to read once more after a problem."""

    menu = (
        "memories.again", "memories.refresh", "memories.reload", "", "memories.undo", "memories.copy_all", "",
        "memories.settings",
    )  # fmt: skip

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("memories", tr("Memories"), theme, "star", parent)
        names = ("memories.extract", "memories.stop", "memories.settings")
        tip = tr("Read the chat again, refresh vectors, take a deletion back")
        self._set_head(names, ("memories.extract", "memories.stop"), tr("More about memories"), tip)
        self.memories, self.passages = MemoryPage(theme, self.parts), PassagePage(theme, self.parts)
        self.profile = ProfilePage(theme, self.parts)
        self.search_field = self.memories.bar.field
        self.tabs.setAccessibleName(tr("Parts of fact memory"))
        for page in (self.memories, self.passages, self.profile):
            self.tabs.addTab(page, page.accessibleName())
        self.memories.wanted.connect(self.wanted)
        for page in (self.passages, self.profile):
            page.empty.pressed.connect(self.wanted)
        self._shown: tuple[FactsPicture | None, bool, bool] | None = None
        self.progress.setAccessibleName(tr("Progress of fact memory"))
        self.refresh = self.notice_button
        self.refresh.setText(tr("Refresh"))
        self.refresh.setAccessibleName(tr("Refresh vectors"))
        self.refresh.clicked.connect(lambda: self.wanted.emit("memories.refresh"))

    def use_actions(self, commands: Commands) -> None:
        """Take the window's actions for the buttons."""
        commands.actions["memories.stop"].setIconText(tr("Stop"))
        super().use_actions(commands)

    def open_search(self) -> bool:
        """Give the keyboard to the field that filters and searches."""
        if self.pages.currentWidget() is self.empty:
            return False
        self.tabs.setCurrentWidget(self.memories)
        return super().open_search()

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def show_picture(self, picture: FactsPicture | None, problem: str, *, chat: bool, chat_known: bool) -> None:
        """Show the memories, or why there are none."""
        if problem:
            buttons = (("again", tr("Try again")), ("memories.settings", tr("Settings of fact memory")))
            self.empty.say(tr("The memories cannot be read"), problem, buttons)
        elif picture is None:
            self.empty.say(tr("Reading the memories…"), "")
        there = picture if not problem else None
        self.pages.setCurrentWidget(self.empty if there is None else self._whole)
        before, self._shown = self._shown, (there, chat, chat_known)
        if before is not None and before[0] is there and before[1:] == (chat, chat_known):
            return  # thousands of rows need not be put in order again
        self.memories.show_picture(there, chat=chat_known)
        self.passages.show_picture(there, chat_known=chat_known, chat=chat)
        self.profile.show_picture(there)
        waiting = there.waiting if there is not None else 0
        title = tr("Passages ({waiting} waiting)", waiting=number(waiting)) if waiting else tr("Passages")
        self.tabs.setTabText(1, title)
        stale = there.stale if there is not None else 0
        self.notice.setVisible(bool(stale))
        vectors = count(stale, "vector is", "vectors are")
        self.notice_text.setText(tr("{vectors} stale: another model made them, or none. They take no part in searches "
                                    "and prompts.", vectors=vectors))  # fmt: skip
        self.note_changed.emit(self.memories.note())

    def show_work(self, under: Under, idle: str, asked: str, spoken: str, *, quotes: bool) -> None:
        """Show how far the work is, what there is to say without any, and who draws facts out: in short, in full.

        `quotes` says that nobody does: plain rules take sentences as they stand.
        """
        self.memories.use_rules(quotes)
        show_words(self.state, under.sentence or idle)
        busy = bool(under.kind)
        for name in ("memories.stop", "memories.extract") if not busy else ("memories.extract", "memories.stop"):
            self.buttons[name].setVisible(busy == (name == "memories.stop"))  # never both, which would be too wide
        self.progress.setVisible(bool(under.kind))
        self.progress.setRange(0, under.of)  # none known yet: it only moves
        self.progress.setValue(under.done)
        self.progress.setAccessibleDescription(under.sentence)
        able(self.refresh, not under.kind, tr("Wait for the work under way, or stop it first."))
        self.passages.show_work(under.passage, busy=bool(under.kind))
        self._say_asked(asked, tr("Facts are drawn out by: {who}", who=spoken), spoken)
