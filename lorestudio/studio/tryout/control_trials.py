"""What one choice of a chat does to a generation: the same generation run with it and without it.

Everything else is the same: vault, chat, state before it, seed. Nothing is kept, no provider is asked, and the
simulator's own traces and states stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Final, TypeVar

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.state import ChatControls
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.journey import FateState, Journeys
from lorestudio.trace.model import Trace

Change = Callable[[ChatControls], ChatControls]
"""Other choices from those of now."""


class Trials:
    """Trials of one generation that was run.

    It takes what it needs from the simulator when it is made, at once, and may then be used in any thread. Questions
    to a model that were not asked before are answered by the stand-in where that answers anyway; else they fail, and
    the run falls back as the settings say. Raises ValueError for a generation that was not run.
    """

    def __init__(self, simulator: Simulator, generation: Generation) -> None:
        self._rerun = Rerun.of(simulator, generation)
        self.before = self._rerun.before

    def run(self, change: Change, cancel: CancelToken | None = None) -> Trace:
        """The trace with other choices. Raises Cancelled between two stages after a request to stop."""
        controls = change(self._rerun.moment.controls)
        return self._rerun.at(controls=controls, digests={}).run(cancel).trace

    def effect(self, having: Trace, lacking: Trace) -> Effect:
        """The effect of a choice from the run with it and the run without it."""
        filters = self._rerun.system.kind.filters
        stopped, free = _filtered(having, filters), _filtered(lacking, filters)
        inside = frozenset(injection.entry for injection in having.injections)
        outside = frozenset(injection.entry for injection in lacking.injections)
        return Effect(
            tuple(sorted(stopped - free)),
            tuple(sorted(free - stopped)),
            tuple(sorted(outside - inside)),
            tuple(sorted(inside - outside)),
        )


_Name = TypeVar("_Name", bound=Hashable)
_STOPPED: Final = frozenset({FateState.REMOVED, FateState.REFUSED})


class Effect(Struct, frozen=True):
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


def effects_of_removing(
    trials: Trials, changes: Mapping[_Name, Change], cancel: CancelToken | None = None
) -> dict[_Name, Effect]:
    """For choices that are made: what each of them does. `changes` take one away each.

    Raises Cancelled after a request to stop.
    """
    return {name: trials.effect(trials.before, trials.run(change, cancel)) for name, change in changes.items()}


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
        found[name] = trials.effect(trials.run(change, cancel), trials.before)
        if report is not None:
            report({name: found[name]})
    return found


def _filtered(trace: Trace, filters: frozenset[str]) -> frozenset[int]:
    fates = Journeys(trace).fates.items()
    return frozenset(entry for entry, fate in fates if fate.state in _STOPPED and fate.reason in filters)
