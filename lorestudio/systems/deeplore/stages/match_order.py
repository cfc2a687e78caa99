"""The order of the matched entries (rules: deeplore 3.9).

What an ordering stage puts on record: the numbers that it sorted by, so that nobody has to guess them later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key

from lorestudio.domain.collation import compare, sort_key
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.trace.model import Phase, StageRecord


def order_details(candidates: Sequence[Entry], keys: dict[str, Callable[[Entry], float]]) -> dict[str, Json]:
    """`order_by`: what decides, first things first, the title last; `order`: each entry's id and its numbers."""
    return {
        "order_by": [*keys, "title"],
        "order": [[entry.id, *(key(entry) for key in keys.values())] for entry in candidates],
    }


class MatchOrderStage:
    """Most important first, then by how often the keys occur where that is on, then by title."""

    name = "match order"
    phase = Phase.MATCH

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Sort the candidates; the counts of same-titled entries are those of the first one compared."""
        ledger = Ledger(self, state.candidates)
        state.candidates.sort(key=lambda entry: (entry.priority, sort_key(entry.title)))
        keys: dict[str, Callable[[Entry], float]] = {"priority": lambda entry: entry.priority}
        if ctx.settings.keyword_occurrence_weighting:
            count = _occurrences(state, ctx)
            state.candidates.sort(key=cmp_to_key(_by_occurrence(count)))
            keys["occurrences"] = count
        labels: list[Json] = [[title, label] for title, label in state.labels.items()]
        return ledger.close(state.candidates, details={"labels": labels, **order_details(state.candidates, keys)})


def _occurrences(state: RunState, ctx: Inputs) -> Callable[[Entry], int]:
    """Occurrences of an entry's keys in the global window.

    Counts are kept by title: which of two same-titled entries is counted depends on the sort's first comparison.
    """
    settings = ctx.settings
    matcher = ctx.index.matcher(case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)
    text = "" if state.window is None else state.window.tail(settings.scan_depth)
    counts: dict[str, int] = {}

    def count(entry: Entry) -> int:
        if entry.title not in counts:
            counts[entry.title] = matcher.occurrences(entry.id, text)
        return counts[entry.title]

    return count


def _by_occurrence(count: Callable[[Entry], int]) -> Callable[[Entry, Entry], int]:
    """Compare by priority, occurrences and title."""

    def compare_entries(later: Entry, earlier: Entry) -> int:
        if later.priority != earlier.priority:
            return -1 if later.priority < earlier.priority else 1
        difference = count(earlier) - count(later)
        return difference or compare(later.title, earlier.title)

    return compare_entries
