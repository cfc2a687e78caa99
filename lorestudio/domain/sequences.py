"""What two sequences have in common at their ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import eq
from typing import TypeVar

_Item = TypeVar("_Item")


def same_start(one: Sequence[_Item], other: Sequence[_Item], same: Callable[[_Item, _Item], bool] = eq) -> int:
    """How many items at the start are the same in both; an item is always the same as itself."""
    pairs = enumerate(zip(one, other, strict=False))
    differing = (place for place, (mine, yours) in pairs if mine is not yours and not same(mine, yours))
    return next(differing, min(len(one), len(other)))


def same_ends(
    one: Sequence[_Item], other: Sequence[_Item], same: Callable[[_Item, _Item], bool] = eq
) -> tuple[int, int]:
    """How many items at the start, and of the rest how many at the end, are the same in both."""
    head = same_start(one, other, same)
    return head, same_start(one[head:][::-1], other[head:][::-1], same)
