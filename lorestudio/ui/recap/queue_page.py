"""The queue: what waits, what is under way, what became of the last steps, and what can be done about it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent

from lorestudio.studio.recap.picture import QueuePicture
from lorestudio.ui.models.row_table import RowColumn
from lorestudio.ui.recap.page import Page
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import count, number, shorten, tr

LOGGED: Final = 50
_RETRY: Final = re.compile(r"^Retry [^:]*: ")

_STATES: Final = {
    "pending": ("Waits", "pause", "text_muted"),
    "in_progress": ("Under way", "play", "accent"),
    "retrying": ("Tries again", "reload", "warning"),
    "completed": ("Done", "check", "good"),
    "failed": ("Failed", "error", "error"),
    "cancelled": ("Taken out", "slash", "text_muted"),
}


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One operation that waits or runs, or one that is over."""

    key: str
    state: str
    words: str
    remark: str
    waits: bool
    stops_before: bool = False


class QueuePage(Page):
    """`removed` and `stopped_before` carry an operation's id, `hurried` and `emptied` nothing."""

    removed = Signal(str)
    stopped_before = Signal(str)
    hurried = Signal()
    emptied = Signal()

    def __init__(self, theme: Theme) -> None:
        columns = (
            RowColumn("", lambda row: tr(_STATES[row.state][0]), icon=lambda row: _STATES[row.state][1:], tone=_tone),
            RowColumn("Step", lambda row: row.words, tone=_tone),
            RowColumn("", lambda row: shorten(row.remark, 200), tone=_tone),
        )
        super().__init__(
            theme, columns, lambda row: row.key, lambda row: row.remark or row.words, tr("Queue of recap work"),
            (104, 180),
        )  # fmt: skip
        self._queue = QueuePicture()
        self.empty.say(
            tr("Nothing is queued"),
            tr("Steps wait here and are done one at a time. What fails is tried again; nothing is lost at the end."),
            (("recap.run", tr("Make what is due")),),
        )
        self.remove = self.small_button(tr("Take out"), tr("Take this step out, also while it is under way"))
        self.stop_before = self.small_button(tr("Stop before it"), tr("Pause the queue when this step would begin"))
        self.hurry = self.small_button(tr("Try again now"), tr("Do not wait for the next attempt"))
        self.clear = self.small_button(tr("Empty the queue"), tr("Take all steps out"))
        self.add_row(self.remove, self.stop_before, self.hurry, self.clear)
        self.below.addStretch(1)
        self.remove.clicked.connect(lambda: self._with_row(lambda row: self.removed.emit(row.key)))
        self.stop_before.clicked.connect(lambda: self._with_row(lambda row: self.stopped_before.emit(row.key)))
        self.hurry.clicked.connect(self.hurried)
        self.clear.clicked.connect(self.emptied)
        self.view.chosen.connect(lambda _row: self._show())
        self._second = QTimer(self)
        self._second.setInterval(1000)
        self._second.timeout.connect(self._show)
        self._show()

    def show_queue(self, queue: QueuePicture) -> None:
        """Show the queue as it is."""
        self._queue = queue
        waiting = [
            QueueRow(item.id, str(item.status), item.words, _remark(item.error, item.pause_before), True,
                     item.pause_before)
            for item in sorted(
                queue.state.operations, key=lambda one: (not one.is_active, -one.priority, one.created_at)
            )
        ]  # fmt: skip
        over = [
            QueueRow(f"{place} {item.id}", item.outcome, item.words, f"{_when(item.at)} {item.summary}".strip(), False)
            for place, item in reversed(list(enumerate(queue.state.log)))
        ]
        self.model.set_rows([*waiting, *over[:LOGGED]])
        self._keep_time()
        self._show()

    def _with_row(self, do: Callable[[QueueRow], object]) -> None:
        row = self.view.current
        if isinstance(row, QueueRow):
            do(row)

    def _show(self) -> None:
        row, queue = self.view.current, self._queue
        waits = isinstance(row, QueueRow) and row.waits
        self.remove.setEnabled(waits)
        self.stop_before.setEnabled(waits and isinstance(row, QueueRow) and row.state == "pending")
        self.stop_before.setText(
            tr("Do not stop") if isinstance(row, QueueRow) and row.stops_before else tr("Stop before it")
        )
        self.hurry.setEnabled(queue.retry_at is not None)
        self.clear.setEnabled(bool(queue.left))
        about_row = isinstance(row, QueueRow) and bool(row.remark)
        self.say(f"{row.words}: {row.remark}" if about_row else queue_words(queue))

    def _keep_time(self) -> None:
        if self._queue.retry_at is not None and self.isVisible():
            self._second.start()
        else:
            self._second.stop()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: count down while somebody looks."""
        super().showEvent(event)
        self._keep_time()

    def hideEvent(self, event: QHideEvent) -> None:
        """Qt: nobody looks any more."""
        super().hideEvent(event)
        self._second.stop()


def queue_words(queue: QueuePicture) -> str:
    """The state of the queue in a sentence."""
    left = count(queue.left, "step", "steps")
    if queue.retry_at is not None:
        wait = max(0, round(queue.retry_at - time.time()))
        failed = next((item for item in queue.state.operations if item.status == "retrying"), None)
        why = _RETRY.sub("", failed.error or "").rstrip(".") if failed is not None else ""
        what = tr("An attempt failed: {why}.", why=shorten(why, 160)) if why else tr("It waits before the next step.")
        return tr("{what} The next one is in {seconds} s. {left} left.", what=what, seconds=number(wait), left=left)
    if queue.state.paused:
        what = tr("Pausing: the step under way is finished first.") if queue.working else tr("Paused.")
        return tr("{what} {left} left.", what=what, left=left)
    if queue.working:
        return tr("At work: {done} done, {left} left.", done=number(queue.done), left=number(queue.left))
    if queue.left:
        return tr("{left} left from before. “Resume” goes on where it ended.", left=left)
    return tr("Nothing waits. These are the last steps.")


def _remark(error: str | None, stops: bool) -> str:
    return error or (tr("the queue stops before it") if stops else "")


def _tone(row: QueueRow) -> str:
    return "error" if row.state == "failed" else "" if row.waits else "text_muted"


def _when(ms: float) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC).astimezone():%H:%M:%S}" if ms else ""
