"""Lorebooks into the vault: files, where their notes go, and what becomes of every entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFormLayout, QLineEdit, QWidget

from lorestudio.studio.lorebooks.importing import ImportChoice, ImportedEntry, ImportPlan, Twin, plan_import, read_books
from lorestudio.studio.notes.changes.log import ChangeLog, Report
from lorestudio.studio.notes.vault_notes import VaultNotes, read_vault_notes
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.lorebooks.report_view import EntryRow, LoreDialog, said_of
from lorestudio.ui.shell.jobs import Jobs, Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, sentence_of, tr
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.widgets.layouts import button, combo, holding, named, row
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.links.index import LinkIndex

_TWINS: Final[Mapping[Twin | None, str]] = {
    None: "leave out what is the same, keep both of what is alike",
    Twin.SKIP: "leave out what the vault has already",
    Twin.BOTH: "keep both",
    Twin.REPLACE: "replace what the note says",
    Twin.MERGE: "add to the note what it lacks",
}
_SEPARATOR: Final = "; "


class ImportBooksDialog(LoreDialog):
    """`made` carries the folder of a vault that was made, for it to be opened."""

    made = Signal(Path)

    def __init__(self, theme: Theme, work: NoteWork, jobs: Jobs, project: Project | None, parent: QWidget) -> None:
        heads = tr("Entry"), tr("Note")
        super().__init__(theme, tr("Import lorebooks"), tr("Make notes"), heads, parent)
        self._work, self._jobs, self._newest = work, jobs, Newest(jobs)
        self._rules = ParseRules() if project is None else ParseRules.from_settings(project.settings)
        self._keep_in = work.log_of
        told = tr("World Info, cards (PNG, JSON, CharX), NovelAI, Risu, Agnaistic, KoboldAI, AI Dungeon, CSV, Markdown")
        self.files = named(QLineEdit(self, placeholderText=told), tr("Files to import"))
        self.into = combo(self, tr("Vault"), {str(folder): folder.name for folder in work.folders})
        self.into.addItem(tr("A new vault…"), "")
        self.vault = named(QLineEdit(self, placeholderText=tr("A folder that is made")), tr("Folder of the new vault"))
        self.folder = named(QLineEdit(self, placeholderText=tr("the vault itself")), tr("Folder in the vault"))
        self.twins = combo(self, tr("What the vault has already"), {way: tr(words) for way, words in _TWINS.items()})
        self.excludes = QCheckBox(tr("Groups: members exclude each other"), self)
        self.gates = QCheckBox(tr("Characters: a gate"), self)
        self.heads = QCheckBox(tr("NovelAI: prefix into the text"), self)
        levels = {0: tr("Markdown: a file an entry")}
        levels |= {level: tr("Markdown: an entry at each {sign}", sign="#" * level) for level in (1, 2, 3)}
        self.split = combo(self, tr("Markdown"), levels)
        form = QFormLayout()
        form.addRow(tr("Files"), holding(row((self.files, 1), button(self, tr("Choose…"), self._ask), margins=0)))
        form.addRow(tr("Into"), holding(row((self.into, 1), (self.vault, 2), margins=0)))
        form.addRow(tr("Folder"), self.folder)
        form.addRow(tr("Duplicates"), self.twins)
        form.addRow(tr("Also"), holding(row(self.excludes, self.gates, self.heads, (self.split, 1), margins=0)))
        self.arrange(form)
        self._delay = later(self, self._look, 200)
        for field in (self.files, self.vault, self.folder):
            field.textChanged.connect(lambda _text: self._delay.start())
        for box in (self.excludes, self.gates, self.heads):
            box.toggled.connect(lambda _on: self._delay.start())
        for choice in (self.into, self.twins, self.split):
            choice.currentIndexChanged.connect(lambda _place: self._change_place())
        self._change_place()

    def done(self, result: int) -> None:
        """Qt: nothing waits any more."""
        self._delay.stop()
        self._newest.cancel()
        super().done(result)

    def _change_place(self) -> None:
        self.vault.setVisible(not self.into.currentData())
        self._delay.start()

    def _ask(self) -> None:
        filters = tr("Lorebooks and cards (*.json *.png *.charx *.lorebook *.story *.scenario *.csv *.tsv *.zip *.md)")
        chooser = QFileDialog(self, tr("Choose lorebooks"), "", f"{filters};;{tr('All files (*)')}")
        chooser.setFileMode(QFileDialog.FileMode.ExistingFiles)
        chooser.filesSelected.connect(lambda paths: self.files.setText(_SEPARATOR.join(paths)))
        chooser.open()

    @property
    def _target(self) -> Path | None:
        text = self.into.currentData() or self.vault.text().strip()
        return Path(text).expanduser() if text else None

    def _planner(
        self, report: Report, only: Mapping[str, frozenset[str]] | None = None
    ) -> Callable[[VaultNotes], ImportPlan] | None:
        """What is to be done as the fields are filled in, None while they say nothing yet."""
        paths = [Path(text.strip()).expanduser() for text in self.files.text().split(_SEPARATOR) if text.strip()]
        if not paths or self._target is None:
            return None
        twins = self.twins.currentData()  # Qt gives enumerations of texts back as texts
        choice = ImportChoice(
            self.folder.text().strip(), twins=Twin(twins) if twins else None, only=only,
            excludes=self.excludes.isChecked(), gates=self.gates.isChecked(),
        )  # fmt: skip
        rules, heads, split = self._rules, self.heads.isChecked(), int(self.split.currentData())
        return lambda vault: plan_import(read_books(paths, heads=heads, split=split), vault, rules, choice, report)

    def _look(self) -> None:
        self._delay.stop()
        plan, target = self._planner(self.watched(tr("Looking at the files:"))), self._target
        if plan is None or target is None:
            self.refuse(tr("Choose files, and the vault that they go into."))
            self.bar.hide()
            return
        self.state.setText(tr("Looking at the files…"))
        self._newest.start(
            tr("Looking at lorebooks"), lambda _job: plan(_notes(target)), done=self._show, failed=self._failed
        )

    def _failed(self, error: Exception) -> None:
        self.state.setText("")
        self.refuse(sentence_of(error))

    def _show(self, plan: ImportPlan) -> None:
        self.show_reports(plan.reports, [_row(one) for one in plan.entries])
        made = sum(one.filename != "" for one in plan.entries)
        self.state.setText(tr("{entries}. One undo takes all back.", entries=count(made, "note", "notes")))

    def go(self) -> None:
        """Make the notes of what is ticked, as one step."""
        chosen: dict[str, set[str]] = {}
        for book, uid in self.entries.chosen:
            chosen.setdefault(book, set()).add(uid)
        report = self.watched(tr("Making notes:"))
        plan = self._planner(report, {book: frozenset(uids) for book, uids in chosen.items()})
        target = self._target
        if plan is None or target is None:
            return
        self.ok.setEnabled(False)
        if target in self._work.folders:
            self._work.carry_out(
                lambda vaults: plan(_of(vaults, target)).planned, lambda _done: self.accept(), refused=self.refuse,
                report=report,
            )  # fmt: skip
            return
        self._jobs.start(
            tr("Making a vault"), lambda _job: _new_vault(plan, target, self._keep_in, report),
            done=lambda _none: self._opened(target), failed=self._failed,
        )  # fmt: skip

    def _opened(self, target: Path) -> None:
        self.made.emit(target)
        self.accept()


def _new_vault(
    plan: Callable[[VaultNotes], ImportPlan], target: Path, log_of: Callable[[Sequence[Path]], ChangeLog],
    report: Report,
) -> None:  # fmt: skip
    changes = plan(_notes(target)).planned.changes
    target.mkdir(parents=True, exist_ok=True)
    log_of([target]).apply(changes, report)


def _notes(folder: Path) -> VaultNotes:
    return read_vault_notes(folder) if folder.exists() else VaultNotes(folder, LinkIndex.build([]))


def _of(vaults: Sequence[VaultNotes], folder: Path) -> VaultNotes:
    return next(vault for vault in vaults if vault.folder == folder)


def _row(one: ImportedEntry) -> EntryRow:
    said = said_of(one.fate)
    if one.twin and one.filename:
        said = "; ".join(filter(None, (tr("{note} has {what}", note=one.twin, what=one.alike), said)))
    return EntryRow((one.source, one.fate.uid), one.fate.title, one.filename, said, bool(one.filename))
