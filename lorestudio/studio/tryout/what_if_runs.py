"""Runs of one generation with a single change: on its own, or after a replay of the chat with the change.

Same chat, seed and answers as the real runs; what a model would say to a changed question only the offline stand-in
can tell, and only where it is what answers anyway. Nothing is written, and no provider is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lorestudio.domain.chat import Generation
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import Rerun, run_offline
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.offline_answers import Answered
from lorestudio.studio.tryout.project_changes import ProjectChanges
from lorestudio.systems.changes import Change
from lorestudio.systems.context import RunContext, StopBetweenStages
from lorestudio.systems.deeplore.index import DeepLoreIndex
from lorestudio.trace.model import Trace


@dataclass(frozen=True, slots=True)
class Ran:
    """A run with a change. `unanswered`: a question that the change made a new one had no answer.

    `earlier` counts the replies before it that got other lore, None where they were not run.
    """

    change: Change
    project: Project = field(repr=False)
    trace: Trace = field(repr=False)
    unanswered: bool
    earlier: int | None = None


class WhatIfRuns:
    """Makes such runs for one generation.

    It takes what it needs from the simulator when it is made, at once, and may then be used in another thread.
    `recorded` are answers of a model that were read already. Raises ValueError for a generation that was not run.
    """

    def __init__(self, simulator: Simulator, generation: Generation, recorded: RecordedAnswers | None = None) -> None:
        self._rerun = rerun = Rerun.of(simulator, generation, recorded)
        self.generation = generation
        self.trace = rerun.before
        self.context: RunContext = rerun.context
        self.changes = ProjectChanges(simulator.project)
        self.stand_in = rerun.stands_in
        self._model = simulator.model
        place = simulator.generations.index(generation)
        # Thousands of traces may be packed; each is looked at when its turn comes.
        self._before = TraceBook(simulator.traces).part(simulator.generations[:place])

    @property
    def replies(self) -> int:
        """How many generations of the chat come before this one."""
        return len(self._before)

    def alone(self, change: Change, stop: StopBetweenStages) -> Ran:
        """This one reply with the change, from the state that the real chat left.

        Raises what `ProjectChanges.made` raises, and Cancelled.
        """
        project, ctx = self.changes.made(change), self.context
        answers = self._rerun.answers()
        same = project.index is ctx.index.vault
        changed = replace(
            ctx,
            index=ctx.index if same else DeepLoreIndex(project.index, ctx.index),
            settings=project.settings,
            controls=change.chosen_in(ctx.controls),
            digests={"inputs": f"what if: {change.title}"},
        )
        trace = run_offline(changed, answers, stop)
        return Ran(change, project, trace, Answered.NONE in answers.answered)

    def replayed(self, change: Change, stop: StopBetweenStages) -> Ran:
        """This reply after a replay of the chat with the change, as applying it would run it.

        Raises what `ProjectChanges.made` raises, and Cancelled.
        """
        project = self.changes.made(change)
        answers = self._rerun.answers()
        simulator = Simulator(project, answers, stop, self._model, base=self.context.index)
        earlier = 0
        for generation, before in self._before.items():
            answers.earlier = before
            earlier += _lore(asyncio.run(simulator.generate(generation))) != _lore(before)
        answers.earlier = self.trace
        trace = asyncio.run(simulator.generate(self.generation))
        return Ran(change, project, trace, Answered.NONE in answers.answered, earlier)


def _lore(trace: Trace) -> Sequence[tuple[str, str, int, str]]:
    """What went in, as far as two vaults can be compared."""
    refs = trace.entries
    return [(refs[each.entry].vault, refs[each.entry].filename, each.tokens, each.tag) for each in trace.injections]
