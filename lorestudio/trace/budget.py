"""The budget of one generation as a picture: what went in, by origin and in order, what was cut, and the room left."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, is_finite_number
from lorestudio.trace.journey import ASKED_FOR, CHOSEN, Journeys, counted_in
from lorestudio.trace.model import (
    Injection,
    Limit,
    Outcome,
    Phase,
    Trace,
    Verdict,
    entry_limit,
    token_limit,
    tokens_used,
    within_limits,
)
from lorestudio.trace.wording import fill, number_words, plural


class BudgetOrigin(Struct, frozen=True):
    """One group: its word, the letter drawn where there is no room for a word, and its fill."""

    word: str
    letter: str
    fill: str


ALWAYS: Final = BudgetOrigin(ASKED_FOR, "C", "blue")
KEYWORD: Final = BudgetOrigin("keyword", "K", "green")
RECURSION: Final = BudgetOrigin("recursion", "R", "orange")
FUZZY: Final = BudgetOrigin("fuzzy", "F", "yellow")
CASCADE: Final = BudgetOrigin("cascade", "L", "grey")
PINNED: Final = BudgetOrigin("pinned", "P", "ink")
AI: Final = BudgetOrigin(CHOSEN, "A", "sky")
SIMILAR: Final = BudgetOrigin("similar", "S", "purple")
RECAPS: Final = BudgetOrigin("recaps", "M", "blue")
OTHER: Final = BudgetOrigin("other", "O", "vermilion")
BESIDES: Final = BudgetOrigin("no entry", "…", "sky")

ORIGINS: Final = (ALWAYS, KEYWORD, RECURSION, FUZZY, CASCADE, PINNED, AI, SIMILAR, RECAPS, OTHER, BESIDES)

_BY_WORD: Final = {origin.word: origin for origin in ORIGINS}


def origins(trace: Trace) -> dict[int, BudgetOrigin]:
    """The origin of every entry that was a candidate: by the reason that brought it in (`Journeys.ways_in`)."""
    by_reason = {code: _BY_WORD[word] for word, codes in trace.words.origins.items() for code in codes}
    found: dict[int, BudgetOrigin] = {}
    for entry, (_record, verdict) in Journeys(trace).ways_in.items():
        origin = by_reason.get(verdict.reason, OTHER)
        # found in the text of another entry
        found[entry] = RECURSION if origin is KEYWORD and "source" in verdict.details else origin
    return found


NO_ENTRY: Final = -1
"""Stands for the entry of a segment that is none."""


class Segment(Struct, frozen=True):
    """An entry that took part in the budget. `tokens` are those it takes or would take.

    `needs` is how many tokens more than were free a cut entry would have needed, None where tokens were not the cause.
    `over_count` says that it was cut because so many entries were in, however large they were. `outlet` is of one in an
    outlet that the budget does not count.
    """

    entry: int
    title: str
    tokens: int
    origin: BudgetOrigin
    cut: bool = False
    outlet: bool = False
    truncated_from: int | None = None
    needs: int | None = None
    over_count: bool = False
    why: str = ""

    def describe(self, maximum: float | None) -> str:
        """The segment in words, for tooltips, lists and screen readers."""
        if self.cut:
            return f"{self.title}: {self.why}"
        share = f" ({self.tokens / maximum:.0%} of the budget)" if maximum and not self.outlet else ""
        text = f"{self.title}: {_tokens(self.tokens)}{share}, {self.origin.word}"
        if self.truncated_from is not None:
            text += f", trimmed from {number_words(self.truncated_from)}"
        return text + (", outlet: outside the budget" if self.outlet else "")


class BudgetView(Struct, frozen=True):
    """Segments in injection order, then those that were cut; `maximum` None means that there is no token limit.

    `besides` is what else the limit counts, None for nothing.
    """

    segments: tuple[Segment, ...]
    used: int
    maximum: float | None
    entries_used: int
    entries_maximum: float | None
    besides: Segment | None = None

    @property
    def inside(self) -> tuple[Segment, ...]:
        """The entries that count against the budget."""
        return tuple(segment for segment in self.segments if not segment.cut and not segment.outlet)

    @property
    def counted(self) -> tuple[Segment, ...]:
        """Everything that counts against the budget, the entries first."""
        return self.inside if self.besides is None else (*self.inside, self.besides)

    @property
    def cut(self) -> tuple[Segment, ...]:
        """What the budget kept out."""
        return tuple(segment for segment in self.segments if segment.cut)

    @property
    def size(self) -> float:
        """The tokens that the budget is drawn for: its limit, or what went in where that is more; at least one."""
        return max(self.maximum or 0, self.used) or 1

    @property
    def by_origin(self) -> dict[BudgetOrigin, int]:
        """The tokens that went in, outlets included, from each group that any came from, in the order of `ORIGINS`."""
        found = {origin: sum(one.tokens for one in self.segments if one.origin is origin and not one.cut)
                 for origin in ORIGINS}  # fmt: skip
        return {origin: tokens for origin, tokens in found.items() if tokens}

    @property
    def free(self) -> float | None:
        """Tokens left, None without a limit."""
        return None if self.maximum is None else max(0.0, self.maximum - self.used)

    def headline(self) -> str:
        """The budget in one line."""
        if self.maximum is None:
            return f"{number_words(self.used)} tokens, no limit"
        return f"{number_words(self.used)} of {number_words(self.maximum)} tokens"


def cut_verdicts(trace: Trace) -> list[Verdict]:
    """By what the budget of a run kept entries out, in order."""
    return [
        verdict
        for record in trace.stages
        for verdict in record.with_outcome(Outcome.REMOVED)
        if counted_in(trace, record, verdict) is Phase.BUDGET and verdict.reason not in trace.words.without_text
    ]


def cut_tokens(trace: Trace, verdict: Verdict) -> int:
    """The tokens that an entry kept out by this verdict would have taken."""
    tokens = verdict.details.get("tokens")
    return tokens if type(tokens) is int else _whole(tokens, trace.entries[verdict.entry].tokens)


def budget_view(trace: Trace) -> BudgetView:
    """What the budget of a run looks like."""
    came_from = origins(trace)
    counted = {injection.entry for injection in within_limits(trace)}
    segments = [
        _taken(injection, came_from.get(injection.entry, OTHER), outlet=injection.entry not in counted)
        for injection in trace.injections
    ]
    segments += [_cut(trace, verdict, came_from.get(verdict.entry, OTHER)) for verdict in cut_verdicts(trace)]
    tokens_limit, most = token_limit(trace), entry_limit(trace)
    besides = None
    if tokens_limit is not None and tokens_limit.besides:
        title = tokens_limit.besides_what[:1].upper() + tokens_limit.besides_what[1:]
        besides = Segment(NO_ENTRY, title, tokens_limit.besides, BESIDES)
    inside = sum(not segment.cut and not segment.outlet for segment in segments)
    amount = inside if most is None or trace.words.counts_all else int(most.used)
    return BudgetView(tuple(segments), tokens_used(trace), _maximum(tokens_limit), amount, _maximum(most), besides)


def _taken(injection: Injection, origin: BudgetOrigin, *, outlet: bool) -> Segment:
    whole = injection.original_tokens if injection.truncated else None
    return Segment(injection.entry, injection.title, injection.tokens, origin, outlet=outlet, truncated_from=whole)


def _cut(trace: Trace, verdict: Verdict, origin: BudgetOrigin) -> Segment:
    ref, template = trace.entries[verdict.entry], trace.words.cuts.get(verdict.reason)
    tokens, needs = cut_tokens(trace, verdict), _whole(verdict.details.get("needs"), -1)
    over_count = trace.words.parts.get(verdict.reason) == "entries"
    lacking, label = None if needs <= 0 or over_count else needs, trace.words.label(verdict.reason)
    why = f"{_tokens(tokens)}, {label[:1].lower()}{label[1:]}"
    if template is not None:
        why = fill(template, {**verdict.details, "size": _tokens(tokens), "needs": lacking}) or _tokens(tokens)
    return Segment(verdict.entry, ref.title, tokens, origin, cut=True, needs=lacking, over_count=over_count, why=why)


def _tokens(amount: int) -> str:
    return plural(amount, "# token|# tokens")


def _whole(value: Json, otherwise: int) -> int:
    return int(value) if is_finite_number(value) else otherwise


def _maximum(limit: Limit | None) -> float | None:
    return limit.maximum if limit is not None else None
