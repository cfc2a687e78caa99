"""A run told in stages: what the runs of all systems beside DeepLore keep and put into their traces alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.systems.base import Moment, Step, entry_refs, run_steps
from lorestudio.systems.ledger import Ledger
from lorestudio.trace.model import Injection, Phase, PromptBlock, RunOutcome, StageRecord, Trace


class Telling:
    """The candidates of the moment, changed in place by one stage after the other, and the prompt that comes of them.

    `injections` and `blocks` are set by the stage that places what is left.
    """

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        self.candidates: list[Entry] = []
        self.injections: tuple[Injection, ...] = ()
        self.blocks: tuple[PromptBlock, ...] = ()

    def ledger(self, name: str, phase: Phase) -> Ledger:
        """The verdicts of a stage that begins now."""
        return Ledger(_Named(name, phase), self.candidates)

    def step(self, name: str, phase: Phase, work: Callable[[Ledger], StageRecord]) -> Step:
        """A stage that asks nobody; its work is given the ledger and closes it."""

        async def run() -> StageRecord:
            return work(self.ledger(name, phase))

        return Step(name, phase, run)

    def drop(self, ledger: Ledger, entry: Entry, reason: str, /, **details: Json) -> None:
        """The entry is no candidate any more."""
        self.candidates.remove(entry)
        ledger.remove(entry, reason, **details)

    async def run(self, steps: Sequence[Step]) -> tuple[StageRecord, ...]:
        """The records of all steps, in order (see `run_steps`)."""
        return await run_steps(steps, lambda: tuple(entry.id for entry in self.candidates), self.moment.timer)

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
        )


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    phase: Phase
