"""Replaying a chat or parts of it: the handlers behind the actions, and what is said of a replay's course.

Choosing which messages of a chat to replay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.chat import Generation
from lorestudio.studio.replay.ranges import MessageRange, time_left_words
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import Notice, count, tr
from lorestudio.ui.state.replay_worker import Finished, ReplayNews, Tallied
from lorestudio.ui.widgets import dialogs

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


class RangeDialog(QDialog):
    """Two message numbers, and what they mean. `chosen` carries the `MessageRange` that the person wants replayed."""

    chosen = Signal(object)

    def __init__(
        self, generations: Sequence[Generation], done: int, message: int | None, parent: QWidget | None = None
    ) -> None:
        """`done` is how many of the generations were run; `message` is where the range begins at first."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Replay some messages"))
        self._generations, self._done = generations, done
        last = generations[-1].message if generations else 0
        self.first, self.last = QSpinBox(self), QSpinBox(self)
        for box, name in ((self.first, tr("From message")), (self.last, tr("To message"))):
            box.setRange(0, last)
            box.setPrefix("#")
            box.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)  # the arrow keys do the same
            box.setAccessibleName(name)
        self.first.setValue(message or 0)
        self.last.setValue(last)
        column = QVBoxLayout(self)
        form = QFormLayout()
        form.addRow(tr("From message"), self.first)
        form.addRow(tr("To message"), self.last)
        column.addLayout(form)
        self.meaning = QLabel(self)
        self.meaning.setWordWrap(True)
        self.meaning.setMinimumWidth(360)
        self.meaning.setMinimumHeight(3 * self.meaning.fontMetrics().height())
        self.meaning.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.meaning.setProperty("kind", "muted")
        column.addWidget(self.meaning, 1)
        buttons = QHBoxLayout()
        cancel = QPushButton(tr("Cancel"), self)
        cancel.clicked.connect(self.reject)
        self.go = QPushButton(tr("Replay"), self)
        self.go.setProperty("kind", "primary")
        self.go.setDefault(True)
        self.go.clicked.connect(self.accept)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.go)
        column.addLayout(buttons)
        for box in (self.first, self.last):
            box.valueChanged.connect(self._explain)
        self._explain()
        self.first.setFocus()
        self.first.selectAll()

    def accept(self) -> None:
        """Qt: the person wants it."""
        self.chosen.emit(MessageRange(self.first.value(), self.last.value()))
        super().accept()

    def _explain(self) -> None:
        try:
            part = MessageRange(self.first.value(), self.last.value()).part(self._generations)
        except ValueError as error:
            self.meaning.setText(tr(str(error)))
            self.go.setEnabled(False)
            return
        self.go.setEnabled(True)
        sentences = [tr("{runs}, swipes included.", runs=count(part.stop - part.start, "run", "runs"))]
        missing = part.before(self._done)
        if missing:
            text = tr(
                "{before} missing before them; what these leave is where the range begins, so they are run first."
            )
            sentences.append(text.format(before=count(missing, "run is", "runs are")))
        sentences.append(tr("What was run already and would come out the same is kept."))
        self.meaning.setText(" ".join(sentences))


class ReplayCommands(CommandGroup):
    """Belongs to the window. It decides nothing about lore; `studio.replay.ranges` says what a range holds."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        window.session.news.connect(self._show_news)
        window.session.replayed.connect(self._say_outcome)
        window.session.cost_known.connect(self._ask_cost)

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What the window does when an action of this module is asked for."""
        replays = self._window.session.replays
        return {
            "replay.all": replays.run_all,
            "replay.fresh": partial(replays.run_all, fresh=True),
            "replay.here": self._run_here,
            "replay.onward": self.replay_onward,
            "replay.range": self.ask_range,
            "replay.follow": self._follow,
            "replay.cancel": self._cancel,
        }

    def replay_onward(self) -> None:
        """Replay from the chosen message to the end."""
        if self._window.selection.message is not None:
            self._replay(MessageRange(self._window.selection.message))

    def ask_range(self) -> RangeDialog:
        """Let the person choose the messages."""
        session, chosen = self._window.session, self._window.selection.message
        done = sum(generation in session.runs.traces for generation in session.generations)
        dialog = RangeDialog(session.generations, done, chosen, self._window)
        dialog.chosen.connect(self._replay)
        dialog.open()
        return dialog

    def _run_here(self) -> None:
        if self._window.selection.generation is not None:
            self._window.session.replays.run_to(self._window.selection.generation)

    def _follow(self) -> None:
        live = self._window.session.replays.live
        if live is not None:
            self._window.chat.show_generation(live.generation)

    def _cancel(self) -> None:
        self._window.chat.strip.stopping()
        self._window.session.replays.cancel()

    def _ask_cost(self, finished: object) -> None:
        if isinstance(finished, Finished):
            name = finished.wanted.choice.source.profile
            more = tr("Answers are recorded beside the chat; what is recorded is not asked for again.")
            dialogs.confirm(
                self._window,
                tr("Ask {name}?", name=name),
                finished.cost,
                tr("Ask {name}", name=name),
                partial(self._window.session.replays.begin, finished),
                more,
            )

    def _replay(self, messages: object) -> None:
        if isinstance(messages, MessageRange):
            try:
                self._window.session.replays.run_range(messages)
            except ValueError as error:
                self._window.say(Notice(str(error), "warning"))

    def _show_news(self, news: object) -> None:
        if isinstance(news, ReplayNews):
            self._window.chat.strip.set_outlook(tr(time_left_words(news.left)), news.before)

    def _say_outcome(self, tally: object) -> None:
        if not isinstance(tally, Tallied):
            return
        if not tally.begun:
            self._window.status.flash(tr("Everything is up to date: there was nothing to run."))
        elif tally.before:
            first = count(tally.before, "reply was", "replies were")
            text = tr(
                "{first} run first, because a reply begins with what the ones before it left: cooldowns, streaks and "
                "random numbers. In all: {tally}.",
                first=first,
                tally=tally.words,
            )
            self._window.say(Notice(text, key="replay"))
        else:
            ran = count(tally.ran, "reply was run", "replies were run")
            kept = count(tally.kept, "was", "were") if tally.kept else ""
            self._window.status.flash(tr("{ran}; {kept} up to date.", ran=ran, kept=kept) if kept else f"{ran}.")
