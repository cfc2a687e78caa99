"""Wiki links of matched entries widen what the AI may choose from (rules: deeplore 4.2)."""

from __future__ import annotations

from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.trace.model import Phase, StageRecord


class WikiLinksStage:
    """Entries that the matched ones link to become candidates; one hop, no conditions."""

    name = "wiki links"
    phase = Phase.SELECT

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Follow the links in the order of the matched entries; what was matched is kept for the fallbacks."""
        ledger = Ledger(self, state.candidates)
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
