"""Requires and excludes between the candidates (rules: deeplore 5.5)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Sequence

from lorestudio.domain.collation import CollationKey, sort_key
from lorestudio.domain.entry import Entry
from lorestudio.settings.rules import OLD_RULES, RuleSet
from lorestudio.systems.deeplore.gating import Policy
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.stages.order import order_details, put_surest_first
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.trace.model import Phase, RunOutcome, StageRecord

PASSES = 10
"""Passes after which the rest stays as it is."""

_DEFAULT_PRIORITY = 50
"""What a priority of 0 counts as in this stage in 2.0.2."""

_DETAIL = {"missing_requirement": "missing", "excluded_by": "titles"}
"""Where a verdict names the titles."""


def _importance(rules: RuleSet) -> Callable[[Entry], float]:
    """What an entry's priority counts as in this stage (rules: deeplore-newer 1.6)."""
    default = 0 if rules.zero_priority else _DEFAULT_PRIORITY
    return lambda entry: entry.priority or default


def _objection(entry: Entry, present: Container[str]) -> tuple[str, list[str]]:
    """What speaks against the entry: a reason code, and the titles that are missing or in the way (none: nothing)."""
    if not (entry.requires or entry.excludes):
        return "", []
    missing = [title for title in entry.requires if title.lower() not in present]
    if missing:
        return "missing_requirement", missing
    return "excluded_by", [title for title in entry.excludes if title.lower() in present]


def resolve(
    entries: list[Entry],
    policy: Policy,
    ledger: Ledger | None = None,
    *,
    rules: RuleSet = OLD_RULES,
    reverse: bool = False,
) -> list[Entry]:
    """The entries whose requirements are met and whose exclusions are absent, most important first.

    The least important ones are looked at first; a removed entry's title counts as absent at once, in 2.6 when it was
    the last one of that title. With `reverse` a higher priority is the more important one.
    """
    importance, sign = _importance(rules), -1 if reverse else 1
    by_vault, counted = rules.reversed_priority, rules.counted_titles

    def names(entry: Entry) -> tuple[CollationKey, CollationKey]:
        return sort_key(entry.title), sort_key(entry.vault if by_vault else "")

    by_name = sorted(entries, key=names)  # what is sorted again stays in this order where it is equally important
    most_first = sorted(by_name, key=lambda entry: sign * importance(entry))
    if not any(entry.requires or entry.excludes for entry in entries):
        return most_first
    queue = sorted(by_name, key=lambda entry: -sign * importance(entry))
    present = Counter(entry.title.lower() for entry in queue)
    for _ in range(PASSES):
        kept: list[Entry] = []
        for entry in queue:
            reason, titles = _objection(entry, present)
            if not titles or entry in policy:
                kept.append(entry)
                continue
            title = entry.title.lower()
            present[title] -= 1
            if not present[title] or not counted:
                present.pop(title, None)
            if ledger is not None:
                ledger.remove(entry, reason, **{_DETAIL[reason]: titles})
        changed = len(kept) != len(queue)
        queue = kept
        if not changed:
            break
    left = {entry.id for entry in queue}
    return [entry for entry in most_first if entry.id in left]


class RequiresExcludesStage:
    """Candidates that miss what they require, or meet what they exclude, leave."""

    name = "requires and excludes"
    phase = Phase.GATE

    def place(self, entry: Entry, candidates: Sequence[Entry], state: RunState, ctx: Inputs) -> int:
        """Where the entry would stand: by the AI's confidence where that counts, by importance and title."""
        surest_first, importance = ctx.is_fixed("confidence_order"), _importance(ctx.rules)
        sign = -1 if ctx.reversed else 1

        def rank(one: Entry) -> tuple[int, float, CollationKey]:
            return state.sureness(one) if surest_first else 0, sign * importance(one), sort_key(one.title)

        return bisect_right(candidates, rank(entry), key=rank)

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Resolve the candidates; with nothing left the run ends here."""
        ledger = Ledger(self, state.candidates, detailed=state.recorded)
        state.candidates = resolve(state.candidates, state.policy, ledger, rules=ctx.rules, reverse=ctx.reversed)
        put_surest_first(state, ctx, ledger)
        choosy = [entry for entry in state.candidates if entry.requires or entry.excludes]
        present = {entry.title.lower() for entry in state.candidates} if choosy else set()
        for entry in choosy:
            would, titles = _objection(entry, present)
            if titles:
                state.policy.spares(entry, ledger, would)
        if not state.candidates:
            state.outcome = RunOutcome.EMPTY_AFTER_REQUIRES
        return ledger.close(state.candidates, details=order_details(state, ctx, {"priority": _importance(ctx.rules)}))
