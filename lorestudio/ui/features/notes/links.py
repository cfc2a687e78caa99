"""What the chosen note hangs together with: references both ways, mentions to link, and what wakes what."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QWidget

from lorestudio.domain.entry import Entry
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.studio.notes.search import plan_links
from lorestudio.studio.notes.vault_notes import VaultNotes
from lorestudio.systems.base import Deciding, Wake, WakeFinder
from lorestudio.ui.shell.qt import later, plain
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.layouts import button, label, row
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.rows import action
from lorestudio.ui.widgets.tree import PlaceRow, PlaceTree, PlaceView
from lorestudio.vault.links.index import Backlink, OutgoingLink
from lorestudio.vault.links.mentions import Mention
from lorestudio.vault.links.references import Excerpt, ReferenceKind
from lorestudio.vault.links.targets import is_file_name

MOST_WAKES = 300
"""More rows than this say nothing any more; their number is said."""


class LinkSection(StrEnum):
    """The groups of the pane."""

    BACKLINKS = "backlinks"
    MENTIONS = "mentions"
    OUTGOING = "outgoing"
    MISSING = "missing"
    WAKES = "wakes"
    WOKEN_BY = "woken by"


_SECTIONS: Final = {
    LinkSection.BACKLINKS: ("Linked from", "References of other notes to this one, in links and in properties"),
    LinkSection.MENTIONS: (
        "Mentioned without a link",
        "Where a name or a key of this note stands in the text of others",
    ),
    LinkSection.OUTGOING: ("Links to", "References of this note to others"),
    LinkSection.MISSING: (
        "Links to notes that do not exist",
        "References of this note that lead nowhere yet; Enter goes to the place",
    ),
    LinkSection.WAKES: ("Wakes", "Entries whose keys stand in the text of this one: recursion lets them in"),
    LinkSection.WOKEN_BY: ("Woken by", "Entries whose text has a key of this one"),
}
"""Title and tip of each."""
_OF_KEYS: Final = {LinkSection.WAKES, LinkSection.WOKEN_BY}


def link_rows(vaults: Sequence[VaultNotes], path: Path) -> tuple[PlaceRow, ...]:
    """The groups for a note, empty ones left out; no rows for a file that is no note of the vaults."""
    for vault in vaults:
        filename = vault.filename(path)
        if filename is not None:
            index, home = vault.index, vault.path(filename)
            outgoing = index.outgoing(filename)
            missing = [link for link in outgoing if not link.target.exists]
            groups = (
                _section(LinkSection.BACKLINKS, [_backlink(vault, link) for link in index.backlinks(filename)]),
                _section(LinkSection.MENTIONS, [_mention(vault, mention) for mention in index.mentions(filename)]),
                _section(LinkSection.OUTGOING, [_outgoing(vault, link) for link in outgoing if link.target.exists]),
                _section(
                    LinkSection.MISSING, [_line(link.reference.target, home, link.excerpt, link) for link in missing]
                ),
            )
            return tuple(group for group in groups if group.children)
    return ()


def wake_rows(
    finder: WakeFinder, entry: Entry, path_of: Callable[[str, str], Path | None], cancel: CancelToken
) -> tuple[PlaceRow, ...]:
    """What the entry wakes and what wakes it, empty groups left out. Raises Cancelled.

    `path_of` gives the file of a note by its vault and name.
    """
    found = (
        (LinkSection.WAKES, [(wake, wake.target) for wake in finder.wakes(entry)]),
        (LinkSection.WOKEN_BY, [(wake, wake.source) for wake in finder.woken_by(entry, cancel)]),
    )
    groups = []
    for section, wakes in found:
        group = _section(
            section, [_wake(finder.vault.entries[other], wake, path_of) for wake, other in wakes[:MOST_WAKES]]
        )
        group.after = number(len(wakes))
        if len(wakes) > MOST_WAKES:
            group.after = tr("{shown} of {all}", shown=number(MOST_WAKES), all=number(len(wakes)))
        groups.append(group)
    return tuple(group for group in groups if group.children)


def _section(section: LinkSection, rows: list[PlaceRow]) -> PlaceRow:
    title, tip = _SECTIONS[section]
    group = PlaceRow(tr(title), key=section, tip=tr(tip))
    group.add(*rows)
    return group


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


def _readers(in_deeplore: bool, kind: ReferenceKind) -> str:
    words = {
        ReferenceKind.REQUIRES: "requires",
        ReferenceKind.EXCLUDES: "excludes",
        ReferenceKind.CASCADE_LINKS: "cascade",
        ReferenceKind.PROPERTY: "property",
        ReferenceKind.EMBED: "embedded",
    }
    word = tr(words[kind]) if kind in words else ""
    return word if in_deeplore else tr("{word} · not for DeepLore", word=word).removeprefix(" · ")


def _wake(entry: Entry, wake: Wake, path_of: Callable[[str, str], Path | None]) -> PlaceRow:
    return PlaceRow(entry.title, path=path_of(entry.vault, entry.filename), after=wake.words, key=wake)


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
        self._cancel = CancelToken()
        self._finder: WakeFinder | None = None
        self._found_by: Deciding | None = None
        self._pending = 0
        self.model = PlaceTree(self)
        self.tree = PlaceView(theme, self.model, tr("Links of the note"), self)
        self.link = button(self, tr("Link"), self.link_chosen, tip=tr("Make a link of the chosen mention"))
        tip = tr("Make links of all mentions, as one step")
        self.link_all = button(self, tr("Link all"), self.link_everything, tip=tip)
        self.make = button(self, tr("Create"), self.create_chosen, tip=tr("Make the note that the chosen link names"))
        self.go = action(tr("Go to the place"), lambda: self._enter(self.tree.currentIndex()), self.tree)
        self.tree.offered = [self.go, self.link, self.link_all, self.make]
        self.state = label(self, kind="small", yields=True)
        self._delay = later(self, self.look, PAUSE_MS)
        self.looked_at.connect(self._delay.start)
        self.looked_away.connect(self._rest)
        self.column.addWidget(self.or_empty("link", self.tree), 1)
        foot = row((self.state, 1), self.link, self.link_all, self.make, spacing=6, margins=(8, 4, 8, 4))
        self.column.addLayout(foot)
        self.tree.entered.connect(self._enter)
        self.tree.selectionModel().currentChanged.connect(lambda *_indexes: self._settle())
        self._selection.entry_changed.connect(self._wait)
        self._session.project_changed.connect(self._wait)
        self._session.choice_changed.connect(self._wait)
        self._session.reading.beside_changed.connect(self._wait)
        self._work.changed.connect(self._settle)
        self._say_nothing()

    # ---- what can be done -------------------------------------------------------------------------------------------

    def focus_target(self) -> QWidget:
        """The rows."""
        return self.tree if self.pages.currentWidget() is self.tree else self

    def look(self) -> None:
        """Look at the links of the chosen note now."""
        self._delay.stop()
        self._cancel.cancel()
        mine = self._cancel = CancelToken()
        session = self._session
        note = self._selection.note_of(session)
        path = session.note_path(note) if note is not None else None
        if note is None or session.project is None:
            self._path = None
            self._say_nothing()
            return
        if path != self._path:
            self.model.set_groups(())
        self._path = path
        self._pending = 0
        self.pages.setCurrentWidget(self.tree)
        self.state.setText(tr("Looking at the links…"))
        if path is not None and self._work.folders:
            self._pending += 1
            target = path
            self._work.ask(
                lambda vaults: link_rows(vaults, target),
                lambda found: self._merge(mine, found, set(LinkSection) - _OF_KEYS),
                lambda text: self._failed(mine, text),
                with_drafts=True,
            )
        if isinstance(note, Entry):
            self._ask_wakes(mine, note)
        self._settle()

    def _rest(self) -> None:
        self._delay.stop()
        self._cancel.cancel()

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

    def _ask_wakes(self, mine: CancelToken, entry: Entry) -> None:
        project = self._session.project
        if project is None:
            return
        self._pending += 1
        index, known = project.index, self._finder
        by = self._session.choice.deciding(project)
        fits = known is not None and known.vault is index and self._found_by == by

        def work(_report: object) -> tuple[WakeFinder, tuple[PlaceRow, ...]]:
            finder = known if known is not None and fits else by.wakes(project.scene())
            return finder, wake_rows(finder, entry, project.note_path, mine)

        def done(result: tuple[WakeFinder, tuple[PlaceRow, ...]]) -> None:
            self._finder, self._found_by = result[0], by
            self._merge(mine, result[1], _OF_KEYS)

        self._session.jobs.start(
            tr("Looking at keys"), work, done=done, failed=lambda error: self._failed(mine, str(error))
        )

    def _merge(self, mine: CancelToken, rows: Sequence[PlaceRow], sections: Collection[LinkSection]) -> None:
        """Show these groups in place of those of the same sections."""
        if mine is not self._cancel:
            return
        self._pending -= 1
        order = list(LinkSection)
        kept = [row for row in self.model.groups if row.key not in sections]
        groups = sorted([*kept, *rows], key=lambda row: order.index(row.key) if isinstance(row.key, LinkSection) else 0)
        at, scrolled = self._place(), self.tree.verticalScrollBar().value()
        left = {row.key: self.tree.isExpanded(self.model.index_of(row)) for row in self.model.groups}
        self.model.set_groups(groups)
        for group in groups:
            opened = len(group.children) <= OPEN_UP_TO or group.row == 0
            self.tree.setExpanded(self.model.index_of(group), left.get(group.key, opened))
        self._go_to(*at)
        self.tree.verticalScrollBar().setValue(scrolled)
        self.tree.scrollTo(self.tree.currentIndex())
        links = next((len(group.children) for group in groups if group.key is LinkSection.BACKLINKS), 0)
        self.note_changed.emit(count(links, "backlink", "backlinks") if groups else "")
        self._settle()
        if self._pending > 0:
            return
        finder, by = self._finder, self._found_by
        silence = by.silence(finder) if finder is not None and by is not None else ""
        self.state.setText(tr(silence))
        if not groups:
            told = tr("Nothing links to this note, names it or wakes it, and it links to nothing and wakes nothing.")
            if finder is not None and not finder.tells:
                told = tr("Nothing links to this note or names it, and it links to nothing. Traces tell what wakes it.")
            self.say_empty(tr("No links"), told)

    def _failed(self, mine: CancelToken, sentence: str) -> None:
        if mine is self._cancel and sentence:
            self.state.setText(sentence)
            self.state.setToolTip(plain(sentence))

    def _link(self, mentions: Sequence[Mention]) -> None:
        path = self._path
        if path is None or not mentions:
            return
        sources = {row.path for row in self.model.lines() if row.path is not None and row.key in mentions}
        self._work.carry_out(
            lambda vaults: plan_links(vaults, path, mentions), lambda _done: self.look(), about=sources
        )

    def _place(self) -> tuple[object, int]:
        """Where the keyboard is: the section, and the line in it, -1 for its head; no section at the top."""
        index = self.tree.currentIndex()
        if index == self.model.index(0, 0):
            return None, -1
        head = index.parent() if index.parent().isValid() else index
        section = self.model.place(head)
        return section.key if section is not None else None, -1 if head == index else index.row()

    def _go_to(self, section: object, line: int) -> None:
        """Go to that line of the section or to what stands there now, else to the top."""
        group = next((each for each in self.model.groups if each.key is section), None)
        if group is None:
            index = self.model.index(0, 0)
        elif line < 0:
            index = self.model.index_of(group)
        else:
            index = self.model.index_of(group.children[min(line, len(group.children) - 1)])
        self.tree.setCurrentIndex(index)

    def _current(self) -> PlaceRow | None:
        row = self.model.place(self.tree.currentIndex())
        return None if row is None or row.children else row

    def _mentions(self) -> list[Mention]:
        return [row.key for row in self.model.lines() if isinstance(row.key, Mention)]

    def _enter(self, index: QModelIndex) -> None:
        row = self.model.place(index)
        if row is not None and row.children:
            self.tree.turn(row)
        elif row is not None and row.path is not None:
            self.jump.emit(row.path, row.line, row.start, row.end)

    def _settle(self) -> None:
        row, mentions, ready = self._current(), self._mentions(), self._work.ready
        self.go.setVisible(row is not None and row.path is not None)
        self.link.setVisible(ready and row is not None and isinstance(row.key, Mention))
        self.link_all.setVisible(ready and len(mentions) > 1)
        self.link_all.setText(tr("Link all {amount}", amount=number(len(mentions))))
        self.make.setVisible(ready and row is not None and _is_missing(row))

    def _say_nothing(self) -> None:
        self.model.set_groups(())
        self.state.setText("")
        self.note_changed.emit("")
        if self._session.project is None:
            self.say_empty(tr("No vault"), tr("Open the folder with your notes to see how they hang together."))
        else:
            text = tr("Choose one to see what links to it, and what its text wakes.")
            self.say_empty(tr("No note chosen"), text, (("go.entry", tr("Go to entry…")),))
        self._settle()


def _is_missing(row: PlaceRow) -> bool:
    return isinstance(row.key, OutgoingLink) and not row.key.target.exists and not is_file_name(row.title)
