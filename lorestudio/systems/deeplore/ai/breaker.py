"""The circuit breaker and the throttle around AI calls (rules: deeplore 4.9)."""

from __future__ import annotations

from lorestudio.domain.records import replace
from lorestudio.domain.state import AiState
from lorestudio.trace.model import Breaker, BreakerState

FAILURES_TO_OPEN = 2
COOLDOWN_MS = 30_000
PROBE_LOST_MS = 60_000
THROTTLE_MS = 500


def is_open(state: AiState) -> bool:
    """Whether the breaker is tripped; once it has cooled down, the next call is a probe."""
    return state.failures >= FAILURES_TO_OPEN


def acquire(state: AiState, now_ms: int) -> tuple[bool, AiState]:
    """Ask for a call. Once the pause is over exactly one probe is let through."""
    if not is_open(state):
        return True, state
    if not _cooled(state, now_ms) or _probing(state, now_ms):
        return False, state
    return True, replace(state, probe_ms=now_ms)


def released(state: AiState) -> AiState:
    """The probe came back without a verdict."""
    return replace(state, probe_ms=None)


def succeeded(state: AiState) -> AiState:
    """A usable answer closes the breaker."""
    return replace(state, failures=0, last_failure_ms=None, probe_ms=None)


def failed(state: AiState, now_ms: int) -> AiState:
    """A failure; the second in a row opens the breaker, a failed probe opens it again."""
    return replace(state, failures=state.failures + 1, last_failure_ms=now_ms, probe_ms=None)


def throttled(state: AiState, now_ms: int) -> bool:
    """Whether the last successful call is too recent for another."""
    return state.last_success_ms is not None and now_ms - state.last_success_ms < THROTTLE_MS


def observed(state: AiState, now_ms: int) -> Breaker:
    """The breaker as a trace keeps it."""
    if not is_open(state):
        return Breaker(BreakerState.CLOSED, state.failures)
    if not _cooled(state, now_ms):
        last = now_ms if state.last_failure_ms is None else state.last_failure_ms
        return Breaker(BreakerState.OPEN, state.failures, last + COOLDOWN_MS + 1)
    if state.probe_ms is not None and _probing(state, now_ms):
        return Breaker(BreakerState.PROBING, state.failures, state.probe_ms + PROBE_LOST_MS + 1)
    return Breaker(BreakerState.HALF_OPEN, state.failures)


def _cooled(state: AiState, now_ms: int) -> bool:
    return state.last_failure_ms is not None and now_ms - state.last_failure_ms > COOLDOWN_MS


def _probing(state: AiState, now_ms: int) -> bool:
    return state.probe_ms is not None and now_ms - state.probe_ms <= PROBE_LOST_MS
