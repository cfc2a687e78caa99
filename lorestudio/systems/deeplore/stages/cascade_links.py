"""Cascade links pull entries in without a key of their own (rules: deeplore 3.6)."""

from __future__ import annotations

from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState, luck_decides
from lorestudio.systems.ledger import Ledger, skipped
from lorestudio.trace.model import Phase, StageRecord


class CascadeLinksStage:
    """Each candidate brings the entries that its note names; those bring none of theirs."""

    name = "cascade links"
    phase = Phase.MATCH

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Follow the links of the candidates that are here now, in their order: cooldown, then probability."""
        if ctx.settings.scan_depth <= 0:
            return skipped(self, state.candidates, "scan_depth_zero")
        ledger = Ledger(self, state.candidates)
        for source in tuple(state.candidates):
            for title in source.cascade_links:
                linked = ctx.index.by_lower_title.get(title.lower())
                if linked is None or linked.id in state.matched:
                    continue
                if linked.cooldown is not None and state.cooling(linked) > 0:
                    ledger.refuse(linked, "cooling_down", left=state.cooling(linked))
                elif luck_decides(state, ledger, linked):
                    state.let_in(linked, f"(cascade from: {source.title})")
                    ledger.add(linked, "cascade", source=source.title, source_id=source.id)
        return ledger.close(state.candidates)
