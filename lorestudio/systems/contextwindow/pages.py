"""The pages of a vault and a chat under one budget: each is fitted to what it may use (rules: context-window 16).

A page is a window of its own: links, requirements and locks stay within it, and so does the sharing between lore,
context elements and conversation (rules: context-window 12). The stages of the system tell what comes of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

from msgspec import Struct, field
from msgspec.json import format as laid_out

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import added
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import TokenCounter
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.contextwindow.mapping import (
    ContextWindow,
    KnownBook,
    MappedVault,
    mapped_pages,
    names,
    window_to_json,
)
from lorestudio.systems.contextwindow.selecting import (
    CandidateFate,
    MayTake,
    PageSelection,
    SelectionPhase,
    everything,
    select,
    select_and_fill,
)
from lorestudio.systems.contextwindow.tokens import (
    CountTokens,
    CutList,
    Cutting,
    Method,
    cut_elements,
    cut_turns,
    effective,
    half,
)
from lorestudio.systems.known import Known

ELEMENTS: Final = "elements"
TURNS: Final = "turns"
LORE: Final = "lore"

MOST_COUNTS: Final = 65_536
"""The tokens of so many turns are remembered from one reply to the next."""


class Sharing(Struct, frozen=True):
    """How the budget is shared: its size, what is cut, and who comes first."""

    budget: int
    multiplier: int = 0
    method: Method = Method.TOP
    fill: bool = False
    fill_and_split: bool = False
    preserve: bool = False
    source_compatible: bool = False


class Fitted(Struct, frozen=True):
    """A window after sharing, and everything that was decided. `selection` is None where nothing was looked at.

    `shares` are the tokens that each part may use, in the order in which that was decided; 0 or less leaves elements
    and turns whole.
    """

    window: ContextWindow
    selection: PageSelection | None = None
    elements: CutList = field(default_factory=CutList)
    turns: CutList = field(default_factory=CutList)
    shares: Mapping[str, int] = {}

    @property
    def tokens(self) -> int:
        """Tokens of everything that is left."""
        lore = self.selection.used if self.selection is not None else 0
        return lore + self.elements.tokens + self.turns.tokens


def fit(
    window: ContextWindow,
    text: str,
    sharing: Sharing,
    counter: TokenCounter,
    may_take: MayTake = everything,
    known: CountTokens | None = None,
) -> Fitted:
    """Reduce the window to the budget: lore in map order, elements and turns cut (rules: context-window 12).

    What fills, takes its lore first and leaves the rest to the others; else the lore has what they leave. `known`
    counts turns.
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
    turns = cut_turns([turn.text for turn in window.history], cuttings[1], counter, known)
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


ROUNDS: Final = 3
"""So often what nobody uses is handed out by need; what is left then goes out token by token."""


class PageStrategy(StrEnum):
    """How pages share a budget, by the names that settings have for it."""

    EQUAL_SPLIT = "EQUAL_SPLIT"
    WEIGHTED_SPLIT = "WEIGHTED_SPLIT"
    PRIORITY_FILL = "PRIORITY_FILL"
    DYNAMIC_FILL = "DYNAMIC_FILL"
    DYNAMIC_SIZE_FILL = "DYNAMIC_SIZE_FILL"


class Paging(Struct, frozen=True):
    """How the budget is split between pages. A page without a weight has the weight 0."""

    strategy: PageStrategy = PageStrategy.DYNAMIC_SIZE_FILL
    weights: Mapping[str, float] = {}
    reserve_empty: bool = True


class LorePage(Struct, frozen=True):
    """A page as the vault made it and what became of it: its `size` before, its `budget`, and what was decided.

    `size` is 0 where there is only one page, which has the whole budget without being measured. A page whose budget
    is 0 is left whole; `whole` are its tokens then.
    """

    vault: MappedVault
    fitted: Fitted
    size: int
    budget: int
    whole: int = 0

    @property
    def name(self) -> str:
        """What it is called."""
        return self.vault.name

    @property
    def is_whole(self) -> bool:
        """Whether the page was left as it is."""
        return self.fitted.selection is None

    @property
    def tokens(self) -> int:
        """Tokens of what is left of the page."""
        return self.whole if self.is_whole else self.fitted.tokens

    @property
    def selection(self) -> PageSelection:
        """What was selected; nothing where the page was left whole."""
        return self.fitted.selection or PageSelection()

    @property
    def lore(self) -> tuple[Entry, ...]:
        """The entries that are left, in their order on the page."""
        return tuple(self.vault.entries[key] for key in self.fitted.window.lore)

    @property
    def elements(self) -> tuple[Entry, ...]:
        """The context elements that are left, in their order."""
        if self.is_whole:
            return self.vault.elements
        return tuple(self.vault.elements[place] for place in self.fitted.elements.order)

    def entry(self, key: str) -> Entry:
        """The note behind a key of the page."""
        return self.vault.entries[key]

    def choices(self, which: SelectionPhase) -> tuple[CandidateFate, ...]:
        """What was decided about entries in one of the passes."""
        return tuple(choice for choice in self.selection.choices if choice.phase is which)

    def used(self, part: str) -> int:
        """The tokens that a part uses."""
        fitted = self.fitted
        return {LORE: self.selection.used, ELEMENTS: fitted.elements.tokens, TURNS: fitted.turns.tokens}[part]


def fit_pages(
    vaults: Sequence[MappedVault],
    text: str,
    sharing: Sharing,
    counter: TokenCounter,
    paging: Paging,
    known: CountTokens | None = None,
) -> tuple[LorePage, ...]:
    """Reduce every page to its share, in their order. `known` counts turns.

    The original does not pass “fill half” on where there are several pages (rules: context-window 16).
    """
    if len(vaults) == 1:
        sizes, budgets = [0], [sharing.budget]
    else:
        sizes, budgets = _shares(vaults, sharing, counter, paging)
        if sharing.source_compatible:
            sharing = replace(sharing, fill_and_split=False)
    found = []
    for vault, size, budget in zip(vaults, sizes, budgets, strict=True):
        fitted = fit(vault.window, text, replace(sharing, budget=budget), counter, vault.locks.may_take, known)
        whole = content_tokens(vault.window, counter) if fitted.selection is None else 0
        found.append(LorePage(vault, fitted, size, budget, whole))
    return tuple(found)


def page_size(window: ContextWindow, counter: TokenCounter) -> int:
    """Tokens of the window's JSON as it is laid out for reading: names of fields count, too.

    Without a conversation that is known from one reply to the next.
    """
    book = window.lore
    if isinstance(book, KnownBook) and not window.history:
        return book.found.of(book, (window.elements, counter.identity), lambda: _page_size(window, counter))
    return _page_size(window, counter)


def _page_size(window: ContextWindow, counter: TokenCounter) -> int:
    compact = json.dumps(window_to_json(window), ensure_ascii=False).encode("utf-8", "surrogatepass")
    # Python's own takes several times as long to lay a long chat out.
    return counter.count(laid_out(compact, indent=4).decode("utf-8", "surrogatepass"))


def content_tokens(window: ContextWindow, counter: TokenCounter) -> int:
    """Tokens of all that a window holds."""
    texts = (
        *(entry.value for entry in window.lore.values()),
        *window.elements,
        *(turn.text for turn in window.history),
    )
    return sum(counter.count(text) for text in texts)


def allocated(
    total: int,
    sizes: Sequence[int],
    strategy: PageStrategy,
    weights: Sequence[float],
    used: Callable[[int, int], int],
    *,
    overcommit: bool = False,
) -> tuple[int, ...]:
    """What each page may use of `total` tokens. `used(place, limit)` is how much of a limit a page puts to use.

    The dynamic strategies hand out again what a page does not use; with `overcommit` the page keeps it all the same,
    so that the sum may exceed the total.
    """
    if total <= 0 or not sizes:
        return (0,) * len(sizes)
    if strategy is PageStrategy.EQUAL_SPLIT:
        return _equal(total, len(sizes))
    if strategy is PageStrategy.WEIGHTED_SPLIT:
        return _weighted(total, weights)
    order = list(range(len(sizes)))
    if strategy is PageStrategy.DYNAMIC_SIZE_FILL:
        order.sort(key=lambda place: sizes[place])
    given = _in_order(total, sizes, order)
    if strategy is PageStrategy.PRIORITY_FILL:
        return tuple(given)
    wanted, unused = list(sizes), 0
    for place, limit in enumerate(given):
        idle = limit - min(limit, max(0, used(place, limit))) if limit > 0 else 0
        unused += idle
        if idle and not overcommit:
            wanted[place] = given[place] = limit - idle
    return redistributed(given, wanted, unused)


def redistributed(given: Sequence[int], sizes: Sequence[int], unused: int) -> tuple[int, ...]:
    """What pages may use once `unused` tokens have gone to those that need more, the largest need first."""
    result = list(given)
    for _ in range(ROUNDS):
        needs = _needs(result, sizes)
        if unused <= 0 or not needs:
            break
        total, available = sum(needs.values()), unused
        for place, need in needs.items():
            extra = min(available * need // total, need, unused)
            result[place] += extra
            unused -= extra
    while unused > 0 and (needs := _needs(result, sizes)):
        result[next(iter(needs))] += 1
        unused -= 1
    return tuple(result)


def _needs(given: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    """How much more each page could use, the largest need first."""
    needs = {place: size - given[place] for place, size in enumerate(sizes) if size > given[place]}
    return dict(sorted(needs.items(), key=lambda item: -item[1]))


def _equal(total: int, count: int) -> tuple[int, ...]:
    share, left = divmod(total, count)
    return tuple(share + (place < left) for place in range(count))


def _weighted(total: int, weights: Sequence[float]) -> tuple[int, ...]:
    whole = added(weights)
    if whole <= 0 or any(weight < 0 for weight in weights):
        return _equal(total, len(weights))
    shares = [int(total * weight / whole) for weight in weights]
    left = total - sum(shares)
    return tuple(share + (place < left) for place, share in enumerate(shares))


def _in_order(total: int, sizes: Sequence[int], order: Sequence[int]) -> list[int]:
    given = [0] * len(sizes)
    for place in order:
        given[place] = min(sizes[place], total)
        total -= given[place]
    return given


def _shares(
    vaults: Sequence[MappedVault], sharing: Sharing, counter: TokenCounter, paging: Paging
) -> tuple[list[int], list[int]]:
    """Size and budget of every page."""
    sizes = [page_size(vault.window, counter) for vault in vaults]
    taking = [place for place, vault in enumerate(vaults) if paging.reserve_empty or not vault.window.is_empty]
    budgets = [0] * len(vaults)

    def used(place: int, limit: int) -> int:
        """The size after a trial without a text. Lore, which only a text brings in, keeps its room."""
        window = vaults[taking[place]].window
        trial = fit(window, "", Sharing(limit, sharing.multiplier, Method.TOP), counter).window
        size = page_size(trial, counter)
        if sharing.source_compatible:
            return size
        return size + page_size(replace(window, elements=(), history=()), counter) if window.lore else size

    full = [sizes[place] for place in taking]
    weights = [paging.weights.get(vaults[place].name, 0) for place in taking]
    given = allocated(sharing.budget, full, paging.strategy, weights, used, overcommit=sharing.source_compatible)
    for place, budget in zip(taking, given, strict=True):
        budgets[place] = budget
    return sizes, budgets


def fitted_pages(
    moment: Moment, settings: ContextWindowSettings, text: str, budget: int, counter: TokenCounter, known: Known
) -> tuple[LorePage, ...]:
    """The pages of a moment, fitted. Raises ValueError where a setting cannot be read."""
    sharing = Sharing(
        budget,
        settings.multiply_window_size_by,
        Method(settings.truncate_method),
        settings.fill_mode,
        settings.fill_and_split_mode,
        settings.preserve_text_matches,
        settings.source_compatible,
    )
    pages, paging = mapped_pages(moment, settings, text, known), paging_of(settings)
    turns = known.of(moment.index, ("counts", counter.identity), lambda: lru_cache(MOST_COUNTS)(counter.count))
    return fit_pages(pages, text, sharing, counter, paging, turns)


def paging_of(settings: ContextWindowSettings) -> Paging:
    """How settings split the budget between pages. Raises ValueError for weights that cannot be read."""
    strategy = PageStrategy(settings.multi_page_budget_strategy)
    return Paging(strategy, weights_of(settings.page_weights), settings.reserve_empty_page_budget)


def weights_of(text: str) -> Mapping[str, float]:
    """The weights in a text such as `places=2, people=1`. Raises ValueError naming the part that is none."""
    found: dict[str, float] = {}
    for part in names(text):
        name, equals, value = part.rpartition("=")
        try:
            weight = float(value)
        except ValueError:
            weight = float("nan")
        if not equals or not name.strip() or not abs(weight) < 2**31:
            raise ValueError(f"“{part}” is no weight of a page. Write page=number, as in places=2, people=1.")
        found[name.strip()] = weight
    return found


def budget_of(settings: ContextWindowSettings, context_size: int, text: str, counter: TokenCounter) -> int:
    """The budget of a request (rules: context-window 16); a prompt of unknown size is measured by its text."""
    if not settings.budget_from_context:
        return settings.total_token_budget
    size = context_size or settings.total_token_budget
    prompt = settings.user_prompt_size or counter.count(text)
    return max(0, size - settings.max_tokens - settings.reasoning_budget - prompt)
