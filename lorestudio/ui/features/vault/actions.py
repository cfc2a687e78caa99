"""What can be done with the notes of the vault: new ones, renaming, moving, switching, deleting, and undo.

The switcher has notes by title or alias, those looked at last first, and a new one by Shift+Enter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.texts import shorten
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.batch_edit import STEP, Ranks, SetValue, plan_numbers, plan_property
from lorestudio.studio.notes.book_entries import (
    plan_copies,
    plan_new_entry,
    plan_removal,
    plan_switch,
    plan_title,
    ranked_by_order,
)
from lorestudio.studio.notes.changes.change_set import ChangedMeanwhileError
from lorestudio.studio.notes.note_files import plan_delete, plan_duplicate, remove_empty
from lorestudio.studio.notes.renaming import NewName, plan_move, plan_move_folder, plan_rename, says_title
from lorestudio.studio.notes.search import plan_repairs
from lorestudio.studio.notes.usage import usage_csv, usage_rows
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, alias_key, read_aliases
from lorestudio.ui.features.notes.pane import EntryPane
from lorestudio.ui.features.problems.pane import ProblemsPane
from lorestudio.ui.features.vault.pane import VaultPane
from lorestudio.ui.features.vault.table import Note, note_folder, note_kind, note_title, other_name
from lorestudio.ui.shell.actions import Action, Where, about
from lorestudio.ui.shell.feature import Context, Feature, late_pane
from lorestudio.ui.shell.words import Notice, Tone, count, tr
from lorestudio.ui.state.note_changes import READ_ONLY, Done, NoteWork, Plan, paths_of, what_was_done
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.picker import Choice
from lorestudio.ui.widgets.tree import PlaceRow
from lorestudio.vault.links.targets import NOTE_SUFFIX
from lorestudio.vault.lint.fixes import Repair

if TYPE_CHECKING:
    from lorestudio.ui.features.notes.links import LinksPane
    from lorestudio.ui.features.notes.search import SearchPane


def note_items(session: Session, notes: Sequence[Note], recent: Sequence[Path]) -> list[Choice]:
    """An item for each note, those looked at last first."""
    order = {path: place for place, path in enumerate(recent)}

    def looked_at(note: Note) -> int:
        return order.get(session.note_path(note) or Path(), len(order))

    return [_item(note) for note in (sorted(notes, key=looked_at) if order else notes)]


def _item(note: Note) -> Choice:
    if isinstance(note, Entry):
        file = other_name(note)
        return Choice(note.title, ", ".join(filter(None, (file, *note.keys))), note.folder or "", note, more=file)
    return Choice(note_title(note), note_kind(note).word, note_folder(note), note)


def _aliases(notes: Sequence[Note], found: Mapping[str, tuple[str, ...]]) -> list[Choice]:
    return [
        Choice(alias, tr("alias of {title}", title=note_title(note)), note_folder(note), note)
        for note in notes
        for alias in found.get(alias_key(note), ())
    ]


TABLE_SHARE: Final = 0.46
"""The part of the window's width that the vault gets for its table, where it has less."""

CONTEXT_MENU: Final = (
    "note.new", "note.duplicate", "note.rename", "note.move", "note.batch", "note.enable", "note.earlier", "note.later",
    "note.delete", "note.link", "note.folder",
)  # fmt: skip

FOUND_MENU: Final = (
    "note.rename", "note.enable", "note.link", "note.folder", "trace.why_not", "controls.pin", "controls.block",
)  # fmt: skip
"""What the menu of a note that was found has of it."""


class VaultFeature(Feature):
    """Owns what changes notes (`work`), and the panes of the vault, for searching it and for links."""

    def __init__(self, context: Context, entry: EntryPane, problems: ProblemsPane) -> None:
        super().__init__(context)
        self._entry, self._problems = entry, problems
        self._kept = False
        self._reading = ""
        theme, session, selection = context.theme, context.session, context.selection
        self.pane = VaultPane(theme, session, selection, context.drafts, context.expected)
        self.work = NoteWork(session, context.drafts, entry.store.save_all, self)
        self.panes = (self.pane,)
        self.pane.now_called = context.place.now
        context.findable.append(self._findable)
        context.place.leaving.connect(self._keep_selection)
        context.place.restored.connect(self._come_back)
        self.work.done.connect(self._done)
        self.work.switched.connect(partial(context.bars.drop, "notes"))
        self.work.told.connect(context.say)
        self.work.reading.connect(self._say_reading)
        self.work.clashed.connect(self._ask_rest)
        self.pane.dropped.connect(self._drop)
        self.pane.retitled.connect(self._retitle)
        self.pane.table_model.dropped.connect(self._reorder)
        problems.jump.connect(self._show_finding)
        problems.wanted_fixes.connect(self._mend)
        problems.counted.connect(self._count_problems)
        entry.create_wanted.connect(self.new_note)

    @late_pane("search", "Search")
    def search(self) -> SearchPane:
        """Searching all notes."""
        from lorestudio.ui.features.notes.search import SearchPane

        pane = SearchPane(self.context.theme, self.context.session, self.work)
        pane.jump.connect(self.jump)
        pane.tree.look = lambda index: self._look(pane.model.place(index))
        pane.tree.offered = (*pane.tree.offered, *(self.context.action(name) for name in FOUND_MENU))
        return pane

    def _look(self, row: PlaceRow | None) -> None:
        """Have the note of a row be the one that is looked at."""
        note = self.context.session.note_at(row.path) if row is not None and row.path is not None else None
        if note is not None:
            self.context.selection.choose_note(note)

    @late_pane("links", "Links")
    def links(self) -> LinksPane:
        """What links to the chosen note, and from it."""
        from lorestudio.ui.features.notes.links import LinksPane

        context = self.context
        pane = LinksPane(context.theme, context.session, context.selection, self.work)
        pane.jump.connect(self.jump)
        pane.create_wanted.connect(self.new_note)
        pane.look()
        return pane

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now, work, pane = self.context, self.work, self.pane
        ready = now.has_project.also(lambda: work.ready, "Only the notes of a vault in a folder can be changed here.")
        writes = now.has_project.also(lambda: work.writes, READ_ONLY)
        of_project = partial(Action, when=now.has_project)
        of_files, of_writing = partial(Action, when=ready), partial(Action, when=writes)
        of_notes = partial(Action, when=ready.also(self._is_chosen, "Choose a note first."))
        of_entries = partial(Action, when=writes.also(self._is_chosen, "Choose a note or an entry first."))
        return (
            Action(
                "vault.undo", "Undo change", "Edit", 0, work.undo, ("Ctrl+Alt+Z",),
                when=now.has_project.also(lambda: bool(work.undo_title), "No change of files can be taken back."),
                icon="undo", tip="Take the last change of the vault's files back",
                text=lambda: about(tr("Undo change"), work.undo_title),
            ),
            Action(
                "vault.redo", "Redo change", "Edit", 5, work.redo, ("Ctrl+Alt+Shift+Z",),
                when=now.has_project.also(lambda: bool(work.redo_title), "No change of files was taken back."),
                icon="redo", tip="Do again what was undone last",
                text=lambda: about(tr("Redo change"), work.redo_title),
            ),
            Action(
                "vault.take_back", "Take back what is half done", "Edit", 7, work.take_back,
                when=now.has_project.also(lambda: bool(work.half_done), "No change stopped in the middle."),
                tip="Bring every file back to what it held before the change that stopped in the middle",
            ),
            of_project("go.entry", "Go to entry…", "Edit", 20, self.open_switcher, ("Ctrl+O",), icon="entry"),
            of_project(
                "find.vault", "Search in vault", "Edit", 105, self.open_search, ("Ctrl+Shift+F",), icon="search",
            ),
            of_files(
                "note.entries", "Make entries of notes…", "Entry/Proposals", 5, self.make_entries, icon="entry",
                tip="Choose ordinary notes that are to be lore, with the keys that are proposed",
            ),
            of_writing("note.new", "New note…", "Entry", 0, self.new_note, ("Ctrl+N",), icon="plus"),
            of_entries("note.duplicate", "Duplicate", "Entry", 5, self.duplicate, ("Ctrl+D",), icon="copy"),
            of_entries("note.rename", "Rename…", "Entry", 10, self.rename, ("F2",), icon="pencil"),
            of_notes("note.move", "Move to folder…", "Entry", 15, self.move, ("Ctrl+Shift+M",), icon="folder"),
            of_entries("note.batch", "Change a property…", "Entry", 20, self.batch, ("Ctrl+Shift+E",), icon="switches"),
            of_entries(
                "note.enable", "Switch on or off", "Entry", 25, self.switch, ("Space",), Where.VAULT, icon="slash",
            ),
            of_entries("note.delete", "Move to trash", "Entry", 30, self.delete, ("Del",), Where.VAULT, icon="trash"),
            of_entries(
                "note.earlier", "Earlier", "Entry/Order of priorities", 40, partial(self.move_in_order, -1),
                ("Alt+Shift+Up",), Where.VAULT,
                tip="Number the priorities so that the notes come before the one above them",
            ),
            of_entries(
                "note.later", "Later", "Entry/Order of priorities", 41, partial(self.move_in_order, 1),
                ("Alt+Shift+Down",), Where.VAULT,
                tip="Number the priorities so that the notes come behind the one below them",
            ),
            of_writing(
                "note.steps", "Number in steps of 10", "Entry/Order of priorities", 42, partial(self.number, STEP),
                tip="Keep the order of the chosen notes, or of all, with room between the numbers",
            ),
            of_writing(
                "note.fill_gaps", "Fill gaps", "Entry/Order of priorities", 43, partial(self.number, 1),
                tip="Keep the order of the chosen notes, or of all, with numbers one after the other",
            ),
            of_files("note.trash", "Trash…", "Entry", 35, self.open_trash, icon="trash"),
            of_project(
                "vault.usage", "Save how often entries fired…", "Entry", 40, self._ask_usage_file, icon="save",
                tip="A table of what went in, in this chat and as DeepLore counted in all",
            ),
            of_project(
                "entry.previous", "Previous entry in list", "Entry/Go", 110, partial(pane.step, -1), ("Alt+Up",),
            ),
            of_project("entry.next", "Next entry in list", "Entry/Go", 115, partial(pane.step, 1), ("Alt+Down",)),
            of_notes(
                "note.folder", "Show in folder", "Entry/Go", 120, self.show_folder,
                tip="Open the note's folder in the file manager of this computer",
            ),
            of_notes(
                "note.link", "Copy link to the note", "Entry/Go", 125, self.copy_links,
                tip="Copy [[links]] to the chosen notes, as Obsidian writes them",
            ),
            of_project(
                "vault.table", "Vault as a table", "View", 20,
                lambda: pane.show_table(not pane.table_button.isChecked()), ("Ctrl+Alt+T",),
                ticked=pane.table_button.isChecked, pane="vault",
            ),
        )  # fmt: skip

    def places(self) -> Mapping[Where, Sequence[QWidget]]:
        """The tree and the table."""
        return {Where.VAULT: (self.pane.tree, self.pane.table)}

    def begin(self) -> None:
        """Follow what enables the actions."""
        context, pane = self.context, self.pane
        for signal in (self.work.changed, pane.chosen_changed):
            signal.connect(context.actions_changed)
        pane.table_shown.connect(self._make_room)
        for view in (pane.tree, pane.table):
            view.addActions([context.action(name) for name in CONTEXT_MENU])
            view.elsewhere = [context.action("note.new")]
        pane.keep_in(context.settings)

    def keep_in(self, folder: Path) -> None:
        """Keep what undoes changes in this folder; until then no note is changed."""
        self.work.use(folder)

    @property
    def targets(self) -> list[Note]:
        """The notes that an action is about: those selected in the vault, else the one that is looked at."""
        chosen = self.pane.chosen
        if chosen:
            return chosen
        session, selection = self.context.session, self.context.selection
        note = selection.note_of(session)
        return [note] if note is not None else []

    def _ask_usage_file(self) -> None:
        title, filters = tr("Save how often entries fired"), tr("Tables (*.csv)")
        dialogs.choose_new_file(self.context.window, title, "usage.csv", filters, "csv", self.save_usage)

    def save_usage(self, path: Path) -> None:
        """Write how often each entry fired, in the runs of this chat and as DeepLore counted, to a file."""
        project = self.context.session.project
        if project is not None:
            rows = usage_rows(project.index, project.recorded, self.pane.firing.of)
            self.context.save_file(path, usage_csv(rows))

    # ---- what the actions do ----------------------------------------------------------------------------------------

    def open_search(self, words: str = "") -> None:
        """Show the search pane with the keyboard in its field."""
        self.context.show("search")
        self.search.begin(words)

    def open_switcher(self) -> None:
        """Pick a note by a few letters. Aliases are added as soon as the notes have been read."""
        context, project = self.context, self.context.session.project
        if project is None:
            return
        notes = project.index.notes
        items = note_items(context.session, notes, context.place.recent)
        title, placeholder = tr("Go to entry"), tr("Type a few letters of a title or alias")
        hint = tr("Enter goes there · Shift+Enter makes a note with this name · Esc closes")
        hint = hint if self.work.ready else tr("Enter goes there · Esc closes")
        picker = context.pick(title, placeholder, items, self._go_to, hint)
        if self.work.ready:
            picker.wanted_new.connect(self.new_note)
        context.session.jobs.start(
            tr("Reading aliases"),
            lambda job: read_aliases(project, job.token),
            done=lambda found: picker.add(_aliases(notes, found)),
            owner=picker,
        )

    def _findable(self) -> Iterable[Choice]:
        """The notes, by title, keys and the file where it is called otherwise."""
        project = self.context.session.project
        if project is None:
            return
        for note in project.index.notes:
            item = _item(note)
            name = f"note:{note.vault}/{note.filename}"
            yield replace(item, hint=tr("Entry"), key=partial(self._go_to, note), name=name, more=item.detail)

    def _go_to(self, note: Note) -> None:
        self.context.selection.choose_note(note)
        self.context.show("entry")

    def open_trash(self) -> None:
        """Show the notes in the trash."""
        from lorestudio.ui.features.notes.note_dialogs import TrashDialog

        TrashDialog(self.context.theme, self.work, self.context.window).open()

    def new_note(self, title: str = "") -> None:
        """Ask for the title, the folder and the template of a new note."""
        from lorestudio.ui.features.notes.note_dialogs import NewNoteDialog

        project = self.context.session.project
        if project is not None and self.work.has_books:
            window = self.context.window
            dialogs.ask_name(window, tr("New entry"), tr("What the entry is called"), title, self._new_entry)
            return
        if project is None or not self.work.ready:
            self.context.say(Notice(tr("Open a vault folder first; notes are made in it."), key="notes"))
            return
        names = [name for name, folder in project.folders.items() if folder is not None]
        place = self.pane.folder
        folder, slash, last = title.rpartition("/")
        if slash and last.strip():  # a link names the folder, too
            place, title = (place[0], folder.strip("/")), last
        NewNoteDialog(self.context.theme, self.work, project.index, names, place, title, self.context.window).open()

    def _new_entry(self, title: str) -> None:
        """Make an entry in the lorebook that is looked at, else in the first."""
        project, selection = self.context.session.project, self.context.selection
        if project is None:
            return
        note = selection.note_of(self.context.session)
        path = self.context.session.note_path(note) if note is not None else None
        book = path.parent if path is not None else project.book_paths[0]
        made: list[Path] = []

        def plan(_vaults: Sequence[VaultNotes]) -> Planned:
            planned, place = plan_new_entry(book, title)
            made[:] = [place]
            return planned

        def done(_done: Done) -> None:
            self.context.place.want(made[0])
            self._entry.begin(made[0])
            self.context.show("entry")

        self.work.carry_out(plan, done)

    def make_entries(self) -> None:
        """Propose which ordinary notes to make entries of."""
        from lorestudio.ui.features.notes.note_dialogs import EntriesDialog

        project = self.context.session.project
        if project is not None:
            EntriesDialog(self.context.theme, self.work, project, self.context.window).open()

    def duplicate(self) -> None:
        """Make a copy of each note, as one step."""
        self._carry_out(plan_copies, plan_duplicate)

    def rename(self) -> None:
        """Ask for another title of the note that is looked at: in the tree itself where the keyboard is there.

        A folder that is chosen there gets another path.
        """
        in_tree = self.pane.tree.hasFocus()  # else a folder that was chosen there is not what is looked at
        if self.pane.edit_title() or (in_tree and self._move_folder()):
            return
        if in_tree and self.pane.chosen_branch is not None:
            self.context.flash(tr("Choose the note that gets another name."))
            return
        session, selection = self.context.session, self.context.selection
        note = selection.note_of(session) or next(iter(self.targets), None)
        path = session.note_path(note) if note is not None else None
        if note is not None and path is not None:
            self._ask_title(note, path)

    def _ask_title(self, note: Note, path: Path, to: str = "") -> None:
        from lorestudio.ui.features.notes.note_dialogs import RenameDialog

        title = note_title(note)
        if self.work.has_books:
            dialogs.ask_name(self.context.window, tr("Rename"), tr("What the entry is called"), to or title,
                     lambda name: self.work.carry_out(lambda _vaults: plan_title(path, name)))  # fmt: skip
            return
        keyed = isinstance(note, Entry) and says_title(note.keys, title)
        RenameDialog(self.context.theme, self.work, path, title, self.context.window, keyed=keyed, to=to).open()

    def move(self) -> None:
        """Ask for another folder."""
        notes, paths = self.targets, self._paths()
        if paths and not self._move_folder():
            what = count(len(paths), "note", "notes")
            self._ask_folder(notes[0], what, lambda to: lambda vaults: plan_move(vaults, paths, to))

    def _move_folder(self) -> bool:
        """Ask for another path of the folder that is chosen in the tree; False where none is."""
        project, branch, notes = self.context.session.project, self.pane.chosen_branch, self.targets
        home = project.folders.get(notes[0].vault) if project is not None and notes else None
        folder, jobs = branch.place[1] if branch is not None and branch.place else "", self.context.session.jobs
        if not folder or home is None or not self.work.ready:
            return False
        dialog = self._ask_folder(
            notes[0],
            tr("the folder {folder}", folder=folder),
            lambda to: lambda vaults: plan_move_folder(vaults, home, folder, to),
            folder,
        )
        title = tr("Looking what is left in {folder}", folder=folder)
        dialog.accepted.connect(lambda: jobs.start(title, lambda _report: remove_empty(home / folder)))
        return True

    def _ask_folder(self, note: Note, what: str, plan_to: Callable[[str], Plan], folder: str = "") -> QDialog:
        from lorestudio.ui.features.notes.note_dialogs import MoveDialog, folders_of

        project = self.context.session.project
        index = project.index if project is not None else VaultIndex()
        folder = folder or note.filename.rpartition("/")[0]
        dialog = MoveDialog(
            self.context.theme, self.work, what, plan_to, folders_of(index, note.vault), folder, self.context.window
        )
        dialog.open()
        return dialog

    def batch(self) -> None:
        """Open the dialog that changes one property."""
        from lorestudio.ui.features.notes.batch_dialog import BatchDialog

        paths = self._paths()
        if paths:
            BatchDialog(self.context.theme, self.work, paths, self.context.window).open()

    def switch(self) -> None:
        """Switch the notes off, or on where none of them takes part."""
        notes, paths = self.targets, self._paths()
        if paths and self.work.has_books:
            self.work.carry_out(lambda _vaults: plan_switch(paths))
        elif paths:
            on = not any(isinstance(note, Entry) for note in notes)
            off = [isinstance(note, LeftOutNote) and note.problem is NoteProblem.DISABLED for note in notes]
            if on and not all(off):
                reasons = count(off.count(False), "note is", "notes are")
                text = tr("{notes} no entry for another reason than being switched off; see the state.", notes=reasons)
                self.context.say(Notice(text, key="notes"))
                return
            what = note_title(notes[0]) if len(notes) == 1 else count(len(notes), "note", "notes")
            title = tr("Switch {what} on", what=what) if on else tr("Switch {what} off", what=what)
            self.work.carry_out(lambda vaults: plan_property(vaults, paths, "enabled", SetValue(on)).titled(title))

    def move_in_order(self, steps: int) -> None:
        """Renumber priorities so that the notes come one place earlier or later."""
        ranks = self._ranks()
        order = ranks.in_order()
        steps = -steps if ranks.of_books else steps  # the highest order of a lorebook comes first
        wanted = {note.id for note in self.targets if isinstance(note, Entry)}
        places = [place for place, entry in enumerate(order) if entry.id in wanted]
        if places:
            self._put(ranks, order, places, places[0] - 1 if steps < 0 else places[-1] + 2)

    def number(self, step: int) -> None:
        """Number the priorities of the chosen notes, where these are several, or of all, in steps."""
        ranks = self._ranks()
        wanted = {note.id for note in self.pane.chosen if isinstance(note, Entry)}
        order = [entry for entry in ranks.in_order() if len(wanted) < 2 or entry.id in wanted]
        self._renumber(ranks, ranks.stepped(order, step))

    def _ranks(self) -> Ranks:
        return Ranks(self.context.session.project)

    def _reorder(self, rows: list[int], place: int) -> None:
        """Rows of the table were dragged before the one at `place`."""
        ranks = self._ranks()
        notes = list(self.pane.table_model.rows)
        order = [note for note in notes if isinstance(note, Entry)]
        places, before = [at for at in rows if isinstance(notes[at], Entry)], min(place, len(order))
        if ranks.of_books and not all(map(ranked_by_order, order)):  # read as notes, the highest order stands above
            last = len(order) - 1
            order, places, before = order[::-1], [last - at for at in reversed(places)], last + 1 - before
        self._put(ranks, order, places, before)

    def _put(self, ranks: Ranks, order: Sequence[Entry], places: Sequence[int], before: int) -> None:
        """Put these places of an order before another one, and number what has to be."""
        moved, rest = (
            [order[place] for place in places],
            [each for at, each in enumerate(order) if at not in set(places)],
        )
        start = max(0, min(before, len(order)) - sum(place < before for place in places))
        wanted = [*rest[:start], *moved, *rest[start:]]
        if moved and wanted != list(order):
            self._renumber(ranks, ranks.moved(wanted, range(start, start + len(moved))))

    def _renumber(self, ranks: Ranks, numbers: Mapping[Path, int]) -> None:
        if numbers:
            self.work.carry_out(lambda vaults: plan_numbers(vaults, ranks.name, numbers))
        else:
            self.context.flash(tr("They are numbered in this order already."))

    def delete(self) -> None:
        """Move the notes to the trash."""
        self._carry_out(plan_removal, plan_delete)

    def jump(self, path: Path | None, line: int, start: int, end: int) -> None:
        """Show a place of a note: the line from 1 (0 for the note as such), and the characters in it."""
        note = self.context.session.note_at(path) if path is not None else None
        if note is None and path is not None and path.suffix.lower() != NOTE_SUFFIX and path.is_file():
            self._entry.open_outside(QUrl.fromLocalFile(str(path)))
            return
        if note is None:
            self.context.say(Notice(tr("This note is not in the vault any more. Search again."), key="notes"))
            return
        self.context.selection.choose_note(note)
        self.context.show("entry")
        if line:
            self._entry.show_place(line, start, end)

    def _show_finding(self, path: Path | None, line: int, field: str) -> None:
        self.jump(path, line, 0, 0)
        if field:
            self._entry.show_field(field)

    # ---- following --------------------------------------------------------------------------------------------------

    def _is_chosen(self) -> bool:
        """Whether there is a note, or an entry of a lorebook, that an action would be about."""
        selection = self.context.selection
        chosen = selection.entry is not None or selection.left_out is not None
        return chosen or self.pane.view.selectionModel().hasSelection()

    def _keep_selection(self) -> None:
        """The panes are about to show a newer reading: what is selected here is found again."""
        if not self._kept:
            self.pane.keep_selection()

    def _come_back(self, same: bool) -> None:
        self._kept = False
        if same:
            self.pane.restore_selection()

    def _make_room(self, table: bool) -> None:
        """A table needs more room than a tree."""
        if table:
            self.context.layout.widen("vault", TABLE_SHARE, behind="chat")
        else:
            self.context.layout.narrow("vault")
        self.context.update_actions()

    def _say_reading(self, text: str) -> None:
        status = self.context.status
        if text:
            self._reading = text
            status.flash(text)
        elif status.currentMessage() == self._reading:
            status.clearMessage()

    def _carry_out(
        self,
        of_books: Callable[[Sequence[Path]], Planned],
        of_notes: Callable[[Sequence[VaultNotes], Sequence[Path]], Planned],
    ) -> None:
        """Carry out a plan of the targets' files, whichever these are: entries of lorebooks, or notes."""
        paths = self._paths()
        if paths and self.work.has_books:
            self.work.carry_out(lambda _vaults: of_books(paths))
        elif paths:
            self.work.carry_out(lambda vaults: of_notes(vaults, paths))

    def show_folder(self) -> None:
        """Have the desktop show the folder of the first note."""
        for path in self._paths()[:1]:
            if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent))):
                text = tr("No program of this computer shows {folder}.", folder=path.parent)
                self.context.say(Notice(text, "warning", key="notes"))

    def copy_links(self) -> None:
        """Copy a link to each note: its file's name, with its folders where another note is called so."""
        project = self.context.session.project
        index = project.index if project is not None else VaultIndex()
        called = Counter(Path(each.filename).stem.lower() for each in (*index.entries, *index.left_out))
        names = [PurePosixPath(note.filename).with_suffix("") for note in self.targets]
        links = (str(name) if called[name.name.lower()] > 1 else name.name for name in names)
        QGuiApplication.clipboard().setText("\n".join(f"[[{each}]]" for each in links))

    def _paths(self) -> list[Path]:
        try:
            return paths_of(self.context.session, self.targets)
        except InputError as error:
            self.context.say(Notice(str(error), "error", key="notes"))
            return []

    def _drop(self, notes: Sequence[Note], vault: str, folder: str) -> None:
        if not self.work.ready:  # entries of a lorebook lie in no folder
            return
        if vault and any(note.vault != vault for note in notes):
            text = tr("Notes cannot be dragged into another vault. Copy their text into a new note there.")
            self.context.say(Notice(text, key="notes"))
            return
        paths = paths_of(self.context.session, notes)
        self.work.carry_out(lambda vaults: plan_move(vaults, paths, folder))

    def _retitle(self, note: Entry, title: str) -> None:
        path = self.context.session.note_path(note)
        if path is None:
            self.context.say(Notice(tr("This note has no file here, so it cannot be renamed."), key="notes"))
            return
        if self.work.has_books:
            self.work.carry_out(lambda _vaults: plan_title(path, title))
        elif says_title(note.keys, note.title):  # what becomes of that key is asked
            self._ask_title(note, path, title)
        else:
            self.work.carry_out(lambda vaults: plan_rename(vaults, path, NewName(title=title)))

    def _mend(self, repairs: Sequence[Repair]) -> None:
        """Carry out what somebody has seen and wants mended."""
        project = self.context.session.project
        if project is None:
            return
        folders = project.note_roots
        paths = [folders[repair.vault] / repair.filename for repair in repairs if repair.vault in folders]
        self.work.carry_out(lambda _vaults: plan_repairs(folders, repairs), about=paths)

    def _count_problems(self, _errors: int, _warnings: int) -> None:
        problems = self._problems.problems
        if problems is not None:
            self.pane.table_model.set_problems(problems.of_note)

    def _done(self, done: Done) -> None:
        self.context.place.moved(done.moves)
        self.context.history.moved(done.moves)
        gone = [each.path for each in done.changes.changes if each.after is None and each.path.suffix == ".md"]
        beside = self.pane.beside(gone) if gone else None
        wanted = done.made or ((beside,) if beside is not None else ())
        if wanted:
            self.context.place.want(wanted[0])
        if done.made and not done.undone and not done.again:
            self._entry.begin(wanted[0])
            self.context.show("entry")
            self.context.window.activateWindow()
        self._kept = True
        self.pane.keep_selection(wanted)
        action = "vault.redo" if done.undone else "vault.undo"
        text = " ".join((what_was_done(done), *(shorten(remark, 140) for remark in done.remarks[:2])))
        if done.remarks or done.saved:
            tone: Tone = "warning" if done.remarks else "good"
            self.context.say(Notice(text, tone, "\n".join(done.remarks), (action,), "notes"))
        else:  # the rows say what it did; nothing is pushed down for it
            self.context.bars.drop("notes")
            keys = self.context.keys(action)
            more = tr("{keys} makes it again.", keys=keys) if done.undone else tr("{keys} takes it back.", keys=keys)
            self.context.flash(f"{text} {more}")
        written = dict.fromkeys(path for one in done.changes.changes for path in (one.path, one.place))
        project = self.context.session.project
        books = project.book_paths if project is not None else ()
        notes = [path for path in written if path.suffix == ".md" or path in books]
        self.context.session.reading.notes_written(notes)

    def _ask_rest(self, error: ChangedMeanwhileError) -> None:
        button = tr("Undo the other {files}", files=count(len(error.others), "file", "files"))
        more = tr("What was changed since stays as it is.")
        undo = partial(self.work.undo, error)
        dialogs.confirm(self.context.window, tr("Undo"), str(error), button, undo, more)
