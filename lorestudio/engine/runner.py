"""Running stages one after the other: timed, with a failure contained in the record of the stage it happened in."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lorestudio.engine.stage import Stage, skipped
from lorestudio.trace.model import StageRecord, StageStatus

if TYPE_CHECKING:
    from lorestudio.engine.context import RunContext
    from lorestudio.engine.deeplore.state import RunState

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
            records.append(skipped(stage, state.candidates, "stopped_early"))
            continue
        before = list(state.candidates)
        begun = ctx.timer()
        try:
            record = await stage.run(state, ctx)
        except Exception as error:  # one bad stage must not lose the run; its record says what happened
            logger.exception("Stage %r failed", stage.name)
            ids = tuple(entry.id for entry in before)
            state.matched.difference_update({entry.id for entry in state.candidates}.difference(ids))
            state.candidates = before
            record = StageRecord(
                stage.name, stage.phase, StageStatus.FAILED, ids, ids, error=f"{type(error).__name__}: {error}"
            )
        records.append(replace(record, duration_ms=1000 * (ctx.timer() - begun)))
    return tuple(records)
