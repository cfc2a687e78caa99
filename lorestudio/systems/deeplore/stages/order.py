"""The order of the matched entries, and that in which the selection leaves (rules: deeplore 3.9, 4.10).

An ordering stage puts the numbers that it sorted by on record, so that nobody has to guess them later.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key

from lorestudio.domain.collation import CollationKey, compare, sort_key
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord


def order_details(state: RunState, ctx: Inputs, keys: dict[str, Callable[[Entry], float]]) -> dict[str, Json]:
    """`order_by`: what decides, first things first, the title last; `order`: each entry's id and its numbers."""
    if not state.recorded:
        return {}
    if ctx.is_fixed("confidence_order") and state.confidence:
        keys = {"confidence": state.sureness, **keys}
    names, numbers = tuple(keys), ([key(entry) for entry in state.candidates] for key in keys.values())
    rows = zip((entry.id for entry in state.candidates), *numbers, strict=True)
    return {"order_by": [*names, "title"], "order": ctx.index.rows(names, rows)}


def put_surest_first(state: RunState, ctx: Inputs, ledger: Ledger) -> None:
    """Sort the candidates by the AI's confidence, where that is wanted."""
    if ctx.is_fixed("confidence_order") and state.confidence:
        before = list(state.candidates)
        state.candidates.sort(key=state.sureness)
        if state.candidates != before and not state.has_noted("confidence_order"):
            state.note_switch("confidence_order", ledger.name, "the AI's surer picks come first")


def _priority(entry: Entry) -> float:
    return entry.priority


def rank(ctx: Inputs) -> Callable[[Entry], tuple[float, CollationKey, CollationKey]]:
    """How entries are ordered: by priority, title and in 2.6 vault; the other way round where that is wanted
    (rules: deeplore-newer 1.3).
    """
    sign, by_vault = -1 if ctx.reversed else 1, ctx.rules.reversed_priority
    return lambda entry: (sign * entry.priority, sort_key(entry.title), sort_key(entry.vault if by_vault else ""))


@stage("match order", Phase.MATCH)
def match_order_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Most important first, then by how often the keys occur where that is on, then by title."""
    state.candidates.sort(key=rank(ctx))
    keys: dict[str, Callable[[Entry], float]] = {"priority": _priority}
    if ctx.settings.keyword_occurrence_weighting:
        count = _occurrences(state, ctx)
        state.candidates.sort(key=cmp_to_key(_by_occurrence(count, ctx)))
        keys["occurrences"] = count
    labels = ctx.index.rows(("title", "label"), state.labels.items() if ledger.detailed else ())
    return ledger.close(state.candidates, details={"labels": labels, **order_details(state, ctx, keys)})


def _occurrences(state: RunState, ctx: Inputs) -> Callable[[Entry], int]:
    """Occurrences of an entry's keys in the global window.

    Counts are kept by title: which of two same-titled entries is counted depends on the sort's first comparison.
    """
    matcher = ctx.matcher
    text = "" if state.window is None else state.window.tail(ctx.settings.scan_depth)
    counts: dict[str, int] = {}

    def count(entry: Entry) -> int:
        if entry.title not in counts:
            counts[entry.title] = matcher.occurrences(entry.id, text)
        return counts[entry.title]

    return count


def _by_occurrence(count: Callable[[Entry], int], ctx: Inputs) -> Callable[[Entry, Entry], int]:
    """Compare by priority, occurrences and title, in 2.6 also by vault."""
    sign, by_vault = -1 if ctx.reversed else 1, ctx.rules.reversed_priority

    def compare_entries(later: Entry, earlier: Entry) -> int:
        if later.priority != earlier.priority:
            return -sign if later.priority < earlier.priority else sign
        order = count(earlier) - count(later) or compare(later.title, earlier.title)
        return order or (compare(later.vault, earlier.vault) if by_vault else 0)

    return compare_entries


@stage("priority order", Phase.SELECT)
def priority_order_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Sort by priority and title; occurrences do not count from here on, the AI's confidence only where fixed."""
    state.candidates.sort(key=rank(ctx))
    put_surest_first(state, ctx, ledger)
    return ledger.close(state.candidates, details=order_details(state, ctx, {"priority": _priority}))
