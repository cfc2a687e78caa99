"""Running stages one after the other: timed, watched, with a failure contained in the record of its stage.

A run's random numbers are repeatable, and each is on record. An entry that a stage stopped can be held in, so that the
stages after it say what they would have done with it. Such a run is a question of its own and not what happens in a
chat: its trace and state are never those of a real run (`Trace.facts["held"]`). The entry speaks for nobody: it is put
in when no stage takes entries in any more, and it is taken out again before every stage whose work a model reads, so
that everybody else's way to that place is the same as in the real run, and so is the model's question.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from msgspec import Struct

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Stopped
from lorestudio.domain.records import picked, replace
from lorestudio.systems.base import Hold, Moment
from lorestudio.systems.ledger import Choosable, Ledger, Named, Stage
from lorestudio.trace.model import EntryRef, Injection, Phase, PromptBlock, RunOutcome, StageRecord, StageStatus, Trace

_OVER: Final = frozenset({Phase.BUDGET, Phase.INJECT})
"""Phases from which nothing comes back: who is not accepted here has no place in the prompt."""


@runtime_checkable
class Placing(Protocol):
    """A stage that gives its candidates an order of its own, and can say where an entry would stand in it."""

    def place(self, entry: Entry, candidates: Sequence[Entry], run: object, inputs: object, /) -> int:
        """The index in `candidates` at which the entry would stand."""


class Holding(Struct):
    """One run's holding: `put_back` are the stages that dropped the entry, `not_asked` those that it was kept from.

    `asking` are the stages that choose, word or put a question to a model, `sorting` those among the matching ones that
    only put candidates in order.
    """

    hold: Hold
    entry: Entry
    asking: frozenset[str] = frozenset()
    sorting: frozenset[str] = frozenset()
    put_back: list[str] = []
    not_asked: list[str] = []
    _begun: bool = False
    _withdrawn: bool = False
    _order: list[Entry] = []

    def before(self, stage: Named, run: UnderWay) -> None:
        """Before a stage: put the entry in where nothing else can, or keep it away from a model."""
        if not self._begun and not self.hold.stopped_by and not self._takes_in(stage):
            self._begun = True
            if self._among(run.candidates) is None:
                run.candidates = [*run.candidates, self.entry]
        self._order = list(run.candidates)
        held = self._among(run.candidates)
        self._withdrawn = self._begun and held is not None and (self._takes_in(stage) or stage.name in self.asking)
        if self._withdrawn:
            run.candidates = [entry for entry in run.candidates if entry is not held]
            if stage.name in self.asking:
                self.not_asked.append(stage.name)

    def after(self, stage: Named, run: UnderWay, inputs: object) -> None:
        """After a stage: the entry stands among the candidates again, at its place, and the run goes on."""
        if stage.phase in _OVER or stage.phase is Phase.LOAD or self._among(run.candidates) is not None:
            return
        if not self._begun:
            if stage.name != self.hold.stopped_by:
                return
            self._begun = True
        if not self._withdrawn:
            self.put_back.append(stage.name)
        entry = self._among(self._order) or self.entry
        if isinstance(stage, Placing):
            place = stage.place(entry, run.candidates, run, inputs)
        else:
            place = self._behind_its_neighbour(run.candidates)
        run.candidates = [*run.candidates[:place], entry, *run.candidates[place:]]
        run.outcome = None

    def as_json(self) -> Mapping[str, Json]:
        """What was done, for the trace."""
        return {
            **picked(self.hold, "entry", "stopped_by"),
            "put_back": list(self.put_back),
            "not_asked": list(self.not_asked),
        }

    def _among(self, entries: Sequence[Entry]) -> Entry | None:
        """The entry as it stands among these: a pin makes a copy of it."""
        return next((entry for entry in entries if entry.id == self.entry.id), None)

    def _behind_its_neighbour(self, candidates: Sequence[Entry]) -> int:
        """Behind the nearest entry that stood before it and still stands."""
        places = {entry.id: place for place, entry in enumerate(candidates)}
        earlier: list[int] = []
        for entry in self._order:
            if entry.id == self.entry.id:
                break
            earlier.append(entry.id)
        return next((places[number] + 1 for number in reversed(earlier) if number in places), 0)

    def _takes_in(self, stage: Named) -> bool:
        """Whether the stage makes candidates of entries: then what stands there would be found by others too."""
        return stage.phase in {Phase.LOAD, Phase.MATCH} and stage.name not in self.sorting


logger = logging.getLogger(__name__)


class UnderWay(Protocol):
    """A run under way, as the runner needs it. A stage that ends the run early sets `outcome`."""

    candidates: list[Any]
    outcome: RunOutcome | None
    holding: Holding | None
    recorded: bool

    def put_back(self, candidates: list[Any]) -> None:
        """Make the candidates these again, which they were before a stage that failed."""


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

    def take(self, ledger: Ledger, entry: Choosable, reason: str, /, **details: Json) -> None:
        """The entry becomes a candidate."""
        self.candidates.append(entry)
        ledger.add(entry, reason, **details)

    def drop(self, ledger: Ledger, entry: Choosable, reason: str, /, **details: Json) -> None:
        """The entry is no candidate any more."""
        self.candidates.remove(entry)
        ledger.remove(entry, reason, **details)

    def message_with(self, key: str, places: Iterable[int]) -> int | None:
        """The first of these messages that holds the key in any case, by its number in the chat file."""
        low, moment = key.lower(), self.moment
        return next((moment.position(place) for place in places if low in moment.chat[place].text.lower()), None)

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
    named = set[int]().union(*[record.entered for record in records], *[record.left for record in records])
    named.update([verdict.entry for record in records for verdict in record.verdicts])
    # Most entries stand at the place that is their number; then nobody has to go through all of them.
    placed = {number: entries[number] for number in sorted(named) if 0 <= number < len(entries)}
    if len(placed) < len(named) or any(number != entry.id for number, entry in placed.items()):
        placed = {entry.id: entry for entry in entries if entry.id in named}
    return {number: EntryRef.of(entry) for number, entry in placed.items()}


_MASK = 0xFFFFFFFF


class Mulberry32:
    """A stream of numbers in [0, 1) from a 32-bit state, the one that the recorded runs use (rules: scenario-format 4).

    `state` may be stored and given to a new stream, which then goes on where this one stopped.
    """

    def __init__(self, state: int) -> None:
        self.state = state & _MASK

    def next(self) -> float:
        """The next number of the stream."""
        self.state = (self.state + 0x6D2B79F5) & _MASK
        word = self.state
        mixed = ((word ^ (word >> 15)) * (1 | word)) & _MASK
        mixed = (((mixed + ((mixed ^ (mixed >> 7)) * (61 | mixed))) & _MASK) ^ mixed) & _MASK
        return (mixed ^ (mixed >> 14)) / 2**32
