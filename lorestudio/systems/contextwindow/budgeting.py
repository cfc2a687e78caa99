"""Sharing a budget between lore, context elements and conversation (rules: context-window 12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
class Fitted:
    """A window after sharing, and everything that was decided. `selection` is None where nothing was looked at.

    `shares` are the tokens that each part may use, in the order in which that was decided; 0 or less leaves elements
    and turns whole.
    """

    window: ContextWindow
    selection: PageSelection | None = None
    elements: CutList = field(default_factory=CutList)
    turns: CutList = field(default_factory=CutList)
    shares: Mapping[str, int] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Tokens of everything that is left."""
        lore = self.selection.used if self.selection is not None else 0
        return lore + self.elements.tokens + self.turns.tokens


def fit(
    window: ContextWindow, text: str, sharing: Sharing, counter: TokenCounter, may_take: MayTake = everything
) -> Fitted:
    """Reduce the window to the budget: lore in map order, elements and turns cut (rules: context-window 12).

    What fills, takes its lore first and leaves the rest to the others; else the lore has what they leave.
    """
    budget = effective(sharing.budget, sharing.multiplier)
    fills = sharing.fill or sharing.fill_and_split
    if sharing.budget == 0 or (fills and budget <= 0):
        return Fitted(window)
    others = bool(window.elements) + bool(window.history)
    limits: tuple[int, int]
    shares: dict[str, int] = {}
    if fills:
        shares[LORE] = half(budget) if sharing.fill_and_split and others else budget
        selection = select_and_fill(window.lore, text, shares[LORE], counter, may_take)
        rest = max(0, budget - selection.used)
        limits = (half(rest), rest - half(rest)) if others > 1 else (rest, rest)
    else:
        limits = (half(budget, 1 + others),) * 2
    cuttings = [
        Cutting(limit, 1, sharing.method, text, sharing.preserve, sharing.source_compatible) for limit in limits
    ]
    elements = cut_elements(window.elements, cuttings[0], counter)
    turns = cut_turns([turn.text for turn in window.history], cuttings[1], counter)
    shares |= {ELEMENTS: limits[0]} if window.elements else {}
    shares |= {TURNS: limits[1]} if window.history else {}
    if not fills:
        shares[LORE] = budget - elements.tokens - turns.tokens
        selection = select(window.lore, text, shares[LORE], counter, may_take)
    chosen = set(selection.selected)
    after = ContextWindow(
        {key: entry for key, entry in window.lore.items() if key in chosen},
        tuple(window.elements[place] for place in elements.order),
        tuple(window.history[place] for place in turns.order),
    )
    return Fitted(after, selection, elements, turns, shares)
