"""Cutting a text or a list to a number of tokens: top, bottom or middle (spec: context-window 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from lorestudio.domain.tokens import TokenCounter


class Method(StrEnum):
    """What is dropped when not everything fits."""

    TOP = "TruncateTop"
    BOTTOM = "TruncateBottom"
    MIDDLE = "TruncateMiddle"


class Kept(StrEnum):
    """What became of one item of a list that was cut, and why."""

    WITHIN_LIMIT = "within limit"
    FITS = "fits"
    MISFIT_STOP = "misfit, stop"
    AFTER_STOP = "after stop"
    MISFIT_SKIPPED = "misfit, skipped"
    NO_BUDGET = "no budget left"
    KEPT_ELSEWHERE = "text kept elsewhere"


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a list: its place in the list before, its tokens, whether it is kept, and why.

    `total` is what had been kept so far in the order that items were looked at, this one included where it is kept.
    """

    place: int
    tokens: int
    kept: bool
    reason: Kept
    total: int = 0


def effective(limit: int, multiplier: int) -> int:
    """The limit in tokens; a multiplier of 0 or less is none."""
    return limit * multiplier if multiplier > 0 else limit


def half(value: int, parts: int = 2) -> int:
    """Integer division toward zero, also for negative budgets (spec: context-window 18)."""
    return value // parts if value >= 0 else -(-value // parts)


def cut(costs: Sequence[int], limit: int, method: Method) -> tuple[Item, ...]:
    """What is kept of items that cost so many tokens each, in their order; items are never cut themselves.

    Cutting in the middle can drop something though all of it would fit: each end has half of the limit.
    """
    found: dict[int, Item] = {}
    everything = range(len(costs))
    if method is Method.TOP:
        _stop_at_misfit(costs, reversed(everything), limit, found)
    elif method is Method.BOTTOM:
        _stop_at_misfit(costs, everything, limit, found)
    else:
        budget = half(limit)
        _stop_at_misfit(costs, everything, budget, found)
        first = next((place for place in everything if not found[place].kept), len(costs))
        total = 0
        for place in range(len(costs) - 1, first - 1, -1):
            fits = total + costs[place] <= budget
            total += costs[place] if fits else 0
            found[place] = Item(place, costs[place], fits, Kept.FITS if fits else Kept.MISFIT_SKIPPED, total)
    return tuple(found[place] for place in everything)


def truncated(text: str, limit: int, multiplier: int, method: Method, counter: TokenCounter) -> str:
    """The text cut at its single spaces; the pieces are counted on their own, so more than the limit may stay."""
    room = effective(limit, multiplier)
    if counter.count(text) <= room:
        return text
    pieces = text.split(" ")
    items = cut([counter.count(piece) for piece in pieces], room, method)
    return " ".join(pieces[item.place] for item in items if item.kept)


def truncated_list(
    texts: Sequence[str], limit: int, multiplier: int, method: Method, counter: TokenCounter
) -> tuple[Item, ...]:
    """What is kept of a list of texts: all of it where it fits (spec: context-window 3.2)."""
    costs, room = [counter.count(text) for text in texts], effective(limit, multiplier)
    return whole(costs) if sum(costs) <= room else cut(costs, room, method)


def whole(costs: Sequence[int]) -> tuple[Item, ...]:
    """All items kept."""
    totals = accumulate(costs)
    return tuple(
        Item(place, cost, True, Kept.WITHIN_LIMIT, total)
        for place, (cost, total) in enumerate(zip(costs, totals, strict=True))
    )


def chunks(text: str, most: int, counter: TokenCounter, overlap: int = 0) -> tuple[str, ...]:
    """The words of a text in chunks of at most `most` tokens; a word that alone is longer stands alone.

    Each later chunk begins with as many words from the end of the one before as fit into `overlap` tokens
    (spec: context-window 3.3).
    """
    if most <= 0:
        return ()
    made: list[str] = []
    for word in (word for word in text.split(" ") if word):
        if made and counter.count(f"{made[-1]} {word}") <= most:
            made[-1] = f"{made[-1]} {word}"
        else:
            made.append(word)
    for place in range(1, len(made)):
        tail = _tail(made[place - 1], overlap, counter)
        made[place] = f"{tail} {made[place]}" if tail else made[place]
    return tuple(made)


def _tail(text: str, most: int, counter: TokenCounter) -> str:
    words = text.split(" ")
    tail = ""
    for word in reversed(words):
        longer = f"{word} {tail}" if tail else word
        if counter.count(longer) > most:
            break
        tail = longer
    return tail


def _stop_at_misfit(costs: Sequence[int], order: Iterable[int], limit: int, found: dict[int, Item]) -> None:
    total, stopped = 0, False
    for place in order:
        fits = not stopped and total + costs[place] <= limit
        total += costs[place] if fits else 0
        reason = Kept.FITS if fits else Kept.AFTER_STOP if stopped else Kept.MISFIT_STOP
        stopped = stopped or not fits
        found[place] = Item(place, costs[place], fits, reason, total)
