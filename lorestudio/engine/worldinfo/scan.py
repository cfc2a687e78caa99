"""The scan: which entries of a lorebook become active (spec: deeplore-ai-and-tools 5.6).

Everything that is decided on the way is kept as `Event`s, loop by loop, so that a trace can tell it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import TokenCounter
from lorestudio.engine.worldinfo.book import BookEntry, Logic
from lorestudio.engine.worldinfo.groups import choose
from lorestudio.engine.worldinfo.keys import MARK, Matching, UnusableKeyError, occurs
from lorestudio.engine.worldinfo.timed import Timed
from lorestudio.settings.worldinfo import WorldInfoSettings

MOST_DEPTH: Final = 1000


class Scan(StrEnum):
    """What a loop looks at: the chat, also the texts of active entries, or more of the chat."""

    FIRST = "first"
    RECURSION = "recursion"
    WIDER = "wider scan"


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
    """The entries that are active in the end, in the order they became so; the loops; tokens used of the budget."""

    active: tuple[BookEntry, ...]
    loops: tuple[Loop, ...]
    used: int
    budget: int
    overflowed: bool
    draws: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """What is scanned: the messages, the newest first, as they are searched, and the speaker's card.

    `prompts` are texts that other parts of the prompt lend to the scan.
    """

    messages: tuple[str, ...]
    character: str = ""
    prompts: tuple[str, ...] = ()


class Scanner:
    """One scan over one list of entries, which stand in the order they are offered to the budget."""

    def __init__(
        self,
        entries: Sequence[BookEntry],
        source: Source,
        settings: WorldInfoSettings,
        timed: Timed,
        counter: TokenCounter,
        draw: Callable[[], float],
        budget: int,
    ) -> None:
        self._entries, self._source, self._settings = tuple(entries), source, settings
        self._timed, self._counter, self._budget = timed, counter, budget
        self._draws: list[float] = []
        self._next_draw = draw
        self._active: dict[str, BookEntry] = {}
        self._failed: set[str] = set()
        self._told: dict[str, str] = {}
        self._recursion: list[BookEntry] = []
        self._kept_text = ""
        self._skew = 0
        self._level = 0
        self._overflowed = False

    def run(self) -> Scanned:
        """Scan until nothing new comes in."""
        settings = self._settings
        levels = sorted({entry.recursion_level for entry in self._entries if entry.recursion_level})
        self._level = levels.pop(0) if levels else 0
        scan: Scan | None = Scan.FIRST
        loops: list[Loop] = []
        while scan is not None and not 0 < settings.max_recursion_steps <= len(loops):
            events: list[Event] = []
            new = self._new(scan, events)
            new = self._grouped(new, events)
            came = self._budgeted(new, events)
            loops.append(Loop(scan, tuple(events)))
            feeding = [entry for entry in came if not entry.prevent_recursion]
            scan = self._next(scan, feeding, levels)
            if scan is not None:
                self._recursion += feeding
                text = "\n".join(entry.content for entry in feeding)
                self._kept_text = f"{text}\n{self._kept_text}"
        used = self._counter.count("\n".join(entry.content for entry in self._active.values()))
        active = tuple(self._active.values())
        return Scanned(active, tuple(loops), used, self._budget, self._overflowed, tuple(self._draws))

    # ---- keys -------------------------------------------------------------------------------------------------------

    def _new(self, scan: Scan, events: list[Event]) -> list[BookEntry]:
        """The entries that would become active in this loop, sticky ones first."""
        found = []
        for entry in self._entries:
            if entry.uid in self._active or entry.uid in self._failed:
                continue
            reason, details = self._decide(entry, scan)
            taken = reason in _TAKEN
            if taken:
                found.append(entry)
            if taken or (reason and self._told.get(entry.uid) != reason):
                events.append(Event(Part.KEYS, entry.uid, taken, reason, details))
            self._told[entry.uid] = reason
        sticky = self._timed.sticky
        return sorted(found, key=lambda entry: entry.uid not in sticky)

    def _decide(self, entry: BookEntry, scan: Scan) -> tuple[str, Mapping[str, Json]]:
        """Why the entry comes in or stays out; "" where no key was found, which needs no word."""
        refusal = self._refusal(entry, scan)
        if refusal is not None:
            return refusal
        if entry.activates:
            return "wi_decorator", {}
        if entry.never_activates:
            return "wi_never", {}
        if entry.constant:
            return "wi_constant", {}
        if entry.uid in self._timed.sticky:
            return "wi_sticky", {}
        return self._by_keys(entry, scan)

    def _refusal(self, entry: BookEntry, scan: Scan) -> tuple[str, Mapping[str, Json]] | None:
        sticky, recursive = entry.uid in self._timed.sticky, scan is Scan.RECURSION
        if entry.disabled:
            return "wi_disabled", {}
        if entry.characters and (self._source.character in entry.characters) is entry.characters_excluded:
            return "wi_character", {"names": list(entry.characters)}
        if entry.uid in self._timed.waiting:
            return "wi_delay", {"delay": entry.delay}
        if entry.uid in self._timed.cooling and not sticky:
            return "wi_cooling", {"until": self._timed.cooling[entry.uid]}
        if entry.recursion_level and not sticky and (not recursive or entry.recursion_level > self._level):
            return "wi_only_recursion", {"level": entry.recursion_level}
        if recursive and self._settings.recursive and entry.exclude_recursion and not sticky:
            return "wi_no_recursion", {}
        return None

    def _by_keys(self, entry: BookEntry, scan: Scan) -> tuple[str, Mapping[str, Json]]:
        how = Matching.of(
            entry, case_sensitive=self._settings.case_sensitive, whole_words=self._settings.match_whole_words
        )
        text = self._text(entry, scan)
        try:
            key = next((key for key in entry.keys if key.strip() and occurs(key, text, how)), None)
            if key is None:
                return "", {}
            where = self._where(key, how, entry)
            secondary = [each for each in entry.secondary if each.strip()]
            if not entry.selective or not secondary:
                return "wi_key", where
            found = [each for each in secondary if occurs(each, text, how)]
        except UnusableKeyError as error:
            return "wi_pattern", {"problem": str(error)}
        satisfied = {
            Logic.AND_ANY: bool(found),
            Logic.NOT_ALL: len(found) < len(secondary),
            Logic.NOT_ANY: not found,
            Logic.AND_ALL: len(found) == len(secondary),
        }[entry.logic]
        details = {**where, "logic": entry.logic.name, "secondary": list(secondary), "found": list(found)}
        if found:
            details["found_back"] = [self._where(each, how, entry).get("back") for each in found]
        return ("wi_key" if satisfied else "wi_secondary"), details

    def _text(self, entry: BookEntry, scan: Scan) -> str:
        """What is searched for the entry's keys."""
        depth = entry.scan_depth if entry.scan_depth is not None else self._settings.depth + self._skew
        if depth <= 0:
            return ""
        messages = self._source.messages[: min(depth, MOST_DEPTH)]
        text = MARK + f"\n{MARK}".join([*messages, *self._source.prompts])
        if scan is not Scan.WIDER and self._recursion:
            text += f"\n{MARK}" + f"\n{MARK}".join(each.content for each in self._recursion)
        return text

    def _where(self, key: str, how: Matching, entry: BookEntry) -> dict[str, Json]:
        """The newest message that holds the key, else the entry whose text does."""
        depth = entry.scan_depth if entry.scan_depth is not None else self._settings.depth + self._skew
        for place, message in enumerate(self._source.messages[: max(0, min(depth, MOST_DEPTH))]):
            if occurs(key, MARK + message, how):
                return {"key": key, "back": place}
        for source in self._recursion:
            if occurs(key, MARK + source.content, how):
                return {"key": key, "source_uid": source.uid}
        return {"key": key}

    # ---- groups, probability, budget --------------------------------------------------------------------------------

    def _grouped(self, new: list[BookEntry], events: list[Event]) -> list[BookEntry]:
        left = choose(
            new,
            self._active.values(),
            self._timed,
            self._score,
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

    def _score(self, entry: BookEntry) -> int:
        """How many keys of the entry are found, as groups count it."""
        how = Matching.of(
            entry, case_sensitive=self._settings.case_sensitive, whole_words=self._settings.match_whole_words
        )
        text = self._text(entry, Scan.FIRST)
        primary = sum(occurs(key, text, how) for key in entry.keys if key.strip())
        secondary = [key for key in entry.secondary if key.strip()]
        if not primary or not secondary:
            return primary
        found = sum(occurs(key, text, how) for key in secondary)
        if entry.logic is Logic.AND_ANY:
            return primary + found
        return primary + found if entry.logic is Logic.AND_ALL and found == len(secondary) else primary

    def _budgeted(self, new: list[BookEntry], events: list[Event]) -> list[BookEntry]:
        """Those of the new entries that feed recursion: all but the ones that lost their draw."""
        kept = self._counter.count(self._kept_text)
        running = ""
        feeding = []
        for place, entry in enumerate(new):
            if not self._wins(entry, events):
                self._failed.add(entry.uid)
                continue
            feeding.append(entry)
            running += f"{entry.content}\n"
            used = kept + self._counter.count(running)
            if used >= self._budget:
                self._overflowed = True
                for late in new[place:]:
                    details: dict[str, Json] = {"used": used, "budget": self._budget}
                    reason = "wi_over_budget" if late is entry else "wi_behind_budget"
                    events.append(Event(Part.BUDGET, late.uid, False, reason, details))
                return feeding + [late for late in new[place + 1 :] if late.uid not in self._failed]
            self._active[entry.uid] = entry
            events.append(Event(Part.BUDGET, entry.uid, True, "wi_fits", {"used": used, "budget": self._budget}))
        return feeding

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

    # ---- what comes next --------------------------------------------------------------------------------------------

    def _next(self, scan: Scan, feeding: Sequence[BookEntry], levels: list[int]) -> Scan | None:
        settings = self._settings
        if settings.recursive and not self._overflowed and feeding:
            return Scan.RECURSION
        if scan is Scan.WIDER and settings.recursive and not self._overflowed and self._recursion:
            return Scan.RECURSION
        if len(self._active) < settings.min_activations and not self._overflowed:
            depth, most = settings.depth + self._skew, settings.min_activations_depth_max
            if (not most or depth <= most) and depth <= len(self._source.messages):
                self._skew += 1
                return Scan.WIDER
        if levels:
            self._level = levels.pop(0)
            return Scan.RECURSION
        return None


_TAKEN: Final = frozenset({"wi_decorator", "wi_constant", "wi_sticky", "wi_key"})
