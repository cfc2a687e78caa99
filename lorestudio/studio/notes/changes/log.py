"""The change log: change sets are applied wholly or not at all, undone and redone, also after a restart.

What a run is about to do is written down before the first file is touched, and that it has ended afterwards. So what a
killed studio or a full disk leaves half done is known, and `mend_interrupted` takes it back: every file gets what it
held before.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.studio.notes.changes.change_set import (
    ChangedMeanwhileError,
    ChangeSet,
    HistoryError,
    NoteFileChange,
    RollBackError,
)
from lorestudio.studio.notes.changes.journal import ChangeRun, ChangeStep, Journal, JournalState, LoggedChange, RunKind
from lorestudio.studio.notes.changes.plan import (
    DiskPlan,
    DiskStep,
    Look,
    Planner,
    Roots,
    RunRefusal,
    looked_after,
    read_bytes,
)
from lorestudio.studio.notes.changes.snapshots import Snapshots, history_kept
from lorestudio.studio.notes.trash import Trash, Trashed
from lorestudio.vault.file_lock import locked
from lorestudio.vault.files import ChangedOnDisk, SaveError, VaultError, reason_of, refused, utc_now
from lorestudio.vault.links.targets import NOTE_SUFFIX
from lorestudio.vault.note.three_way_merge import joined, three_way
from lorestudio.vault.writer import digest_of, move_note, remove_note, same_place, save_note


class Expected(Struct, frozen=True):
    """What a path held before a run, and what it may hold in the middle of it: digests, None for no file."""

    path: Path
    before: str | None
    ours: frozenset[str | None]


def expectations(changes: Sequence[LoggedChange]) -> tuple[Expected, ...]:
    """What every path of a run held before it."""
    before: dict[Path, str | None] = {}
    ours: dict[Path, set[str | None]] = {}
    for change in changes:
        for path in {change.path, change.place}:
            before.setdefault(path, None)
            ours.setdefault(path, {None}).update((change.before, change.after))
        if change.before is not None:
            before[change.path] = change.before
    return tuple(Expected(path, digest, frozenset(ours[path])) for path, digest in before.items())


def is_done(changes: Sequence[LoggedChange]) -> bool:
    """Whether all files are as the changes leave them."""
    try:
        return all(_is_done(change, changes) for change in changes)
    except OSError:
        return False


def _is_done(change: LoggedChange, changes: Sequence[LoggedChange]) -> bool:
    if change.after is not None and digest_at(change.place) != change.after:
        return False
    if same_place(change.path, change.place):
        return change.place.name in os.listdir(change.place.parent)  # noqa: PTH208  # as the disk spells them
    if change.before is None or (change.after is not None and change.place == change.path):
        return True
    taken_over = any(other.after is not None and other.place == change.path for other in changes)
    return taken_over or not os.path.lexists(change.path)


def mend(
    changes: Sequence[LoggedChange], read: Callable[[str], bytes], touched: Collection[Path] | None = None
) -> Mapping[Path, OSError]:
    """Bring every file of a half done run back to what it held before; `read` gives kept contents by digest.

    A file that holds what nobody here has written is left alone; that is a failure where it was `touched` (None: where
    that is not known). Returns what could not be mended and why.
    """
    failures: dict[Path, OSError] = {}
    aliases: set[Path] = set()
    for change in changes:
        if change.new_path is not None and same_place(change.path, change.new_path):
            aliases.add(change.new_path)
            try:
                if change.path.name not in os.listdir(change.path.parent):  # noqa: PTH208  # as the disk spells them
                    move_note(change.new_path, change.path)
            except OSError as error:
                failures[change.path] = error
    # Texts come back before anything is taken away.
    ordered = sorted(expectations(changes), key=lambda one: one.before is None)
    for expected in ordered:
        if expected.path in aliases or (failures and expected.before is None):
            continue
        try:
            _mend(expected, read, foreign_is_wrong=touched is None or expected.path in touched)
        except OSError as error:
            failures[expected.path] = error
    return failures


def may_pass(error: OSError) -> bool:
    """Whether mending can succeed once the disk is in order: nobody else has changed the file, no kept text is lost."""
    return not isinstance(error, VaultError) or (isinstance(error, SaveError) and not isinstance(error, ChangedOnDisk))


def _mend(expected: Expected, read: Callable[[str], bytes], *, foreign_is_wrong: bool) -> None:
    """Raises OSError with a sentence."""
    found = digest_at(expected.path)
    if found == expected.before:
        return
    if found not in expected.ours:
        if not foreign_is_wrong:
            return
        raise VaultError(f"“{expected.path.name}” was changed by somebody else meanwhile")
    if expected.before is not None:
        save_note(expected.path, read(expected.before), found)
    elif found is not None:
        remove_note(expected.path, found)


def digest_at(path: Path) -> str | None:
    """The digest of the file at `path`, None where there is none. Raises SaveError where it cannot be read."""
    data = read_bytes(path)
    return None if data is None else digest_of(data)


Report = Callable[[int, int], None]
"""Gets the number of steps done and their total; what it raises stops the work, which is then taken back."""

_AT_ONCE: Final = 8
"""So many files are written at a time."""

_REASONS: Final = {
    RunKind.APPLY: "before “{title}”",
    RunKind.UNDO: "before undoing “{title}”",
    RunKind.REDO: "before “{title}”",
}
_REFUSALS: Final = {
    RunKind.APPLY: RunRefusal(
        "was not done", "Look at what is on disk, then try again with the notes as they are now."
    ),
    RunKind.UNDO: RunRefusal("was not undone", "Undo what was changed since, then try again."),
    RunKind.REDO: RunRefusal("was not done again", "Undo what was changed since, then try again."),
}

_TRIED_AGAIN: Final = (
    "Make room on the disk, or correct its permissions: taking back is tried again before the next change, and when "
    "the studio starts."
)


class Runner(Struct):
    """Carries out runs. The caller has the log to itself; `problems` gets what does not decide about success."""

    folder: Path
    roots: Roots
    journal: Journal
    snapshots: Snapshots
    trash: Trash
    clock: Callable[[], datetime]
    problems: dict[str, None] = {}

    def run(
        self,
        wanted: ChangeSet,
        kind: RunKind,
        step: str,
        part: tuple[int, ...],
        report: Report | None = None,
        *,
        clears: tuple[str, ...] = (),
        reverses: ChangeRun | None = None,
        unsaved: Collection[Path] = (),
    ) -> None:
        """Do all of it or nothing. Raises ChangedMeanwhileError, HistoryError, RollBackError or another SaveError.

        `part` are the numbers of the changes of the step; the steps that it `clears` cannot be redone after it.
        """
        run_id = secrets.token_hex(8)
        amount = len(wanted.changes)

        def look(_done: int) -> None:
            if report is not None:
                report(0, 2 * amount)

        plan = Planner(wanted, self.roots, self.trash, run_id, _REFUSALS[kind], unsaved, look).plan()
        total = amount + len(plan.actions)

        def kept(done: int) -> None:
            if report is not None:
                report(done, total)

        self.snapshots.add(plan.contents, _REASONS[kind].format(title=wanted.title), look)
        self._keep_texts(wanted, kept)
        logged = tuple(_logged(change) for change in looked_after(wanted.changes, lambda _done: kept(amount)))
        run = ChangeRun(run_id, kind, step, wanted.title, self.clock(), logged, part, plan.folders, clears)
        with self.explained():
            self.journal.begin(run)
        done: list[DiskStep] = []
        try:
            _carry_out(plan, done, lambda carried: kept(amount + carried))
            self._finish(run)
        except BaseException as error:
            _take_back(done)
            self._rolled_back(run, error, frozenset(path for action in done for path in action.paths))
            raise
        if reverses is not None:
            self._clear_after(reverses, frozenset(change.place for change in run.changes))

    def _finish(self, run: ChangeRun) -> None:
        """Let the histories follow and write the end down."""
        moves = [(change.path, change.place) for change in run.changes if change.new_path is not None]
        if moves:
            self.snapshots.moved(moves)
        try:
            with self.explained():
                self.journal.end(run, ok=True)
        except SaveError:
            if moves:
                self._tidily(lambda: self.snapshots.moved([(new, old) for old, new in reversed(moves)]))
            raise

    def _rolled_back(self, run: ChangeRun, error: BaseException, touched: frozenset[Path]) -> None:
        """See that everything is as it was, and turn the error into what the person can use. Raises SaveError."""
        failures = mend(run.changes, self.snapshots.blobs.read, touched)
        if failures:
            raise RollBackError(
                f"“{run.title}” stopped in the middle ({error}), and taking back what was done so far failed, too "
                f"({_reasons(failures)}). {_TRIED_AGAIN} {self._kept_texts(run, failures)}"
            ) from error
        _remove_empty(run.folders)  # a file that was being written is gone only now
        with suppress(OSError):  # the next change or start finds that nothing has happened
            self.journal.end(run, ok=False)
        what = f"“{run.title}” {_REFUSALS[run.kind].words}"
        if isinstance(error, ChangedOnDisk):
            raise ChangedMeanwhileError([error.path], [], f"{what}, and everything is as it was: {error}") from error
        if isinstance(error, OSError) and not isinstance(error, HistoryError):
            raise SaveError(f"{what}, and everything is as it was: {error}") from error

    def mend(self, run: ChangeRun) -> str:
        """Take back what is left of a run that stopped in the middle; returns a sentence. Raises HistoryError.

        Where the disk does not let it be taken back now, it stays unfinished.
        """
        if is_done(run.changes):
            with self.explained():
                self.journal.end(run, ok=True)
            return f"“{run.title}” was finished just before it was stopped."
        failures = mend(run.changes, self.snapshots.blobs.read)
        stopped = f"“{run.title}” was stopped in the middle"
        if any(map(may_pass, failures.values())):
            return (
                f"{stopped}, and what was done so far cannot be taken back yet ({_reasons(failures)}). {_TRIED_AGAIN} "
                f"{self._kept_texts(run, failures)}"
            )
        if not failures:
            self._clear_after(run, frozenset(change.path for change in run.changes))
        with self.explained():
            self.journal.end(run, ok=False)
        if not failures:
            return f"{stopped}. What was done so far was taken back."
        kept = self._kept_texts(run, failures)
        return f"{stopped}, and not all of it could be taken back. Look at these files. {kept}"

    def texts(self, change: LoggedChange) -> NoteFileChange:
        """The change with its texts. Raises VaultError where one is lost."""
        before, after = (
            None if digest is None else self.snapshots.blobs.read(digest) for digest in (change.before, change.after)
        )
        return NoteFileChange(change.path, before, after, change.new_path, change.home)

    def since(self, change: NoteFileChange) -> NoteFileChange:
        """The change of a note with what was written there since, as far as both are about other lines of it."""
        data = read_bytes(change.path) if change.path.suffix == NOTE_SUFFIX else None
        if data is None or data == change.old or (before := change.before) is None or (after := change.after) is None:
            return change
        try:
            after = joined(three_way(before, data.decode("utf-8"), after), {})
            return NoteFileChange(change.path, data, after, change.new_path, change.home)
        except ValueError:  # no text, or a person has to decide
            return change

    def _clear_after(self, run: ChangeRun, back: frozenset[Path]) -> None:
        """Remove what a run has made besides, after files of it came back: their copies in the trash, empty folders."""
        self._tidily(lambda: self.trash.remove_run(run.id, back))
        _remove_empty(run.folders)

    def _keep_texts(self, wanted: ChangeSet, kept: Look) -> None:
        """Undoing and redoing need both texts; what a file held before is kept already, as a snapshot of it."""
        with history_kept(wanted.changes[0].path, self.folder):
            made = (each.new for each in looked_after(wanted.changes, kept) if each.new is not None)
            # The vault itself holds them, so the disk need not be waited for.
            self.snapshots.blobs.put(made, sync=False)

    def _kept_texts(self, run: ChangeRun, failures: Mapping[Path, OSError]) -> str:
        """A sentence about where the text of each file from before lies."""
        before = {change.path: change.before for change in run.changes if change.before is not None}
        places = []
        for path, error in failures.items():
            digest = before.get(path)
            kept = "there was no such file" if digest is None else str(self.snapshots.blobs.place(digest))
            places.append(f"{path} ({reason_of(error)}): {kept}")
        return f"The texts from before are kept, packed with gzip: {'; '.join(places)}"

    def _tidily(self, work: Callable[[], None]) -> None:
        """Do what does not decide whether the change has worked; what goes wrong is told in `problems`."""
        try:
            work()
        except VaultError as error:
            self.problems[str(error)] = None

    def explained(self) -> AbstractContextManager[None]:
        """Turn errors of the log's file into HistoryError."""
        return refused(
            HistoryError,
            f"Nothing was changed, because the log of changes “{self.journal.file}” cannot be written ({{reason}}). "
            "Make room there or correct its permissions, and try again.",
        )


def _carry_out(plan: DiskPlan, done: list[DiskStep], look: Look) -> None:
    """Take all steps; each goes into `done` when it is taken. Raises what a step or `look` raises."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for group in _groups(plan.actions):
            look(len(done))
            errors = list(pool.map(_attempt, group))
            done += (action for action, error in zip(group, errors, strict=True) if error is None)
            for error in errors:
                if error is not None:
                    raise error


def _groups(actions: Sequence[DiskStep]) -> Iterator[Sequence[DiskStep]]:
    """Steps that follow each other and may go together, as most of their time is waiting for the disk."""
    for kind, alike in groupby(actions, key=lambda action: action.group):
        members = tuple(alike)
        size = _AT_ONCE if kind else 1
        yield from (members[start : start + size] for start in range(0, len(members), size))


def _reasons(failures: Mapping[Path, OSError]) -> str:
    return "; ".join(dict.fromkeys(map(reason_of, failures.values())))


def _attempt(action: DiskStep) -> Exception | None:
    try:
        action.do()
    except Exception as error:  # noqa: BLE001  # raised again after the steps beside it have ended
        return error
    return None


def _take_back(actions: Sequence[DiskStep]) -> None:
    """Take steps back, the last one first; one that fails is left for `mend`, which sees to it that all is well."""
    for action in reversed(actions):
        with suppress(OSError):
            action.undo()


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # it is in use
            folder.rmdir()


def _logged(change: NoteFileChange) -> LoggedChange:
    before, after = (None if data is None else digest_of(data) for data in (change.old, change.new))
    return LoggedChange(change.path, before, after, change.new_path, change.home)


KEPT_STEPS: Final = 200
"""So many of the newest change sets can be undone after `tidy`."""


class ChangeLog:
    """Applies change sets to the notes of some vaults.

    `folder` holds the log, the history and the trash of all vaults (`default_folder()` for a person's own); `roots` are
    the vaults' folders: nothing outside them is touched but another program's file that goes with one of them, and only
    steps that are wholly about them can be undone here; with `about`, those of them that change one of these files, are
    made with one of them, or make a new one whose home is among these folders.
    Several studios may use one folder. Every method waits for the disk and for other studios, so a window calls it
    from a worker; the properties do not.
    """

    def __init__(
        self, folder: Path, roots: Sequence[Path], clock: Callable[[], datetime] = utc_now, about: Collection[Path] = ()
    ) -> None:
        """Open the log; nothing is written. Raises VaultError where it cannot be read."""
        self._about = frozenset(about)
        self.snapshots = Snapshots(folder / "history", clock)
        self.trash = Trash(folder / "trash", clock)
        self._folder = folder
        self._roots = Roots(roots)
        self._journal = Journal(folder / "changes.jsonl")
        self._runner = Runner(folder, self._roots, self._journal, self.snapshots, self.trash, clock)
        self._guard = threading.RLock()
        self._problems: dict[str, None] = {}
        self._done: tuple[ChangeStep, ...] = ()
        self._undone: tuple[ChangeStep, ...] = ()
        self._elsewhere: tuple[ChangeStep, ...] = ()
        self.half_done = ""
        """The title of a change that is to be taken back as soon as the disk lets it, "" for none; as of the last look
        at the log, when another studio may also have been at work on it.
        """
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
    def gone(self) -> tuple[Path, ...]:
        """The folders that are gone and hold notes of changes outside the roots, the one changed last first."""
        places = (change.place for step in reversed(self._elsewhere) for change in step.changes if change.home is None)
        return tuple(dict.fromkeys(folder for folder in map(_missing, places) if folder is not None))

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about damaged lines and about what could not be tidied away."""
        return (*self._problems, *self._runner.problems, *self.snapshots.problems, *self.trash.problems)

    def refresh(self) -> None:
        """Look at the log again: another studio may have added to it. Raises VaultError."""
        with self._guard:
            advice = "Check its permissions; without it nothing can be undone."
            with refused(
                VaultError, f"The log of changes “{self._journal.file}” cannot be read ({{reason}}). {advice}"
            ):
                state = self._journal.read()
            self._take_over(state)

    def apply(self, changes: ChangeSet, report: Report | None = None) -> ChangeSet:
        """Carry out a change set and return what undoes it.

        Before anything is touched, every file is compared with what the set expects, and a snapshot of it is kept.
        Then all is done or, after any error and after whatever `report(done, total)` raises, nothing: what was done so
        far is taken back. Missing folders of new paths are made; folders that become empty stay.
        Raises ChangedMeanwhileError, HistoryError, RollBackError or another SaveError.
        """
        real = _each_once([change for change in changes.changes if not change.is_idle])
        wanted = ChangeSet(changes.title, real)
        if not real:
            return wanted
        with self._exclusive():
            clears = tuple(step.id for step in self._undone)
            part = tuple(range(len(real)))
            self._runner.run(wanted, RunKind.APPLY, secrets.token_hex(8), part, report, clears=clears)
        return wanted.inverse

    def undo(self, only: Collection[Path] | None = None, unsaved: Collection[Path] = ()) -> ChangeSet:
        """Undo the newest step; returns what was done to the files.

        What was written into other lines of a note since stays. Where the same lines or other files were changed
        meanwhile, or there is an `unsaved` text, nothing is undone: ChangedMeanwhileError names the files, and in
        `others` those that `only` can be given. `only` picks files of the step by the path that they had before or have
        after it; the others stay as they are, also after a redo.
        Nothing is undone either where the newest step is another one than `undo_title` said: SaveError names it.
        Raises what `apply` raises.
        """
        shown = self._done[-1:]
        with self._exclusive():
            if not self._done:
                raise SaveError("There is nothing to undo.")
            step = self._done[-1]
            _check_shown(step, shown, "undone", "the newest change is {title}; undo again to take it back")
            part = _picked(step, only)[::-1]
            changes = tuple(self._runner.since(self._runner.texts(step.changes[number]).inverse) for number in part)
            wanted = ChangeSet(step.title, changes)
            self._runner.run(wanted, RunKind.UNDO, step.id, part, reverses=step.last, unsaved=unsaved)
        return wanted

    def redo(self, unsaved: Collection[Path] = ()) -> ChangeSet:
        """Do again what was undone last, as `undo` does; returns what was done to the files."""
        shown = self._undone[-1:]
        with self._exclusive():
            if not self._undone:
                raise SaveError("There is nothing to do again.")
            step = self._undone[-1]
            _check_shown(step, shown, "done again", "what was undone last is {title}; try again for that")
            part = step.last.part[::-1]
            changes = tuple(self._runner.since(self._runner.texts(step.changes[number])) for number in part)
            wanted = ChangeSet(step.title, changes)
            self._runner.run(wanted, RunKind.REDO, step.id, part, reverses=step.last, unsaved=unsaved)
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
        """Take back what a studio that was killed, or a disk that was full, has left half done; returns sentences for
        the person.

        Call it when a studio starts, and before a change where something is `half_done`. A run of another studio that
        is still at work is waited for. Files that somebody has changed since are left as they are and named; what the
        disk does not let be taken back yet stays half done. Raises SaveError.
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

    def _take_over(self, state: JournalState) -> None:
        steps = sorted(state.steps.values(), key=lambda step: step.order)
        inside = [step for step in steps if self._is_inside(step.changes)]
        visible = [step for step in inside if not self._about or any(map(self._is_about, step.changes))]
        self._problems.update(dict.fromkeys(state.problems))
        self.half_done = next((run.title for run in state.unfinished.values() if self._is_inside(run.changes)), "")
        self._done = tuple(step for step in visible if not step.undone)
        self._undone = tuple(step for step in visible if step.undone)
        self._elsewhere = tuple(step for step in steps if step not in inside and not step.undone)

    def _is_about(self, change: LoggedChange) -> bool:
        new = change.before is None or change.home not in {each.parent for each in self._about}
        return change.path in self._about or (new and change.home in self._about)

    def _is_inside(self, changes: Sequence[LoggedChange]) -> bool:
        return all(self._roots.has(change) for change in changes)

    def _is_there(self, change: LoggedChange) -> bool:
        root = self._roots.of(change.path) if change.home is None else change.path.parent
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


def _each_once(changes: Sequence[NoteFileChange]) -> tuple[NoteFileChange, ...]:
    """The changes without those of a text that another one writes as well, as of a link and the file it leads to.

    Raises SaveError where they would give the file different texts.
    """
    kept: list[NoteFileChange] = []
    known: dict[str, int] = {}
    for change in changes:
        if change.old in {None, change.new} or change.new is None:
            kept.append(change)
            continue
        place = os.path.realpath(change.path)
        if place not in known:
            known[place] = len(kept)
            kept.append(change)
            continue
        other = kept[known[place]]
        if (other.new, other.new_path, change.new_path) == (change.new, None, None):
            kept[known[place]] = change if str(change.path) == place else other
        else:
            names = f"“{change.path}” and “{other.path}”"
            raise SaveError(
                f"Nothing was changed: {names} are one file by two names, and would get different texts. "
                "Take the link away, or make it a file of its own, and try again."
            )
    return tuple(kept)


def _check_shown(step: ChangeStep, shown: Sequence[ChangeStep], what: str, now: str) -> None:
    """Raise SaveError where a person was told of another step than this one."""
    if shown and shown[0].id != step.id:
        raise SaveError(
            f"“{shown[0].title}” was not {what}: another window or program has done or undone something meanwhile. "
            f"Now {now.format(title=f'“{step.title}”')}."
        )


def _missing(place: Path) -> Path | None:
    """The uppermost folder of a place that is not there, None where all are."""
    return next((folder for folder in reversed(place.parents) if not folder.exists()), None)


def _picked(step: ChangeStep, only: Collection[Path] | None) -> tuple[int, ...]:
    """The numbers of the changes to undo, in their order. Raises SaveError where `only` names none of them."""
    active = tuple(sorted(step.last.part))
    if only is None:
        return active
    part = tuple(number for number in active if {step.changes[number].path, step.changes[number].place} & set(only))
    if not part:
        raise SaveError(f"“{step.title}” changed none of the chosen files. Choose others.")
    return part
