"""The recap pane: the work and its state on top, below it messages, scenes, versions, the prompt and the queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import (
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.recap.overview import RecapState
from lorestudio.studio.recap.picture import QueuePicture, RecapPicture
from lorestudio.ui.recap.desk import NoRecaps
from lorestudio.ui.recap.message_page import MessagePage
from lorestudio.ui.recap.prompt_page import PromptPage
from lorestudio.ui.recap.queue_page import QueuePage, queue_words
from lorestudio.ui.recap.running_page import RunningPage
from lorestudio.ui.recap.scene_page import ScenePage
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.work_pane import WorkPane
from lorestudio.ui.words import count, number, tr

MENU: Final = ("recap.search", "recap.running", "", "recap.clear_queue", "recap.clear")
"""The menu of the pane's last button; "" is a line."""

_EMPTY: Final = {
    NoRecaps.NO_CHAT: (
        "No chat open", "Recaps are kept in a chat's file. Open a chat first.", (("chat.open", "Open chat…"),),
    ),
    NoRecaps.NO_FILE: (
        "The chat is in no file yet", "Recaps are kept in the chat's file. Save the chat first.",
        (("chat.save", "Save chat"),),
    ),
    NoRecaps.DEMO: (
        "The demo's files stay as they are",
        "Recaps are kept in the chat's file. Save the demo's chat as a file of your own; everything works with it.",
        (("chat.save_as", "Save chat as…"),),
    ),
    NoRecaps.PLAIN_TEXT: (
        "Plain text holds no recaps", "Save the chat as a SillyTavern chat (.jsonl); recaps are kept in that.",
        (("chat.save_as", "Save chat as…"),),
    ),
}  # fmt: skip


class RecapPane(WorkPane):
    """Shows what it is given. `wanted` carries the id of an action that a button asks for, `seen` that it is in sight.

    `again` follows the wish to open the recaps after a problem.
    """

    seen = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__("recap", tr("Recap"), theme, "lines")
        self.messages, self.scenes, self.running = MessagePage(theme), ScenePage(theme), RunningPage(theme)
        self.prompt, self.queue = PromptPage(theme), QueuePage(theme)
        self.tabs.setAccessibleName(tr("Parts of recap memory"))
        for page, title in (
            (self.messages, tr("Messages")),
            (self.scenes, tr("Scenes")),
            (self.running, tr("Running")),
            (self.prompt, tr("Prompt")),
            (self.queue, tr("Queue")),
        ):
            self.tabs.addTab(page, title)
            page.empty.pressed.connect(self.wanted)
        self._entered = False
        self.progress.setAccessibleName(tr("Progress of recap work"))
        self.save = self.notice_button
        self.save.setText(tr("Save chat"))
        self.save.clicked.connect(lambda: self.wanted.emit("chat.save"))

    def _make_head(self) -> QWidget:
        head = QWidget(self)
        column = QVBoxLayout(head)
        column.setContentsMargins(8, 5, 8, 4)
        column.setSpacing(3)
        row = self._button_row(
            ("recap.run", "recap.pause", "recap.resume", "recap.by_itself", "recap.settings"),
            ("recap.run",),
            tr("More about recaps"),
            tr("Look for a break, make the running recap, empty the queue"),
        )
        row.addStretch(1)
        row.addWidget(self.asked)
        column.addLayout(row)
        column.addWidget(self.state)
        column.addWidget(self.progress)
        return head

    def use_actions(self, actions: Mapping[str, QAction]) -> None:
        """Take the window's actions for the buttons."""
        self._take_actions(actions, MENU)

    def focus_target(self) -> QWidget:
        """The rows of the part that is shown, or the first button."""
        if self._pages.currentWidget() is self.empty:
            self._entered = True
            return self
        page = self.tabs.currentWidget()
        view = getattr(page, "view", None)
        return view if isinstance(view, QWidget) and view.isVisible() else self.tabs.tabBar()

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def show_recaps(
        self, picture: RecapPicture | None, hindrance: NoRecaps | None, problem: str, *, unsaved: bool
    ) -> None:
        """Show a chat's recaps, or why there are none."""
        if hindrance is not None:
            title, text, buttons = _EMPTY[hindrance]
            self.empty.say(tr(title), tr(text), tuple((name, tr(words)) for name, words in buttons))
        elif problem:
            self.empty.say(tr("The recaps cannot be read"), problem, (("again", tr("Try again")),))
        elif picture is None:
            self.empty.say(tr("Reading the recaps…"), "")
        there = picture if hindrance is None and not problem else None
        self._pages.setCurrentWidget(self.empty if there is None else self._whole)
        for page in (self.messages, self.scenes, self.running):
            page.show_picture(there)
        if there is None:
            self.prompt.show_prompt(None)
            self.note_changed.emit("")
            return
        self.show_unsaved(there, unsaved=unsaved)
        if self._entered:  # while there was nothing to give the keyboard to
            self._entered = False
            if self.isAncestorOf(self.window().focusWidget()) or self.window().focusWidget() in (None, self):
                self.focus_target().setFocus()
        self.note_changed.emit(_in_short(there))

    def show_unsaved(self, picture: RecapPicture, *, unsaved: bool) -> None:
        """Say what is wrong with what is shown."""
        told = [picture.notice] if picture.notice else []
        if unsaved:
            told.append(tr("The chat has changes that are not in its file. Recaps are made of what is in the file."))
        self.notice_text.setText(" ".join(told))
        self.save.setVisible(unsaved)
        self.notice.setVisible(bool(told))

    def show_queue(self, queue: QueuePicture, asked: str, spoken: str) -> None:
        """Show how far the queue is, and who is asked: in short, and in full."""
        self.queue.show_queue(queue)
        title = tr("Queue ({left})", left=number(queue.left)) if queue.left else tr("Queue")
        self.tabs.setTabText(self.tabs.indexOf(self.queue), title)
        paused = queue.state.paused
        self.buttons["recap.pause"].setVisible(queue.working and not paused)
        self.buttons["recap.resume"].setVisible(bool(queue.left) and (not queue.working or paused))
        self.state.setText(queue_words(queue))
        self.state.setVisible(queue.working or bool(queue.left))
        self.progress.setVisible(queue.working)
        self.progress.setRange(0, max(queue.done + queue.left, 1))
        self.progress.setValue(queue.done)
        self.progress.setAccessibleDescription(queue_words(queue))
        self.asked.setText(asked)
        self.asked.setAccessibleName(tr("Recaps are written by: {who}", who=spoken))
        self.asked.setToolTip(tr("{who}. Chosen for the runs of this chat as well.", who=spoken))

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: somebody looks."""
        super().showEvent(event)
        self.seen.emit()


def _in_short(picture: RecapPicture) -> str:
    """The chat's recaps in a few words, for the title."""
    have = sum(row.state in (RecapState.INCLUDED, RecapState.KEPT) for row in picture.messages)
    current = picture.running.get()
    version = tr("version {number}", number=current.number) if current is not None else tr("no running recap")
    of = tr("{have} of {all} with a recap", have=number(have), all=number(len(picture.messages)))
    return " · ".join((of, count(len(picture.scenes), "scene", "scenes"), version))
