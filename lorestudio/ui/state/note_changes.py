"""Changes to the files of the open vaults: planned and carried out in jobs, one after the other, and undone."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.texts import shorten
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.book_entries import BookNotes
from lorestudio.studio.notes.changes.change_set import ChangedMeanwhileError, ChangeSet
from lorestudio.studio.notes.changes.log import ChangeLog, Report
from lorestudio.studio.notes.trash import Trashed
from lorestudio.studio.notes.vault_notes import FreshNotes, Planned, VaultNotes, listed
from lorestudio.studio.tuning.expectations import about_books
from lorestudio.ui.shell.jobs import Newest, is_heard, listener_of
from lorestudio.ui.shell.words import Notice, Tone, count, sentence_of, tr
from lorestudio.ui.state.drafts import Drafts
from lorestudio.ui.state.session import Session
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.files import default_folder
from lorestudio.vault.writer import sweep

Plan: TypeAlias = Callable[[Sequence[VaultNotes]], Planned]
"""Says what is to be done, from the notes as they are on disk; called in a worker, and again where they changed."""

Save: TypeAlias = Callable[[Collection[Path], Callable[[list[str]], None]], None]
"""Writes the unsaved texts of these files; what it is given gets a sentence for each that could not be written."""

_Result = TypeVar("_Result")

READ_ONLY: Final = "Nothing can be changed here: the notes have no folder, or SillyTavern's is only read."


class Done(Struct, frozen=True):
    """What was done to the files. `undone` says that a step was taken back, `again` that it was done once more."""

    changes: ChangeSet
    remarks: tuple[str, ...] = ()
    undone: bool = False
    again: bool = False
    saved: bool = False
    """Whether unsaved texts were written before."""

    @property
    def moves(self) -> dict[Path, Path]:
        """Files that have another name now."""
        return {change.path: change.place for change in self.changes.changes if change.place != change.path}

    @property
    def made(self) -> tuple[Path, ...]:
        """Notes that were not there before."""
        return tuple(each.place for each in self.changes.changes if each.before is None and each.place.suffix == ".md")


class _Order(Struct):
    plan: Plan
    roots: tuple[Path, ...]
    then: Callable[[Done], None] | None = None
    refused: Callable[[str], None] | None = None
    about: tuple[Path, ...] = ()
    saved: frozenset[Path] = frozenset()
    report: Report | None = None


class NoteWork(QObject):
    """The one place where the window changes several files. `done` follows each change, `changed` the state of undo.

    Until `use` says where to keep what undoes it, nothing is changed at all.
    """

    done = Signal(object)  # Done
    changed = Signal()
    switched = Signal()  # other vaults are open
    told = Signal(object)  # Notice
    reading = Signal(str)  # what is being read, where that may take a while; "" once it was
    clashed = Signal(object)  # ChangedMeanwhileError of an undo that part of can be done

    def __init__(self, session: Session, drafts: Drafts, save: Save, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self.jobs, self._drafts, self._save = session, session.jobs, drafts, save
        self._keep_in: Path | None = None
        self.folders: tuple[Path, ...] = ()
        """The folders of the vaults that are open."""
        self._roots: tuple[Path, ...] = ()  # without a vault, those that lorebooks lie in
        self._about: tuple[Path, ...] = ()  # of lorebooks, as other ones lie in the same folders
        self._log: ChangeLog | None = None
        self._fresh: FreshNotes | None = None
        self._entries = BookNotes()
        self._orders: deque[_Order] = deque()
        self._busy = False
        session.project_changed.connect(self._show_project)

    def use(self, folder: Path) -> None:
        """Keep the log of changes, the history and the trash in this folder."""
        self._keep_in = folder
        self._roots = ()
        self._show_project()

    # ---- what there is ----------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether notes can be changed: a vault with a folder is open, and what undoes it can be kept."""
        return bool(self.folders) and self._keep_in is not None

    @property
    def has_books(self) -> bool:
        """Whether entries of lorebooks can be changed: books are open in the place of a vault."""
        return bool(self._roots) and not self.folders and self._keep_in is not None

    @property
    def writes(self) -> bool:
        """Whether either can be changed."""
        return self.ready or self.has_books

    @property
    def rules(self) -> ParseRules:
        """How notes are read."""
        project = self._session.project
        return ParseRules.from_settings(project.settings) if project is not None else ParseRules()

    @property
    def half_done(self) -> str:
        """The change that stopped in the middle and is to be taken back, "" for none."""
        return self._log.half_done if self._log is not None and not self._busy else ""

    def log_of(self, folders: Sequence[Path]) -> ChangeLog:
        """The log of changes of these vaults: the one of the window, else a new one where it keeps none yet."""
        if self._log is not None and tuple(folders) == self.folders:
            return self._log
        return ChangeLog(self._keep_in or default_folder(), folders)

    @property
    def undo_title(self) -> str:
        """What would be undone, "" for nothing."""
        return self._log.undo_title if self._log is not None and not self._busy else ""

    @property
    def redo_title(self) -> str:
        """What would be done again, "" for nothing."""
        return self._log.redo_title if self._log is not None and not self._busy else ""

    # ---- questions --------------------------------------------------------------------------------------------------

    def ask(
        self,
        question: Callable[[tuple[VaultNotes, ...]], _Result],
        answered: Callable[[_Result], object],
        failed: Callable[[str], object] | None = None,
        *,
        newest: Newest | None = None,
        with_drafts: bool = False,
        with_books: bool = False,
    ) -> None:
        """Ask about the notes as they are on disk, in a job; `with_drafts`, with their unsaved texts.

        Of what is asked by way of `newest`, only the last is answered.

        `with_books`, also about the entries of lorebooks that are open in the place of a vault, as they were read.
        """
        fresh, entries, project = self._fresh, self._entries, self._session.project
        books = project.books if with_books and project is not None and project.of_books else ()
        if fresh is None and not books:
            (failed or self._refuse)(tr("No vault with a folder is open."))
            return
        drafts = {path: draft.text for path, draft in self._drafts.all.items()} if with_drafts else {}

        def work(_report: object) -> _Result:
            vaults = () if fresh is None else _overlaid(fresh.get(), drafts)
            return question((*vaults, *entries.of(books, drafts)))

        loaded = fresh is None or fresh.loaded
        if not loaded:
            self.reading.emit(tr("Reading the links of the vault…"))
        start: Callable[..., object] = self.jobs.start if newest is None else newest.start
        start(
            tr("Looking at the notes"),
            work,
            done=answered,
            failed=lambda error: (failed or self._refuse)(sentence_of(error)),
            owner=listener_of(answered),
            ended=None if loaded else lambda: self.reading.emit(""),
        )

    def trash(self, answered: Callable[[tuple[Trashed, ...]], object]) -> None:
        """The deleted notes of the open vaults, newest first."""
        log = self._log
        if log is None:
            return

        def work(_report: object) -> tuple[Trashed, ...]:
            items = [item for folder in self.folders for item in log.trash.list(folder)]
            return tuple(sorted(items, key=lambda item: item.time, reverse=True))

        self.jobs.start(tr("Reading the trash"), work, done=answered, failed=self._failed)

    # ---- changes ----------------------------------------------------------------------------------------------------

    def carry_out(
        self,
        plan: Plan,
        then: Callable[[Done], None] | None = None,
        refused: Callable[[str], None] | None = None,
        about: Collection[Path] = (),
        report: Report | None = None,
    ) -> None:
        """Do what the plan says, after what was asked for before.

        Unsaved texts of the notes that it changes are saved first, and those of the files in `about`: what was looked
        at there is the unsaved text.

        `report` hears in a worker how far the writing is; what it raises takes all of it back.

        `then` is called once it is done, `refused` with a sentence where it cannot be done; without it that is said in
        the window.
        """
        if not self.writes:
            (refused or self._refuse)(tr(READ_ONLY))
            return
        self._orders.append(_Order(plan, self._roots, then, refused, tuple(about), report=report))
        self._next()

    def undo(self, rest_of: ChangedMeanwhileError | None = None) -> None:
        """Take the newest change back; of one that was refused, what can be undone.

        A file with unsaved text is in the way of it: saved, that text would be another one than is to be undone.
        """
        log, unsaved = self._log, frozenset(self._drafts.all)
        if log is None or not log.can_undo:
            return
        only, remarks = None, tuple[str, ...]()
        if rest_of is not None:
            only, stayed = rest_of.others, listed([path.name for path in rest_of.paths])
            remarks = (tr("Not undone: {names}.", names=stayed),)
        self._step(
            tr("Undoing {title}", title=log.undo_title),
            lambda: Done(log.undo(only, unsaved=unsaved), remarks, undone=True),
        )

    def redo(self) -> None:
        """Do again what was undone last; a file with unsaved text is in the way of it."""
        log, unsaved = self._log, frozenset(self._drafts.all)
        if log is not None and log.can_redo:
            self._step(
                tr("Doing {title} again", title=log.redo_title), lambda: Done(log.redo(unsaved=unsaved), again=True)
            )

    def take_back(self) -> None:
        """Try again to take back what stopped in the middle, as every change does first."""
        if self.half_done:
            self._set_busy(True)
            self._mend(lambda: self._set_busy(False), lambda error: self._give_up(sentence_of(error)))

    def restore(
        self, item: Trashed, path: Path | None = None, failed: Callable[[Exception], None] | None = None
    ) -> None:
        """Put a deleted note back, under another name where `path` says so."""
        log = self._log
        if log is not None:

            def work() -> Done:
                changes = log.trash.restoring(item, path)
                log.restore(item, path)
                return Done(changes)

            self._step(tr("Putting {name} back", name=item.path.name), work, failed)

    def delete_for_good(self, items: Sequence[Trashed], then: Callable[[], None]) -> None:
        """Take notes out of the trash."""
        log = self._log
        if log is not None:

            def work(_report: object) -> None:
                for item in items:
                    log.trash.remove(item)

            self.jobs.start(tr("Emptying the trash"), work, done=lambda _none: then(), failed=self._failed)

    def _show_project(self) -> None:
        project = self._session.project
        folders = tuple(project.roots) if project else ()
        roots = tuple(project.changed_in) if project else ()
        about = about_books(project.book_paths) if project and not folders else ()
        if (roots, about) == (self._roots, self._about):
            self._look_again()
            return
        self.folders, self._roots, self._about = folders, roots, about
        self._fresh = FreshNotes(folders) if roots else None
        self._entries = BookNotes()
        self._log = None
        self._orders.clear()
        self.switched.emit()
        self.changed.emit()
        keep_in = self._keep_in
        if not roots or keep_in is None:
            return

        def work(_report: object) -> tuple[ChangeLog, tuple[str, ...], list[str]]:
            log = ChangeLog(keep_in, roots, about=about)
            mended = log.mend_interrupted()
            log.tidy()
            left = [sentence for folder in folders for sentence in sweep(folder, time.time())]
            return log, mended, left

        title = tr("Reading the log of changes")
        self.jobs.start(title, work, done=lambda result: self._opened(about or roots, *result), failed=self._failed)

    def _look_again(self) -> None:
        """Another window or program that changed the notes has added to the log, too."""
        log = self._log
        if log is not None:
            title = tr("Reading the log of changes")
            self.jobs.start(
                title, lambda _report: log.refresh(), done=lambda _none: self.changed.emit(), failed=self._failed
            )

    def _opened(self, whose: tuple[Path, ...], log: ChangeLog, mended: tuple[str, ...], left: Sequence[str]) -> None:
        """`mended` says what was put right, `left` which files a crash left that cannot be deleted."""
        if whose != (self._about or self._roots):
            return
        self._log = log
        for sentence in (*left, *log.problems):
            self.told.emit(Notice(sentence, "warning"))
        self._show_mended(mended)
        self.changed.emit()
        self._next()

    def _mend(self, then: Callable[[], object], failed: Callable[[Exception], object]) -> None:
        """Take back what stopped in the middle, and go on."""
        log = self._log
        if log is None or not log.half_done:
            then()
            return

        def done(mended: tuple[str, ...]) -> None:
            self._show_mended(mended)
            then()

        title = tr("Taking {title} back", title=log.half_done)
        self.jobs.start(title, lambda _report: log.mend_interrupted(), done=done, failed=failed)

    def _show_mended(self, mended: Sequence[str]) -> None:
        if mended:
            self._say(" ".join(mended), "warning")
            self._session.reading.reload()

    def _next(self) -> None:
        if self._busy or not self._orders or self._log is None:
            return
        self._set_busy(True)
        order = self._orders.popleft()
        self._mend(
            lambda: self._save_and_plan(order, [path for path in order.about if self._drafts.get(path) is not None]),
            lambda error: self._give_up(sentence_of(error), order),
        )

    def _plan(self, order: _Order) -> None:
        self.ask(order.plan, lambda planned: self._planned(order, planned), lambda text: self._give_up(text, order))

    def _planned(self, order: _Order, planned: Planned) -> None:
        written = dict.fromkeys(path for change in planned.changes.changes for path in (change.path, change.place))
        unsaved = [path for path in written if self._drafts.get(path) is not None]
        if not unsaved:
            self._apply(order, planned)
        elif not order.saved.isdisjoint(unsaved):
            names = ", ".join(path.name for path in unsaved)
            self._give_up(tr("{names} has unsaved text. Save it, and try again.", names=names), order)
        else:
            self._save_and_plan(order, unsaved)

    def _save_and_plan(self, order: _Order, unsaved: Sequence[Path]) -> None:
        """Plan once these unsaved texts are written; where one cannot be, nothing is changed."""

        def saved(problems: list[str]) -> None:
            if problems:
                text = tr("Nothing was changed, because unsaved text could not be saved first: {why}", why=problems[0])
                self._give_up(text, order)
            else:
                order.saved |= frozenset(unsaved)
                self._plan(order)

        if unsaved:
            self._save(unsaved, saved)
        else:
            self._plan(order)

    def _apply(self, order: _Order, planned: Planned) -> None:
        log, fresh = self._log, self._fresh
        if log is None or fresh is None or order.roots != self._roots:
            self._give_up(tr("Another vault was opened meanwhile; nothing was changed."), order)
            return

        def work(_report: object) -> None:
            log.apply(planned.changes, order.report)
            fresh.take(planned.changes)

        def finished(_none: object) -> None:
            self._ended(Done(planned.changes, planned.remarks, saved=bool(order.saved)), order.then)

        self.jobs.start(
            planned.changes.title, work, done=finished, failed=lambda error: self._give_up(sentence_of(error), order)
        )

    def _step(self, title: str, work: Callable[[], Done], failed: Callable[[Exception], None] | None = None) -> None:
        if self._busy:
            self._refuse(tr("Another change is still being written. Try again in a moment."))
            return
        self._set_busy(True)
        fresh = self._fresh

        def job(_report: object) -> Done:
            done = work()
            if fresh is not None:
                fresh.take(done.changes)
            return done

        def wrong(error: Exception) -> None:
            self._set_busy(False)
            if failed is not None and is_heard(failed):
                failed(error)
            elif isinstance(error, ChangedMeanwhileError) and error.others:
                self.clashed.emit(error)
            else:
                self._failed(error)
            self._next()

        self._mend(
            lambda: self.jobs.start(title, job, done=lambda done: self._ended(done, None), failed=wrong), failed=wrong
        )

    def _ended(self, done: Done, then: Callable[[Done], None] | None) -> None:
        self._set_busy(False)
        if done.changes.changes:
            self.done.emit(done)
        if then is not None and is_heard(then):
            then(done)
        self._next()

    def _give_up(self, sentence: str, order: _Order | None = None) -> None:
        self._set_busy(False)
        refused = order.refused if order is not None else None
        asked = refused is not None and is_heard(refused)
        if refused is not None and asked:
            refused(sentence)
        if not asked or (self._log is not None and self._log.half_done):
            self._refuse(sentence)
        self._next()

    def _set_busy(self, busy: bool) -> None:
        self._busy = busy
        self.changed.emit()

    def _refuse(self, sentence: str) -> None:
        self._say(sentence, "error")

    def _say(self, sentence: str, tone: Tone) -> None:
        """Say it, and offer to take back what stopped in the middle, where something has."""
        text = shorten(sentence, 400)
        again = ("vault.take_back",) if self._log is not None and self._log.half_done else ()
        self.told.emit(Notice(text, tone, sentence if text != sentence else "", again, "notes"))

    def _failed(self, error: Exception) -> None:
        self._refuse(sentence_of(error))


def _overlaid(vaults: tuple[VaultNotes, ...], drafts: Mapping[Path, str]) -> tuple[VaultNotes, ...]:
    """The vaults with these unsaved texts in place of what is on disk."""
    made = []
    for vault in vaults:
        for path, text in drafts.items():
            filename = vault.filename(path)
            if filename is not None:
                vault = vault.changed(filename, text.removeprefix("\ufeff"))  # noqa: PLW2901  # one after the other
        made.append(vault)
    return tuple(made)


def paths_of(session: Session, notes: Sequence[object]) -> list[Path]:
    """The files of notes. Raises InputError where one lies behind Obsidian's plugin."""
    found = []
    for note in notes:
        path = session.note_path(note)  # type: ignore[arg-type]  # selections carry notes as objects
        if path is None:
            raise InputError("vault", tr("notes behind Obsidian's plugin are changed in Obsidian."))
        found.append(path)
    return found


def what_was_done(done: Done) -> str:
    """A sentence about a change that was carried out."""
    words = "Undone: {title}." if done.undone else "Done again: {title}." if done.again else "Done: {title}."
    text = tr(words, title=done.changes.title)
    others = len(done.changes.changes)
    if others > 1:
        text += " " + tr("{files} written.", files=count(others, "file was", "files were"))
    if done.saved:
        text += " " + tr("Unsaved text was saved first.")
    return text
