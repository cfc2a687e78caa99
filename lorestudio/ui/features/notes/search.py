"""Searching all notes, and replacing what was found, as jobs: the rows come out while the search runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.texts import shorten
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.search import (
    FoundNote,
    Replacer,
    SearchHit,
    SearchOptions,
    SearchQuery,
    parse_query,
    plan_replace,
    search,
)
from lorestudio.studio.notes.vault_notes import VaultNotes
from lorestudio.ui.shell.jobs import Beat
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_case, sentence_of, tr
from lorestudio.ui.state.note_changes import READ_ONLY, NoteWork
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.layouts import SearchField, able, button, column, iconed, label, named, row, tool
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.rows import action
from lorestudio.ui.widgets.tree import PlaceRow, PlaceTree, PlaceView

STREAM_SECONDS: Final = 0.05
"""What was found meanwhile is shown this often."""
MOST_HITS: Final = 5000
"""Nobody reads more; the search ends there and says so."""


def search_rows(
    vaults: Sequence[VaultNotes], query: SearchQuery, cancel: CancelToken, send: Callable[[tuple[PlaceRow, ...]], None]
) -> bool:
    """Search all vaults and send the rows as they are found; whether that ended at `MOST_HITS`.

    Raises Cancelled and InputError.
    """
    rows: list[PlaceRow] = []
    hits = 0
    beat = Beat(STREAM_SECONDS)
    try:
        for vault in vaults:
            for note in search(vault, query, cancel):
                rows.append(_place_group(note))
                hits += len(rows[-1].children)
                if beat.due():
                    send(tuple(rows))
                    rows = []
                if hits >= MOST_HITS:
                    return True
    except Cancelled as error:
        raise Cancelled(tr("The search was stopped.")) from error
    except InputError as error:
        raise InputError("search", sentence_of(error)) from error
    finally:
        send(tuple(rows))
    return False


def replacements(replacer: Replacer, notes: Sequence[FoundNote]) -> dict[tuple[Path, SearchHit], str]:
    """What takes the place of each hit. Raises InputError where an expression takes too long."""
    return {(note.path, one.hit): one.text for note in notes for one in replacer.replacements(note)}


def _place_group(note: FoundNote) -> PlaceRow:
    group = PlaceRow(note.title, path=note.path, icon="entry", key=note, tip=note.filename)
    for hit, place in note.excerpts():
        title = number(place.line) if place.line else tr("name")
        group.add(PlaceRow(title, place.text, place.start, place.end, note.path, place.line, key=hit))
    found = len(group.children)  # none where only operators were given: the note itself is what was found
    group.after = f"{note.filename.rpartition('/')[0]}  {number(found) if found else ''}".strip()
    return group


TYPING_MS: Final = 300
OPEN_UP_TO: Final = 300
"""Notes with their lines start open while there are at most this many lines."""


class SearchPane(Pane):
    """`jump` carries a file, a line from 1 (0 for the note as such) and the characters that were found in it."""

    jump = Signal(object, int, int, int)
    _arrived = Signal(object, object)  # the token of the search and rows of it, from the worker

    def __init__(self, theme: Theme, session: Session, work: NoteWork) -> None:
        super().__init__("search", tr("Search"), theme)
        self._session, self._work = session, work
        self._cancel: CancelToken | None = None
        self._query: SearchQuery | None = None
        self._hits = self._look = 0
        self.model = PlaceTree(self)
        self._delay = later(self, self.run, TYPING_MS)
        self._build()
        self._connect()
        self._show_replacing(shown=False)
        self._say_nothing()

    def _build(self) -> None:
        name, placeholder = tr("Search in all notes"), tr("Titles, properties, texts")
        tip = tr("Words, “phrases”, OR, -word, path:, file:, tag:, key:")
        self.search_field = self.field = SearchField(self, name, placeholder, lambda _text: self._delay.start(), tip)
        self.replacement = named(QLineEdit(self, placeholderText=tr("Replace by")), tr("Replace by"))
        ways = ("Aa", tr("Capital letters matter")), ("ab|", tr("Whole words only")), (".*", tr("Regular expression"))
        self.case, self.word, self.regex = (tool(self, name, text=text, checkable=True) for text, name in ways)
        tip = tr("Replace what was found")
        more = tool(self, tr("Show the field for replacing"), tip=tip, checkable=True)
        self.more = iconed(self.theme, more, "pencil")
        self.more.setIconSize(QSize(14, 14))
        for field in (self.field, self.replacement):
            field.setMinimumWidth(50)
        self.apply = button(self, tr("Replace"), self.replace)
        self.stop = iconed(self.theme, tool(self, tr("Stop the search"), self.cancel), "stop")
        self.stop.setIconSize(QSize(13, 13))
        self.state = label(self, kind="small", yields=True)
        self.tree = PlaceView(self.theme, self.model, tr("What was found"), self)
        ways_row = row(self.case, self.word, self.regex, 1, self.more, spacing=2)
        replacing = row((self.replacement, 1), self.apply, spacing=6)
        told = row((self.state, 1), self.stop, spacing=4)
        self.column.addLayout(column(self.field, ways_row, replacing, told, spacing=4, margins=(8, 8, 8, 4)))
        self.column.addWidget(self.or_empty("search", self.tree), 1)

    def _connect(self) -> None:
        self._arrived.connect(self._show_rows, Qt.ConnectionType.QueuedConnection)
        self.field.returnPressed.connect(self._enter)
        for each in (self.case, self.word, self.regex):
            each.toggled.connect(lambda _on: self.run())
        self.more.toggled.connect(lambda on: self._show_replacing(shown=on))
        self.replacement.textChanged.connect(lambda _text: self._preview())
        self.replacement.returnPressed.connect(self.replace)
        self.tree.entered.connect(self._go)
        self.tree.offered = [action(tr("Go to the place"), lambda: self._go(self.tree.currentIndex()), self.tree)]
        self.model.checks_changed.connect(self._settle)
        self._session.project_changed.connect(self._project_changed)
        self._work.changed.connect(self._settle)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def focus_target(self) -> QWidget:
        """The field, or what was found where the field has the keyboard already."""
        return self.field

    def begin(self, words: str = "") -> None:
        """Go to the field, and search for `words` where there are some."""
        if words:
            self.field.setText(words)
        self.open_search()

    def run(self) -> None:
        """Search now."""
        self._delay.stop()
        self._forget()
        self._hits = 0
        self._query = None
        words, project = self.field.text(), self._session.project
        if not words.strip() or project is None or not (project.places or project.books):
            self._say_nothing()
            return
        options = SearchOptions(self.case.isChecked(), self.word.isChecked(), self.regex.isChecked())
        try:
            query = parse_query(words, options)
        except InputError as error:
            self.state.setText(sentence_case(error.message))
            self.say_empty(tr("Not searched"), sentence_case(error.message))
            self._settle()
            return
        self._query = query
        self._start(query)

    def cancel(self) -> None:
        """Stop the search that runs; what was found stays."""
        if self._cancel is not None:
            self._cancel.cancel()

    def _forget(self) -> None:
        self.cancel()
        self._cancel = None
        self.model.set_groups(())

    def replace(self) -> None:
        """Replace what is ticked, as one step that can be undone."""
        replacer, chosen = self._replacer(), self._chosen()
        if replacer is None or not chosen:
            return
        paths = [note.path for note in chosen]
        say, again = self.state.setText, lambda _done: self.run()
        self._work.carry_out(lambda _vaults: plan_replace(replacer, chosen), again, say, paths)

    # ---- searching --------------------------------------------------------------------------------------------------

    def _start(self, query: SearchQuery) -> None:
        token = self._cancel = CancelToken()
        self.state.setText(tr("Searching…"))
        self.stop.show()
        self.pages.setCurrentWidget(self.tree)
        send = partial(self._arrived.emit, token)
        self._work.ask(
            lambda vaults: search_rows(vaults, query, token, send),
            lambda end: self._ended(token, end),
            lambda text: self._wrong(token, text),
            with_drafts=True,
            with_books=True,
        )

    def _show_rows(self, token: CancelToken, rows: tuple[PlaceRow, ...]) -> None:
        if token is not self._cancel:
            return
        first = len(self.model.groups)
        self.model.append(rows)
        self._hits += sum(len(group.children) for group in rows)
        if self._hits <= OPEN_UP_TO:
            for group in rows:
                self.tree.expand(self.model.index_of(group))
        if first == 0 and rows:
            self.tree.setCurrentIndex(self.model.index(0, 0))
        self.state.setText(tr("Searching… {found}", found=self._counted()))
        self._settle()

    def _ended(self, token: CancelToken, cut: bool) -> None:
        if token is not self._cancel:
            return
        self.stop.hide()
        if not self.model.groups:
            self.state.setText(tr("Nothing found"))
            words = shorten(self.field.text(), 60)
            self.say_empty(tr("Nothing found"), tr("No note has “{words}” in what is searched.", words=words))
        else:
            more = " " + tr("The search ended there; search for something rarer.") if cut else ""
            self.state.setText(self._counted() + more)
        self._preview()

    def _wrong(self, token: CancelToken, sentence: str) -> None:
        if token is not self._cancel:
            return
        self.stop.hide()
        self.state.setText(tr("Stopped. {found}", found=self._counted()) if token.cancelled else sentence)
        self._preview()

    def _counted(self) -> str:
        words = ("entry", "entries") if self._of_books else ("note", "notes")
        found = count(len(self.model.groups), *words)
        return tr("{hits} in {notes}", hits=count(self._hits, "place", "places"), notes=found)

    @property
    def _of_books(self) -> bool:
        """Whether a lorebook's entries are searched in place of notes."""
        return self._session.project is not None and self._session.project.of_books

    # ---- replacing --------------------------------------------------------------------------------------------------

    def _replacer(self) -> Replacer | None:
        """What replaces, None where nothing is searched, and where it cannot be read, which is said."""
        try:
            return Replacer(self._query, self.replacement.text()) if self._query is not None else None
        except InputError as error:
            self.state.setText(sentence_case(error.message))
            return None

    def _preview(self) -> None:
        """Show in each line what takes the place of the hit; worked out in a job, as there may be thousands."""
        self._look += 1
        mine = self._look
        replacer = self._replacer() if self.more.isChecked() else None
        notes = [group.key for group in self.model.groups if isinstance(group.key, FoundNote)]
        if replacer is None or not notes:
            self._show_new({})
            return
        self._session.jobs.start(
            tr("Looking at the replacements"),
            lambda _report: replacements(replacer, notes),
            done=lambda new: self._show_new(new) if mine == self._look else None,
            failed=lambda error: self.state.setText(sentence_of(error)),
        )

    def _show_new(self, new: Mapping[tuple[Path, SearchHit], str]) -> None:
        for line in self.model.lines():
            text = new.get((line.path, line.key)) if line.path is not None and isinstance(line.key, SearchHit) else None
            line.new_text = text
            line.checked = None if text is None else (line.checked if line.checked is not None else True)
        self.model.refresh()
        self._settle()

    def _chosen(self) -> list[FoundNote]:
        chosen = []
        for group in self.model.groups:
            hits = tuple(row.key for row in group.children if row.checked and isinstance(row.key, SearchHit))
            if hits and isinstance(group.key, FoundNote):
                chosen.append(replace(group.key, hits=hits))
        return chosen

    def _show_replacing(self, *, shown: bool) -> None:
        self.replacement.setVisible(shown)
        self.apply.setVisible(shown)
        self._preview()
        if shown:
            self.replacement.setFocus()

    def _enter(self) -> None:
        if self._delay.isActive():
            self.run()
        elif self.model.groups:
            self.tree.setFocus()

    def _go(self, index: QModelIndex) -> None:
        row = self.model.place(index)
        if row is None or row.path is None:
            return
        if row.children:
            row = row.children[0]
        self.jump.emit(row.path, row.line, row.start, row.end)

    def _settle(self) -> None:
        ticked = sum(bool(row.checked) for row in self.model.lines()) if self.more.isChecked() else 0
        self.apply.setText(tr("Replace {places}", places=number(ticked)) if ticked else tr("Replace"))
        first = tr("Search, and tick the places first.") if self._work.writes else tr(READ_ONLY)
        able(self.apply, ticked > 0 and self._work.writes, first)

    def _say_nothing(self) -> None:
        self.stop.hide()
        self.state.setText("")
        if self._session.project is None:
            self.say_empty(tr("No vault"), tr("Open the folder with your notes to search them."))
        else:
            title = tr("Search all entries") if self._of_books else tr("Search all notes")
            self.say_empty(title, tr("Type words, a “phrase”, or narrow it: path:places/ tag:npc key:bell -draft."))
        self._settle()

    def _project_changed(self) -> None:
        """What was found is of the vault as it was; search again where, or once, somebody looks."""
        if self.field.text().strip() and self.isVisible():
            self._delay.start()
        else:
            self._forget()
            self._query = None
            self._say_nothing()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: the words may be of before a change of the vault."""
        super().showEvent(event)
        if self._query is None and self.field.text().strip():
            self.run()
