"""The recap pane: the work and its state on top, below it messages, scenes, versions, the prompt and the queue.

Scenes tell where they end, their recaps in versions, and what locks them; the queue tells what waits, what is under
way, what became of the last steps, and what to do about it.
"""

from __future__ import annotations

import time
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from lorestudio.domain.texts import shorten
from lorestudio.systems.recap.queue import QueuePicture
from lorestudio.trace.wording import time_words
from lorestudio.ui.features.recap.memory import NoRecaps
from lorestudio.ui.features.recap.pages import FollowedPage, MessagePage, RecapPromptPage, RunningPage
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr, with_full_stop
from lorestudio.ui.widgets.cells import Column, state_column
from lorestudio.ui.widgets.layouts import able, small_button
from lorestudio.ui.widgets.work_pane import RowsPage, WorkPane

if TYPE_CHECKING:
    from lorestudio.systems.recap.overview import RecapPicture, SceneRow

LOGGED: Final = 50

_STATES: Final = {
    "pending": ("Waits", "pause", "text_muted", ""),
    "in_progress": ("Under way", "play", "accent", ""),
    "retrying": ("Tries again", "reload", "warning", ""),
    "completed": ("Done", "check", "good", "text_muted"),
    "failed": ("Failed", "error", "error", "error"),
    "cancelled": ("Taken out", "slash", "text_muted", "text_muted"),
}
"""Words, glyph, its colour, and the colour of the words ("" for that of all text)."""


class QueueRow(Struct, frozen=True):
    """One operation that waits or runs, or one that is over."""

    key: str
    state: str
    words: str
    remark: str
    waits: bool
    stops_before: bool = False


class QueuePage(RowsPage):
    """`asked` carries what is to be done with the `RecapQueue`."""

    asked = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        columns = (
            state_column("", lambda row: _STATES[row.state], 104),
            Column("Step", lambda row: row.words, tone=_tone, width=180),
            Column("", lambda row: shorten(row.remark, 200), tone=_tone),
        )
        super().__init__(
            theme, columns, lambda row: row.key, lambda row: row.remark or row.words, tr("Queue of recap work"), parent,
        )  # fmt: skip
        self._queue = QueuePicture()
        self.empty.say(
            tr("Nothing is queued"),
            tr("Steps wait here and are done one at a time. What fails is tried again; nothing is lost at the end."),
            (("recap.run", tr("Make what is due")),),
        )
        self.remove = self.row_button(
            tr("Take out"), tr("Take this step out, also while it is under way"),
            lambda row: self.asked.emit(lambda queue: queue.remove(row.key)),
        )  # fmt: skip
        self.stop_before = self.row_button(
            tr("Stop before it"), tr("Pause the queue when this step would begin"),
            lambda row: self.asked.emit(lambda queue: queue.toggle_pause_before(row.key)),
        )  # fmt: skip
        self.hurry = small_button(
            self, tr("Try again now"), tr("Do not wait for the next attempt"),
            lambda: self.asked.emit(lambda queue: queue.hurry()),
        )  # fmt: skip
        self.clear = small_button(
            self, tr("Empty the queue"), tr("Take all steps out"), lambda: self.asked.emit(lambda queue: queue.clear())
        )
        self.add_row(self.remove, self.stop_before, self.hurry, self.clear)
        self.below.addStretch(1)
        self.table.chosen.connect(lambda _row: self._show())
        self._second = QTimer(self, interval=1000)
        self._second.timeout.connect(self._show)
        self._show()

    def show_queue(self, queue: QueuePicture) -> None:
        """Show the queue as it is."""
        self._queue = queue
        waiting = [
            QueueRow(item.id, str(item.status), item.words,
                     item.error or (tr("the queue stops before it") if item.pause_before else ""), True,
                     item.pause_before)
            for item in sorted(
                queue.state.operations, key=lambda one: (not one.is_active, -one.priority, one.created_at)
            )
        ]  # fmt: skip
        over = [
            QueueRow(f"{place} {item.id}", item.outcome, item.words,
                     f"{time_words(item.at, '%H:%M:%S')} {item.summary}".strip(), False)
            for place, item in reversed(list(enumerate(queue.state.log)))
        ]  # fmt: skip
        self.model.set_rows([*waiting, *over[:LOGGED]])
        self._keep_time()

    def _show(self) -> None:
        row: QueueRow | None = self.table.current
        queue = self._queue
        able(self.remove, row is not None and row.waits, tr("Choose a step that waits first."))
        able(self.stop_before, row is not None and row.state == "pending", tr("Choose a step that waits first."))
        stops = row is not None and row.stops_before
        self.stop_before.setText(tr("Do not stop") if stops else tr("Stop before it"))
        able(self.hurry, queue.retry_at is not None, tr("No step waits for another attempt."))
        able(self.clear, bool(queue.left), tr("Nothing waits in the queue."))
        self.say(f"{row.words}: {row.remark}" if row is not None and row.remark else queue_words(queue))

    def _keep_time(self) -> None:
        if self._queue.retry_at is not None and self.isVisible():
            self._second.start()
        else:
            self._second.stop()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: count down while somebody looks."""
        self._keep_time()

    def hideEvent(self, event: QHideEvent) -> None:
        """Qt: nobody looks any more."""
        self._second.stop()


def queue_words(queue: QueuePicture) -> str:
    """The state of the queue in a sentence."""
    left = count(queue.left, "step", "steps")
    if queue.retry_at is not None:
        wait = max(0, round(queue.retry_at - time.monotonic()))
        failed = next((item for item in queue.state.operations if item.status == "retrying"), None)
        why = failed.failure if failed is not None else ""
        what = tr("An attempt failed: {why}", why=with_full_stop(why)) if why else tr("It waits before the next step.")
        return tr("{what} The next one is in {seconds} s. {left} left.", what=what, seconds=number(wait), left=left)
    if queue.state.paused:
        what = tr("Pausing: the step under way is finished first.") if queue.working else tr("Paused.")
        return tr("{what} {left} left.", what=what, left=left)
    if queue.working:
        return tr("At work: {done} done, {left} left.", done=number(queue.done), left=number(queue.left))
    if queue.left:
        return tr("{left} left from before. “Resume” goes on where it ended.", left=left)
    return tr("Nothing waits. These are the last steps.")


def _tone(row: QueueRow) -> str:
    return _STATES[row.state][3]


class ScenePage(FollowedPage):
    """A row for each scene, known by the position of the message that ends it."""

    rows_of = attrgetter("scenes")

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        columns = (
            Column("Messages", lambda row: tr("#{first} to #{last}", first=row.where[0], last=row.where[1]), width=96),
            state_column("Recap", _state, 116),
            Column("Version", lambda row: row.versions, numeric=True, width=58),
            Column("Scene", lambda row: shorten(row.name, 120)),
        )
        super().__init__(
            theme, columns, lambda row: row.index, lambda row: shorten(row.recap or row.name, 400), tr("Scenes"),
            parent,
        )  # fmt: skip
        self.empty.say(
            tr("No scenes yet"),
            tr("Set a break where a scene ends: choose that message in the chat and press D. Or have one looked for."),
            (("recap.search", tr("Look for a break")),),
        )
        self.text = self.add_text(tr("Recap of the scene"))
        back = self.editing(lambda edits, row: edits.turn_scene(row.index, -1))
        on = self.editing(lambda edits, row: edits.turn_scene(row.index, 1))
        make = self.queueing(lambda session, row: session.enqueue_scene(row.index))
        combine = self.queueing(lambda session, row: session.enqueue_combine(row.index))
        toggle = self.editing(lambda edits, row: edits.toggle_break(row.index))
        self.before, self.after, self.make, self.combine, self.hide_break, self.delete = (
            self.row_button(text, tip, act)
            for text, tip, act in (
                (tr("‹ Version"), tr("Use the version before"), back),
                (tr("Version ›"), tr("Use the next version"), on),
                (tr("Make its recap"), tr("Ask for the recap of the scene, as another version"), make),
                (tr("Into the running recap"), tr("Work its recap into the running recap"), combine),
                (tr("Remove the break"), tr("Take the break away; its recap is kept (D)"), toggle),
                (tr("Delete scene…"), tr("Take out the break, its recap and what reaches to it"), self._ask_delete),
            )
        )  # fmt: skip
        self.add_row(self.before, self.after, self.make)
        self.add_row(self.combine, self.hide_break, self.delete)
        edit = self.edited.emit
        self.text.written.connect(lambda key, text: edit(lambda edits: edits.edit_scene(int(key), text)))
        self.table.chosen.connect(self._show)
        self._show(None)

    def _ask_delete(self, row: SceneRow) -> None:
        text = tr("The break, the scene's recaps, and the versions of the running recap that reach to it will be gone.")
        more = tr("Messages and their own recaps stay.")
        self.ask_delete(tr("Delete scene"), text, lambda edits: edits.delete_scene(row.index), more)

    def _show(self, there: SceneRow | None) -> None:
        locked = there is not None and there.lock.locked
        number, _, total = there.versions.partition("/") if there is not None else ("", "", "")
        none = tr("The scene is locked: it is part of a running recap.") if locked else tr("Choose a scene first.")
        known = there is not None and not locked
        able(self.before, known and number.isdecimal() and int(number) > 1, tr("It is the first.") if known else none)
        able(self.after, known and number != total, tr("It is the newest.") if known else none)
        able(self.make, known, none)
        mark = tr("It is a bookmark, which has no recap.")
        able(self.combine, there is not None and known and not there.is_bookmark, mark if known else none)
        for button in (self.hide_break, self.delete):
            able(button, there is not None, none)
        if there is None:
            self.say(tr("Choose a scene to read its recap, and to write it.") if self.model.rows else "")
            self.text.show_text(None, "", editable=False)
            return
        told = [tr("{name}, messages #{first} to #{last}.", name=there.name, first=there.where[0], last=there.where[1])]
        if there.lock.by_itself:
            told.append(tr("Locked: it is part of the running recap. Delete that version of it to change the scene."))
        elif there.lock.by_later:
            told.append(tr("Locked: a later scene is part of the running recap."))
        if there.made_of is not None:
            first, last = there.made_of
            told.append(tr("The original would make its recap of #{first} to #{last}.", first=first, last=last))
        self.say(" ".join(told))
        placeholder = tr("No recap yet. Write one, or have it made.")
        self.text.show_text(there.index, there.recap, editable=not locked, placeholder=placeholder)


def _state(row: SceneRow) -> tuple[str, str, str, str]:
    if row.is_bookmark:
        return "No recap yet", "dash", "text_faint", ""
    if row.lock.locked:
        return "In running" if row.lock.by_itself else "Locked", "lock", "text_muted", ""
    return "Recap", "check", "good", ""


_EMPTY: Final = {
    NoRecaps.NO_CHAT: (
        "No chat open", "Recaps are kept in a chat's file. Open a chat first.", "chat.open", "Open chat…",
    ),
    NoRecaps.NO_FILE: (
        "The chat is in no file yet", "Recaps are kept in the chat's file. Save the chat first.",
        "chat.save", "Save chat",
    ),
    NoRecaps.DEMO: (
        "The demo's files stay as they are",
        "Recaps are kept in the chat's file. Save the demo's chat as a file of your own; everything works with it.",
        "chat.save_as", "Save chat as…",
    ),
    NoRecaps.PLAIN_TEXT: (
        "Plain text holds no recaps", "Save the chat as a SillyTavern chat (.jsonl); recaps are kept in that.",
        "chat.save_as", "Save chat as…",
    ),
}  # fmt: skip


class RecapPane(WorkPane):
    """Shows what it is given. `again` follows the wish to open the recaps after a problem."""

    menu = ("recap.search", "recap.running", "", "recap.clear_queue", "recap.clear")

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("recap", tr("Recap"), theme, "lines", parent)
        names = ("recap.run", "recap.pause", "recap.resume", "recap.by_itself", "recap.settings")
        more = tr("More about recaps")
        self._set_head(names, ("recap.run",), more, tr("Look for a break, make the running recap, empty the queue"))
        self.messages, self.scenes = MessagePage(theme, self.parts), ScenePage(theme, self.parts)
        self.running, self.prompt = RunningPage(theme, self.parts), RecapPromptPage(theme, self.parts)
        self.queue = QueuePage(theme, self.parts)
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
        self.progress.setAccessibleName(tr("Progress of recap work"))
        self.save, self._unsaved = self.notice_button, False
        self.save.clicked.connect(lambda: self.wanted.emit("chat.save" if self._unsaved else "recap.adopt"))

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def show_recaps(
        self, picture: RecapPicture | None, hindrance: NoRecaps | None, problem: str, *, unsaved: bool
    ) -> None:
        """Show a chat's recaps, or why there are none."""
        if hindrance is not None:
            title, text, name, words = _EMPTY[hindrance]
            self.empty.say(tr(title), tr(text), ((name, tr(words)),))
        elif problem:
            self.empty.say(tr("The recaps cannot be read"), problem, (("again", tr("Try again")),))
        elif picture is None:
            self.empty.say(tr("Reading the recaps…"), "")
        there = picture if hindrance is None and not problem else None
        for page in (self.messages, self.scenes, self.running):
            page.show_picture(there)
        if there is None:
            self.prompt.show_prompt(None)
        else:
            self.show_unsaved(there, unsaved=unsaved)
        self.pages.setCurrentWidget(self.empty if there is None else self._whole)
        self.note_changed.emit(_in_short(there) if there is not None else "")

    def show_unsaved(self, picture: RecapPicture, *, unsaved: bool) -> None:
        """Say what is wrong with what is shown."""
        told = [picture.notice] if picture.notice else []
        if unsaved:
            told.append(tr("The chat has changes that are not in its file. Recaps are made of what is in the file."))
        self.notice_text.setText(" ".join(told))
        self._unsaved = unsaved
        self.save.setText(tr("Save chat") if unsaved else tr("Use it here"))
        self.save.setVisible(bool(told))
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
        self._say_asked(asked, tr("Recaps are written by: {who}", who=spoken), spoken)


def _in_short(picture: RecapPicture) -> str:
    """The chat's recaps in a few words, for the title."""
    have = sum(row.has_recap for row in picture.messages)
    current = picture.running.get()
    version = tr("version {number}", number=current.number) if current is not None else tr("no running recap")
    of = tr("{have} of {all} with a recap", have=number(have), all=number(len(picture.messages)))
    return " · ".join((of, count(len(picture.scenes), "scene", "scenes"), version))
