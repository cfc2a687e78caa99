"""The note that is edited, in the window: its actions, what follows when notes were written, and unsaved texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from PySide6.QtWidgets import QWidget

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem
from lorestudio.domain.texts import shorten
from lorestudio.studio.notes.changes.snapshots import Snapshots
from lorestudio.studio.notes.recovery import Recovery, Unsaved
from lorestudio.trace.wording import joined
from lorestudio.ui.features.notes.pane import SOURCE, TEXT, WRITE, EntryPane
from lorestudio.ui.shell.actions import Action, Need, Where
from lorestudio.ui.shell.feature import Context, Feature, Leave
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.vault.file_lock import OpenVaults
from lorestudio.vault.files import SaveError


class NotesFeature(Feature):
    """Nothing unsaved is lost without a question, and what was written is taken into the project."""

    view_keys: ClassVar = {
        "in the properties of a note": (
            ("Back to the text", "Esc"),
            ("Add the item that was typed", "Return  ,"),
            ("Go from the empty line to the items", "Left"),
            ("Change the item", "Return"),
            ("Move the item", "Ctrl+Shift+Left  Ctrl+Shift+Right"),
            ("Take the item, or the property, away", "Del  Backspace"),
        ),
        "in the line that finds words in a note": (
            ("Go to the next place", "Return"),
            ("Go to the place before", "Shift+Return"),
            ("Go to the words that are put in its place, and back", "Down  Up"),
            ("Back to the text", "Esc"),
        ),
    }

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.pane = EntryPane(context.theme, context.session, context.selection, context.drafts, context.session.jobs)
        self.panes = (self.pane,)
        self._leaving = False
        self._away: list[Unsaved] = []  # restored, and of a vault that is not open yet
        self._open_vaults: OpenVaults | None = None

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now, pane, editor, runs = self.context, self.pane, self.pane.editor, self.context.session.runs
        has_note = now.has_project.also(self._has_note, "Open a note in the pane Entry first.")
        unsaved = Need(lambda: pane.unsaved, "Nothing of this note is unsaved.")
        return (
            Action("entry.save", "Save", "File", 105, pane.save, ("Ctrl+S",), when=unsaved, icon="save"),
            Action(
                "entry.back", "Back", "Entry/Go", 100, now.history.back, ("Ctrl+Alt+Left", "Alt+Left"),
                when=Need(lambda: now.history.can_go_back, "Nothing was looked at before."), icon="chevron-left",
            ),
            Action(
                "entry.forward", "Forward", "Entry/Go", 105, now.history.forward, ("Ctrl+Alt+Right", "Alt+Right"),
                when=Need(lambda: now.history.can_go_forward, "Nothing was looked at after this."),
                icon="chevron-right",
            ),
            Action(
                "entry.source", "Switch between form and source", "Entry/Write", 200,
                partial(pane.toggle, SOURCE), ("Ctrl+E",), when=now.has_entry, pane="entry",
            ),
            Action(
                "entry.preview", "Show the injected text", "Entry/Write", 205, partial(pane.toggle, TEXT),
                ("Ctrl+Shift+V",), when=now.has_entry, pane="entry",
            ),
            Action(
                "entry.keys", "Edit the keys", "Entry/Write", 295, partial(self._write, editor.edit_keys),
                ("Ctrl+Shift+K",), when=has_note, pane="entry",
            ),
            Action(
                "entry.add_property", "Add property…", "Entry/Write", 300,
                partial(self._write, editor.form.open_choice), ("Ctrl+;",), Where.EDITOR, has_note, "plus",
                pane="entry",
            ),
            Action(
                "entry.follow", "Follow the link", "Entry/Write", 305, self._follow, ("Alt+Return", "Alt+Enter"),
                Where.EDITOR, has_note, pane="entry",
            ),
            Action(
                "entry.replace", "Find and replace", "Entry/Write", 302,
                partial(self._write, partial(pane.finder.begin, replacing=True), SOURCE), ("Ctrl+H",),
                when=has_note, pane="entry",
            ),
            *(
                Action(
                    f"entry.{name}", title, "Entry/Write", order,
                    partial(self._write, partial(editor.body.toggle_marks, *marks), SOURCE), (keys,), Where.EDITOR,
                    has_note, icon, pane="entry",
                )
                for name, title, order, marks, keys, icon in (
                    ("link", "Link the selection", 310, ("[[", "]]"), "Ctrl+Shift+L", "link"),
                    ("bold", "Bold", 311, ("**", "**"), "Ctrl+B", ""),
                    ("italic", "Italic", 312, ("*", "*"), "Ctrl+I", ""),
                )
            ),
            Action(
                "entry.comment", "Make a comment of it", "Entry/Write", 315,
                partial(self._write, editor.body.toggle_comment, SOURCE), ("Ctrl+/",), Where.EDITOR,
                has_note, pane="entry",
            ),
            Action("entry.history", "History of this note…", "Entry", 400, pane.show_history, when=has_note),
            Action(
                "entry.revert", "Throw away unsaved changes…", "Entry", 405, self._ask_revert, when=unsaved
            ),
            Action(
                "preview.toggle", "Show the run before what is tried out", "Trace", 30, runs.toggle_preview, ("B",),
                Where.RUNS, now.has_message.also(
                    lambda: runs.preview_of(now.selection.generation) is not None, "Nothing is tried out on this reply."
                ),
                ticked=lambda: not runs.preview_shown,
            ),
        )  # fmt: skip

    def places(self) -> Mapping[Where, Sequence[QWidget]]:
        """The editor."""
        return {Where.EDITOR: (self.pane.editor,)}

    def begin(self) -> None:
        """Hear what is written, and preview what is tried out."""
        context, preview, session = self.context, self.context.preview, self.context.session
        self.pane.save_button.setDefaultAction(context.action("entry.save"))
        in_text = ("entry.follow", "entry.link", "entry.bold", "entry.italic", "entry.comment")
        self.pane.editor.body.menu_actions = [context.action(name) for name in in_text]
        self.pane.saved.connect(self._note_saved)
        self.pane.moved.connect(self._note_moved)
        self.pane.editor.form.typed.connect(context.actions_changed)
        context.closed.connect(self.pane.safety.close)
        self.pane.safety.restored.connect(self._go_to_restored)
        self.pane.safety.failed.connect(lambda told: context.say(Notice(str(told), "warning")))
        preview.previewed.connect(session.runs.show_preview)
        preview.previewed.connect(self.pane.show_preview)
        session.project_changed.connect(preview.forget)
        session.project_changed.connect(self._tell_other_windows)
        session.project_shown.connect(self._show_restored)
        session.choice_changed.connect(preview.forget)
        session.traces_changed.connect(self._forget_preview)
        context.selection.generation_changed.connect(preview.forget)

    def keep_in(self, folder: Path) -> None:
        """Keep histories and unsaved texts, and offer what an earlier run has left."""
        copies: Recovery | None = None
        try:
            copies = Recovery(folder / "recovery")
        except SaveError as error:
            self.context.say(Notice(str(error), "warning"))
        self.pane.safety.use(Snapshots(folder / "history"), copies)
        self._open_vaults = OpenVaults(folder / "open")
        self._tell_other_windows()
        self.pane.safety.offer_found(self.context.window)

    def _tell_other_windows(self) -> None:
        """Hold the vaults that are open now, and say which another window has open."""
        project = self.context.session.project
        shown = [each for each in project.folders.values() if each is not None] if project is not None else []
        others = self._open_vaults.show(shown) if self._open_vaults is not None else ()
        if others:
            text = tr(
                "{names} is open in another window of lorestudio, too. Each sees what the other saves; a note that "
                "both change is not overwritten, but asked about.", names=joined([each.name for each in others]),
            )  # fmt: skip
            self.context.say(Notice(text, "warning", key="other-window"))

    def stop(self) -> None:
        """The vaults are open here no longer."""
        if self._open_vaults is not None:
            self._open_vaults.show(())

    def save_work(self) -> None:
        """Keep unsaved texts now."""
        self.pane.store.keep_now()

    def ask_before_closing(self, close: Leave) -> bool:
        """Ask what becomes of unsaved texts."""
        self.pane.editor.form.take_typed()
        unsaved = [*map(self.context.session.called, self.context.drafts.all)]
        if not unsaved or self._leaving:
            return False
        dialogs.ask_unsaved(self.context.window, unsaved, lambda answer: self.answer_unsaved(answer, close))
        return True

    def answer_unsaved(self, answer: str, close: Leave) -> None:
        """Do with unsaved texts what was answered: `discard` or `save`; with anything else the window stays."""
        if answer == "discard":
            self._leaving = True
            close()
        elif answer == "save":
            self.pane.save_all(partial(self._saved_all, close))

    def _saved_all(self, close: Leave, problems: list[str]) -> None:
        for problem in problems:
            self.context.say(Notice(shorten(problem, 300), "error"))
        if not problems:
            close()

    def _has_note(self) -> bool:
        return self.pane.path is not None

    def _forget_preview(self, generations: Collection[Generation] | None) -> None:
        """What is tried out was tried on another run."""
        if generations is None or self.context.selection.generation in generations:
            self.context.preview.forget()

    def _ask_revert(self) -> None:
        text = tr("The unsaved text of this note will be lost.")
        dialogs.confirm(self.context.window, tr("Throw away unsaved changes"), text, tr("Throw away"), self.pane.revert)

    def _write(self, do: Callable[[], object], *others: int) -> None:
        """Do something to the note where it is written, or on another of these tabs."""
        if self.pane.tabs.currentIndex() not in others:
            self.pane.tabs.setCurrentIndex(WRITE)
        do()

    def _follow(self) -> None:
        if not self.pane.editor.body.follow():
            self.context.flash(tr("The caret is in no link."))

    def _note_saved(self, path: Path) -> None:
        self.context.session.reading.notes_written([path])
        self.context.flash(tr("{name} was saved.", name=self.context.session.called(path)))

    def _note_moved(self, before: Path, now: Path) -> None:
        self.context.place.moved({before: now})
        self.context.history.moved({before: now})
        self.context.session.reading.note_moved(before, now)

    def _go_to_restored(self, item: Unsaved) -> None:
        context, project = self.context, self.context.session.project
        note: Entry | LeftOutNote | None = context.session.note_at(item.path)
        place = project.note_place(item.path) if project is not None else None
        if note is None and place is not None:  # its file is gone: it is shown all the same, and can be written again
            told = tr("“{name}” is not on disk any more.", name=item.path.name)
            note = LeftOutNote(place[1], place[0], NoteProblem.UNREADABLE, told)
        if note is not None:
            context.selection.choose_note(note)
            context.show("entry")
            return
        self._away.append(item)
        paths = joined([str(each.path) for each in self._away])
        text = tr("Restored, and not saved yet: {paths}. To see it, open the vault that it lies in.", paths=paths)
        context.say(Notice(text, "neutral", actions=("vault.open", "projects.recent"), key="restored"))

    def _show_restored(self) -> None:
        """A vault is open: show the texts of it that were restored before."""
        project, unsaved = self.context.session.project, self.context.drafts.all
        here = [item for item in self._away if project is not None and project.note_place(item.path) is not None]
        self._away = [item for item in self._away if item not in here]
        if here and not self._away:
            self.context.bars.drop("restored")
        for item in here:
            if item.path in unsaved:
                self._go_to_restored(item)
