from __future__ import annotations

import pytest

from lorestudio.vault.obsidian_host import CircuitBreaker, CircuitBreakers, CircuitOpenError, HostFailure
from tests.vault.breakers import state


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def fail(breaker: CircuitBreaker) -> None:
    with pytest.raises(HostFailure), breaker.call():
        raise HostFailure


def succeed(breaker: CircuitBreaker) -> None:
    with breaker.call():
        pass


def opened(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(clock)
    for _ in range(3):
        fail(breaker)
    return breaker


def test_it_opens_at_the_third_failure_in_a_row(clock: Clock) -> None:
    breaker = CircuitBreaker(clock)
    for step in (fail, fail, succeed, fail, fail):
        step(breaker)
    assert state(breaker) == "closed"
    fail(breaker)
    assert (state(breaker), breaker.wait_s) == ("open", 2.0)
    with pytest.raises(CircuitOpenError) as caught, breaker.call():
        pytest.fail("nothing is sent")
    assert caught.value.seconds == 2.0


def test_the_pause_doubles_up_to_fifteen_seconds(clock: Clock) -> None:
    breaker = opened(clock)
    pauses = [breaker._pause_s]
    for _ in range(5):
        clock.now += breaker.wait_s
        fail(breaker)
        pauses.append(breaker.wait_s)
    assert pauses == [2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


def test_a_success_starts_over(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now += 2
    fail(breaker)
    clock.now += 4
    succeed(breaker)
    assert (state(breaker), breaker._pause_s) == ("closed", 0.0)
    for _ in range(3):
        fail(breaker)
    assert breaker._pause_s == 2.0


def test_the_pause_is_over_at_its_very_end(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now += 1.75
    assert state(breaker) == "open"
    clock.now += 0.25
    assert state(breaker) == "half-open"


def test_one_probe_at_a_time(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now += 2
    with breaker.call():
        assert state(breaker) == "half-open"
        with pytest.raises(CircuitOpenError), breaker.call():
            pytest.fail("there is a probe already")
    assert state(breaker) == "closed"


def test_a_probe_without_a_verdict_is_given_back(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now += 2
    with pytest.raises(KeyError), breaker.call():
        raise KeyError
    assert state(breaker) == "half-open"
    succeed(breaker)
    assert state(breaker) == "closed"


def test_failures_of_requests_that_were_under_way_do_not_lengthen_the_pause(clock: Clock) -> None:
    breaker = CircuitBreaker(clock)

    def slow_failure() -> None:
        with breaker.call():
            for _ in range(3):
                fail(breaker)
            clock.now += 1
            raise HostFailure

    with pytest.raises(HostFailure):
        slow_failure()
    assert (breaker._pause_s, breaker.wait_s) == (2.0, 1.0)


def test_one_breaker_a_host_and_port(clock: Clock) -> None:
    breakers = CircuitBreakers(clock)
    assert breakers.of("Host", 1) is breakers.of("host", 1)
    assert breakers.of("host", 1) is not breakers.of("host", 2)
    assert breakers.of("host", 1) is not breakers.of("other", 1)
