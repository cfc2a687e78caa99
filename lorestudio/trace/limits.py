"""Arithmetic on a trace's limits: how much room there was, and what would have had to be different."""

from __future__ import annotations

import math
from typing import Final

from lorestudio.trace.model import Injection, Limit, Phase, Trace

OUTLET_TAG: Final = "customWIOutlet_"
"""How the tags of outlets begin; no limit counts what goes into an outlet (rules: deeplore 5.7, 5.8)."""

FALSY_PRIORITY: Final = 50.0
"""What a priority of 0 counts as in the order that the budget sees (rules: deeplore 5.5)."""


def token_limit(trace: Trace) -> Limit | None:
    """The limit that counts tokens, None where the run never came to the budget."""
    return next((limit for limit in trace.limits if limit.unit == "tokens"), None)


def entry_limit(trace: Trace) -> Limit | None:
    """The limit that counts entries, None where there is none."""
    return next((limit for limit in trace.limits if limit.unit == "entries"), None)


def place_in_queue(trace: Trace, entry: int) -> tuple[int, float]:
    """Which one of those that the limits count an entry was, as they came to the budget, and the tokens up to it.

    (0, 0) for one that never came there. Tokens are those of whole notes.
    """
    outlets = {each.entry for each in trace.injections if each.tag.startswith(OUTLET_TAG)}
    number, tokens = 0, 0.0
    for record in trace.stages:
        for verdict in record.verdicts if record.phase is Phase.BUDGET else ():
            if verdict.entry in outlets:
                continue
            size = verdict.details.get("original_tokens", verdict.details.get("tokens"))
            number, tokens = number + 1, tokens + (size if isinstance(size, int | float) else 0)
            if verdict.entry == entry:
                return number, tokens
    return 0, 0


def positional(trace: Trace) -> tuple[Injection, ...]:
    """The injections that the limits count, in injection order: all but the outlets'."""
    return tuple(injection for injection in trace.injections if not injection.tag.startswith(OUTLET_TAG))


def rank(priority: float) -> float:
    """The number that the budget's order goes by."""
    return FALSY_PRIORITY if priority == 0 or math.isnan(priority) else priority


def last_room(trace: Trace, tokens: float) -> Injection | None:
    """The last injected entry that a note of `tokens` could have stood before and still fit whole; None for no such.

    A note with a lower priority number than that entry's is offered to the budget before it.
    """
    limit = token_limit(trace)
    budget = math.inf if limit is None or limit.maximum is None else limit.maximum
    used, found = 0.0, None
    for injection in positional(trace):
        if used + tokens > budget:
            break
        found = injection
        used += injection.tokens
    return found
