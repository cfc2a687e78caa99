"""What the chosen note hangs together with: backlinks, mentions to link, links, and what its text wakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QModelIndex, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QStackedWidget, QWidget

from lorestudio.domain.entry import Entry
from lorestudio.studio.entry_wakes import WakeFinder
from lorestudio.studio.jobs import CancelToken
from lorestudio.studio.mention_links import plan_links
from lorestudio.studio.vault_notes import Planned, VaultNotes
from lorestudio.ui.models.link_rows import NoteLinks, Section, how_many, link_rows, wake_rows
from lorestudio.ui.models.note_rows import note_title
from lorestudio.ui.models.place_tree import PlaceRow, PlaceTree
from lorestudio.ui.note_work import NoteWork
from lorestudio.ui.selection import Selection
from lorestudio.ui.session import Session
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.empty import EmptyState
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.place_view import PlaceView
from lorestudio.ui.words import number, tr
from lorestudio.vault.link_index import OutgoingLink
from lorestudio.vault.mentions import Mention

PAUSE_MS: Final = 250
"""Whoever walks through the list of notes is not looking at their links yet."""

OPEN_UP_TO: Final = 60
"""Longer groups start closed, as they would hide the others."""


class LinksPane(Pane):
    """Follows the chosen note while it is in sight. `jump` is as in the search pane.

    `create_wanted` carries the title of a note that does not exist yet.
    """

    jump = Signal(object, int, int, int)
    create_wanted = Signal(str)

    def __init__(self, theme: Theme, session: Session, selection: Selection, work: NoteWork) -> None:
        super().__init__("links", tr("Links"), theme)
        self._session, self._selection, self._work = session, selection, work
        self._path: Path | None = None
        self._number = 0
        self._cancel = CancelToken()
        self._finder: WakeFinder | None = None
        self._pending = 0
        self.model = PlaceTree(self)
        self.tree = PlaceView(theme, self.model, tr("Links of the note"), self)
        self.link = QPushButton(tr("Link"), self)
        self.link_all = QPushButton(tr("Link all"), self)
        self.make = QPushButton(tr("Create"), self)
        self.state = QLabel(self)
        self.empty = EmptyState(theme, "link", self)
        self._pages = QStackedWidget(self)
        self._delay = QTimer(self)
        self._build()
        self._say_nothing()

    def _build(self) -> None:
        self._delay.setSingleShot(True)
        self._delay.setInterval(PAUSE_MS)
        self._delay.timeout.connect(self.look)
        self.state.setProperty("kind", "small")
        self.state.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._pages.addWidget(self.tree)
        self._pages.addWidget(self.empty)
        self.link.setToolTip(tr("Make a link of the chosen mention"))
        self.link_all.setToolTip(tr("Make links of all mentions, as one step"))
        self.make.setToolTip(tr("Make the note that the chosen link names"))
        foot = QWidget(self)
        row = QHBoxLayout(foot)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(6)
        row.addWidget(self.state, 1)
        for button in (self.link, self.link_all, self.make):
            row.addWidget(button)
        self.column.addWidget(self._pages, 1)
        self.column.addWidget(foot)
        self.tree.entered.connect(self._enter)
        self.tree.selectionModel().currentChanged.connect(lambda *_indexes: self._settle())
        self.link.clicked.connect(self.link_chosen)
        self.link_all.clicked.connect(self.link_everything)
        self.make.clicked.connect(self.create_chosen)
        self._selection.entry_changed.connect(self._wait)
        self._session.project_changed.connect(self._wait)
        self._work.changed.connect(self._settle)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def focus_target(self) -> QWidget:
        """The rows."""
        return self.tree if self._pages.currentWidget() is self.tree else self

    def look(self) -> None:
        """Look at the links of the chosen note now."""
        self._delay.stop()
        self._cancel.cancel()
        self._cancel = CancelToken()
        self._number += 1
        mine = self._number
        session = self._session
        note = session.entry(self._selection.entry) or self._selection.left_out
        path = session.note_path(note) if note is not None else None
        if note is None or session.project is None:
            self._path = None
            self._say_nothing()
            return
        if path != self._path:
            self.model.clear()
        self._path = path
        self._pending = 0
        self._pages.setCurrentWidget(self.tree)
        self.state.setText(tr("Looking at {title}…", title=note_title(note)))
        if path is not None and self._work.folders:
            self._pending += 1
            target = path
            self._work.ask(
                lambda vaults: link_rows(vaults, target),
                lambda found: self._show_links(mine, found),
                lambda text: self._failed(mine, text),
                with_drafts=True,
            )
        if isinstance(note, Entry):
            self._ask_wakes(mine, note)
        self._settle()

    def link_chosen(self) -> None:
        """Make a link of the mention that the keyboard is on."""
        mention = self._current()
        if mention is not None and isinstance(mention.key, Mention):
            self._link([mention.key])

    def link_everything(self) -> None:
        """Make links of all mentions."""
        self._link(self._mentions())

    def create_chosen(self) -> None:
        """Make the note that the chosen link names."""
        row = self._current()
        if row is not None and _is_missing(row):
            self.create_wanted.emit(row.title)

    # ---- asking -----------------------------------------------------------------------------------------------------

    def _wait(self) -> None:
        if self.isVisible():
            self._delay.start()

    def _ask_wakes(self, mine: int, entry: Entry) -> None:
        project = self._session.project
        if project is None:
            return
        self._pending += 1
        index, settings, folders, token = project.index, project.settings, project.vault_folders, self._cancel
        known = self._finder

        def work(_report: object) -> tuple[WakeFinder, tuple[PlaceRow, ...]]:
            finder = known if known is not None and known.vault is index else WakeFinder(index, settings)
            return finder, wake_rows(finder, entry, folders, token)

        def done(result: tuple[WakeFinder, tuple[PlaceRow, ...]]) -> None:
            self._finder = result[0]
            if mine == self._number:
                self._merge(result[1], {Section.WAKES, Section.WOKEN_BY})

        self._session.jobs.start(
            tr("Looking at keys"), work, done=done, failed=lambda error: self._failed(mine, str(error))
        )

    def _show_links(self, mine: int, found: NoteLinks) -> None:
        if mine == self._number:
            self._merge(found.rows, set(Section) - {Section.WAKES, Section.WOKEN_BY})

    def _merge(self, rows: Sequence[PlaceRow], sections: set[Section]) -> None:
        """Show these groups in place of those of the same sections."""
        self._pending -= 1
        order = list(Section)
        kept = [row for row in self.model.groups if row.key not in sections]
        groups = sorted([*kept, *rows], key=lambda row: order.index(row.key) if isinstance(row.key, Section) else 0)
        self.model.set_groups(groups)
        for group in groups:
            self.tree.setExpanded(self.model.index_of(group), len(group.children) <= OPEN_UP_TO or group.row == 0)
        if groups:
            self.tree.setCurrentIndex(self.model.index(0, 0))
        self.note_changed.emit(how_many(groups, Section.BACKLINKS) if groups else "")
        self._settle()
        if self._pending > 0:
            return
        self.state.setText("")
        if not groups:
            self.empty.say(
                tr("No links"),
                tr("Nothing links to this note or names it, it links to nothing, and no key wakes it or is in it."),
            )
            self._pages.setCurrentWidget(self.empty)

    def _failed(self, mine: int, sentence: str) -> None:
        if mine == self._number and sentence:
            self.state.setText(sentence)
            self.state.setToolTip(sentence)

    def _link(self, mentions: Sequence[Mention]) -> None:
        path = self._path
        if path is None or not mentions:
            return

        def plan(vaults: Sequence[VaultNotes]) -> Planned:
            return plan_links(vaults, path, mentions)

        sources = {row.path for row in self.model.lines() if row.path is not None and row.key in mentions}
        self._work.carry_out(plan, lambda _done: self.look(), about=sources)

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _current(self) -> PlaceRow | None:
        row = self.model.place(self.tree.currentIndex())
        return None if row is None or row.children else row

    def _mentions(self) -> list[Mention]:
        return [row.key for row in self.model.lines() if isinstance(row.key, Mention)]

    def _enter(self, index: QModelIndex) -> None:
        row = self.model.place(index)
        if row is None or row.children:
            self.tree.setExpanded(index, not self.tree.isExpanded(index))
        elif row.path is not None:
            self.jump.emit(row.path, row.line, row.start, row.end)

    def _settle(self) -> None:
        row, mentions, ready = self._current(), self._mentions(), self._work.ready
        self.link.setVisible(ready and row is not None and isinstance(row.key, Mention))
        self.link_all.setVisible(ready and len(mentions) > 1)
        self.link_all.setText(tr("Link all {amount}", amount=number(len(mentions))))
        self.make.setVisible(ready and row is not None and _is_missing(row))

    def _say_nothing(self) -> None:
        self.model.clear()
        self.state.setText("")
        self.note_changed.emit("")
        if self._session.project is None:
            self.empty.say(tr("No vault"), tr("Open the folder with your notes to see how they hang together."))
        else:
            self.empty.say(tr("No note chosen"), tr("Choose one to see what links to it, and what its text wakes."))
        self._pages.setCurrentWidget(self.empty)
        self._settle()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: what happened while nobody looked."""
        super().showEvent(event)
        self._delay.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Qt: nobody looks any more."""
        super().hideEvent(event)
        self._delay.stop()
        self._cancel.cancel()


def _is_missing(row: PlaceRow) -> bool:
    return isinstance(row.key, OutgoingLink) and not row.key.target.exists
