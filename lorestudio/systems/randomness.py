"""The random numbers of a run: repeatable, and each of them on record."""

from __future__ import annotations

_MASK = 0xFFFFFFFF


class Mulberry32:
    """A stream of numbers in [0, 1) from a 32-bit state, the one that the recorded runs use (rules: scenario-format 4).

    `state` may be stored and given to a new stream, which then goes on where this one stopped.
    """

    def __init__(self, state: int) -> None:
        self.state = state & _MASK

    def next(self) -> float:
        """The next number of the stream."""
        self.state = (self.state + 0x6D2B79F5) & _MASK
        word = self.state
        mixed = ((word ^ (word >> 15)) * (1 | word)) & _MASK
        mixed = (((mixed + ((mixed ^ (mixed >> 7)) * (61 | mixed))) & _MASK) ^ mixed) & _MASK
        return (mixed ^ (mixed >> 14)) / 2**32
