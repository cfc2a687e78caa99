"""BM25 supplement: entries whose words resemble the chat's (rules: deeplore 3.8)."""

from __future__ import annotations

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import fixed_1
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.stages.snapshot import scan_window
from lorestudio.systems.deeplore.state import RunState, is_rested, is_warm, luck_decides, passes
from lorestudio.systems.deeplore.words import BM25
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord, Trace
from lorestudio.trace.scores import Bm25Figures

DEFAULT_THRESHOLD = 0.5


@stage(BM25, Phase.MATCH)
def bm25_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """The twenty best-scoring entries are offered; those not matched yet may come in. Guides can come in this way.

    Cooldown, warmup and probability are looked at in order of score.
    """
    settings = ctx.settings
    if not settings.fuzzy_search_enabled:
        return ledger.skipped("off", {"setting": "fuzzySearchEnabled"})
    if settings.scan_depth <= 0 or state.window is None:
        return ledger.skipped("scan_depth_zero")
    threshold = settings.fuzzy_search_min_score or DEFAULT_THRESHOLD
    query = state.window.raw_tail(settings.scan_depth)
    hits = ctx.index.bm25.search(query, threshold)
    if ctx.is_fixed("guide_leak") and any(hit.entry.guide for hit in hits):
        hits = ctx.index.bm25.search(query, threshold, guides=False)
        state.note_switch("guide_leak", ledger.name, "guides were left out")
    matched = 0
    for hit in hits:
        entry = hit.entry
        if entry.id not in state.matched and not entry.constant and _passes(state, ctx, ledger, entry):
            matched += 1
            state.let_in(entry, f"(fuzzy, score: {fixed_1(hit.score)})")
            ledger.add(entry, "fuzzy", score=hit.score, threshold=threshold, terms=[term.row for term in hit.terms])
    return ledger.close(
        state.candidates,
        details={
            "threshold": threshold,
            "candidates": len(hits),
            "matched": matched,
            "scores": [[hit.entry.id, hit.score] for hit in hits],
        },
    )


def _passes(state: RunState, ctx: Inputs, ledger: Ledger, entry: Entry) -> bool:
    """Cooldown, then warmup counted in the entry's own window, then probability."""
    depth = (entry.scan_depth or ctx.settings.scan_depth) if ctx.rules.one_gate else ctx.depth_of(entry)
    text = "" if state.window is None else state.window.tail(depth)
    if ctx.rules.one_gate:
        return passes(state, ledger, entry, ctx.matcher, text)
    if not is_rested(state, ledger, entry):
        return False
    warm = entry.warmup is None or entry.warmup < 1 or is_warm(ledger, entry, ctx.matcher, text)
    return warm and luck_decides(state, ledger, entry)


def figures(ctx: Inputs, trace: Trace, entry: int) -> Bm25Figures | None:
    """How the score of an entry comes about in the run that gave this trace, None where that compared no words."""
    entries = ctx.index.vault.entries
    if trace.ran(BM25) is None or not 0 <= entry < len(entries):
        return None
    return ctx.index.bm25.figures(entries[entry], scan_window(ctx).raw_tail(ctx.settings.scan_depth))
