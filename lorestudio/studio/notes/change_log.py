"""The change log: change sets are applied wholly or not at all, undone and redone, also after a restart.

What a run is about to do is written down before the first file is touched, and that it has ended afterwards. So what a
killed studio leaves half done is known, and `mend_interrupted` takes it back.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from lorestudio.studio.notes.change_journal import Journal, LoggedChange, RunKind, State, Step
from lorestudio.studio.notes.change_plan import Roots
from lorestudio.studio.notes.change_runner import Report, Runner, Task
from lorestudio.studio.notes.change_set import (
    ChangedMeanwhileError,
    ChangeSet,
    HistoryError,
    NameTakenError,
    NoteChange,
    RollBackError,
)
from lorestudio.studio.notes.snapshots import Snapshots
from lorestudio.studio.notes.trash import Trash, Trashed
from lorestudio.vault.data_folder import default_folder, reason_of, utc_now
from lorestudio.vault.file_lock import locked
from lorestudio.vault.files import SaveError, VaultError

__all__ = [
    "ChangeLog",
    "ChangeSet",
    "ChangedMeanwhileError",
    "HistoryError",
    "NameTakenError",
    "NoteChange",
    "RollBackError",
    "default_folder",
]

KEPT_STEPS: Final = 200
"""So many of the newest change sets can be undone after `tidy`."""


class ChangeLog:
    """Applies change sets to the notes of some vaults.

    `folder` holds the log, the history and the trash of all vaults (`default_folder()` for a person's own); `roots` are
    the vaults' folders: nothing outside them is touched, and only steps that lie wholly inside them can be undone here.
    Several studios may use one folder. Every method waits for the disk and for other studios, so a window calls it
    from a worker; the properties do not.
    """

    def __init__(self, folder: Path, roots: Sequence[Path], clock: Callable[[], datetime] = utc_now) -> None:
        """Open the log; nothing is written. Raises VaultError where it cannot be read."""
        self.snapshots = Snapshots(folder / "history", clock)
        self.trash = Trash(folder / "trash", clock)
        self._folder = folder
        self._roots = Roots(roots)
        self._journal = Journal(folder / "changes.jsonl")
        self._runner = Runner(folder, self._roots, self._journal, self.snapshots, self.trash, clock)
        self._guard = threading.RLock()
        self._problems: dict[str, None] = {}
        self._done: tuple[Step, ...] = ()
        self._undone: tuple[Step, ...] = ()
        self.refresh()

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo, as of the last look at the log."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to redo."""
        return bool(self._undone)

    @property
    def undo_title(self) -> str:
        """What `undo` would undo, "" for nothing."""
        return self._done[-1].title if self._done else ""

    @property
    def redo_title(self) -> str:
        """What `redo` would do again, "" for nothing."""
        return self._undone[-1].title if self._undone else ""

    @property
    def titles(self) -> tuple[str, ...]:
        """What can be undone, one after the other, the newest first."""
        return tuple(step.title for step in reversed(self._done))

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about damaged lines and about what could not be tidied away."""
        return (*self._problems, *self._runner.problems, *self.snapshots.problems, *self.trash.problems)

    def refresh(self) -> None:
        """Look at the log again: another studio may have added to it. Raises VaultError."""
        with self._guard:
            try:
                state = self._journal.read()
            except OSError as error:
                raise VaultError(
                    f"The log of changes “{self._journal.file}” cannot be read ({reason_of(error)}). "
                    "Check its permissions; without it nothing can be undone."
                ) from error
            self._take_over(state)

    def apply(self, changes: ChangeSet, report: Report | None = None) -> ChangeSet:
        """Carry out a change set and return what undoes it.

        Before anything is touched, every file is compared with what the set expects, and a snapshot of it is kept.
        Then all is done or, after any error and after whatever `report(done, total)` raises, nothing: what was done so
        far is taken back. Missing folders of new paths are made; folders that become empty stay.
        Raises ChangedMeanwhileError, HistoryError, RollBackError or another SaveError.
        """
        real = tuple(change for change in changes.changes if not change.is_idle)
        wanted = ChangeSet(changes.title, real)
        if not real:
            return wanted
        with self._exclusive():
            clears = tuple(step.id for step in self._undone)
            task = Task(RunKind.APPLY, secrets.token_hex(8), tuple(range(len(real))), clears=clears)
            self._runner.run(wanted, task, report)
        return wanted.inverse

    def undo(self, only: Collection[Path] | None = None, report: Report | None = None) -> ChangeSet:
        """Undo the newest step; returns what was done to the files.

        Where a file was changed by somebody else meanwhile, nothing is undone: ChangedMeanwhileError names the files,
        and in `others` those that `only` can be given. `only` picks files of the step by the path that they had before
        or have after it; the others stay as they are, also after a redo. Raises what `apply` raises.
        """
        with self._exclusive():
            if not self._done:
                raise SaveError("There is nothing to undo.")
            step = self._done[-1]
            part = _picked(step, only)[::-1]
            changes = tuple(self._runner.texts(step.changes[number]).inverse for number in part)
            wanted = ChangeSet(step.title, changes)
            self._runner.run(wanted, Task(RunKind.UNDO, step.id, part, reverses=step.last), report)
        return wanted

    def redo(self, report: Report | None = None) -> ChangeSet:
        """Do again what was undone last; returns what was done to the files. Raises what `apply` raises."""
        with self._exclusive():
            if not self._undone:
                raise SaveError("There is nothing to do again.")
            step = self._undone[-1]
            part = step.last.part[::-1]
            wanted = ChangeSet(step.title, tuple(self._runner.texts(step.changes[number]) for number in part))
            self._runner.run(wanted, Task(RunKind.REDO, step.id, part, reverses=step.last), report)
        return wanted

    def restore(self, item: Trashed, path: Path | None = None) -> Path:
        """Put a deleted note back, under another name where `path` says so; returns where it is. It can be undone.

        Raises NameTakenError, which offers a free name, where a file is in the way, and what `apply` raises.
        """
        self.apply(self.trash.restoring(item, path))
        try:
            self.trash.remove(item)
        except SaveError as error:  # the note is back; that its copy stays in the trash does no harm
            self._problems[str(error)] = None
        return path or item.path

    def mend_interrupted(self) -> tuple[str, ...]:
        """Take back what a studio that was killed has left half done; returns sentences for the person.

        Call it when a studio starts. A run of another studio that is still at work is waited for. Files that somebody
        has changed since are left as they are and named. Raises SaveError.
        """
        with self._exclusive():
            runs = [run for run in self._journal.read().unfinished.values() if self._is_inside(run.changes)]
            here = [run for run in runs if all(self._is_there(change) for change in run.changes)]
            return tuple(self._runner.mend(run) for run in here)

    def tidy(self) -> None:
        """Forget steps but the newest 200 and snapshots by the rule of `snapshots.thinned`. Raises SaveError."""
        with self._exclusive():
            state = self._journal.read()
            newest = sorted(state.steps.values(), key=lambda step: step.order)[-KEPT_STEPS:]
            if len(newest) < len(state.steps):
                with self._runner.explained():
                    self._journal.keep_only(newest)
                    state = self._journal.read()
            self.snapshots.prune(state.digests)

    def _take_over(self, state: State) -> None:
        steps = sorted(state.steps.values(), key=lambda step: step.order)
        visible = [step for step in steps if self._is_inside(step.changes)]
        self._problems.update(dict.fromkeys(state.problems))
        self._done = tuple(step for step in visible if not step.undone)
        self._undone = tuple(step for step in visible if step.undone)

    def _is_inside(self, changes: Sequence[LoggedChange]) -> bool:
        places = (place for change in changes for place in (change.path, change.place))
        return all(self._roots.of(place) is not None for place in places)

    def _is_there(self, change: LoggedChange) -> bool:
        root = self._roots.of(change.path)
        return root is not None and root.is_dir()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Have the log to ourselves, among threads and among processes, and know its present state."""
        with self._guard, locked(self._folder / "lock"):
            self.refresh()
            try:
                yield
            finally:
                self.refresh()


def _picked(step: Step, only: Collection[Path] | None) -> tuple[int, ...]:
    """The numbers of the changes to undo, in their order. Raises SaveError where `only` names none of them."""
    active = tuple(sorted(step.last.part))
    if only is None:
        return active
    part = tuple(number for number in active if {step.changes[number].path, step.changes[number].place} & set(only))
    if not part:
        raise SaveError(f"“{step.title}” changed none of the chosen files. Choose others.")
    return part
