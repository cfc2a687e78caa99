"""A generation run again with other choices for the chat, so that a person sees what a choice does to it.

Everything comes from a run: same vault, same chat, same state before it, same seed. Nothing is kept, no provider is
asked, and the simulator's own traces and states stay what they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from lorestudio.domain.state import ChatControls
from lorestudio.engine import run
from lorestudio.llm.recorded import RecordedAnswers
from lorestudio.studio.generation import Generation
from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.studio.offline_answers import OfflineAnswers, Unanswered
from lorestudio.studio.simulator import Simulator
from lorestudio.trace.model import Phase, StageRecord, Trace

Change = Callable[[ChatControls], ChatControls]
"""Other choices from those of now."""


@dataclass(frozen=True, slots=True)
class StopBetweenStages:
    """A watcher that ends a run at its next stage after a request to stop, by raising Cancelled."""

    token: CancelToken

    def began(self, _name: str, _phase: Phase) -> None:
        """A stage begins."""
        if self.token.cancelled:
            raise Cancelled

    def finished(self, _record: StageRecord) -> None:
        """A stage is over."""


class Trials:
    """Trials of one generation that was run.

    It takes what it needs from the simulator when it is made, at once, and may then be used in any thread. Questions
    to a model that were not asked before are answered by the stand-in where that answers anyway; else they fail, and
    the run falls back as the settings say. Raises ValueError for a generation that was not run.
    """

    def __init__(self, simulator: Simulator, generation: Generation, recorded: RecordedAnswers | None = None) -> None:
        trace = simulator.traces.get(generation)
        if trace is None:
            message = f"Reply #{generation.message} with swipe {generation.swipe + 1} has not been run yet."
            raise ValueError(message)
        self.generation = generation
        self.before = trace
        self._context = simulator.context(generation)
        self._recorded = recorded
        stands_in = simulator.answers.name == Unanswered.STAND_IN
        self._unanswered = Unanswered.STAND_IN if stands_in else Unanswered.FAIL

    def run(self, change: Change, cancel: CancelToken | None = None) -> Trace:
        """The trace with other choices. Raises Cancelled between two stages after a request to stop."""
        ctx = replace(
            self._context,
            controls=change(self._context.controls),
            answers=OfflineAnswers(self.before, self._recorded, self._unanswered),
            watcher=StopBetweenStages(cancel or CancelToken()),
            digests={},
        )
        return asyncio.run(run(ctx)).trace
