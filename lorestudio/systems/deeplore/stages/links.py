"""Entries that candidates bring along: by cascade links, and by wiki links for a model to choose from.

Rules: deeplore 3.6, 4.2.
"""

from __future__ import annotations

from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState, passes
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord


@stage("cascade links", Phase.MATCH)
def cascade_links_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Each candidate brings the entries that its note names; those bring none of theirs. Cooldown, then probability.

    Of equal titles the last one comes in 2.0.2, all of them in 2.6 (rules: deeplore-newer 1.11).
    """
    if ctx.settings.scan_depth <= 0:
        return ledger.skipped("scan_depth_zero")
    for source in tuple(state.candidates):
        for title in source.cascade_links:
            copies = ctx.index.of_lower_title.get(title.lower(), ())
            for linked in copies if ctx.rules.all_copies else copies[-1:]:
                if linked.id not in state.matched and passes(state, ledger, linked, ctx.matcher, None):
                    state.let_in(linked, f"(cascade from: {source.title})")
                    ledger.add(linked, "cascade", source=source.title, source_id=source.id)
    return ledger.close(state.candidates)


@stage("wiki links", Phase.SELECT)
def wiki_links_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Entries that the matched ones link to become candidates; one hop, no conditions.

    Of equal titles the last one comes in 2.0.2, one of each vault in 2.6 (rules: deeplore-newer 1.11). What was matched
    is kept for the fallbacks.
    """
    state.keyword_matches = list(state.candidates)
    by_vault = ctx.rules.all_copies
    there = {entry.tracker_key if by_vault else entry.title for entry in state.candidates}
    for source in state.keyword_matches:
        for title in source.resolved_links:
            copies = ctx.index.of_title.get(title, ())
            for linked in copies if by_vault else copies[-1:]:
                key = linked.tracker_key if by_vault else title
                if key not in there and not linked.constant:
                    there.add(key)
                    state.candidates.append(linked)
                    state.set_label(linked, f"(wiki-linked from: {source.title})")
                    ledger.add(linked, "wiki_link", source=source.title, source_id=source.id)
    return ledger.close(state.candidates)
