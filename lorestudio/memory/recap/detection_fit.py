"""Cutting a range until its questions fit the model: first by halves, then by quarters, then message by message.

After each of the first two, the last cut is taken back, so that the range stays as long as it can be.
Source: spec: recap-memory 12.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """One step: in which phase, from which end to which."""

    phase: str
    before: int
    after: int


def fitted_end(start: int, end: int, fits: Callable[[int], bool], step: int) -> tuple[int, tuple[Cut, ...]]:
    """The last end for which `fits` is true, and the cuts that led there. It may be below `start`: nothing fits then.

    `step` is how many messages the last phase drops at a time.
    """
    cuts: list[Cut] = []
    if fits(end):
        return end, ()
    current = end
    for phase, shrunk in (("coarse", _half), ("medium", _three_quarters)):
        before = current
        while current > start and not fits(current):
            before, current = current, shrunk(start, current)
            cuts.append(Cut(phase, before, current))
        if current < before:
            cuts.append(Cut(f"{phase}, taken back", current, before))
        current = before
    while current >= start and not fits(current):
        cuts.append(Cut("fine", current, current - step))
        current -= step
    return current, tuple(cuts)


def _half(start: int, end: int) -> int:
    return start + (end - start) // 2


def _three_quarters(start: int, end: int) -> int:
    return start + (end - start) * 3 // 4
