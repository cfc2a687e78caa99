"""The vault: its notes as a tree, with a filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QStackedWidget, QTreeView, QVBoxLayout, QWidget

from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import Trace
from lorestudio.ui.drafts import Drafts
from lorestudio.ui.models.marks import Mark, fate_mark
from lorestudio.ui.models.vault_tree import Branch, VaultTree
from lorestudio.ui.qt import ENTRY_ID
from lorestudio.ui.selection import Selection
from lorestudio.ui.session import Session
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.empty import EmptyState
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.vault_delegate import VaultDelegate
from lorestudio.ui.words import count, number, tr

FILTER_DELAY_MS: Final = 120
OPEN_UP_TO: Final = 400
"""Folders start open while there are at most this many notes; beyond it a closed folder is easier to find."""


class _Filter(QLineEdit):
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Escape empties the field."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class VaultPane(Pane):
    """Follows and sets the chosen entry; marks show what became of each entry in the chosen generation."""

    def __init__(self, theme: Theme, session: Session, selection: Selection, drafts: Drafts) -> None:
        super().__init__("vault", tr("Vault"), theme)
        self._session, self._selection, self._drafts = session, selection, drafts
        self._fates: Mapping[int, Fate] = {}
        self._trace: Trace | None = None
        self.model = VaultTree(self)
        self.model.set_marks(self._mark, self._is_dirty)
        self.filter = _Filter(self)
        self.filter.setPlaceholderText(tr("Filter by title, key, tag or file"))
        self.filter.setAccessibleName(tr("Filter the vault"))
        self.filter.setClearButtonEnabled(True)
        self.matches = QLabel(self)
        self.matches.setProperty("kind", "small")
        self.tree = QTreeView(self)
        self.tree.setModel(self.model)
        self.tree.setHeaderHidden(True)
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(13)
        self.tree.setItemDelegate(VaultDelegate(theme, self.tree))
        self.tree.setAccessibleName(tr("Notes of the vault"))
        self.tree.setMouseTracking(True)
        self.empty = EmptyState(theme, "search", self)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.tree)
        self._pages.addWidget(self.empty)
        head = QWidget(self)
        row = QVBoxLayout(head)
        row.setContentsMargins(8, 8, 8, 5)
        row.setSpacing(3)
        row.addWidget(self.filter)
        line = QHBoxLayout()
        line.addWidget(self.matches)
        row.addLayout(line)
        self.column.addWidget(head)
        self.column.addWidget(self._pages, 1)
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(FILTER_DELAY_MS)
        self._delay.timeout.connect(self.apply_filter)
        self.filter.textChanged.connect(lambda _text: self._delay.start())
        self.tree.selectionModel().currentChanged.connect(self._chosen)
        session.project_changed.connect(self._show_project)
        session.traces_changed.connect(lambda _generations: self._show_marks())
        session.preview_changed.connect(self._show_marks)
        selection.generation_changed.connect(self._show_marks)
        selection.entry_changed.connect(self._show_entry)
        drafts.changed.connect(lambda _path: self.model.refresh_marks())
        theme.changed.connect(self.tree.viewport().update)
        self._show_project()

    def focus_target(self) -> QWidget:
        """The tree."""
        return self.tree

    def open_search(self) -> bool:
        """Go to the filter."""
        self.filter.setFocus()
        self.filter.selectAll()
        return True

    def step(self, steps: int) -> None:
        """Choose the next or previous entry of the list as it is shown."""
        shown = self.model.entries()
        if shown:
            place = shown.index(self._selection.entry) if self._selection.entry in shown else (-1 if steps > 0 else 0)
            self._selection.choose_entry(shown[(place + steps) % len(shown)])

    def apply_filter(self) -> None:
        """Filter now."""
        self._delay.stop()
        self.model.set_filter(self.filter.text())
        self._settle()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _show_project(self) -> None:
        project = self._session.project
        self.model.set_index(project.index if project is not None else VaultIndex())
        self.filter.setEnabled(project is not None)
        self.note_changed.emit(project.name if project is not None else "")
        self._settle()

    def _settle(self) -> None:
        """After the rows changed: open what should be open, say how many there are, find the chosen one."""
        project = self._session.project
        for row in range(self.model.rowCount()):
            index = self.model.index(row, 0)
            node = self.model.node(index)
            quiet = node.kind is Branch.GROUP and node.icon == "left-out"
            if self.model.matches <= OPEN_UP_TO and (self.model.filtered or not quiet):
                self.tree.expandRecursively(index)
        if project is None:
            self.matches.setText("")
            self.empty.say(tr("No vault"), tr("Open the folder with your notes to begin."))
        else:
            total = count(len(project.index.entries), "entry", "entries")
            found = tr("{matches} of {total}", matches=number(self.model.matches), total=total)
            self.matches.setText(found if self.model.filtered else total)
            if self.model.filtered:
                self.empty.say(tr("Nothing found"), tr("No title, key, tag or file name has all these words."))
            else:
                self.empty.say(tr("No entries"), tr("This folder has no notes with the lorebook tag."))
        self._pages.setCurrentWidget(self.tree if self.model.rowCount() else self.empty)
        self._show_entry()

    def _show_entry(self) -> None:
        index = self.model.index_of(self._selection.entry)
        if index.isValid():
            if self.tree.currentIndex() != index:
                self.tree.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
                self.tree.scrollTo(index)
        elif self._selection.entry is None and self._selection.left_out is None:
            self.tree.selectionModel().clear()

    def _chosen(self, current: QModelIndex, _previous: QModelIndex) -> None:
        entry = current.data(ENTRY_ID)
        item = self.model.node(current).item
        if isinstance(entry, int):
            if entry != self._selection.entry:
                self._selection.choose_entry(entry)
        elif isinstance(item, LeftOutNote):
            self._selection.choose_left_out(item)

    def _show_marks(self) -> None:
        trace = self._session.trace(self._selection.generation)
        if trace is not self._trace:
            self._trace = trace
            self._fates = self._session.journeys(trace).fates if trace is not None else {}
            self.model.refresh_marks()
            self.tree.viewport().update()

    def _mark(self, entry: int) -> Mark | None:
        fate = self._fates.get(entry)
        return fate_mark(fate) if fate is not None else None

    def _is_dirty(self, note: Entry | LeftOutNote) -> bool:
        path = self._session.note_path(note) if self._drafts.all else None
        return path is not None and self._drafts.get(path) is not None
