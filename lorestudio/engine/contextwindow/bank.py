"""The pages of a vault and a chat, fitted to the budget of a request: what the stages of the system tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import TokenCounter
from lorestudio.engine.contextwindow.budgeting import ELEMENTS, LORE, TURNS, Sharing
from lorestudio.engine.contextwindow.mapping import HowMapped, MappedVault, Pages, PagesBy, mapped_pages, texts_of
from lorestudio.engine.contextwindow.pages import FittedPage, Paging, Strategy, fit_pages
from lorestudio.engine.contextwindow.selecting import Choice, Phase, Selection
from lorestudio.engine.contextwindow.truncating import Method
from lorestudio.engine.systems import Moment
from lorestudio.settings.contextwindow import ContextWindowSettings


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the vault made it, and what became of it."""

    vault: MappedVault
    fit: FittedPage

    @property
    def name(self) -> str:
        """What it is called."""
        return self.vault.name

    @property
    def selection(self) -> Selection:
        """What was selected; nothing where the page was left whole."""
        return self.fit.fitted.selection or Selection()

    @property
    def lore(self) -> tuple[Entry, ...]:
        """The entries that are left, in their order on the page."""
        return tuple(self.vault.entries[key] for key in self.fit.fitted.window.lore)

    @property
    def elements(self) -> tuple[Entry, ...]:
        """The context elements that are left, in their order."""
        if self.fit.is_whole:
            return self.vault.elements
        return tuple(self.vault.elements[place] for place in self.fit.fitted.elements.order)

    def entry(self, key: str) -> Entry:
        """The note behind a key of the page."""
        return self.vault.entries[key]

    def choices(self, which: Phase) -> tuple[Choice, ...]:
        """What was decided about entries in one of the passes."""
        return tuple(choice for choice in self.selection.choices if choice.phase is which)

    def limit(self, part: str) -> int:
        """The tokens that a part may use, 0 where it has no share."""
        return next((share.limit for share in self.fit.fitted.shares if share.part == part), 0)

    def used(self, part: str) -> int:
        """The tokens that a part uses."""
        fitted = self.fit.fitted
        return {LORE: self.selection.used, ELEMENTS: fitted.elements.tokens, TURNS: fitted.turns.tokens}[part]

    def passthrough_words(self, entry: Entry) -> list[Json]:
        """The words that let a note through its lock."""
        return list(texts_of(entry.system_fields.get("cw_passthrough"), ()))


def fitted_pages(
    moment: Moment, settings: ContextWindowSettings, text: str, budget: int, counter: TokenCounter
) -> tuple[Page, ...]:
    """The pages of a moment, fitted. Raises ValueError where a setting cannot be read."""
    how = HowMapped(text, settings.with_conversation, pages_of(settings), settings.source_compatible)
    vaults = mapped_pages(moment.index, moment.chat, moment.controls, how)
    locks = {vault.name: vault.locks for vault in vaults}
    sharing = Sharing(
        budget,
        settings.multiply_window_size_by,
        Method(settings.truncate_method),
        settings.fill_mode,
        settings.fill_and_split_mode,
        settings.preserve_text_matches,
        settings.source_compatible,
    )
    windows = {vault.name: vault.window for vault in vaults}
    fits = fit_pages(windows, text, sharing, counter, paging_of(settings), lambda name: locks[name].may_take(name))
    return tuple(Page(vault, fit) for vault, fit in zip(vaults, fits, strict=True))


def pages_of(settings: ContextWindowSettings) -> Pages:
    """How settings spread notes over pages."""
    main = settings.main_page.strip() or Pages().main
    locked = frozenset(names(settings.locked_pages))
    return Pages(PagesBy(settings.pages_by), main, names(settings.page_order), locked)


def paging_of(settings: ContextWindowSettings) -> Paging:
    """How settings split the budget between pages. Raises ValueError for weights that cannot be read."""
    strategy = Strategy(settings.multi_page_budget_strategy)
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


def names(text: str) -> tuple[str, ...]:
    """The parts of a text with commas, without blank ones."""
    return tuple(part for each in text.split(",") if (part := each.strip()))


def budget_of(settings: ContextWindowSettings, context_size: int, text: str, counter: TokenCounter) -> int:
    """The budget of a request (spec: context-window 16); a prompt of unknown size is measured by its text."""
    if not settings.budget_from_context:
        return settings.total_token_budget
    size = context_size or settings.total_token_budget
    prompt = settings.user_prompt_size or counter.count(text)
    return max(0, size - settings.max_tokens - settings.reasoning_budget - prompt)
