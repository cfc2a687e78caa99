"""What each choice for the chat does in the chosen reply, found out in a job whenever either of them changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from lorestudio.studio.control_effects import Effect, effects_of_adding, effects_of_removing
from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.studio.trials import Change, Trials
from lorestudio.ui.control_chips import Key
from lorestudio.ui.selection import Selection
from lorestudio.ui.session import Session
from lorestudio.ui.words import tr

logger = logging.getLogger(__name__)

PAUSE_MS: Final = 120
"""Whoever walks through the chat is not reading the chips yet."""


class EffectWatch(QObject):
    """Runs the chosen reply without each of the choices. `changed` says that `effects` are other ones."""

    changed = Signal()

    def __init__(
        self, session: Session, selection: Selection, choices: Callable[[], Mapping[Key, Change]], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._selection, self._choices = session, selection, choices
        self.effects: Mapping[Key, Effect] = {}
        self._token = CancelToken()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._look)
        session.project_changed.connect(self._project_changed)
        session.traces_changed.connect(lambda _generations: self.ask())
        session.state_changed.connect(self._state_changed)
        selection.generation_changed.connect(self.ask)

    def ask(self) -> None:
        """Find out anew, unless something newer comes within a moment."""
        self._token.cancel()
        if self._choices():
            self._pause.start()
        else:
            self._pause.stop()
            self._take({})

    def stop(self) -> None:
        """Nobody wants to know any more."""
        self._token.cancel()
        self._pause.stop()

    def trials(self) -> Trials | None:
        """Trials of the chosen reply, None where it was not run as is chosen now."""
        generation = self._selection.generation
        simulator = self._session.runs.simulator(generation)
        return Trials(simulator, generation) if simulator is not None and generation is not None else None

    def try_adding(
        self, changes: Mapping[Key, Change], heard: Callable[[dict[Key, Effect]], object], cancel: CancelToken
    ) -> bool:
        """Tell of each of these changes what it would do, as it is found out; False where it cannot be."""
        trials = self.trials()
        if trials is None or not changes:
            return False
        self._session.jobs.start(
            tr("Trying values"),
            lambda report: effects_of_adding(trials, changes, cancel, report),
            done=lambda _found: None,
            failed=_failed,
            reported=heard,
        )
        return True

    def _project_changed(self) -> None:
        if not self._session.renewed:
            self._take({})
        self.ask()

    def _state_changed(self) -> None:
        if not self._session.busy and not self._pause.isActive() and self._missing():
            self.ask()

    def _missing(self) -> bool:
        return any(key not in self.effects for key in self._choices())

    def _look(self) -> None:
        self._token.cancel()
        self._token = token = CancelToken()
        trials, choices = self.trials(), self._choices()
        if trials is None:
            self._take({key: found for key, found in self.effects.items() if key in choices})
            return
        self._session.jobs.start(
            tr("Looking what the choices for the chat do"),
            lambda _report: effects_of_removing(trials, choices, token),
            done=lambda found: None if token.cancelled else self._take(found),
            failed=_failed,
        )

    def _take(self, effects: Mapping[Key, Effect]) -> None:
        if effects != self.effects:
            self.effects = effects
            self.changed.emit()


def _failed(error: Exception) -> None:
    if not isinstance(error, Cancelled):
        logger.warning("what a choice for the chat does was not found out: %s", error)
