"""The scan: which entries of a lorebook become active (rules: sillytavern 5.6).

Of the new entries of an inclusion group only one comes in (rules: sillytavern 5.6 "Inclusion groups"). Sticky, cooldown
and delay are counted in messages (rules: sillytavern 5.6 "Timed effects"). Everything that is decided on the way is
kept as `Event`s, loop by loop, so that a trace can tell it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as data_field
from enum import StrEnum
from functools import partial
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.javascript import Json, key_order, to_number, to_string, trim
from lorestudio.domain.records import grouped
from lorestudio.domain.tokens import TokenCounter, growing
from lorestudio.exchange.lorebooks.entry import BookEntry, Logic
from lorestudio.exchange.lorebooks.keys import KeyMatching, UnusableKeyError, is_found, occurs
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.worldinfo.haystack import Haystack, Scan, TextSource, Watch


class TimedEffect(Struct, frozen=True):
    """A timed effect: it began at message count `start` and ends at `end`. A protected one outlives going back."""

    digest: str
    start: int
    end: float
    protected: bool = False


class TimedState(Struct, frozen=True):
    """The effects under way, by what SillyTavern knows the entry by."""

    sticky: Mapping[str, TimedEffect] = field(default_factory=lambda: MappingProxyType({}))
    cooldown: Mapping[str, TimedEffect] = field(default_factory=lambda: MappingProxyType({}))


class Timed(Struct, frozen=True):
    """Which entries stick, cool down or wait at the moment, and the state with what has ended taken out."""

    state: TimedState
    sticky: frozenset[str]
    cooling: Mapping[str, float]
    """The message count at which the cooldown ends, by entry."""
    waiting: frozenset[str]


def at(count: int, entries: Sequence[BookEntry], state: TimedState) -> Timed:
    """The effects at a message count. A sticky effect that ends begins its cooldown at once."""
    sticky, lasting_sticky, ended = _running("sticky", count, entries, state.sticky)
    started = {
        entry.name: TimedEffect(entry.digest, count, count + entry.cooldown, protected=True)
        for entry in entries
        if entry.uid in ended and entry.cooldown is not None
    }
    cooldown, lasting_cooldown, _ = _running("cooldown", count, entries, {**state.cooldown, **started})
    cooldown |= {each.uid: started[each.name].end for each in entries if each.uid in ended and each.name in started}
    waiting = frozenset(entry.uid for entry in entries if entry.delay is not None and count < entry.delay)
    return Timed(TimedState(lasting_sticky, lasting_cooldown), frozenset(sticky), cooldown, waiting)


def after(count: int, activated: Iterable[BookEntry], state: TimedState) -> TimedState:
    """The state after a scan: what was activated sticks and cools down from now on, unless it does so already."""
    sticky, cooldown = dict(state.sticky), dict(state.cooldown)
    for entry in activated:
        if entry.sticky is not None:
            sticky.setdefault(entry.name, TimedEffect(entry.digest, count, count + entry.sticky))
        if entry.cooldown is not None:
            cooldown.setdefault(entry.name, TimedEffect(entry.digest, count, count + entry.cooldown))
    return TimedState(sticky, cooldown)


def _running(
    kind: str, count: int, entries: Sequence[BookEntry], effects: Mapping[str, TimedEffect]
) -> tuple[dict[str, float], dict[str, TimedEffect], set[str]]:
    """The ends of the effects that work and the entries whose effect has ended just now, by uid; the effects kept.

    An effect of an entry that is gone or was changed works no longer, and is kept until its end, so that the entry
    begins no new one before that.
    """
    if not effects:
        return {}, {}, set()
    known = {(entry.name, entry.digest): entry for entry in reversed(entries)}
    works: dict[str, float] = {}
    kept: dict[str, TimedEffect] = {}
    ended: set[str] = set()
    for name, effect in effects.items():
        entry = known.get((name, effect.digest))
        if count <= effect.start and not effect.protected:
            continue
        if entry is None:
            if count < effect.end:
                kept[name] = effect
            continue
        if (entry.sticky if kind == "sticky" else entry.cooldown) is None:
            continue
        if count >= effect.end:
            ended.add(entry.uid)
        else:
            works[entry.uid], kept[name] = effect.end, effect
    return works, kept, ended


Told = tuple[str, Mapping[str, Json]]
"""A reason code and its details."""

TAKEN: Final = frozenset({"wi_decorator", "wi_constant", "wi_vector", "wi_sticky", "wi_key"})
"""The reasons for which an entry comes in."""


class Activation(Struct, frozen=True):
    """The rules for one scan. `similar` are the scores of the entries that similarity brings in, by uid."""

    haystack: Haystack
    source: TextSource
    settings: WorldInfoSettings
    timed: Timed
    substituted: Callable[[str], str]
    similar: Mapping[str, float]

    def decide(self, entry: BookEntry, scan: Scan, level: float | str) -> Told:
        """Why the entry comes in or stays out; "" where no key was found. `level` is that of delayed recursion."""
        refusal = self._refusal(entry, scan, level)
        if refusal is not None:
            return refusal
        if entry.activates:
            return "wi_decorator", {}
        if entry.never_activates:
            return "wi_never", {}
        if entry.constant and not (self.settings.newer and entry.uid in self.similar):
            return "wi_constant", {}
        if entry.uid in self.similar:
            return "wi_vector", {"score": self.similar[entry.uid]}
        if entry.uid in self.timed.sticky:
            return "wi_sticky", {"until": self.timed.state.sticky[entry.name].end}
        return self._by_keys(entry, scan)

    def score(self, entry: BookEntry, scan: Scan) -> int:
        """How many keys of the entry are found, as groups count it: as they are written, with macros and blanks."""
        if not entry.keys:
            return 0
        how, text = self._matching(entry), self.haystack.text(entry, scan)
        primary = sum(is_found(key, text, how) for key in entry.keys)
        found = sum(is_found(key, text, how) for key in entry.secondary)
        if entry.logic is Logic.AND_ANY:
            return primary + found
        return primary + found if entry.logic is Logic.AND_ALL and found == len(entry.secondary) else primary

    def _refusal(self, entry: BookEntry, scan: Scan, level: float | str) -> Told | None:
        if entry.disabled:
            return "wi_disabled", {}
        if entry.triggers and self.source.kind not in entry.triggers:
            return "wi_trigger", {"kinds": list(entry.triggers), "kind": self.source.kind}
        return self._filtered(entry) or self._resting(entry, scan, level)

    def _filtered(self, entry: BookEntry) -> Told | None:
        named = not self.source.characters.isdisjoint(entry.characters)
        if entry.characters and named is entry.characters_excluded:
            return "wi_character", {"names": list(entry.characters)}
        tags = self.source.tags
        if entry.tags and tags is not None and tags.isdisjoint(entry.tags) is not entry.characters_excluded:
            return "wi_tags", {"tags": list(entry.tags)}
        return None

    def _resting(self, entry: BookEntry, scan: Scan, level: float | str) -> Told | None:
        sticky, recursive = entry.uid in self.timed.sticky, scan is Scan.RECURSION
        if entry.uid in self.timed.waiting:
            return "wi_delay", {"delay": entry.delay}
        if entry.uid in self.timed.cooling and not sticky:
            return "wi_cooling", {"until": self.timed.cooling[entry.uid]}
        own = entry.recursion_level
        if own is not None and not sticky and (not recursive or _above(own, level)):
            return "wi_only_recursion", {"level": own}
        if recursive and self.settings.recursive and entry.exclude_recursion and not sticky:
            found_by_key = "wi_no_recursion" if entry.keys or entry.constant else "wi_keyless"
            return "wi_no_depth" if entry.looks_nowhere else found_by_key, {}
        return None

    def _by_keys(self, entry: BookEntry, scan: Scan) -> Told:
        how, text = self._matching(entry), self.haystack.text(entry, scan)
        try:
            written = filter(None, map(self.substituted, entry.keys))
            key = next((key for each in written if occurs(key := trim(each), text, how)), None)
            if key is None:
                searched = "wi_no_depth" if entry.looks_nowhere else ""
                return searched if any(map(trim, entry.keys)) else "wi_keyless", {}
            where = self.haystack.where(key, how, entry)
            if not entry.selective or not entry.secondary:
                return "wi_key", where
            filled = [self.substituted(each) for each in entry.secondary]
            secondary = [trim(each) for each in filled]
            found = [key for key, each in zip(secondary, filled, strict=True) if each and occurs(key, text, how)]
        except UnusableKeyError as error:
            return "wi_pattern", {"problem": str(error)}
        satisfied = {
            Logic.AND_ANY: bool(found),
            Logic.NOT_ALL: len(found) < len(secondary),
            Logic.NOT_ANY: not found,
            Logic.AND_ALL: len(found) == len(secondary),
            Logic.UNKNOWN: False,
            Logic.UNSAID: bool(found),
        }[entry.logic]
        details = {**where, "logic": entry.logic.name, "secondary": list(secondary), "found": list(found)}
        if found:
            details["found_back"] = [self.haystack.where(each, how, entry).get("back") for each in found]
        return ("wi_key" if satisfied else "wi_secondary"), details

    def _matching(self, entry: BookEntry) -> KeyMatching:
        settings = self.settings
        return KeyMatching.of(entry, case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)


def _above(level: float | str, other: float | str) -> bool:
    """Whether a level is above another as JavaScript compares: two texts by their characters."""
    if isinstance(level, str) and isinstance(other, str):
        return level > other
    return to_number(level) > to_number(other)


class GroupChoice(Struct):
    """Who is left of the new entries, who went out of a group and why, and who was chosen."""

    left: list[BookEntry]
    removed: dict[str, Told] = {}
    kept: dict[str, Told] = {}

    def take_out(self, entries: Iterable[BookEntry], reason: str, details: Mapping[str, Json]) -> None:
        """These lose. For one that is out already SillyTavern takes out the last of all that are left."""
        for entry in entries:
            out, told = entry, (reason, details)
            if entry.uid in self.removed and self.left:
                out, told = self.left[-1], ("wi_group_bystander", {"group": details["group"], "source_uid": entry.uid})
            if out in self.left:
                self.left.remove(out)
                self.removed[out.uid] = told
                self.kept.pop(out.uid, None)


def choose(
    new: Sequence[BookEntry],
    active: Iterable[BookEntry],
    timed: Timed,
    score: Callable[[BookEntry], int],
    draw: Callable[[], float],
    *,
    scoring: bool,
) -> GroupChoice:
    """Choose within each group, one after the other. An entry may be in several.

    Timed effects are looked at in all groups first, then scores, then one of each group is taken. Who went out of one
    group still takes part in the others, and can drive the rest out there.
    """
    choice = GroupChoice(list(new))
    members = grouped((group, entry) for entry in new for group in entry.groups)
    if not members:
        return choice
    groups = {name: members[name] for name in key_order(members)}
    active_groups = {entry.group: entry.uid for entry in active}
    sticky = {name for name, listed in groups.items() if _any_sticky(name, listed, timed, choice)}
    for name, listed in groups.items():
        if name not in sticky and (scoring or any(entry.group_scoring for entry in listed)):
            groups[name] = _best(name, listed, score, choice, scoring=scoring)
    for name, listed in groups.items():
        if name in sticky:
            continue
        if name in active_groups:
            choice.take_out(listed, "wi_group_active", {"group": name, "winner_uid": active_groups[name]})
        else:
            _one(name, listed, draw, choice)
    return choice


def _any_sticky(name: str, members: list[BookEntry], timed: Timed, choice: GroupChoice) -> bool:
    """Whether a member is sticky: it drives the others out. What cools down or waits goes, sticky or not."""
    sticky = [entry for entry in members if entry.uid in timed.sticky]
    if sticky:
        others = [entry for entry in members if entry.uid not in timed.sticky]
        choice.take_out(others, "wi_group_sticky", {"group": name})
    for resting in (timed.cooling, timed.waiting):
        choice.take_out([entry for entry in members if entry.uid in resting], "wi_group_timed", {"group": name})
    return bool(sticky)


def _best(
    name: str, members: list[BookEntry], score: Callable[[BookEntry], int], choice: GroupChoice, *, scoring: bool
) -> list[BookEntry]:
    """Those with the most keys found, and who takes no part in scoring; the others go."""
    scores = {entry.uid: score(entry) for entry in members}
    most = max(scores.values(), default=0)
    best: list[BookEntry] = []
    for entry in members:
        takes_part = scoring if entry.group_scoring is None else entry.group_scoring
        if takes_part and scores[entry.uid] < most:
            choice.take_out([entry], "wi_group_score", {"group": name, "score": scores[entry.uid], "most": most})
        else:
            best.append(entry)
    return best


def _one(name: str, members: list[BookEntry], draw: Callable[[], float], choice: GroupChoice) -> None:
    """One of the members: the highest order of those with priority, else by lot."""
    if len(members) <= 1:
        return
    first = sorted((entry for entry in members if entry.group_override), key=lambda entry: -entry.order)
    shares: Mapping[str, int] = {}
    if first:
        winner, told = first[0], _told("wi_group_priority", group=name)
    else:
        passed = [to_number(each) for each in accumulate([0.0, *(each.group_weight for each in members)], _plus)]
        roll = draw() * passed[-1]
        place = next((place for place, weight in enumerate(passed[1:]) if roll <= weight), None)
        if place is None:
            return
        steps = list(pairwise(passed))
        if 0 < passed[-1] < math.inf and all(now <= then for now, then in steps):  # else no weight is a chance
            parts = zip(members, steps, strict=True)
            shares = {each.uid: round(100 * (then - now) / passed[-1]) for each, (now, then) in parts}
        winner = members[place]
        told = _told("wi_group_drawn", group=name, of=len(members), **_chance(shares, winner))
    if winner in choice.left:
        choice.kept[winner.uid] = told
    for entry in (each for each in members if each.uid != winner.uid):
        details = {"group": name, "winner_uid": winner.uid, **_chance(shares, entry)}
        choice.take_out([entry], "wi_group_lost", details)


def _chance(shares: Mapping[str, int], entry: BookEntry) -> dict[str, Json]:
    return {"chance": shares[entry.uid]} if shares else {}


def _plus(total: float | str, weight: float | str) -> float | str:
    """A sum as JavaScript makes it: once a weight is written as text, digits are put behind each other."""
    if isinstance(total, str) or isinstance(weight, str):
        return to_string(total) + to_string(weight)
    return total + weight


def _told(reason: str, **details: Json) -> Told:
    return reason, details


class LoopPart(StrEnum):
    """The part of a loop that something was decided in."""

    KEYS = "keys"
    GROUPS = "inclusion groups"
    DRAW = "probability"
    BUDGET = "budget"


class Event(Struct, frozen=True):
    """One decision about one entry. `taken`: it came in here (keys), or it stayed (the others)."""

    part: LoopPart
    uid: str
    taken: bool
    reason: str
    details: Mapping[str, Json] = {}


class Loop(Struct, frozen=True):
    """One loop of the scan and what it decided, in order."""

    scan: Scan
    events: tuple[Event, ...]


class Scanned(Struct, frozen=True):
    """The entries that are active in the end, in the order they became so; the loops; tokens used of the budget.

    `contents` are the texts of all entries that reached the budget, by uid, macros filled in.
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
    scores of the entries that similarity brings in. `watch` is that of the same entries, where it is there already.
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
    watch: Watch | None = None
    _haystack: Haystack = data_field(init=False)
    _activation: Activation = data_field(init=False)
    _draws: list[float] = data_field(default_factory=list)
    _active: dict[str, BookEntry] = data_field(default_factory=dict)
    _contents: dict[str, str] = data_field(default_factory=dict)
    _failed: set[str] = data_field(default_factory=set)
    _told: dict[str, str] = data_field(default_factory=dict)
    _ousted: dict[str, Told] = data_field(default_factory=dict)
    _kept_text: str = ""
    _level: float | str = 0
    _overflowed: bool = False

    def __post_init__(self) -> None:
        settings = self.settings
        self._haystack = Haystack(self.source, settings)
        self._activation = Activation(self._haystack, self.source, settings, self.timed, self.substituted, self.similar)

    def run(self) -> Scanned:
        """Scan until nothing new comes in."""
        settings = self.settings
        watch = self.watch or Watch(self.entries)
        levels = list(watch.levels)
        self._level = levels.pop(0) if levels else 0
        scan: Scan | None = Scan.FIRST if self.entries else None
        loops: list[Loop] = []
        while scan is not None and not 0 < settings.max_recursion_steps <= len(loops):
            events: list[Event] = []
            new = self._new(watch, scan, events)
            new = self._grouped(new, scan, events)
            came = self._budgeted(new, events)
            loops.append(Loop(scan, tuple(events)))
            # What did not reach the budget feeds recursion with its macros as they are written.
            feeding = [
                (entry, self._contents.get(entry.uid, entry.content)) for entry in came if not entry.prevent_recursion
            ]
            scan = self._next(scan, feeding, levels)
            text = self._haystack.feed(feeding) if scan is not None else ""
            if text or not settings.newer:
                self._kept_text = f"{text}\n{self._kept_text}"
        active = tuple(self._active.values())
        used = self.counter.count("\n".join(self._content(entry) for entry in active))
        draws = tuple(self._draws)
        return Scanned(active, self._contents, tuple(loops), used, self.budget, self._overflowed, draws)

    def _new(self, watch: Watch, scan: Scan, events: list[Event]) -> list[BookEntry]:
        """The entries that would become active in this loop: sticky ones first, then those that similarity brings.

        One of these that lost its lot comes up again in the next loop. Both are so since 1.12.7.
        """
        found = []
        forced = self.similar if self.settings.newer else {}
        told: dict[str, str] = {}
        others = (self.similar, self.timed.sticky, self.timed.cooling)
        for place in watch.places(self._haystack, scan, others):
            entry = self.entries[place]
            if self._known_by(entry) in self._active or (entry.uid in self._failed and entry.uid not in forced):
                continue
            reason, details = self._activation.decide(entry, scan, self._level)
            taken = reason in TAKEN
            if taken:
                found.append(entry)
            if taken or (reason and self._told.get(entry.uid) != reason):
                events.append(Event(LoopPart.KEYS, entry.uid, taken, reason, details))
            told[entry.uid] = reason
        self._told = told
        sticky = self.timed.sticky
        return sorted(found, key=lambda entry: (entry.uid not in sticky, entry.uid not in forced))

    def _grouped(self, new: list[BookEntry], scan: Scan, events: list[Event]) -> list[BookEntry]:
        score, scoring = partial(self._activation.score, scan=scan), self.settings.use_group_scoring
        left = choose(new, self._active.values(), self.timed, score, self._draw, scoring=scoring)
        for entry in new:
            if entry.uid in left.removed:
                reason, details = left.removed[entry.uid]
                before = self._ousted.get(entry.uid, (reason, details))
                if reason == "wi_group_active" and details.items() <= {**details, **before[1]}.items():
                    reason, details = before  # it lost to the active one in an earlier loop: that is why
                self._ousted[entry.uid] = reason, details
                events.append(Event(LoopPart.GROUPS, entry.uid, False, reason, details))
            elif entry.uid in left.kept:
                events.append(Event(LoopPart.GROUPS, entry.uid, True, *left.kept[entry.uid]))
        return left.left

    def _budgeted(self, new: list[BookEntry], events: list[Event]) -> list[BookEntry]:
        """Those of the new entries that feed recursion: all but the ones that lost their draw.

        What ignores the budget comes in behind the one that broke it, too. An overflow lasts for all later loops since
        1.13.2; before, each began anew.
        """
        kept = self.counter.count(self._kept_text)
        used, running = kept, growing(self.counter)
        full = self._overflowed and self.settings.newer
        for entry in new:
            if full and not entry.ignores_budget:
                details: dict[str, Json] = {"used": used, "budget": self.budget}
                events.append(Event(LoopPart.BUDGET, entry.uid, False, "wi_behind_budget", details))
                continue
            if not self._wins(entry, events):
                self._failed.add(entry.uid)
                continue
            used = kept + running.add(f"{self._content(entry)}\n")
            details = {"used": used, "budget": self.budget}
            if used >= self.budget and not entry.ignores_budget:
                full = self._overflowed = True
                events.append(Event(LoopPart.BUDGET, entry.uid, False, "wi_over_budget", details))
                continue
            replaced = self._active.get(self._known_by(entry))
            if replaced is not None:
                events.append(Event(LoopPart.BUDGET, replaced.uid, False, "wi_replaced", {"winner_uid": entry.uid}))
            self._active[self._known_by(entry)] = entry
            reason = "wi_ignores_budget" if entry.ignores_budget else "wi_fits"
            events.append(Event(LoopPart.BUDGET, entry.uid, True, reason, details))
        return [entry for entry in new if entry.uid not in self._failed]

    def _known_by(self, entry: BookEntry) -> str:
        """Of the active entries of one name, or of none in a book, the last one counts; in 1.12 each counted."""
        name = f"{entry.world}.undefined" if entry.unnumbered else entry.name
        return name if self.settings.newer else entry.uid

    def _content(self, entry: BookEntry) -> str:
        if entry.uid not in self._contents:
            self._contents[entry.uid] = self.substituted(entry.content)
        return self._contents[entry.uid]

    def _wins(self, entry: BookEntry, events: list[Event]) -> bool:
        if entry.probability is None or entry.uid in self.timed.sticky:
            return True
        roll = self._draw() * 100
        if roll <= entry.probability:
            return True
        details: dict[str, Json] = {"probability": entry.probability, "roll": round(roll, 2)}
        events.append(Event(LoopPart.DRAW, entry.uid, False, "wi_lost", details))
        return False

    def _draw(self) -> float:
        self._draws.append(self.next_draw())
        return self._draws[-1]

    def _next(self, scan: Scan, feeding: Sequence[object], levels: list[float | str]) -> Scan | None:
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
