"""Two runs, and which of the differences between their inputs made what came out.

Runs are a simulator's, or the project's with something of another one. Causes are found by running: each difference is
carried alone into the first run's inputs, and what then changes as in the second run is its doing. What no difference
brings about alone is looked at from the other side: a difference without which the second run would not have it takes
part in it. No model and no provider is asked; answers come from the two runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import NoteKey
from lorestudio.domain.lifecycle import CancelToken, OnProgress, Progress, heed
from lorestudio.domain.records import Terse, replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.compare.differences import input_differences, renamed, same_system
from lorestudio.studio.project.project import Project, open_project, read_settings
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Preview
from lorestudio.systems.differences import DifferenceKind, InputDifference
from lorestudio.trace.diff import EntryChange, TraceDiff, compare
from lorestudio.trace.model import Trace
from lorestudio.trace.text import turn_words

MOST_TRIED: Final = 40
"""So many differences are tried alone; what is beyond them is tried as one."""


class What(StrEnum):
    """What happened to an entry between two runs."""

    ENTERED = "entered"
    LEFT = "left"
    MOVED = "moved"
    RESIZED = "resized"
    REWRITTEN = "rewritten"


Effect: TypeAlias = tuple[What, NoteKey]


class RunSide(Terse, frozen=True):
    """One of two runs. Without `context` (the run is older than this start of the program) causes cannot be found."""

    unprinted = ("trace", "context")

    title: str
    trace: Trace
    context: Rerun | None = None


class DifferenceCause(Struct, frozen=True):
    """A difference and what it does.

    `alone` are the changes between the runs that it brings about by itself; `together` those that need others beside
    it. `besides` counts what it would do alone but does not come out in the second run.
    """

    difference: InputDifference
    alone: frozenset[Effect] = frozenset()
    together: frozenset[Effect] = frozenset()
    besides: int = 0

    @property
    def does_something(self) -> bool:
        """Whether it had a part in any change."""
        return bool(self.alone or self.together)


class Causes(Struct, frozen=True):
    """All differences, those that did most first. `unexplained` are changes that none of them was found to make."""

    causes: tuple[DifferenceCause, ...]
    unexplained: frozenset[Effect] = frozenset()
    runs: int = 0

    def of(self, effect: Effect) -> tuple[DifferenceCause, ...]:
        """Who made one change; those that make it alone, where there are any."""
        alone = tuple(cause for cause in self.causes if effect in cause.alone)
        return alone or tuple(cause for cause in self.causes if effect in cause.together)


def compared(before: RunSide, after: RunSide) -> TraceDiff:
    """The changes from one side to the other."""
    notes = after.context.moment.index.note_keys if after.context is not None else ()
    former = before.context.moment.index.note_keys if before.context is not None else None
    return compare(before.trace, after.trace, notes, former)


def effects(diff: TraceDiff) -> dict[Effect, EntryChange]:
    """All changes of a diff; those injected both times can be here several times."""
    groups = (
        (What.ENTERED, diff.entered),
        (What.LEFT, diff.left),
        (What.MOVED, diff.moved),
        (What.RESIZED, diff.resized),
        (What.REWRITTEN, diff.rewritten),
    )
    return {(what, change.key): change for what, changes in groups for change in changes}


def can_find(before: RunSide, after: RunSide) -> bool:
    """Whether causes can be found: the inputs of both runs are known, and one system decided."""
    return same_system(before.context, after.context)


def find_causes(
    before: RunSide, after: RunSide, cancel: CancelToken | None = None, on_progress: OnProgress = None
) -> Causes:
    """Try every difference alone. For a worker thread: it takes as many runs as there are differences, and at most as
    many again. Raises Cancelled, and ValueError where the inputs of a run are not known.
    """
    if not can_find(before, after):
        message = "What made the difference is not known: the inputs of one of the runs were not kept."
        if before.context is not None and after.context is not None:
            message = "Two systems decided, each by inputs of its own, so there is no single difference that did it."
        raise ValueError(message)
    trial = _Trial(before, after, cancel or CancelToken(), on_progress)
    return trial.causes()


class _Trial:
    """The runs that find out who did what."""

    def __init__(self, before: RunSide, after: RunSide, cancel: CancelToken, on_progress: OnProgress) -> None:
        if before.context is None or after.context is None:
            raise ValueError
        self._before = before
        self._start, self._end = before.context, after.context
        self._cancel, self._report = cancel, on_progress
        self._wanted = effects(compared(before, after))
        self._calls = replace(before.trace, ai_calls=(*before.trace.ai_calls, *after.trace.ai_calls))
        self._runs = self._total = 0

    def causes(self) -> Causes:
        """Alone first, then what remains from the other side."""
        differences = self._differences()
        self._total = len(differences)
        alone: list[frozenset[Effect]] = []
        besides: list[int] = []
        for difference in differences:
            made = self._effects(difference.carry(self._start, self._end))
            same = frozenset(effect for effect, change in made.items() if self._comes_out(effect, change))
            alone.append(same)
            besides.append(len(made) - len(same))
        left = frozenset(self._wanted) - frozenset().union(*alone)
        together = self._needed(differences, left) if left and len(differences) > 1 else [frozenset()] * len(alone)
        causes = [
            DifferenceCause(difference, mine, ours, more)
            for difference, mine, ours, more in zip(differences, alone, together, besides, strict=True)
        ]
        unexplained = left - frozenset().union(*together)
        order = sorted(causes, key=lambda cause: (-len(cause.alone), -len(cause.together)))
        return Causes(tuple(order), unexplained, self._runs)

    def _needed(self, differences: Sequence[InputDifference], left: frozenset[Effect]) -> list[frozenset[Effect]]:
        """For each difference which of these changes the second run would not have without it."""
        self._total += len(differences)
        found = []
        for difference in differences:
            without = self._effects(difference.carry(self._end, self._start))
            found.append(
                frozenset(
                    effect for effect in left if effect not in without or not self._comes_out(effect, without[effect])
                )
            )
        return found

    def _comes_out(self, effect: Effect, change: EntryChange) -> bool:
        """Whether the second run has this very change."""
        wanted = self._wanted.get(effect)
        if wanted is None:
            return False
        if effect[0] is What.RESIZED and wanted.after is not None and change.after is not None:
            return wanted.after.tokens == change.after.tokens
        return True

    def _differences(self) -> tuple[InputDifference, ...]:
        """At most `MOST_TRIED`: notes that changed places in the prompt first, the rest of the notes as one."""
        found = input_differences(self._start, self._end)
        if len(found) <= MOST_TRIED:
            return found
        touched = {key for _what, key in self._wanted}
        notes = [each for each in found if each.kind is DifferenceKind.NOTE]
        notes.sort(key=lambda each: each.note not in touched)
        others = [each for each in found if each.kind is not DifferenceKind.NOTE]
        room = max(1, MOST_TRIED - len(others) - 1)
        if len(notes) <= room:
            return found
        return *notes[:room], _all_of(notes[room:]), *others

    def _effects(self, inputs: Rerun) -> dict[Effect, EntryChange]:
        former = self._start.moment.index.note_keys
        return effects(compare(self._before.trace, self._run(inputs), inputs.moment.index.note_keys, former))

    def _run(self, inputs: Rerun) -> Trace:
        heed(self._cancel)
        trace = replace(inputs, before=self._calls).run(self._cancel).trace
        self._runs += 1
        if self._report is not None:
            self._report(Progress(self._runs, self._total))
        return trace


def _all_of(notes: Sequence[InputDifference]) -> InputDifference:
    def carry(target: Rerun, source: Rerun) -> Rerun:
        for each in notes:
            target = each.carry(target, source)
        return target

    return InputDifference(DifferenceKind.NOTE, f"{len(notes)} other notes", "", "changed", carry)


_OF_THE_CHAT: Final = frozenset({DifferenceKind.TRACKERS, DifferenceKind.ROLLS})
"""What follows from earlier turns, and so is no difference between two whole replays."""


def side_of(simulator: Simulator, generation: Generation, title: str = "") -> RunSide:
    """A generation that was run, as one side of a comparison. Raises KeyError where it was not."""
    trace = simulator.traces[generation]
    return RunSide(title or turn_words(trace.turn), trace, Rerun.of(simulator, generation))


def edited_side(side: RunSide, preview: Preview, title: str) -> RunSide:
    """The run with unsaved texts, beside `side`, which is the same generation without them."""
    context = side.context
    if context is None:
        return RunSide(title, preview.trace)
    update = {change.declaration.name: change.after for change in preview.settings}
    made = context.with_settings(context.system.settings.model_copy(update=update))
    return RunSide(title, preview.trace, made.at(index=preview.index))


def run_side(
    simulator: Simulator,
    generation: Generation,
    title: str,
    cancel: CancelToken | None = None,
    on_progress: OnProgress = None,
) -> RunSide:
    """A chat run up to one generation by whoever the simulator asks.

    For a worker. Raises Cancelled between two generations after a request to stop, and InputError where the chat does
    not have the generation.
    """
    if generation not in simulator.generations:
        raise InputError(f"#{generation.message}", "this reply is not in the chat any more. Choose another one.")
    asyncio.run(simulator.run_missing(on_progress, cancel, simulator.place(generation) + 1))
    return side_of(simulator, generation, title)


def with_settings_of(project: Project, path: Path) -> Project:
    """The project with the settings of another file; notes are read again where these say how.

    Raises SettingsError or VaultError.
    """
    read = read_settings(path)
    other = project.with_settings(read.settings)
    told = (*project.problems, *(f"{path.name}: {problem}" for problem in read.problems))
    return replace(other, settings_path=path, host=read.host, problems=tuple(dict.fromkeys(told)))


def with_vaults_of(project: Project, vaults: Sequence[Path | str]) -> Project:
    """The project with other vaults under the names of its own, in order, as if they were another state of these.

    Raises InputError or VaultError.
    """
    other = open_project(vaults, seed=project.seed).counted(project.counting)
    if not other.reads_alike(project.settings):
        other = other.with_settings(project.settings)
    index = renamed(other.index, project.index.vaults)
    return replace(
        project, index=index, vault_folders=other.vault_folders, places=other.places, vault_state=None,
        problems=tuple(dict.fromkeys((*project.problems, *other.problems))),
    )  # fmt: skip


class TurnDiff(Struct, frozen=True):
    """One generation in two replays; `diff` is None where only one of them has it."""

    generation: Generation
    before: Trace | None
    diff: TraceDiff | None = None

    @property
    def differs(self) -> bool:
        """Whether what was injected differs, or one replay does not have it at all."""
        return self.diff is None or bool(self.diff)


def turn_diffs(before: Simulator, after: Simulator) -> Iterator[TurnDiff]:
    """All generations of two replays side by side, in the order of the chat; each is run when it is its turn."""
    former, notes = before.project.index.note_keys, after.project.index.note_keys
    for generation in sorted({*before.generations, *after.generations}):
        for each in (before, after):
            if generation not in each.traces and generation in each.generations:
                asyncio.run(each.run_missing(until=each.place(generation) + 16))  # some at once
        one, other = before.traces.get(generation), after.traces.get(generation)
        both = compare(one, other, notes, former) if one is not None and other is not None else None
        yield TurnDiff(generation, one, both)


def replay_differences(before: Simulator, after: Simulator) -> tuple[InputDifference, ...]:
    """What differs between the inputs of two replays, without what follows from it in later turns.

    Nothing where two systems made them, whose inputs are others.
    """
    sides = (side_of(each, each.generations[-1]).context for each in (before, after))
    one, other = sides
    if one is None or other is None or not same_system(one, other):
        return ()
    return tuple(each for each in input_differences(one, other) if each.kind not in _OF_THE_CHAT)
