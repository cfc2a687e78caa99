"""The life of a thread: which state follows which, and when (spec: fact-memory 3.1, 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from lorestudio.systems.facts.records import FactError, State, Thread

MINUTE: Final = 60_000
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

ALLOWED: Final[Mapping[State, tuple[State, ...]]] = MappingProxyType(
    {
        State.ACTIVE: (State.COOLING,),
        State.COOLING: (State.ACTIVE, State.DORMANT),
        State.DORMANT: (State.CLOSED,),
        State.CLOSED: (),
    }
)
"""The states that may follow each."""


class InvalidTransitionError(FactError):
    """A state that may not follow the one a thread is in."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a thread stays as it is, in milliseconds."""

    cooling: int = 6 * HOUR
    dormant: int = 6 * HOUR
    closed: int = 30 * DAY


PRESETS: Final[Mapping[str, Timeouts]] = MappingProxyType(
    {
        "daily-checkin": Timeouts(2 * HOUR, 30 * MINUTE, 7 * DAY),
        "weekly-therapy": Timeouts(24 * HOUR, 6 * HOUR, 90 * DAY),
        "on-demand": Timeouts(30 * MINUTE, 15 * MINUTE, 30 * DAY),
        "long-term": Timeouts(12 * HOUR, 6 * HOUR, 365 * DAY),
    }
)


def timeouts(
    preset: str = "", cooling: int | None = None, dormant: int | None = None, closed: int | None = None
) -> Timeouts:
    """The timeouts given, the others by the preset or by default; without either, dormant is as long as cooling."""
    chosen = PRESETS.get(preset)
    cooled = cooling if cooling is not None else (chosen or Timeouts()).cooling
    slept = dormant if dormant is not None else chosen.dormant if chosen else cooled
    return Timeouts(cooled, slept, closed if closed is not None else (chosen or Timeouts()).closed)


def transition(thread: Thread, to: State, now: int) -> Thread:
    """The thread in another state. Raises InvalidTransitionError."""
    if to not in ALLOWED[thread.state]:
        raise InvalidTransitionError(f"Invalid transition: {thread.state} → {to}")
    moved = replace(thread, state=to, updated_at=now)
    if to is State.COOLING:
        return replace(moved, cooling_started_at=now)
    if to is State.DORMANT:
        return replace(moved, dormant_at=now, cooling_started_at=None)
    if to is State.CLOSED:
        return replace(moved, closed_at=now)
    return replace(moved, cooling_started_at=None)


def should_cool(thread: Thread, timeout: int, now: int) -> bool:
    """Whether an active thread has been silent long enough; one that nobody spoke in never cools."""
    since = thread.last_message_at
    return thread.state is State.ACTIVE and since is not None and now - since >= timeout


def should_go_dormant(thread: Thread, timeout: int, now: int) -> bool:
    """Whether a cooling thread's facts are due."""
    since = thread.cooling_started_at
    return thread.state is State.COOLING and since is not None and now - since >= timeout


def should_close(thread: Thread, timeout: int, now: int) -> bool:
    """Whether a dormant thread is over for good."""
    since = thread.dormant_at
    return thread.state is State.DORMANT and since is not None and now - since >= timeout
