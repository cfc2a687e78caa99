"""The scan: which entries of a lorebook become active (spec: deeplore-ai-and-tools 5.6).

Everything that is decided on the way is kept as `Event`s, loop by loop, so that a trace can tell it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import TokenCounter
from lorestudio.engine.worldinfo.activation import TAKEN, Activation
from lorestudio.engine.worldinfo.book import BookEntry
from lorestudio.engine.worldinfo.groups import choose
from lorestudio.engine.worldinfo.haystack import Haystack, Scan, Source
from lorestudio.engine.worldinfo.timed import Timed
from lorestudio.settings.worldinfo import WorldInfoSettings

_NO_SCORES: Final[Mapping[str, float]] = MappingProxyType({})


class Part(StrEnum):
    """The part of a loop that something was decided in."""

    KEYS = "keys"
    GROUPS = "inclusion groups"
    BUDGET = "probability and budget"


@dataclass(frozen=True, slots=True)
class Event:
    """One decision about one entry. `taken`: it came in here (keys), or it stayed (the others)."""

    part: Part
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


class Scanner:
    """One scan over one list of entries, which stand in the order they are offered to the budget.

    `draw` gives random numbers from 0 to 1, `substituted` a text with its macros filled in; `similar` are the scores of
    the entries that similarity brings in.
    """

    def __init__(
        self,
        entries: Sequence[BookEntry],
        source: Source,
        settings: WorldInfoSettings,
        timed: Timed,
        counter: TokenCounter,
        draw: Callable[[], float],
        budget: int,
        *,
        substituted: Callable[[str], str] = lambda text: text,
        similar: Mapping[str, float] = _NO_SCORES,
    ) -> None:
        self._entries, self._settings = tuple(entries), settings
        self._timed, self._counter, self._budget = timed, counter, budget
        self._haystack = Haystack(source, settings)
        self._activation = Activation(self._haystack, source, settings, timed, substituted, similar)
        self._substituted = substituted
        self._draws: list[float] = []
        self._next_draw = draw
        self._active: dict[str, BookEntry] = {}
        self._contents: dict[str, str] = {}
        self._failed: set[str] = set()
        self._told: dict[str, str] = {}
        self._kept_text = ""
        self._level = 0
        self._overflowed = False

    def run(self) -> Scanned:
        """Scan until nothing new comes in."""
        settings = self._settings
        levels = sorted({entry.recursion_level for entry in self._entries if entry.recursion_level})
        self._level = levels.pop(0) if levels else 0
        scan: Scan | None = Scan.FIRST if self._entries else None
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
        used = self._counter.count("\n".join(self._content(entry) for entry in active))
        draws = tuple(self._draws)
        return Scanned(active, self._contents, tuple(loops), used, self._budget, self._overflowed, draws)

    def _new(self, scan: Scan, events: list[Event]) -> list[BookEntry]:
        """The entries that would become active in this loop, sticky ones first."""
        found = []
        for entry in self._entries:
            if entry.uid in self._active or entry.uid in self._failed:
                continue
            reason, details = self._activation.decide(entry, scan, self._level)
            taken = reason in TAKEN
            if taken:
                found.append(entry)
            if taken or (reason and self._told.get(entry.uid) != reason):
                events.append(Event(Part.KEYS, entry.uid, taken, reason, details))
            self._told[entry.uid] = reason
        sticky = self._timed.sticky
        return sorted(found, key=lambda entry: entry.uid not in sticky)

    def _grouped(self, new: list[BookEntry], scan: Scan, events: list[Event]) -> list[BookEntry]:
        left = choose(
            new,
            self._active.values(),
            self._timed,
            lambda entry: self._activation.score(entry, scan),
            self._draw,
            scoring=self._settings.use_group_scoring,
        )
        for entry in new:
            if entry.uid in left.removed:
                reason, details = left.removed[entry.uid]
                events.append(Event(Part.GROUPS, entry.uid, False, reason, details))
            elif entry.uid in left.kept:
                events.append(Event(Part.GROUPS, entry.uid, True, *left.kept[entry.uid]))
        return [entry for entry in new if entry.uid not in left.removed]

    def _budgeted(self, new: list[BookEntry], events: list[Event]) -> list[BookEntry]:
        """Those of the new entries that feed recursion: all but the ones that lost their draw.

        What ignores the budget comes in behind the one that broke it, too, as in newer SillyTavern.
        """
        kept = self._counter.count(self._kept_text)
        used, running = kept, ""
        full = False
        for entry in new:
            if full and not entry.ignores_budget:
                details: dict[str, Json] = {"used": used, "budget": self._budget}
                events.append(Event(Part.BUDGET, entry.uid, False, "wi_behind_budget", details))
                continue
            if not self._wins(entry, events):
                self._failed.add(entry.uid)
                continue
            running += f"{self._content(entry)}\n"
            used = kept + self._counter.count(running)
            details = {"used": used, "budget": self._budget}
            if used >= self._budget and not entry.ignores_budget:
                full = self._overflowed = True
                events.append(Event(Part.BUDGET, entry.uid, False, "wi_over_budget", details))
                continue
            self._active[entry.uid] = entry
            reason = "wi_ignores_budget" if entry.ignores_budget else "wi_fits"
            events.append(Event(Part.BUDGET, entry.uid, True, reason, details))
        return [entry for entry in new if entry.uid not in self._failed]

    def _content(self, entry: BookEntry) -> str:
        if entry.uid not in self._contents:
            self._contents[entry.uid] = self._substituted(entry.content)
        return self._contents[entry.uid]

    def _wins(self, entry: BookEntry, events: list[Event]) -> bool:
        if entry.probability >= 100 or entry.uid in self._timed.sticky:
            return True
        roll = self._draw() * 100
        if roll <= entry.probability:
            return True
        details: dict[str, Json] = {"probability": entry.probability, "roll": round(roll, 2)}
        events.append(Event(Part.BUDGET, entry.uid, False, "wi_lost", details))
        return False

    def _draw(self) -> float:
        self._draws.append(self._next_draw())
        return self._draws[-1]

    def _next(self, scan: Scan, feeding: Sequence[object], levels: list[int]) -> Scan | None:
        """What the next loop looks at, None at the end."""
        settings, haystack = self._settings, self._haystack
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
