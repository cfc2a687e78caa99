"""Rows of the property table: a quiet name, a value, and a warning sign with its sentence."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from lorestudio.ui.models.properties import Property
from lorestudio.ui.qt import ITEM, Index
from lorestudio.ui.theme import Theme, scaled
from lorestudio.ui.widgets.paint import draw_glyph, hairline

_LEFT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)


class PropertyDelegate(QStyledItemDelegate):
    """Draws one `Property`; a warning takes a second line."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: one line, or two with a warning."""
        row = index.data(ITEM)
        line = round(QFontMetricsF(option.font).height()) + 8
        return QSize(80, line + (line - 6 if isinstance(row, Property) and row.warning else 0))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a cell."""
        row = index.data(ITEM)
        if not isinstance(row, Property):
            return
        theme, rect = self._theme, QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        if chosen:
            painter.fillRect(rect, theme.color("accent_soft"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        line = round(QFontMetricsF(option.font).height()) + 8
        box = QRectF(rect.left() + 10, rect.top(), rect.width() - 14, line)
        ink = theme.color("on_accent_soft" if chosen else "text")
        if index.column() == 0:
            painter.setPen(ink if chosen else theme.color("text_muted"))
            painter.drawText(box, _LEFT, row.name)
        else:
            given = row.source.endswith("note")
            metrics = QFontMetricsF(option.font)
            painter.setPen(ink if given else theme.color("text_faint"))
            painter.drawText(box, _LEFT, metrics.elidedText(row.value, Qt.TextElideMode.ElideRight, box.width()))
            if row.warning:
                below = QRectF(box.left(), rect.top() + line - 4, box.width(), line - 4)
                sign = QRectF(below.left(), below.top(), 14, below.height())
                draw_glyph(painter, sign, "warning", theme.palette.warning, 13)
                painter.setFont(scaled(option.font, 0.9))
                painter.setPen(theme.color("on_accent_soft" if chosen else "warning"))
                text = f"{row.warning} {row.fix}".strip()
                shown = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, below.width() - 18)
                painter.drawText(below.adjusted(18, 0, 0, 0), _LEFT, shown)
        painter.restore()
