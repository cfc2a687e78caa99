"""The protocol of a stage and the one way to write its record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from lorestudio.domain.entry import EMPTY
from lorestudio.domain.javascript import Json
from lorestudio.trace.model import Outcome, Phase, StageRecord, StageStatus, Verdict

Run_contra = TypeVar("Run_contra", contravariant=True)
Inputs_contra = TypeVar("Inputs_contra", contravariant=True)


class Named(Protocol):
    """What a record says of the stage that wrote it."""

    @property
    def name(self) -> str:
        """What the stage is called."""

    @property
    def phase(self) -> Phase:
        """The part of the run that it belongs to."""


class Stage(Named, Protocol[Run_contra, Inputs_contra]):
    """One decision of a run. It changes the run's candidates and accounts for every change in its record."""

    async def run(self, run: Run_contra, inputs: Inputs_contra, /) -> StageRecord:
        """Decide; return who came in, who went on, and why."""


class Choosable(Protocol):
    """What may go into the prompt: an entry, or whatever else a system chooses among, by its number in the trace."""

    @property
    def id(self) -> int:
        """The number."""


class Ledger:
    """Collects a stage's verdicts and closes them into a record; `name` is the stage's.

    Without `detailed` it drops details, but those of the budget, and who is to give costly ones need not make them.
    """

    def __init__(self, stage: Named, candidates: Sequence[Choosable], *, detailed: bool = True) -> None:
        self.name, self._phase, self.detailed = stage.name, stage.phase, detailed
        self._kept = detailed or stage.phase is Phase.BUDGET
        self._entered = tuple([entry.id for entry in candidates])
        self._verdicts: list[Verdict] = []

    @property
    def decided(self) -> int:
        """How many verdicts there are so far."""
        return len(self._verdicts)

    def add(self, entry: Choosable, reason: str, /, **details: Json) -> None:
        """The entry became a candidate."""
        self._note(entry, Outcome.ADDED, reason, details)

    def repeat(self, *verdicts: Verdict) -> None:
        """Verdicts that an earlier run gave in the same words: one object takes the place of thousands."""
        self._verdicts += verdicts

    def keep(self, entry: Choosable, reason: str, /, **details: Json) -> None:
        """The entry stayed, and that is worth a word."""
        self._note(entry, Outcome.KEPT, reason, details)

    def change(self, entry: Choosable, reason: str, /, **details: Json) -> None:
        """The entry stayed, but something about it is different from here on."""
        self._note(entry, Outcome.CHANGED, reason, details)

    def remove(self, entry: Choosable, reason: str, /, **details: Json) -> None:
        """The entry is no candidate any more."""
        self._note(entry, Outcome.REMOVED, reason, details)

    def refuse(self, entry: Choosable, reason: str, /, **details: Json) -> None:
        """The entry was looked at and not let in."""
        self._note(entry, Outcome.REFUSED, reason, details)

    def _note(self, entry: Choosable, outcome: Outcome, reason: str, details: Mapping[str, Json]) -> None:
        self._verdicts.append(Verdict(entry.id, outcome, reason, (self._kept and details) or EMPTY))

    def close(
        self,
        candidates: Iterable[Choosable],
        note: str = "",
        default_reason: str = "",
        details: Mapping[str, Json] = EMPTY,
        status: StageStatus = StageStatus.RAN,
        error: str = "",
    ) -> StageRecord:
        """The record of a stage that leaves `candidates`."""
        return StageRecord(
            name=self.name,
            phase=self._phase,
            entered=self._entered,
            left=tuple([entry.id for entry in candidates]),
            verdicts=tuple(self._verdicts),
            note=note,
            default_reason=default_reason,
            details=details if self._kept else EMPTY,
            status=status,
            error=error,
        )

    def skipped(self, note: str, details: Mapping[str, Json] = EMPTY) -> StageRecord:
        """The record of a stage that had nothing to do; `note` is the reason code."""
        ids = self._entered
        return StageRecord(self.name, self._phase, StageStatus.SKIPPED, ids, ids, note=note, details=details)
