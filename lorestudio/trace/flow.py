"""A run as a stream: what joined and what left the candidates at every stage, by reason, in entries and in tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.records import grouped
from lorestudio.trace.model import Outcome, Phase, StageRecord, StageStatus, Trace, Verdict
from lorestudio.trace.vocabulary import Vocabulary
from lorestudio.trace.wording import fill

SANKEY_FROM: Final = 4
"""So many stages must have dropped something for ribbons to say more than a list does."""


class Measure(StrEnum):
    """What the width of a ribbon stands for."""

    ENTRIES = "entries"
    TOKENS = "tokens"


class Direction(StrEnum):
    """Whether a ribbon joins the stream or leaves it; what is `SHORTENED` stays and leaves a part of its tokens."""

    JOINS = "joins"
    LEAVES = "leaves"
    SHORTENED = "shortened"


class Ribbon(Struct, frozen=True):
    """Entries that joined or left at one stage for reasons of one group."""

    stage: str
    direction: Direction
    group: str
    entries: tuple[int, ...]
    tokens: int

    def amount(self, measure: Measure) -> int:
        """Its width: entries, or tokens. A shortened entry does not leave."""
        if measure is Measure.TOKENS:
            return self.tokens
        return 0 if self.direction is Direction.SHORTENED else len(self.entries)


class FlowStage(Struct, frozen=True):
    """One stage of the stream. `entered + joining = left + leaving` holds for entries and for tokens."""

    name: str
    phase: Phase
    status: StageStatus
    entered: tuple[int, ...]
    left: tuple[int, ...]
    tokens_entered: int
    tokens_left: int
    ribbons: tuple[Ribbon, ...]

    def amount(self, measure: Measure, *, before: bool = False) -> int:
        """How wide the stream is after this stage, or before it."""
        if measure is Measure.TOKENS:
            return self.tokens_entered if before else self.tokens_left
        return len(self.entered if before else self.left)

    def widest(self, measure: Measure) -> int:
        """How wide the stream is once everything has joined and nothing has left."""
        joined = self.moving(measure, Direction.JOINS)
        return max(self.amount(measure, before=True) + joined, self.amount(measure))

    def moving(self, measure: Measure, direction: Direction) -> int:
        """How much joins or leaves here, all the ribbons of one direction."""
        return sum(ribbon.amount(measure) for ribbon in self.going(direction))

    def going(self, direction: Direction) -> tuple[Ribbon, ...]:
        """The ribbons of one direction, the widest first."""
        return tuple(ribbon for ribbon in self.ribbons if ribbon.direction is direction)


class Flow(Struct, frozen=True):
    """All stages of a run, in order."""

    stages: tuple[FlowStage, ...]

    @property
    def dropping(self) -> int:
        """How many stages dropped something."""
        return sum(bool(stage.going(Direction.LEAVES)) for stage in self.stages)

    @property
    def changing(self) -> tuple[FlowStage, ...]:
        """The stages that changed the stream, or failed."""
        return tuple(stage for stage in self.stages if stage.ribbons or stage.status is StageStatus.FAILED)

    def widest(self, measure: Measure) -> int:
        """The widest that the stream ever is, within a stage too: what joins there may meet what leaves there."""
        return max((stage.widest(measure) for stage in self.stages), default=0)


def flow(trace: Trace) -> Flow:
    """The stream of a run. Before the budget an entry counts with all its tokens, then with those that went in."""
    whole = {ref.id: ref.tokens for ref in trace.entries.values()}
    placed = whole | {injection.entry: injection.tokens for injection in trace.injections}
    stages: list[FlowStage] = []
    decided = False
    for record in trace.stages:
        before = placed if decided else whole
        decided = decided or record.phase in (Phase.BUDGET, Phase.INJECT)
        stages.append(_stage(record, before, placed if decided else whole, trace.words))
    return Flow(tuple(stages))


def _stage(
    record: StageRecord, before: Mapping[int, int], after: Mapping[int, int], words: Vocabulary[Trace]
) -> FlowStage:
    ribbons: list[Ribbon] = []
    if record.status is not StageStatus.SKIPPED:
        entered, left = set(record.entered), set(record.left)
        said = {verdict.entry: verdict for verdict in record.verdicts if verdict.outcome is not Outcome.KEPT}
        joined = [entry for entry in record.left if entry not in entered]
        gone = [entry for entry in record.entered if entry not in left]
        stayed = [entry for entry in record.left if entry in entered and after.get(entry, 0) < before.get(entry, 0)]
        ribbons += _grouped(record.name, Direction.JOINS, joined, said, after, words)
        ribbons += _grouped(record.name, Direction.LEAVES, gone, said, before, words)
        lost = {entry: before[entry] - after.get(entry, 0) for entry in stayed}
        ribbons += _grouped(record.name, Direction.SHORTENED, stayed, said, lost, words)
    came, went = _sum(before, record.entered), _sum(after, record.left)
    return FlowStage(record.name, record.phase, record.status, record.entered, record.left, came, went, tuple(ribbons))


def _grouped(
    stage: str,
    direction: Direction,
    entries: Iterable[int],
    said: Mapping[int, Verdict],
    tokens: Mapping[int, int],
    words: Vocabulary[Trace],
) -> list[Ribbon]:
    groups = grouped((reason_group(said.get(entry), words), entry) for entry in entries)
    ribbons = [Ribbon(stage, direction, group, tuple(found), _sum(tokens, found)) for group, found in groups.items()]
    return sorted(ribbons, key=lambda ribbon: -len(ribbon.entries))


def reason_group(verdict: Verdict | None, words: Vocabulary[Trace]) -> str:
    """What a ribbon is called: the reason's label, for a gate with the field that decided."""
    if verdict is None:
        return "No reason given"
    template = words.groups.get(verdict.reason)
    return (fill(template, verdict.details) if template is not None else None) or words.label(verdict.reason)


def _sum(tokens: Mapping[int, int], entries: Iterable[int]) -> int:
    return sum(tokens.get(entry, 0) for entry in entries)


TABLE_COLUMNS: Final = ("Stage", "Phase", "What", "Reason", "Entries", "Tokens", "Titles")


def flow_rows(stream: Flow, trace: Trace, *, everything: bool = False) -> tuple[tuple[str | int, ...], ...]:
    """The stream as a table: for each stage what came in, what joined and left by reason, and what went on."""
    rows: list[tuple[str | int, ...]] = []
    for stage in stream.stages if everything else stream.changing:
        head = stage.name, stage.phase.value
        rows.append((*head, "came in", "", len(stage.entered), stage.tokens_entered, ""))
        for ribbon in stage.ribbons:
            titles = ", ".join(trace.title(entry) for entry in ribbon.entries)
            amounts = len(ribbon.entries), ribbon.tokens
            rows.append((*head, ribbon.direction.value, ribbon.group, *amounts, titles))
        went = {StageStatus.SKIPPED: "skipped", StageStatus.FAILED: "failed; went on"}.get(stage.status, "went on")
        rows.append((*head, went, "", len(stage.left), stage.tokens_left, ""))
    return tuple(rows)
