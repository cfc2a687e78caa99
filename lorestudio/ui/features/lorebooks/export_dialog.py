"""The vault's notes into a lorebook: format, file, what becomes of every note, and what the book would do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QFormLayout, QLineEdit, QWidget

from lorestudio.exchange.lorebooks.formats import BY_NAME, FORMATS
from lorestudio.settings.files import real_path
from lorestudio.studio.lorebooks.exporting import (
    WORLD_INFO,
    ExportChoice,
    ExportedNote,
    ExportPlan,
    copy_of_target,
    plan_export,
)
from lorestudio.studio.lorebooks.trying import Tried, try_book
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.lorebooks.report_view import EntryRow, LoreDialog, said_of
from lorestudio.ui.shell.jobs import Job, Jobs, Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, sentence_of, tr
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.layouts import button, combo, holding, label, named, row
from lorestudio.vault.entries import ParseRules


class ExportBookDialog(LoreDialog):
    """Writes a lorebook of the notes that are ticked."""

    def __init__(self, theme: Theme, work: NoteWork, jobs: Jobs, project: Project, parent: QWidget) -> None:
        super().__init__(theme, tr("Export a lorebook"), tr("Write the book"), (tr("Note"), tr("Entry")), parent)
        self._work, self._jobs, self._newest, self._project = work, jobs, Newest(jobs), project
        self._rules = ParseRules.from_settings(project.settings)
        self._plan: ExportPlan | None = None
        self.vault = combo(self, tr("Vault"), {str(folder): folder.name for folder in work.folders})
        forms = {each.name: each.title for each in FORMATS}
        self.form = combo(self, tr("Format"), forms)
        self.form.setCurrentIndex(self.form.findData(WORLD_INFO))
        self.folder = named(QLineEdit(self, placeholderText=tr("all notes")), tr("Folder in the vault"))
        self.file = named(QLineEdit(self, placeholderText=tr("The lorebook's file")), tr("File to write"))
        self.card = named(QLineEdit(self, placeholderText=tr("The file that the book goes into a copy of")), tr("Card"))
        self.as_written = QCheckBox(tr("Texts as they stand, with comments and link marks"), self)
        self.disabled = QCheckBox(tr("Also what is switched off"), self)
        self.disabled.setChecked(True)
        self.tried = label(self, "", "small", selectable=True)
        self.compare = button(self, tr("Run the chat with both"), self._try)
        self.compare.setEnabled(False)
        form = QFormLayout()
        form.addRow(tr("Notes of"), holding(row((self.vault, 1), (self.folder, 1), margins=0)))
        form.addRow(tr("Format"), holding(row((self.form, 1), self.as_written, self.disabled, margins=0)))
        form.addRow(tr("File"), holding(row((self.file, 1), button(self, tr("Choose…"), self._ask), margins=0)))
        self._card_row = holding(row((self.card, 1), button(self, tr("Choose…"), self._ask_card), margins=0))
        form.addRow(tr("Into a copy of"), self._card_row)
        self._form = form
        self.arrange(form, row((self.tried, 1), self.compare))
        self._delay = later(self, self._look, 200)
        for field in (self.file, self.folder, self.card):
            field.textChanged.connect(lambda _text: self._delay.start())
        for choice in (self.vault, self.form):
            choice.currentIndexChanged.connect(lambda _place: self._changed())
        for box in (self.as_written, self.disabled):
            box.toggled.connect(lambda _on: self._changed())
        self._changed()

    def done(self, result: int) -> None:
        """Qt: nothing waits any more."""
        self._delay.stop()
        self._newest.cancel()
        super().done(result)

    def _changed(self) -> None:
        self._form.setRowVisible(self._card_row, not BY_NAME[self.form.currentData()].makes_new)
        self._delay.start()

    def _ask(self) -> None:
        suffix = BY_NAME[self.form.currentData()].endings[0]
        dialogs.choose_new_file(
            self, tr("Write a lorebook"), self.file.text(), f"{self.form.currentText()} (*{suffix})", suffix,
            lambda path: self.file.setText(str(path)),
        )  # fmt: skip

    def _ask_card(self) -> None:
        filters = tr("All files (*)")
        dialogs.choose_file(
            self, tr("Choose a card"), self.card.text(), filters, lambda path: self.card.setText(str(path))
        )

    def _choice(self, only: Collection[str] | None = None) -> ExportChoice:
        card = self.card.text().strip()
        return ExportChoice(
            self.form.currentData(), self.folder.text().strip(), only, self.disabled.isChecked(),
            self.as_written.isChecked(), Path(card).expanduser() if card else None,
        )  # fmt: skip

    def _look(self) -> None:
        self._delay.stop()
        text = self.file.text().strip()
        if not text:
            self.refuse(tr("Name the file that is to be written."))
            self.bar.hide()
            return
        folder, target, choice, rules = (
            Path(self.vault.currentData()),
            Path(text).expanduser(),
            self._choice(),
            self._rules,
        )
        self.state.setText(tr("Looking at the notes…"))
        self._work.ask(
            lambda vaults: plan_export(_of(vaults, folder), real_path(target), rules, choice), self._show, self._failed
        )

    def _failed(self, sentence: str) -> None:
        self._plan = None
        self.state.setText("")
        self.tried.setText("")
        self.compare.setEnabled(False)
        self.refuse(sentence)

    def _show(self, plan: ExportPlan) -> None:
        self._plan = plan
        self.show_reports([plan.report], [_row(note) for note in plan.notes])
        self.state.setText(count(len(plan.entries), "entry", "entries"))
        self.compare.setEnabled(self._project.chat is not None)

    def _try(self) -> None:
        """Run the chat with the vault and with the book."""
        plan = self._plan
        if plan is None:
            return
        self.tried.setText(tr("Running the chat twice…"))
        self.compare.setEnabled(False)
        project, entries = self._project, plan.entries

        def work(job: Job) -> Tried:
            return job.run(lambda: try_book(project, entries, cancel=job.token))

        self._newest.start(
            tr("Comparing the vault with the book"), work, done=self._show_tried,
            failed=lambda error: self.tried.setText(sentence_of(error)),
        )  # fmt: skip

    def _show_tried(self, tried: Tried) -> None:
        self.compare.setEnabled(True)
        self.tried.setText(tried.sentence)
        said = {
            name: tr("in {vault} replies from the vault, in {book} from the book", vault=vault, book=book)
            for name, (vault, book) in tried.counts.items()
        }
        plan = self._plan
        if plan is not None:
            chosen = self.entries.chosen
            self.entries.set_rows([_row(note, said.get(note.filename, "")) for note in plan.notes])
            self.entries.choose(chosen)

    def go(self) -> None:
        """Write what is ticked, and remember which entry is which."""
        only = {name for name, _uid in self.entries.chosen}
        folder, target = Path(self.vault.currentData()), Path(self.file.text().strip()).expanduser()
        choice, rules = self._choice(only), self._rules
        self.ok.setEnabled(False)

        def plan(vaults: Sequence[VaultNotes]) -> Planned:
            found = plan_export(_of(vaults, folder), real_path(target), rules, choice)
            copy_of_target(found)
            return Planned(found.changes)

        report = self.watched(tr("Writing:"))

        self._work.carry_out(plan, lambda _done: self.accept(), refused=self._failed, report=report)


def _of(vaults: Sequence[VaultNotes], folder: Path) -> VaultNotes:
    return next(vault for vault in vaults if vault.folder == folder)


def _row(note: ExportedNote, tried: str = "") -> EntryRow:
    going = note.raw is not None
    return EntryRow(
        (note.filename, ""), note.fate.title, note.fate.uid if going else "", tried or said_of(note.fate), going
    )
