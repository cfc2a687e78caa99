"""The two runs of a comparison: a generation of a simulator, and the project with something of another one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import CancelToken, Progress
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.compare.causes import RunSide
from lorestudio.studio.compare.differences import input_differences, renamed, same_system
from lorestudio.studio.project.project import Project, open_project, read_settings
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Preview
from lorestudio.systems.differences import DifferenceKind, InputDifference
from lorestudio.trace.diff import TraceDiff, compare
from lorestudio.trace.model import Trace
from lorestudio.trace.text import turn_words

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
    return RunSide(title, preview.trace, replace(made, moment=replace(context.moment, index=preview.index)))


def run_side(
    simulator: Simulator,
    generation: Generation,
    title: str,
    cancel: CancelToken | None = None,
    on_progress: Callable[[Progress], None] | None = None,
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
    after: Trace | None
    diff: TraceDiff | None = None

    @property
    def differs(self) -> bool:
        """Whether what was injected differs, or one replay does not have it at all."""
        return self.diff is None or bool(self.diff)


def turn_diffs(before: Simulator, after: Simulator) -> Iterator[TurnDiff]:
    """All generations of two replays side by side, in the order of the chat. Both must have been run."""
    for generation in sorted({*before.generations, *after.generations}):
        one, other = before.traces.get(generation), after.traces.get(generation)
        both = compare(one, other) if one is not None and other is not None else None
        yield TurnDiff(generation, one, other, both)


def replay_differences(before: Simulator, after: Simulator) -> tuple[InputDifference, ...]:
    """What differs between the inputs of two replays, without what follows from it in later turns.

    Nothing where two systems made them, whose inputs are others.
    """
    sides = (side_of(each, each.generations[-1]).context for each in (before, after))
    one, other = sides
    if one is None or other is None or not same_system(one, other):
        return ()
    return tuple(each for each in input_differences(one, other) if each.kind not in _OF_THE_CHAT)
