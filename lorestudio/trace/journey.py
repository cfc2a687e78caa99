"""What happened to one entry: its way through the stages, and the one decision that settled it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.trace.model import Outcome, Phase, StageRecord, StageStatus, Trace, Verdict
from lorestudio.trace.reasons import Explanation, explain, explain_reason

KEYWORD_STAGE: Final = "keywords"


class CellState(StrEnum):
    """What a stage was to an entry.

    `NOT_REACHED`: the stage did not look at it: it was skipped or never run, or the entry had left before, or the stage
    only works on candidates and this was none. `ABSENT`: the stage could have let it in and said nothing about it.
    """

    NOT_REACHED = "not_reached"
    ABSENT = "absent"
    ADDED = "added"
    KEPT = "kept"
    CHANGED = "changed"
    REMOVED = "removed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Cell:
    """One entry in one stage; `verdict` is None where the stage gave no reason."""

    stage: str
    state: CellState
    verdict: Verdict | None = None


class FateState(StrEnum):
    """How a run ended for one entry."""

    INJECTED = "injected"
    TRUNCATED = "truncated"
    REMOVED = "removed"
    REFUSED = "refused"
    UNDECIDED = "undecided"  # still a candidate when the run ended
    NEVER = "never"  # never a candidate


@dataclass(frozen=True, slots=True)
class Fate:
    """The decision that settled an entry: which stage made it, and the reason's code and details.

    `stage` is empty where no stage decided (`NEVER` in a run that was skipped). `phase` is the stage's.
    """

    entry: int
    state: FateState
    stage: str
    phase: Phase | None
    reason: str
    details: Mapping[str, Json] = field(default_factory=dict)

    def explain(self, trace: Trace) -> Explanation:
        """The decision in words."""
        return explain_reason(self.reason, self.details, trace, self.entry)


_WEIGHT: Final = {
    Outcome.REMOVED: 4,
    Outcome.ADDED: 3,
    Outcome.CHANGED: 2,
    Outcome.KEPT: 1,
    Outcome.REFUSED: 0,
}


class _StageView:
    """A stage record, ready to be asked about single entries."""

    def __init__(self, record: StageRecord) -> None:
        self.record = record
        self.entered = frozenset(record.entered)
        self.left = frozenset(record.left)
        self.refused = frozenset(verdict.entry for verdict in record.with_outcome(Outcome.REFUSED))
        self.verdicts: dict[int, Verdict] = {}
        for verdict in record.verdicts:
            earlier = self.verdicts.get(verdict.entry)
            # An entry can be refused twice, or be refused and then come in by another way: what holds is shown.
            if earlier is None or _WEIGHT[verdict.outcome] > _WEIGHT[earlier.outcome]:
                self.verdicts[verdict.entry] = verdict

    def cell(self, entry: int, *, gone: bool) -> Cell:
        """The entry's cell; `gone` says that it had left the run before."""
        return Cell(self.record.name, self._state(entry, gone=gone), self.verdicts.get(entry))

    def stopped(self, entry: int) -> bool:
        """Whether the entry was a candidate and left here."""
        if entry in self.left or self.record.status is StageStatus.SKIPPED:
            return False
        if entry in self.entered:
            return True
        verdict = self.verdicts.get(entry)
        return verdict is not None and verdict.outcome is Outcome.REMOVED

    def _state(self, entry: int, *, gone: bool) -> CellState:
        if self.record.status is StageStatus.SKIPPED:
            return CellState.NOT_REACHED
        if self.stopped(entry):
            return CellState.REMOVED
        verdict = self.verdicts.get(entry)
        if entry in self.left:
            if entry not in self.entered:
                return CellState.ADDED
            changed = verdict is not None and verdict.outcome is Outcome.CHANGED
            return CellState.CHANGED if changed else CellState.KEPT
        if verdict is not None:
            return CellState(verdict.outcome.value)
        if self.record.phase is Phase.LOAD:
            return CellState.KEPT
        return CellState.ABSENT if self.record.phase is Phase.MATCH and not gone else CellState.NOT_REACHED


def journey(trace: Trace, entry_id: int) -> tuple[Cell, ...]:
    """The entry's cell in every stage, in the order of the stages."""
    return journeys(trace, (entry_id,))[entry_id]


def journeys(trace: Trace, entry_ids: Iterable[int]) -> Mapping[int, tuple[Cell, ...]]:
    """The cells of many entries; the records are read only once."""
    views = tuple(_StageView(record) for record in trace.stages)
    return {entry_id: _cells(views, entry_id) for entry_id in entry_ids}


def _cells(views: tuple[_StageView, ...], entry_id: int) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    gone = False
    for view in views:
        cell = view.cell(entry_id, gone=gone)
        cells.append(cell)
        if cell.state is CellState.REMOVED or (cell.state is CellState.REFUSED and view.record.phase is Phase.LOAD):
            gone = True
        elif cell.state is CellState.ADDED:
            gone = False
    return tuple(cells)


def explain_cell(trace: Trace, entry_id: int, cell: Cell) -> Explanation | None:
    """A cell in words: its verdict, else what the stage says of all entries that it did not take in, else why the
    stage was skipped; None where there is nothing to say.
    """
    if cell.verdict is not None:
        return explain(cell.verdict, trace)
    record = trace.stage(cell.stage)
    if record is None:
        return None
    if cell.state is CellState.ABSENT and record.default_reason:
        return explain_reason(record.default_reason, record.details, trace, entry_id)
    if record.status is StageStatus.SKIPPED and record.note:
        return explain_reason(record.note, record.details, trace, entry_id)
    return None


def fate(trace: Trace, entry_id: int) -> Fate:
    """How the run ended for the entry, and the decision behind it."""
    return fates(trace, (entry_id,))[entry_id]


def fates(trace: Trace, entry_ids: Iterable[int] | None = None) -> Mapping[int, Fate]:
    """The fates of many entries, of all that a stage decided about by default."""
    views = tuple(_StageView(record) for record in trace.stages)
    wanted = tuple(entry_ids) if entry_ids is not None else tuple(_decided(trace))
    injected = {injection.entry: injection for injection in trace.injections}
    result: dict[int, Fate] = {}
    for entry in wanted:
        if entry in injected:
            state = FateState.TRUNCATED if injected[entry].truncated else FateState.INJECTED
            result[entry] = _went_in(views, entry, state, injected[entry].tokens)
        else:
            result[entry] = _stopped(views, entry) or _never(trace, entry)
    return result


def _decided(trace: Trace) -> Iterable[int]:
    """Entries that a stage decided about or that were candidates, in order of first mention."""
    seen: dict[int, None] = {injection.entry: None for injection in trace.injections}
    for record in trace.stages:
        seen.update(dict.fromkeys(record.entered))
        seen.update(dict.fromkeys(verdict.entry for verdict in record.verdicts))
        seen.update(dict.fromkeys(record.left))
    return seen


def _went_in(views: tuple[_StageView, ...], entry: int, state: FateState, tokens: float) -> Fate:
    """The budget's word on an entry that went in."""
    for view in reversed(views):
        verdict = view.verdicts.get(entry)
        if view.record.phase is Phase.BUDGET and verdict is not None:
            return Fate(entry, state, view.record.name, Phase.BUDGET, verdict.reason, verdict.details)
    return Fate(entry, state, "", None, "went_in", {"tokens": tokens})


def _stopped(views: tuple[_StageView, ...], entry: int) -> Fate | None:
    """The stage that took a candidate out; else the first that refused the entry; None where it was never looked at."""
    removed: Fate | None = None
    refused: Fate | None = None
    candidate: _StageView | None = None
    for view in views:
        if entry in view.left:
            removed, candidate = None, view
        elif view.stopped(entry):
            removed, candidate = _fate(view, entry, FateState.REMOVED), None
        elif refused is None and entry in view.refused:
            refused = _fate(view, entry, FateState.REFUSED)
    if removed is not None or candidate is None:
        return removed or refused
    return Fate(entry, FateState.UNDECIDED, candidate.record.name, candidate.record.phase, "run_ended")


def _fate(view: _StageView, entry: int, state: FateState) -> Fate:
    verdict = view.verdicts.get(entry)
    if verdict is None:
        return Fate(entry, state, view.record.name, view.record.phase, "")
    return Fate(entry, state, view.record.name, view.record.phase, verdict.reason, verdict.details)


def _never(trace: Trace, entry: int) -> Fate:
    """Why an entry was never a candidate: what the keyword pass says of all that it did not hit, or the whole run."""
    if trace.skip_reason:
        return Fate(entry, FateState.NEVER, "", None, trace.skip_reason)
    records = sorted(trace.stages, key=lambda record: record.name != KEYWORD_STAGE)
    for record in records:
        if record.default_reason:
            return Fate(entry, FateState.NEVER, record.name, record.phase, record.default_reason, record.details)
    keywords = trace.stage(KEYWORD_STAGE)
    if keywords is not None and keywords.note:
        return Fate(entry, FateState.NEVER, keywords.name, keywords.phase, keywords.note, keywords.details)
    return Fate(entry, FateState.NEVER, "", None, "never_candidate")


_ORDER: Final = (FateState.INJECTED, FateState.REMOVED, FateState.UNDECIDED, FateState.REFUSED)


def rows(trace: Trace) -> tuple[int, ...]:
    """The entries that a journey matrix shows.

    Injected ones in injection order, then those the budget cut, then those that other stages removed, in the order of
    the stages; then what was still a candidate when the run ended, and last the refused ones, in the order of the
    stages. Entries that no stage decided about have no row.
    """
    places = {record.name: index for index, record in reversed(tuple(enumerate(trace.stages)))}
    injected = {injection.entry: index for index, injection in enumerate(trace.injections)}
    within = {
        (record.name, verdict.entry): index
        for record in trace.stages
        for index, verdict in reversed(tuple(enumerate(record.verdicts)))
    }

    def key(item: Fate) -> tuple[int, int, int, int]:
        if item.entry in injected:
            return 0, 0, injected[item.entry], 0
        cut = item.state is FateState.REMOVED and item.phase is Phase.BUDGET
        at = within.get((item.stage, item.entry), len(within))
        return _ORDER.index(item.state), int(not cut), places.get(item.stage, 0), at

    decided = (item for item in fates(trace).values() if item.state is not FateState.NEVER)
    return tuple(item.entry for item in sorted(decided, key=key))
