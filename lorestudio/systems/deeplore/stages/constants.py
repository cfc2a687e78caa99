"""Constants are always candidates (rules: deeplore 3.2)."""

from __future__ import annotations

from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.trace.model import Phase, StageRecord


class ConstantsStage:
    """Every constant goes in; no probability, cooldown or warmup holds it back."""

    name = "constants"
    phase = Phase.MATCH

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Add the constants in index order."""
        ledger = Ledger(self, state.candidates)
        for entry in ctx.index.constants:
            state.let_in(entry, "(constant)")
            ledger.add(entry, "constant")
        return ledger.close(state.candidates)
