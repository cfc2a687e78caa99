"""A dialog that shows what it would do while it is filled in, and then does it.

Notes are on the left, the difference of the chosen one on the right.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialogButtonBox, QFormLayout, QPushButton, QWidget

from lorestudio.studio.notes.changes.change_set import NoteFileChange, shown_name
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.ui.shell.jobs import Newest
from lorestudio.ui.shell.qt import later, plain
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.state.note_changes import Done, NoteWork, Plan
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.diff_view import DiffView
from lorestudio.ui.widgets.layouts import able, column, label, named, show_words, split, text_view
from lorestudio.ui.widgets.rows import NameList


class ChangeView(QWidget):
    """Shows a plan. `summary` says how much it is, `remarks` what the person should know besides."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._changes: tuple[NoteFileChange, ...] = ()
        self.summary = label(self, kind="muted")
        self.files = named(NameList(self), tr("Notes that would change"))
        self.files.setUniformItemSizes(True)
        self.diff = DiffView(theme, (tr("Now"), tr("Afterwards")), self)
        words = tr("The text stays as it is; only the file's name or folder changes.")
        self.diff.view.setPlaceholderText(words)
        self.diff.setContentsMargins(6, 0, 0, 0)
        self.remarks = text_view(self, tr("What else you should know"))
        self.split = split(self.files, self.diff, across=True, sizes=(210, 420), stretch=1)
        # The stretch takes the room while there is no plan, so that the sentence stands at the top.
        column(self.summary, (self.split, 1), self.remarks, 0, of=self, spacing=4, margins=0)
        self.files.currentRowChanged.connect(self._show_file)
        self.say("")

    def say(self, text: str) -> None:
        """Show a sentence instead of a plan."""
        self._changes = ()
        self.files.clear()
        self.summary.setText(text)
        self.split.hide()
        self.remarks.hide()

    def show_plan(self, planned: Planned, folders: tuple[Path, ...], summary: str = "") -> None:
        """Show what a plan would do."""
        changes = planned.changes.changes
        self._changes = changes
        notes = count(len(changes), "note changes", "notes change")
        self.summary.setText(summary or tr("{notes}.", notes=notes))
        self.files.clear()
        for row, change in enumerate(changes):
            self.files.addItem(shown_name(change.place, folders))
            self.files.item(row).setToolTip(plain(self._tip(change, folders)))
        self.split.setVisible(bool(changes))
        self.set_remarks(planned.remarks)
        if changes:
            self.files.setCurrentRow(0)

    def set_remarks(self, remarks: Sequence[str]) -> None:
        """Say these sentences below."""
        self.remarks.setPlainText("\n".join(remarks))
        self.remarks.setFixedHeight(min(84, (len(remarks) + 1) * self.fontMetrics().lineSpacing() + 12))
        self.remarks.setVisible(bool(remarks))

    def _tip(self, change: NoteFileChange, folders: tuple[Path, ...]) -> str:
        name = shown_name(change.path, folders)
        if change.before is None:
            return tr("{name} is made", name=name)
        if change.after is None:
            return tr("{name} goes to the trash", name=name)
        if change.place != change.path:
            return tr("{name} becomes {new}", name=name, new=shown_name(change.place, folders))
        return name

    def _show_file(self, row: int) -> None:
        if 0 <= row < len(self._changes):
            change = self._changes[row]
            self.diff.show_texts(change.before or "", change.after or "")


PREVIEW_DELAY_MS: Final = 250


class PlanDialog(Dialog):
    """Subclasses add their fields, call `changed` when one changes, and say in `plan` what to do.

    The preview is the plan itself, made in a job; the button carries out the same plan again, on the notes as they are
    then. The dialog closes once that was done; what went wrong is said inside it.
    """

    def __init__(
        self,
        theme: Theme,
        work: NoteWork,
        title: str,
        button: str,
        parent: QWidget,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(parent, title, size)
        self.theme, self.work = theme, work
        self._newest = Newest(work.jobs)
        self._going = self._entered = False
        self.form = QFormLayout()
        self.problem = label(self, kind="problem")
        self.problem.hide()
        self.view = ChangeView(theme, self)
        self.ok = named(QPushButton(button, self, default=True), "", kind="primary")
        able(self.ok, False, tr("Wait until it is known what would change."))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.buttons.addButton(self.ok, QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.rejected.connect(self.reject)
        column(self.form, self.problem, (self.view, 1), self.buttons, of=self, spacing=8)
        self.ok.clicked.connect(self.go)
        self._delay = later(self, self.preview, PREVIEW_DELAY_MS)

    def add_field(self, title: str, field: QWidget, name: str = "") -> None:
        """Another field below the others; `name` is what a screen reader says where that is not the title."""
        self.form.addRow(title, named(field, name or title))

    @abstractmethod
    def plan(self) -> Plan | None:
        """What to do as the fields are filled in; None while they say nothing yet."""

    def nothing_yet(self) -> str:
        """What to say while `plan` is None."""
        return ""

    def summary(self, planned: Planned) -> str:
        """How much the plan would do, in a sentence; "" leaves that to the view. Called in a worker."""
        return ""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter that comes before the plan was looked at does it as soon as that is done."""
        self._entered = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and not self.ok.isEnabled()
        super().keyPressEvent(event)

    def changed(self) -> None:
        """A field is another one: look at the plan again in a moment; an Enter of before was for what stood there."""
        self._entered = False
        self.look_again()

    def look_again(self) -> None:
        """What the plan rests on is known better: look at it again in a moment."""
        self._newest.cancel()  # what is looked at now is a plan of before
        able(self.ok, False, tr("Wait until it is known what would change."))
        self._delay.start()

    def preview(self) -> None:
        """Look at the plan now."""
        self._delay.stop()
        self._newest.cancel()
        plan = self.plan()
        self.problem.hide()
        if plan is None:
            able(self.ok, False, self.nothing_yet())
            self.view.say(self.nothing_yet())
            return
        if not self.view.summary.text():
            self.view.say(tr("Looking at the notes…"))
        look = partial(_looked_at, plan, self.summary)
        self.work.ask(look, self._show, self._refuse, newest=self._newest)

    def go(self) -> None:
        """Do it."""
        plan = self.plan()
        if plan is not None and not self._going:
            self._going = True
            able(self.ok, False, tr("It is being written."))
            self.work.carry_out(plan, self._done, self._failed)

    def _show(self, found: tuple[Planned, str]) -> None:
        if self._going:
            return
        planned, summary = found
        self.view.show_plan(planned, self.work.folders, summary)
        able(self.ok, bool(planned.changes.changes), tr("Nothing would change."))
        if self._entered and self.ok.isEnabled():
            self.go()

    def _refuse(self, sentence: str) -> None:
        if not self._going:
            self.view.say("")
            self._say(sentence)

    def _failed(self, sentence: str) -> None:
        self._going = False
        self._say(sentence)

    def _say(self, sentence: str) -> None:
        show_words(self.problem, sentence)
        able(self.ok, False, sentence)

    def _done(self, _done: Done) -> None:
        self.accept()


def _looked_at(plan: Plan, summary: Callable[[Planned], str], vaults: Sequence[VaultNotes]) -> tuple[Planned, str]:
    planned = plan(vaults)
    return planned, summary(planned)
