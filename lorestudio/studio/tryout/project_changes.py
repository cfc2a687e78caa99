"""Carrying a single change over to a project: its settings, the chat's choices, or one property of a note."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from lorestudio.domain.entry import NoteKey
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section
from lorestudio.studio.notes.batch_edit import (
    ChangeItems,
    PropertyChange,
    RemoveProperty,
    SetValue,
    edited,
    plan_property,
)
from lorestudio.studio.notes.book_entries import read_text
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.studio.project.project import Project
from lorestudio.systems.base import SystemKind
from lorestudio.systems.ideas import Change, NoteEdit
from lorestudio.vault.edited_vaults import EditedVaults, NoteText
from lorestudio.vault.files import VaultError


def property_change(edit: NoteEdit) -> PropertyChange:
    """The edit as the tools that change notes take it."""
    if edit.removed:
        return RemoveProperty()
    return ChangeItems(edit.add, edit.drop) if edit.add or edit.drop else SetValue(edit.value)


def edited_text(text: str, edit: NoteEdit) -> str:
    """The note's text with the edit. Raises ValueError with the reason where its front matter does not allow it."""
    return edited(text, edit.name, property_change(edit))


def plan_change(vaults: Sequence[VaultNotes], path: Path, change: Change) -> Planned:
    """The change of a note, or of an entry of a lorebook, as a plan for the change log, under its own title.

    Raises InputError with the reason where the note's front matter does not allow it, and VaultError.
    """
    edit = change.note
    if edit is None:
        raise InputError(path, "this change is made in no note.")
    planned = plan_property(vaults, [path], edit.name, property_change(edit))
    if planned.remarks:
        raise InputError(path, " ".join(planned.remarks))
    return planned.titled(change.title)


class ProjectChanges:
    """One project with one change after the other, each on its own; nothing is written.

    Texts of notes are read from disk when they are needed.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._texts: dict[NoteKey, str] = {}

    @cached_property
    def _vaults(self) -> EditedVaults | None:
        return self.project.edited_vaults()

    def can_edit(self, vault: str, filename: str) -> bool:
        """Whether a note can be tried out with another text: its own text is at hand, and what the index is made of."""
        try:
            _ = self._vaults
        except ValueError:  # whoever wants to edit is told
            return False
        return self._text(vault, filename) is not None

    def text(self, vault: str, filename: str) -> str:
        """The note's text. Raises InputError where it is not at hand."""
        text = self._text(vault, filename)
        if text is None:
            raise InputError(filename, "the note's text is not at hand, so it cannot be tried out with a change.")
        return text

    def made(self, change: Change, kind: SystemKind, settings: Section) -> tuple[Project, Section]:
        """The project with the change, and the settings of the kind that decides, which are `settings` without it.

        Raises InputError, VaultError or ValueError where it cannot be made.
        """
        project = self.project
        if (edit := change.note) is not None:
            text = edited_text(self.text(edit.vault, edit.filename), edit)
            return project.with_texts([NoteText(edit.vault, edit.filename, text)], self._vaults), settings
        if change.controls is not None:
            return replace(project, controls=change.chosen_in(project.controls)), settings
        changed = change.set_in(settings)
        return project.with_settings_of(kind, changed), changed

    def _text(self, vault: str, filename: str) -> str | None:
        key = (vault, filename)
        if key not in self._texts:
            try:  # also where nothing may be written
                self._texts[key] = read_text(self.project.note_roots[vault] / filename)[0]
            except (KeyError, VaultError):
                return None
        return self._texts[key]
