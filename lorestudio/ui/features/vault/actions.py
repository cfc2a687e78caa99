"""What can be done with the notes of the vault: the handlers behind the actions, mounted by the main window.

The quick switcher: notes by title or alias, those looked at last first, and a new one by Shift+Enter.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.batch_edit import SetValue, plan_property
from lorestudio.studio.notes.change_set import ChangedMeanwhileError
from lorestudio.studio.notes.note_files import plan_delete, plan_duplicate
from lorestudio.studio.notes.renaming import NewName, plan_move, plan_rename
from lorestudio.studio.notes.replacing import plan_repairs
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, read_aliases
from lorestudio.ui.features.notes.batch_dialog import BatchDialog
from lorestudio.ui.features.notes.links import LinksPane
from lorestudio.ui.features.notes.note_dialogs import MoveDialog, NewNoteDialog, RenameDialog, TrashDialog, folders_of
from lorestudio.ui.features.notes.search import SearchPane
from lorestudio.ui.features.vault.table import Note, note_folder, note_kind, note_title
from lorestudio.ui.shell import layout
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import Notice, Tone, count, shorten, tr
from lorestudio.ui.state.history import KeptPlace
from lorestudio.ui.state.note_changes import Done, NoteWork, paths_of, what_was_done
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.picker import Choice, Picker
from lorestudio.vault.lint.fixes import Repair

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


logger = logging.getLogger(__name__)


def open_switcher(window: MainWindow, commands: VaultCommands) -> None:
    """Show it over the window. Aliases are added as soon as the notes have been read."""
    project = window.session.project
    if project is None:
        return
    notes: tuple[Note, ...] = (*project.index.entries, *project.index.left_out)
    choices = note_choices(window.session, notes, commands.place.recent)
    picker = Picker(window.theme, tr("Go to entry"), tr("Type a few letters of a title or alias"), choices, window)
    hint = tr("Enter goes there · Shift+Enter makes a note with this name · Esc closes")
    picker.set_hint(hint if commands.work.ready else tr("Enter goes there · Esc closes"))

    def picked(key: object) -> None:
        if isinstance(key, int):
            window.selection.choose_entry(key)
        else:
            note = next((note for note in notes if note is key), None)
            if note is None or isinstance(note, Entry):
                return
            window.selection.choose_left_out(note)
        window.show_pane("entry")

    picker.picked.connect(picked)
    if commands.work.ready:
        picker.wanted_new.connect(commands.new_note)
    alive = [True]
    picker.destroyed.connect(alive.clear)
    window.session.jobs.start(
        tr("Reading aliases"),
        lambda _report: read_aliases(project),
        done=lambda found: picker.add(_aliases(project.index.entries, found)) if alive else None,
        failed=lambda error: logger.warning("the aliases were not read: %s", error),
    )
    picker.open_over(window)


def note_choices(session: Session, notes: Sequence[Note], recent: Sequence[Path]) -> list[Choice]:
    """A choice for each note, those looked at last first."""
    order = {path: place for place, path in enumerate(recent)}
    ranked = (
        sorted(notes, key=lambda note: order.get(session.note_path(note) or Path(), len(order))) if order else notes
    )
    return [_choice(note) for note in ranked]


def _choice(note: Note) -> Choice:
    if isinstance(note, Entry):
        return Choice(note.title, ", ".join(note.keys), note.folder or "", note.id)
    return Choice(note_title(note), note_kind(note).word, note_folder(note), note)


def _aliases(entries: Sequence[Entry], found: Mapping[str, tuple[str, ...]]) -> list[Choice]:
    return [
        Choice(alias, tr("alias of {title}", title=entry.title), entry.folder or "", entry.id)
        for entry in entries
        for alias in found.get(entry.title.lower(), ())
    ]


TABLE_SHARE: Final = 0.46
"""The part of the window's width that the vault gets for its table, where it has less."""

CONTEXT_MENU: Final = (
    "note.new", "note.duplicate", "note.rename", "note.move", "note.batch", "note.enable", "note.delete",
)  # fmt: skip


class VaultCommands(CommandGroup):
    """Owns what changes notes (`work`), the place to come back to, and the panes for searching and links."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._kept = False
        self._before = 0
        self._tabbed = False
        session, selection = window.session, window.selection
        self.work = NoteWork(session, window.drafts, window.entry.save_all, self)
        self._reading = ""
        self.place = KeptPlace(session, selection, self)
        self.search = SearchPane(window.theme, session, self.work)
        self.links = LinksPane(window.theme, session, selection, self.work)
        window.vault.now_called = self.place.now
        self.work.done.connect(self._done)
        self.work.told.connect(window.say)
        self.work.reading.connect(self._say_reading)
        self.work.clashed.connect(self._ask_rest)
        window.vault.dropped.connect(self._drop)
        window.vault.retitled.connect(self._retitle)
        for pane in (self.search, self.links):
            pane.jump.connect(self.jump)
        window.problems.jump.connect(lambda path, line: self.jump(path, line, 0, 0))
        window.problems.wanted_fixes.connect(self._mend)
        window.problems.counted.connect(self._count_problems)
        for maker in (self.links, window.entry):
            maker.create_wanted.connect(self.new_note)

    def keep_in(self, folder: Path) -> None:
        """Keep what undoes changes in this folder; until then no note is changed."""
        self.work.use(folder)

    @property
    def panes(self) -> tuple[SearchPane, LinksPane]:
        """The panes that are hidden at first."""
        return self.search, self.links

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        vault = self._window.vault
        return {
            "vault.undo": self.work.undo,
            "vault.redo": self.work.redo,
            "vault.table": lambda: vault.show_table(not vault.table_button.isChecked()),
            "find.vault": self.open_search,
            "go.entry": lambda: open_switcher(self._window, self),
            "note.new": self.new_note,
            "note.duplicate": self.duplicate,
            "note.rename": self.rename,
            "note.move": self.move,
            "note.batch": self.batch,
            "note.enable": self.switch,
            "note.delete": self.delete,
            "note.trash": lambda: TrashDialog(self.work, self._window).open(),
        }

    def connect_window(self) -> None:
        """Follow what enables the actions; call it once the window has them."""
        window = self._window
        for signal in (self.work.changed, window.vault.chosen_changed):
            signal.connect(window.actions_changed)
        window.vault.table_shown.connect(self._make_room)
        actions = window.commands.actions
        for view in (window.vault.tree, window.vault.table):
            view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
            view.addActions([actions[name] for name in CONTEXT_MENU])
        window.vault.keep_in(window.settings)

    def update(self, actions: dict[str, QAction]) -> None:
        """Say in the menu what would be undone, and tick what is on."""
        for name, words, title in (
            ("vault.undo", tr("Undo change"), self.work.undo_title),
            ("vault.redo", tr("Redo change"), self.work.redo_title),
        ):
            verb = words.partition(" ")[0]
            actions[name].setText(f"{verb}: {title}" if title else words)
        actions["vault.table"].setChecked(self._window.vault.table_button.isChecked())

    @property
    def has_targets(self) -> bool:
        """Whether there is a note that an action would be about."""
        selection = self._window.selection
        chosen = selection.entry is not None or selection.left_out is not None
        return chosen or self._window.vault.view.selectionModel().hasSelection()

    @property
    def targets(self) -> list[Note]:
        """The notes that an action is about: those selected in the vault, else the one that is looked at."""
        chosen = self._window.vault.chosen
        if chosen:
            return chosen
        session, selection = self._window.session, self._window.selection
        note = session.entry(selection.entry) or selection.left_out
        return [note] if note is not None else []

    # ---- what the actions do ----------------------------------------------------------------------------------------

    def open_search(self, words: str = "") -> None:
        """Show the search pane with the keyboard in its field."""
        self._window.show_pane("search")
        self.search.begin(words)

    def new_note(self, title: str = "") -> None:
        """Ask for the title, the folder and the template of a new note."""
        project = self._window.session.project
        if project is None or not self.work.ready:
            self._window.say(Notice(tr("Open a vault folder first; notes are made in it."), key="notes"))
            return
        names = [
            name
            for name, folder in zip(project.index.vaults, project.vault_folders, strict=False)
            if folder is not None
        ]
        place = self._window.vault.folder
        NewNoteDialog(self._window.theme, self.work, project.index, names, place, title, self._window).open()

    def duplicate(self) -> None:
        """Make a copy of each note, as one step."""
        paths = self._paths()
        if paths:
            self.work.carry_out(partial(_duplicated, paths))

    def rename(self) -> None:
        """Ask for another title of the note that is looked at: in the tree itself where the keyboard is there."""
        if self._window.vault.edit_title():
            return
        notes = self.targets
        session, selection = self._window.session, self._window.selection
        current = session.entry(selection.entry) or selection.left_out
        note = current if current in notes else notes[0] if notes else None
        path = session.note_path(note) if note is not None else None
        if note is not None and path is not None:
            RenameDialog(self._window.theme, self.work, path, note_title(note), self._window).open()

    def move(self) -> None:
        """Ask for another folder."""
        notes, project = self.targets, self._window.session.project
        paths = self._paths()
        if paths and project is not None:
            folder = notes[0].filename.rpartition("/")[0]
            folders = folders_of(project.index, notes[0].vault)
            MoveDialog(self._window.theme, self.work, paths, folders, folder, self._window).open()

    def batch(self) -> None:
        """Open the dialog that changes one property."""
        paths = self._paths()
        if paths:
            BatchDialog(self._window.theme, self.work, paths, self._window).open()

    def switch(self) -> None:
        """Switch the notes off, or on where none of them takes part."""
        notes, paths = self.targets, self._paths()
        if paths:
            on = not any(isinstance(note, Entry) for note in notes)
            off = [note for note in notes if not _is_off(note)]
            if on and off:
                reasons = count(len(off), "note is", "notes are")
                text = tr("{notes} no entry for another reason than being switched off; see the state.", notes=reasons)
                self._window.say(Notice(text, key="notes"))
                return
            what = note_title(notes[0]) if len(notes) == 1 else count(len(notes), "note", "notes")
            title = tr("Switch {what} on", what=what) if on else tr("Switch {what} off", what=what)
            self.work.carry_out(partial(_switched, tuple(paths), on, title))

    def delete(self) -> None:
        """Move the notes to the trash."""
        paths = self._paths()
        if paths:
            self.work.carry_out(lambda vaults: plan_delete(vaults, paths))

    def jump(self, path: object, line: int, start: int, end: int) -> None:
        """Show a place of a note: the line from 1 (0 for the note as such), and the characters in it."""
        session, selection = self._window.session, self._window.selection
        note = session.note_at(path) if isinstance(path, Path) else None
        if isinstance(note, Entry):
            selection.choose_entry(note.id)
        elif isinstance(note, LeftOutNote):
            selection.choose_left_out(note)
        else:
            self._window.say(Notice(tr("This note is not in the vault any more. Search again."), key="notes"))
            return
        self._window.show_pane("entry")
        if line:
            self._window.entry.show_place(line, start, end)

    # ---- the vault is read anew -------------------------------------------------------------------------------------

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """The panes are about to show a newer reading, and the selection is cleared: what was looked at is kept."""
        if self.place.is_same and not self._kept:
            self._window.vault.keep_selection()
        with self.place.held():
            yield

    def come_back(self) -> bool:
        """Look at what was looked at before; False where another vault or chat is shown now."""
        same = self.place.restore()
        self._kept = False
        if same:
            self._window.vault.restore_selection()
        self.place.settled()
        return same

    # ---- following --------------------------------------------------------------------------------------------------

    def _make_room(self, table: bool) -> None:
        """A table needs more room than a tree; what the person has given it by hand stays."""
        window = self._window
        dock = window.docks["vault"]
        wide = round(window.width() * TABLE_SHARE)
        if not window.isVisible() or dock.isFloating():
            pass
        elif table and dock.width() < wide:
            self._before = dock.width()
            if window.width() < layout.NARROW:  # the other panes are as narrow as they can be
                self._tabbed = True
                window.tabifyDockWidget(window.docks["chat"], dock)
                dock.raise_()
            else:
                window.resizeDocks([dock], [wide], Qt.Orientation.Horizontal)
        elif not table and self._tabbed:
            self._tabbed = False
            closed = [one for one in window.docks.values() if one.isHidden()]
            window.workspaces.arrange()
            for one in closed:
                one.hide()
        elif not table and self._before:
            window.resizeDocks([dock], [self._before], Qt.Orientation.Horizontal)
        window.update_actions()

    def _say_reading(self, text: str) -> None:
        status = self._window.status  # the window has its status line only after this was made
        if text:
            self._reading = text
            status.flash(text)
        elif status.currentMessage() == self._reading:
            status.clearMessage()

    def _paths(self) -> list[Path]:
        try:
            return paths_of(self._window.session, self.targets)
        except InputError as error:
            self._window.say(Notice(str(error), "error", key="notes"))
            return []

    def _drop(self, notes: object, vault: str, folder: str) -> None:
        if not isinstance(notes, tuple):
            return
        moved = [note for note in notes if isinstance(note, Entry | LeftOutNote)]
        if vault and any(note.vault != vault for note in moved):
            text = tr("Notes cannot be dragged into another vault. Copy their text into a new note there.")
            self._window.say(Notice(text, key="notes"))
            return
        paths = paths_of(self._window.session, moved)
        self.work.carry_out(lambda vaults: plan_move(vaults, paths, folder))

    def _retitle(self, note: object, title: str) -> None:
        path = self._window.session.note_path(note) if isinstance(note, Entry) else None
        if path is None:
            self._window.say(Notice(tr("This note has no file here, so it cannot be renamed."), key="notes"))
            return
        self.work.carry_out(lambda vaults: plan_rename(vaults, path, NewName(title=title)))

    def _mend(self, repairs: object) -> None:
        """Carry out what somebody has seen and wants mended."""
        project = self._window.session.project
        if project is None or not isinstance(repairs, Sequence):
            return
        pairs = zip(project.index.vaults, project.vault_folders, strict=False)
        folders = {name: folder for name, folder in pairs if folder is not None}
        wanted = [repair for repair in repairs if isinstance(repair, Repair)]
        paths = [folders[repair.vault] / repair.filename for repair in wanted if repair.vault in folders]
        self.work.carry_out(lambda _vaults: plan_repairs(folders, wanted), about=paths)

    def _count_problems(self, _errors: int, _warnings: int) -> None:
        problems = self._window.problems.problems
        if problems is not None:
            found = Counter((finding.vault, finding.filename) for finding in problems.findings)
            self._window.vault.set_problems(found)

    def _done(self, done: object) -> None:
        if not isinstance(done, Done):
            return
        self.place.moved(done.moves)
        gone = [change.path for change in done.changes.changes if change.after is None]
        beside = self._window.vault.beside(gone) if gone else None
        if done.made or beside is not None:
            self.place.want(done.made[0] if done.made else beside or Path())
        self._kept = True
        self._window.vault.keep_selection(done.made or ((beside,) if beside is not None else ()))
        action = "vault.redo" if done.undone else "vault.undo"
        text = " ".join((what_was_done(done), *(shorten(remark, 140) for remark in done.remarks[:2])))
        details = "\n".join(done.remarks)
        tone: Tone = "warning" if done.remarks else "good"
        self._window.say(Notice(text, tone, details, (action,), "notes"))
        changes = done.changes.changes
        self._window.session.reading.notes_written(
            dict.fromkeys(path for one in changes for path in (one.path, one.place))
        )

    def _ask_rest(self, error: object) -> None:
        if isinstance(error, ChangedMeanwhileError):
            files = count(len(error.others), "file", "files")
            text = str(error)
            dialogs.confirm(
                self._window,
                tr("Undo"),
                text,
                tr("Undo the other {files}", files=files),
                partial(self.work.undo, error.others),
                tr("What was changed since stays as it is."),
            )


def _duplicated(paths: Sequence[Path], vaults: Sequence[VaultNotes]) -> Planned:
    return plan_duplicate(vaults, paths)


def _switched(paths: tuple[Path, ...], on: bool, title: str, vaults: Sequence[VaultNotes]) -> Planned:
    planned = plan_property(vaults, paths, "enabled", SetValue(on))
    return replace(planned, changes=replace(planned.changes, title=title))


def _is_off(note: Note) -> bool:
    return isinstance(note, LeftOutNote) and note.problem is NoteProblem.DISABLED
