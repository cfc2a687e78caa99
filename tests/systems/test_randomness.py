"""The random stream against its published definition and the recorded draws (rules: scenario-format 4)."""

from __future__ import annotations

import pytest

from lorestudio.systems.randomness import Mulberry32
from tests.golden.compare import Case, read_cases
from tests.golden.files import GOLDEN_DEV

DRAWING = [case for case in read_cases(GOLDEN_DEV) if any("rng" in one for one in case.expected["generations"])]


def reference(seed: int, count: int) -> list[float]:
    """Mulberry32 written with signed 32-bit steps, as the format describes it."""

    def int32(value: int) -> int:
        return (value + 2**31) % 2**32 - 2**31

    def uint32(value: int) -> int:
        return value % 2**32

    a, numbers = int32(seed), []
    for _ in range(count):
        a = int32(a + 0x6D2B79F5)
        t = int32(int32(a ^ uint32(a) >> 15) * int32(1 | a))
        t = int32(t + int32(int32(t ^ uint32(t) >> 7) * int32(61 | t))) ^ t
        numbers.append(uint32(t ^ uint32(t) >> 14) / 4294967296)
    return numbers


def stream(seed: int, count: int) -> list[float]:
    source = Mulberry32(seed)
    return [source.next() for _ in range(count)]


@pytest.mark.parametrize("seed", [0, 1, 42, 2**31 - 1, 2**31, 2**32 - 1, 0x92D68A0B])
def test_the_stream_is_the_documented_one(seed: int) -> None:
    assert stream(seed, 500) == reference(seed, 500)


def test_there_are_recorded_draws() -> None:
    assert len(DRAWING) > 50


@pytest.mark.parametrize("case", DRAWING, ids=lambda case: case.id)
def test_recorded_draws_are_the_stream_of_the_seed(case: Case) -> None:
    drawn = [roll for generation in case.expected["generations"] for roll in generation.get("rng", ())]
    assert drawn == stream(case.scenario["rng_seed"], len(drawn))


def test_a_stored_state_goes_on_where_the_stream_stopped() -> None:
    first = Mulberry32(7)
    begun = [first.next() for _ in range(3)]
    second = Mulberry32(first.state)
    assert begun + [second.next() for _ in range(3)] == stream(7, 6)
