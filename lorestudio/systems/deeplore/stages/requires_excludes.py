"""Requires and excludes between the candidates (rules: deeplore 5.5)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from lorestudio.domain.collation import CollationKey, sort_key
from lorestudio.domain.entry import Entry
from lorestudio.systems.deeplore.gating import Policy
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.stages.order import order_details, put_surest_first
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.trace.model import Phase, RunOutcome, StageRecord

PASSES = 10
"""Passes after which the rest stays as it is."""

_DEFAULT_PRIORITY = 50
"""What a priority of 0 counts as in this stage."""

_DETAIL = {"missing_requirement": "missing", "excluded_by": "titles"}
"""Where a verdict names the titles."""


def _importance(entry: Entry) -> float:
    return entry.priority or _DEFAULT_PRIORITY


def _objection(entry: Entry, present: set[str]) -> tuple[str, list[str]]:
    """What speaks against the entry: a reason code, and the titles that are missing or in the way (none: nothing)."""
    missing = [title for title in entry.requires if title.lower() not in present]
    if missing:
        return "missing_requirement", missing
    return "excluded_by", [title for title in entry.excludes if title.lower() in present]


def resolve(entries: list[Entry], policy: Policy, ledger: Ledger | None = None) -> list[Entry]:
    """The entries whose requirements are met and whose exclusions are absent, most important first.

    The least important ones are looked at first; a removed entry's title counts as absent at once.
    """
    queue = sorted(entries, key=lambda entry: (-_importance(entry), sort_key(entry.title)))
    present = {entry.title.lower() for entry in queue}
    for _ in range(PASSES):
        kept: list[Entry] = []
        for entry in queue:
            reason, titles = _objection(entry, present)
            if not titles or entry in policy:
                kept.append(entry)
                continue
            present.discard(entry.title.lower())
            if ledger is not None:
                ledger.remove(entry, reason, **{_DETAIL[reason]: titles})
        changed = len(kept) != len(queue)
        queue = kept
        if not changed:
            break
    return sorted(queue, key=lambda entry: (_importance(entry), sort_key(entry.title)))


class RequiresExcludesStage:
    """Candidates that miss what they require, or meet what they exclude, leave."""

    name = "requires and excludes"
    phase = Phase.GATE

    def place(self, entry: Entry, candidates: Sequence[Entry], state: RunState, ctx: Inputs) -> int:
        """Where the entry would stand: by the AI's confidence where that counts, by importance and title."""
        surest_first = ctx.is_fixed("confidence_order")

        def rank(one: Entry) -> tuple[int, float, CollationKey]:
            return state.sureness(one) if surest_first else 0, _importance(one), sort_key(one.title)

        return bisect_right(candidates, rank(entry), key=rank)

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Resolve the candidates; with nothing left the run ends here."""
        ledger = Ledger(self, state.candidates)
        state.candidates = resolve(state.candidates, state.policy, ledger)
        put_surest_first(state, ctx, ledger)
        present = {entry.title.lower() for entry in state.candidates}
        for entry in state.candidates:
            would, titles = _objection(entry, present)
            if titles:
                state.policy.spares(entry, ledger, would)
        if not state.candidates:
            state.outcome = RunOutcome.EMPTY_AFTER_REQUIRES
        return ledger.close(state.candidates, details=order_details(state, ctx, {"priority": _importance}))
