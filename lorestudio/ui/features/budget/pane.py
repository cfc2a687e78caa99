"""The budget of the chosen generation, as a bar and as a list, and a slider that asks what another budget would do.

The bar has what went in by origin and in order, the limit, free room, and hatched what was cut; what stayed out because
so many entries were in has another hatching than what found no room.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QObject, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QSlider, QWidget

from lorestudio.settings.declaration import declared
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.report.pictures import lay_out_budget
from lorestudio.studio.tryout.preview import Preview
from lorestudio.systems.base import SystemKind
from lorestudio.trace.budget import NO_ENTRY, ORIGINS, BudgetOrigin, BudgetView, Segment, budget_view
from lorestudio.trace.diff import TraceDiff, compare, sizes
from lorestudio.trace.model import Phase, Trace, token_limit, within_limits
from lorestudio.trace.summary import estimate, summary
from lorestudio.trace.text import turn_words
from lorestudio.ui.shell.jobs import Newest
from lorestudio.ui.shell.qt import V_LEFT, V_RIGHT, later
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, number, sentence_case, sentence_of, tr
from lorestudio.ui.state.drafts import LiveEffects
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.cells import FIT, Column, Look, Swatch, Words, one_line
from lorestudio.ui.widgets.layouts import button, column, holding, label, named, row, show_words
from lorestudio.ui.widgets.paint import Picture, draw_focus, draw_words, hairline, hatch, set_inks, tell
from lorestudio.ui.widgets.pane import ElidedLabel, Pane
from lorestudio.ui.widgets.record_table import RecordTable, RecordView

_EMPTY: Final = BudgetView((), 0, None, 0, None)
_SIDE, _TOP, _BAR = 12.0, 17.0, 24.0
_NARROW: Final = 3.0
"""Edges and hatching need so many pixels."""
_CENTRE: Final = int(Qt.AlignmentFlag.AlignCenter)


class _Placed(Struct, frozen=True):
    segment: Segment
    box: QRectF


def _drawn(placed: Sequence[_Placed]) -> Iterator[_Placed]:
    """Segments as they are drawn: those cut side by side that are too narrow to be told apart are one hatching."""

    def alike(item: _Placed) -> tuple[bool, float]:
        narrow = item.segment.cut and item.box.width() < _NARROW
        return narrow, item.segment.over_count if narrow else item.box.left()

    for _, found in groupby(placed, alike):
        first, *others = found
        yield _Placed(first.segment, first.box | others[-1].box) if others else first


class BudgetBar(Picture):
    """Arrow keys go from segment to segment, Enter chooses its entry; `entry_chosen` carries the id.

    One without a `legend` stands beside another that has it.
    """

    entry_chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, legend: bool = True) -> None:
        super().__init__(theme, tr("Token budget"), parent)
        self._with_legend = legend
        self._view = _EMPTY
        self._current = -1
        self._chosen: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_view(self, view: BudgetView | None) -> None:
        """Show another budget, None for none."""
        self._view = view or _EMPTY
        self._current = -1
        self._describe()
        self.updateGeometry()
        self.update()

    def choose(self, entry: int | None) -> None:
        """Show which segment belongs to the chosen entry."""
        self._chosen = entry
        shown = self._shown()
        self._current = next((place for place, item in enumerate(shown) if item.entry == entry), self._current)
        self._describe()
        self.update()

    @property
    def current(self) -> Segment | None:
        """The segment that the keyboard is on."""
        shown = self._shown()
        return shown[self._current] if 0 <= self._current < len(shown) else None

    def _shown(self) -> tuple[Segment, ...]:
        return (*self._view.counted, *self._view.cut)

    def _describe(self) -> None:
        segments = self._shown()[:12] if self.current is None else (self.current,)
        parts = [item.describe(self._view.maximum) for item in segments]
        tell(self, ". ".join(parts if self.current is not None else [self._view.headline(), *parts]))

    # ---- geometry ---------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """Qt: the bar, its limit, and a legend in as many lines as it needs."""
        return QSize(300, round(_TOP + _BAR + 8 + 18 * len(self._legend_lines())))

    def minimumSizeHint(self) -> QSize:
        """Qt: not lower than needed."""
        return QSize(140, self.sizeHint().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Qt: a narrower legend needs more lines."""
        self.updateGeometry()

    def _bar(self) -> QRectF:
        return QRectF(_SIDE, _TOP, max(20.0, self.width() - 2 * _SIDE), _BAR)

    def _placed(self) -> tuple[QRectF, list[_Placed]]:
        """The part of the bar that stands for the budget (without a limit for all that went in), and the segments."""
        bar = self._bar()
        width, placed = lay_out_budget(self._view, bar.left(), bar.width())
        budget = QRectF(bar.left(), bar.top(), width, bar.height())
        return budget, [_Placed(each, QRectF(left, bar.top(), wide, bar.height())) for each, left, wide in placed]

    def _segment_at(self, place: QPointF) -> int:
        boxes = (item.box.adjusted(0, -4, 0, 4) for item in self._placed()[1])
        return next((at for at, box in enumerate(boxes) if box.contains(place)), -1)

    # ---- drawing ----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, (budget, placed) = self._theme, self._placed()
        set_inks(painter, hairline(theme.color("border_strong")), theme.color("sunken"))
        painter.drawRoundedRect(budget.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        for item in _drawn(placed):
            self._draw_segment(painter, item)
        self._draw_labels(painter, budget, placed)
        self._draw_legend(painter, budget.bottom() + 7)
        if 0 <= self._current < len(placed):
            box = placed[self._current].box
            if self.hasFocus():
                draw_focus(painter, box.adjusted(-3, -3, 3, 3), theme)
            elif placed[self._current].segment.entry == self._chosen:
                set_inks(painter, hairline(theme.color("text"), 2), Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(box.adjusted(-1, -1, 1, 1), 3, 3)

    def _draw_segment(self, painter: QPainter, item: _Placed) -> None:
        theme, segment = self._theme, item.segment
        box = item.box.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(hairline(theme.color("fill_edge")))
        if segment.cut:
            self._draw_cut(painter, box, over_count=segment.over_count)
            return
        ground, ink = theme.fill(segment.origin.fill)
        painter.setBrush(ground)
        painter.drawRect(box)
        set_inks(painter, ink, font=scaled(self.font(), 0.86))
        if box.width() > 46:
            draw_words(painter, box.adjusted(4, 0, -4, 0), segment.title, _CENTRE)
        elif box.width() > QFontMetricsF(painter.font()).horizontalAdvance(segment.origin.letter) + 3:
            painter.drawText(box, _CENTRE, segment.origin.letter)

    def _draw_cut(self, painter: QPainter, box: QRectF, *, over_count: bool) -> None:
        """The hatching that stands for what was cut, by the tokens or by the number of entries."""
        theme = self._theme
        lines = hatch(theme.fill("grey" if over_count else "purple")[0], theme)
        if over_count:
            lines.setStyle(Qt.BrushStyle.FDiagPattern)
        for brush in (theme.color("panel"), lines):
            painter.setBrush(brush)
            painter.drawRect(box)

    def _draw_labels(self, painter: QPainter, budget: QRectF, placed: list[_Placed]) -> None:
        theme, view = self._theme, self._view
        painter.setFont(scaled(self.font(), 0.86))
        metrics = QFontMetricsF(painter.font())
        painter.setPen(theme.color("text_muted"))
        above = QRectF(budget.left(), 0, budget.width(), _TOP - 2)
        cut = tr("out: {tokens}", tokens=number(sum(each.tokens for each in view.cut))) if view.cut else ""
        # Behind the limit, or where that is too narrow, at the right edge; the limit gives way.
        cut_at = min(budget.right() + 5, self.width() - 4 - metrics.horizontalAdvance(cut))
        used_right = max((item.box.right() for item in placed if not item.segment.cut), default=budget.left())
        if view.free is not None:
            text = tr("{free} free", free=number(view.free))
            wide = metrics.horizontalAdvance(text)
            room = budget.right() - used_right
            if room > wide + 10:
                painter.drawText(QRectF(used_right, budget.top(), room, budget.height()), _CENTRE, text)
            else:
                painter.drawText(above, V_LEFT, text)
            limit = tr("limit {maximum}", maximum=number(view.maximum or 0))
            above.setRight(min(budget.right() - 4, cut_at - 8))
            painter.drawText(above, V_RIGHT, limit)
        if view.cut:
            painter.drawText(QRectF(cut_at, 0, self.width() - cut_at, _TOP - 2), V_LEFT, cut)
            painter.setPen(hairline(theme.color("text"), 2))
            x, over = budget.right() + 1.5, 7 if cut_at > budget.right() else 1
            painter.drawLine(QPointF(x, budget.top() - over), QPointF(x, budget.bottom() + 5))

    def _legend(self) -> list[tuple[BudgetOrigin | bool, str]]:
        """Origins, and for what was cut whether it was by the number of entries."""
        if not self._with_legend:
            return []
        spent = Counter[BudgetOrigin]()
        for segment in self._view.inside:
            spent[segment.origin] += segment.tokens
        found: list[tuple[BudgetOrigin | bool, str]] = [
            (each, f"{tr(each.word)}: {number(spent[each])}") for each in ORIGINS if each in spent
        ]
        if self._view.besides is not None:
            found.append((self._view.besides.origin, self._view.besides.title))
        for over_count, words in ((False, tr("cut by the budget")), (True, tr("over the entry limit"))):
            tokens = sum(segment.tokens for segment in self._view.cut if segment.over_count is over_count)
            if any(segment.over_count is over_count for segment in self._view.cut):
                found.append((over_count, f"{words}: {number(tokens)}"))
        return found

    def _legend_lines(self) -> list[list[tuple[BudgetOrigin | bool, str, float]]]:
        metrics = QFontMetricsF(scaled(self.font(), 0.88))
        lines: list[list[tuple[BudgetOrigin | bool, str, float]]] = []
        room = 0.0
        for origin, word in self._legend():
            wide = metrics.horizontalAdvance(word) + 34
            if not lines or wide > room:
                lines.append([])
                room = self.width() - 2 * _SIDE
            lines[-1].append((origin, word, wide))
            room -= wide
        return lines

    def _draw_legend(self, painter: QPainter, top: float) -> None:
        theme = self._theme
        font = scaled(self.font(), 0.88)
        small = scaled(self.font(), 0.74, bold=True)
        for place, line in enumerate(self._legend_lines()):
            left = _SIDE
            for origin, word, wide in line:
                box = QRectF(left + 0.5, top + place * 18 + 2.5, 14, 13)
                painter.setPen(hairline(theme.color("fill_edge")))
                if isinstance(origin, bool):
                    self._draw_cut(painter, box, over_count=origin)
                else:
                    ground, ink = theme.fill(origin.fill)
                    painter.setBrush(ground)
                    painter.drawRoundedRect(box, 2, 2)
                    set_inks(painter, ink, font=small)
                    painter.drawText(box, _CENTRE, origin.letter)
                set_inks(painter, theme.color("text_muted"), font=font)
                painter.drawText(QRectF(left + 19, top + place * 18, wide, 18), V_LEFT, word)
                left += wide

    # ---- keyboard and mouse -----------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows, Home, End, Enter."""
        last = len(self._shown()) - 1
        steps = {
            Qt.Key.Key_Right: min(last, self._current + 1),
            Qt.Key.Key_Left: max(0, self._current - 1),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        if last >= 0 and event.key() in steps:
            self._current = steps[Qt.Key(event.key())]
            self._describe()
            self.update()
        elif self.current is not None and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            self._choose_current()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt: the first segment is current when none was."""
        if self._current < 0 and self._shown():
            self._current = 0
            self._describe()
        super().focusInEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: a click chooses the entry."""
        place = self._segment_at(event.position())
        if place >= 0:
            self._current = place
            self._choose_current()
            self.update()
        super().mousePressEvent(event)

    def _choose_current(self) -> None:
        if self.current is not None and self.current.entry != NO_ENTRY:
            self.entry_chosen.emit(self.current.entry)

    def words_at(self, point: QPoint) -> str:
        """The segment at a place, in words."""
        place = self._segment_at(QPointF(point))
        return self._shown()[place].describe(self._view.maximum) if place >= 0 else ""


STEP: Final = 10
REST_MS: Final = 80
"""The slider has to rest so long before a budget is tried."""


class BudgetSlider(QWidget):
    """`tried` carries a budget in tokens, `applied` one that is to be kept; `left` is the way back."""

    tried = Signal(int)
    applied = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._budget = 0
        self.label, self.told = label(self, kind="small", wrap=False), label(self, kind="small")
        tip = tr("Try another token budget: this reply is run again with it")
        self.slider = named(QSlider(Qt.Orientation.Horizontal, self), tr("Try another token budget"), tip)
        self.slider.setSingleStep(1)
        self.slider.setPageStep(10)
        self.slider.valueChanged.connect(self._moved)
        self.keep = button(
            self, tr("Keep"), lambda: self.applied.emit(self.value), name=tr("Keep this budget for the whole chat"),
            tip=tr("Set this token budget and replay the chat; it can be undone"),
        )  # fmt: skip
        self.back = button(self, tr("Back"), self.reset, name=tr("Back to the budget of the settings"))
        self.told.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        tries = row(self.label, (self.slider, 1), self.keep, self.back, spacing=6)
        column(tries, self.told, of=self, spacing=2, margins=(12, 0, 8, 2))
        self._rest = later(self, lambda: self.tried.emit(self.value), REST_MS)
        self._show()

    @property
    def value(self) -> int:
        """The budget that the slider is at; the settings' own where it was not moved."""
        value = self.slider.value() * STEP
        return self._budget if value == self._budget // STEP * STEP else value

    def set_budget(self, budget: int, least: int, most: int) -> None:
        """The settings' budget, the lowest that they take, and the highest that is worth trying."""
        self._budget = budget
        self._rest.stop()
        self.slider.blockSignals(True)
        self.slider.setRange(max(least // STEP, 1), max(most, budget, least) // STEP + 1)
        self.slider.setValue(budget // STEP)
        self.slider.blockSignals(False)
        self._show()

    def reset(self) -> None:
        """Go back to the settings' budget."""
        self.set_budget(self._budget, self.slider.minimum() * STEP, (self.slider.maximum() - 1) * STEP)
        self.left.emit()
        self.slider.setFocus()

    def say(self, text: str) -> None:
        """What the tried budget does."""
        show_words(self.told, text)

    @property
    def moved(self) -> bool:
        """Whether another budget than the settings' own is tried."""
        return self.value != self._budget

    def _moved(self, _value: int) -> None:
        self._show()
        if self.value == self._budget:
            self._rest.stop()
            self.left.emit()
        else:
            self._rest.start()

    def _show(self) -> None:
        moved = self.moved
        text = count(self.value, "token", "tokens")
        self.label.setText(tr("Try: {tokens}", tokens=text) if moved else tr("Budget: {tokens}", tokens=text))
        self.keep.setVisible(moved)
        self.back.setVisible(moved)
        if not moved:
            self.say("")


logger = logging.getLogger(__name__)


class SegmentTable(RecordTable):
    """The segments of a budget as a list: cut ones first, since they are what people look for."""

    def __init__(self, parent: QObject) -> None:
        self._maximum: float | None = None
        columns = [
            Column("Entry", attrgetter("title"), look=_segment_look, spoken=self._spoken),
            Column("Note", _note, width=FIT, hidden=True),
            Column("Tokens", lambda segment: number(segment.tokens), width=FIT, numeric=True, hidden=True),
        ]
        entry, told = attrgetter("entry"), lambda segment, _column: segment.describe(self._maximum)
        super().__init__(columns, key=entry, entry=entry, tip=told, parent=parent)

    def show_view(self, view: BudgetView) -> None:
        """Show another budget."""
        self._maximum = view.maximum
        self.set_rows([*view.cut, *view.inside, *(segment for segment in view.segments if segment.outlet)])

    def _spoken(self, segment: Segment) -> str:
        return f"{tr('cut') if segment.cut else tr('in')}: {segment.describe(self._maximum)}"


def _segment_look(segment: Segment) -> Look:
    cut = Swatch("grey", icon="slash") if segment.over_count else Swatch("purple", icon="scissors")
    swatch = cut if segment.cut else Swatch(segment.origin.fill, segment.origin.letter)
    title, note = Words(segment.title, share=0.6, gap=9), Words(_note(segment), tone="text_muted", scale=0.9, gap=0)
    return one_line(swatch, title, note, right=(Words(number(segment.tokens), gap=0),), margin=12, ring=True)


def _note(segment: Segment) -> str:
    if segment.cut:
        if segment.over_count:
            return tr("over the entry limit")
        if segment.needs is not None:
            return tr("cut, needs {needs} more tokens", needs=number(segment.needs))
        return tr("cut: {why}", why=segment.why)
    if segment.outlet:
        return tr("outlet, outside the budget")
    if segment.truncated_from is not None:
        return tr("{origin}, trimmed from {tokens}", origin=segment.origin.word, tokens=number(segment.truncated_from))
    return tr(segment.origin.word)


class BudgetPane(Pane):
    """Follows the chosen generation and entry; segments and rows choose entries."""

    def __init__(
        self, theme: Theme, session: Session, selection: Selection, whole: LiveEffects, parent: QWidget | None = None
    ) -> None:
        super().__init__("budget", tr("Budget"), theme, parent)
        self._session, self._selection, self._whole = session, selection, whole
        self._said = ""
        self._trace: Trace | None = None
        self.bar, self.last = BudgetBar(theme, self), BudgetBar(theme, self, legend=False)
        self.now_label, self.last_label = label(self, kind="small"), label(self, kind="small")
        for bar in (self.bar, self.last):
            bar.entry_chosen.connect(self._choose)
        self.model = SegmentTable(self)
        self.list = RecordView(theme, self.model, tr("Budget as a list"), self, many=True)
        self.list.horizontalHeader().hide()
        self.list.setMouseTracking(True)
        self.list.setMinimumHeight(20)
        self.slider = BudgetSlider(self)
        self.slider.tried.connect(self._try)
        self.slider.left.connect(self._leave_trial)
        self.slider.applied.connect(self._keep)
        self.caps = named(label(self, kind="small"), tr("Limits"))
        self.no_budget = named(label(self, kind="small"), tr("Why no other budget can be tried"))
        self.counts = named(ElidedLabel(self), tr("How tokens were counted"), kind="small")
        self._tried_on: Simulator | None = None
        self._trials = Newest(session.jobs)
        caps, why, counts = (
            row(told, margins=(12, around, 8, around))
            for told, around in ((self.caps, 0), (self.no_budget, 0), (self.counts, 2))
        )
        last, now = (row(told, margins=(12, 2, 8, 0)) for told in (self.last_label, self.now_label))
        parts = (last, self.last, now, self.bar, caps, self.slider, why, (self.list, 1), counts)
        self._shown_page = holding(column(*parts, spacing=2, margins=(0, 4, 0, 0)))
        self.column.addWidget(self.or_empty("budget", self._shown_page), 1)
        self.list.picked.connect(lambda segment: self._choose(segment.entry))
        session.project_changed.connect(self._show)
        session.traces_changed.connect(lambda _generations: self._show())
        session.state_changed.connect(self._find_trial)
        session.preview_changed.connect(self._show)
        whole.changed.connect(self._say_trial)
        selection.generation_changed.connect(self._show)
        selection.entry_changed.connect(self._show_entry)
        self._show()

    def focus_target(self) -> QWidget:
        """The bar."""
        return self.bar if self.pages.currentWidget() is self._shown_page else self

    def _show(self) -> None:
        trace = self._session.runs.trace(self._selection.generation)
        if trace is not None and trace is self._trace:
            return
        self._trace = trace
        if trace is None:
            self.note_changed.emit("")
            project, has_chat = self._session.project, self._session.chat is not None
            door = ("replay.all", tr("Replay all")) if has_chat else ("chat.open", tr("Open chat…"))
            text = tr("A run shows here what it spent its tokens on.")
            self.say_empty(tr("No budget yet"), text, (door,) if project is not None else ())
            return
        view = self._show_budget(trace)
        self._find_trial(again=True)
        show_words(self.counts, tr(estimate(trace)))
        if view.segments:
            self.pages.setCurrentWidget(self._shown_page)
        else:
            doors = tuple((do, tr(title)) for each in trace.words.remarks(trace) for do, title in each.actions)
            self.say_empty(tr("Nothing was injected"), tr(summary(trace)), doors)
        self._show_entry()

    def _show_budget(self, trace: Trace) -> BudgetView:
        view = budget_view(trace)
        self.bar.set_view(view)
        self._show_last(trace, view)
        self.model.show_view(view)
        self.note_changed.emit(_headline(view))
        self.caps.setText(caps_words(trace))
        return view

    def _show_last(self, trace: Trace, shown_now: BudgetView) -> None:
        """Beside the budget that is shown the one before: without what is tried, before a change, or a reply ago."""
        runs, generation = self._session.runs, self._selection.generation
        preview = runs.preview_of(generation) if runs.preview_shown else None
        if trace is not self._trace:
            before, last, now = self._trace, tr("Now"), tr("As tried out")
        elif preview is not None:
            before, last, now = preview.before, tr("Now"), tr("As tried out")
        else:
            before, last, now = runs.before_change(generation), tr("Before the change"), tr("Now")
            if before is None or budget_view(before) == shown_now:
                before, now = self._reply_before(), tr("This reply")
                last = turn_words(before.turn) if before is not None else ""
        view = budget_view(before) if before is not None else None
        for each in (self.last, self.last_label, self.now_label):
            each.setVisible(view is not None and bool(view.segments))
        if view is not None and view.segments:
            self.last.set_view(view)
            self.last_label.setText(tr("{when}: {budget}", when=last, budget=_headline(view)))
            self.now_label.setText(now)

    def _reply_before(self) -> Trace | None:
        generations, chosen = self._session.generations, self._selection.generation
        earlier = [each for each in generations if chosen is not None and each.message < chosen.message]
        return self._session.runs.trace(earlier[-1]) if earlier else None

    # ---- another budget ---------------------------------------------------------------------------------------------

    def _find_trial(self, *, again: bool = False) -> None:
        """Whether another budget can be tried on what is shown."""
        generation, trace, project = self._selection.generation, self._trace, self._session.project
        simulator = self._session.runs.finished()
        if not again and simulator is self._tried_on:
            return
        self._tried_on = simulator
        self._trials.cancel()
        limit = token_limit(trace) if trace is not None else None
        known = simulator is not None and generation is not None and simulator.traces.get(generation) is trace
        kind = simulator.system.kind if simulator is not None and known else None
        most = limit.maximum if limit is not None else None
        can_change = project is not None and project.knows_notes and kind is not None and kind.budget
        if can_change and trace is not None and kind is not None and most is not None:
            view = budget_view(trace)
            wanted = view.used + sum(segment.tokens for segment in view.cut)
            self.slider.set_budget(int(most), _least(kind), max(2 * int(most), wanted + 200))
        self.slider.setVisible(bool(can_change) and most is not None)
        show_words(self.no_budget, tr(kind.no_budget) if kind is not None else "")

    def _try(self, tokens: int) -> None:
        simulator = self._tried_on
        previewer = self._session.runs.previewer(self._selection.generation)
        if simulator is None or previewer is None:
            return
        settings = simulator.system.kind.with_budget(simulator.system.settings, tokens)
        self._whole.try_settings(settings)
        title = tr("Trying another budget")
        self._trials.start(
            title, lambda _job: previewer.preview((), settings=settings), done=self._tried, failed=self._trial_failed
        )

    def _tried(self, preview: Preview) -> None:
        self._show_budget(preview.trace)
        self._said = trial_words(compare(preview.before, preview.trace))
        self._say_trial()
        self._show_entry()

    def _say_trial(self) -> None:
        """What the tried budget does to the reply, and to the whole chat."""
        if self.slider.moved:
            self.slider.say("\n".join(filter(None, (self._said, self._whole.words))))

    def _trial_failed(self, error: Exception) -> None:
        logger.error("another budget could not be tried: %s", error, exc_info=error)
        self.slider.say(sentence_of(error))

    def _leave_trial(self) -> None:
        self._trials.cancel()
        self._whole.try_settings(None)
        if self._trace is not None:
            self._show_budget(self._trace)
            self._show_entry()

    def _keep(self, tokens: int) -> None:
        simulator, session = self._tried_on, self._session
        if simulator is None or session.project is None:
            return
        title = tr("token budget {tokens}", tokens=number(tokens))
        kind = simulator.system.kind
        session.parts.change(title, {**kind.budget_alone, kind.budget: tokens})

    def _show_entry(self) -> None:
        for bar in (self.bar, self.last):
            bar.choose(self._selection.entry)
        self.list.choose(self._selection.entry)

    def _choose(self, entry: int) -> None:
        if entry != self._selection.entry:
            self._selection.choose_entry(entry)


def caps_words(trace: Trace) -> str:
    """Every limit of a run with what was used of it, and which one ended the intake."""
    parts = []
    for limit in trace.limits:
        most = tr("any number") if limit.maximum is None else number(limit.maximum)
        parts.append(tr("{name}: {used} of {most}", name=limit.name, used=number(limit.used), most=most))
    outlets = trace.total_tokens - sum(each.tokens for each in within_limits(trace))
    if outlets:
        parts.append(tr("outlets: {tokens}, no limit", tokens=number(outlets)))
    reasons = {verdict.reason for record in trace.stages if record.phase is Phase.BUDGET for verdict in record.verdicts}
    ended = next((told for reason, told in trace.words.budget_ended.items() if reason in reasons), "")
    if ended:
        parts.append(tr(ended))
    return " · ".join(sentence_case(part) for part in parts)


def _least(kind: SystemKind) -> int:
    """The lowest budget that a system takes."""
    low = next((each.low for each in declared(kind.settings) if each.name == kind.budget), None)
    return int(low or 0)


def trial_words(changes: TraceDiff) -> str:
    """Who would go in and who would leave."""
    parts = []
    if changes.entered:
        parts.append(tr("goes in: {names}", names=", ".join(each.title for each in changes.entered)))
    if changes.left:
        parts.append(tr("leaves: {names}", names=", ".join(each.title for each in changes.left)))
    resized = ", ".join(f"{each.title} {number(old)} → {number(new)}" for each, old, new in sizes(changes))
    if resized:
        parts.append(tr("another length: {names}", names=resized))
    if not parts:
        return tr("The same entries would go in.")
    return sentence_case("; ".join(parts)) + "."


def _headline(view: BudgetView) -> str:
    parts = [view.headline()]
    if view.entries_maximum is not None:
        used, most = number(view.entries_used), number(view.entries_maximum)
        parts.append(tr("{used} of {most} entries", used=used, most=most))
    return " · ".join(parts)
