"""The stages of a run as steps of a funnel: how many came in, how many went on, and what took the others.

Rows of the funnel: a bar as long as its candidates, what was added and what was taken away.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import QAbstractListModel, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from lorestudio.systems.deeplore.reasons import REASONS, explain_stage
from lorestudio.trace.flow import Direction, Flow, FlowStage, Measure, flow
from lorestudio.trace.model import Outcome, Phase, Trace
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.ai_calls import stage_failure
from lorestudio.ui.widgets.paint import draw_focus, draw_glyph, hairline


@dataclass(frozen=True, slots=True)
class FunnelStep:
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
) -> tuple[FunnelStep, ...]:
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
                FunnelStep(
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


class FunnelList(QAbstractListModel):
    """`ITEM` is the step; the display and accessible texts say the same in words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._steps: tuple[FunnelStep, ...] = ()
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
        self.beginResetModel()
        self._shown = trace, everything, running, stream
        self._steps = ()
        if trace is not None:
            self._steps = steps(trace, everything=everything, running=running, measure=self._measure, stream=stream)
        self.endResetModel()

    def set_elapsed(self, text: str) -> None:
        """Say of the running step how long it has taken."""
        if self._steps and self._steps[-1].running:
            self._steps = (*self._steps[:-1], replace(self._steps[-1], why=tr("Running, {time}", time=text)))
            last = self.index(len(self._steps) - 1)
            self.dataChanged.emit(last, last)

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one row per step."""
        return 0 if parent.isValid() else len(self._steps)

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: the step, or it in words."""
        if not 0 <= index.row() < len(self._steps):
            return None
        step = self._steps[index.row()]
        if role == ITEM:
            return step
        return step.describe() if role in {DISPLAY, ACCESSIBLE_TEXT, TOOLTIP} else None


def _label(code: str) -> str:
    reason = REASONS.get(code)
    return reason.label if reason is not None else code.replace("_", " ")


_FILL: Final = {Phase.MATCH: "yellow", Phase.SELECT: "sky", Phase.GATE: "orange", Phase.BUDGET: "purple"}
_NAME_WIDTH: Final = 150
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


class FunnelDelegate(QStyledItemDelegate):
    """Draws one `FunnelStep`: what is left is solid, what was removed here is hatched behind it."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: two lines."""
        return QSize(240, 44)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a step."""
        step = index.data(ITEM)
        if not isinstance(step, FunnelStep):
            return
        theme = self._theme
        rect = QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen:
            painter.fillRect(rect, theme.color("accent_soft"))
        text = theme.color("on_accent_soft" if chosen else "text")
        faint = theme.color("on_accent_soft" if chosen else "text_muted")
        name = QRectF(rect.left() + 10, rect.top(), _NAME_WIDTH - 14, rect.height())
        painter.setFont(scaled(option.font, 1.0, bold=True))
        painter.setPen(text)
        elided = QFontMetricsF(painter.font()).elidedText(step.stage, Qt.TextElideMode.ElideRight, name.width())
        painter.drawText(name.adjusted(0, 5, 0, -rect.height() / 2 + 1), _LEFT, elided)
        painter.setFont(scaled(option.font, 0.88))
        painter.setPen(faint)
        painter.drawText(name.adjusted(0, rect.height() / 2 - 2, 0, -5), _LEFT, step.phase.value)
        track = QRectF(rect.left() + _NAME_WIDTH, rect.top() + 6, rect.width() - _NAME_WIDTH - 120, 14)
        self._draw_bar(painter, track, step)
        painter.setFont(scaled(option.font, 1.0, bold=True))
        painter.setPen(text)
        painter.drawText(QRectF(track.right() + 8, rect.top() + 3, 34, 20), _RIGHT, number(step.left))
        change = QRectF(track.right() + 50, rect.top() + 3, 66, 20)
        painter.setFont(scaled(option.font, 0.93))
        shown = [f"+{number(step.added)}"] if step.added else []
        shown += [f"\N{MINUS SIGN}{number(step.removed)}"] if step.removed else []
        painter.setPen(faint)
        painter.drawText(change, _LEFT, "  ".join(shown))
        why = QRectF(track.left(), rect.top() + 23, rect.right() - track.left() - 8, 17)
        painter.setFont(scaled(option.font, 0.88))
        if step.error:
            draw_glyph(painter, QRectF(why.left(), why.top(), 14, why.height()), "error", theme.palette.error, 13)
            why.setLeft(why.left() + 18)
            painter.setPen(theme.color("on_accent_soft" if chosen else "error"))
        elif step.running:
            draw_glyph(painter, QRectF(why.left(), why.top(), 14, why.height()), "live", theme.palette.accent, 13)
            why.setLeft(why.left() + 18)
        metrics = QFontMetricsF(painter.font())
        text_line = metrics.elidedText(step.error or step.why, Qt.TextElideMode.ElideRight, why.width())
        painter.drawText(why, _LEFT, text_line)
        if option.state & QStyle.StateFlag.State_HasFocus and chosen:
            draw_focus(painter, rect, theme)
        painter.restore()

    def _draw_bar(self, painter: QPainter, track: QRectF, step: FunnelStep) -> None:
        theme = self._theme
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("sunken"))
        painter.drawRoundedRect(track, 3, 3)
        ground, _ink = theme.fill("green" if step.phase in {Phase.LOAD, Phase.INJECT} else _FILL[step.phase])
        left = QRectF(track.left(), track.top(), track.width() * step.share, track.height())
        painter.setPen(hairline(theme.color("fill_edge")))
        if step.share:
            painter.setBrush(ground)
            painter.drawRoundedRect(left.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        if step.removed_share:
            gone = QRectF(left.right(), track.top(), track.width() * step.removed_share, track.height())
            painter.setBrush(QBrush(theme.color("text_muted"), Qt.BrushStyle.BDiagPattern))
            painter.drawRoundedRect(gone.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
