"""The scan: which entries of a lorebook become active (rules: sillytavern 5.6).

Everything that is decided on the way is kept as `Event`s, loop by loop, so that a trace can tell it.

Inclusion groups: of the new entries of a group only one comes in (rules: sillytavern 5.6 "Inclusion groups").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import TokenCounter, growing
from lorestudio.exchange.lorebooks.entry import BookEntry
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.worldinfo.activation import TAKEN, Activation, Told
from lorestudio.systems.worldinfo.haystack import Haystack, Scan, TextSource
from lorestudio.systems.worldinfo.timed import Timed


@dataclass(slots=True)
class GroupChoice:
    """Who went out of a group and why, and who was chosen."""

    removed: dict[str, Told] = field(default_factory=dict)
    kept: dict[str, Told] = field(default_factory=dict)


def choose(
    new: Sequence[BookEntry],
    active: Iterable[BookEntry],
    timed: Timed,
    score: Callable[[BookEntry], int],
    draw: Callable[[], float],
    *,
    scoring: bool,
) -> GroupChoice:
    """Choose within each group, in the order the groups come up. An entry may be in several.

    Timed effects are looked at in all groups first, then scores, then one of each group is taken. Who went out of one
    group takes no part in the others any more.
    """
    choice = GroupChoice()
    active_groups = {entry.group for entry in active}
    groups: dict[str, list[BookEntry]] = {}
    for entry in new:
        for group in entry.groups:
            members = groups.setdefault(group, [])
            if entry not in members:
                members.append(entry)
    sticky = {name for name, members in groups.items() if _any_sticky(name, members, timed, choice)}
    for name, members in groups.items():
        if name not in sticky and (scoring or any(entry.group_scoring for entry in members)):
            _only_best(name, _left(members, choice), score, choice, scoring=scoring)
    for name, members in groups.items():
        if name in sticky:
            continue
        if name in active_groups:
            _remove(choice, _left(members, choice), "wi_group_active", {"group": name})
        else:
            _one(name, _left(members, choice), draw, choice)
    return choice


def _left(members: Iterable[BookEntry], choice: GroupChoice) -> list[BookEntry]:
    return [entry for entry in members if entry.uid not in choice.removed]


def _any_sticky(name: str, everyone: list[BookEntry], timed: Timed, choice: GroupChoice) -> bool:
    """Whether a member is sticky: it drives the others out. What cools down or waits goes, sticky or not."""
    members = _left(everyone, choice)
    sticky = [entry for entry in members if entry.uid in timed.sticky]
    if sticky:
        _remove(choice, [entry for entry in members if entry not in sticky], "wi_group_sticky", {"group": name})
    out = [entry for entry in members if entry.uid in timed.cooling or entry.uid in timed.waiting]
    _remove(choice, out, "wi_group_timed", {"group": name})
    return bool(sticky)


def _only_best(
    name: str, members: list[BookEntry], score: Callable[[BookEntry], int], choice: GroupChoice, *, scoring: bool
) -> None:
    """Those with the most keys found stay, and who takes no part in scoring."""
    scores = {entry.uid: score(entry) for entry in members}
    most = max(scores.values(), default=0)
    for entry in members:
        takes_part = scoring if entry.group_scoring is None else entry.group_scoring
        if takes_part and scores[entry.uid] < most:
            _remove(choice, [entry], "wi_group_score", {"group": name, "score": scores[entry.uid], "most": most})


def _one(name: str, members: list[BookEntry], draw: Callable[[], float], choice: GroupChoice) -> None:
    """One of the members: the highest order of those with priority, else by lot."""
    if len(members) <= 1:
        return
    first = [entry for entry in members if entry.group_override]
    if first:
        winner = max(first, key=lambda entry: entry.order)
        choice.kept[winner.uid] = ("wi_group_priority", {"group": name})
    else:
        total = sum(entry.group_weight for entry in members)
        roll = draw() * total
        passed = 0.0
        winner = members[-1]
        for entry in members:
            passed += entry.group_weight
            if roll <= passed:
                winner = entry
                break
        choice.kept[winner.uid] = ("wi_group_drawn", {"group": name, "of": len(members)})
    losers = [entry for entry in members if entry is not winner]
    _remove(choice, losers, "wi_group_lost", {"group": name, "winner_uid": winner.uid})


def _remove(choice: GroupChoice, entries: Iterable[BookEntry], reason: str, details: Mapping[str, Json]) -> None:
    for entry in entries:
        choice.removed.setdefault(entry.uid, (reason, details))
        choice.kept.pop(entry.uid, None)


class LoopPart(StrEnum):
    """The part of a loop that something was decided in."""

    KEYS = "keys"
    GROUPS = "inclusion groups"
    BUDGET = "probability and budget"


@dataclass(frozen=True, slots=True)
class Event:
    """One decision about one entry. `taken`: it came in here (keys), or it stayed (the others)."""

    part: LoopPart
    uid: str
    taken: bool
    reason: str
    details: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop of the scan and what it decided, in order."""

    scan: Scan
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Scanned:
    """The entries that are active in the end, in the order they became so; the loops; tokens used of the budget.

    `contents` are the texts of all entries that were weighed, by uid, macros filled in.
    """

    active: tuple[BookEntry, ...]
    contents: Mapping[str, str]
    loops: tuple[Loop, ...]
    used: int
    budget: int
    overflowed: bool
    draws: tuple[float, ...]


@dataclass(slots=True)
class Scanner:
    """One scan over one list of entries, which stand in the order they are offered to the budget.

    `next_draw` gives random numbers from 0 to 1, `substituted` a text with its macros filled in; `similar` are the
    scores of the entries that similarity brings in.
    """

    entries: tuple[BookEntry, ...]
    source: TextSource
    settings: WorldInfoSettings
    timed: Timed
    counter: TokenCounter
    next_draw: Callable[[], float]
    budget: int
    substituted: Callable[[str], str]
    similar: Mapping[str, float]
    _haystack: Haystack = field(init=False)
    _activation: Activation = field(init=False)
    _draws: list[float] = field(default_factory=list)
    _active: dict[str, BookEntry] = field(default_factory=dict)
    _contents: dict[str, str] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set)
    _told: dict[str, str] = field(default_factory=dict)
    _kept_text: str = ""
    _level: int = 0
    _overflowed: bool = False

    def __post_init__(self) -> None:
        settings = self.settings
        self._haystack = Haystack(self.source, settings)
        self._activation = Activation(self._haystack, self.source, settings, self.timed, self.substituted, self.similar)

    def run(self) -> Scanned:
        """Scan until nothing new comes in."""
        settings = self.settings
        levels = sorted({entry.recursion_level for entry in self.entries if entry.recursion_level})
        self._level = levels.pop(0) if levels else 0
        scan: Scan | None = Scan.FIRST if self.entries else None
        loops: list[Loop] = []
        while scan is not None and not 0 < settings.max_recursion_steps <= len(loops):
            events: list[Event] = []
            new = self._new(scan, events)
            new = self._grouped(new, scan, events)
            came = self._budgeted(new, events)
            loops.append(Loop(scan, tuple(events)))
            feeding = [(entry, self._content(entry)) for entry in came if not entry.prevent_recursion]
            scan = self._next(scan, feeding, levels)
            if scan is not None:
                self._kept_text = f"{self._haystack.feed(feeding)}\n{self._kept_text}"
        active = tuple(self._active.values())
        used = self.counter.count("\n".join(self._content(entry) for entry in active))
        draws = tuple(self._draws)
        return Scanned(active, self._contents, tuple(loops), used, self.budget, self._overflowed, draws)

    def _new(self, scan: Scan, events: list[Event]) -> list[BookEntry]:
        """The entries that would become active in this loop, sticky ones first."""
        found = []
        for entry in self.entries:
            if entry.uid in self._active or entry.uid in self._failed:
                continue
            reason, details = self._activation.decide(entry, scan, self._level)
            taken = reason in TAKEN
            if taken:
                found.append(entry)
            if taken or (reason and self._told.get(entry.uid) != reason):
                events.append(Event(LoopPart.KEYS, entry.uid, taken, reason, details))
            self._told[entry.uid] = reason
        sticky = self.timed.sticky
        return sorted(found, key=lambda entry: entry.uid not in sticky)

    def _grouped(self, new: list[BookEntry], scan: Scan, events: list[Event]) -> list[BookEntry]:
        left = choose(
            new,
            self._active.values(),
            self.timed,
            lambda entry: self._activation.score(entry, scan),
            self._draw,
            scoring=self.settings.use_group_scoring,
        )
        for entry in new:
            if entry.uid in left.removed:
                reason, details = left.removed[entry.uid]
                events.append(Event(LoopPart.GROUPS, entry.uid, False, reason, details))
            elif entry.uid in left.kept:
                events.append(Event(LoopPart.GROUPS, entry.uid, True, *left.kept[entry.uid]))
        return [entry for entry in new if entry.uid not in left.removed]

    def _budgeted(self, new: list[BookEntry], events: list[Event]) -> list[BookEntry]:
        """Those of the new entries that feed recursion: all but the ones that lost their draw.

        What ignores the budget comes in behind the one that broke it, too, as in newer SillyTavern.
        """
        kept = self.counter.count(self._kept_text)
        used, running = kept, growing(self.counter)
        full = False
        for entry in new:
            if full and not entry.ignores_budget:
                details: dict[str, Json] = {"used": used, "budget": self.budget}
                events.append(Event(LoopPart.BUDGET, entry.uid, False, "wi_behind_budget", details))
                continue
            if not self._wins(entry, events):
                self._failed.add(entry.uid)
                continue
            line = f"{self._content(entry)}\n"
            used = kept + running.count_with(line)
            running.add(line)
            details = {"used": used, "budget": self.budget}
            if used >= self.budget and not entry.ignores_budget:
                full = self._overflowed = True
                events.append(Event(LoopPart.BUDGET, entry.uid, False, "wi_over_budget", details))
                continue
            self._active[entry.uid] = entry
            reason = "wi_ignores_budget" if entry.ignores_budget else "wi_fits"
            events.append(Event(LoopPart.BUDGET, entry.uid, True, reason, details))
        return [entry for entry in new if entry.uid not in self._failed]

    def _content(self, entry: BookEntry) -> str:
        if entry.uid not in self._contents:
            self._contents[entry.uid] = self.substituted(entry.content)
        return self._contents[entry.uid]

    def _wins(self, entry: BookEntry, events: list[Event]) -> bool:
        if entry.probability >= 100 or entry.uid in self.timed.sticky:
            return True
        roll = self._draw() * 100
        if roll <= entry.probability:
            return True
        details: dict[str, Json] = {"probability": entry.probability, "roll": round(roll, 2)}
        events.append(Event(LoopPart.BUDGET, entry.uid, False, "wi_lost", details))
        return False

    def _draw(self) -> float:
        self._draws.append(self.next_draw())
        return self._draws[-1]

    def _next(self, scan: Scan, feeding: Sequence[object], levels: list[int]) -> Scan | None:
        """What the next loop looks at, None at the end."""
        settings, haystack = self.settings, self._haystack
        recursive = settings.recursive and not self._overflowed
        if recursive and (feeding or (scan is Scan.WIDER and haystack.recurs)):
            return Scan.RECURSION
        if len(self._active) < settings.min_activations and not self._overflowed:
            most = settings.min_activations_depth_max
            if (not most or haystack.depth <= most) and haystack.depth <= haystack.length:
                haystack.widen()
                return Scan.WIDER
        if levels:
            self._level = levels.pop(0)
            return Scan.RECURSION
        return None
