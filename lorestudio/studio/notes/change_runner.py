"""One run of a change set: looked at, kept, written down, carried out or taken back, written down again.

Bringing files back to what they held before a run that stopped in the middle, even where the studio was killed.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Final

from lorestudio.studio.notes.change_journal import Journal, LoggedChange, Run, RunKind
from lorestudio.studio.notes.change_plan import Action, Plan, Planner, Roots, read_bytes
from lorestudio.studio.notes.change_set import ChangedMeanwhileError, ChangeSet, HistoryError, NoteChange, RollBackError
from lorestudio.studio.notes.snapshots import Snapshots, history_error
from lorestudio.studio.notes.trash import Trash
from lorestudio.vault.data_folder import reason_of
from lorestudio.vault.files import ChangedOnDisk, SaveError, VaultError
from lorestudio.vault.writer import digest_of, encode_note, move_note, remove_note, same_place, save_note


@dataclass(frozen=True, slots=True)
class Expected:
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
) -> Mapping[Path, str]:
    """Bring every file of a half done run back to what it held before; `read` gives kept contents by digest.

    A file that holds what nobody here has written is left alone; that is a failure where it was `touched` (None: where
    that is not known). Returns what could not be mended and why.
    """
    failures: dict[Path, str] = {}
    aliases: set[Path] = set()
    for change in changes:
        if change.new_path is not None and same_place(change.path, change.new_path):
            aliases.add(change.new_path)
            try:
                if change.path.name not in os.listdir(change.path.parent):  # noqa: PTH208  # as the disk spells them
                    move_note(change.new_path, change.path)
            except OSError as error:
                failures[change.path] = reason_of(error)
    # Texts come back before anything is taken away.
    ordered = sorted(expectations(changes), key=lambda one: one.before is None)
    for expected in ordered:
        if expected.path in aliases or (failures and expected.before is None):
            continue
        try:
            _mend(expected, read, foreign_is_wrong=touched is None or expected.path in touched)
        except OSError as error:
            failures[expected.path] = reason_of(error)
    return failures


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
        text = read(expected.before).decode("utf-8")
        save_note(expected.path, text, found)
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


@dataclass(frozen=True, slots=True)
class Task:
    """What a run is for: which changes of which step, which steps cannot be redone after it, what it reverses."""

    kind: RunKind
    step: str
    part: tuple[int, ...]
    clears: tuple[str, ...] = ()
    reverses: Run | None = None


@dataclass(slots=True)
class Runner:
    """Carries out runs. The caller has the log to itself; `problems` gets what does not decide about success."""

    folder: Path
    roots: Roots
    journal: Journal
    snapshots: Snapshots
    trash: Trash
    clock: Callable[[], datetime]
    problems: dict[str, None] = field(default_factory=dict)

    def run(self, wanted: ChangeSet, task: Task, report: Report | None) -> None:
        """Do all of it or nothing. Raises ChangedMeanwhileError, HistoryError, RollBackError or another SaveError."""
        run_id = secrets.token_hex(8)
        plan = Planner(wanted, self.roots, self.trash, run_id).plan()
        self.snapshots.add(plan.contents, _REASONS[task.kind].format(title=wanted.title))
        self._keep_texts(wanted)
        logged = tuple(_logged(change) for change in wanted.changes)
        run = Run(
            run_id, task.kind, task.step, wanted.title, self.clock(), logged, task.part, plan.folders, task.clears
        )
        with self.explained():
            self.journal.begin(run)
        done: list[Action] = []
        try:
            _carry_out(plan, done, report)
            self._finish(run)
        except BaseException as error:
            _take_back(done)
            self._rolled_back(run, error, frozenset(path for action in done for path in action.paths))
            raise
        if task.reverses is not None:
            self._clear_after(task.reverses, frozenset(change.place for change in run.changes))

    def _finish(self, run: Run) -> None:
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

    def _rolled_back(self, run: Run, error: BaseException, touched: frozenset[Path]) -> None:
        """See that everything is as it was, and turn the error into what the person can use. Raises SaveError."""
        failures = mend(run.changes, self.snapshots.blobs.read, touched)
        if failures:
            reasons = "; ".join(dict.fromkeys(failures.values()))
            raise RollBackError(
                f"“{run.title}” stopped in the middle ({error}), and taking back what was done so far failed, too "
                f"({reasons}). Start the studio again when the disk is in order: it goes on taking back. "
                f"The texts from before are kept, packed with gzip: {self._kept_texts(run, failures)}"
            ) from error
        with suppress(OSError):  # the next start finds that nothing has happened
            self.journal.end(run, ok=False)
        if isinstance(error, ChangedOnDisk):
            raise ChangedMeanwhileError(
                [error.path], [], f"“{run.title}” was not done, and everything is as it was: {error}"
            ) from error
        if isinstance(error, OSError) and not isinstance(error, HistoryError):
            raise SaveError(f"“{run.title}” was not done, and everything is as it was: {error}") from error

    def mend(self, run: Run) -> str:
        """Take back what is left of a run whose studio was stopped; returns a sentence. Raises HistoryError."""
        if is_done(run.changes):
            with self.explained():
                self.journal.end(run, ok=True)
            return f"“{run.title}” was finished just before the studio stopped."
        failures = mend(run.changes, self.snapshots.blobs.read)
        if not failures:
            self._clear_after(run, frozenset(change.path for change in run.changes))
        with self.explained():
            self.journal.end(run, ok=False)
        if not failures:
            return f"The studio stopped in the middle of “{run.title}”. What was done so far was taken back."
        return (
            f"The studio stopped in the middle of “{run.title}”, and not all of it could be taken back. Look at these "
            f"files; their texts from before are kept, packed with gzip: {self._kept_texts(run, failures)}"
        )

    def texts(self, change: LoggedChange) -> NoteChange:
        """The change with its texts. Raises VaultError where one is lost."""
        before, after = (
            None if digest is None else self.snapshots.blobs.read(digest).decode("utf-8")
            for digest in (change.before, change.after)
        )
        return NoteChange(change.path, before, after, change.new_path)

    def _clear_after(self, run: Run, back: frozenset[Path]) -> None:
        """Remove what a run has made besides, after files of it came back: their copies in the trash, empty folders."""
        self._tidily(lambda: self.trash.remove_run(run.id, back))
        for folder in reversed(run.folders):
            with suppress(OSError):  # it is in use
                folder.rmdir()

    def _keep_texts(self, wanted: ChangeSet) -> None:
        """Undoing and redoing need both texts; the one before is kept already where the file existed."""
        texts = {digest: data for change in wanted.changes for digest, data in _contents(change)}
        try:
            # The vault itself holds the new texts, so the disk need not be waited for.
            self.snapshots.blobs.put(texts.values(), sync=False)
        except OSError as error:
            raise history_error(wanted.changes[0].path, self.folder, error) from error

    def _kept_texts(self, run: Run, failures: Mapping[Path, str]) -> str:
        """Where the text of each file from before lies, as one line."""
        before = {change.path: change.before for change in run.changes if change.before is not None}
        places = []
        for path, reason in failures.items():
            digest = before.get(path)
            kept = "there was no such file" if digest is None else str(self.snapshots.blobs.place(digest))
            places.append(f"{path} ({reason}): {kept}")
        return "; ".join(places)

    def _tidily(self, work: Callable[[], None]) -> None:
        """Do what does not decide whether the change has worked; what goes wrong is told in `problems`."""
        try:
            work()
        except VaultError as error:
            self.problems[str(error)] = None

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of the log's file into HistoryError."""
        try:
            yield
        except OSError as error:
            raise HistoryError(
                f"Nothing was changed, because the log of changes “{self.journal.file}” cannot be written "
                f"({reason_of(error)}). Make room there or correct its permissions, and try again."
            ) from error


def _carry_out(plan: Plan, done: list[Action], report: Report | None = None) -> None:
    """Take all steps; each goes into `done` when it is taken. Raises what a step or `report` raises."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for group in _groups(plan.actions):
            if report is not None:
                report(len(done), len(plan.actions))
            errors = list(pool.map(_attempt, group))
            done += (action for action, error in zip(group, errors, strict=True) if error is None)
            for error in errors:
                if error is not None:
                    raise error


def _groups(actions: Sequence[Action]) -> Iterator[Sequence[Action]]:
    """Steps that follow each other and may go together, as most of their time is waiting for the disk."""
    for kind, alike in groupby(actions, key=lambda action: action.group):
        members = tuple(alike)
        size = _AT_ONCE if kind else 1
        yield from (members[start : start + size] for start in range(0, len(members), size))


def _attempt(action: Action) -> Exception | None:
    try:
        action.do()
    except Exception as error:  # noqa: BLE001  # raised again after the steps beside it have ended
        return error
    return None


def _take_back(actions: Sequence[Action]) -> None:
    """Take steps back, the last one first; one that fails is left for `mend`, which sees to it that all is well."""
    for action in reversed(actions):
        with suppress(OSError):
            action.undo()


def _contents(change: NoteChange) -> Iterator[tuple[str, bytes]]:
    for text in (change.before, change.after):
        if text is not None:
            data = encode_note(change.path, text)
            yield digest_of(data), data


def _logged(change: NoteChange) -> LoggedChange:
    before, after = (
        None if text is None else digest_of(encode_note(change.path, text)) for text in (change.before, change.after)
    )
    return LoggedChange(change.path, before, after, change.new_path)
