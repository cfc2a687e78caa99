"""A dialog that shows what it would do while it is filled in, and then does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPushButton, QVBoxLayout, QWidget

from lorestudio.studio.vault_notes import Planned, VaultNotes
from lorestudio.ui.note_work import Done, NoteWork, Plan
from lorestudio.ui.notes.change_view import ChangeView
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import tr

PREVIEW_DELAY_MS: Final = 250


class PlanDialog(QDialog):
    """Subclasses put their fields into `fields`, call `changed` when one changes, and say in `plan` what to do.

    The preview is the plan itself, made in a job; the button carries out the same plan again, on the notes as they are
    then. The dialog closes once that was done; what went wrong is said inside it.
    """

    def __init__(self, theme: Theme, work: NoteWork, title: str, button: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.theme, self.work = theme, work
        self._asked = 0
        self._going = False
        column = QVBoxLayout(self)
        column.setSpacing(8)
        self.fields = QVBoxLayout()
        self.fields.setSpacing(6)
        self.problem = QLabel(self)
        self.problem.setWordWrap(True)
        self.problem.setProperty("kind", "problem")
        self.problem.hide()
        self.view = ChangeView(theme, self)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.ok = QPushButton(button, self)
        self.ok.setProperty("kind", "primary")
        self.ok.setDefault(True)
        self.ok.setEnabled(False)
        self.buttons.addButton(self.ok, QDialogButtonBox.ButtonRole.AcceptRole)
        column.addLayout(self.fields)
        column.addWidget(self.problem)
        column.addWidget(self.view, 1)
        column.addWidget(self.buttons)
        self.buttons.rejected.connect(self.reject)
        self.ok.clicked.connect(self.go)
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(PREVIEW_DELAY_MS)
        self._delay.timeout.connect(self.preview)

    def plan(self) -> Plan | None:
        """What to do as the fields are filled in; None while they say nothing yet."""
        raise NotImplementedError

    def nothing_yet(self) -> str:
        """What to say while `plan` is None."""
        return ""

    def summary(self, planned: Planned) -> str:
        """How much the plan would do, in a sentence; "" leaves that to the view. Called in a worker."""
        del planned
        return ""

    def changed(self) -> None:
        """A field is another one: look at the plan again in a moment."""
        self.ok.setEnabled(False)
        self._delay.start()

    def preview(self) -> None:
        """Look at the plan now."""
        self._delay.stop()
        self._asked += 1
        asked = self._asked
        plan = self.plan()
        self.problem.hide()
        if plan is None:
            self.ok.setEnabled(False)
            self.view.say(self.nothing_yet())
            return
        if not self.view.summary.text():
            self.view.say(tr("Looking at the notes…"))
        look = partial(_looked_at, plan, self.summary)
        self.work.ask(look, lambda found: self._show(asked, *found), lambda text: self._refuse(asked, text))

    def go(self) -> None:
        """Do it."""
        plan = self.plan()
        if plan is not None and not self._going:
            self._going = True
            self.ok.setEnabled(False)
            self.work.carry_out(plan, self._done, self._failed)

    def _show(self, asked: int, planned: Planned, summary: str) -> None:
        if asked != self._asked or self._going:
            return
        self.view.show_plan(planned, self.work.folders, summary)
        self.ok.setEnabled(bool(planned.changes.changes))

    def _refuse(self, asked: int, sentence: str) -> None:
        if asked == self._asked and not self._going:
            self.view.say("")
            self._say(sentence)

    def _failed(self, sentence: str) -> None:
        self._going = False
        self._say(sentence)

    def _say(self, sentence: str) -> None:
        self.problem.setText(sentence)
        self.problem.show()
        self.ok.setEnabled(False)

    def _done(self, _done: Done) -> None:
        self.accept()


def _looked_at(plan: Plan, summary: Callable[[Planned], str], vaults: Sequence[VaultNotes]) -> tuple[Planned, str]:
    planned = plan(vaults)
    return planned, summary(planned)
