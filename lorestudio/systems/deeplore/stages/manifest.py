"""The candidate manifest as a stage of its own, so that it can be read (rules: deeplore 4.5)."""

from __future__ import annotations

from lorestudio.systems.deeplore.ai.manifest import build
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord


@stage("manifest", Phase.SELECT)
def manifest_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """What the model will be offered; entries without a summary may be left out of it."""
    manifest = build(
        state.candidates,
        ctx.index.vault.fields,
        ctx.settings,
        state.counters,
        bootstrapping=state.bootstrapping,
        count_forced=ctx.is_fixed("header_count"),
    )
    state.manifest = manifest
    offered = {entry.id for entry in manifest.selectable}
    for entry in state.candidates:
        if entry.id not in offered and not state.is_forced(entry):
            ledger.keep(entry, "not_offered")
    if ctx.is_fixed("header_count") and ledger.decided and manifest.text:
        state.note_switch("header_count", ledger.name, "the header counts only what is always included")
    return ledger.close(
        state.candidates,
        note="" if manifest.text else "nothing_to_offer",
        details={
            "candidates": [entry.id for entry in state.candidates],
            "offered": [entry.id for entry in manifest.selectable],
            "header": manifest.header,
            "text": manifest.text,
        },
    )
