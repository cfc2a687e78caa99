"""The budget as one bar: what went in by origin and in order, the limit, free room, and hatched what was cut.

What stayed out because so many entries were in has another hatching than what found no room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from lorestudio.trace.budget import ORIGINS, BudgetOrigin, BudgetView, Segment
from lorestudio.ui.shell.qt import V_LEFT, V_RIGHT
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.widgets.paint import Picture, draw_focus, draw_words, hairline, hatch, tell

CUT_SHARE: Final = 0.34
"""The part of the bar that everything cut may take at most; beyond it the cut part is not to scale."""

_EMPTY: Final = BudgetView((), 0, None, 0, None)
_SIDE, _TOP, _BAR = 12.0, 17.0, 24.0
_CENTRE: Final = int(Qt.AlignmentFlag.AlignCenter)


class _Placed(Struct, frozen=True):
    segment: Segment
    box: QRectF


def _in_line(bar: QRectF, segments: Iterable[Segment], left: float, scale: float) -> Iterator[_Placed]:
    """Segments one behind the other, `scale` pixels for a token."""
    for segment in segments:
        wide = scale * segment.tokens
        yield _Placed(segment, QRectF(left, bar.top(), wide, bar.height()))
        left += wide


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
        return (*self._view.inside, *self._view.cut)

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

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrower legend needs more lines."""
        super().resizeEvent(event)
        self.updateGeometry()

    def _bar(self) -> QRectF:
        return QRectF(_SIDE, _TOP, max(20.0, self.width() - 2 * _SIDE), _BAR)

    def _budget_width(self) -> float:
        """The part of the bar, in pixels, that stands for the budget (or for all that went in, without a limit)."""
        whole = self._bar().width()
        cut = sum(segment.tokens for segment in self._view.cut)
        size = max(self._view.maximum or 0, self._view.used) or 1
        return whole * max(1 - CUT_SHARE, size / (size + cut)) if cut else whole

    def _placed(self) -> list[_Placed]:
        bar, width = self._bar(), self._budget_width()
        size = max(self._view.maximum or 0, self._view.used) or 1
        total = sum(segment.tokens for segment in self._view.cut) or 1
        cut_at, room = bar.left() + width + 3, bar.width() - width - 3
        inside = _in_line(bar, self._view.inside, bar.left(), width / size)
        return [*inside, *_in_line(bar, self._view.cut, cut_at, room / total)]

    def _segment_at(self, place: QPointF) -> int:
        boxes = (item.box.adjusted(0, -4, 0, 4) for item in self._placed())
        return next((at for at, box in enumerate(boxes) if box.contains(place)), -1)

    # ---- drawing ----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, bar = self._theme, self._bar()
        budget = QRectF(bar.left(), bar.top(), self._budget_width(), bar.height())
        painter.setPen(hairline(theme.color("border_strong")))
        painter.setBrush(theme.color("sunken"))
        painter.drawRoundedRect(budget.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        placed = self._placed()
        for item in placed:
            self._draw_segment(painter, item)
        self._draw_labels(painter, budget, placed)
        self._draw_legend(painter, bar.bottom() + 7)
        if 0 <= self._current < len(placed):
            box = placed[self._current].box
            if self.hasFocus():
                draw_focus(painter, box.adjusted(-3, -3, 3, 3), theme)
            elif placed[self._current].segment.entry == self._chosen:
                painter.setPen(hairline(theme.color("text"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
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
        painter.setPen(ink)
        painter.setFont(scaled(self.font(), 0.86))
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
            painter.drawText(above.adjusted(0, 0, -4, 0), V_RIGHT, limit)
        if view.cut:
            tokens = number(sum(segment.tokens for segment in view.cut))
            beyond = QRectF(budget.right() + 5, 0, self.width() - budget.right() - 5, _TOP - 2)
            painter.drawText(beyond, V_LEFT, tr("out: {tokens}", tokens=tokens))
            painter.setPen(hairline(theme.color("text"), 2))
            x = budget.right() + 1.5
            painter.drawLine(QPointF(x, budget.top() - 7), QPointF(x, budget.bottom() + 5))

    def _legend(self) -> list[tuple[BudgetOrigin | bool, str]]:
        """Origins, and for what was cut whether it was by the number of entries."""
        if not self._with_legend:
            return []
        present = {segment.origin for segment in self._view.inside}
        cut: list[tuple[BudgetOrigin | bool, str]] = []
        for over_count, words in ((False, tr("cut by the budget")), (True, tr("over the limit of entries"))):
            tokens = sum(segment.tokens for segment in self._view.cut if segment.over_count is over_count)
            if any(segment.over_count is over_count for segment in self._view.cut):
                cut.append((over_count, f"{words}: {number(tokens)}"))
        return [*((origin, tr(origin.word)) for origin in ORIGINS if origin in present), *cut]

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
        for row, line in enumerate(self._legend_lines()):
            left = _SIDE
            for origin, word, wide in line:
                box = QRectF(left + 0.5, top + row * 18 + 2.5, 14, 13)
                painter.setPen(hairline(theme.color("fill_edge")))
                if isinstance(origin, bool):
                    self._draw_cut(painter, box, over_count=origin)
                else:
                    ground, ink = theme.fill(origin.fill)
                    painter.setBrush(ground)
                    painter.drawRoundedRect(box, 2, 2)
                    painter.setPen(ink)
                    painter.setFont(small)
                    painter.drawText(box, _CENTRE, origin.letter)
                painter.setFont(font)
                painter.setPen(theme.color("text_muted"))
                painter.drawText(QRectF(left + 19, top + row * 18, wide, 18), V_LEFT, word)
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
            self.entry_chosen.emit(self.current.entry)
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
            self.entry_chosen.emit(self._shown()[place].entry)
            self.update()
        super().mousePressEvent(event)

    def words_at(self, point: QPoint) -> str:
        """The segment at a place, in words."""
        place = self._segment_at(QPointF(point))
        return self._shown()[place].describe(self._view.maximum) if place >= 0 else ""
