"""Rows of the funnel: a bar as long as its candidates, what was added and what was taken away."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from lorestudio.trace.model import Phase
from lorestudio.ui.models.funnel_list import Step
from lorestudio.ui.qt import ITEM, Index
from lorestudio.ui.theme import Theme, scaled
from lorestudio.ui.widgets.paint import draw_focus, draw_glyph, hairline
from lorestudio.ui.words import number

_FILL: Final = {Phase.MATCH: "yellow", Phase.SELECT: "sky", Phase.GATE: "orange", Phase.BUDGET: "purple"}
_NAME_WIDTH: Final = 150
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


class FunnelDelegate(QStyledItemDelegate):
    """Draws one `Step`: what is left is solid, what was removed here is hatched behind it."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: two lines."""
        return QSize(240, 44)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a step."""
        step = index.data(ITEM)
        if not isinstance(step, Step):
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

    def _draw_bar(self, painter: QPainter, track: QRectF, step: Step) -> None:
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
