"""The view on a `PlaceTree`: Enter or a click goes to a place.

Rows of a `PlaceTree`: groups in bold with their number, lines with what was found marked in them.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QObject, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionButton, QStyleOptionViewItem, QTreeView, QWidget

from lorestudio.ui.shell.qt import ITEM, Index
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import number
from lorestudio.ui.widgets.paint import draw_glyph
from lorestudio.ui.widgets.tree import PlaceRow, PlaceTree

_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
_CHECK = Qt.ItemDataRole.CheckStateRole
BEFORE: Final = 32
"""So many characters of a long line are shown before what was found."""


def shown_part(row: PlaceRow) -> tuple[str, int, int]:
    """The part of a line around what was found, and where that is in it."""
    text, start, end = row.text, row.start, row.end
    cut = len(text) - len(text.lstrip())
    if start - cut > BEFORE and len(text) > 2 * BEFORE:
        space = text.find(" ", start - BEFORE, start)
        cut = space + 1 if space >= 0 else start - BEFORE
        return "…" + text[cut:], start - cut + 1, end - cut + 1
    cut = min(cut, start)
    return text[cut:], start - cut, end - cut


class PlaceDelegate(QStyledItemDelegate):
    """Draws one row; colours are the theme's."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: all rows are equally tall."""
        return QSize(120, max(23, round(QFontMetricsF(option.font).height()) + 7))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a row."""
        row = index.data(ITEM)
        if not isinstance(row, PlaceRow):
            return
        palette = self._theme.palette
        style = option.widget.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, option.widget)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        ink = palette.on_accent_soft if chosen else palette.text
        faint = palette.on_accent_soft if chosen else palette.text_muted
        box = QRectF(option.rect).adjusted(3, 0, -6, 0)
        state = index.data(_CHECK)
        if state is not None:
            self._draw_check(painter, option, Qt.CheckState(state))
            box.setLeft(box.left() + 20)
        if row.icon:
            draw_glyph(painter, QRectF(box.left(), box.top(), 16, box.height()), row.icon, faint, 13)
            box.setLeft(box.left() + 20)
        painter.save()
        small = scaled(option.font, 0.9)
        after = row.after or (number(len(row.children)) if row.children else "")
        if after:
            painter.setFont(small)
            painter.setPen(faint)
            wide = min(QFontMetricsF(small).horizontalAdvance(after), box.width() / 2)
            words = QFontMetricsF(small).elidedText(after, Qt.TextElideMode.ElideMiddle, wide + 1)
            painter.drawText(box, _RIGHT, words)
            box.setRight(box.right() - wide - 8)
        if row.title:
            font = scaled(option.font, 1.0, bold=bool(row.children) or not row.text)
            box.setLeft(box.left() + self._draw_text(painter, box, row.title, font, ink) + 8)
        if row.text:
            self._draw_line(painter, box, row, option, ink)
        painter.restore()

    def _draw_line(self, painter: QPainter, box: QRectF, row: PlaceRow, option: QStyleOptionViewItem, ink: str) -> None:
        text, start, end = shown_part(row)
        palette = self._theme.palette
        for piece, marked in ((text[:start], False), (text[start:end], True), (text[end:], False)):
            if not piece or box.width() < 8:
                continue
            piece = piece.replace("\t", " ")  # noqa: PLW2901  # a tabulator has no width of its own here
            if not marked:
                box.setLeft(box.left() + self._draw_text(painter, box, piece, option.font, ink))
                continue
            metrics = QFontMetricsF(option.font)
            wide = min(metrics.horizontalAdvance(piece), box.width())
            place = QRectF(box.left() - 1, box.center().y() - metrics.height() / 2, wide + 2, metrics.height())
            replaced = row.new_text is not None
            painter.fillRect(place, self._theme.color("error_soft" if replaced else "mark"))
            font = option.font
            if replaced:
                font = scaled(option.font, 1.0)
                font.setStrikeOut(True)
            colour = palette.text if replaced else palette.on_mark
            box.setLeft(box.left() + self._draw_text(painter, box, piece, font, colour))
            if row.new_text:
                wide = min(metrics.horizontalAdvance(row.new_text) + 4, max(box.width(), 0))
                place = QRectF(box.left() + 1, place.top(), wide, place.height())
                painter.fillRect(place, self._theme.color("good_soft"))
                box.setLeft(box.left() + 3)
                new = " ".join(row.new_text.split("\n"))
                box.setLeft(box.left() + self._draw_text(painter, box, new, option.font, palette.text) + 3)

    @staticmethod
    def _draw_text(painter: QPainter, box: QRectF, text: str, font: object, colour: str) -> float:
        painter.setFont(font)  # type: ignore[arg-type]  # the option's font is untyped in the stubs
        painter.setPen(colour)
        metrics = QFontMetricsF(painter.font())
        painter.drawText(box, _LEFT, metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(box.width(), 0)))
        return min(metrics.horizontalAdvance(text), max(box.width(), 0))

    def _draw_check(self, painter: QPainter, option: QStyleOptionViewItem, state: Qt.CheckState) -> None:
        button = QStyleOptionButton()
        size = 15
        top = option.rect.center().y() - size // 2
        button.rect = QRect(option.rect.left() + 3, top, size, size)
        button.state = (
            QStyle.StateFlag.State_Enabled
            | {
                Qt.CheckState.Checked: QStyle.StateFlag.State_On,
                Qt.CheckState.Unchecked: QStyle.StateFlag.State_Off,
                Qt.CheckState.PartiallyChecked: QStyle.StateFlag.State_NoChange,
            }[state]
        )
        style = option.widget.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_IndicatorItemViewItemCheck, button, painter, option.widget)


_BOX = 20


class PlaceView(QTreeView):
    """`entered` carries the row that somebody wants to go to. A click on a box only ticks it."""

    entered = Signal(QModelIndex)

    def __init__(self, theme: Theme, model: PlaceTree, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(13)
        self.setItemDelegate(PlaceDelegate(theme, self))
        self.setAccessibleName(name)
        self.setExpandsOnDoubleClick(False)
        theme.changed.connect(self.viewport().update)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter goes to the place, Space ticks it."""
        index = self.currentIndex()
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.entered.emit(index)
        elif event.key() == Qt.Key.Key_Space:
            self._tick(index)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a click goes to the place, one on the box ticks it."""
        super().mouseReleaseEvent(event)
        point = event.position().toPoint()
        index = self.indexAt(point)
        if event.button() is not Qt.MouseButton.LeftButton or not index.isValid():
            return
        if self._on_box(index, point):
            self._tick(index)
        elif self.visualRect(index).contains(point):
            self.entered.emit(index)

    def _tick(self, index: QModelIndex) -> None:
        state = index.data(Qt.ItemDataRole.CheckStateRole)
        if state is not None:
            on = Qt.CheckState(state) is not Qt.CheckState.Checked
            wanted = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
            self.model().setData(index, wanted.value, Qt.ItemDataRole.CheckStateRole)

    def _on_box(self, index: QModelIndex, point: QPoint) -> bool:
        left = self.visualRect(index).left()
        return index.data(Qt.ItemDataRole.CheckStateRole) is not None and left <= point.x() < left + _BOX
