"""One generation in brief, what a timeline of thousands of turns keeps of a trace, and how often entries fired.

A summary is made once from a trace and never changes. Outcomes are shared objects, so that a chat of 5,000 turns with
hundreds of candidates each stays small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import NoteKey
from lorestudio.trace.budget import BudgetOrigin, budget_view
from lorestudio.trace.diff import InjectionChanges, injection_changes, injections_by_key
from lorestudio.trace.journey import FOREIGN_IDS, Fate, FateState, Journeys
from lorestudio.trace.model import Injection, Outcome, Phase, Trace, token_limit
from lorestudio.trace.vocabulary import PLAIN, Vocabulary


class Fired(Struct, frozen=True):
    """In how many runs an entry was matched (a matching stage let it in) and injected; pinned entries count too."""

    matched: int = 0
    injected: int = 0


NEVER = Fired()


def fired_in(trace: Trace) -> tuple[frozenset[int], frozenset[int]]:
    """The entries that a run matched, and those that it injected."""
    injected = frozenset(injection.entry for injection in trace.injections)
    matched = {
        verdict.entry
        for record in trace.stages
        if record.phase is Phase.MATCH
        for verdict in record.verdicts
        if verdict.outcome is Outcome.ADDED
    }
    matched.update(entry for record in trace.stages if record.phase is Phase.MATCH for entry in record.left)
    return frozenset(matched) | injected, injected


CANDIDATE_STATES: Final = frozenset({FateState.INJECTED, FateState.TRUNCATED, FateState.REMOVED, FateState.UNDECIDED})
"""How an entry ends that went in or was a candidate; only such an entry gets a row of a timeline."""

EMPTY_TITLES: Final[Mapping[int, str]] = MappingProxyType({})


class Ending(Struct, frozen=True):
    """How a run ended for an entry: a `Fate` without what differs from entry to entry."""

    state: FateState
    phase: Phase | None
    reason: str

    @property
    def injected(self) -> bool:
        """Whether the entry went in, whole or shortened."""
        return self.state.went_in

    @property
    def candidate(self) -> bool:
        """Whether the entry went in or could have."""
        return self.state in CANDIDATE_STATES

    def as_fate(self, entry: int) -> Fate:
        """The ending as the fate of one entry, without details."""
        return Fate(entry, self.state, "", self.phase, self.reason)


_shared: Final = lru_cache(maxsize=1024)(Ending)


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """What a timeline shows of one generation.

    `tokens` are all injected ones, outlets included; `used` is what counts against the budget, `budget` its
    maximum (None: unlimited, or the run never came to it). `by_origin` are the injected ones by where they came from,
    `cut` those that the budget kept out, for want of tokens or of places. `endings` are by entry id: those that went
    in, were candidates, or were refused by a stage after loading. `injected` is by vault and file name in injection
    order. `strangers` are the titles of those that are none of the vault's (see `trace.journey`); `words` are the
    system's.
    """

    tokens: int
    used: int
    budget: float | None
    endings: Mapping[int, Ending] = field(repr=False)
    injected: Mapping[NoteKey, Injection] = field(repr=False)
    strangers: Mapping[int, str] = field(default_factory=lambda: EMPTY_TITLES, repr=False)
    words: Vocabulary[Trace] = field(default=PLAIN, compare=False, repr=False)
    by_origin: Mapping[BudgetOrigin, int] = field(default_factory=dict, repr=False)
    cut: int = 0


def summarise(trace: Trace) -> TurnSummary:
    """The summary of a run. Linear in the entries that stages decided about."""
    fates = Journeys(trace).fates
    endings = {
        entry: _shared(fate.state, fate.phase, fate.reason)
        for entry, fate in fates.items()
        if fate.state in CANDIDATE_STATES or (fate.state is FateState.REFUSED and fate.phase is not Phase.LOAD)
    }
    limit, budget = token_limit(trace), budget_view(trace)
    return TurnSummary(
        trace.total_tokens,
        budget.used,
        limit.maximum if limit is not None else None,
        MappingProxyType(endings),
        MappingProxyType(injections_by_key(trace)),
        {entry: trace.entries[entry].title for entry in endings if entry >= FOREIGN_IDS} or EMPTY_TITLES,
        trace.words,
        budget.by_origin,
        sum(segment.tokens for segment in budget.cut),
    )


def turn_changes(before: TurnSummary | None, after: TurnSummary) -> InjectionChanges:
    """What changed since the turn before; everything is new where there was none."""
    return injection_changes(before.injected if before is not None else {}, after.injected)
