"""Scores of a run over whole chats: how far it does what is expected, and what it costs, with bootstrap intervals.

Every metric is a sum over replies divided by another one (see `METRICS`; resources/docs/tuning.md defines them for the
person), so that parts of a chat, several chats, and blocks drawn at random are scored by the same lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import Terse
from lorestudio.exchange.problems import InputError
from lorestudio.studio.tuning.expectations import Judged, Should, TurnOutcome

ROUNDS: Final = 2000
"""So often blocks are drawn for an interval."""

COVERED: Final = 0.95
_FEWEST_BLOCKS: Final = 4

Numbers: TypeAlias = NDArray[np.float64]


class TurnScore(Struct, frozen=True):
    """What is counted of one reply.

    Of the notes that are expected in (or matched, selected, whole), `hits` are and `missed` are not; `wrong` are in and
    should not be. `met` of `judged` expectations hold. `churn` are entries that are in and were not the reply before,
    or the other way round; None for the first one. `read_again` are tokens that a prompt cache could not keep, None
    where nobody looked.
    """

    generation: Generation
    hits: int = 0
    missed: int = 0
    wrong: int = 0
    met: int = 0
    judged: int = 0
    tokens: int = 0
    cut: int = 0
    churn: int | None = None
    read_again: int | None = None
    ai_calls: int = 0


class Metric(Terse, frozen=True):
    """A figure of a run: the sum of `top` over replies divided by that of `bottom`; there is none where that is 0.

    `unit` "" is a share from 0 to 1. `more` says whether more of it is better.
    """

    unprinted = ("top", "bottom")

    name: str
    title: str
    unit: str
    more: bool
    top: Callable[[TurnScore], float]
    bottom: Callable[[TurnScore], float]


METRICS: Final[Mapping[str, Metric]] = MappingProxyType(
    {
        each.name: each
        for each in (
            Metric("met", "Expectations met", "", True, lambda turn: turn.met, lambda turn: turn.judged),
            Metric("precision", "Precision", "", True, lambda turn: turn.hits, lambda turn: turn.hits + turn.wrong),
            Metric("recall", "Recall", "", True, lambda turn: turn.hits, lambda turn: turn.hits + turn.missed),
            Metric(
                "f1", "F1", "", True,
                lambda turn: 2 * turn.hits, lambda turn: 2 * turn.hits + turn.wrong + turn.missed,
            ),
            Metric("tokens", "Tokens a reply", "tokens", False, lambda turn: turn.tokens, lambda _turn: 1),
            Metric("cut", "Tokens cut by the budget a reply", "tokens", False, lambda turn: turn.cut, lambda _turn: 1),
            Metric(
                "churn", "Entries changed from reply to reply", "entries", False,
                lambda turn: turn.churn or 0, lambda turn: turn.churn is not None,
            ),
            Metric(
                "read_again", "Prompt cache: tokens read again a reply", "tokens", False,
                lambda turn: turn.read_again or 0, lambda turn: turn.read_again is not None,
            ),
            Metric("ai_calls", "Questions to a model a reply", "calls", False,
                   lambda turn: turn.ai_calls, lambda _turn: 1),
        )
    }
)  # fmt: skip


class Interval(Struct, frozen=True):
    """Where a figure lies in 95 of 100 draws of the chat's blocks."""

    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Of a difference: whether it is more than chance, since 0 lies outside."""
        return self.low > 0 or self.high < 0


class Scores(Struct, frozen=True):
    """The scores of a run over replies; those of several chats are joined with `+`. `blocks` are stretches of replies.

    Replies that follow each other are much alike, so an interval draws whole blocks, each of one chat.
    """

    turns: tuple[TurnScore, ...] = ()
    blocks: tuple[range, ...] = ()

    def __add__(self, other: Scores) -> Scores:
        """Both chats together."""
        done = len(self.turns)
        moved = (range(block.start + done, block.stop + done) for block in other.blocks)
        return Scores(self.turns + other.turns, (*self.blocks, *moved))

    def value(self, metric: str) -> float | None:
        """A metric by its name in `METRICS`, None where there is nothing to divide by. Raises InputError."""
        top, bottom = self._sums(metric).sum(axis=0)
        return float(top / bottom) if bottom else None

    def interval(self, metric: str, seed: int = 0) -> Interval | None:
        """The interval of a metric, None where there are too few blocks, or nothing to divide by, to tell one."""
        return bootstrap(self._sums(metric), seed)

    def gain(self, before: Scores, metric: str, seed: int = 0) -> Interval | None:
        """The interval of what a metric has gained since `before`, which is of the same replies; the same blocks are
        drawn of both. None where it cannot be told, ValueError for other replies.
        """
        if [turn.generation for turn in before.turns] != [turn.generation for turn in self.turns]:
            raise ValueError("Only scores of the same replies can be compared.")
        return bootstrap(self._sums(metric), seed, before._sums(metric))

    def _sums(self, metric: str) -> Numbers:
        """For each block both sums, [blocks, 2]."""
        each = METRICS.get(metric)
        if each is None:
            raise InputError("metric", f"there is no metric “{metric}”. There are: {', '.join(METRICS)}.")
        both = np.array([(each.top(turn), each.bottom(turn)) for turn in self.turns], dtype=np.float64).reshape(-1, 2)
        return np.array([both[block.start : block.stop].sum(axis=0) for block in self.blocks]).reshape(-1, 2)


def bootstrap(sums: Numbers, seed: int = 0, less: Numbers | None = None) -> Interval | None:
    """The interval of the first column's sum over the second's, drawn by rows; with `less` of the difference to that.

    `sums` are [blocks, 2]. None for fewer than 4 blocks, and where too many draws have nothing to divide by.
    """
    if len(sums) < _FEWEST_BLOCKS:
        return None
    drawn = np.random.default_rng(seed).integers(0, len(sums), (ROUNDS, len(sums)))

    def values(of: Numbers) -> Numbers:
        top, bottom = np.moveaxis(of[drawn].sum(axis=1), 1, 0)
        shares: Numbers = np.divide(top, bottom, out=np.full(ROUNDS, np.nan), where=bottom > 0)
        return shares

    found = values(sums) if less is None else values(sums) - values(less)
    found = found[~np.isnan(found)]
    if len(found) < ROUNDS * COVERED:
        return None
    outside = (1 - COVERED) / 2
    low, high = np.quantile(found, (outside, 1 - outside))
    return Interval(float(low), float(high))


def blocks(replies: int) -> tuple[range, ...]:
    """A chat of so many replies in stretches of about their cube root, which suits means of replies that are alike."""
    length = max(1, round(replies ** (1 / 3)))
    return tuple(range(start, min(start + length, replies)) for start in range(0, replies, length))


def score(
    outcomes: Sequence[TurnOutcome],
    judged: Sequence[Judged] = (),
    read_again: Mapping[Generation, int] = MappingProxyType({}),
) -> Scores:
    """The scores of replies of one chat, in order, one swipe of each (`expectations.shown_swipes`).

    Of `judged` counts what speaks of these replies, so that a part of a chat is scored by giving its outcomes alone.
    `read_again` are tokens that a prompt cache could not keep.
    """
    counts: dict[Generation, Counter[str]] = {Generation(each.message, each.swipe): Counter() for each in outcomes}
    for each in judged:
        for turn in each.turns:
            if (counted := counts.get(turn.generation)) is None:
                continue
            counted.update(met=int(turn.met), judged=1)
            if each.expectation.should in _WANTED:
                missed = sum(ids <= turn.entries for ids in each.notes)
                counted.update(hits=len(each.notes) - missed, missed=missed)
            elif each.expectation.should is Should.OUT:
                counted.update(wrong=sum(bool(ids & turn.entries) for ids in each.notes))
    turns = []
    before: frozenset[int] | None = None
    for outcome, (generation, counted) in zip(outcomes, counts.items(), strict=True):
        inside = frozenset(entry for entry, _ in outcome.injected)
        turns.append(
            TurnScore(
                generation,
                **counted,
                tokens=outcome.tokens,
                cut=sum(tokens for _, tokens in outcome.cut),
                churn=None if before is None else len(inside ^ before),
                read_again=read_again.get(generation),
                ai_calls=outcome.ai_calls,
            )
        )
        before = inside
    return Scores(tuple(turns), blocks(len(turns)))


def score_by_labels(
    outcomes: Sequence[TurnOutcome], labels: Mapping[Generation, frozenset[int]], left_out: frozenset[int] = frozenset()
) -> Scores:
    """What went in against labels that nobody has written down, of the replies that have some.

    Of what has a label `hits` went in and `missed` did not; `wrong` is what went in without one. `left_out` counts
    nowhere.
    """
    turns = []
    for outcome in outcomes:
        generation = Generation(outcome.message, outcome.swipe)
        if (wanted := labels.get(generation)) is not None:
            inside = frozenset(entry for entry, _ in outcome.injected) - left_out
            wanted -= left_out
            turns.append(TurnScore(generation, len(inside & wanted), len(wanted - inside), len(inside - wanted)))
    return Scores(tuple(turns), blocks(len(turns)))


_WANTED: Final = frozenset({Should.IN, Should.MATCHED, Should.SELECTED, Should.WHOLE})
