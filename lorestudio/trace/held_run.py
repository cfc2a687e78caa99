"""What the stages after the one that stopped an entry would have done with it, read from a run that held it in.

Such a run (`systems.runner`) is the engine's own; here its verdicts become data beside the real trace, and sentences
such as "would also be cut by the budget: needs 158 more tokens".
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.json_text import object_in, texts_in
from lorestudio.trace.ai_selection import selection_of
from lorestudio.trace.explain import known_details
from lorestudio.trace.journey import CellState, Journeys
from lorestudio.trace.model import Phase, StageStatus, Trace, Verdict
from lorestudio.trace.wording import fill

HELD: Final = "held"
"""The fact of a trace that says which entry its run held in."""


class WouldState(StrEnum):
    """What a later stage would have been to the entry.

    `NOT_ASKED`: a model decides there, and it is never asked about what might have been.
    """

    GO_ON = "go_on"
    CHANGE = "change"
    STOP = "stop"
    NOT_ASKED = "not_asked"


class WouldCell(Struct, frozen=True):
    """One later stage; `verdict` is None where it would have had nothing to say."""

    stage: str
    phase: Phase
    state: WouldState
    verdict: Verdict | None = None
    sentence: str = ""


class WouldAlso(Struct, frozen=True):
    """The stages for one entry that come after the one that really stopped it, in their order.

    For an entry that never was a candidate these are all stages after the matching.
    """

    cells: tuple[WouldCell, ...] = ()

    def at(self, stage: str) -> WouldCell | None:
        """What the stage would have been to the entry, None where it is not a later one or did not run."""
        return next((cell for cell in self.cells if cell.stage == stage), None)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What would have stood in its way, or that nothing would; what a model would say is left open."""
        told = [cell.sentence for cell in self.cells if cell.state in {WouldState.STOP, WouldState.NOT_ASKED}]
        shortened = [cell.sentence for cell in self.cells if cell.state is WouldState.CHANGE and cell.sentence]
        if told or shortened or not self.cells:
            return tuple(dict.fromkeys([*told, *shortened]))
        return ("would pass all later stages",)


_NOT_ASKED: Final = "would have to be chosen by the AI first, which was not offered it"


def would_also(held: Trace) -> WouldAlso:
    """What a run that held an entry in says of it. Raises ValueError for any other run."""
    known = object_in(held.facts, HELD)
    entry, stopped_by, not_asked = known.get("entry"), str(known.get("stopped_by")), texts_in(known.get("not_asked"))
    if entry is None or not isinstance(entry, int):
        raise ValueError("This run held no entry in.")
    journey = {cell.stage: cell for cell in Journeys(held).cells(entry)}
    cells: list[WouldCell] = []
    begun = False
    for record in held.stages:
        if not begun:
            begun = record.name == stopped_by
            if stopped_by or (record.phase in {Phase.LOAD, Phase.MATCH}):
                continue
            begun = True
        if record.status is StageStatus.SKIPPED or record.name in held.words.tidies:
            continue
        if record.name in not_asked:
            if record is selection_of(held):
                cells.append(WouldCell(record.name, record.phase, WouldState.NOT_ASKED, None, _NOT_ASKED))
            continue
        cell = journey[record.name]
        state = _STATES.get(cell.state)
        if state is not None:
            sentence = _sentence(cell.verdict, state, held)
            cells.append(WouldCell(record.name, record.phase, state, cell.verdict, sentence))
    return WouldAlso(tuple(cells))


_STATES: Final = {
    CellState.REMOVED: WouldState.STOP,
    CellState.REFUSED: WouldState.STOP,
    CellState.CHANGED: WouldState.CHANGE,
    CellState.ADDED: WouldState.GO_ON,
    CellState.KEPT: WouldState.GO_ON,
}


def _sentence(verdict: Verdict | None, state: WouldState, held: Trace) -> str:
    if verdict is None:
        return ""
    template = held.words.would.get(verdict.reason)
    if template is None:
        reason = held.words.reasons.get(verdict.reason)
        label = reason.label if reason is not None else verdict.reason
        return f"would also be stopped here ({label})" if state is WouldState.STOP else ""
    words = fill(template, known_details(verdict.details, held, verdict.entry))
    return words if words is not None else template.partition("{")[0].rstrip(" :[,")
