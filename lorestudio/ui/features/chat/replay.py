"""Replaying a chat or parts of it, what is said of that, and walking through its messages and swipes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QPushButton, QWidget

from lorestudio.domain.chat import Generation
from lorestudio.studio.replay.ranges import MessageRange, time_left_words
from lorestudio.trace.ai_selection import commonest
from lorestudio.ui.features.chat.pane import ChatPane
from lorestudio.ui.shell.actions import Action, Need, Where
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.words import Notice, Tone, count, number, tr
from lorestudio.ui.state.replay_worker import Finished, ReplayNews, Tallied
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, column, label, number_field


class RangeDialog(Dialog):
    """Two message numbers, and what they mean. `chosen` carries the `MessageRange` that the person wants replayed."""

    chosen = Signal(object)

    def __init__(
        self, generations: Sequence[Generation], done: int, message: int | None, parent: QWidget | None = None
    ) -> None:
        """`done` is how many of the generations were run; `message` is where the range begins at first."""
        super().__init__(parent, tr("Replay some messages"))
        self._generations, self._done = generations, done
        last = generations[-1].message if generations else 0
        self.meaning = label(self, kind="muted")
        form = QFormLayout()
        self.first = number_field(self, tr("From message"), 0, last, message or 0, before="#")
        self.last = number_field(self, tr("To message"), 0, last, last, before="#")
        for box in (self.first, self.last):
            form.addRow(box.accessibleName(), box)
        self.meaning.setMinimumWidth(360)
        self.meaning.setMinimumHeight(3 * self.meaning.fontMetrics().height())
        self.meaning.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.go = QPushButton(tr("Replay"), self)
        column(form, (self.meaning, 1), self.answers(self.go), of=self)
        for box in (self.first, self.last):
            box.valueChanged.connect(self._explain)
        self.accepted.connect(lambda: self.chosen.emit(MessageRange(self.first.value(), self.last.value())))
        self._explain()
        self.first.selectAll()

    def _explain(self) -> None:
        try:
            part = MessageRange(self.first.value(), self.last.value()).part(self._generations)
        except ValueError as error:
            self.meaning.setText(tr(str(error)))
            able(self.go, False, tr(str(error)))
            return
        able(self.go, True, "")
        sentences = [tr("{runs}, swipes included.", runs=count(part.stop - part.start, "run", "runs"))]
        missing = max(0, part.start - self._done)
        if missing:
            text = tr(
                "{before} missing before them; what these leave is where the range begins, so they are run first."
            )
            sentences.append(text.format(before=count(missing, "run is", "runs are")))
        sentences.append(tr("What was run already and would come out the same is kept."))
        self.meaning.setText(" ".join(sentences))


class ReplayFeature(Feature):
    """It decides nothing about lore; `studio.replay.ranges` says what a range holds."""

    def __init__(self, context: Context, chat: ChatPane) -> None:
        super().__init__(context)
        self._chat = chat
        context.session.news.connect(self._show_news)
        context.session.replayed.connect(self._say_outcome)
        context.session.cost_known.connect(self._ask_cost)

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now, replays, pane, chat = self.context, self.context.session.replays, self._chat, Where.CHAT
        has_chat, runs = now.has_chat, now.session.runs
        return (
            Action(
                "replay.all", "Replay all", "Run", 0, replays.run_all, ("Ctrl+R",), when=now.chat_idle, icon="play",
                tip="Run every reply of the chat through the pipeline",
            ),
            Action(
                "replay.here", "Run to this message", "Run", 5, self._run_here, ("Ctrl+Return",), Where.RUNS,
                now.message_idle,
            ),
            Action(
                "replay.onward", "Replay from this message to the end", "Run", 10, self.replay_onward,
                ("Ctrl+Shift+Return",), Where.RUNS, now.message_idle,
            ),
            Action(
                "replay.range", "Replay some messages…", "Run", 15, self.ask_range, when=now.chat_idle,
                tip="Run the replies from one message to another, with their swipes",
            ),
            Action(
                "replay.fresh", "Replay, asking everything again…", "Run", 20, partial(replays.run_all, fresh=True),
                when=now.chat_idle.also(
                    lambda: now.session.choice.asks_model, "No model is asked as the chat is run now."
                ),
                tip="Ask again also where an answer is recorded, or kept from an earlier run",
            ),
            Action(
                "replay.follow", "Go to the reply that is running", "Run", 25, self._follow,
                when=Need(lambda: runs.replaying, "No reply is being run."),
            ),
            Action(
                "replay.cancel", "Stop", "Run", 30, self._cancel, ("Ctrl+.",), icon="stop",
                when=Need(lambda: runs.replaying or now.session.reading.stoppable, "Nothing is under way."),
            ),
            *(
                Action(f"message.{way}", f"{way.capitalize()} message", "Run/Walk through the chat", order, do,
                    (key,), chat, has_chat, way)
                for way, order, do, key in (
                    ("first", 100, partial(pane.go_to_end, last=False), "Home"),
                    ("previous", 105, partial(pane.step, -1), "Left"),
                    ("next", 110, partial(pane.step, 1), "Right"),
                    ("last", 115, partial(pane.go_to_end, last=True), "End"),
                )
            ),
            Action(
                "message.number", "Go to message number…", "Run/Walk through the chat", 120, self._go_to_number,
                ("G",), Where.RUNS, has_chat
            ),
            *(
                Action(f"message.{way}_change", f"{way.capitalize()} message with a change",
                    "Run/Walk through the chat", order,
                       partial(pane.step_change, steps), (key,), Where.RUNS, now.has_trace)
                for way, order, steps, key in (("previous", 125, -1, "K"), ("next", 130, 1, "J"))
            ),
            *(
                Action(f"swipe.{way}", f"{way.capitalize()} swipe", "Run/Walk through the chat", order,
                    partial(self._step_swipe, steps),
                       (key,), chat, has_chat.also(self._has_swipes, "Choose a message with more than one swipe."))
                for way, order, steps, key in (("previous", 200, -1, "Shift+Left"), ("next", 205, 1, "Shift+Right"))
            ),
            Action(
                "message.expand", "Show all of a long message", "Run/Walk through the chat", 210,
                pane.toggle_expanded, ("X",), chat,
                now.has_message, pane="chat",
            ),
        )  # fmt: skip

    def _has_swipes(self) -> bool:
        message = self.context.selection.message
        return message is not None and self._chat.model.swipes(message) > 1

    def _go_to_number(self) -> None:
        self.context.uncover("chat")
        self._chat.open_search()

    def _step_swipe(self, steps: int) -> None:
        if self.context.selection.message is not None:
            self._chat.step_swipe(self.context.selection.message, steps)

    def replay_onward(self) -> None:
        """Replay from the chosen message to the end."""
        if self.context.selection.message is not None:
            self._replay(MessageRange(self.context.selection.message))

    def ask_range(self) -> RangeDialog:
        """Let the person choose the messages."""
        session, chosen = self.context.session, self.context.selection.message
        done = sum(generation in session.runs.traces for generation in session.generations)
        dialog = RangeDialog(session.generations, done, chosen, self.context.window)
        dialog.chosen.connect(self._replay)
        dialog.open()
        return dialog

    def _run_here(self) -> None:
        if self.context.selection.generation is not None:
            self.context.session.replays.run_to(self.context.selection.generation)

    def _follow(self) -> None:
        live = self.context.session.replays.live
        if live is not None:
            self._chat.show_generation(live.generation)

    def _cancel(self) -> None:
        self._chat.strip.stopping()
        self.context.session.replays.cancel()
        self.context.session.reading.cancel()

    def _ask_cost(self, finished: Finished) -> None:
        name, more = finished.whom, ""
        if finished.wanted.choice.asks_model:
            more = tr("Answers are recorded beside the chat; what is recorded is not asked for again.")
        if more and finished.wanted.fresh:
            more = tr("The answers take the place of those that are recorded beside the chat.")
        begin = partial(self.context.session.replays.begin, finished)
        title, yes = tr("Ask {name}?", name=name), tr("Ask {name}", name=name)
        dialogs.confirm(self.context.window, title, finished.cost, yes, begin, more)

    def _replay(self, messages: MessageRange) -> None:
        try:
            self.context.session.replays.run_range(messages)
        except ValueError as error:
            self.context.say(Notice(str(error), "warning"))

    def _show_news(self, news: ReplayNews) -> None:
        self._chat.strip.set_outlook(tr(time_left_words(news.left)), news.before)

    def _say_outcome(self, tally: Tallied) -> None:
        told: list[str] = []
        if not tally.begun:
            self.context.flash(tr("Everything is up to date: there was nothing to run."))
        elif tally.before:
            first = count(tally.before, "reply was", "replies were")
            text = tr(
                "{first} run first, because a reply begins with what the ones before it left: cooldowns, streaks and "
                "random numbers. In all: {tally}.",
                first=first,
                tally=tally.words,
            )
            told.append(text)
        else:
            ran = count(tally.ran, "reply was run", "replies were run")
            kept = count(tally.kept, "was", "were") if tally.kept else ""
            self.context.flash(tr("{ran}; {kept} up to date.", ran=ran, kept=kept) if kept else f"{ran}.")
        if tally.failed:
            runs = count(tally.ran + tally.kept, "reply", "replies")
            told.append(
                tr(
                    "A model gave no usable answer in {failed} of {runs}, most often: {why}.",
                    failed=number(len(tally.failed)),
                    runs=runs,
                    why=commonest(tally.failed),
                )
            )
        if told:
            actions = ("trace.ai", "profiles.edit") if tally.failed else ()
            tone: Tone = "warning" if tally.failed else "neutral"
            self.context.say(Notice(" ".join(told), tone, actions=actions, key="replay"))
