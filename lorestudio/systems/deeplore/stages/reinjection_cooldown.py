"""Re-injection cooldown: what was injected lately pauses (rules: deeplore 5.3)."""

from __future__ import annotations

from lorestudio.domain.entry import Entry
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger, skipped
from lorestudio.trace.model import Phase, RunOutcome, StageRecord


class ReinjectionCooldownStage:
    """An injected entry is left out for the next N generations, exempt ones are not."""

    name = "re-injection cooldown"
    phase = Phase.GATE

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Drop what was injected less than the pause ago; with nothing left the run ends here."""
        pause = ctx.settings.reinjection_cooldown
        if pause <= 0:
            return skipped(self, state.candidates, "off", {"setting": "reinjectionCooldown"})
        ledger = Ledger(self, state.candidates)
        now = state.counters.generation_count
        kept: list[Entry] = []
        for entry in state.candidates:
            last = state.counters.injection_history.get(entry.tracker_key)
            if last is None or now - last >= pause:
                kept.append(entry)
            elif entry in state.policy:
                kept.append(entry)
                ledger.keep(entry, "exempt", by=state.policy.why(entry), would="reinjection_pause")
            else:
                ledger.remove(entry, "reinjection_pause", left=pause - (now - last), window=pause)
        state.candidates = kept
        if not kept:
            state.outcome = RunOutcome.EMPTY_AFTER_REINJECTION
        return ledger.close(kept)
