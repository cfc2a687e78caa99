"""What would bring an entry in, and what later stages would have done with it: mounted by the main window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from lorestudio.studio.notes.change_set import ChangeSet
from lorestudio.studio.tryout.project_changes import plan_change
from lorestudio.systems.changes import Change
from lorestudio.trace.diff import Key
from lorestudio.ui.features.why_not.page import WhyNotPage
from lorestudio.ui.features.why_not.search import WhyNotSearch, WouldWork
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.state.note_changes import Done

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


@dataclass(frozen=True, slots=True)
class _Applied:
    """A change that was made: its title, the action that undoes it, and what was wanted of which note."""

    title: str
    undo: str
    wanted_in: bool
    about: Key | None


class WhyNotCommands(CommandGroup):
    """Owns the search, its page in the Why pane, and the questions about later stages."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.search = WhyNotSearch(window.session, window.selection, self)
        self.would = WouldWork(window.session, window.selection, self)
        self.page = WhyNotPage(window.theme, self.search, window.why)
        self._applied: _Applied | None = None

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        return {"trace.why_not": self.find}

    def connect_window(self) -> None:
        """Show what is learnt; call it once the window has its panes."""
        why, trace = self._window.why, self._window.trace
        why.mount(self.page, self.search, self.would)
        why.searched.connect(self.find)
        why.told.pressed.connect(self._window.run)
        self.page.wanted.connect(self._apply)
        self.would.in_sight = self._in_sight
        self.would.found.connect(self._show_would)
        trace.journey.verticalScrollBar().valueChanged.connect(self.would.look)
        trace.model.modelReset.connect(self._show_known)
        self._window.closed.connect(self.stop)
        self._window.session.traces_changed.connect(lambda _generations: self._say_outcome())
        self._window.session.state_changed.connect(self._say_outcome)

    def stop(self) -> None:
        """Search and ask no more."""
        self.search.stop()
        self.would.stop()

    def find(self) -> None:
        """Show the page and search for the chosen note."""
        window = self._window
        window.show_pane("why")
        window.why.show_answers(True)
        self.search.begin()
        QTimer.singleShot(0, self.page, self.page.focus_first)  # a pane behind another one is in sight only by then

    # ---- what later stages would have done --------------------------------------------------------------------------

    def _in_sight(self) -> Sequence[int]:
        view, model = self._window.trace.journey, self._window.trace.model
        if model.trace is not self.would.trace or not view.isVisible():
            return ()
        first, last = view.rowAt(0), view.rowAt(view.viewport().height() - 1)
        if first < 0:
            return ()
        rows = range(first, (last if last >= 0 else model.rowCount() - 1) + 1)
        return [entry for row in rows if (entry := model.entry(row)) is not None]

    def _show_would(self, entry: int, would: object) -> None:
        model = self._window.trace.model
        known = self.would.of(model.trace, entry)
        if known is not None and known is would:
            model.set_would(entry, known)
        if entry == self._window.selection.entry:
            self._window.why.refresh()

    def _show_known(self) -> None:
        model = self._window.trace.model
        for row in range(model.rowCount()):
            entry = model.entry(row)
            known = self.would.of(model.trace, entry) if entry is not None else None
            if entry is not None and known is not None:
                model.set_would(entry, known)
        self.would.look()

    # ---- applying ---------------------------------------------------------------------------------------------------

    def _apply(self, change: object) -> None:
        if not isinstance(change, Change):
            return
        session = self._window.session
        project = session.project
        if project is None:
            return
        wanted = not self.search.goes_in
        self.page.area.setFocus()  # the button that was pressed goes, and Qt would choose the next pane's field
        if change.note is not None:
            path = self._path(change.note.vault, change.note.filename)
            if path is None:
                text = tr("This note cannot be changed here: its vault has no folder on this computer.")
                self._window.say(Notice(text, "warning", key="notes"))
                return
            plan = partial(plan_change, path=path, change=change)
            then = partial(self._written, wanted, self._about())
            self._window.vault_commands.work.carry_out(plan, then=then, refused=self._refused)
        elif change.controls is not None:
            self._applied = _Applied(change.title, "adjust.undo", wanted, self._about())
            session.parts.adjust(change.title, controls=change.controls)
        elif not session.choice.is_main:
            self._applied = _Applied(change.title, "adjust.undo", wanted, self._about())
            self._window.systems.change(session.choice.system, change.settings, change.title)
        else:
            self._applied = _Applied(change.title, "adjust.undo", wanted, self._about())
            session.parts.adjust(change.title, settings=change.set_in(project.settings))
        self._say_outcome()

    def _about(self) -> Key | None:
        note = self.search.note
        return (note.vault, note.filename) if note is not None else None

    def _path(self, vault: str, filename: str) -> Path | None:
        project = self._window.session.project
        folders = dict(zip(project.index.vaults, project.vault_folders, strict=False)) if project is not None else {}
        folder = folders.get(vault)
        return folder / filename if folder is not None else None

    def _written(self, wanted: bool, about: Key | None, done: Done) -> None:
        changes: ChangeSet = done.changes
        self._applied = _Applied(changes.title, "vault.undo", wanted, about)
        self._say_outcome()

    def _refused(self, sentence: str) -> None:
        self._window.say(Notice(sentence, "error", key="notes"))

    def _say_outcome(self) -> None:
        """Say what was done and, once the reply has been run with it, whether the entry goes in."""
        applied, note = self._applied, self.search.note
        if applied is None or note is None:  # a newer reading of the vault is being shown
            return
        if self._about() != applied.about:  # somebody looks at another note by now
            self._applied = None
            return
        session = self._window.session
        name = getattr(note, "title", "") or getattr(note, "filename", "")
        waiting = session.busy or bool(session.runs.outdated(self._window.selection.generation))
        if waiting:
            text, tone = tr("Done: {change}. The chat is run again.", change=applied.title), "neutral"
        else:
            goes_in = self.search.goes_in
            now = tr("goes in now") if goes_in else tr("does not go in")
            text = tr("Done: {change}. “{entry}” {now}.", change=applied.title, entry=name, now=now)
            tone = "good" if goes_in is applied.wanted_in else "warning"
        self._window.why.tell(text, tone, ((applied.undo, tr("Undo")),))
        if not waiting:
            self._applied = None
            reached = self.search.goes_in is applied.wanted_in
            had_keyboard = self._window.current_pane() is self._window.why
            self._window.why.show_answers(not reached)
            if had_keyboard:
                self._window.why.focus_target().setFocus()
            if not reached:  # a first step: what is in the way now?
                self.search.begin()
