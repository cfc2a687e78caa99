"""Rows of a prompt: who speaks, then each part with a bar in the colour of its origin, its tokens and its text."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from lorestudio.ui.models.prompt_rows import PromptRow
from lorestudio.ui.qt import ITEM, Index
from lorestudio.ui.theme import Theme, scaled
from lorestudio.ui.widgets.paint import chip_width, draw_chip, draw_focus, hairline, hatch
from lorestudio.ui.widgets.wrap import Line, Wrapper
from lorestudio.ui.words import tr

FOLDED_LINES: Final = 3
"""Lines that a part shows until it is opened."""

_SIDE, _BAR, _HEAD, _AMOUNT = 10.0, 4.0, 24.0, 74.0
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


class PromptDelegate(QStyledItemDelegate):
    """Draws `PromptRow`s."""

    def __init__(self, theme: Theme, view: QListView, parent: QObject | None = None) -> None:
        super().__init__(parent or view)
        self._theme, self._view = theme, view
        self._wrapper: Wrapper | None = None
        self._lines: dict[tuple[str, int, bool], tuple[tuple[Line, ...], bool]] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: as tall as the text needs in the view's width."""
        row = index.data(ITEM)
        if not isinstance(row, PromptRow):
            return QSize(100, 20)
        if row.head:
            return QSize(100, round(_HEAD + 2))
        lines, folded = self._broken(row)
        text = self._line_height() * (len(lines) + folded) if row.text else 0
        return QSize(100, round(_HEAD + text + 8))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a row."""
        row = index.data(ITEM)
        if not isinstance(row, PromptRow):
            return
        theme, rect = self._theme, QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen:
            painter.fillRect(rect, theme.color("accent_soft"))
        elif row.head:
            painter.fillRect(rect, theme.color("raised"))
        ink = theme.color("on_accent_soft" if chosen else "text")
        faint = theme.color("on_accent_soft" if chosen else "text_muted")
        if row.head:
            self._draw_head(painter, rect, row, ink, faint)
        else:
            self._draw_part(painter, rect, row, ink, faint)
        if chosen and option.state & QStyle.StateFlag.State_HasFocus:
            draw_focus(painter, rect, theme)
        painter.restore()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _draw_head(self, painter: QPainter, rect: QRectF, row: PromptRow, ink: QColor, faint: QColor) -> None:
        painter.setFont(scaled(self._font().font, 1.0, bold=True))
        painter.setPen(ink)
        box = rect.adjusted(_SIDE, 0, -_SIDE - _AMOUNT, 0)
        title = QFontMetricsF(painter.font()).elidedText(row.title, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, _LEFT, title)
        painter.setFont(self._font().font)
        painter.setPen(faint)
        painter.drawText(rect.adjusted(0, 0, -_SIDE, 0), _RIGHT, row.amount)
        painter.setPen(hairline(self._theme.color("border")))
        painter.drawLine(QPointF(rect.left(), rect.top() + 0.5), QPointF(rect.right(), rect.top() + 0.5))

    def _draw_part(self, painter: QPainter, rect: QRectF, row: PromptRow, ink: QColor, faint: QColor) -> None:
        theme = self._theme
        bar = QRectF(rect.left() + _SIDE, rect.top() + 3, _BAR, rect.height() - 6)
        ground, letter = theme.fill(row.fill) if row.fill else (theme.color(row.ground), theme.color("text"))
        if row.lost:
            painter.fillRect(bar, hatch(theme.color("text_muted"), theme))
        else:
            painter.setPen(hairline(theme.color("fill_edge") if row.fill else theme.color("border_strong")))
            painter.setBrush(ground)
            painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
        line = QRectF(bar.right() + 8, rect.top() + 2, rect.right() - bar.right() - 8 - _SIDE - _AMOUNT, _HEAD)
        painter.setFont(scaled(self._font().font, 0.86))
        metrics = QFontMetricsF(painter.font())
        word = tr(row.lost) if row.lost else tr(row.origin)
        wide = min(chip_width(metrics, word), line.width() * 0.6)
        chip = QRectF(line.left(), line.center().y() - 8, wide, 16)
        told = metrics.elidedText(word, Qt.TextElideMode.ElideRight, wide - 12)
        draw_chip(painter, chip, told, ground, letter, theme.color("fill_edge" if row.fill else "border_strong"))
        painter.setFont(scaled(self._font().font, 1.0, bold=row.entry is not None))
        painter.setPen(ink)
        rest = line.adjusted(wide + 8, 0, 0, 0)
        title = QFontMetricsF(painter.font()).elidedText(row.title, Qt.TextElideMode.ElideRight, rest.width())
        painter.drawText(rest, _LEFT, title)
        painter.setFont(self._font().font)
        painter.setPen(faint)
        painter.drawText(QRectF(rect.left(), line.top(), rect.width() - _SIDE, _HEAD), _RIGHT, row.amount)
        self._draw_text(painter, line.left(), line.bottom(), row, ink, faint)

    def _draw_text(
        self, painter: QPainter, left: float, top: float, row: PromptRow, ink: QColor, faint: QColor
    ) -> None:
        if not row.text:
            return
        lines, folded = self._broken(row)
        height = self._line_height()
        painter.setPen(ink if row.entry is not None else faint)
        for start, end in lines:
            painter.drawText(QRectF(left, top, 4000, height), _LEFT, row.text[start:end])
            top += height
        if folded:
            painter.setPen(self._theme.color("accent"))
            painter.drawText(QRectF(left, top, 4000, height), _LEFT, tr("… more (X shows all)"))

    def _broken(self, row: PromptRow) -> tuple[tuple[Line, ...], bool]:
        """The lines that are shown, and whether there are more."""
        width = self._view.viewport().width()
        key = (row.text, width, row.expanded)
        found = self._lines.get(key)
        if found is None:
            if len(self._lines) > 4000:
                self._lines.clear()
            room = max(40.0, width - 2 * _SIDE - _BAR - 8)
            lines = self._font().lines(row.text, room, None if row.expanded else FOLDED_LINES + 2)
            folded = not row.expanded and len(lines) > FOLDED_LINES + 1
            found = self._lines[key] = tuple(lines[:FOLDED_LINES] if folded else lines), folded
        return found

    def _font(self) -> Wrapper:
        font = self._view.font()
        if self._wrapper is None or self._wrapper.font != font:
            self._wrapper = Wrapper(font)
            self._lines.clear()
        return self._wrapper

    def _line_height(self) -> float:
        return self._font().metrics.height() * 1.1
