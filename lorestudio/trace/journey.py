"""What happened to one entry: its way through the stages, the one decision that settled it, and what brought it in.

`renumbered` gives entries other numbers where their own would be taken for entries of the vault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.trace.explain import explain, explain_reason
from lorestudio.trace.model import Outcome, Phase, PromptBlock, ReplyItem, StageRecord, StageStatus, Trace, Verdict
from lorestudio.trace.vocabulary import Explanation

FOREIGN_IDS: Final = 1 << 24
"""From here on count the entries of traces that are none of the vault's: recaps, and entries of a lorebook file."""

_ENTRY_DETAILS: Final = frozenset({"source_id", "refine_source_id"})
"""Details of verdicts that name an entry by its number."""


_Number: TypeAlias = Callable[[int], int]


def renumbered(trace: Trace, number_of: _Number, *, others: bool = True) -> Trace:
    """The same trace with every entry's number as `number_of` has it; `others`: none is an entry of the project's."""
    return replace(
        trace,
        others=others,
        entries={(new := number_of(number)): replace(ref, id=new) for number, ref in trace.entries.items()},
        stages=tuple(_stage(record, number_of) for record in trace.stages),
        injections=tuple(replace(item, entry=number_of(item.entry)) for item in trace.injections),
        prompt=tuple(_block(block, number_of) for block in trace.prompt),
        notes=tuple(_block(block, number_of) for block in trace.notes),
    )


def _stage(record: StageRecord, number_of: _Number) -> StageRecord:
    ai = record.ai
    return replace(
        record,
        entered=tuple(map(number_of, record.entered)),
        left=tuple(map(number_of, record.left)),
        verdicts=tuple(_verdict(verdict, number_of) for verdict in record.verdicts),
        ai=ai if ai is None else replace(ai, items=tuple(_item(item, number_of) for item in ai.items)),
    )


def _verdict(verdict: Verdict, number_of: _Number) -> Verdict:
    return replace(verdict, entry=number_of(verdict.entry), details=_details(verdict.details, number_of))


def _details(details: Mapping[str, Json], number_of: _Number) -> Mapping[str, Json]:
    named = _ENTRY_DETAILS & details.keys()
    if not named:
        return details
    moved = {name: number_of(value) for name in named if isinstance(value := details[name], int)}
    return {**details, **moved}


def _item(item: ReplyItem, number_of: _Number) -> ReplyItem:
    return replace(item, entries=tuple(map(number_of, item.entries)))


def _block(block: PromptBlock, number_of: _Number) -> PromptBlock:
    parts = tuple(part if part.entry is None else replace(part, entry=number_of(part.entry)) for part in block.parts)
    return replace(block, parts=parts)


CHOSEN: Final = "AI"
ASKED_FOR: Final = "constant"
"""Words of `Vocabulary.origins` that count above others: a model's choice, and what comes in at every reply."""


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


class JourneyCell(Struct, frozen=True):
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

    @property
    def went_in(self) -> bool:
        """Whether it stands in the prompt, whole or shortened."""
        return self in {FateState.INJECTED, FateState.TRUNCATED}


class Fate(Struct, frozen=True):
    """The decision that settled an entry: which stage made it, and the reason's code and details.

    Of an entry that went in whole that is what brought it in. `stage` is empty where no stage decided (`NEVER` in a run
    that was skipped). `phase` is the one that the decision counts for (`counted_in`).
    """

    entry: int
    state: FateState
    stage: str
    phase: Phase | None
    reason: str
    details: Mapping[str, Json] = {}

    def explain(self, trace: Trace) -> Explanation:
        """The decision in words."""
        return explain_reason(self.reason, self.details, trace, self.entry)


PHASES: Final = (Phase.MATCH, Phase.SELECT, Phase.GATE, Phase.BUDGET, Phase.INJECT)
"""The phases that a table shows; what loads counts as the beginning of the match."""

_IN_A_PHASE: Final = {
    CellState.NOT_REACHED: 0, CellState.ABSENT: 1, CellState.KEPT: 2, CellState.REFUSED: 3, CellState.CHANGED: 4,
    CellState.ADDED: 5, CellState.REMOVED: 5,
}  # fmt: skip


def phase_of(record: StageRecord) -> Phase:
    """The phase that a table shows a stage in."""
    return Phase.MATCH if record.phase is Phase.LOAD else record.phase


def counted_in(trace: Trace, record: StageRecord, verdict: Verdict | None) -> Phase:
    """The phase that a decision counts for: the stage's, but where the system's words count the reason elsewhere."""
    part = trace.words.parts.get(verdict.reason, "") if verdict is not None else ""
    return _COUNTS_FOR.get(part, record.phase)


_COUNTS_FOR: Final = {"gate": Phase.GATE, "not chosen": Phase.SELECT}


def phase_cell(phase: Phase, cells: Sequence[JourneyCell], stages: Sequence[StageRecord]) -> JourneyCell:
    """What a phase was to an entry: the cell that says most, of those that say as much the last with a verdict.

    `cells` are those of all the `stages`. That an entry was there to be matched is no match.
    """
    found: JourneyCell | None = None
    for cell, record in zip(cells, stages, strict=True):
        if phase_of(record) is not phase or (record.phase is Phase.LOAD and cell.state is CellState.KEPT):
            continue
        rank = (_IN_A_PHASE[cell.state], cell.verdict is not None)
        if found is None or rank >= (_IN_A_PHASE[found.state], found.verdict is not None):
            found = cell
    return found or JourneyCell("", CellState.NOT_REACHED)


_WEIGHT: Final = {Outcome.REMOVED: 4, Outcome.ADDED: 3, Outcome.CHANGED: 2, Outcome.KEPT: 1, Outcome.REFUSED: 0}


class _StageView:
    """A stage record, ready to be asked about single entries."""

    def __init__(self, record: StageRecord) -> None:
        self.record = record
        self.entered = frozenset(record.entered)
        self.left = frozenset(record.left)
        self.skipped = record.status is StageStatus.SKIPPED
        self.refused = frozenset(verdict.entry for verdict in record.with_outcome(Outcome.REFUSED))
        self.verdicts: dict[int, Verdict] = {}
        for verdict in record.verdicts:
            earlier = self.verdicts.get(verdict.entry)
            # An entry can be refused twice, or be refused and then come in by another way: what holds is shown.
            if earlier is None or _WEIGHT[verdict.outcome] > _WEIGHT[earlier.outcome]:
                self.verdicts[verdict.entry] = verdict
        removed = (entry for entry, one in self.verdicts.items() if one.outcome is Outcome.REMOVED)
        self.stopped = frozenset() if self.skipped else (self.entered | frozenset(removed)) - self.left
        """Who was a candidate and left here."""

    def cell(self, entry: int, *, gone: bool) -> JourneyCell:
        """The entry's cell; `gone` says that it had left the run before."""
        return JourneyCell(self.record.name, self._state(entry, gone=gone), self.verdicts.get(entry))

    def _state(self, entry: int, *, gone: bool) -> CellState:
        if self.skipped:
            return CellState.NOT_REACHED
        if entry in self.stopped:
            return CellState.REMOVED
        verdict = self.verdicts.get(entry)
        if entry in self.left:
            if entry not in self.entered:
                return CellState.ADDED
            changed = verdict is not None and verdict.outcome is Outcome.CHANGED
            return CellState.CHANGED if changed else CellState.KEPT
        if verdict is not None:
            return CellState(verdict.outcome.value)
        if self.record.phase is Phase.LOAD:  # a stage that names all who came in left out the others
            return CellState.NOT_REACHED if self.left else CellState.KEPT
        return CellState.ABSENT if self.record.phase is Phase.MATCH and not gone else CellState.NOT_REACHED


_ORDER: Final = {
    state: place
    for place, state in enumerate((FateState.INJECTED, FateState.REMOVED, FateState.UNDECIDED, FateState.REFUSED))
}


class Journeys:
    """A trace, read once, so that it can be asked about thousands of entries."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._views = tuple(_StageView(record) for record in trace.stages)

    def cells(self, entry: int) -> tuple[JourneyCell, ...]:
        """The entry's cell in every stage, in the order of the stages."""
        if _is_elsewhere(self.trace, entry):
            return tuple(JourneyCell(view.record.name, CellState.NOT_REACHED) for view in self._views)
        cells: list[JourneyCell] = []
        gone = False
        for view in self._views:
            cell = view.cell(entry, gone=gone)
            cells.append(cell)
            if cell.state is CellState.REMOVED or (cell.state is CellState.REFUSED and view.record.phase is Phase.LOAD):
                gone = True
            elif cell.state is CellState.ADDED:
                gone = False
        return tuple(cells)

    def fate(self, entry: int) -> Fate:
        """How the run ended for the entry, and the decision behind it."""
        return self.fates.get(entry) or _never(self.trace, entry)

    def told(self, entry: int) -> Explanation:
        """Why the run ended so for the entry, in words; of one that went in shortened also what brought it in."""
        fate = self.fate(entry)
        words, way = fate.explain(self.trace), self.came_in(entry)
        if fate.state is FateState.TRUNCATED and way is not None:
            brief = f"{words.brief}; {way.brief[:1].lower()}{way.brief[1:]}"
            return replace(words, sentence=f"{way.sentence} {words.sentence}", brief=brief)
        return words

    def came_in(self, entry: int) -> Explanation | None:
        """What brought the entry in, in words; None where it never was a candidate, or no stage gave a reason."""
        way = self.ways_in.get(entry)
        return explain(way[1], self.trace) if way is not None else None

    @cached_property
    def ways_in(self) -> Mapping[int, tuple[StageRecord, Verdict]]:
        """What brought each candidate in, and the stage that says so.

        A model's choice counts above the match that made the entry eligible; that every entry is eligible (AI-only
        mode), or that something goes in for want of a choice, counts below everything else.
        """
        words = self.trace.words
        known = {code: word for word, codes in words.origins.items() for code in codes}
        found: dict[int, tuple[StageRecord, Verdict]] = {}
        for record in self.trace.stages:
            for verdict in record.verdicts:
                if verdict.outcome in {Outcome.REMOVED, Outcome.REFUSED}:
                    continue
                word, earlier = known.get(verdict.reason, ""), found.get(verdict.entry)
                before = known.get(earlier[1].reason, "") if earlier is not None else ""
                chosen = word == CHOSEN and before != ASKED_FOR
                if chosen or (word and not before) or (earlier is None and verdict.outcome is Outcome.ADDED):
                    found[verdict.entry] = record, verdict
        return found

    @cached_property
    def fates(self) -> Mapping[int, Fate]:
        """The fates of all entries that a stage decided about or that were candidates, in order of first mention."""
        injected = {injection.entry: injection for injection in self.trace.injections}
        removed, refused, candidates = self._ends()
        result: dict[int, Fate] = {}
        for entry in _decided(self.trace):
            if entry in injected:
                state = FateState.TRUNCATED if injected[entry].truncated else FateState.INJECTED
                result[entry] = self._went_in(entry, state, injected[entry].tokens)
            elif entry in removed:
                result[entry] = _fate(self.trace, removed[entry], entry, FateState.REMOVED)
            elif entry in candidates:
                last = candidates[entry].record
                result[entry] = Fate(entry, FateState.UNDECIDED, last.name, last.phase, "run_ended")
            elif entry in refused:
                result[entry] = _fate(self.trace, refused[entry], entry, FateState.REFUSED)
            else:
                result[entry] = _never(self.trace, entry)
        return result

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The entries that a journey matrix shows.

        Injected ones in injection order, then those the budget cut, then those that other stages removed, in the order
        of the stages; then what was still a candidate when the run ended, and last the refused ones, in the order of
        the stages. Entries that no stage decided about have no row.
        """
        trace = self.trace
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
            return _ORDER[item.state], int(not cut), places.get(item.stage, 0), at

        decided = (item for item in self.fates.values() if item.state is not FateState.NEVER)
        return tuple(item.entry for item in sorted(decided, key=key))

    def _ends(self) -> tuple[dict[int, _StageView], dict[int, _StageView], dict[int, _StageView]]:
        """By entry: the stage that took a candidate out for good, the first that refused it, and the last that still
        had it. Worked out stage by stage, which for thousands of entries costs a tenth of asking entry by entry.
        """
        removed: dict[int, _StageView] = {}
        refused: dict[int, _StageView] = {}
        candidates: dict[int, _StageView] = {}
        for view in self._views:
            for entry in removed.keys() & view.left:
                del removed[entry]
            candidates.update(dict.fromkeys(view.left, view))
            removed.update(dict.fromkeys(view.stopped, view))
            for entry in view.refused - view.left - view.stopped - refused.keys():
                refused[entry] = view
        return removed, refused, candidates

    def _went_in(self, entry: int, state: FateState, tokens: float) -> Fate:
        """What brought in an entry that went in whole, else the budget's word on it."""
        way = self.ways_in.get(entry) if state is FateState.INJECTED else None
        if way is not None:
            return Fate(entry, state, way[0].name, way[0].phase, way[1].reason, way[1].details)
        for view in reversed(self._views):
            verdict = view.verdicts.get(entry)
            if view.record.phase is Phase.BUDGET and verdict is not None:
                return Fate(entry, state, view.record.name, Phase.BUDGET, verdict.reason, verdict.details)
        return Fate(entry, state, "", None, "went_in", {"tokens": tokens})


def explain_cell(trace: Trace, entry_id: int, cell: JourneyCell) -> Explanation | None:
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


def _decided(trace: Trace) -> Iterable[int]:
    """Entries that a stage decided about or that were candidates, in order of first mention."""
    seen: dict[int, None] = {injection.entry: None for injection in trace.injections}
    for record in trace.stages:
        seen.update(dict.fromkeys(record.entered))
        seen.update(dict.fromkeys(verdict.entry for verdict in record.verdicts))
        seen.update(dict.fromkeys(record.left))
    return seen


def _fate(trace: Trace, view: _StageView, entry: int, state: FateState) -> Fate:
    verdict, record = view.verdicts.get(entry), view.record
    if verdict is None:
        return Fate(entry, state, record.name, record.phase, "")
    return Fate(entry, state, record.name, counted_in(trace, record, verdict), verdict.reason, verdict.details)


def _is_elsewhere(trace: Trace, entry: int) -> bool:
    """Whether it is a note of the vault and the run chose from something else."""
    # in a trace of memories as the system made it all ids are low
    memories = not trace.words.of_notes and (not trace.entries or min(trace.entries) >= FOREIGN_IDS)
    return (trace.others or memories) and 0 <= entry < FOREIGN_IDS


def _never(trace: Trace, entry: int) -> Fate:
    """Why an entry was never a candidate: what the keyword pass says of all that it did not hit, or the whole run."""
    if trace.skip_reason:
        return Fate(entry, FateState.NEVER, "", None, trace.skip_reason)
    words = trace.words
    if _is_elsewhere(trace, entry):
        reasons = (words.elsewhere[record.note] for record in trace.stages if record.note in words.elsewhere)
        return Fate(entry, FateState.NEVER, "", None, next(reasons, words.not_notes))
    records = sorted(trace.stages, key=lambda record: record.name != words.key_stage)
    for record in records:
        if record.default_reason:
            return Fate(entry, FateState.NEVER, record.name, record.phase, record.default_reason, record.details)
    noted = trace.stage(words.key_stage)
    if not words.of_notes:
        noted = next((each for each in trace.stages if each.note and not each.entered and not each.left), None)
    if noted is not None and noted.note:
        return Fate(entry, FateState.NEVER, noted.name, noted.phase, noted.note, noted.details)
    return Fate(entry, FateState.NEVER, "", None, "never_candidate")
