"""Who is a candidate without a key: constants, bootstrap entries, the active character's, in AI-only mode everybody.

Rules: deeplore 3.2, 3.6, 4.1.
"""

from __future__ import annotations

from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord


@stage("constants", Phase.MATCH)
def constants_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Every constant goes in; no probability, cooldown or warmup holds it back."""
    for entry in ctx.index.constants:
        state.let_in(entry, "(constant)")
        ledger.add(entry, "constant")
    return ledger.close(state.candidates)


def _figures(ctx: Inputs) -> dict[str, int]:
    return {"threshold": ctx.settings.new_chat_threshold, "chat_length": len(ctx.moment.chat)}


@stage("bootstrap", Phase.MATCH)
def bootstrap_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Up to the new-chat threshold the bootstrap entries go in without a key."""
    if not state.bootstrapping:
        return ledger.skipped("not_bootstrapping", _figures(ctx))
    for entry in ctx.index.bootstraps:
        if entry.id not in state.matched:
            state.let_in(entry, "(bootstrap)")
            ledger.add(entry, "bootstrap", **_figures(ctx))
    return ledger.close(state.candidates)


@stage("active character", Phase.MATCH)
def active_character_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """The entry named like the active character, or else the first with that name as a key, goes in unconditionally.

    In 2.6 all that have it as title or key go in (rules: deeplore-newer 1.11).
    """
    if not ctx.settings.character_context_scan:
        return ledger.skipped("off", {"setting": "characterContextScan"})
    if ctx.settings.scan_depth <= 0:
        return ledger.skipped("scan_depth_zero")
    name = ctx.character.lower()
    titled, keyed = (ctx.index.of_lower_title.get(name, ()), ctx.index.of_lower_key.get(name, ())) if name else ((), ())
    wanted = [*titled, *keyed] if ctx.rules.all_characters else [*titled[-1:], *keyed[:1]][:1]
    for entry in wanted:
        if entry.id not in state.matched:
            state.let_in(entry, "(active character)")
            ledger.add(entry, "active_character", name=ctx.character)
    return ledger.close(state.candidates)


@stage("whole vault", Phase.MATCH)
def whole_vault_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """All visible entries are candidates; what goes in anyway gets its label now."""
    for entry in ctx.index.visible:
        state.candidates.append(entry)
        if entry.constant:
            ledger.add(entry, "constant")
        elif state.bootstrapping and entry.bootstrap:
            state.set_label(entry, "(bootstrap)")
            ledger.add(entry, "bootstrap", **_figures(ctx))
        else:
            ledger.add(entry, "offered")
    for entry in ctx.index.constants:
        if not state.has_label(entry):
            state.set_label(entry, "(constant)")
    return ledger.close(state.candidates)
