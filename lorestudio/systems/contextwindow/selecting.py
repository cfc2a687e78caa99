"""Which entries of a lorebook a text brings in, step by step (rules: context-window 5 to 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from lorestudio.domain.tokens import TokenCounter
from lorestudio.systems.contextwindow.lore import LoreBook, LoreEntry

MayTake = Callable[[str], bool]
"""Whether no lock refuses the entry of this key."""


def everything(_key: str) -> bool:
    """No lock refuses anything."""
    return True


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that the text mentions: by which trigger, where first, and how often in all."""

    key: str
    trigger: str
    start: int
    occurrences: int
    locked: bool = False


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link that was followed: `new` where it brought its target in, `missing` where no entry has that key."""

    source: str
    target: str
    new: bool
    missing: bool = False


class How(StrEnum):
    """How a required name is there."""

    DIRECT = "direct"
    ALIAS_OF_MEMBER = "alias of a member"
    MEMBER_IS_ALIAS = "a member is its alias"


@dataclass(frozen=True, slots=True)
class Requirement:
    """A required name, and the member that satisfies it; `member` is None where none does."""

    name: str
    member: str | None = None
    how: How | None = None


class SelectionPhase(StrEnum):
    """Which pass a choice belongs to."""

    PRIORITY = "priority"
    FILL = "fill"


class Refusal(StrEnum):
    """Why a candidate was not taken."""

    DOES_NOT_FIT = "does not fit"
    REQUIREMENT = "requirement not selected"
    NOT_EXAMINED = "budget full, not examined"


@dataclass(frozen=True, slots=True)
class CandidateFate:
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


@dataclass(frozen=True, slots=True)
class PageSelection:
    """Everything that selecting decided, each list in the order in which it was decided.

    `expanded` are the matched keys and what they link to; `dependants` came in because everything they require is
    there; `ineligible` lack a requirement; `locked` are refused by a lock.
    """

    matches: tuple[Match, ...] = ()
    links: tuple[PageLink, ...] = ()
    expanded: tuple[str, ...] = ()
    dependants: Mapping[str, tuple[Requirement, ...]] = field(default_factory=lambda: MappingProxyType({}))
    ineligible: Mapping[str, tuple[Requirement, ...]] = field(default_factory=lambda: MappingProxyType({}))
    eligible: tuple[str, ...] = ()
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
    lowered = text.lower()
    found = (_match(key, entry, lowered) for key, entry in book.items())
    return tuple(match for match in found if match is not None)


def matching_keys(book: LoreBook, text: str, may_take: MayTake = everything) -> tuple[str, ...]:
    """The keys of the entries that match and that no lock refuses (rules: context-window 5)."""
    return tuple(match.key for match in matches(book, text) if may_take(match.key))


def count_and_sort_hits(keys: Iterable[str]) -> list[tuple[str, int]]:
    """How often each key occurs, the most frequent first; of equal ones the one that came first."""
    return Counter(keys).most_common()


def select(
    book: LoreBook, text: str, most: int, counter: TokenCounter, may_take: MayTake = everything
) -> PageSelection:
    """Which entries go in with at most `most` tokens: one that does not fit is passed over
    (rules: context-window 6).
    """
    found = matches(book, text)
    refused = {match.key for match in found if not may_take(match.key)}
    found = tuple(
        Match(match.key, match.trigger, match.start, match.occurrences, match.key in refused) for match in found
    )
    links, expanded = _follow_links(book, [match.key for match in found if not match.locked])
    dependants = {}
    there = dict.fromkeys(expanded)
    for key, entry in book.items():
        if key not in there and entry.required_keys:
            requirements = satisfied_by(book, entry, there)
            if all(requirement.member is not None for requirement in requirements):
                dependants[key] = requirements
    members = dict.fromkeys((*expanded, *dependants))
    eligible, ineligible = [], {}
    for key in members:
        requirements = satisfied_by(book, book[key], members)
        if all(requirement.member is not None for requirement in requirements):
            eligible.append(key)
        else:
            ineligible[key] = requirements
    chosen = set(eligible)
    in_order = [key for key in book if key in chosen]
    locked = dict.fromkeys(key for key in in_order if not may_take(key))
    candidates = sorted((key for key in in_order if key not in locked), key=lambda key: -book[key].weight)
    choices, used = [], 0
    for key in candidates:
        cost = counter.count(book[key].value)
        fits = used + cost <= most
        choices.append(
            CandidateFate(key, SelectionPhase.PRIORITY, cost, used, most, None if fits else Refusal.DOES_NOT_FIT)
        )
        used += cost if fits else 0
    return PageSelection(
        found,
        links,
        expanded,
        MappingProxyType(dependants),
        MappingProxyType(ineligible),
        tuple(eligible),
        tuple(key for key in book if key in refused or key in locked),
        tuple(candidates),
        tuple(choices),
    )


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
    full = False
    for key in sorted(rest, key=lambda key: -book[key].weight):
        if full:
            choices.append(
                CandidateFate(
                    key, SelectionPhase.FILL, counter.count(book[key].value), used, most, Refusal.NOT_EXAMINED
                )
            )
            continue
        requirements = satisfied_by(book, book[key], taken)
        cost = counter.count(book[key].value)
        if any(requirement.member is None for requirement in requirements):
            choices.append(CandidateFate(key, SelectionPhase.FILL, cost, used, most, Refusal.REQUIREMENT))
            continue
        fits = used + cost <= most
        choices.append(
            CandidateFate(key, SelectionPhase.FILL, cost, used, most, None if fits else Refusal.DOES_NOT_FIT)
        )
        if fits:
            taken[key] = None
            used += cost
        full = used >= most
    return PageSelection(
        begun.matches,
        begun.links,
        begun.expanded,
        begun.dependants,
        begun.ineligible,
        begun.eligible,
        begun.locked,
        begun.candidates,
        tuple(choices),
    )


def satisfied_by(book: LoreBook, entry: LoreEntry, members: Collection[str]) -> tuple[Requirement, ...]:
    """For each name that the entry requires, who among `members` satisfies it; case counts
    (rules: context-window 6).
    """
    return tuple(_satisfied(book, name, members) for name in entry.required_keys)


def _satisfied(book: LoreBook, name: str, members: Collection[str]) -> Requirement:
    if name in members:
        return Requirement(name, name, How.DIRECT)
    for member in members:
        if name in book[member].alias_keys:
            return Requirement(name, member, How.ALIAS_OF_MEMBER)
    named = book.get(name)
    if named is not None:
        for member in members:
            if member in named.alias_keys:
                return Requirement(name, member, How.MEMBER_IS_ALIAS)
    return Requirement(name)


def _match(key: str, entry: LoreEntry, lowered: str) -> Match | None:
    places = ((trigger, lowered.find(trigger.lower())) for trigger in (key, *entry.alias_keys))
    first = next(((trigger, place) for trigger, place in places if place >= 0), None)
    if first is None:
        return None
    trigger, place = first
    low = trigger.lower()
    return Match(key, trigger, place, lowered.count(low) if low else 1)


def _follow_links(book: LoreBook, keys: Sequence[str]) -> tuple[tuple[PageLink, ...], tuple[str, ...]]:
    """All links from these keys, each entry once, first in first out (rules: context-window 6 step 2)."""
    seen = dict.fromkeys(keys)
    queue = list(seen)
    links: list[PageLink] = []
    for key in queue:  # grows while it is walked
        for target in book[key].linked_keys:
            missing, new = target not in book, target in book and target not in seen
            links.append(PageLink(key, target, new, missing))
            if new:
                seen[target] = None
                queue.append(target)
    return tuple(links), tuple(seen)
