"""One note: what the pipeline reads in it, the text that would go in, and the file itself to edit."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetricsF, QTextBlock, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QStackedWidget,
    QTableView,
    QTabWidget,
    QTextBrowser,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.ui.drafts import Draft, Drafts
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.line_ends import for_editor, restore
from lorestudio.ui.models.marks import entry_kind
from lorestudio.ui.models.properties import PropertyTable
from lorestudio.ui.selection import Selection
from lorestudio.ui.session import Session
from lorestudio.ui.theme import Theme, fixed_font
from lorestudio.ui.widgets.bars import MessageBar
from lorestudio.ui.widgets.chips import Chip, ChipRow
from lorestudio.ui.widgets.empty import EmptyState
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.property_delegate import PropertyDelegate
from lorestudio.ui.words import count, number, tr
from lorestudio.vault import ChangedOnDisk, VaultError, digest, read_note, save_note

logger = logging.getLogger(__name__)

PROPERTIES, TEXT, SOURCE = range(3)


class EntryPane(Pane):
    """Follows the chosen note. Unsaved text is kept as a draft per file, so that looking elsewhere loses nothing.

    `saved` follows a successful save with the file's path.
    """

    saved = Signal(object)

    def __init__(self, theme: Theme, session: Session, selection: Selection, drafts: Drafts, jobs: Jobs) -> None:
        super().__init__("entry", tr("Entry"), theme)
        self._session, self._selection, self._drafts, self._jobs = session, selection, drafts, jobs
        self._path: Path | None = None
        self._loaded: Draft | None = None
        self._place: tuple[int, int, int] | None = None
        self._saving = False
        self.bar = MessageBar(theme, self)
        self.bar.closed.connect(self.bar.hide)
        self.bar.pressed.connect(self._answer)
        self.heading = QLabel(self)
        self.chips = ChipRow(theme, self)
        self.dirty = QLabel(tr("● unsaved"), self)
        self.save_button = QToolButton(self)
        self.table_model = PropertyTable(self)
        self.table = QTableView(self)
        self.text = QTextBrowser(self)
        self.source = QPlainTextEdit(self)
        self.tabs = QTabWidget(self)
        self.empty = EmptyState(theme, "entry", self)
        self._build()
        session.project_changed.connect(self._show)
        selection.entry_changed.connect(self._show)
        drafts.changed.connect(self._show_dirty)
        self._show()

    def focus_target(self) -> QWidget:
        """The current view of the note."""
        if self._pages.currentWidget() is not self._shown_page:
            return self
        return (self.table, self.text, self.source)[self.tabs.currentIndex()]

    @property
    def path(self) -> Path | None:
        """The file that is shown."""
        return self._path

    @property
    def unsaved(self) -> bool:
        """Whether the shown note has unsaved text."""
        return self._path is not None and self._drafts.get(self._path) is not None

    def toggle_source(self) -> None:
        """Switch between the form and the file's text."""
        self.tabs.setCurrentIndex(PROPERTIES if self.tabs.currentIndex() == SOURCE else SOURCE)
        self.focus_target().setFocus()

    def show_place(self, line: int, start: int, end: int) -> None:
        """Show these characters of a line of the file's text, counted from 1 and from 0, and select them."""
        self._place = (line, start, end)
        self.tabs.setCurrentIndex(SOURCE)  # which reads the file where it was not read before
        if self._loaded is not None:
            self._show_wanted_place()

    def _show_wanted_place(self) -> None:
        wanted, self._place = self._place, None
        block = self.source.document().findBlockByNumber(wanted[0] - 1) if wanted is not None else QTextBlock()
        if wanted is None or not block.isValid():
            return
        cursor = QTextCursor(block)
        text = block.text()
        places = [block.position() + _units(text[:place]) for place in wanted[1:]]
        cursor.setPosition(places[0])
        cursor.setPosition(places[1], QTextCursor.MoveMode.KeepAnchor)
        self.source.setTextCursor(cursor)
        self.source.centerCursor()
        self.source.setFocus()

    def save(self) -> None:
        """Write the unsaved text of the shown note."""
        if self._path is not None:
            draft = self._drafts.get(self._path)
            if draft is not None:
                self._save(self._path, draft, draft.digest)

    def save_all(self, finished: Callable[[list[str]], None]) -> None:
        """Write every unsaved text; `finished` gets a sentence for each that could not be written."""
        pending = dict(self._drafts.all)

        def done(result: tuple[list[Path], list[str]]) -> None:
            for path in result[0]:
                self._drafts.drop(path)
            finished(result[1])

        self._jobs.start(
            tr("Saving all notes"),
            lambda _report: _save_all(pending),
            done=done,
            failed=lambda error: finished([str(error)]),
        )

    def revert(self) -> None:
        """Throw the unsaved text of the shown note away and read the file again."""
        if self._path is not None:
            self._drafts.drop(self._path)
            self._read(self._path)

    # ---- building ---------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.heading.setProperty("kind", "title")
        self.heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.dirty.setProperty("kind", "small")
        self.save_button.setProperty("kind", "text")
        self.save_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        shown = QWidget(self)
        column = QVBoxLayout(shown)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QFrame(shown)
        lines = QVBoxLayout(head)
        lines.setContentsMargins(12, 8, 10, 6)
        lines.setSpacing(5)
        row = QHBoxLayout()
        row.addWidget(self.heading, 1)
        row.addWidget(self.dirty)
        row.addWidget(self.save_button)
        lines.addLayout(row)
        lines.addWidget(self.chips)
        self._build_views()
        column.addWidget(head)
        column.addWidget(self.bar)
        column.addWidget(self.tabs, 1)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(shown)
        self._pages.addWidget(self.empty)
        self._shown_page = shown
        self.column.addWidget(self._pages, 1)

    def _build_views(self) -> None:
        table = self.table
        table.setModel(self.table_model)
        table.setItemDelegate(PropertyDelegate(self.theme, table))
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        table.verticalHeader().hide()
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setStretchLastSection(True)
        table.setAccessibleName(tr("Properties"))
        table.setMouseTracking(True)
        self.text.setAccessibleName(tr("Text that goes into the prompt"))
        self.text.document().setDocumentMargin(12)
        self.source.setAccessibleName(tr("The note's file"))
        self.source.setFont(fixed_font(self.font().pointSizeF()))
        self.source.setTabStopDistance(4 * QFontMetricsF(self.source.font()).horizontalAdvance(" "))
        self.source.document().setDocumentMargin(10)
        self.source.setTabChangesFocus(True)
        self.source.textChanged.connect(self._edited)
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(table, tr("Properties"))
        self.tabs.addTab(self.text, tr("Injected text"))
        self.tabs.addTab(self.source, tr("Source"))
        self.tabs.currentChanged.connect(lambda tab: self._read_if_needed() if tab == SOURCE else None)

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        self.bar.hide()
        note = self._session.entry(self._selection.entry) or self._selection.left_out
        self._path = self._session.note_path(note) if note is not None else None
        self._loaded = None
        if note is None:
            self.note_changed.emit("")
            if self._session.project is None:
                self.empty.say(tr("No entry"), tr("Open a vault to read its notes here."))
            else:
                self.empty.say(tr("No entry chosen"), tr("Choose one in the vault, the journey or the budget."))
            self._pages.setCurrentWidget(self.empty)
            self._show_dirty(None)
            return
        self.note_changed.emit(note.filename)
        if isinstance(note, Entry):
            self._show_entry(note)
        else:
            self._show_left_out(note)
        self._pages.setCurrentWidget(self._shown_page)
        self._set_source("", editable=False)
        if self.tabs.currentIndex() == SOURCE or self.unsaved:
            self._read_if_needed()
        self._show_dirty(None)

    def _show_entry(self, entry: Entry) -> None:
        self.heading.setText(entry.title)
        kind = entry_kind(entry)
        estimate = "" if self._session.project is None or self._session.project.counter.exact else "≈ "
        chips = [
            Chip(kind.word.split(",")[0], "neutral", kind.icon),
            Chip(tr("priority {priority}", priority=number(entry.priority))),
            Chip(estimate + count(entry.tokens, "token", "tokens")),
        ]
        chips += [Chip(key) for key in entry.keys[:6]]
        if entry.warnings:
            chips.insert(0, Chip(count(len(entry.warnings), "warning", "warnings"), "warning", "warning"))
        self.chips.set_chips(tuple(chips))
        self.table_model.set_entry(entry)
        self.tabs.setTabVisible(PROPERTIES, True)
        self.tabs.setTabVisible(TEXT, True)
        self.tabs.setTabText(TEXT, tr("Injected text · {tokens}", tokens=estimate + number(entry.tokens)))
        self.text.setPlainText(entry.content or tr("(The note has no text.)"))

    def _show_left_out(self, note: LeftOutNote) -> None:
        self.heading.setText(note.filename.rpartition("/")[2])
        broken = note.problem.broken
        words = tr("cannot be read") if broken else tr("left out")
        self.chips.set_chips((Chip(words, "error" if broken else "neutral", "broken" if broken else "left-out"),))
        self.bar.say(note.message, "error" if broken else "neutral")
        self.tabs.setCurrentIndex(SOURCE)
        self.tabs.setTabVisible(PROPERTIES, False)
        self.tabs.setTabVisible(TEXT, False)

    def _show_dirty(self, _path: object) -> None:
        self.dirty.setVisible(self.unsaved)
        self.save_button.setVisible(self.unsaved)

    # ---- reading and writing ----------------------------------------------------------------------------------------

    def _read_if_needed(self) -> None:
        if self._path is None or self._loaded is not None:
            return
        self._read(self._path)

    def _read(self, path: Path) -> None:
        self._jobs.start(
            tr("Reading {name}", name=path.name),
            lambda _report: read_note(path),
            done=lambda result: self._was_read(path, result),
            failed=lambda error: self._read_failed(path, error),
        )

    def _was_read(self, path: Path, result: tuple[str, str]) -> None:
        if path != self._path:
            return
        text, file_digest = result
        self._loaded = Draft(text, file_digest)
        draft = self._drafts.get(path)
        self._set_source(draft.text if draft is not None else text, editable=True)
        if draft is None and restore(text, self._editor_text()) != text:
            self.source.setReadOnly(True)
            self.bar.say(tr("This file has characters that the editor cannot keep, so it is shown only."), "warning")
        self._show_wanted_place()

    def _read_failed(self, path: Path, error: Exception) -> None:
        if path == self._path:
            self._set_source("", editable=False)
            self.bar.say(str(error), "error")

    def _set_source(self, text: str, *, editable: bool) -> None:
        self.source.blockSignals(True)
        self.source.setPlainText(for_editor(text))
        self.source.blockSignals(False)
        self.source.setReadOnly(not editable)

    def _editor_text(self) -> str:
        """The editor's text with nothing replaced; Qt's plain text would turn no-break spaces into spaces."""
        return self.source.document().toRawText().replace("\u2029", "\n")

    def _edited(self) -> None:
        path, loaded = self._path, self._loaded
        if path is None or loaded is None or self.source.isReadOnly():
            return
        text = restore(loaded.text, self._editor_text())
        draft = self._drafts.get(path)
        start = draft.digest if draft is not None else loaded.digest
        if text == loaded.text and start == loaded.digest:
            self._drafts.drop(path)
        else:
            self._drafts.keep(path, Draft(text, start))

    def _save(self, path: Path, draft: Draft, expected: str | None) -> None:
        if self._saving:
            return
        self._saving = True
        self.save_button.setEnabled(False)
        self._jobs.start(
            tr("Saving {name}", name=path.name),
            lambda _report: save_note(path, draft.text, expected),
            done=lambda new: self._was_saved(path, draft, new),
            failed=lambda error: self._save_failed(path, error),
        )

    def _was_saved(self, path: Path, draft: Draft, new_digest: str) -> None:
        self._end_save()
        now = self._drafts.get(path)
        if now is None or now.text == draft.text:
            self._drafts.drop(path)
        else:  # it was edited while it was being written
            self._drafts.keep(path, Draft(now.text, new_digest))
        if path == self._path:
            self._loaded = Draft(draft.text, new_digest)
            self.bar.hide()
        self.saved.emit(path)

    def _save_failed(self, path: Path, error: Exception) -> None:
        self._end_save()
        logger.warning("saving %s failed: %s", path.name, error)
        if path != self._path:
            return
        if isinstance(error, ChangedOnDisk):
            buttons = (("theirs", tr("Take the version on disk")), ("mine", tr("Save mine over it")))
            self.bar.say(tr("{error} Your text is kept here.", error=error), "warning", buttons)
        else:
            self.bar.say(tr("{error} Your text is kept here.", error=error), "error", (("again", tr("Try again")),))

    def _end_save(self) -> None:
        self._saving = False
        self.save_button.setEnabled(True)

    def _answer(self, button: str) -> None:
        path = self._path
        draft = self._drafts.get(path) if path is not None else None
        if path is None or draft is None:
            return
        if button == "again":
            self.save()
        elif button == "theirs":
            self.bar.hide()
            self.revert()
        elif button == "mine":
            self._jobs.start(
                tr("Looking at {name}", name=path.name),
                lambda _report: digest(path) if path.exists() else None,
                done=lambda found: self._save(path, draft, found),
                failed=lambda error: self._save_failed(path, error),
            )


def _save_all(drafts: dict[Path, Draft]) -> tuple[list[Path], list[str]]:
    """Save each draft; returns the files that were written and what went wrong with the others."""
    written, problems = [], []
    for path, draft in drafts.items():
        try:
            save_note(path, draft.text, draft.digest)
        except VaultError as error:
            problems.append(str(error))
        else:
            written.append(path)
    return written, problems


def _units(text: str) -> int:
    """How long Qt says a text is: UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
