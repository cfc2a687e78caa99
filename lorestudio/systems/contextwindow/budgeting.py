"""Sharing a budget between lore, context elements and conversation (rules: context-window 12 to 14)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from lorestudio.domain.tokens import TokenCounter
from lorestudio.systems.contextwindow.selecting import MayTake, PageSelection, everything, select, select_and_fill
from lorestudio.systems.contextwindow.truncating import (
    CutList,
    Cutting,
    Method,
    cut_elements,
    cut_turns,
    effective,
    half,
    truncated,
)
from lorestudio.systems.contextwindow.window import ContextWindow

ELEMENTS: Final = "elements"
TURNS: Final = "turns"
LORE: Final = "lore"


@dataclass(frozen=True, slots=True)
class Sharing:
    """How the budget is shared: its size, what is cut, and who comes first."""

    budget: int
    multiplier: int = 0
    method: Method = Method.TOP
    fill: bool = False
    fill_and_split: bool = False
    preserve: bool = False
    source_compatible: bool = False


@dataclass(frozen=True, slots=True)
class PartLimit:
    """What one part may use: `limit` tokens, how that came about in words, and whether it was put to use.

    A limit of 0 or less leaves elements and turns whole.
    """

    part: str
    limit: int
    formula: str
    effective: bool = True


@dataclass(frozen=True, slots=True)
class Fitted:
    """A window after sharing, and everything that was decided. `selection` is None where nothing was looked at."""

    window: ContextWindow
    budget: int
    selection: PageSelection | None = None
    elements: CutList = field(default_factory=CutList)
    turns: CutList = field(default_factory=CutList)
    shares: tuple[PartLimit, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of everything that is left."""
        lore = self.selection.used if self.selection is not None else 0
        return lore + self.elements.tokens + self.turns.tokens

    @property
    def over(self) -> int:
        """Tokens above the budget, 0 where it is held (rules: context-window 21.2)."""
        return max(0, self.tokens - max(0, self.budget)) if self.selection is not None else 0


def fit(
    window: ContextWindow, text: str, sharing: Sharing, counter: TokenCounter, may_take: MayTake = everything
) -> Fitted:
    """Reduce the window to the budget: lore in map order, elements and turns cut (rules: context-window 12)."""
    budget = effective(sharing.budget, sharing.multiplier)
    if sharing.budget == 0:
        return Fitted(window, budget)
    if sharing.fill or sharing.fill_and_split:
        return _lore_first(window, text, sharing, budget, counter, may_take)
    return _lore_last(window, text, sharing, budget, counter, may_take)


def _lore_last(
    window: ContextWindow, text: str, sharing: Sharing, budget: int, counter: TokenCounter, may_take: MayTake
) -> Fitted:
    parts = 1 + bool(window.elements) + bool(window.history)
    share = half(budget, parts)
    formula = f"{budget} div {parts}"
    shares: list[PartLimit] = []
    rest, words = budget, str(budget)
    elements, turns = CutList(), CutList()
    if window.elements:
        elements = cut_elements(window.elements, _cutting(sharing, share, text), counter)
        shares.append(PartLimit(ELEMENTS, share, formula, share > 0))
        rest, words = rest - elements.tokens, f"{words} - {elements.tokens}"
    if window.history:
        turns = cut_turns(window.history, _cutting(sharing, share, text), counter)
        shares.append(PartLimit(TURNS, share, formula, share > 0))
        rest, words = rest - turns.tokens, f"{words} - {turns.tokens}"
    selection = select(window.lore, text, rest, counter, may_take)
    shares.append(PartLimit(LORE, rest, words))
    return _fitted(window, budget, selection, elements, turns, shares)


def _lore_first(
    window: ContextWindow, text: str, sharing: Sharing, budget: int, counter: TokenCounter, may_take: MayTake
) -> Fitted:
    if budget <= 0:
        return Fitted(window, budget)
    others = bool(window.elements or window.history)
    split = sharing.fill_and_split and others
    limit = half(budget) if split else budget
    shares = [PartLimit(LORE, limit, f"{budget} div 2" if split else str(budget))]
    selection = select_and_fill(window.lore, text, limit, counter, may_take)
    rest = budget - selection.used
    words = f"{budget} - {selection.used}"
    both = bool(window.elements and window.history) and rest > 0
    first = half(rest) if both else max(0, rest)
    second = rest - first if both else max(0, rest)
    elements = cut_elements(window.elements, _cutting(sharing, first, text), counter)
    turns = cut_turns(window.history, _cutting(sharing, second, text), counter)
    if window.elements:
        shares.append(PartLimit(ELEMENTS, first, f"({words}) div 2" if both else words, first > 0))
    if window.history:
        shares.append(PartLimit(TURNS, second, f"{words} - {first}" if both else words, second > 0))
    return _fitted(window, budget, selection, elements, turns, shares)


def _fitted(
    window: ContextWindow,
    budget: int,
    selection: PageSelection,
    elements: CutList,
    turns: CutList,
    shares: list[PartLimit],
) -> Fitted:
    chosen = set(selection.selected)
    after = replace(
        window,
        lore={key: entry for key, entry in window.lore.items() if key in chosen},
        elements=tuple(window.elements[place] for place in elements.order),
        history=tuple(window.history[place] for place in turns.order),
    )
    return Fitted(after, budget, selection, elements, turns, tuple(shares))


def combined_text(
    window: ContextWindow, text: str, sharing: Sharing, counter: TokenCounter, may_take: MayTake = everything
) -> str:
    """Lore in the order of its selection, then the elements, as one text cut to the budget (rules: context-window 13).

    The conversation is not part of it. Without a multiplier the original does not cut at all. Raises ValueError for a
    negative multiplier.
    """
    if sharing.multiplier < 0:
        raise ValueError("multiplyWindowSizeBy: a negative multiplier has no meaning here; use 0 or more.")
    keys = select(window.lore, text, sharing.budget, counter, may_take).selected
    parts = (" ".join(window.lore[key].value for key in keys), " ".join(window.elements))
    result = " ".join(part for part in parts if part.strip())
    if sharing.multiplier == 0 and sharing.source_compatible:
        return result
    multiplier = max(1, sharing.multiplier)
    return truncated(result, -(-sharing.budget // multiplier), multiplier, sharing.method, counter)


def filled(
    window: ContextWindow, text: str, budget: int, counter: TokenCounter, may_take: MayTake = everything
) -> ContextWindow:
    """The window with its lore reduced to what filling selects, as string mode does before it selects again."""
    chosen = set(select_and_fill(window.lore, text, budget, counter, may_take).selected)
    return replace(window, lore={key: entry for key, entry in window.lore.items() if key in chosen})


def select_for_conversation(
    window: ContextWindow, most: int, counter: TokenCounter, may_take: MayTake = everything
) -> PageSelection:
    """What the whole conversation brings in (rules: context-window 14)."""
    return select(window.lore, " ".join(turn.text for turn in window.history), most, counter, may_take)


def _cutting(sharing: Sharing, limit: int, text: str) -> Cutting:
    return Cutting(limit, 1, sharing.method, text, sharing.preserve, sharing.source_compatible)
