"""How the chat is run, in the window: the mode, who answers, provider profiles, switches, and questions to a person."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction

from lorestudio.studio.answering import AnswerKind, Question, Source
from lorestudio.studio.modes import Mode
from lorestudio.trace.model import Turn
from lorestudio.trace.text import turn_words
from lorestudio.ui.behaviour_dialog import BehaviourDialog
from lorestudio.ui.command_group import CommandGroup
from lorestudio.ui.profiles_dialog import ProfilesDialog
from lorestudio.ui.question_dialog import QuestionDialog
from lorestudio.ui.widgets.picker import Choice, Picker
from lorestudio.ui.words import tr

if TYPE_CHECKING:
    from lorestudio.ui.main_window import MainWindow


class AnswerCommands(CommandGroup):
    """Every choice goes through `Replays.choose`. `question` is the dialog of the question that waits for a person."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._session, self._choose = window.session, window.session.replays.choose
        self.question: QuestionDialog | None = None

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        handlers: dict[str, Callable[[], object]] = {
            "answers.stand-in": partial(self._choose_source, AnswerKind.STAND_IN),
            "answers.recorded": partial(self._choose_source, AnswerKind.RECORDED),
            "answers.provider": self._choose_provider,
            "answers.typed": partial(self._choose_source, AnswerKind.TYPED),
            "profiles.edit": self.edit_profiles,
            "behaviour.edit": self.edit_behaviour,
        }
        return handlers | {f"mode.{mode.value}": partial(self._choose, mode=mode) for mode in Mode}

    def connect_window(self) -> None:
        """Show what is asked of a person."""
        self._session.question.connect(self._ask)
        self._session.withdrawn.connect(self._withdraw)

    def update(self, actions: dict[str, QAction]) -> None:
        """Tick what is chosen."""
        choice = self._session.choice
        for mode in Mode:
            actions[f"mode.{mode.value}"].setChecked(choice.mode is mode)
        for kind in AnswerKind:
            actions[f"answers.{kind.value}"].setChecked(choice.source.kind is kind)

    def edit_profiles(self) -> ProfilesDialog:
        """Show the provider profiles."""
        dialog = ProfilesDialog(self._session, self._window.theme, self._window)
        dialog.open()
        return dialog

    def edit_behaviour(self) -> BehaviourDialog:
        """Show the behaviour switches."""
        dialog = BehaviourDialog(self._session.choice.fixed, self._window)
        dialog.accepted_switches.connect(self._choose_switches)
        dialog.open()
        return dialog

    def _choose_source(self, kind: AnswerKind) -> None:
        self._choose(source=Source(kind))

    def _choose_provider(self) -> None:
        profiles = self._session.providers.file.profiles
        if not profiles:
            self.edit_profiles()
        elif len(profiles) == 1:
            self._pick_provider(profiles[0].name)
        else:
            choices = [Choice(profile.name, profile.model, profile.host, profile.name) for profile in profiles]
            title, placeholder = tr("Choose a provider"), tr("Type a few letters of a profile")
            picker = Picker(self._window.theme, title, placeholder, choices, self._window)
            picker.picked.connect(self._pick_provider)
            picker.open_over(self._window)

    def _pick_provider(self, name: object) -> None:
        self._choose(source=Source(AnswerKind.PROVIDER, str(name)))

    def _choose_switches(self, fixed: object) -> None:
        if isinstance(fixed, tuple):
            self._choose(fixed=fixed)

    def _ask(self, question: object) -> None:
        if isinstance(question, Question):
            live = self._session.replays.live
            where = turn_words(Turn(live.generation.message, live.generation.swipe, 0)) if live else tr("This reply")
            dialog = self.question = QuestionDialog(question, where, self._window)
            dialog.finished.connect(partial(self._closed, dialog))
            dialog.open()

    def _withdraw(self, question: object) -> None:
        dialog = self.question
        if dialog is not None and dialog.question is question:
            dialog.withdraw()

    def _closed(self, dialog: QuestionDialog, _result: int) -> None:
        if self.question is dialog:
            self.question = None
