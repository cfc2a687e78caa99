"""Arithmetic on a trace's limits: how much room there was, and what would have had to be different."""

from __future__ import annotations

import math
from typing import Final

from lorestudio.trace.model import OUTLET_TAG, Injection, Limit, Trace

FALSY_PRIORITY: Final = 50.0
"""What a priority of 0 counts as in the order that the budget sees (rules: deeplore 5.5)."""


def token_limit(trace: Trace) -> Limit | None:
    """The limit that counts tokens, None where the run never came to the budget."""
    return next((limit for limit in trace.limits if limit.unit == "tokens"), None)


def entry_limit(trace: Trace) -> Limit | None:
    """The limit that counts entries, None where there is none."""
    return next((limit for limit in trace.limits if limit.unit == "entries"), None)


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
