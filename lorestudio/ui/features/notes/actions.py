"""The note that is edited, in the window: its actions, what follows when notes were written, and unsaved texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.studio.notes.change_set import ChangeSet
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import Notice, shorten, tr
from lorestudio.ui.widgets import dialogs

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


class EntryCommands(CommandGroup):
    """Nothing unsaved is lost without a question, and what was written is taken into the project."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._entry = window.entry
        self._leaving = False

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        window, entry = self._window, self._entry
        return {
            "entry.save": entry.save,
            "entry.back": window.history.back,
            "entry.forward": window.history.forward,
            "entry.previous": partial(window.vault.step, -1),
            "entry.next": partial(window.vault.step, 1),
            "entry.source": partial(self._with_pane, entry.toggle_source),
            "entry.preview": partial(self._with_pane, entry.toggle_text),
            "entry.add_property": entry.editor.form.open_choice,
            "entry.follow": entry.editor.body.follow,
            "entry.link": entry.editor.body.link_selection,
            "entry.comment": entry.editor.body.toggle_comment,
            "entry.history": entry.show_history,
            "entry.revert": self._ask_revert,
            "preview.toggle": window.session.runs.toggle_preview,
        }

    def connect_window(self) -> None:
        """Hear what is written."""
        self._entry.saved.connect(self._note_saved)
        self._entry.safety.restored.connect(self._go_to_restored)
        self._window.proposals.applied.connect(self._proposals_applied)

    def ask_before_leaving(self) -> bool:
        """Ask what becomes of unsaved texts before the window closes, and close it then.

        Returns False where there is nothing to ask.
        """
        unsaved = self._window.drafts.all
        if not unsaved or self._leaving:
            return False
        dialogs.ask_unsaved(self._window, [path.name for path in unsaved], self.answer_unsaved)
        return True

    def answer_unsaved(self, answer: str) -> None:
        """Do with unsaved texts what was answered: `discard` or `save`; with anything else the window stays."""
        if answer == "discard":
            self._leaving = True
            self._window.close()
        elif answer == "save":
            self._entry.save_all(self._saved_all)

    def _saved_all(self, problems: list[str]) -> None:
        for problem in problems:
            self._window.say(Notice(shorten(problem, 300), "error"))
        if not problems:
            self._window.close()

    def _ask_revert(self) -> None:
        text = tr("The unsaved text of this note will be lost.")
        dialogs.confirm(self._window, tr("Throw away unsaved changes"), text, tr("Throw away"), self._entry.revert)

    def _with_pane(self, do: Callable[[], object]) -> None:
        self._window.raise_pane("entry")
        do()

    def _note_saved(self, path: object) -> None:
        if isinstance(path, Path):
            self._window.session.reading.notes_written([path])
            self._window.status.flash(tr("{name} was saved.", name=path.name))

    def _proposals_applied(self, changes: object) -> None:
        if isinstance(changes, ChangeSet) and changes.changes:
            self._window.session.reading.notes_written([change.place for change in changes.changes])
            self._window.status.flash(changes.title)
            if not self._entry.unsaved:
                self._entry.revert()  # reads the shown note again

    def _go_to_restored(self, item: object) -> None:
        window, session = self._window, self._window.session
        path, project = getattr(item, "path", None), session.project
        notes: tuple[Entry | LeftOutNote, ...] = ()
        if project is not None:
            notes = (*project.index.entries, *project.index.left_out)
        note = next((note for note in notes if session.note_path(note) == path), None)
        if isinstance(note, Entry):
            window.selection.choose_entry(note.id)
            window.show_pane("entry")
        elif note is not None:
            window.selection.choose_left_out(note)
