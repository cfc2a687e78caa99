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
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.project_changes import ProjectChanges
from lorestudio.systems.base import StopBetweenStages
from lorestudio.systems.changes import Change
from lorestudio.trace.model import Trace


@dataclass(frozen=True, slots=True)
class WhatIf:
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
        self.rerun = Rerun.of(simulator, generation, recorded)
        self.changes = ProjectChanges(simulator.project)
        # Thousands of traces may be packed; each is looked at when its turn comes.
        earlier = simulator.generations[: simulator.place(generation)]
        self._before = TraceBook(simulator.traces).part(earlier)
        self._failed = any(call.error for call in self.rerun.before.ai_calls)

    @property
    def replies(self) -> int:
        """How many generations of the chat come before this one."""
        return len(self._before)

    def alone(self, change: Change, stop: StopBetweenStages) -> WhatIf:
        """This one reply with the change, from the state that the real chat left.

        Raises what `ProjectChanges.made` raises, and Cancelled.
        """
        rerun = self._with(change)
        ran = rerun.named(f"what if: {change.title}").run(stop)
        return WhatIf(change, rerun.project, ran.trace, self._lacks(ran.lacks))

    def replayed(self, change: Change, stop: StopBetweenStages) -> WhatIf:
        """This reply after a replay of the chat with the change, as applying it would run it.

        Raises what `ProjectChanges.made` raises, and Cancelled.
        """
        rerun = self._with(change)
        offline = rerun.offline()
        simulator = Simulator(rerun.project, offline.system, stop)
        earlier = 0
        for generation, before in self._before.items():
            stop.look()
            offline.turn_to(before)
            earlier += _lore(asyncio.run(simulator.generate(generation))) != _lore(before)
        offline.turn_to(rerun.before)
        trace = asyncio.run(simulator.generate(rerun.generation))
        return WhatIf(change, rerun.project, trace, self._lacks(offline.lacks()), earlier)

    def _with(self, change: Change) -> Rerun:
        rerun = self.rerun
        project, settings = self.changes.made(change, rerun.system.kind, rerun.system.settings)
        moment = replace(rerun.moment, index=project.index, controls=change.chosen_in(rerun.moment.controls))
        return replace(rerun, project=project, moment=moment).with_settings(settings)

    def _lacks(self, lacks: Sequence[str]) -> bool:
        """Whether something was asked that has no answer here, though the real run had one."""
        return bool(lacks) and not self._failed


def _lore(trace: Trace) -> Sequence[tuple[str, str, int, str]]:
    """What went in, as far as two vaults can be compared."""
    refs = trace.entries
    return [(refs[each.entry].vault, refs[each.entry].filename, each.tokens, each.tag) for each in trace.injections]
