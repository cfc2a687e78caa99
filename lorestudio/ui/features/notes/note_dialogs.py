"""Making, renaming and moving notes, deleted notes, and making entries of ordinary ones.

Deleted ones are put back, or go for good. Entries come with keys and why; what is ticked is made as one change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSignalBlocker, QStringListModel, Qt
from PySide6.QtWidgets import QComboBox, QCompleter, QDialogButtonBox, QLineEdit, QWidget

from lorestudio.domain.entry import NoteKey, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.texts import reading_order
from lorestudio.studio.notes.changes.change_set import NameTakenError, changed_references, shown_name
from lorestudio.studio.notes.making_entries import NoteGroup, PlainNote, candidates, groups, plain_notes, plan_entries
from lorestudio.studio.notes.note_files import Template, plan_new, templates, usual_template
from lorestudio.studio.notes.renaming import NewName, OldKey, plan_rename
from lorestudio.studio.notes.trash import Trashed
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.notes.editor.chips_field import ChipsField
from lorestudio.ui.features.notes.plan_dialog import PlanDialog
from lorestudio.ui.features.vault.table import when_words
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.ui.state.note_changes import NoteWork, Plan
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, button, column, combo, label, row
from lorestudio.ui.widgets.record_table import CheckList, RecordTable, RecordView
from lorestudio.vault.links.targets import NOTE_SUFFIX


def folders_of(index: VaultIndex, vault: str) -> list[str]:
    """All folders of a vault that hold notes, directly or below, in alphabetical order."""
    found: set[str] = set()
    for note in index.notes:
        folder = note.filename.rpartition("/")[0] if note.vault == vault else ""
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(found, key=reading_order)


class FolderField(QLineEdit):
    """A folder inside the vault, with completion; empty for the vault itself."""

    def __init__(self, folders: Iterable[str], folder: str, parent: QWidget | None = None) -> None:
        super().__init__(folder, parent, placeholderText=tr("empty: the vault's own folder"))
        self._model = QStringListModel(list(folders), self)
        completer = QCompleter(self._model, self, caseSensitivity=Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.setCompleter(completer)

    def set_folders(self, folders: Iterable[str]) -> None:
        """Offer other folders."""
        self._model.setStringList(list(folders))


class NewNoteDialog(PlanDialog):
    """Title, folder, template, and the vault where there are several."""

    def __init__(
        self,
        theme: Theme,
        work: NoteWork,
        index: VaultIndex,
        names: Sequence[str],
        place: tuple[str, str],
        title: str,
        parent: QWidget,
    ) -> None:
        """`names` are those of the vaults that have a folder; `place` is the vault and the folder to begin with."""
        super().__init__(theme, work, tr("New note"), tr("Make the note"), parent, (620, 470))
        self._index, self._names = index, tuple(names)
        self._templates: tuple[Template, ...] = ()
        self._chosen = False
        self.title = QLineEdit(title, self, placeholderText=tr("What the note is called"))
        self.vault = QComboBox(self)
        self.vault.addItems(self._names)
        self.vault.setCurrentIndex(self._names.index(place[0]) if place[0] in self._names else 0)
        self.folder = FolderField(folders_of(index, self._vault_name()), place[1], self)
        self.template = QComboBox(self)
        self.template.addItem(tr("none: a bare heading"))
        self.add_field(tr("Title"), self.title)
        self.add_field(tr("Vault"), self.vault)
        self.form.setRowVisible(self.vault, len(work.folders) > 1)
        self.add_field(tr("Folder"), self.folder)
        self.add_field(tr("Template"), self.template)
        self.view.files.hide()
        for signal in (self.title.textChanged, self.folder.textChanged, self.template.currentIndexChanged):
            signal.connect(self.changed)
        self.vault.currentIndexChanged.connect(self._other_vault)
        self.folder.textChanged.connect(self._follow_folder)
        self.template.activated.connect(self._choose)
        self.title.setFocus()
        self._read_templates()
        self.preview()

    @property
    def path(self) -> Path | None:
        """The file that would be made, None while there is no title."""
        folder = self.work.folders[self.vault.currentIndex()]
        name = self.title.text().strip()
        return folder / self.folder.text().strip("/ ") / f"{name}.md" if name else None

    def plan(self) -> Plan | None:
        """Make the note."""
        title, folder = self.title.text().strip(), self.folder.text()
        if not title:
            return None
        number = self.vault.currentIndex()
        chosen = self.template.currentIndex() - 1
        template = self._templates[chosen] if 0 <= chosen < len(self._templates) else None
        now = datetime.now()  # noqa: DTZ005  # the person's own day and time
        return lambda vaults: plan_new(vaults, vaults[number], folder, title, template, now)

    def nothing_yet(self) -> str:
        """Asks for the title."""
        return tr("Give the note a title; its file is called so too.")

    def summary(self, planned: Planned) -> str:
        """Where the note will be."""
        path = planned.changes.changes[0].path
        return tr("{name} will be made, with this text:", name=shown_name(path, self.work.folders))

    def _vault_name(self) -> str:
        return self._names[self.vault.currentIndex()]

    def _other_vault(self) -> None:
        self.folder.set_folders(folders_of(self._index, self._vault_name()))
        self._read_templates()
        self.changed()

    def _read_templates(self) -> None:
        number = self.vault.currentIndex()
        self.work.ask(lambda vaults: templates(vaults[number]), self._show_templates, lambda _text: None)

    def _show_templates(self, found: tuple[Template, ...]) -> None:
        before = self.template.currentText()
        self._templates = found
        with QSignalBlocker(self.template):  # nobody chose it, and an Enter of before stays
            while self.template.count() > 1:
                self.template.removeItem(1)
            for template in found:
                own = tr("{name} (of this vault)", name=template.name)
                self.template.addItem(own if template.filename else tr(template.name))
            self.template.setCurrentIndex(self.template.findText(before))
            self._follow_folder()
        self.look_again()

    def _follow_folder(self) -> None:
        """Choose the template of most notes in the folder, unless the person has chosen one that there still is."""
        if self._chosen and self.template.currentIndex() >= 0:
            return
        here = self._vault_name(), self.folder.text().strip("/ ")
        beside = [each for each in self._index.entries if (each.vault, each.filename.rpartition("/")[0]) == here]
        # A bare heading is no entry yet, and most notes here are meant to be one.
        self.template.setCurrentIndex(min(1 + usual_template(self._templates, beside), len(self._templates)))

    def _choose(self, _place: int) -> None:
        self._chosen = True


class RenameDialog(PlanDialog):
    """A new title, with everything that follows it; where a key says the old one, what becomes of it is asked."""

    def __init__(
        self,
        theme: Theme,
        work: NoteWork,
        path: Path,
        title: str,
        parent: QWidget,
        *,
        keyed: bool = False,
        to: str = "",
    ) -> None:
        """`keyed` says whether a key is the title; `to` is a new title that was typed already."""
        super().__init__(theme, work, tr("Rename {title}", title=title), tr("Rename"), parent, (720, 360))
        self._path, self._title = path, title
        self.title = QLineEdit(to or title, self)
        self.title.selectAll()
        self.add_field(tr("New title"), self.title)
        name = tr("Key “{title}”", title=title)
        choices = {
            OldKey.JOIN: tr("stays, and the new title becomes a key too"),
            OldKey.REPLACE: tr("becomes the new title"),
            OldKey.KEEP: tr("stays, and the new title is no key"),
        }
        self.key = combo(self, name, choices)
        self.add_field(name, self.key)
        self.form.setRowVisible(self.key, keyed)
        if not keyed:
            self.key.setCurrentIndex(self.key.findData(OldKey.KEEP))
        self.key.currentIndexChanged.connect(self.changed)
        self.title.textChanged.connect(self.changed)
        self.preview()

    def plan(self) -> Plan | None:
        """Rename the note and what names it."""
        title, path = self.title.text().strip(), self._path
        if not title or title == self._title:
            return None
        way = OldKey(self.key.currentData())
        return lambda vaults: plan_rename(vaults, path, NewName(title=title, old_key=way))

    def nothing_yet(self) -> str:
        """Asks for another title."""
        return tr("Type another title. The heading, the file's name and every reference to the note follow it.")

    def summary(self, planned: Planned) -> str:
        """How many references follow."""
        return _following(planned)


class MoveDialog(PlanDialog):
    """Another folder for some notes, or another path for a folder, with everything that follows."""

    def __init__(
        self,
        theme: Theme,
        work: NoteWork,
        what: str,
        plan_to: Callable[[str], Plan],
        folders: Sequence[str],
        folder: str,
        parent: QWidget,
    ) -> None:
        """`plan_to` makes the plan for a path; `folder` is the one of now."""
        super().__init__(theme, work, tr("Move {what}", what=what), tr("Move"), parent, (720, 300))
        self._plan_to = plan_to
        self.folder = FolderField(folders, folder, self)
        self.folder.selectAll()
        self.add_field(tr("To folder"), self.folder, tr("Folder"))
        self.folder.textChanged.connect(self.changed)
        self.view.say(self.nothing_yet())

    def plan(self) -> Plan | None:
        """Move the notes and rewrite the links that name their paths."""
        return self._plan_to(self.folder.text())

    def nothing_yet(self) -> str:
        """Asks for the folder."""
        return tr("Choose a folder, or type a new one. Links that name the path follow.")

    def summary(self, planned: Planned) -> str:
        """How many notes move, what moves along, and how many references follow."""
        moved = [change.path.suffix == NOTE_SUFFIX for change in planned.changes.changes if change.new_path is not None]
        told = tr("{notes} to another folder", notes=count(sum(moved), "note moves", "notes move"))
        if not all(moved):
            told = tr("{told}, with {files}", told=told, files=count(moved.count(False), "other file", "other files"))
        return f"{told}. {_following(planned)}"


def _following(planned: Planned) -> str:
    links, files = changed_references(planned.changes)
    if not links:
        return tr("No reference has to change.")
    return tr(
        "{links} in {files} will follow.",
        links=count(links, "reference", "references"),
        files=count(files, "file", "files"),
    )


class TrashDialog(Dialog):
    """Lists the trash of the open vaults, newest first."""

    def __init__(self, theme: Theme, work: NoteWork, parent: QWidget) -> None:
        super().__init__(parent, tr("Trash"), (620, 400))
        self._work = work
        self._again: tuple[Trashed, ...] = ()
        self._wrong = ""
        self.state = label(self, tr("Reading the trash…"), "muted")
        columns = (
            Column("Note", lambda item: item.path.stem),
            Column("Folder", lambda item: item.filename.rpartition("/")[0], width=FIT),
            Column("Deleted", lambda item: when_words(item.time.timestamp()), width=FIT),
        )
        self.items = RecordTable(columns, parent=self)
        self.table = RecordView(theme, self.items, tr("Deleted notes"), self, many=True)
        buttons = self.answers()
        self.back = buttons.addButton(tr("Put back"), QDialogButtonBox.ButtonRole.ActionRole)
        self.back.setProperty("kind", "primary")
        self.gone = buttons.addButton(tr("Delete for good…"), QDialogButtonBox.ButtonRole.ActionRole)
        column(self.state, (self.table, 1), buttons, of=self)
        self.back.clicked.connect(self.put_back)
        self.gone.clicked.connect(self._ask_gone)
        self.table.chosen.connect(lambda _item: self._settle())
        self.table.pressed.connect(lambda _item: self.put_back())
        work.done.connect(self._put_next)
        self._settle()
        self.read()

    def read(self) -> None:
        """Read the trash again."""
        self._work.trash(self._show)

    @property
    def chosen(self) -> list[Trashed]:
        """The selected notes."""
        return [self.items.row(place) for place in self.table.selected_places()]

    def put_back(self) -> None:
        """Put the selected notes back, one after the other; one that stays keeps no other one there."""
        self._wrong = ""
        self._again = tuple(self.chosen)
        self._put_next()

    def _put_next(self) -> None:
        if self._again:
            item, self._again = self._again[0], self._again[1:]
            self._work.restore(item, failed=partial(self._failed, item))
        else:
            self.read()

    def _failed(self, item: Trashed, error: Exception) -> None:
        if not isinstance(error, NameTakenError):
            self._wrong = f"{self._wrong} {sentence_of(error)}".lstrip()
            self._put_next()
            return
        offer, rest, self._again = error.offer, self._again, ()

        def answered(agreed: bool) -> None:
            self._again = rest
            if agreed:
                self._work.restore(item, offer, failed=partial(self._failed, item))
            else:
                self._put_next()

        title = tr("Put back under another name")
        dialogs.propose(self, title, str(error), tr("Put back as {name}", name=offer.name), answered)
        self.read()

    def _ask_gone(self) -> None:
        items = self.chosen
        if items:
            text = tr("{notes} will be deleted for good.", notes=count(len(items), "note", "notes"))
            more = tr("Earlier versions stay in the history for a while.")
            delete = partial(self._work.delete_for_good, items, self.read)
            dialogs.confirm(self, tr("Delete for good"), text, tr("Delete"), delete, more)

    def _show(self, items: tuple[Trashed, ...]) -> None:
        state = count(len(items), "deleted note", "deleted notes") if items else tr("The trash of this vault is empty.")
        self.state.setText(f"{self._wrong} {state}".strip())
        self.items.set_rows(items)
        if items and not self.chosen:
            self.table.select_places([0], 0)

    def _settle(self) -> None:
        able(self.back, bool(self.chosen), tr("Choose a note first."))
        able(self.gone, bool(self.chosen), tr("Choose a note first."))


_GROUPS: Final = 30
"""Folders and tags that are offered."""


class EntriesDialog(Dialog):
    """Proposes entries; the notes that the chat names are ticked."""

    def __init__(self, theme: Theme, work: NoteWork, project: Project, parent: QWidget) -> None:
        super().__init__(parent, tr("Make entries of notes"), (900, 480))
        self._work, self._project, self._tag = work, project, project.settings.lorebook_tag
        self._found: list[PlainNote] = []
        self._of: NoteKey | None = None  # whose keys are in the field
        self._edited = False
        said = tr(
            "An entry is a note that goes into the prompt when one of its keys is said. Each ticked note gets the tag "
            "“{tag}” and these keys in its front matter; nothing else in it changes, and one undo takes all back. The "
            "keys of the chosen note can be changed below the list.",
            tag=self._tag,
        )
        self.groups = combo(self, tr("Which notes"))
        columns = (
            Column(tr("Note"), attrgetter("title")),
            Column(tr("Keys"), lambda one: ", ".join(one.keys)),
            Column(
                tr("Why"), attrgetter("why"), help=tr("By the keys that were proposed"), width=FIT,
                sort=lambda one: (-one.named_in, -one.linked_from),
            ),
            Column(tr("Folder"), attrgetter("folder"), width=FIT),
        )  # fmt: skip
        self.model = RecordTable(
            columns, key=attrgetter("note_key"), checkable=True, parent=self,
            tip=lambda one, column: f"{one.filename}\n{column.words(one)}",
        )  # fmt: skip
        self.list = CheckList(theme, self.model, tr("Notes to make entries of"), self)
        self.keys = ChipsField(theme, tr("Keys"), self)
        self.keys.changed.connect(self._edit)
        self.keys.left.connect(self.list.view.setFocus)
        self.list.view.chosen.connect(self._look)
        self.state = label(self, tr("Reading the notes…"), "small")
        self.make = button(self, tr("Make entries"), self._make, kind="primary")
        ends = row((self.state, 1), self.make, button(self, tr("Cancel"), self.reject))
        shown, keys = row(label(self, tr("Show")), (self.groups, 1)), row(label(self, tr("Keys")), (self.keys, 1))
        column(label(self, said), shown, (self.list, 1), keys, ends, of=self, spacing=8)
        self.groups.currentIndexChanged.connect(lambda _place: self._show_group())
        self.model.ticked.connect(self._settle)
        self._settle()
        work.ask(partial(_looked, project), self._show, self.state.setText)

    def _show(self, looked: tuple[list[PlainNote], tuple[NoteGroup, ...], int]) -> None:
        found, offered, aside = looked
        self._found = found
        named = sum(one.named_in > 0 for one in found)
        with QSignalBlocker(self.groups):
            if named:
                self.groups.addItem(tr("Notes that the chat names ({notes})", notes=number(named)), "named")
            self.groups.addItem(tr("All notes ({notes})", notes=number(len(found))), "all")
            for group in offered[:_GROUPS]:
                text = tr("Tag {name} ({notes})") if group.is_tag else tr("Folder {name} ({notes})")
                self.groups.addItem(text.format(name=group.name, notes=number(group.notes)), group)
        left_out = (
            count(aside, "template or drawing is left out.", "templates and drawings are left out.") if aside else ""
        )
        self.state.setText(left_out if found else tr("Every note is an entry already, or was switched off."))
        self._show_group()
        self.list.view.setFocus()

    def _show_group(self) -> None:
        """Show the notes of the group, ticked but for all notes: few people want them all."""
        self.model.set_rows(self._rows())
        self.model.choose_all(all_of_them=self.groups.currentData() != "all")
        self.list.view.choose(self.model.rows[0].note_key if self.model.rows else None)

    def _rows(self) -> list[PlainNote]:
        group = self.groups.currentData()
        if isinstance(group, NoteGroup):
            return [one for one in self._found if group.has(one)]
        return [one for one in self._found if one.named_in or group == "all"]

    def _look(self, one: PlainNote | None) -> None:
        """Another note is chosen: have its keys in the field."""
        self._of = None if one is None else one.note_key
        self.keys.set_items(() if one is None else one.keys)
        able(self.keys, one is not None, tr("Choose a note first."))

    def _edit(self, keys: Sequence[str]) -> None:
        """The chosen note gets these keys in place of the proposed ones, or of its own."""
        self._edited = True
        self._found = [
            replace(one, keys=tuple(keys), written=False) if one.note_key == self._of else one for one in self._found
        ]
        self.model.set_rows(self._rows())

    def lost(self) -> str:
        """See `Dialog`."""
        return tr("The keys that you changed would be lost.") if self._edited else ""

    def _settle(self) -> None:
        able(self.make, bool(self.model.chosen), tr("Tick a note first."))

    def _make(self) -> None:
        self.keys.take_input()
        keys = self.model.chosen
        chosen = [one for one in self._found if one.note_key in keys]
        project, tag = self._project, self._tag
        self._work.carry_out(lambda vaults: plan_entries(_by_name(project, vaults), chosen, tag))
        self.accept()


def _by_name(project: Project, vaults: Sequence[VaultNotes]) -> Mapping[str, VaultNotes]:
    folders = {notes.folder: notes for notes in vaults}
    return {name: folders[place] for name, place in project.folders.items() if place is not None and place in folders}


def _looked(project: Project, vaults: tuple[VaultNotes, ...]) -> tuple[list[PlainNote], tuple[NoteGroup, ...], int]:
    """The notes that could become entries, their groups, and how many others are templates or drawings."""
    by_name = _by_name(project, vaults)
    plain = [(vault, filename) for vault, filename in plain_notes(project.index) if vault in by_name]
    found = [
        one
        for vault, notes in by_name.items()
        for one in candidates(vault, notes, {filename for name, filename in plain if name == vault}, project.chat)
    ]
    return found, groups(found), len(plain) - len(found)
