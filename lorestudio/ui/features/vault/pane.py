"""The vault: its notes as a tree or as a table, with a filter; several can be selected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QSettings, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QButtonGroup, QTreeView, QWidget

from lorestudio.domain.entry import Entry, LeftOutNote, NoteKey, VaultIndex
from lorestudio.domain.state import Usage
from lorestudio.studio.notes.making_entries import plain_notes
from lorestudio.studio.notes.usage import usage_of
from lorestudio.studio.project.project import Project
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import Trace
from lorestudio.ui.features.vault.table import Note, NoteMarks, VaultTable
from lorestudio.ui.features.vault.tree import (
    AT_ONCE,
    WRAPPED,
    Branch,
    Node,
    Rows,
    TitleDelegate,
    VaultTree,
    filter_words,
)
from lorestudio.ui.shell.jobs import Newest
from lorestudio.ui.shell.qt import ITEM, later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.drafts import Drafts
from lorestudio.ui.state.expected import ExpectedMarks
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.state.traces import FiringCounts
from lorestudio.ui.widgets.layouts import SearchField, able, column, iconed, label, named, row, tool
from lorestudio.ui.widgets.paint import Mark, fate_mark
from lorestudio.ui.widgets.pane import Pane, filter_doors
from lorestudio.ui.widgets.record_table import RecordView
from lorestudio.ui.widgets.rows import RowTree

FILTER_DELAY_MS: Final = 120
OPEN_UP_TO: Final = 400
"""Folders start open while there are at most this many notes; beyond it a closed folder is easier to find."""

_Rows: TypeAlias = tuple[VaultIndex, Mapping[str, Usage] | None]
"""What the rows are made of: the notes, and what DeepLore has counted."""


class _Filter(SearchField):
    """Says as much of what it finds as there is room for."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrow field says less."""
        forms = (tr("Filter by title, key, tag or file"), tr("Filter by title or key"), tr("Filter"))
        room, metrics = event.size().width() - 24, self.fontMetrics()
        self.setPlaceholderText(next((one for one in forms if metrics.horizontalAdvance(one) <= room), forms[-1]))


class VaultPane(Pane):
    """Follows and sets the chosen entry; marks show what became of each entry in the chosen generation.

    `chosen_changed` says that `chosen` are other notes; `dropped` carries notes, a vault and the folder that they were
    dragged into; `retitled` an entry and the title that was typed over its own; `table_shown` whether the table has
    taken the place of the tree.
    """

    chosen_changed = Signal()
    dropped = Signal(object, str, str)
    retitled = Signal(object, str)
    table_shown = Signal(bool)

    def __init__(
        self, theme: Theme, session: Session, selection: Selection, drafts: Drafts, expected: ExpectedMarks
    ) -> None:
        super().__init__("vault", tr("Vault"), theme)
        self._session, self._selection, self._drafts = session, selection, drafts
        self._fates: Mapping[int, Fate] = {}
        self._trace: Trace | None = None
        self.firing = FiringCounts()
        """In how many runs of this chat entries were matched and injected."""
        self._settings: QSettings | None = None
        self._kept: tuple[tuple[Path, ...], frozenset[tuple[str, str]], int, bool] = ((), frozenset(), 0, False)
        self._quiet = False
        self.now_called: Callable[[Path], Path] = lambda path: path
        """What a file is called now, for finding the selected notes again after they were renamed."""
        marks = NoteMarks(self._mark, self._is_dirty, partial(expected.at, None))
        self.model = VaultTree(self, marks)
        self.table_model = VaultTable(self, self.firing.of, marks, self._search_text)
        expected.changed.connect(self._repaint_marks)
        self.search_field = self.filter = _Filter(self, tr("Filter the vault"))
        self.matches = label(self, kind="small")
        self.totals = named(label(self, kind="small"), tr("Tokens of the vault, or of what is chosen"))
        self.tree = self._made_tree()
        name = tr("Notes of the vault, as a table")
        self.table = RecordView(theme, self.table_model, name, self, many=True, arranged=True)
        self.tree_button, self.table_button = (
            iconed(theme, tool(self, name, checkable=True), icon)
            for name, icon in ((tr("Show as a tree"), "tree"), (tr("Show as a table"), "table"))
        )
        self.columns_button = iconed(theme, tool(self, tr("Choose columns"), self._show_columns), "columns")
        self.columns_button.hide()
        self._delay = later(self, self.apply_filter, FILTER_DELAY_MS)
        self._rows_of: _Rows | None = None
        self._table_of: _Rows | None = None
        self._listing, self._restore_due = Newest(session.jobs), False
        self._plain = 0  # ordinary notes, where there is no entry among them
        self._build()
        self._connect()
        self._show_project()

    def _made_tree(self) -> RowTree:
        tree = named(RowTree(self, headerHidden=True, uniformRowHeights=True, indentation=13), tr("Notes of the vault"))
        tree.setModel(self.model)
        tree.setItemDelegate(TitleDelegate(self.theme, tree))
        tree.setMouseTracking(True)
        tree.setSelectionMode(QTreeView.SelectionMode.ExtendedSelection)
        tree.setDragDropMode(QTreeView.DragDropMode.DragDrop)
        tree.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)  # a second click is none; F2 asks for it
        tree.setDefaultDropAction(Qt.DropAction.MoveAction)
        tree.header().sectionResized.connect(self._measure_titles)
        return tree

    def _build(self) -> None:
        group = QButtonGroup(self)
        for button in (self.tree_button, self.table_button):
            group.addButton(button)
        self.tree_button.setChecked(True)
        buttons = (self.columns_button, self.tree_button, self.table_button)
        for button in buttons:
            button.setIconSize(QSize(14, 14))
        line = row((self.matches, 1), *buttons, spacing=2)
        self.column.addLayout(column(self.filter, line, self.totals, spacing=2, margins=(8, 8, 8, 4)))
        self.column.addWidget(self.or_empty("search", self.tree, self.table), 1)

    def _connect(self) -> None:
        session, selection = self._session, self._selection
        self.filter.textChanged.connect(lambda _text: self._delay.start())
        self.model.dropped.connect(self.dropped)
        self.model.retitled.connect(self.retitled)
        self.table_button.toggled.connect(self.show_table)
        for view in (self.tree, self.table):
            view.selectionModel().currentChanged.connect(self._chosen)
            view.selectionModel().selectionChanged.connect(self._selected)
        session.project_changed.connect(self._show_project)
        session.traces_changed.connect(self._runs_changed)
        session.preview_changed.connect(self._show_marks)
        selection.generation_changed.connect(self._show_marks)
        selection.entry_changed.connect(self._show_entry)
        self._drafts.changed.connect(lambda _path: self._repaint_marks())

    def keep_in(self, settings: QSettings) -> None:
        """Look as remembered: tree or table, and the table's columns."""
        self._settings = settings
        self.table.keep_in(settings, "vault/columns")
        if str(settings.value("vault/view", "")) == "table":
            self.table_button.setChecked(True)

    # ---- what is shown ----------------------------------------------------------------------------------------------

    @property
    def view(self) -> QAbstractItemView:
        """The tree or the table, whichever is chosen."""
        return self.table if self.table_button.isChecked() else self.tree

    def focus_target(self) -> QWidget:
        """The tree or the table."""
        return self.view

    def edit_title(self) -> bool:
        """Let the title be typed over in the tree; False where the keyboard is not on an entry there."""
        index = self.tree.currentIndex()
        if not self.tree.hasFocus() or not index.flags() & Qt.ItemFlag.ItemIsEditable:
            return False
        self.tree.edit(index)
        return True

    def step(self, steps: int) -> None:
        """Choose the next or previous entry of the list as it is shown."""
        if self.view is self.table:
            shown = [note.id for note in self.table_model.rows if isinstance(note, Entry)]
        else:
            shown = self.model.entries()
        if shown:
            place = shown.index(self._selection.entry) if self._selection.entry in shown else (-1 if steps > 0 else 0)
            self._selection.choose_entry(shown[(place + steps) % len(shown)])

    def show_table(self, shown: bool) -> None:
        """Show the table instead of the tree; what is selected stays selected."""
        notes = self._selected_in(self.tree if shown else self.table)
        self.table_button.setChecked(shown)
        self.tree_button.setChecked(not shown)
        self.columns_button.setVisible(shown)
        if shown:
            self._fill_table()
        if self._settings is not None:
            self._settings.setValue("vault/view", "table" if shown else "tree")
        self._filter_shown(partial(self._select, notes))
        if shown:
            self._look_at_files()
        self.table_shown.emit(shown)

    def apply_filter(self) -> None:
        """Filter now."""
        self._delay.stop()
        chosen = self.chosen
        self._filter_shown(partial(self._select, chosen))

    # ---- what is selected -------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> list[Note]:
        """The selected notes, those below selected folders included, in the order of the view."""
        return self._selected_in(self.view)

    def beside(self, gone: Sequence[Path]) -> Path | None:
        """The note that takes the place of those that are gone: the next one of the list, else the one before."""
        table = self.view is self.table
        shown = list(self.table_model.rows) if table else self.model.root.notes
        paths = [self._session.note_path(note) for note in shown]
        lost = set(gone)
        places = [place for place, path in enumerate(paths) if path in lost]
        if not places:
            return None
        order = [*range(places[-1] + 1, len(paths)), *range(places[0] - 1, -1, -1)]
        return next((path for place in order if (path := paths[place]) is not None and path not in lost), None)

    @property
    def folder(self) -> tuple[str, str]:
        """The vault and folder that the keyboard is in, ("", "") for none."""
        index = self.tree.currentIndex()
        node = self.model.node(index)
        if self.view is self.tree and index.isValid() and node.place is not None:
            return node.place
        note = self._selection.note_of(self._session)
        return (note.vault, note.filename.rpartition("/")[0]) if note is not None else ("", "")

    @property
    def chosen_branch(self) -> Node | None:
        """The row of the tree that alone is selected, where it is no note's: a folder's, a vault's, a group's."""
        rows = self.model.rows_in(self.tree.selectionModel().selection()) if self.view is self.tree else []
        return rows[0] if len(rows) == 1 and rows[0].item is None else None

    def _selected_in(self, view: QAbstractItemView) -> list[Note]:
        if view is self.table:
            rows = self.table_model.rows
            return [rows[place] for place in self.table.selected_places() if place < len(rows)]
        branches = self.model.rows_in(self.tree.selectionModel().selection())
        return list(dict.fromkeys(note for branch in branches for note in branch.notes))

    def _select(self, notes: Sequence[Note]) -> None:
        """Select these notes where they are shown, and the chosen one with the keyboard on it."""
        now = self._selection.note_of(self._session)
        self._quiet = True
        try:
            if self.view is self.table:
                rows = [row for note in notes if (row := self.table_model.place_of(note.note_key)) >= 0]
                current = self.table_model.place_of(now.note_key if now is not None else None)
                self.table.select_places(rows or ([current] if current >= 0 else []), current)
            elif len(notes) > 1:
                model, flags = self.tree.selectionModel(), QItemSelectionModel.SelectionFlag
                selection = QItemSelection()
                for first, last in self.model.ranges_of(notes):
                    selection.select(first, last)
                model.select(selection, flags.ClearAndSelect)
                if now is not None:
                    model.setCurrentIndex(self.model.index_of_note(now), flags.NoUpdate)
            else:
                self._show_entry()
        finally:
            self._quiet = False
        self.chosen_changed.emit()

    def keep_selection(self, moved_to: Sequence[Path] = ()) -> None:
        """Remember what is selected and open, by file, and where the tree is scrolled, before the vault is read anew.

        `moved_to` are files to select instead.
        """
        paths = tuple(moved_to) or [self._session.note_path(note) for note in self.chosen]
        opened = (self.model.node(each).place for each in self.model.folder_rows() if self.tree.isExpanded(each))
        self._kept = (
            tuple(path for path in paths if path is not None),
            frozenset(place for place in opened if place is not None),
            self.tree.verticalScrollBar().value(),
            bool(moved_to) or self.tree.viewport().rect().intersects(self.tree.visualRect(self.tree.currentIndex())),
        )

    def restore_selection(self) -> None:
        """Select and open what was remembered, where it is still there; once the notes are listed."""
        self._restore_due = self._listing.busy
        if self._restore_due:
            return
        paths, opened, top, in_sight = self._kept
        for folder in self.model.folder_rows():
            if self.model.node(folder).place in opened:
                self.tree.setExpanded(folder, True)
        self.tree.verticalScrollBar().setValue(top)
        wanted = {self.now_called(path) for path in paths}
        if len(wanted) > 1:
            index = self._session.project.index if self._session.project is not None else VaultIndex()
            self._select([note for note in index.notes if self._session.note_path(note) in wanted])
        else:
            self._select([])
        if in_sight:
            self.tree.scrollTo(self.tree.currentIndex())

    def _show_project(self) -> None:
        project = self._session.project
        index = project.index if project is not None else VaultIndex()
        self.firing.clear()
        self.table_model.exact = project is None or project.counter.exact
        recorded = project.recorded if project is not None else None
        if (index, recorded) != self._rows_of:  # a chat that goes on leaves thousands of rows as they are
            self._rows_of = index, recorded
            self._plain = 0 if index.entries else len(plain_notes(index))
            self.tree.setUniformRowHeights(len(index.entries) > WRAPPED)
            if not self._session.renewed:
                self.model.set_index(VaultIndex())  # the notes of another project are not to be chosen any more
            if self.view is self.table:
                self._fill_table()
            self._list(index, self._settle)
        else:
            self._settle()
        able(self.filter, project is not None, tr("Open a vault, a lorebook or the demo first."))
        self.note_changed.emit(project.name if project is not None else "")
        self.setWindowTitle(tr("Lorebook") if project is not None and project.of_books else self.title)
        self._look_at_files()

    def _list(self, index: VaultIndex, then: Callable[[], object]) -> None:
        """Have the tree hold what the filter leaves of these notes, of many once a job has made their rows."""
        rows, words = self.model.rows, filter_words(self.filter.text())

        def done(made: Rows) -> None:
            self.model.show_rows(made)
            then()
            if self._restore_due:
                self.restore_selection()

        work = partial(Rows, index, words, rows.texts if index is rows.index else None)
        if len(index.entries) + len(index.left_out) <= AT_ONCE:
            self._listing.cancel()
            done(work())
        else:
            title = tr("Listing the notes")
            self._listing.start(title, lambda _job: work(), done=done, failed=self._session.report, owner=self)

    def _fill_table(self) -> None:
        """Give the table its rows, which it has while it is in sight."""
        if self._rows_of is not None and self._table_of != self._rows_of:
            index, recorded = self._table_of = self._rows_of
            self.table_model.set_index(index)
            self.table_model.set_recorded(usage_of(index, recorded) if recorded is not None else {})

    def _settle(self) -> None:
        """After the rows changed: open what should be open, say how many there are, find the chosen one."""
        project, shown = self._session.project, self.table_model if self.view is self.table else self.model
        for node in self.model.root.children if self.model.matches <= OPEN_UP_TO else ():
            quiet = node.kind is Branch.GROUP and node.icon == "left-out"
            if self.model.filtered or not quiet:
                self.tree.expandRecursively(self.model.index_of(node))
        if project is None:
            self.matches.setText("")
            self.totals.setText("")
            self.totals.setToolTip("")
            self.empty.say(tr("No vault"), tr("Open the folder with your notes to begin."))
        else:
            total = count(len(project.index.entries), "entry", "entries")
            self.matches.setText(self._found_words(total) if shown.filtered else total)
            self._show_totals()
            if shown.filtered:
                text = tr("No title, key, tag or file name has all these words.")
                self.empty.say(tr("Nothing found"), text, filter_doors())
            else:
                self._say_no_entries(project)
        offered = bool(self._plain) and not shown.filtered
        self.pages.setCurrentWidget(self.view if self.view.model().rowCount() and not offered else self.empty)
        self._show_entry()

    def _found_words(self, total: str) -> str:
        """How many entries the filter has found, and how many notes that are none."""
        if self.view is self.table:
            amount = len(self.table_model.rows)
            entries = sum(isinstance(note, Entry) for note in self.table_model.rows)
        else:
            amount, entries = self.model.matches, len(self.model.entries())
        found = tr("{matches} of {total}", matches=number(entries), total=total)
        if amount == entries:
            return found
        return tr("{found}, {notes} left out", found=found, notes=count(amount - entries, "note", "notes"))

    def _say_no_entries(self, project: Project) -> None:
        """What an entry is, and how to make some of the notes that are there."""
        notes, tag = self._plain, project.settings.lorebook_tag
        if not (project.index.vaults or project.books):
            doors = (("vault.open", tr("Open vault folder…")), ("book.open", tr("Open lorebook…")))
            self.empty.say(tr("No vault open"), tr("Open the notes or the lorebook that go with this chat."), doors)
            return
        if not notes:
            doors = (("note.new", tr("New note…")), ("book.import", tr("Import lorebooks…")))
            self.empty.say(tr("No entries"), tr("This folder has no notes with the lorebook tag."), doors)
            return
        text = tr(
            "An entry is a note with the tag “{tag}” and with keys: it goes into the prompt when a key is said. "
            "Type above to find the notes as they are.",
            tag=tag,
        )
        title = tr("{notes}, none of them an entry yet", notes=count(notes, "note", "notes"))
        self.empty.say(title, text, (("note.entries", tr("Make entries…")),))

    def _filter_shown(self, then: Callable[[], object]) -> None:
        """Filter what is in sight, and go on; the other view is filtered when it is shown."""

        def done() -> None:
            self._settle()
            then()

        if self.view is self.table:
            self.table_model.set_filter(self.filter.text())
            done()
        elif filter_words(self.filter.text()) != self.model.rows.words or self._listing.busy:
            self._list(self._rows_of[0] if self._rows_of is not None else VaultIndex(), done)
        else:
            done()

    def _search_text(self, note: Note) -> str:
        return self.model.rows.text(note)

    def _show_entry(self) -> None:
        note = self._selection.note_of(self._session)
        index = self.model.index_of_note(note) if note is not None else QModelIndex()
        if index.isValid():
            if self.tree.currentIndex() != index:
                self.tree.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
                self.tree.scrollTo(index)
        elif note is None:
            self.tree.selectionModel().clear()
            self.table.selectionModel().clear()
        row = self.table_model.place_of(note.note_key) if note is not None and self.view is self.table else -1
        if row >= 0 and self.table.currentIndex().row() != row:
            self.table.select_places([row], row)
            self.table.scrollTo(self.table_model.index(row, 0))

    def _chosen(self, current: QModelIndex, _previous: QModelIndex) -> None:
        item = current.data(ITEM)
        note = item.item if isinstance(item, Node) else item
        if isinstance(note, LeftOutNote) or (note is not None and note.id != self._selection.entry):
            self._selection.choose_note(note)

    def _selected(self) -> None:
        if not self._quiet:
            self._show_totals()
            self.chosen_changed.emit()

    def _show_totals(self) -> None:
        """The tokens of all entries and of constants; of those that are chosen, where these are several."""
        project, notes = self._session.project, self.chosen
        several = len(notes) > 1
        index = project.index.entries if project is not None else ()
        entries = [note for note in notes if isinstance(note, Entry)] if several else index
        constants = [entry for entry in entries if entry.constant]
        estimated = "" if self.table_model.exact else "≈ "
        parts = [estimated + count(sum(each.tokens for each in entries), "token", "tokens")]
        if constants or not several:
            always = sum(each.tokens for each in constants)
            parts.append(tr("constants {tokens}", tokens=estimated + number(always)))
        words = " · ".join(parts)
        filtered = (self.table_model if self.view is self.table else self.model).filtered
        whose = tr("all: ") if filtered else ""  # the line above counts what the filter lets through
        chosen = tr("{amount} chosen: ", amount=number(len(notes))) if several else whose
        self.totals.setText((chosen + words).replace("≈ ", "≈\u00a0"))  # a line ends before both or after both
        names = count(len(constants), "constant", "constants")
        self.totals.setToolTip(tr("Of {entries}, {constants}", entries=count(len(entries), "entry", "entries"),
                                  constants=names))  # fmt: skip

    def _show_columns(self) -> None:
        corner = self.columns_button.rect().bottomLeft()
        self.table.columns_menu().popup(self.columns_button.mapToGlobal(corner))

    def _look_at_files(self) -> None:
        """When the files were changed, for the table; asked in a job, as thousands of files take a while."""
        project = self._session.project
        if project is None or self.view is not self.table:
            return
        self._session.jobs.start(
            tr("Looking at the files"),
            lambda _report: _modified(project),
            done=self.table_model.set_modified,
            failed=lambda _error: None,  # the column stays empty, as for a vault without a folder
        )

    def _runs_changed(self, generations: object) -> None:
        changed = generations if isinstance(generations, tuple) else None
        if self.firing.take(self._session.runs.traces, changed):
            self.table_model.refresh_fired()
        self._show_marks()

    def _show_marks(self) -> None:
        trace = self._session.runs.trace(self._selection.generation)
        if trace is not self._trace:
            self._trace = trace
            self._fates = self._session.runs.journeys(trace).fates if trace is not None else {}
            self._repaint_marks()

    def _measure_titles(self) -> None:
        """They have another width, at which their lines break elsewhere."""
        if not self.tree.uniformRowHeights():
            self.tree.scheduleDelayedItemsLayout()

    def _repaint_marks(self) -> None:
        self._measure_titles()  # a mark takes room; first: then Qt measures the rows that change once, and not at once
        if not self.tree.uniformRowHeights():
            self.model.refresh_marks()  # of thousands of open rows Qt would look at each; painted they are anyhow
        self.table_model.refresh_marks()
        self.tree.viewport().update()

    def _mark(self, entry: int) -> Mark | None:
        fate = self._fates.get(entry)
        return fate_mark(fate) if fate is not None else None

    def _is_dirty(self, note: Note) -> bool:
        path = self._session.note_path(note) if self._drafts.all else None
        return path is not None and self._drafts.get(path) is not None


def _modified(project: Project) -> dict[NoteKey, float]:
    """When the files of all notes were last changed: seconds since 1970 by vault and file name."""
    found = {}
    for note in project.index.notes:
        path = project.note_path(*note.note_key)
        with suppress(OSError):  # it is gone, and will be gone from the list too
            if path is not None:
                found[note.note_key] = path.stat().st_mtime
    return found
