"""The order in which the selection leaves: priority, then title (spec: deeplore-engine 4.10)."""

from __future__ import annotations

from lorestudio.domain.collation import sort_key
from lorestudio.engine.context import RunContext
from lorestudio.engine.deeplore.state import RunState
from lorestudio.engine.stage import Ledger
from lorestudio.trace.model import Phase, StageRecord


class PriorityOrderStage:
    """Sort by priority and title; neither occurrences nor the AI's confidence count from here on."""

    name = "priority order"
    phase = Phase.SELECT

    async def run(self, state: RunState, ctx: RunContext) -> StageRecord:  # noqa: ARG002  # the protocol's signature
        """Sort the candidates."""
        ledger = Ledger(self, state.candidates)
        state.candidates.sort(key=lambda entry: (entry.priority, sort_key(entry.title)))
        return ledger.close(state.candidates)
