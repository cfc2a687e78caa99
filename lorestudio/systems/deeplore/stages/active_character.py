"""The active character's own entry is a candidate (rules: deeplore 3.6)."""

from __future__ import annotations

from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger, skipped
from lorestudio.trace.model import Phase, StageRecord


class ActiveCharacterStage:
    """The entry named like the active character, or else the first with that name as a key, goes in unconditionally."""

    name = "active character"
    phase = Phase.MATCH

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Add that entry if it is not a candidate yet."""
        if not ctx.settings.character_context_scan:
            return skipped(self, state.candidates, "off", {"setting": "characterContextScan"})
        if ctx.settings.scan_depth <= 0:
            return skipped(self, state.candidates, "scan_depth_zero")
        ledger = Ledger(self, state.candidates)
        name = ctx.character.lower()
        entry = ctx.index.by_lower_title.get(name) or ctx.index.first_by_lower_key.get(name) if name else None
        if entry is not None and entry.id not in state.matched:
            state.let_in(entry, "(active character)")
            ledger.add(entry, "active_character", name=ctx.character)
        return ledger.close(state.candidates)
