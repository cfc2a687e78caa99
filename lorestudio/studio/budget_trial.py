"""What another token budget would do to a generation, found by running it again with that budget."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace

from lorestudio.engine import run
from lorestudio.studio.generation import Generation
from lorestudio.studio.offline_answers import OfflineAnswers, Unanswered
from lorestudio.studio.simulator import Simulator
from lorestudio.trace.model import Trace


class BudgetTrial:
    """Runs of one generation under other budgets: same chat, notes, state, seed and answers; no provider is asked.

    It takes what it needs at once, and may then be used in any thread. Raises ValueError for a generation that was not
    run.
    """

    def __init__(self, simulator: Simulator, generation: Generation) -> None:
        before = simulator.traces.get(generation)
        if before is None:
            message = f"Reply #{generation.message} with swipe {generation.swipe + 1} has not been run yet."
            raise ValueError(message)
        self.before: Trace = before
        self._context = simulator.context(generation)
        stands_in = simulator.answers.name == Unanswered.STAND_IN
        self._unanswered = Unanswered.STAND_IN if stands_in else Unanswered.FAIL

    @property
    def budget(self) -> int:
        """The token budget of the settings."""
        return self._context.settings.max_tokens_budget

    def run(self, tokens: int) -> Trace:
        """The generation with a budget of so many tokens. For a worker, since it may take more than a moment.

        Its inputs have a digest of their own, so that it is never taken for a real run.
        """
        settings = self._context.settings.model_copy(update={"max_tokens_budget": tokens, "unlimited_budget": False})
        inputs = f"{self._context.digests.get('inputs', '')} budget {tokens}"
        ctx = replace(
            self._context,
            settings=settings,
            answers=OfflineAnswers(self.before, None, self._unanswered),
            watcher=None,
            digests={**self._context.digests, "inputs": hashlib.sha256(inputs.encode()).hexdigest()},
        )
        return asyncio.run(run(ctx)).trace
