"""Lorebooks in and out of the vault: import, export and sync. What becomes of every field and entry is looked at
before anything is written.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLineEdit, QWidget

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import spell
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.texts import shorten
from lorestudio.exchange.lorebooks.crossing import CARRIED_ALONG, EntryFate, Fidelity, FieldFate, LoreReport, told_once
from lorestudio.exchange.lorebooks.formats import BY_NAME, FORMATS
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import real_path
from lorestudio.studio.lorebooks.exporting import (
    WORLD_INFO,
    ExportChoice,
    ExportedNote,
    ExportPlan,
    Tried,
    lore_file,
    plan_export,
    try_book,
)
from lorestudio.studio.lorebooks.importing import ImportChoice, ImportedEntry, ImportPlan, Twin, plan_import, read_books
from lorestudio.studio.lorebooks.links import BookLink, links_of
from lorestudio.studio.lorebooks.syncing import Gone, Prefer, SyncChoice, SyncItem, SyncPlan, plan_sync
from lorestudio.studio.notes.changes.log import ChangeLog, Report
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, read_vault_notes
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.notes.conflict_dialog import ConflictDialog
from lorestudio.ui.shell.jobs import Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Tone, count, number, sentence_of, tr
from lorestudio.ui.state.note_changes import Done, NoteWork
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import Item, able, button, column, combo, holding, label, named, row, split
from lorestudio.ui.widgets.pane import FoldingRow, MessageBar
from lorestudio.ui.widgets.record_table import CheckList, RecordTable, RecordView
from lorestudio.ui.widgets.work_pane import ProgressStrip
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.files import VaultError
from lorestudio.vault.links.index import LinkIndex
from lorestudio.vault.sources import vault_names

_EVERY: Final = 20
"""Every so many entries or files it is said how far work is."""
_PATIENCE: Final = 0.3
"""Seconds before it is shown."""
_WORDS: Final = {
    Fidelity.EXACT: "exact",
    Fidelity.APPROXIMATE: "approximate",
    Fidelity.CARRIED: "carried along",
    Fidelity.LOST: "lost",
}


class EntryRow(Struct, frozen=True):
    """An entry, where it goes, and what is to be known of it. `key` names it for programs."""

    key: tuple[str, str]
    title: str
    place: str
    said: str
    going: bool = True


def said_of(fate: EntryFate) -> str:
    """What is to be known of an entry in one line: why it stays out, else what is not exact."""
    apart = (f"{one.field}: {tr(_WORDS[one.fate])}" for one in fate.fields if one.fate is not Fidelity.EXACT)
    return fate.left_out or ", ".join(dict.fromkeys(apart))


def how_of(field: FieldFate) -> str:
    """In a sentence what becomes of a field; of one that only goes along, what that means."""
    return field.how or (tr(CARRIED_ALONG) if field.fate is Fidelity.CARRIED else "")


class LoreDialog(Dialog):
    """Shows reports; `ok` is to be pressed once they were read. Subclasses put their fields above.

    `progressed` carries how many of how many entries or files are done.
    """

    progressed = Signal(int, int)

    def __init__(
        self, theme: Theme, work: NoteWork, title: str, ok: str, heads: tuple[str, str], parent: QWidget
    ) -> None:
        super().__init__(parent, title, (1060, 700))
        self.theme, self._work, self._newest = theme, work, Newest(work.jobs)
        self.bar = MessageBar(theme, self)
        fields = (
            Column(tr("Field"), attrgetter("field"), width=FIT),
            Column(tr("Becomes"), lambda one: tr(_WORDS[one.fate]), width=FIT),
            Column(tr("Entries"), lambda one: number(one.entries), width=FIT, sort=attrgetter("entries")),
            Column(tr("How"), how_of),
        )
        self.fields = RecordTable(
            fields, key=attrgetter("field", "fate", "how"), tip=lambda one, _column: how_of(one), parent=self
        )
        columns = (
            Column(heads[0], attrgetter("title")),
            Column(heads[1], attrgetter("place")),
            Column(tr("What is known of it"), attrgetter("said")),
        )
        self.entries = RecordTable(
            columns, key=attrgetter("key"), checkable=True, tip=lambda one, _column: one.said or one.place, parent=self
        )
        self._going: frozenset[tuple[str, str]] = frozenset()
        self._left: frozenset[tuple[str, str]] = frozenset()
        self.list = CheckList(theme, self.entries, tr("Entries"), self)
        self.view = RecordView(theme, self.fields, tr("What becomes of the fields"), self)
        self.lossy = QCheckBox(tr("Go ahead although something is lost"), self)
        self.lossy.toggled.connect(lambda _on: self.settle())
        self.lossy.hide()
        self.state = label(self, "", "small")
        self.strip = ProgressStrip(self)
        self.strip.cancelled.connect(self._stop)
        self.progressed.connect(self._show_progress)
        self._token, self._since = CancelToken(), 0.0
        self.finished.connect(lambda _result: self._token.cancel())
        self.finished.connect(self._newest.cancel)
        self.ok = button(self, ok, self.go, kind="primary")
        self.ready = False
        self.settle()

    def arrange(self, *above: Item) -> None:
        """Put everything in its place, with the fields of the dialog above."""
        ends = row((self.state, 1), self.lossy, self.ok, button(self, tr("Cancel"), self.reject))
        parts = split(self.view, self.list, sizes=(160, 220))
        column(self.bar, *above, (parts, 1), self.strip, ends, of=self, spacing=8)

    @abstractmethod
    def go(self) -> None:
        """Do it."""

    def carried_out(self, _done: Done) -> None:
        """It is done."""
        self.accept()

    def watched(self, text: str) -> Callable[[int, int], None]:
        """What work in another thread tells how far it is; it stops where the person wants it to."""
        self._token.cancel()
        token = self._token = CancelToken()
        self._since = time.monotonic()
        self.strip.start(text, stoppable=True, told=f"{text} {tr('{done} of {total}')}")
        self.strip.finish()

        def report(done: int, total: int) -> None:
            if token.cancelled:
                raise Cancelled(tr("Stopped. Nothing was changed."))
            if done % _EVERY == 0 or done == total:
                self.progressed.emit(done, total)

        return report

    def _show_progress(self, done: int, total: int) -> None:
        if not self._token.cancelled:
            self.strip.setVisible(done < total and time.monotonic() - self._since >= _PATIENCE)
            self.strip.set_progress(done, total)

    def _stop(self) -> None:
        self._token.cancel()
        self.strip.stopping()

    def show_reports(self, reports: Sequence[LoreReport], rows: Sequence[EntryRow], left: Sequence[str] = ()) -> None:
        """Show what was found out; every entry that goes along is ticked, but what the person left out.

        `left` says which files are not taken along.
        """
        self.strip.finish()
        self._remember_left()
        self._going = frozenset(one.key for one in rows if one.going)
        self.fields.set_rows([one for report in reports for one in report.counts()])
        self.entries.set_rows(rows)
        self.entries.choose(self._going - self._left)
        remarks = (*left, *told_once(remark for report in reports for remark in report.remarks))
        if remarks:
            tone: Tone = "warning" if left else "neutral"
            self.bar.say(shorten(" ".join(remarks), 300), tone, details="\n".join(remarks))
        else:
            self.bar.hide()
        self.lossy.setVisible(any(report.loses for report in reports))
        self.ready = True
        self.settle()

    def _remember_left(self) -> None:
        """Keep what the person has unticked, before other rows are shown."""
        self._left = (self._left | self._going) - self.entries.chosen
        self._going = frozenset()

    def refuse(self, sentence: str, ways: tuple[tuple[str, str], ...] = ()) -> None:
        """Say why there is nothing to do, with buttons for `ways` out: actions with their titles."""
        self._show_nothing()
        self.state.setText("")
        self.bar.say(sentence, "error", ways)
        self.bar.focus_first()

    def wait_for(self, sentence: str) -> None:
        """Say what has to be filled in yet."""
        self._show_nothing()
        self.bar.hide()
        self.state.setText(sentence)

    def _show_nothing(self) -> None:
        self.strip.finish()
        self._remember_left()
        self.fields.set_rows(())
        self.entries.set_rows(())
        self.lossy.hide()
        self.ready = False
        self.settle()

    def settle(self) -> None:
        """Let it be done only where there is something to do and what is lost was agreed to."""
        why = tr("Agree to what is lost first.") if self.ready else tr("There is nothing to do yet.")
        able(self.ok, self.ready and (self.lossy.isHidden() or self.lossy.isChecked()), why)


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

    def __init__(self, theme: Theme, work: NoteWork, project: Project | None, parent: QWidget) -> None:
        heads = tr("Entry"), tr("Note")
        super().__init__(theme, work, tr("Import lorebooks"), tr("Make notes"), heads, parent)
        self._rules = ParseRules() if project is None else ParseRules.from_settings(project.settings)
        self._keep_in = work.log_of
        told = tr("World Info, cards (PNG, JSON, CharX), NovelAI, Risu, Agnaistic, KoboldAI, AI Dungeon, CSV, Markdown")
        field = QLineEdit(self, placeholderText=tr("World Info, cards, NovelAI, Markdown, …"))
        self.files = named(field, tr("Files to import"), told)
        self.into = combo(self, tr("Vault"), {str(folder): name for folder, name in vault_names(work.folders).items()})
        self.into.addItem(tr("A new vault…"), "")
        self.vault = named(QLineEdit(self, placeholderText=tr("A folder that is made")), tr("Folder of the new vault"))
        self.folder = named(QLineEdit(self, placeholderText=tr("the vault itself")), tr("Folder in the vault"))
        self.twins = combo(self, tr("What the vault has already"), {way: tr(words) for way, words in _TWINS.items()})
        self.excludes = QCheckBox(tr("Groups: members exclude each other"), self)
        self.gates = QCheckBox(tr("Characters: a gate"), self)
        self.heads = QCheckBox(tr("NovelAI: prefix into the text"), self)
        levels = {0: tr("a file an entry")}
        levels |= {level: tr("an entry at each {sign}", sign="#" * level) for level in (1, 2, 3)}
        self.split = combo(self, tr("Markdown"), levels)
        form = QFormLayout()
        form.addRow(tr("Files"), holding(row((self.files, 1), button(self, tr("Choose…"), self._ask), margins=0)))
        choose = dialogs.chooser(self.vault, tr("Choose the folder of the new vault"), "")
        self._new = holding(row((self.vault, 1), choose, margins=0))
        form.addRow(tr("Into"), holding(row((self.into, 1), (self._new, 2), margins=0)))
        form.addRow(tr("Folder"), self.folder)
        form.addRow(tr("Duplicates"), self.twins)
        form.addRow(tr("Also"), FoldingRow(self.excludes, FoldingRow(self.gates, self.heads, self), self))
        form.addRow(tr("Markdown"), self.split)
        self.arrange(form)
        self._delay = later(self, self._look, 200)
        self.finished.connect(self._delay.stop)
        for field in (self.files, self.vault, self.folder):
            field.textChanged.connect(lambda _text: self._delay.start())
        for box in (self.excludes, self.gates, self.heads):
            box.toggled.connect(lambda _on: self._delay.start())
        for choice in (self.into, self.twins, self.split):
            choice.currentIndexChanged.connect(lambda _place: self._change_place())
        self._change_place()

    def _change_place(self) -> None:
        self._new.setVisible(not self.into.currentData())
        self._delay.start()

    def _ask(self) -> None:
        filters = tr("Lorebooks and cards (*.json *.png *.charx *.lorebook *.story *.scenario *.csv *.tsv *.zip *.md)")
        filters = f"{filters};;{tr('All files (*)')}"
        dialogs.choose_files(
            self, tr("Choose lorebooks"), "", filters, lambda paths: self.files.setText(_SEPARATOR.join(paths))
        )

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

        def plan(vault: VaultNotes) -> ImportPlan:
            left = list[InputError | VaultError]()
            books = read_books(paths, heads=heads, split=split, links=links_of(vault), left=left)
            return replace(plan_import(books, vault, rules, choice, report), left=tuple(map(sentence_of, left)))

        return plan

    def _look(self) -> None:
        self._delay.stop()
        plan, target = self._planner(self.watched(tr("Looking at the files:"))), self._target
        if plan is None or target is None:
            self.wait_for(tr("Choose files, and the vault that they go into."))
            return
        self.state.setText(tr("Looking at the files…"))
        self._newest.start(
            tr("Looking at lorebooks"), lambda _job: plan(_notes(target)), done=self._show, failed=self._failed
        )

    def _failed(self, error: Exception) -> None:
        self.refuse(sentence_of(error))

    def _show(self, plan: ImportPlan) -> None:
        self.show_reports(plan.reports, [_imported(one) for one in plan.entries], plan.left)
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
        able(self.ok, False, tr("Wait until it is done."))
        if target in self._work.folders:
            self._work.carry_out(
                lambda vaults: plan(_of(vaults, target)).planned, self.carried_out, refused=self.refuse, report=report,
            )  # fmt: skip
            return
        self._work.jobs.start(
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
    return next((vault for vault in vaults if vault.folder == folder), None) or lore_file(folder)


def _imported(one: ImportedEntry) -> EntryRow:
    said = said_of(one.fate)
    if one.twin and one.filename:
        said = "; ".join(filter(None, (tr("{note} has {what}", note=one.twin, what=one.alike), said)))
    return EntryRow((one.source, one.fate.uid), one.fate.title, one.filename, said, bool(one.filename))


class ExportBookDialog(LoreDialog):
    """Writes a lorebook of the notes, or of the entries of another one, that are ticked."""

    def __init__(self, theme: Theme, work: NoteWork, project: Project, parent: QWidget) -> None:
        of_book = project.of_books
        heads = (tr("Entry"), tr("Number")) if of_book else (tr("Note"), tr("Entry"))
        super().__init__(theme, work, tr("Export a lorebook"), tr("Write the book"), heads, parent)
        self._trying, self._project = Newest(work.jobs), project
        self._rules = ParseRules.from_settings(project.settings)
        self._plan: ExportPlan | None = None
        names = {str(folder): name for folder, name in vault_names(work.folders).items()}
        self.vault = combo(self, tr("Vault"), names or {book.place: book.name for book in project.books})
        self.form = combo(self, tr("Format"), {each.name: each.title for each in FORMATS})
        self.form.setCurrentIndex(self.form.findData(WORLD_INFO))
        every = tr("all entries") if of_book else tr("all notes")
        where = tr("Folder in the lorebook") if of_book else tr("Folder in the vault")
        self.folder = named(QLineEdit(self, placeholderText=every), where)
        self.file = named(QLineEdit(self, placeholderText=tr("The lorebook's file")), tr("File to write"))
        self.card = named(QLineEdit(self, placeholderText=tr("The file that the book goes into a copy of")), tr("Card"))
        self.as_written = QCheckBox(tr("Texts as they stand, with comments and link marks"), self)
        self.disabled = QCheckBox(tr("Also what is switched off"), self)
        self.disabled.setChecked(True)
        self.tried = label(self, "", "small", selectable=True)
        self.compare = button(self, tr("Run the chat with both"), self._try)
        able(self.compare, False, tr("Wait until the book is made and the chat is run."))
        form = QFormLayout()
        whose = tr("Entries of") if of_book else tr("Notes of")
        form.addRow(whose, holding(row((self.vault, 1), (self.folder, 1), margins=0)))
        form.addRow(tr("Format"), holding(row((self.form, 1), self.as_written, self.disabled, margins=0)))
        form.addRow(tr("File"), holding(row((self.file, 1), button(self, tr("Choose…"), self._ask), margins=0)))
        choose = dialogs.chooser(self.card, tr("Choose a card"), tr("All files (*)"))
        self._card_row = holding(row((self.card, 1), choose, margins=0))
        form.addRow(tr("Into a copy of"), self._card_row)
        self._form = form
        self.arrange(form, row((self.tried, 1), self.compare))
        self._delay = later(self, self._look, 200)
        for stop in (self._delay.stop, self._trying.cancel):
            self.finished.connect(stop)
        for field in (self.file, self.folder, self.card):
            field.textChanged.connect(lambda _text: self._delay.start())
        for choice in (self.vault, self.form):
            choice.currentIndexChanged.connect(lambda _place: self._changed())
        for box in (self.as_written, self.disabled):
            box.toggled.connect(lambda _on: self._changed())
        self._changed()

    def _changed(self) -> None:
        self._form.setRowVisible(self._card_row, not BY_NAME[self.form.currentData()].makes_new)
        self._delay.start()

    def _ask(self) -> None:
        suffix = BY_NAME[self.form.currentData()].endings[0]
        name = self.file.text().strip() or f"{self.vault.currentText()}{suffix}"
        dialogs.choose_new_file(
            self, tr("Write a lorebook"), name, f"{self.form.currentText()} (*{suffix})", suffix,
            lambda path: self.file.setText(str(path)),
        )  # fmt: skip

    def _choice(self, only: Collection[str] | None = None) -> ExportChoice:
        card = self.card.text().strip()
        return ExportChoice(
            self.form.currentData(), self.folder.text().strip(), only, self.disabled.isChecked(),
            self.as_written.isChecked(), Path(card).expanduser() if card else None,
        )  # fmt: skip

    def _look(self) -> None:
        self._delay.stop()
        named, folder = self.file.text().strip(), Path(self.vault.currentData())
        choice, rules = self._choice(), self._rules
        unnamed = folder.parent / f"{folder.stem} (new){BY_NAME[choice.form].endings[0]}"
        target = Path(named).expanduser() if named else unnamed  # what becomes of the notes is the same in any file
        self.state.setText(tr("Looking at the entries…") if self._project.of_books else tr("Looking at the notes…"))
        self._work.ask(
            lambda vaults: plan_export(_of(vaults, folder), real_path(target), rules, choice),
            partial(self._show, named=bool(named)), self._failed, newest=self._newest,
        )  # fmt: skip

    def _forget(self) -> None:
        self._plan = None
        self.tried.setText("")
        able(self.compare, False, tr("Wait until the book is made and the chat is run."))

    def _failed(self, sentence: str) -> None:
        self._forget()
        self.refuse(sentence)

    def _show(self, plan: ExportPlan, *, named: bool) -> None:
        self._plan = plan
        self.show_reports([plan.report], [_exported(note) for note in plan.notes])
        entries = count(len(plan.entries), "entry", "entries")
        self.state.setText(entries if named else tr("{entries}. Name the file to write.", entries=entries))
        self.ready = named
        self.settle()
        able(self.compare, self._project.chat is not None, tr("Open a chat first."))

    def _try(self) -> None:
        """Run the chat with the vault and with the book."""
        plan = self._plan
        if plan is None:
            return
        self.tried.setText(tr("Running the chat twice…"))
        able(self.compare, False, tr("Wait until the book is made and the chat is run."))
        project, entries = self._project, plan.entries
        self._trying.start(
            tr("Comparing the vault with the book"),
            lambda job: job.run(lambda: try_book(project, entries, cancel=job.token)), done=self._show_tried,
            failed=lambda error: self.tried.setText(sentence_of(error)),
        )  # fmt: skip

    def _show_tried(self, tried: Tried) -> None:
        able(self.compare, True, "")
        self.tried.setText(tried.sentence)
        said = {
            name: tr("replies with it: {vault} from the vault, {book} from the book", vault=vault, book=book)
            for name, (vault, book) in tried.counts.items()
        }
        plan = self._plan
        if plan is not None:
            chosen = self.entries.chosen
            self.entries.set_rows([_exported(note, said.get(note.filename, "")) for note in plan.notes])
            self.entries.choose(chosen)

    def go(self) -> None:
        """Write what is ticked, and remember which entry is which."""
        only = {name for name, _uid in self.entries.chosen}
        folder, target = Path(self.vault.currentData()), Path(self.file.text().strip()).expanduser()
        choice, rules = self._choice(only), self._rules
        able(self.ok, False, tr("Wait until it is done."))

        def plan(vaults: Sequence[VaultNotes]) -> Planned:
            found = plan_export(_of(vaults, folder), real_path(target), rules, choice)
            found.keep_copy()
            return Planned(found.changes)

        self._work.carry_out(plan, self.carried_out, refused=self._failed, report=self.watched(tr("Writing:")))


def _exported(note: ExportedNote, tried: str = "") -> EntryRow:
    going = note.raw is not None
    return EntryRow(
        (note.filename, ""), note.fate.title, note.fate.uid if going else "", tried or said_of(note.fate), going
    )


_PREFER: Final[Mapping[Prefer | None, str]] = {
    None: "leave both as they are",
    Prefer.NOTE: "the note is right",
    Prefer.BOOK: "the book is right",
}
_GONE: Final[Mapping[Gone, str]] = {
    Gone.LEAVE: "leave the other one",
    Gone.FOLLOW: "delete the other one, too",
    Gone.UNLINK: "keep the other one, alone from now on",
}
_SHOWN: Final = 40


class SyncDialog(LoreDialog):
    """Compares on opening and after each choice; what is ticked is brought together."""

    def __init__(self, theme: Theme, work: NoteWork, project: Project, parent: QWidget) -> None:
        heads = tr("Entry"), tr("Found")
        super().__init__(theme, work, tr("Sync with a lorebook"), tr("Write both sides"), heads, parent)
        self._rules = ParseRules.from_settings(project.settings)
        self.decided: dict[str, dict[str, Json | Prefer]] = {}
        self._open: list[tuple[SyncItem, str]] = []
        self._at: Path | None = None
        self.view.hide()
        self.book = combo(self, tr("Lorebook"))
        self.prefer = combo(self, tr("Changed in both"), {way: tr(words) for way, words in _PREFER.items()})
        self.gone = combo(self, tr("Gone on one side"), {way: tr(words) for way, words in _GONE.items()})
        self.new = QCheckBox(tr("Take new entries and notes over"), self)
        self.new.setChecked(True)
        form = QFormLayout()
        self.elsewhere = button(self, tr("It lies elsewhere…"), self._ask)
        able(self.elsewhere, False, tr("No book is linked."))
        form.addRow(tr("Book"), holding(row((self.book, 1), self.elsewhere, margins=0)))
        self.decide = button(self, tr("Decide one by one…"), self._decide)
        able(self.decide, False, tr("Nothing was changed in both."))
        form.addRow(tr("Changed in both"), holding(row((self.prefer, 1), self.decide, margins=0)))
        form.addRow(tr("Gone"), self.gone)
        form.addRow("", self.new)
        self.arrange(form)
        self.book.currentIndexChanged.connect(lambda _place: self._look_at(None))
        for choice in (self.prefer, self.gone):
            choice.currentIndexChanged.connect(lambda _place: self._look())
        self.new.toggled.connect(lambda _on: self._look())
        work.ask(lambda vaults: [(each.folder, link) for each in vaults for link in links_of(each)],
                 self._offer, self.refuse)  # fmt: skip

    def _offer(self, links: Sequence[tuple[Path, BookLink]]) -> None:
        if not links:
            ways = (("book.import", tr("Import lorebooks…")), ("book.export", tr("Export a lorebook…")))
            self.refuse(tr("The vault is linked to no lorebook."), ways)
        for folder, link in links:
            self.book.addItem(f"{link.book} · {link.file}", (str(folder), link.place))
        able(self.elsewhere, bool(links), tr("No book is linked."))

    def _plan(self, vaults: Sequence[VaultNotes], only: Collection[str] | None = None) -> SyncPlan:
        folder, place = self.book.currentData()
        vault = next(each for each in vaults if str(each.folder) == folder)
        link = next(each for each in links_of(vault) if each.place == place)
        prefer = self.prefer.currentData()  # Qt gives enumerations of texts back as texts
        right = Prefer(prefer) if prefer else None
        choice = SyncChoice(right, self.decided, Gone(self.gone.currentData()), self.new.isChecked(), only)
        return plan_sync(link, vault, self._rules, choice, self._at)

    def _ask(self) -> None:
        folder, _place = self.book.currentData()
        dialogs.choose_file(self, tr("Where the lorebook lies now"), folder, tr("All files (*)"), self._look_at)

    def _look_at(self, place: Path | None) -> None:
        self._at = place
        self._look()

    def _look(self) -> None:
        if self.book.currentData() is not None:
            self.state.setText(tr("Comparing…"))
            self._work.ask(self._plan, self._show, self.refuse, newest=self._newest)

    def _show(self, plan: SyncPlan) -> None:
        self.show_reports([], [_synced(item) for item in plan.items])
        items = plan.items
        self._open = [(item, name) for item in items for name in item.clashes]
        able(self.decide, bool(self._open), tr("Nothing was changed in both."))
        left = sum(not item.settled for item in items)
        told = count(len(items), "entry", "entries") if items else tr("Both sides say the same.")
        self.state.setText(told + (tr("; left open: {left}", left=number(left)) if left else ""))
        self.ready = not plan.is_idle
        self.settle()

    def _decide(self) -> None:
        """Ask about the next field that both changed, piece by piece where it is a text, until all are decided."""
        if not self._open:
            self._look()
            return
        item, name = self._open.pop(0)
        values = (item.before.get(name), *item.clashes[name])
        before, mine, theirs = map(_as_text, values)
        what = f"{item.title}: {name}"
        lines = isinstance(values[1], str | list | tuple)
        dialog = ConflictDialog(
            self.theme, what, (before, mine, theirs), self, there=tr("In the book"), lines=lines
        )  # fmt: skip

        def merged(text: str) -> None:
            side = Prefer.NOTE if text == mine else Prefer.BOOK if text == theirs else None
            made: Json = text.splitlines() if isinstance(values[1], list | tuple) else text
            self.decided.setdefault(item.uid, {})[name] = side or made
            self._decide()

        dialog.merged.connect(merged)
        dialog.rejected.connect(self._look)
        dialog.open()

    def go(self) -> None:
        """Write both sides of what is ticked."""
        only = frozenset(uid for uid, _found in self.entries.chosen)
        able(self.ok, False, tr("Wait until it is done."))

        def plan(vaults: Sequence[VaultNotes]) -> Planned:
            found = self._plan(vaults, only)
            found.keep_copy()
            return Planned(found.changes, found.remarks)

        report = self.watched(tr("Writing both sides:"))

        self._work.carry_out(plan, self.carried_out, refused=self.refuse, report=report)


def _synced(item: SyncItem) -> EntryRow:
    clashes = [
        tr("{name}: the note says {mine}, the book {theirs}", name=name, mine=_short(mine), theirs=_short(theirs))
        for name, (mine, theirs) in item.clashes.items()
    ]
    said = "; ".join(clashes) or ", ".join(item.members) or tr(item.why_left)
    return EntryRow((item.uid, item.found.value), item.title, tr(item.found.value), said)


def _as_text(value: Json) -> str:
    """A value as lines that can be chosen: a list with a line for each item."""
    if isinstance(value, list | tuple) and all(isinstance(item, str) and "\n" not in item for item in value):
        return "".join(f"{item}\n" for item in value)
    return value if isinstance(value, str) else spell(value)


def _short(value: object) -> str:
    return shorten(spell(value), _SHOWN)  # type: ignore[arg-type]  # values of JSON
