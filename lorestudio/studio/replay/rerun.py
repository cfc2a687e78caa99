"""A generation that was run, held so that it can be run again with other inputs.

Everything else stays: same chat, same state before it, same seed, same answers. No provider and no person is asked, and
the simulator's own traces and states stay what they are.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.offline_answers import OfflineAnswers, Unanswered
from lorestudio.systems.context import RunContext, StopBetweenStages
from lorestudio.systems.deeplore.run import run
from lorestudio.trace.model import Trace


def trace_of(traces: Mapping[Generation, Trace], generation: Generation) -> Trace:
    """The trace of a generation. Raises ValueError for one that was not run."""
    trace = traces.get(generation)
    if trace is None:
        message = f"Reply #{generation.message} with swipe {generation.swipe + 1} has not been run yet."
        raise ValueError(message)
    return trace


@dataclass(frozen=True, slots=True)
class Rerun:
    """What it takes to run a generation again, in any thread.

    `before` is its trace and `context` what it was run with. Questions that no earlier answer fits are answered as
    `unanswered` says; `recorded` are answers that were read already.
    """

    generation: Generation
    before: Trace
    context: RunContext
    recorded: RecordedAnswers | None = None
    unanswered: Unanswered = Unanswered.FAIL

    @classmethod
    def of(
        cls,
        simulator: Simulator,
        generation: Generation,
        recorded: RecordedAnswers | None = None,
        unanswered: Unanswered | None = None,
    ) -> Rerun:
        """Taken from a simulator at once.

        Without a word on it, questions that are new fail, except where the stand-in answers anyway. Raises ValueError
        for a generation that was not run.
        """
        before = trace_of(simulator.traces, generation)
        if unanswered is None:
            unanswered = Unanswered.STAND_IN if simulator.answers.name == Unanswered.STAND_IN else Unanswered.FAIL
        return cls(generation, before, simulator.context(generation), recorded, unanswered)

    @property
    def stands_in(self) -> bool:
        """Whether the offline stand-in answers what is new."""
        return self.unanswered is Unanswered.STAND_IN

    def answers(self) -> OfflineAnswers:
        """The answers for one more run."""
        return OfflineAnswers(self.before, self.recorded, self.unanswered)

    def digests(self, difference: str) -> dict[str, str]:
        """The digests of inputs that differ in this, so that the trace is never taken for that of a real run."""
        inputs = f"{self.context.digests.get('inputs', '')} {difference}"
        return {**self.context.digests, "inputs": hashlib.sha256(inputs.encode()).hexdigest()}


def run_offline(ctx: RunContext, answers: OfflineAnswers, stop: CancelToken | StopBetweenStages | None = None) -> Trace:
    """The trace of a run that is kept nowhere.

    For a worker thread, since it may take more than a moment. Raises Cancelled between two stages after a request to
    stop.
    """
    watcher = stop if isinstance(stop, StopBetweenStages) else StopBetweenStages(stop or CancelToken())
    return asyncio.run(run(replace(ctx, answers=answers, watcher=watcher))).trace
