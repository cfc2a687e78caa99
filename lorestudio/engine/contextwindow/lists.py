"""Cutting elements and turns to a limit, also with what a text mentions first (spec: context-window 10, 11)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from lorestudio.domain.tokens import TokenCounter
from lorestudio.engine.contextwindow.truncating import Item, Kept, Method, effective, truncated_list, whole
from lorestudio.engine.contextwindow.window import Turn

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

    items: tuple[Item, ...] = ()
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


def cut_turns(turns: Sequence[Turn], how: Cutting, counter: TokenCounter) -> CutList:
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
        Item(item.place, item.tokens, True, Kept.KEPT_ELSEWHERE, item.total)
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
    """What matches first, then what is left of the budget for the others (spec: context-window 10, 17 row 16).

    The original compares with the limit as it is and cuts with the multiplied one; here both are the multiplied one.
    """
    others = [place for place in range(len(texts)) if place not in set(matching)] if regular is None else regular
    limit, multiplier = (how.limit, how.multiplier) if how.source_compatible else (_whole(how), 0)
    items: dict[int, Item] = {}
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
        items.setdefault(place, Item(place, counter.count(text), False, Kept.NO_BUDGET))
    order = (*first, *second)
    return CutList(tuple(items[place] for place in range(len(texts))), order, frozenset(matching))


def _whole(how: Cutting) -> int:
    return effective(how.limit, how.multiplier)


def _places(places: Sequence[int], texts: Sequence[str], chosen: Sequence[Item], items: dict[int, Item]) -> list[int]:
    """The places of what was kept: for each text that survives the earliest place of the group that has it."""
    for item in chosen:
        place = places[item.place]
        items[place] = Item(place, item.tokens, item.kept, item.reason, item.total)
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
            reason = Kept.KEPT_ELSEWHERE
            items[place] = Item(place, item.tokens, place in kept, reason, item.total)
    return found
