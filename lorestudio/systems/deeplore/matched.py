"""What the matching stages came to, kept for runs whose settings leave them as they are.

Of two runs the second takes over what the first one's matching stages did where all that these read is the same: the
settings declared to affect one of them, the window and the length of the chat, who is cooling down, where the random
numbers stand or how the lots are known to have fallen. The rest of the run goes its own way: a changed budget matches
nothing anew, in a replay as in a trial.
Recorded runs take over from recorded ones, whose records say why.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from typing import Final

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.settings.deeplore import declarations
from lorestudio.systems.deeplore import pipeline
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.reads import ALWAYS_READ
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.runner import run_stages
from lorestudio.trace.model import StageRecord, StageStatus

KEPT: Final = 4096
"""Generations of which it is known; once there are more, the oldest is forgotten."""

KEPT_RECORDED: Final = 600
"""The same of recorded ones. So many traces stay unpacked, too, and these share their records."""


@cache
def matching_settings() -> tuple[str, ...]:
    """Names of the settings that the matching stages may read, as they are declared."""
    stages = {stage.name for stage in pipeline.MATCHING}
    return tuple(item.name for item in declarations() if item.name in ALWAYS_READ or stages.intersection(item.affects))


@dataclass(frozen=True, slots=True)
class Matched:
    """What the matching stages left of a run."""

    candidates: tuple[Entry, ...]
    labels: dict[str, str]
    matched: frozenset[int]
    draws: tuple[float, ...]
    random_state: int
    switches: tuple[dict[str, Json], ...]
    records: tuple[StageRecord, ...]

    @classmethod
    def of(cls, state: RunState, records: tuple[StageRecord, ...]) -> Matched:
        """Taken from a run that has just matched."""
        switches, draws = tuple(state.switches), tuple(state.draws)
        labels, matched = dict(state.labels), frozenset(state.matched)
        return cls(tuple(state.candidates), labels, matched, draws, state.random.state, switches, records)

    def hand_to(self, state: RunState) -> tuple[StageRecord, ...]:
        """Bring a run to where it would be after matching."""
        state.candidates, state.matched = list(self.candidates), set(self.matched)
        state.labels, state.switches = dict(self.labels), list(self.switches)
        state.draws, state.random.state = list(self.draws), self.random_state
        return self.records


async def match(state: RunState, ctx: Inputs) -> tuple[StageRecord, ...]:
    """The records of the matching stages, which are run where it is not known what they come to."""
    if state.holding is not None or ctx.random is not None:
        return await run_stages(pipeline.MATCHING, state, ctx, ctx.moment)
    known, most = ctx.index.matched[state.recorded], KEPT_RECORDED if state.recorded else KEPT
    key = _read(state, ctx)
    found: Matched | None = known.get(key)
    if found is not None:
        if (watcher := ctx.moment.watcher) is not None:
            for record in found.records:
                watcher.began(record.name, record.phase)
                watcher.finished(record)
        return found.hand_to(state)
    records = await run_stages(pipeline.MATCHING, state, ctx, ctx.moment)
    if all(record.status is not StageStatus.FAILED for record in records):
        while len(known) >= most:
            known.pop(next(iter(known)), None)
        known[key] = Matched.of(state, records)
    return records


def _read(state: RunState, ctx: Inputs) -> Hashable:
    """All that the matching stages read besides the index."""
    lines = () if state.window is None else tuple((line.message, line.place, line.raw) for line in state.window.lines)
    return (
        tuple(getattr(ctx.settings, name) for name in matching_settings()),
        tuple(ctx.moment.position(line[0]) for line in lines) if state.recorded else (),
        ctx.behaviour,
        ctx.character,
        len(ctx.moment.chat),
        lines,
        tuple(sorted(state.counters.cooldown.items())),
        state.random.state,
        ctx.lots,
    )
