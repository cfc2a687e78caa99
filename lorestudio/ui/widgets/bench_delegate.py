"""Draws the rows of the test bench: the mark of what became of an entry before its title."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from lorestudio.ui.models.bench_table import ENTRY, TOKENS
from lorestudio.ui.models.marks import Mark
from lorestudio.ui.qt import DISPLAY, MARK, Index
from lorestudio.ui.theme import Theme, scaled
from lorestudio.ui.widgets.paint import draw_focus, draw_mark, hairline


class BenchDelegate(QStyledItemDelegate):
    """One line a row; the chosen row is ringed where the keyboard is."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a cell."""
        theme, view = self._theme, option.widget
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        box = QRectF(option.rect)
        painter.save()
        if chosen:
            painter.fillRect(box, theme.color("accent_soft"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        room = box.adjusted(8, 0, -8, 0)
        mark = index.data(MARK)
        if isinstance(mark, Mark):
            draw_mark(painter, QRectF(box.left() + 6, box.top(), 20, box.height()), mark, theme)
            room.setLeft(box.left() + 33)
        first = index.column() == ENTRY
        painter.setFont(scaled(option.font, 1.0 if first else 0.93, bold=first and chosen))
        ink = "on_accent_soft" if chosen else "text" if first else "text_muted"
        painter.setPen(theme.color(ink))
        side = Qt.AlignmentFlag.AlignRight if index.column() == TOKENS else Qt.AlignmentFlag.AlignLeft
        text = str(index.data(DISPLAY) or "")
        shown = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(side | Qt.AlignmentFlag.AlignVCenter), shown)
        if chosen and first and isinstance(view, QTableView) and view.hasFocus():
            draw_focus(painter, box.adjusted(1, 1, -1, -2), theme)
        painter.restore()
