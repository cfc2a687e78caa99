"""Sticky, cooldown and delay, counted in messages (rules: sillytavern 5.6 "Timed effects")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field

from lorestudio.exchange.lorebooks.entry import BookEntry


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
