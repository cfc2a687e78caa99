"""The order in which the selection leaves: priority, then title (rules: deeplore 4.10)."""

from __future__ import annotations

from collections.abc import Callable

from lorestudio.domain.collation import sort_key
from lorestudio.domain.entry import Entry
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.stages.match_order import order_details
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.trace.model import Phase, StageRecord


class PriorityOrderStage:
    """Sort by priority and title; occurrences do not count from here on, the AI's confidence only where fixed."""

    name = "priority order"
    phase = Phase.SELECT

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Sort the candidates, by the AI's confidence first where that is wanted."""
        ledger = Ledger(self, state.candidates)
        state.candidates.sort(key=lambda entry: (entry.priority, sort_key(entry.title)))
        if ctx.is_fixed("confidence_order") and state.confidence:
            before = list(state.candidates)
            state.candidates.sort(key=lambda entry: state.confidence.get(entry.id, 0))
            if state.candidates != before:
                state.note_switch("confidence_order", self.name, "the AI's surer picks come first")
        keys: dict[str, Callable[[Entry], float]] = {"priority": lambda entry: entry.priority}
        if ctx.is_fixed("confidence_order") and state.confidence:
            keys = {"confidence": lambda entry: state.confidence.get(entry.id, 0)} | keys
        return ledger.close(state.candidates, details=order_details(state.candidates, keys))
