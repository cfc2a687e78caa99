"""Making entries of ordinary notes: which notes, with what keys and why; what is ticked is made, as one change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from operator import attrgetter
from typing import Final

from PySide6.QtWidgets import QDialog, QWidget

from lorestudio.studio.notes.making_entries import NoteGroup, PlainNote, candidates, groups, plain_notes, plan_entries
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.studio.project.project import Project
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.check_table import CheckList
from lorestudio.ui.widgets.layouts import button, column, combo, label, resize_for_letters, row
from lorestudio.ui.widgets.record_table import RecordTable

_GROUPS: Final = 30
"""Folders and tags that are offered."""


class EntriesDialog(QDialog):
    """Proposes entries; the notes that the chat names are ticked."""

    def __init__(self, theme: Theme, work: NoteWork, project: Project, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Make entries of notes"))
        self._work, self._project, self._tag = work, project, project.settings.lorebook_tag
        self._found: list[PlainNote] = []
        said = tr(
            "An entry is a note that goes into the prompt when one of its keys is said. Each ticked note gets the tag "
            "“{tag}” and these keys in its front matter; nothing else in it changes, and one undo takes all back.",
            tag=self._tag,
        )
        self.groups = combo(self, tr("Which notes"))
        columns = (
            Column(tr("Note"), attrgetter("title")),
            Column(tr("Keys"), lambda one: ", ".join(one.keys)),
            Column(tr("Why"), attrgetter("why"), width=FIT, sort=lambda one: (-one.named_in, -one.linked_from)),
            Column(tr("Folder"), attrgetter("folder"), width=FIT),
        )
        self.model = RecordTable(
            columns, key=attrgetter("vault", "filename"), checkable=True, parent=self,
            tip=lambda one, column: f"{one.filename}\n{column.words(one)}",
        )  # fmt: skip
        self.list = CheckList(theme, self.model, tr("Notes to make entries of"), self)
        self.state = label(self, tr("Reading the notes…"), "small")
        self.make = button(self, tr("Make entries"), self._make, kind="primary")
        ends = row((self.state, 1), self.make, button(self, tr("Cancel"), self.reject))
        column(
            label(self, said), row(label(self, tr("Show")), (self.groups, 1)), (self.list, 1), ends, of=self, spacing=8
        )
        self.groups.currentIndexChanged.connect(lambda _place: self._show_group())
        self.model.ticked.connect(self._settle)
        resize_for_letters(self, 760, 480)
        self._settle()
        work.ask(partial(_looked, project), self._show, self.state.setText)

    def _show(self, looked: tuple[list[PlainNote], tuple[NoteGroup, ...]]) -> None:
        found, offered = looked
        self._found = found
        named = sum(one.named_in > 0 for one in found)
        self.groups.blockSignals(True)
        if named:
            self.groups.addItem(tr("Notes that the chat names ({notes})", notes=number(named)), "named")
        self.groups.addItem(tr("All notes ({notes})", notes=number(len(found))), "all")
        for group in offered[:_GROUPS]:
            text = tr("Tag {name} ({notes})") if group.is_tag else tr("Folder {name} ({notes})")
            self.groups.addItem(text.format(name=group.name, notes=number(group.notes)), group)
        self.groups.blockSignals(False)
        self.state.setText("" if found else tr("Every note is an entry already, or was switched off."))
        self._show_group()
        self.list.view.setFocus()

    def _show_group(self) -> None:
        """Show the notes of the group, ticked but for all notes: few people want them all."""
        chosen = self.groups.currentData()
        if isinstance(chosen, NoteGroup):
            rows = [one for one in self._found if chosen.has(one)]
        else:
            rows = [one for one in self._found if one.named_in or chosen == "all"]
        self.model.set_rows(rows)
        self.model.choose_all(all_of_them=chosen != "all")

    def _settle(self) -> None:
        self.make.setEnabled(bool(self.model.chosen))

    def _make(self) -> None:
        keys = self.model.chosen
        chosen = [one for one in self._found if (one.vault, one.filename) in keys]
        self._work.carry_out(partial(_plan, self._project, chosen, self._tag), refused=self.state.setText)
        self.accept()


def _by_name(project: Project, vaults: tuple[VaultNotes, ...]) -> Mapping[str, VaultNotes]:
    folders = {notes.folder: notes for notes in vaults}
    return {name: folders[place] for name, place in project.folders.items() if place is not None and place in folders}


def _looked(project: Project, vaults: tuple[VaultNotes, ...]) -> tuple[list[PlainNote], tuple[NoteGroup, ...]]:
    """The notes that could become entries, and their groups."""
    plain = plain_notes(project.index)
    found = [
        one
        for vault, notes in _by_name(project, vaults).items()
        for one in candidates(vault, notes, {filename for name, filename in plain if name == vault}, project.chat)
    ]
    return found, groups(found)


def _plan(project: Project, chosen: list[PlainNote], tag: str, vaults: tuple[VaultNotes, ...]) -> Planned:
    return plan_entries(_by_name(project, vaults), chosen, tag)
