"""A generation run again with other choices for the chat, so that a person sees what a choice does to it.

Everything comes from a run: same vault, same chat, same state before it, same seed. Nothing is kept, no provider is
asked, and the simulator's own traces and states stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lorestudio.domain.state import ChatControls
from lorestudio.llm.recorded import RecordedAnswers
from lorestudio.studio.generation import Generation
from lorestudio.studio.jobs import CancelToken
from lorestudio.studio.rerun import Rerun, run_offline
from lorestudio.studio.simulator import Simulator
from lorestudio.trace.model import Trace

Change = Callable[[ChatControls], ChatControls]
"""Other choices from those of now."""


class Trials:
    """Trials of one generation that was run.

    It takes what it needs from the simulator when it is made, at once, and may then be used in any thread. Questions
    to a model that were not asked before are answered by the stand-in where that answers anyway; else they fail, and
    the run falls back as the settings say. Raises ValueError for a generation that was not run.
    """

    def __init__(self, simulator: Simulator, generation: Generation, recorded: RecordedAnswers | None = None) -> None:
        self._rerun = Rerun.of(simulator, generation, recorded)
        self.generation = generation
        self.before = self._rerun.before

    def run(self, change: Change, cancel: CancelToken | None = None) -> Trace:
        """The trace with other choices. Raises Cancelled between two stages after a request to stop."""
        context = self._rerun.context
        ctx = replace(context, controls=change(context.controls), digests={})
        return run_offline(ctx, self._rerun.answers(), cancel)
