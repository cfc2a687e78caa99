"""Replaying a chat or parts of it: the handlers behind the actions, and what is said of a replay's course."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from lorestudio.studio.pace import time_left_words
from lorestudio.studio.ranges import MessageRange
from lorestudio.ui import dialogs
from lorestudio.ui.command_group import CommandGroup
from lorestudio.ui.notices import Notice
from lorestudio.ui.range_dialog import RangeDialog
from lorestudio.ui.replaying import Finished, ReplayNews, Tallied
from lorestudio.ui.words import count, tr

if TYPE_CHECKING:
    from lorestudio.ui.main_window import MainWindow


class ReplayCommands(CommandGroup):
    """Belongs to the window. It decides nothing about lore; `studio.ranges` says what a range holds."""

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
