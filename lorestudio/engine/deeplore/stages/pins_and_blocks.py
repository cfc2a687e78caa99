"""The chat's pins and blocks (spec: deeplore-engine 5.1)."""

from __future__ import annotations

from dataclasses import replace

from lorestudio.engine.context import RunContext
from lorestudio.engine.deeplore.state import RunState
from lorestudio.engine.stage import Ledger, skipped
from lorestudio.trace.model import Phase, StageRecord

PIN_PRIORITY = 10


class PinsAndBlocksStage:
    """Pinned entries come in as constants of priority 10; then blocked ones leave, pinned or not."""

    name = "pins and blocks"
    phase = Phase.GATE

    async def run(self, state: RunState, ctx: RunContext) -> StageRecord:
        """Apply pins in index order, then blocks."""
        pins, blocks = ctx.controls.pins, ctx.controls.blocks
        if not pins and not blocks:
            return skipped(self, state.candidates, "no_pins_or_blocks")
        ledger = Ledger(self, state.candidates)
        if pins:
            self._pin(state, ctx, ledger)
        kept = []
        for entry in state.candidates:
            if any(block.matches(entry) for block in blocks):
                ledger.remove(entry, "blocked")
            else:
                kept.append(entry)
        state.candidates = kept
        return ledger.close(kept)

    @staticmethod
    def _pin(state: RunState, ctx: RunContext, ledger: Ledger) -> None:
        places: dict[str, int] = {}
        for number, entry in enumerate(state.candidates):
            places.setdefault(entry.tracker_key, number)
        for entry in ctx.index.visible:
            if not any(pin.matches(entry) for pin in ctx.controls.pins):
                continue
            pinned = replace(entry, constant=True, priority=PIN_PRIORITY)
            place = places.get(entry.tracker_key)
            if place is None:
                places[entry.tracker_key] = len(state.candidates)
                state.candidates.append(pinned)
                state.labels[entry.title] = "(pinned)"
                ledger.add(entry, "pinned")
                continue
            replaced = state.candidates[place]
            state.candidates[place] = pinned
            if replaced.id == entry.id:
                ledger.change(entry, "pin_upgraded", priority=entry.priority)
            else:  # two notes of one vault share a title: the pinned one takes the other's place
                ledger.remove(replaced, "replaced_by_pin", title=entry.title)
                ledger.add(entry, "pinned")
