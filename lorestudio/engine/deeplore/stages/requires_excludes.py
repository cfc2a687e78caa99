"""Requires and excludes between the candidates (spec: deeplore-engine 5.5)."""

from __future__ import annotations

from lorestudio.domain.collation import sort_key
from lorestudio.domain.entry import Entry
from lorestudio.engine.context import RunContext
from lorestudio.engine.deeplore.policy import Policy
from lorestudio.engine.deeplore.state import RunState
from lorestudio.engine.stage import Ledger
from lorestudio.trace.model import Phase, RunOutcome, StageRecord

PASSES = 10
"""Passes after which the rest stays as it is."""

_DEFAULT_PRIORITY = 50
"""What a priority of 0 counts as in this stage."""


def _importance(entry: Entry) -> float:
    return entry.priority or _DEFAULT_PRIORITY


def resolve(entries: list[Entry], policy: Policy, ledger: Ledger | None = None) -> list[Entry]:
    """The entries whose requirements are met and whose exclusions are absent, most important first.

    The least important ones are looked at first; a removed entry's title counts as absent at once.
    """
    queue = sorted(entries, key=lambda entry: (-_importance(entry), sort_key(entry.title)))
    present = {entry.title.lower() for entry in queue}
    for _ in range(PASSES):
        kept: list[Entry] = []
        for entry in queue:
            missing = [title for title in entry.requires if title.lower() not in present]
            against = [] if missing else [title for title in entry.excludes if title.lower() in present]
            reason = "missing_requirement" if missing else "excluded_by"
            if not missing and not against:
                kept.append(entry)
            elif entry in policy:
                kept.append(entry)
            else:
                present.discard(entry.title.lower())
                if ledger is not None and missing:
                    ledger.remove(entry, reason, missing=missing)
                elif ledger is not None:
                    ledger.remove(entry, reason, titles=against)
        changed = len(kept) != len(queue)
        queue = kept
        if not changed:
            break
    return sorted(queue, key=lambda entry: (_importance(entry), sort_key(entry.title)))


class RequiresExcludesStage:
    """Candidates that miss what they require, or meet what they exclude, leave."""

    name = "requires and excludes"
    phase = Phase.GATE

    async def run(self, state: RunState, ctx: RunContext) -> StageRecord:  # noqa: ARG002  # the protocol's signature
        """Resolve the candidates; with nothing left the run ends here."""
        ledger = Ledger(self, state.candidates)
        before = state.candidates
        state.candidates = resolve(before, state.policy, ledger)
        present = {entry.title.lower() for entry in state.candidates}
        for entry in state.candidates:
            if entry in state.policy and not _satisfied(entry, present):
                ledger.keep(entry, "exempt", by=state.policy.why(entry), would="missing_requirement")
        if not state.candidates:
            state.outcome = RunOutcome.EMPTY_AFTER_REQUIRES
        return ledger.close(state.candidates)


def _satisfied(entry: Entry, present: set[str]) -> bool:
    return all(title.lower() in present for title in entry.requires) and not any(
        title.lower() in present for title in entry.excludes
    )
