"""What the chosen note hangs together with: backlinks, mentions to link, links, and what its text wakes.

How a note hangs together with others, as rows: references both ways, mentions without a link, and wakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from PySide6.QtCore import QModelIndex, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QStackedWidget, QWidget

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.studio.notes.replacing import plan_links
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.systems.key_search import Wake, WakeFinder
from lorestudio.systems.registry import MAIN
from lorestudio.ui.features.vault.table import note_title
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.pane import EmptyState, Pane
from lorestudio.ui.widgets.tree import PlaceRow, PlaceTree, PlaceView
from lorestudio.vault.links.index import Backlink, OutgoingLink
from lorestudio.vault.links.mentions import Mention
from lorestudio.vault.links.references import Excerpt, ReferenceKind

MOST_WAKES = 300
"""More rows than this say nothing any more; their number is said."""

_OBSTACLES = {
    "warmup_short": "too rarely for its warmup",
    "probability_zero": "but its probability is 0",
}


class Section(StrEnum):
    """The groups of the pane."""

    BACKLINKS = "backlinks"
    MENTIONS = "mentions"
    OUTGOING = "outgoing"
    MISSING = "missing"
    WAKES = "wakes"
    WOKEN_BY = "woken by"


TITLES = {
    Section.BACKLINKS: "Linked from",
    Section.MENTIONS: "Mentioned without a link",
    Section.OUTGOING: "Links to",
    Section.MISSING: "Links to notes that do not exist",
    Section.WAKES: "Wakes",
    Section.WOKEN_BY: "Woken by",
}
TIPS = {
    Section.BACKLINKS: "References of other notes to this one, in links and in properties",
    Section.MENTIONS: "Where a name or a key of this note stands in the text of others",
    Section.OUTGOING: "References of this note to others",
    Section.MISSING: "References of this note that lead nowhere yet; Enter makes the note",
    Section.WAKES: "Entries whose keys stand in the text of this one: recursion lets them in",
    Section.WOKEN_BY: "Entries whose text has a key of this one",
}


@dataclass(frozen=True, slots=True)
class NoteLinks:
    """The references and mentions of one note."""

    path: Path
    rows: tuple[PlaceRow, ...]


def link_rows(vaults: Sequence[VaultNotes], path: Path) -> NoteLinks:
    """The groups for a note, empty ones left out; no rows for a file that is no note of the vaults."""
    for vault in vaults:
        filename = vault.filename(path)
        if filename is not None:
            index = vault.index
            outgoing = index.outgoing(filename)
            groups = (
                _section(Section.BACKLINKS, [_backlink(vault, link) for link in index.backlinks(filename)]),
                _section(Section.MENTIONS, [_mention(vault, mention) for mention in index.mentions(filename)]),
                _section(Section.OUTGOING, [_outgoing(vault, link) for link in outgoing if link.target.exists]),
                _section(
                    Section.MISSING, [_missing(vault, filename, link) for link in outgoing if not link.target.exists]
                ),
            )
            return NoteLinks(path, tuple(group for group in groups if group.children))
    return NoteLinks(path, ())


def wake_rows(
    finder: WakeFinder, entry: Entry, folders: Sequence[Path | None], cancel: CancelToken
) -> tuple[PlaceRow, ...]:
    """What the entry wakes and what wakes it, empty groups left out. Raises Cancelled."""
    found = (
        (Section.WAKES, [(wake, wake.target) for wake in finder.wakes(entry)]),
        (Section.WOKEN_BY, [(wake, wake.source) for wake in finder.woken_by(entry, cancel)]),
    )
    groups = []
    for section, wakes in found:
        group = _section(section, [_wake(finder.vault, wake, other, folders) for wake, other in wakes[:MOST_WAKES]])
        group.after = number(len(wakes))
        if len(wakes) > MOST_WAKES:
            group.after = tr("{shown} of {all}", shown=number(MOST_WAKES), all=number(len(wakes)))
        groups.append(group)
    return tuple(group for group in groups if group.children)


def _section(section: Section, rows: list[PlaceRow]) -> PlaceRow:
    return PlaceRow(tr(TITLES[section]), key=section, tip=tr(TIPS[section]), children=rows)


def _line(title: str, path: Path, place: Excerpt, key: object, after: str = "") -> PlaceRow:
    return PlaceRow(title, place.text, place.start, place.end, path, place.line, after=after, key=key)


def _backlink(vault: VaultNotes, link: Backlink) -> PlaceRow:
    title = vault.index.notes[link.source].names.title
    return _line(title, vault.path(link.source), link.excerpt, link, _readers(link.in_deeplore, link.reference.kind))


def _mention(vault: VaultNotes, mention: Mention) -> PlaceRow:
    title = vault.index.notes[mention.source].names.title
    row = _line(title, vault.path(mention.source), mention.excerpt, mention, tr(mention.of.value))
    row.tip = tr("Its {what} stands here as plain text.", what=tr(mention.of.value))
    return row


def _outgoing(vault: VaultNotes, link: OutgoingLink) -> PlaceRow:
    filename = link.target.filename or ""
    known = vault.index.notes.get(filename)
    title = known.names.title if known is not None else filename
    # Going to it is what is wanted, not to the line that names it.
    row = PlaceRow(title, path=vault.path(filename), after=_readers(link.in_deeplore, link.reference.kind), key=link)
    row.tip = link.excerpt.text.strip()
    return row


def _missing(vault: VaultNotes, filename: str, link: OutgoingLink) -> PlaceRow:
    return _line(link.reference.target, vault.path(filename), link.excerpt, link)


def _readers(in_deeplore: bool, kind: ReferenceKind) -> str:  # private
    words = {
        ReferenceKind.REQUIRES: "requires",
        ReferenceKind.EXCLUDES: "excludes",
        ReferenceKind.CASCADE_LINKS: "cascade",
        ReferenceKind.PROPERTY: "property",
        ReferenceKind.EMBED: "embedded",
    }
    word = tr(words[kind]) if kind in words else ""
    return word if in_deeplore else tr("{word} · not for DeepLore", word=word).removeprefix(" · ")


def _wake(vault: VaultIndex, wake: Wake, other: int, folders: Sequence[Path | None]) -> PlaceRow:
    entry = vault.entries[other]
    home = folders[vault.vaults.index(entry.vault)] if entry.vault in vault.vaults else None
    words = tr("“{key}”", key=wake.key)
    if wake.refine_key:
        words += " + " + tr("“{key}”", key=wake.refine_key)
    if wake.obstacle:
        words += ", " + tr(_OBSTACLES.get(wake.obstacle, wake.obstacle))
    path = home / entry.filename if home is not None else None
    return PlaceRow(entry.title, path=path, after=words, key=wake)


def how_many(rows: Sequence[PlaceRow], section: Section) -> str:
    """`3 backlinks` for the pane's title."""
    amount = next((len(row.children) for row in rows if row.key is section), 0)
    return count(amount, "backlink", "backlinks")


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
            finder = known if known is not None and known.vault is index else MAIN.key_search(settings).wakes(index)
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
