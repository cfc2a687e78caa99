"""Rows of the vault tree: glyph, title, and on the right what matters this turn."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from lorestudio.domain.entry import LeftOutNote
from lorestudio.ui.models.marks import Mark
from lorestudio.ui.models.vault_tree import Branch, Node
from lorestudio.ui.qt import ITEM, MARK, Index
from lorestudio.ui.theme import Theme, scaled
from lorestudio.ui.widgets.paint import draw_glyph, draw_mark
from lorestudio.ui.words import number

_GLYPH_WIDTH: Final = 22
_QUIET = {"not a candidate", "refused"}


class VaultDelegate(QStyledItemDelegate):
    """Draws one `Node` with its mark; colours are the theme's."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: all rows are equally tall."""
        return QSize(120, max(24, round(QFontMetricsF(option.font).height()) + 7))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a row."""
        node, mark = index.data(ITEM), index.data(MARK)
        if not isinstance(node, Node):
            return
        theme, palette = self._theme, self._theme.palette
        primitive = QStyle.PrimitiveElement.PE_PanelItemViewItem
        option.widget.style().drawPrimitive(primitive, option, painter, option.widget)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        ink = palette.on_accent_soft if chosen else palette.text
        broken = isinstance(node.item, LeftOutNote) and node.item.problem.broken
        left_out = node.kind is Branch.LEFT_OUT
        icon_ink = palette.error if broken or node.icon == "broken" else palette.text_muted
        if node.icon == "constant":
            icon_ink = palette.accent
        box = QRectF(option.rect).adjusted(2, 0, -6, 0)
        draw_glyph(painter, QRectF(box.left(), box.top(), 18, box.height()), node.icon, icon_ink, 14)
        box.setLeft(box.left() + _GLYPH_WIDTH)
        box.setRight(self._right_side(painter, box, node, mark, index))
        painter.save()
        painter.setFont(scaled(option.font, 1.0, bold=node.kind in {Branch.FOLDER, Branch.GROUP}))
        painter.setPen(theme.color("text_muted") if left_out and not chosen else ink)
        metrics = QFontMetricsF(painter.font())
        text = metrics.elidedText(node.title, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)
        if left_out and isinstance(node.item, LeftOutNote):
            used = metrics.horizontalAdvance(text) + 8
            rest = box.adjusted(used, 0, 0, 0)
            painter.setPen(theme.color("text_faint"))
            painter.setFont(scaled(option.font, 0.9))
            why = QFontMetricsF(painter.font()).elidedText(
                node.item.message, Qt.TextElideMode.ElideRight, max(rest.width(), 0)
            )
            painter.drawText(rest, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), why)
        painter.restore()

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: the field for a new title begins where the title does, and takes the rest of the row."""
        del index
        editor.setGeometry(option.rect.adjusted(_GLYPH_WIDTH, 0, 0, 0))

    def _right_side(self, painter: QPainter, box: QRectF, node: Node, mark: object, index: Index) -> float:
        """Draw what stands on the right; returns where the title has to end."""
        palette, right = self._theme.palette, box.right()
        if node.kind in {Branch.FOLDER, Branch.GROUP}:
            text = number(node.amount)
            painter.save()
            painter.setPen(self._theme.color("text_faint"))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), text)
            painter.restore()
            return right - QFontMetricsF(painter.font()).horizontalAdvance(text) - 8
        if isinstance(mark, Mark) and mark.word not in _QUIET:
            draw_mark(painter, QRectF(right - 17, box.top(), 17, box.height()), mark, self._theme, 16)
            right -= 21
        entry = node.entry
        if entry is not None and entry.warnings:
            draw_glyph(painter, QRectF(right - 14, box.top(), 14, box.height()), "warning", palette.warning, 13)
            right -= 17
        model = index.model()
        if hasattr(model, "is_dirty") and model.is_dirty(node):
            draw_glyph(painter, QRectF(right - 12, box.top(), 12, box.height()), "constant", palette.accent, 11)
            right -= 15
        return right - 4
