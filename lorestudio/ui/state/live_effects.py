"""What unsaved texts and settings that are tried out do to the whole chat, run while somebody moves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QObject, Signal

from lorestudio.domain.state import ChatControls
from lorestudio.settings.declaration import Section
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.effects import Effects, WholeChat
from lorestudio.studio.tuning.expectations import Expectation
from lorestudio.ui.shell.jobs import Job, Jobs, Newest
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.vault.edited_vaults import NoteText

_NOTHING: Final = (None, (), None)


class LiveEffects(QObject):
    """Runs the whole chat with what is tried out, the newest only; the first replies are told while the others run.

    `changed` follows each step. What was found for the changes before is kept until the first replies with the new
    ones are there; until then it is not `current`.
    """

    changed = Signal()

    def __init__(self, jobs: Jobs, simulator: Callable[[], Simulator | None], parent: QObject | None = None) -> None:
        """`simulator` gives who ran the whole chat, None where nobody has as is chosen now."""
        super().__init__(parent)
        self._simulator = simulator
        self._newest = Newest(jobs)
        self._expectations: tuple[Expectation, ...] = ()
        self._chat: tuple[Simulator, WholeChat] | None = None
        self._tried: tuple[Section | None, tuple[NoteText, ...], ChatControls | None] = _NOTHING
        self._of: tuple[object, ...] = (*_NOTHING, None)
        self.effects: Effects | None = None
        self.current = self.aside = False
        self.problem = ""

    @property
    def trying(self) -> bool:
        """Whether something is tried out."""
        return self._tried != _NOTHING

    @property
    def words(self) -> str:
        """What it does to the whole chat, or how far that is known; "" where nothing is tried out."""
        if not self.trying:
            return ""
        if self.problem:
            return self.problem
        if self._simulator() is None:
            return tr("Replay the chat to see what this does to all of it (Ctrl+R).")
        if self.chat() is None:
            return ""
        found = self.effects
        if found is None or not self.current:
            return tr("Whole chat: running…")
        if not found.complete:
            done = tr("{done} of {all}", done=number(len(found.turns)), all=count(found.replies, "reply", "replies"))
            return tr("Whole chat, first {done}: {brief}", done=done, brief=found.brief)
        return tr("Whole chat: {brief}", brief=found.brief)

    def expect(self, expectations: Sequence[Expectation]) -> None:
        """Judge by these from now on."""
        if self._expectations != tuple(expectations):
            self._expectations, self._chat = tuple(expectations), None
            self.try_changes(*self._tried, aside=self.aside)

    def chat(self) -> WholeChat | None:
        """The chat as it was run, None where it has not been run whole, or nothing can be tried out on its notes."""
        simulator = self._simulator()
        if simulator is None or simulator.project.vault_state is None:
            return None
        if self._chat is None or self._chat[0] is not simulator:
            self._chat = simulator, WholeChat(simulator, self._expectations)
        return self._chat[1]

    def try_settings(self, settings: Section | None) -> None:
        """Try these with the texts that are tried out already."""
        self.try_changes(settings, *self._tried[1:], aside=self.aside)

    def try_changes(
        self,
        settings: Section | None,
        notes: tuple[NoteText, ...],
        controls: ChatControls | None = None,
        *,
        aside: bool = False,
    ) -> None:
        """Try these from now on; settings of a system that did not decide make no difference.

        `aside`: nobody is editing them, so that somebody has to say when they are tried no more.
        """
        self.aside = aside
        chat = self.chat() if (settings, notes, controls) != _NOTHING else None
        if chat is not None and settings is not None and type(settings) is not type(chat.settings):
            settings = None
        of = (settings, notes, controls, chat)
        if of == self._of:
            return
        self._tried, self._of = (settings, notes, controls), of
        self.current, self.problem = False, ""
        if chat is None or not self.trying:
            self._newest.cancel()
            self.effects = None
        else:

            def work(job: Job) -> Effects:
                return chat.effects(settings, notes, job, job.token, controls)

            title = tr("Running the whole chat with what is tried out")
            self._newest.start(title, work, done=self._found, failed=self._failed, reported=self._found)
        self.changed.emit()

    def _found(self, effects: Effects) -> None:
        self.effects, self.current = effects, True
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.effects, self.problem = None, sentence_of(error)
        self.changed.emit()
