"""The file of the change log: what was begun, what was ended, and what follows from it.

It grows by a line of JSON at a time; a damaged line is told and passed over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.settings.files import READ_AT_MOST, append_line, read_whole, write_atomically
from lorestudio.trace.storage.serialize import record_from_json, record_to_json
from lorestudio.trace.wording import plural

MOST_TOLD: Final = 20
"""So many damaged lines of a file are told one by one."""


class JsonLines(Struct, frozen=True):
    """The objects of a file in order, each with its line counted from 1, and sentences about lines that hold none."""

    numbered: tuple[tuple[int, Mapping[str, Json]], ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def records(self) -> tuple[Mapping[str, Json], ...]:
        """The objects alone."""
        return tuple(record for _, record in self.numbered)


def json_line(record: Mapping[str, Json]) -> bytes:
    """One object as a line; halves of surrogate pairs stay as escapes."""
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def read_lines(path: Path) -> JsonLines:
    """What the file holds; nothing where there is none. Of many damaged lines the first are told each, the others are
    counted. Raises OSError.
    """
    try:
        data = read_whole(path, READ_AT_MOST)
    except FileNotFoundError:
        return JsonLines()
    records: list[tuple[int, Mapping[str, Json]]] = []
    bad: list[int] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            records.append((number, record))
        else:
            bad.append(number)
    return JsonLines(tuple(records), damaged(path, bad))


def damaged(path: Path, numbers: Sequence[int]) -> tuple[str, ...]:
    """Sentences about lines, counted from 1, that say nothing that can be used; of many the last counts the others."""
    kept = "What is told in the other lines is still there."
    told = [f"“{path}”, line {number} is damaged and was passed over. {kept}" for number in numbers[:MOST_TOLD]]
    if len(numbers) > MOST_TOLD:
        more = plural(len(numbers) - MOST_TOLD, "# more line is|# more lines are")
        told.append(f"“{path}”: {more} damaged, from line {numbers[MOST_TOLD]} on, and passed over. {kept}")
    return tuple(told)


class RunKind(StrEnum):
    """What a run does with its step."""

    APPLY = "apply"
    UNDO = "undo"
    REDO = "redo"


class LoggedChange(Struct, frozen=True):
    """A `NoteFileChange` with the digests of its texts in place of them."""

    path: Path
    before: str | None
    after: str | None
    new_path: Path | None = None
    home: Path | None = None

    @property
    def place(self) -> Path:
        """Where the file is afterwards."""
        return self.new_path or self.path


class ChangeRun(Struct, frozen=True):
    """One time that files were changed. `part` are the numbers of the step's changes that it was about.

    `changes` is what happened on disk (of an undo: the inverse), `folders` the folders that it made, `clears` the
    undone steps that cannot be redone after it.
    """

    id: str
    kind: RunKind
    step: str
    title: str
    time: datetime
    changes: tuple[LoggedChange, ...]
    part: tuple[int, ...]
    folders: tuple[Path, ...] = ()
    clears: tuple[str, ...] = ()


class ChangeStep(Struct, frozen=True):
    """One change set of the log as it stands: its changes as they were applied, and its last run."""

    id: str
    changes: tuple[LoggedChange, ...]
    last: ChangeRun
    order: int

    @property
    def title(self) -> str:
        """What the person did."""
        return self.last.title

    @property
    def undone(self) -> bool:
        """Whether it was undone and can be redone."""
        return self.last.kind is RunKind.UNDO


class JournalState(Struct):
    """What follows from the journal: the steps, and runs that have no end because the studio was stopped in them."""

    steps: dict[str, ChangeStep] = {}
    unfinished: dict[str, ChangeRun] = {}
    problems: tuple[str, ...] = ()
    order: int = 0

    def begin(self, run: ChangeRun) -> None:
        """Take in the beginning of a run."""
        self.unfinished[run.id] = run

    def end(self, run_id: str, *, ok: bool) -> None:
        """Take in its end."""
        run = self.unfinished.pop(run_id, None)
        if run is None or not ok:
            return
        self.order += 1
        for step in run.clears:
            self.steps.pop(step, None)
        known = self.steps.get(run.step)
        if run.kind is RunKind.APPLY:
            self.steps[run.step] = ChangeStep(run.step, run.changes, run, self.order)
        elif known is not None:
            self.steps[run.step] = replace(known, last=run, order=self.order)

    @property
    def digests(self) -> frozenset[str]:
        """The contents that undoing, redoing and mending need."""
        runs = [*self.unfinished.values(), *(step.last for step in self.steps.values())]
        changes = [change for run in runs for change in run.changes]
        changes += [change for step in self.steps.values() for change in step.changes]
        found = {digest for change in changes for digest in (change.before, change.after)}
        return frozenset(digest for digest in found if digest is not None)


class Journal:
    """The file itself. Methods raise OSError."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._seen: tuple[int, int, int] | None = None
        self._state = JournalState()

    def read(self) -> JournalState:
        """The present state; the file is only read again where somebody has changed it."""
        stamp = self._stamp()
        if stamp != self._seen or stamp is None:
            lines = read_lines(self.file)
            self._state = _journal_state(lines.numbered, self.file)
            self._state.problems = (*lines.problems, *self._state.problems)
            self._seen = stamp
        return self._state

    def begin(self, run: ChangeRun) -> None:
        """Write down what is about to happen."""
        self._append(_begin_record(run))
        self._state.begin(run)

    def end(self, run: ChangeRun, *, ok: bool) -> None:
        """Write down that it has happened, or that everything is as it was before."""
        self._append(_end_record(run.id, ok=ok))
        self._state.end(run.id, ok=ok)

    def keep_only(self, steps: Sequence[ChangeStep]) -> None:
        """Forget all other steps; unfinished runs stay."""
        state = self.read()
        records: list[Mapping[str, Json]] = []
        for step in sorted(steps, key=lambda step: step.order):
            first = replace(
                step.last, id=f"{step.id}-0", kind=RunKind.APPLY, changes=step.changes, part=(), clears=(), folders=()
            )
            runs = [step.last] if step.last.kind is RunKind.APPLY else [first, step.last]
            for run in runs:
                records += (_begin_record(replace(run, clears=())), _end_record(run.id, ok=True))
        records += (_begin_record(run) for run in state.unfinished.values())
        write_atomically(self.file, b"".join(json_line(record) for record in records))
        self._seen = None

    def _append(self, record: Mapping[str, Json]) -> None:
        append_line(self.file, json_line(record))
        self._seen = self._stamp()

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = self.file.stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns


def _journal_state(records: Sequence[tuple[int, Mapping[str, Json]]], file: Path) -> JournalState:
    state = JournalState()
    bad: list[int] = []
    for number, record in records:
        try:
            if record["op"] == "begin":
                state.begin(_run(record))
            else:
                state.end(str(record["run"]), ok=record["ok"] is True)
        except (KeyError, ValueError):
            bad.append(number)
    state.problems = damaged(file, bad)
    return state


def _begin_record(run: ChangeRun) -> Mapping[str, Json]:
    record = record_to_json(run)
    return {"op": "begin", "run": record.pop("id"), **record}


def _end_record(run: str, *, ok: bool) -> Mapping[str, Json]:
    return {"op": "end", "run": run, "ok": ok}


def _run(record: Mapping[str, Json]) -> ChangeRun:
    """Raises KeyError or ValueError where it is none."""
    told = {name: value for name, value in record.items() if name not in {"op", "run"}}
    run = record_from_json(ChangeRun, {**told, "id": record["run"]}, "run")
    if run.kind is RunKind.APPLY:
        return replace(run, part=tuple(range(len(run.changes))))
    if len(run.part) != len(run.changes):
        raise ValueError("its parts are not those of its changes")
    return run
