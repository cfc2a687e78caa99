from __future__ import annotations

import pytest

from lorestudio.studio.replay.ranges import Pace, time_left_words


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def paced(*steps: tuple[float, int]) -> tuple[Pace, Clock]:
    """A pace after steps of (seconds that passed, how many were done by then)."""
    clock = Clock()
    pace = Pace(clock)
    for seconds, done in steps:
        clock.now += seconds
        pace.note(done)
    return pace, clock


def test_nothing_is_said_before_a_second_has_passed() -> None:
    pace, clock = paced((0.5, 5))
    assert pace.left(100) is None
    clock.now += 0.5
    assert pace.left(100) is not None


def test_nothing_is_said_before_anything_is_done() -> None:
    pace, clock = paced()
    clock.now += 60
    assert pace.left(10) is None


def test_a_steady_pace() -> None:
    pace, _ = paced(*((0.5, done) for done in range(1, 11)))
    assert pace.left(20) == pytest.approx(10)


def test_a_new_pace_is_learnt_smoothly() -> None:
    slow = [(1.0, done) for done in range(1, 11)]
    fast = [(0.1, done) for done in range(11, 21)]
    before, _ = paced(*slow)
    shortly, _ = paced(*slow, *fast[:1])
    later, _ = paced(*slow, *fast, *((0.1, done) for done in range(21, 200)))
    assert before.left(10) == pytest.approx(10)
    assert 9 < shortly.left(10) < 10
    assert 1 <= later.left(10) < 1.5


def test_the_step_under_way_counts_and_the_rest_never_grows_while_nothing_is_heard() -> None:
    pace, clock = paced((2, 1), (2, 2))
    first = pace.left(5)
    clock.now += 1
    assert pace.left(5) == pytest.approx(first - 1)
    clock.now += 60  # it takes longer than the others: at least the others are still to come
    assert pace.left(5) == pytest.approx(first - 2)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0, "a few seconds left"),
        (2.9, "a few seconds left"),
        (6.2, "about 7 s left"),
        (36, "about 40 s left"),
        (59.9, "about 60 s left"),
        (61, "about 2 min left"),
        (3540, "about 59 min left"),
        (3700, "about 1 h 5 min left"),
        (7200, "about 2 h left"),
    ],
)
def test_words(seconds: float | None, words: str) -> None:
    assert time_left_words(seconds) == words
