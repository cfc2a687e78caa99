"""Entries that candidates bring along: by cascade links, and by wiki links for a model to choose from.

Rules: deeplore 3.6, 4.2.
"""

from __future__ import annotations

from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState, is_rested, luck_decides
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord


@stage("cascade links", Phase.MATCH)
def cascade_links_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Each candidate brings the entries that its note names; those bring none of theirs. Cooldown, then probability."""
    if ctx.settings.scan_depth <= 0:
        return ledger.skipped("scan_depth_zero")
    for source in tuple(state.candidates):
        for title in source.cascade_links:
            linked = ctx.index.by_lower_title.get(title.lower())
            if linked is None or linked.id in state.matched:
                continue
            rested = linked.cooldown is None or is_rested(state, ledger, linked)
            if rested and luck_decides(state, ledger, linked):
                state.let_in(linked, f"(cascade from: {source.title})")
                ledger.add(linked, "cascade", source=source.title, source_id=source.id)
    return ledger.close(state.candidates)


@stage("wiki links", Phase.SELECT)
def wiki_links_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Entries that the matched ones link to become candidates; one hop, no conditions.

    What was matched is kept for the fallbacks.
    """
    state.keyword_matches = list(state.candidates)
    titles = {entry.title for entry in state.candidates}
    for source in state.keyword_matches:
        for title in source.resolved_links:
            linked = ctx.index.by_title.get(title)
            if title in titles or linked is None or linked.constant:
                continue
            titles.add(title)
            state.candidates.append(linked)
            state.set_label(linked, f"(wiki-linked from: {source.title})")
            ledger.add(linked, "wiki_link", source=source.title, source_id=source.id)
    return ledger.close(state.candidates)
