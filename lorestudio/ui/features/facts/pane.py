"""The memories pane: the work and its state on top, below it the memories, the passages and the profile."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from lorestudio.systems.facts.picture import FactsPicture
from lorestudio.ui.features.facts.extraction_worker import Under
from lorestudio.ui.features.facts.list_page import MemoryPage
from lorestudio.ui.features.facts.origins import PassagePage, ProfilePage
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.work_pane import WorkPane


class MemoriesPane(WorkPane):
    """Shows what it is given. `wanted` carries an action's id, `seen` whether somebody looks.

    `again` follows the wish to read once more after a problem.
    """

    seen = Signal(bool)
    menu = (
        "memories.again", "memories.refresh", "memories.reload", "", "memories.undo", "memories.copy_all", "",
        "memories.settings",
    )  # fmt: skip

    def __init__(self, theme: Theme) -> None:
        super().__init__("memories", tr("Memories"), theme, "star")
        self._set_head(
            ("memories.extract", "memories.stop", "memories.settings"),
            ("memories.extract", "memories.stop"),
            tr("More about memories"),
            tr("Read the chat again, refresh vectors, take a deletion back"),
            beside=True,
        )
        self.memories, self.passages, self.profile = MemoryPage(theme), PassagePage(theme), ProfilePage(theme)
        self.tabs.setAccessibleName(tr("Parts of fact memory"))
        self.tabs.addTab(self.memories, tr("Memories"))
        self.tabs.addTab(self.passages, tr("Passages"))
        self.tabs.addTab(self.profile, tr("Profile"))
        self.memories.wanted.connect(self.wanted)
        for page in (self.passages, self.profile):
            page.empty.pressed.connect(self.wanted)
        self._shown: tuple[FactsPicture | None, bool, bool] | None = None
        self.progress.setAccessibleName(tr("Progress of fact memory"))
        self.refresh = self.notice_button
        self.refresh.setText(tr("Refresh"))
        self.refresh.setAccessibleName(tr("Refresh vectors"))
        self.refresh.clicked.connect(lambda: self.wanted.emit("memories.refresh"))
        self.empty.say(tr("Reading the memories…"), "")

    def use_actions(self, actions: Mapping[str, QAction]) -> None:
        """Take the window's actions for the buttons."""
        actions["memories.stop"].setIconText(tr("Stop"))
        super().use_actions(actions)

    def focus_target(self) -> QWidget:
        """The rows of the part that is shown, or the field above them."""
        if self._pages.currentWidget() is self.empty:
            return self
        page = self.tabs.currentWidget()
        for widget in (getattr(page, "view", None), self.memories.bar.field):
            if isinstance(widget, QWidget) and widget.isVisible():
                return widget
        return self.tabs.tabBar()

    def open_search(self) -> bool:
        """Give the keyboard to the field that filters and searches."""
        if self._pages.currentWidget() is self.empty:
            return False
        self.tabs.setCurrentWidget(self.memories)
        self.memories.bar.field.setFocus()
        self.memories.bar.field.selectAll()
        return True

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def show_picture(self, picture: FactsPicture | None, problem: str, *, chat: bool, chat_known: bool) -> None:
        """Show the memories, or why there are none."""
        if problem:
            buttons = (("again", tr("Try again")), ("memories.settings", tr("Settings of fact memory")))
            self.empty.say(tr("The memories cannot be read"), problem, buttons)
        elif picture is None:
            self.empty.say(tr("Reading the memories…"), "")
        there = picture if not problem else None
        self._pages.setCurrentWidget(self.empty if there is None else self._whole)
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
        self.state.setText(under.sentence or idle)
        busy = bool(under.kind)
        for name in ("memories.stop", "memories.extract") if not busy else ("memories.extract", "memories.stop"):
            self.buttons[name].setVisible(busy == (name == "memories.stop"))  # never both, which would be too wide
        self.progress.setVisible(bool(under.kind))
        self.progress.setRange(0, under.of)  # none known yet: it only moves
        self.progress.setValue(under.done)
        self.progress.setAccessibleDescription(under.sentence)
        self.refresh.setEnabled(not under.kind)
        self.passages.show_work(under.passage, busy=bool(under.kind))
        self._say_asked(asked, tr("Facts are drawn out by: {who}", who=spoken), spoken)

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: somebody looks."""
        super().showEvent(event)
        self.seen.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Qt: nobody looks any more."""
        super().hideEvent(event)
        self.seen.emit(False)
