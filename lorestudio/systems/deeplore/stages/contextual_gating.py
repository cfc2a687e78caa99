"""Contextual gating as a stage: once within the selection, once after pins (rules: deeplore 4.3, 5.2)."""

from __future__ import annotations

from lorestudio.domain.entry import Entry
from lorestudio.systems.deeplore.gating import Policy, is_active, rejecting_field
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger, skipped
from lorestudio.trace.model import Phase, RunOutcome, StageRecord


class GatingStage:
    """Entries whose fields do not fit the chat's context leave, exempt ones stay."""

    phase = Phase.GATE

    def __init__(self, name: str) -> None:
        self.name = name

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Gate the candidates under the policy drawn from themselves and the pins."""
        return self.gate(state, ctx, Policy.of(state.candidates, ctx.moment.controls.pins))

    def gate(self, state: RunState, ctx: Inputs, policy: Policy) -> StageRecord:
        """Gate the candidates under `policy`."""
        fields, context = ctx.index.vault.fields, ctx.moment.controls.context
        if not is_active(fields, context):
            return skipped(self, state.candidates, "no_context")
        ledger = Ledger(self, state.candidates)
        kept: list[Entry] = []
        tolerance, inherit = ctx.settings.contextual_gating_tolerance, ctx.is_fixed("field_tolerance")
        turned: list[str] = []
        for entry in state.candidates:
            gate = rejecting_field(entry, fields, context, tolerance, inherit=inherit)
            if inherit and entry not in policy:
                exact = rejecting_field(entry, fields, context, tolerance)
                turned += [entry.title] if (gate is None) is not (exact is None) else []
            if gate is None:
                kept.append(entry)
            elif entry in policy:
                kept.append(entry)
                ledger.keep(entry, "exempt", by=policy.why(entry), would="gated_field")
            else:
                ledger.remove(
                    entry,
                    "gated_field",
                    field=gate.field.name,
                    label=gate.field.label,
                    entry_value=gate.entry_value,
                    context_value=gate.context_value,
                    operator=gate.field.operator,
                    tolerance=gate.tolerance,
                )
        if turned:
            others = f" and {len(turned) - 1} more" if len(turned) > 1 else ""
            state.note_switch("field_tolerance", self.name, f"the setting decides about {turned[0]}{others}")
        state.candidates = kept
        return ledger.close(kept)


class FinalGatingStage(GatingStage):
    """Gating of what is left after pins and blocks; with nothing left the run ends here."""

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Gate the candidates under the policy drawn from the whole index."""
        record = self.gate(state, ctx, state.policy)
        if not state.candidates:
            state.outcome = RunOutcome.EMPTY_AFTER_GATING
        return record
