"""The circuit breaker and the throttle (rules: deeplore 4.9; deeplore-tools 1.8)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.state import AiState
from lorestudio.systems.deeplore.ai import asking
from lorestudio.trace.model import Breaker as Observed
from lorestudio.trace.model import BreakerState


class Breaker:
    """A breaker with a clock, so that a test reads like a protocol."""

    def __init__(self) -> None:
        self.state = AiState()

    def ask(self, now_ms: int) -> bool:
        granted, self.state = asking.acquire(self.state, now_ms)
        return granted

    def fail(self, now_ms: int) -> None:
        self.state = asking.failed(self.state, now_ms)

    def succeed(self) -> None:
        self.state = asking.succeeded(self.state)

    def release(self) -> None:
        self.state = asking.released(self.state)


def opened(at_ms: int = 0) -> Breaker:
    one = Breaker()
    one.fail(at_ms)
    one.fail(at_ms)
    return one


def test_closed_calls_go_through_and_change_nothing() -> None:
    one = Breaker()
    assert all(one.ask(now) for now in (0, 0, 1))
    assert one.state == AiState()


def test_the_second_failure_in_a_row_opens_it() -> None:
    one = Breaker()
    one.fail(0)
    assert not asking.is_open(one.state)
    assert one.ask(1)
    one.fail(1)
    assert asking.is_open(one.state)
    assert not one.ask(2)


def test_a_success_in_between_starts_the_count_again() -> None:
    one = Breaker()
    one.fail(0)
    one.succeed()
    one.fail(1)
    assert one.ask(2)


@pytest.mark.parametrize(("now_ms", "granted"), [(0, False), (29_999, False), (30_000, False), (30_001, True)])
def test_after_more_than_thirty_seconds_a_probe_goes_through(now_ms: int, granted: bool) -> None:
    assert opened().ask(now_ms) is granted


def test_the_pause_counts_from_the_last_failure() -> None:
    one = Breaker()
    one.fail(0)
    one.fail(10_000)
    assert not one.ask(30_001)
    assert one.ask(40_001)


def test_there_is_one_probe_only() -> None:
    one = opened()
    assert one.ask(30_001)
    assert not one.ask(30_002)
    assert not one.ask(90_001)


def test_a_lost_probe_is_replaced_after_a_minute() -> None:
    one = opened()
    assert one.ask(30_001)
    assert not one.ask(90_001)  # exactly 60 s old is not yet lost
    assert one.ask(90_002)
    assert not one.ask(90_003)  # the new probe counts from its own start


def test_a_probe_that_succeeds_closes_it() -> None:
    one = opened()
    assert one.ask(30_001)
    one.succeed()
    assert not asking.is_open(one.state)
    assert one.ask(30_002)
    assert one.ask(30_002)


def test_a_probe_that_fails_opens_it_again() -> None:
    one = opened()
    assert one.ask(30_001)
    one.fail(30_500)
    assert not one.ask(60_500)
    assert one.ask(60_501)


def test_a_probe_that_is_given_back_may_be_taken_again() -> None:
    one = opened()
    assert one.ask(30_001)
    one.release()
    assert asking.is_open(one.state)
    assert one.ask(30_002)


@pytest.mark.parametrize(
    ("last", "now", "throttled"),
    [(None, 0, False), (1000, 1000, True), (1000, 1499, True), (1000, 1500, False), (0, 499, True)],
)
def test_the_throttle(last: int | None, now: int, throttled: bool) -> None:
    assert asking.throttled(AiState(last_success_ms=last), now) is throttled


@pytest.mark.parametrize(
    ("state", "now_ms", "expected"),
    [
        (AiState(), 5, Observed()),
        (AiState(failures=1, last_failure_ms=5), 5, Observed(BreakerState.CLOSED, 1)),
        (AiState(failures=2, last_failure_ms=5), 30_005, Observed(BreakerState.OPEN, 2, 30_006)),
        (AiState(failures=2, last_failure_ms=5), 30_006, Observed(BreakerState.HALF_OPEN, 2)),
        (AiState(failures=2, last_failure_ms=5, probe_ms=40_000), 100_000, Observed(BreakerState.PROBING, 2, 100_001)),
        (AiState(failures=2, last_failure_ms=5, probe_ms=40_000), 100_001, Observed(BreakerState.HALF_OPEN, 2)),
    ],
)
def test_as_a_trace_keeps_it(state: AiState, now_ms: int, expected: Observed) -> None:
    assert asking.observed(state, now_ms) == expected


@given(
    st.builds(AiState, failures=st.integers(0, 3), last_failure_ms=st.integers(0, 100_000),
              probe_ms=st.none() | st.integers(0, 100_000)),
    st.integers(0, 200_000),
)  # fmt: skip
def test_what_the_trace_says_is_what_the_next_call_meets(state: AiState, now_ms: int) -> None:
    """The moment that it names is the first at which a call is let through."""
    told = asking.observed(state, now_ms)
    assert asking.acquire(state, now_ms)[0] is (told.next_probe_ms is None)
    if told.next_probe_ms is not None:
        assert told.next_probe_ms > now_ms
        assert not asking.acquire(state, told.next_probe_ms - 1)[0]
        later = asking.observed(state, told.next_probe_ms)
        assert later.state in {BreakerState.HALF_OPEN, BreakerState.PROBING}
        assert asking.acquire(state, told.next_probe_ms)[0] is (later.next_probe_ms is None)
