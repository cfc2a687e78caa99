"""What a search for the changes that bring an entry in has found, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from lorestudio.studio.generation import Generation
from lorestudio.trace.diff import Key, TraceDiff
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import Trace
from lorestudio.trace.would import WouldAlso
from lorestudio.tuning.changes import Change


class Holds(StrEnum):
    """Where a change was seen to work."""

    UNCHECKED = "unchecked"
    """In this reply; the replay with it has not been run yet."""
    BOTH = "both"
    """In this reply, and after a replay of the chat with it."""
    REPLY_ONLY = "reply_only"
    """In this reply as the chat stands; after a replay with it the entry is stopped again."""
    REPLAY_ONLY = "replay_only"
    """Only after a replay: it works through what happened earlier in the chat."""

    @property
    def applies(self) -> bool:
        """Whether applying the change brings the entry in."""
        return self in {Holds.BOTH, Holds.REPLAY_ONLY}


_TRUST: Final = {Holds.BOTH: 0, Holds.REPLAY_ONLY: 0, Holds.UNCHECKED: 1, Holds.REPLY_ONLY: 2}
EARLIER_WEIGHT: Final = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """A change that brings the entry in.

    `diff` is what it does to this reply, after the replay where that was run. `earlier` counts the replies before it
    whose injections are others then, of `replies` before it; None until that is known.
    """

    change: Change
    holds: Holds
    diff: TraceDiff = field(repr=False)
    target: Key
    earlier: int | None = None
    replies: int = 0
    stopped: str = ""
    """What stops the entry after the replay, in a sentence, where the change does not hold there."""

    @property
    def others(self) -> int:
        """How many other entries of this reply enter, leave, move or change their size."""
        diff = self.diff
        return sum(
            change.key != self.target
            for changes in (diff.entered, diff.left, diff.moved, diff.resized)
            for change in changes
        )

    @property
    def rank(self) -> tuple[int, float, int]:
        """How much else it moves: the smaller, the better.

        What loses its place counts twice; a change of all earlier replies counts as much as four moved entries.
        """
        lost = sum(change.key != self.target for change in self.diff.left)
        share = (self.earlier or 0) / self.replies if self.replies else 0
        tokens = abs(self.diff.tokens[1] - self.diff.tokens[0])
        return _TRUST[self.holds], lost + self.others + EARLIER_WEIGHT * share, tokens


@dataclass(frozen=True, slots=True)
class Further:
    """A change that lifts the obstacle and is not enough: another stage stops the entry then."""

    change: Change
    fate: Fate
    sentence: str


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Everything that was found; while the search goes on it is what is known so far.

    `fate` is how the run ended for the entry, None for a note that is no entry; then `message` says why. `answers` are
    the changes that work, those that move least first; `keeps_out` says that the entry went in, and that they keep it
    out. `unasked` counts changes that only a model could judge.
    """

    target: Key
    title: str
    generation: Generation
    trace: Trace = field(repr=False)
    fate: Fate | None
    message: str
    would: WouldAlso | None = None
    keeps_out: bool = False
    answers: tuple[Answer, ...] = ()
    further: tuple[Further, ...] = ()
    unasked: int = 0
    tried: int = 0
    complete: bool = False


@dataclass(frozen=True, slots=True)
class WhyNotNews:
    """How far the search is: `done` of `total` changes, what is being tried, and what was found so far."""

    done: int
    total: int
    trying: str
    found: WhyNot = field(repr=False)


def ranked(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Those that move least first; of equals the one that was tried first."""
    return tuple(sorted(answers, key=lambda answer: answer.rank))
