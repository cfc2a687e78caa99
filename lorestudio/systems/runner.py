"""Running stages one after the other: timed, with a failure contained in the record of the stage it happened in."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lorestudio.domain.lifecycle import Stopped
from lorestudio.systems.ledger import Stage, skipped
from lorestudio.trace.model import StageRecord, StageStatus

if TYPE_CHECKING:
    from lorestudio.systems.context import RunContext
    from lorestudio.systems.deeplore.state import RunState

logger = logging.getLogger(__name__)


async def run_stages(
    stages: Sequence[Stage], state: RunState, ctx: RunContext, *, always: bool = False
) -> tuple[StageRecord, ...]:
    """The records of all stages, in order.

    A stage that raises leaves the candidates as they were before it; the run goes on. Once a stage has ended the run
    (`state.outcome`), the ones after it are recorded as skipped unless `always` is set.
    """
    records: list[StageRecord] = []
    for stage in stages:
        if state.outcome is not None and not always:
            record = skipped(stage, state.candidates, "stopped_early")
        else:
            if ctx.watcher is not None:
                ctx.watcher.began(stage.name, stage.phase)
            if state.holding is not None:
                state.holding.before(stage, state)
            begun = ctx.timer()
            record = await _contained(stage, state, ctx)
            record = replace(record, duration_ms=1000 * (ctx.timer() - begun))
            if state.holding is not None:
                state.holding.after(stage, state, ctx)
        records.append(record)
        if ctx.watcher is not None:
            ctx.watcher.finished(record)
    return tuple(records)


async def _contained(stage: Stage, state: RunState, ctx: RunContext) -> StageRecord:
    """The stage's record; a failure becomes a record that says what happened, so that the run is not lost."""
    before = list(state.candidates)
    try:
        return await stage.run(state, ctx)
    except Stopped:
        raise
    except Exception as error:
        logger.exception("Stage %r failed", stage.name)
        ids = tuple(entry.id for entry in before)
        state.matched.difference_update({entry.id for entry in state.candidates}.difference(ids))
        state.candidates = before
        message = f"{type(error).__name__}: {error}"
        return StageRecord(stage.name, stage.phase, StageStatus.FAILED, ids, ids, error=message)
