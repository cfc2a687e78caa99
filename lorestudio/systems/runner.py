"""Running stages one after the other: timed, watched, with a failure contained in the record of its stage."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Stopped
from lorestudio.domain.records import replace
from lorestudio.systems.base import Moment
from lorestudio.systems.holding import Holding
from lorestudio.systems.ledger import Choosable, Ledger, Stage
from lorestudio.trace.model import (
    EntryRef,
    Injection,
    Phase,
    PromptBlock,
    RunOutcome,
    StageRecord,
    StageStatus,
    Trace,
)

logger = logging.getLogger(__name__)


class UnderWay(Protocol):
    """A run under way, as the runner needs it. A stage that ends the run early sets `outcome`."""

    candidates: list[Any]
    outcome: RunOutcome | None
    holding: Holding | None
    recorded: bool

    def put_back(self, candidates: list[Any]) -> None:
        """Make the candidates these again, which they were before a stage that failed."""
        ...


RunT = TypeVar("RunT", bound=UnderWay)
InputsT = TypeVar("InputsT")

Work: TypeAlias = Callable[[RunT, InputsT, Ledger], StageRecord | Awaitable[StageRecord]]
"""What a stage does; it is given the ledger and closes it."""


async def run_stages(
    stages: Sequence[Stage[RunT, InputsT]], run: RunT, inputs: InputsT, moment: Moment, *, always: bool = False
) -> tuple[StageRecord, ...]:
    """The records of all stages, in order.

    A stage that raises leaves the candidates as they were before it; the run goes on. Once a stage has ended the run,
    the ones after it are recorded as skipped unless `always` is set.
    """
    records: list[StageRecord] = []
    watcher, holding = moment.watcher, run.holding
    for stage in stages:
        if run.outcome is not None and not always:
            record = Ledger(stage, run.candidates).skipped("stopped_early")
        else:
            if watcher is not None:
                watcher.began(stage.name, stage.phase)
            if holding is not None:
                holding.before(stage, run)
            begun = moment.timer()
            record = await _contained(stage, run, inputs)
            record = replace(record, duration_ms=1000 * (moment.timer() - begun))
            if holding is not None:
                holding.after(stage, run, inputs)
        records.append(record)
        if watcher is not None:
            watcher.finished(record)
    return tuple(records)


async def _contained(stage: Stage[RunT, InputsT], run: RunT, inputs: InputsT) -> StageRecord:
    """The stage's record; a failure becomes a record that says what happened, so that the run is not lost."""
    before = list(run.candidates)
    try:
        return await stage.run(run, inputs)
    except Stopped:
        raise
    except Exception as error:
        logger.exception("Stage %r failed", stage.name)
        run.put_back(before)
        ids, message = tuple(candidate.id for candidate in before), f"{type(error).__name__}: {error}"
        return StageRecord(stage.name, stage.phase, StageStatus.FAILED, ids, ids, error=message)


class FunctionStage(Struct, Generic[RunT, InputsT], frozen=True):
    """A stage made of a function."""

    name: str
    phase: Phase
    work: Work[RunT, InputsT]

    async def run(self, run: RunT, inputs: InputsT, /) -> StageRecord:
        """Decide; return who came in, who went on, and why."""
        record = self.work(run, inputs, Ledger(self, run.candidates, detailed=run.recorded))
        return record if isinstance(record, StageRecord) else await record


def stage(name: str, phase: Phase) -> Callable[[Work[RunT, InputsT]], FunctionStage[RunT, InputsT]]:
    """Make a stage of a function."""
    return lambda work: FunctionStage(name, phase, work)


class Run:
    """A run under way of a system whose stages are steps.

    `candidates` are changed in place by one stage after the other. `injections` and `blocks` are set by the stage that
    places what is left.
    """

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        self.candidates: list[Any] = []
        self.injections: tuple[Injection, ...] = ()
        self.blocks: tuple[PromptBlock, ...] = ()
        self.outcome: RunOutcome | None = None
        self.recorded = moment.recorded
        held = moment.held
        self.holding = None if held is None else Holding(held, moment.index.entries[held.entry])

    def put_back(self, candidates: list[Any]) -> None:
        """Make the candidates these again, which they were before a stage that failed."""
        self.candidates[:] = candidates

    def step(self, name: str, phase: Phase, work: Callable[[Ledger], StageRecord | Awaitable[StageRecord]]) -> RunStep:
        """A stage of this run; its work is given the ledger and closes it."""
        return FunctionStage(name, phase, lambda _run, _inputs, ledger: work(ledger))

    def drop(self, ledger: Ledger, entry: Choosable, reason: str, /, **details: Json) -> None:
        """The entry is no candidate any more."""
        self.candidates.remove(entry)
        ledger.remove(entry, reason, **details)

    async def through(self, steps: Sequence[RunStep]) -> tuple[StageRecord, ...]:
        """The records of all steps, in order (see `run_stages`)."""
        return await run_stages(steps, self, None, self.moment)

    def trace(self, system: str, mode: str, records: tuple[StageRecord, ...], index: VaultIndex | None = None) -> Trace:
        """What any run tells, for the system to add its limits, warnings and facts.

        `index` holds the entries where these are not the vault's.
        """
        moment = self.moment
        entries = (moment.index if index is None else index).entries
        return Trace(
            system=system,
            mode=mode,
            outcome=RunOutcome.INJECTED if self.blocks else RunOutcome.NOTHING_INJECTED,
            turn=moment.turn,
            entries=entry_refs(entries, records),
            index_size=len(entries),
            stages=records,
            injections=self.injections,
            prompt=self.blocks,
            seed=moment.seed,
            digests=moment.digests,
            clock_ms=moment.clock_ms,
            facts={
                "counter": moment.counter.name,
                "counted_exactly": moment.counter.exact,
                **({} if self.holding is None else {"held": self.holding.as_json()}),
            },
        )


RunStep: TypeAlias = FunctionStage[Run, None]
"""A stage of a run whose stages are steps."""


def entry_refs(entries: Sequence[Entry], records: Sequence[StageRecord]) -> dict[int, EntryRef]:
    """Who the entries are that the records speak of."""
    named = {entry for record in records for entry in (*record.entered, *record.left)}
    named.update(verdict.entry for record in records for verdict in record.verdicts)
    # Most entries stand at the place that is their number; then nobody has to go through all of them.
    placed = {number: entries[number] for number in sorted(named) if 0 <= number < len(entries)}
    if len(placed) < len(named) or any(number != entry.id for number, entry in placed.items()):
        placed = {entry.id: entry for entry in entries if entry.id in named}
    return {number: EntryRef.of(entry) for number, entry in placed.items()}
