"""AI-only mode begins with every entry (rules: deeplore 4.1)."""

from __future__ import annotations

from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.trace.model import Phase, StageRecord


class WholeVaultStage:
    """All visible entries are candidates; what goes in anyway gets its label now."""

    name = "whole vault"
    phase = Phase.MATCH

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Add every entry in index order."""
        ledger = Ledger(self, state.candidates)
        for entry in ctx.index.visible:
            state.candidates.append(entry)
            if entry.constant:
                ledger.add(entry, "constant")
            elif state.bootstrapping and entry.bootstrap:
                figures = {"threshold": ctx.settings.new_chat_threshold, "chat_length": len(ctx.moment.chat)}
                state.set_label(entry, "(bootstrap)")
                ledger.add(entry, "bootstrap", **figures)
            else:
                ledger.add(entry, "offered")
        for entry in ctx.index.constants:
            if not state.has_label(entry):
                state.set_label(entry, "(constant)")
        return ledger.close(state.candidates)
