"""What one generation came to: as much of a trace as is compared over whole chats and many settings, without texts."""

from __future__ import annotations

from dataclasses import dataclass, field

from lorestudio.trace.budget import cut_tokens, cut_verdicts
from lorestudio.trace.journey import FOREIGN_IDS
from lorestudio.trace.limits import token_limit
from lorestudio.trace.model import Phase, Trace
from lorestudio.trace.timeline import fired_in


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """One generation. `injected` and `cut` are ids with tokens; what went in is in the order of the prompt.

    `matched` were let in by a matching stage, `selected` went on from the last stage that selects (nobody where none
    ran). `cut` is what the budget kept out, `budget` its tokens (None without a limit). `strangers` are titles of
    entries that are none of the vault's.
    """

    message: int
    swipe: int
    number: int
    injected: tuple[tuple[int, int], ...] = ()
    matched: frozenset[int] = frozenset()
    selected: frozenset[int] = frozenset()
    shortened: frozenset[int] = frozenset()
    cut: tuple[tuple[int, int], ...] = ()
    ai_calls: int = 0
    budget: float | None = None
    strangers: tuple[tuple[int, str], ...] = field(default=(), repr=False)

    @property
    def tokens(self) -> int:
        """Tokens of everything that went in."""
        return sum(tokens for _, tokens in self.injected)


def turn_outcome(trace: Trace) -> TurnOutcome:
    """What the run of a trace came to."""
    limit = token_limit(trace)
    selecting = [record for record in trace.stages if record.phase is Phase.SELECT]
    matched, _ = fired_in(trace)
    return TurnOutcome(
        trace.turn.message,
        trace.turn.swipe,
        trace.turn.number,
        tuple((injection.entry, injection.tokens) for injection in trace.injections),
        matched,
        frozenset(selecting[-1].left) if selecting else frozenset(),
        frozenset(injection.entry for injection in trace.injections if injection.truncated),
        tuple((verdict.entry, cut_tokens(trace, verdict)) for verdict in cut_verdicts(trace)),
        len(trace.ai_calls),
        None if limit is None else limit.maximum,
        tuple((entry, ref.title) for entry, ref in trace.entries.items() if entry >= FOREIGN_IDS),
    )
