"""The least of ordered steps that is enough, found by trying as few of them as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Step = TypeVar("Step")
Result = TypeVar("Result")


def smallest(steps: Sequence[Step], attempt: Callable[[Step], Result | None]) -> tuple[int, Result] | None:
    """The place of a step that works, with what came of it; the step before it, if there is one, does not work.

    `attempt` gives None for a step that is not enough. Strides double until one works, then the gap is halved, so for
    n steps it is asked about 2 log n times. Where more is not always better there may be a smaller one that works too.
    None where nothing that was tried works; the first and the last step always are.
    """
    failed, stride = -1, 1
    while failed < len(steps) - 1:
        place = min(failed + stride, len(steps) - 1)
        result = attempt(steps[place])
        if result is not None:
            return _halve(steps, attempt, failed, place, result)
        failed, stride = place, 2 * stride
    return None


def _halve(
    steps: Sequence[Step], attempt: Callable[[Step], Result | None], failed: int, works: int, result: Result
) -> tuple[int, Result]:
    while works - failed > 1:
        middle = (failed + works) // 2
        tried = attempt(steps[middle])
        if tried is None:
            failed = middle
        else:
            works, result = middle, tried
    return works, result
