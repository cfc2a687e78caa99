"""The stages of a run as steps of a funnel: how many came in, how many went on, and what took the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import QObject

from lorestudio.systems.deeplore.reasons import REASONS, explain_stage
from lorestudio.trace.flow import Direction, Flow, FlowStage, Measure, flow
from lorestudio.trace.model import Outcome, Phase, Trace
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.ai_calls import stage_failure
from lorestudio.ui.widgets.cells import Bar, Column, Glyph, Look, Piece, Strip, Words, same_words
from lorestudio.ui.widgets.record_table import RecordTable


@dataclass(frozen=True, slots=True)
class Step:
    """One stage. `share` is its candidates, or their tokens, as a part of the most there ever were, 0 to 1."""

    stage: str
    phase: Phase
    left: int
    added: int
    removed: int
    share: float
    removed_share: float
    why: str
    error: str
    running: bool = False
    measure: Measure = Measure.ENTRIES

    def describe(self) -> str:
        """The step in words."""
        tokens = self.measure is Measure.TOKENS
        parts = [count(self.left, "token", "tokens") if tokens else count(self.left, "candidate", "candidates")]
        if self.added:
            parts.append(tr("{amount} added", amount=number(self.added)))
        if self.removed:
            parts.append(tr("{amount} removed", amount=number(self.removed)))
        if self.error:
            parts.append(tr("failed: {error}", error=self.error))
        if self.running:
            parts.append(tr("running"))
        return f"{self.stage}: {', '.join(parts)}" + (f" ({self.why})" if self.why else "")


def steps(
    trace: Trace,
    *,
    everything: bool = False,
    running: str = "",
    measure: Measure = Measure.ENTRIES,
    stream: Flow | None = None,
) -> tuple[Step, ...]:
    """The steps of a run; without `everything`, only those that changed the number of candidates, or failed.

    `running` is the stage of a run under way that has not decided yet; it is the last one. `stream` is the same trace
    as a flow, where it was read already.
    """
    stream = stream or flow(trace)
    most = stream.widest(measure) or 1
    found = []
    for record, stage in zip(trace.stages, stream.stages, strict=True):
        error = record.error or stage_failure(record, trace)
        undecided = bool(running) and record is trace.stages[-1]
        if record.added or record.removed or error or undecided or everything:
            reasons = Counter(
                verdict.reason for verdict in record.verdicts if verdict.outcome in {Outcome.ADDED, Outcome.REMOVED}
            )
            why = ", ".join(f"{_label(code)} × {number(amount)}" for code, amount in reasons.most_common(3))
            removed = _amount(stage, measure, Direction.LEAVES) + _amount(stage, measure, Direction.SHORTENED)
            found.append(
                Step(
                    record.name,
                    record.phase,
                    stage.amount(measure),
                    _amount(stage, measure, Direction.JOINS),
                    removed,
                    stage.amount(measure) / most,
                    removed / most,
                    tr("Running…") if undecided else why or explain_stage(record, trace),
                    error,
                    undecided,
                    measure,
                )
            )
    return tuple(found)


def _amount(stage: FlowStage, measure: Measure, direction: Direction) -> int:
    return sum(ribbon.amount(measure) for ribbon in stage.going(direction))


class FunnelList(RecordTable):
    """A step a row: a bar as long as its candidates, what was added and what was taken away, hatched, and why."""

    def __init__(self, parent: QObject | None = None) -> None:
        column = Column("", Step.describe, look=_look)
        super().__init__([column], key=lambda step: step.stage, tip=same_words, parent=parent)
        self._measure = Measure.ENTRIES
        self._shown: tuple[Trace | None, bool, str, Flow | None] = (None, False, "", None)

    def set_measure(self, measure: Measure) -> None:
        """Count entries or tokens."""
        if measure is not self._measure:
            self._measure = measure
            trace, everything, running, stream = self._shown
            self.set_trace(trace, everything=everything, running=running, stream=stream)

    def set_trace(
        self, trace: Trace | None, *, everything: bool = False, running: str = "", stream: Flow | None = None
    ) -> None:
        """Show another run; `running` is the stage that has not decided yet."""
        self._shown = trace, everything, running, stream
        found: tuple[Step, ...] = ()
        if trace is not None:
            found = steps(trace, everything=everything, running=running, measure=self._measure, stream=stream)
        self.set_rows(found)

    def set_elapsed(self, text: str) -> None:
        """Say of the running step how long it has taken."""
        if self.rows and self.rows[-1].running:
            self.set_rows((*self.rows[:-1], replace(self.rows[-1], why=tr("Running, {time}", time=text))))


def _label(code: str) -> str:
    reason = REASONS.get(code)
    return reason.label if reason is not None else code.replace("_", " ")


_FILL: Final = {Phase.MATCH: "yellow", Phase.SELECT: "sky", Phase.GATE: "orange", Phase.BUDGET: "purple"}
_NAME: Final = 136


def _look(step: Step) -> Look:
    """Two lines: the stage with its bar and numbers, then the phase and what took the others."""
    changes = [f"+{number(step.added)}"] if step.added else []
    changes += [f"\N{MINUS SIGN}{number(step.removed)}"] if step.removed else []
    fill = "green" if step.phase in {Phase.LOAD, Phase.INJECT} else _FILL[step.phase]
    bar = Bar(((0, step.share, fill), (step.share, step.share + step.removed_share, "")), track=True)
    first = Strip(
        (Words(step.stage, bold=True, width=_NAME, gap=4), bar),
        (
            Words(number(step.left), bold=True, width=34, right=True),
            Words("  ".join(changes), tone="text_muted", scale=0.93, width=66, gap=4),
        ),
        20,
    )
    sign: tuple[Piece, ...] = ()
    if step.error or step.running:
        sign = (Glyph("error", "error", 13, 18) if step.error else Glyph("live", "accent", 13, 18, steady=True),)
    why = Words(step.error or step.why, tone="error" if step.error else "text_muted", scale=0.88)
    phase = Words(step.phase.value, tone="text_muted", scale=0.88, width=_NAME, gap=4)
    return Look((first, Strip((phase, *sign, why), height=18)), left=10, right=0, top=3, ring=True)
