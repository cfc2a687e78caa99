"""Cutting a text or a list to a number of tokens: top, bottom or middle (rules: context-window 3).

Cutting elements and turns to a limit, also with what a text mentions first (rules: context-window 10, 11).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from typing import Final

from lorestudio.domain.tokens import TokenCounter
from lorestudio.systems.contextwindow.window import WindowTurn


class Method(StrEnum):
    """What is dropped when not everything fits."""

    TOP = "TruncateTop"
    BOTTOM = "TruncateBottom"
    MIDDLE = "TruncateMiddle"


class CutReason(StrEnum):
    """What became of one item of a list that was cut, and why."""

    WITHIN_LIMIT = "within limit"
    FITS = "fits"
    MISFIT_STOP = "misfit, stop"
    AFTER_STOP = "after stop"
    MISFIT_SKIPPED = "misfit, skipped"
    NO_BUDGET = "no budget left"
    KEPT_ELSEWHERE = "text kept elsewhere"


@dataclass(frozen=True, slots=True)
class CutItem:
    """One item of a list: its place in the list before, its tokens, whether it is kept, and why.

    `total` is what had been kept so far in the order that items were looked at, this one included where it is kept.
    """

    place: int
    tokens: int
    kept: bool
    reason: CutReason
    total: int = 0


def effective(limit: int, multiplier: int) -> int:
    """The limit in tokens; a multiplier of 0 or less is none."""
    return limit * multiplier if multiplier > 0 else limit


def half(value: int, parts: int = 2) -> int:
    """Integer division toward zero, also for negative budgets (rules: context-window 18)."""
    return value // parts if value >= 0 else -(-value // parts)


def cut(costs: Sequence[int], limit: int, method: Method) -> tuple[CutItem, ...]:
    """What is kept of items that cost so many tokens each, in their order; items are never cut themselves.

    Cutting in the middle can drop something though all of it would fit: each end has half of the limit.
    """
    found: dict[int, CutItem] = {}
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
            found[place] = CutItem(
                place, costs[place], fits, CutReason.FITS if fits else CutReason.MISFIT_SKIPPED, total
            )
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
) -> tuple[CutItem, ...]:
    """What is kept of a list of texts: all of it where it fits (rules: context-window 3.2)."""
    costs, room = [counter.count(text) for text in texts], effective(limit, multiplier)
    return whole(costs) if sum(costs) <= room else cut(costs, room, method)


def whole(costs: Sequence[int]) -> tuple[CutItem, ...]:
    """All items kept."""
    totals = accumulate(costs)
    return tuple(
        CutItem(place, cost, True, CutReason.WITHIN_LIMIT, total)
        for place, (cost, total) in enumerate(zip(costs, totals, strict=True))
    )


def chunks(text: str, most: int, counter: TokenCounter, overlap: int = 0) -> tuple[str, ...]:
    """The words of a text in chunks of at most `most` tokens; a word that alone is longer stands alone.

    Each later chunk begins with as many words from the end of the one before as fit into `overlap` tokens
    (rules: context-window 3.3).
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


def _stop_at_misfit(costs: Sequence[int], order: Iterable[int], limit: int, found: dict[int, CutItem]) -> None:
    total, stopped = 0, False
    for place in order:
        fits = not stopped and total + costs[place] <= limit
        total += costs[place] if fits else 0
        reason = CutReason.FITS if fits else CutReason.AFTER_STOP if stopped else CutReason.MISFIT_STOP
        stopped = stopped or not fits
        found[place] = CutItem(place, costs[place], fits, reason, total)


_NO_WORD: Final = re.compile("[^A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Cutting:
    """How a list is cut. `text` with `preserve`: what shares a word with it is kept before all others."""

    limit: int
    multiplier: int = 0
    method: Method = Method.TOP
    text: str = ""
    preserve: bool = False
    source_compatible: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the text, in lower case: runs of unaccented letters, digits and underscores."""
        return tuple(word for word in _NO_WORD.split(self.text.lower()) if word) if self.preserve else ()


@dataclass(frozen=True, slots=True)
class CutList:
    """What became of a list: `items` by place in the list before, `order` the places kept, as they stand now.

    `matching` are the places that share a word with the text. `changed` is false where nothing was looked at.
    """

    items: tuple[CutItem, ...] = ()
    order: tuple[int, ...] = ()
    matching: frozenset[int] = field(default_factory=frozenset)
    changed: bool = True

    @property
    def tokens(self) -> int:
        """Tokens of what is kept."""
        costs = {item.place: item.tokens for item in self.items}
        return sum(costs[place] for place in self.order)


def cut_elements(elements: Sequence[str], how: Cutting, counter: TokenCounter) -> CutList:
    """Which elements stay; all of them where the limit is 0 or less."""
    if how.limit <= 0:
        return _untouched(elements, counter)
    words = how.words
    if words and elements:
        return _preserving(elements, _matching(elements, words), how, counter)
    return _plain(elements, how, counter)


def cut_turns(turns: Sequence[WindowTurn], how: Cutting, counter: TokenCounter) -> CutList:
    """Which turns stay. Without words to preserve, a turn stays as soon as one of the same text does."""
    texts = [turn.text for turn in turns]
    if how.limit <= 0:
        return _untouched(texts, counter)
    words = how.words
    if words and texts:
        matching = _matching(texts, words)
        ids = {turns[place].uuid for place in matching}
        regular = [place for place, turn in enumerate(turns) if turn.uuid not in ids]
        return _preserving(texts, matching, how, counter, regular)
    cut = _plain(texts, how, counter)
    surviving = {texts[place] for place in cut.order}
    items = tuple(
        CutItem(item.place, item.tokens, True, CutReason.KEPT_ELSEWHERE, item.total)
        if not item.kept and texts[item.place] in surviving
        else item
        for item in cut.items
    )
    return CutList(items, tuple(item.place for item in items if item.kept))


def _matching(texts: Sequence[str], words: Sequence[str]) -> list[int]:
    lowered = [text.lower() for text in texts]
    return [place for place, text in enumerate(lowered) if any(word in text for word in words)]


def _untouched(texts: Sequence[str], counter: TokenCounter) -> CutList:
    return CutList(whole([counter.count(text) for text in texts]), tuple(range(len(texts))), changed=False)


def _plain(texts: Sequence[str], how: Cutting, counter: TokenCounter) -> CutList:
    items = truncated_list(texts, how.limit, how.multiplier, how.method, counter)
    return CutList(items, tuple(item.place for item in items if item.kept))


def _preserving(
    texts: Sequence[str],
    matching: Sequence[int],
    how: Cutting,
    counter: TokenCounter,
    regular: Sequence[int] | None = None,
) -> CutList:
    """What matches first, then what is left of the budget for the others (rules: context-window 10, 17 row 16).

    The original compares with the limit as it is and cuts with the multiplied one; here both are the multiplied one.
    """
    others = [place for place in range(len(texts)) if place not in set(matching)] if regular is None else regular
    limit, multiplier = (how.limit, how.multiplier) if how.source_compatible else (_whole(how), 0)
    items: dict[int, CutItem] = {}
    costs = {place: counter.count(texts[place]) for place in (*matching, *others)}
    total = sum(costs[place] for place in matching)
    group = [texts[place] for place in matching]
    fits = total <= limit
    chosen = truncated_list(group, limit, 0 if fits else multiplier, how.method, counter)
    first = _places(matching, group, chosen, items)
    remaining = limit - sum(costs[place] for place in first)
    second: list[int] = []
    if remaining > 0 and others:
        rest = [texts[place] for place in others]
        second = _places(others, rest, truncated_list(rest, remaining, multiplier, how.method, counter), items)
    for place, text in enumerate(texts):
        items.setdefault(place, CutItem(place, counter.count(text), False, CutReason.NO_BUDGET))
    order = (*first, *second)
    return CutList(tuple(items[place] for place in range(len(texts))), order, frozenset(matching))


def _whole(how: Cutting) -> int:
    return effective(how.limit, how.multiplier)


def _places(
    places: Sequence[int], texts: Sequence[str], chosen: Sequence[CutItem], items: dict[int, CutItem]
) -> list[int]:
    """The places of what was kept: for each text that survives the earliest place of the group that has it."""
    for item in chosen:
        place = places[item.place]
        items[place] = CutItem(place, item.tokens, item.kept, item.reason, item.total)
    free = list(places)
    found = []
    for item in chosen:
        if item.kept:
            text = texts[item.place]
            place = next(place for place in free if texts[places.index(place)] == text)
            free.remove(place)
            found.append(place)
    kept = set(found)
    for item in chosen:
        place = places[item.place]
        if (place in kept) is not item.kept:  # another place of the same text stays instead
            reason = CutReason.KEPT_ELSEWHERE
            items[place] = CutItem(place, item.tokens, place in kept, reason, item.total)
    return found
