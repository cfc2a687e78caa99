"""What one choice of a chat does to a generation: the same generation run with it and without it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from lorestudio.studio.jobs import CancelToken
from lorestudio.studio.trials import Change, Trials
from lorestudio.trace.journey import FateState, fates
from lorestudio.trace.model import Trace

FILTERS: Final = frozenset({"gated_field", "outside_folders", "blocked"})
"""Reasons by which a chat's choices keep entries out."""

_Name = TypeVar("_Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a choice changes, as ids of entries in the order of the index.

    `filters` are kept out by the chat's choices with it and not without it, `lets_in` the other way round. `keeps_out`
    would go into the prompt without it, and `brings_in` goes in only with it.
    """

    filters: tuple[int, ...] = ()
    lets_in: tuple[int, ...] = ()
    keeps_out: tuple[int, ...] = ()
    brings_in: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.filters or self.lets_in or self.keeps_out or self.brings_in)


def effect(having: Trace, lacking: Trace) -> Effect:
    """The effect of a choice from the run with it and the run without it."""
    stopped, free = _filtered(having), _filtered(lacking)
    inside = frozenset(injection.entry for injection in having.injections)
    outside = frozenset(injection.entry for injection in lacking.injections)
    return Effect(
        tuple(sorted(stopped - free)),
        tuple(sorted(free - stopped)),
        tuple(sorted(outside - inside)),
        tuple(sorted(inside - outside)),
    )


def effects_of_removing(
    trials: Trials, changes: Mapping[_Name, Change], cancel: CancelToken | None = None
) -> dict[_Name, Effect]:
    """For choices that are made: what each of them does. `changes` take one away each.

    Raises Cancelled after a request to stop.
    """
    return {name: effect(trials.before, trials.run(change, cancel)) for name, change in changes.items()}


def effects_of_adding(
    trials: Trials,
    changes: Mapping[_Name, Change],
    cancel: CancelToken | None = None,
    report: Callable[[dict[_Name, Effect]], object] | None = None,
) -> dict[_Name, Effect]:
    """For choices that could be made: what each of them would do; `report` hears of each as it is known.

    Raises Cancelled after a request to stop.
    """
    found: dict[_Name, Effect] = {}
    for name, change in changes.items():
        found[name] = effect(trials.run(change, cancel), trials.before)
        if report is not None:
            report({name: found[name]})
    return found


def _filtered(trace: Trace) -> frozenset[int]:
    return frozenset(
        entry for entry, fate in fates(trace).items() if fate.state is FateState.REMOVED and fate.reason in FILTERS
    )
