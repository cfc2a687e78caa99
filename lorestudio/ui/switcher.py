"""The quick switcher: notes by title or alias, those looked at last first, and a new one by Shift+Enter."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lorestudio.domain.entry import Entry
from lorestudio.studio.note_aliases import read_aliases
from lorestudio.ui.models.note_rows import Note, note_folder, note_kind, note_title
from lorestudio.ui.session import Session
from lorestudio.ui.widgets.picker import Choice, Picker
from lorestudio.ui.words import tr

if TYPE_CHECKING:
    from lorestudio.ui.main_window import MainWindow
    from lorestudio.ui.vault_commands import VaultCommands

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
