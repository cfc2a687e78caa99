"""What the tests ask of a circuit breaker beside its behaviour."""

from __future__ import annotations

from lorestudio.vault.obsidian_host import CircuitBreaker


def state(breaker: CircuitBreaker) -> str:
    """Closed; open while nothing is sent; half-open once the pause is over, until a probe has told."""
    if not breaker._pause_s:
        return "closed"
    return "half-open" if breaker._probing or not breaker.wait_s else "open"
