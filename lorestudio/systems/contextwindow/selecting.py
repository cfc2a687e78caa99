"""Which entries of a lorebook a text brings in, step by step (rules: context-window 5 to 7)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from lorestudio.domain.records import replace
from lorestudio.domain.tokens import TokenCounter
from lorestudio.systems.contextwindow.mapping import KnownBook, LoreBook, LoreEntry, triggers

MayTake = Callable[[str], bool]
"""Whether no lock refuses the entry of this key."""


def everything(_key: str) -> bool:
    """No lock refuses anything."""
    return True


class Match(Struct, frozen=True):
    """An entry that the text mentions: by which trigger, and how often in all."""

    key: str
    trigger: str
    occurrences: int


class PageLink(Struct, frozen=True):
    """A link that was followed: `new` where it brought its target in."""

    source: str
    target: str
    new: bool


class SelectionPhase(StrEnum):
    """Which pass a choice belongs to."""

    PRIORITY = "priority"
    FILL = "fill"


class Refusal(StrEnum):
    """Why a candidate was not taken."""

    DOES_NOT_FIT = "does not fit"
    REQUIREMENT = "requirement not selected"
    NOT_EXAMINED = "budget full, not examined"


class CandidateFate(Struct, frozen=True):
    """What became of one candidate: its cost, what was used before it, and why it was refused."""

    key: str
    phase: SelectionPhase
    cost: int
    used: int
    limit: int
    refusal: Refusal | None = None

    @property
    def taken(self) -> bool:
        """Whether it goes in."""
        return self.refusal is None


class PageSelection(Struct, frozen=True):
    """Everything that selecting decided, each list in the order in which it was decided.

    `dependants` came in because everything they require is there; `ineligible` lack a requirement, by name; `locked`
    are refused by a lock.
    """

    matches: tuple[Match, ...] = ()
    links: tuple[PageLink, ...] = ()
    dependants: tuple[str, ...] = ()
    ineligible: Mapping[str, tuple[str, ...]] = {}
    locked: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    choices: tuple[CandidateFate, ...] = ()

    @property
    def selected(self) -> tuple[str, ...]:
        """The keys taken, in the order they were taken."""
        return tuple(choice.key for choice in self.choices if choice.taken)

    @property
    def used(self) -> int:
        """Tokens of the values taken."""
        return sum(choice.cost for choice in self.choices if choice.taken)


def matches(book: LoreBook, text: str) -> tuple[Match, ...]:
    """The entries whose key or an alias occurs anywhere in the text, without case and word ends, in map order."""

    def found() -> tuple[Match, ...]:
        lowered, keys = text.lower(), [*book]
        groups = book.triggers if isinstance(book, KnownBook) else triggers(book)
        near = (keys[place] for place in groups.near(lowered))
        every = (_match(key, book[key], lowered) for key in near)
        return tuple(match for match in every if match is not None)

    return book.found.of(book, text, found) if isinstance(book, KnownBook) else found()


def select(
    book: LoreBook, text: str, most: int, counter: TokenCounter, may_take: MayTake = everything
) -> PageSelection:
    """Which entries go in with at most `most` tokens: one that does not fit is passed over
    (rules: context-window 6).
    """
    found = matches(book, text)
    refused = {match.key for match in found if not may_take(match.key)}
    open_ones = [match.key for match in found if match.key not in refused]
    links = _follow_links(book, open_ones)
    there = dict.fromkeys((*open_ones, *(link.target for link in links if link.new)))
    dependants = tuple(
        key
        for key, entry in book.items()
        if key not in there and entry.required_keys and not missing_names(book, entry, there)
    )
    members = dict.fromkeys((*there, *dependants))
    missing = {key: missing_names(book, book[key], members) for key in members}
    in_order = [key for key in book if key in members and not missing[key]]
    locked = refused.union(key for key in in_order if not may_take(key))
    candidates = sorted((key for key in in_order if key not in locked), key=lambda key: -book[key].weight)
    choices, used = [], 0
    for key in candidates:
        cost = counter.count(book[key].value)
        refusal = None if used + cost <= most else Refusal.DOES_NOT_FIT
        choices.append(CandidateFate(key, SelectionPhase.PRIORITY, cost, used, most, refusal))
        used += 0 if refusal else cost
    lacking = {key: names for key, names in missing.items() if names}
    kept_out = tuple(key for key in book if key in locked)
    return PageSelection(found, links, dependants, lacking, kept_out, tuple(candidates), tuple(choices))


def select_and_fill(
    book: LoreBook, text: str, most: int, counter: TokenCounter, may_take: MayTake = everything
) -> PageSelection:
    """As `select`, and then whatever else fits, the heaviest first and each looked at once
    (rules: context-window 7).
    """
    if most <= 0:
        return PageSelection()
    begun = select(book, text, most, counter, may_take)
    used = begun.used
    if used >= most:
        return begun
    taken = dict.fromkeys(begun.selected)
    choices = list(begun.choices)
    rest = [key for key in book if key not in taken and may_take(key)]
    for key in sorted(rest, key=lambda key: -book[key].weight):
        cost, refusal = counter.count(book[key].value), None
        if used >= most:
            refusal = Refusal.NOT_EXAMINED
        elif missing_names(book, book[key], taken):
            refusal = Refusal.REQUIREMENT
        elif used + cost > most:
            refusal = Refusal.DOES_NOT_FIT
        choices.append(CandidateFate(key, SelectionPhase.FILL, cost, used, most, refusal))
        if refusal is None:
            taken[key] = None
            used += cost
    return replace(begun, choices=tuple(choices))


def missing_names(book: LoreBook, entry: LoreEntry, members: Collection[str]) -> tuple[str, ...]:
    """The names that the entry requires and none of `members` is, by key or alias; case counts
    (rules: context-window 6).
    """
    return tuple(name for name in entry.required_keys if not _is_among(book, name, members))


def _is_among(book: LoreBook, name: str, members: Collection[str]) -> bool:
    if name in members or any(name in book[member].alias_keys for member in members):
        return True
    return name in book and any(member in book[name].alias_keys for member in members)


def _match(key: str, entry: LoreEntry, lowered: str) -> Match | None:
    first = next((trigger for trigger in (key, *entry.alias_keys) if trigger.lower() in lowered), None)
    if first is None:
        return None
    low = first.lower()
    return Match(key, first, lowered.count(low) if low else 1)


def _follow_links(book: LoreBook, keys: Sequence[str]) -> tuple[PageLink, ...]:
    """All links from these keys, each entry once, first in first out (rules: context-window 6 step 2)."""
    seen = dict.fromkeys(keys)
    queue = list(seen)
    links: list[PageLink] = []
    for key in queue:  # grows while it is walked
        for target in book[key].linked_keys:
            new = target in book and target not in seen
            links.append(PageLink(key, target, new))
            if new:
                seen[target] = None
                queue.append(target)
    return tuple(links)
