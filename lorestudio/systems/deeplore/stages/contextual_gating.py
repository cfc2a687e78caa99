"""Contextual gating as a stage: once within the selection, once after pins (rules: deeplore 4.3, 5.2)."""

from __future__ import annotations

from typing import Final

from lorestudio.domain.entry import Entry
from lorestudio.systems.deeplore.gating import Policy, looked_at, rejecting_field
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import FunctionStage, stage
from lorestudio.trace.model import Phase, RunOutcome, StageRecord


def _gate(state: RunState, ctx: Inputs, ledger: Ledger, policy: Policy) -> StageRecord:
    """Entries whose fields do not fit the chat's context leave, exempt ones stay."""
    rules, context = ctx.rules, ctx.moment.controls.context
    fields = looked_at(ctx.index.vault.fields, context, rules)
    if not fields:
        return ledger.skipped("no_context")
    kept: list[Entry] = []
    tolerance, inherit = ctx.settings.contextual_gating_tolerance, ctx.is_fixed("field_tolerance")
    turned: list[str] = []
    for entry in state.candidates:
        gate = rejecting_field(entry, fields, context, tolerance, rules, inherit=inherit)
        if inherit and entry not in policy:
            exact = rejecting_field(entry, fields, context, tolerance, rules)
            turned += [entry.title] if (gate is None) is not (exact is None) else []
        if gate is None or policy.spares(entry, ledger, "gated_field"):
            kept.append(entry)
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
        state.note_switch("field_tolerance", ledger.name, f"the setting decides about {turned[0]}{others}")
    state.candidates = kept
    return ledger.close(kept)


def _gate_among_themselves(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Gate the candidates under the policy drawn from themselves and the pins."""
    return _gate(state, ctx, ledger, state.policy_at_hand(ctx))


pre_gating_stage: Final = FunctionStage("pre-gating", Phase.GATE, _gate_among_themselves)
selection_gating_stage: Final = FunctionStage("contextual gating (selection)", Phase.GATE, _gate_among_themselves)


@stage("contextual gating", Phase.GATE)
def final_gating_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Gate what is left after pins and blocks under the policy of the whole index; with nothing left the run ends."""
    record = _gate(state, ctx, ledger, state.policy)
    if not state.candidates:
        state.outcome = RunOutcome.EMPTY_AFTER_GATING
    return record
