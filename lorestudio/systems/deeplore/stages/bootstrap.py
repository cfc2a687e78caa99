"""Bootstrap entries are candidates while the chat is short (rules: deeplore 3.2)."""

from __future__ import annotations

from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger, skipped
from lorestudio.trace.model import Phase, StageRecord


class BootstrapStage:
    """Up to the new-chat threshold the bootstrap entries go in without a key."""

    name = "bootstrap"
    phase = Phase.MATCH

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Add the bootstrap entries in index order while the chat is short enough."""
        figures = {"threshold": ctx.settings.new_chat_threshold, "chat_length": len(ctx.moment.chat)}
        if not state.bootstrapping:
            return skipped(self, state.candidates, "not_bootstrapping", figures)
        ledger = Ledger(self, state.candidates)
        for entry in ctx.index.bootstraps:
            if entry.id not in state.matched:
                state.let_in(entry, "(bootstrap)")
                ledger.add(entry, "bootstrap", **figures)
        return ledger.close(state.candidates)
