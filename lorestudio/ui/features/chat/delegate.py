"""Rows of the chat, to edit in place: who speaks, the text with found keys marked, swipes, what the run injected."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QTextCursor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from lorestudio.ui.features.chat.composer import MessageField
from lorestudio.ui.features.chat.model import ChatRow, Speaker
from lorestudio.ui.shell.qt import ITEM, V_LEFT, Index, plain
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.widgets.paint import (
    KeyMark,
    Line,
    Wrapper,
    chip_width,
    draw_chip,
    draw_focus,
    draw_glyph,
    draw_key_mark,
    hairline,
    set_inks,
    whole_parts,
)

MOST_LINES: Final = 7
"""A longer message is folded until it is opened."""

_EDGE, _AVATAR, _GAP, _TOP = 12, 26, 10, 8
_ROLE_WORD: Final = {
    Speaker.USER: "you",
    Speaker.CHARACTER: "",
    Speaker.HIDDEN: "hidden, not sent",
    Speaker.NARRATOR: "narrator, not searched for keys",
    Speaker.NEXT: "next reply",
}


class _MessageLayout(Struct, frozen=True):
    lines: tuple[Line, ...]
    folded: bool
    height: int


class ChatDelegate(QStyledItemDelegate):
    """Draws `ChatRow`s. `swipe_wanted` carries a row and a step (-1 or +1) after a click on a swipe arrow."""

    swipe_wanted = Signal(int, int)
    fold_wanted = Signal(int)

    def __init__(self, theme: Theme, view: QListView, parent: QObject | None = None) -> None:
        super().__init__(parent or view)
        self._theme, self._view = theme, view
        self._wrapper: Wrapper | None = None
        self._pointed = -1
        self._layouts: dict[tuple[str, int, bool], _MessageLayout] = {}
        self._growing: tuple[str, int, bool] = ("", 0, False)

    def point_at(self, row: int) -> None:
        """Set a row apart that somebody was led to, -1 for none."""
        self._pointed = row

    # ---- measuring --------------------------------------------------------------------------------------------------

    def wrapper(self) -> Wrapper:
        """What measures texts in the view's font."""
        font = self._view.font()
        if self._wrapper is None or self._wrapper.font != font:
            self._wrapper = Wrapper(font)
            self._layouts.clear()
        return self._wrapper

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: as tall as the text needs in the view's width."""
        row = index.data(ITEM)
        width = self._view.viewport().width()
        return QSize(100, self._layout(row, width).height) if isinstance(row, ChatRow) else QSize(100, 20)

    def guess(self, length: int, width: int) -> int:
        """About how tall a folded row with so many characters is, without breaking its lines."""
        lines = max(1, math.ceil(length * self.wrapper().metrics.averageCharWidth() / self._room(width)))
        shown = min(lines, MOST_LINES + 1)
        return round(2 * _TOP + self._header_height() + 3 + self._line_height() * shown)

    def _layout(self, row: ChatRow, width: int) -> _MessageLayout:
        wrapper, key = self.wrapper(), (row.text, width, row.expanded)
        known = self._layouts.get(key)
        if known is None:
            if len(self._layouts) > 8000:
                self._layouts.clear()
            room, start, lines = self._room(width), 0, list[Line]()
            before, (written, *shape) = self._layouts.get(self._growing), self._growing
            if row.writing and before is not None and shape == [*key[1:]] and row.text.startswith(written):
                start = written.rfind("\n") + 1  # the paragraphs before the last one have their lines
                lines += before.lines[: bisect_left(before.lines, (start,))]
            rest = wrapper.lines(row.text[start:], room, None if row.expanded else MOST_LINES + 2)
            lines += [(start + first, start + after) for first, after in rest]
            folded = not row.expanded and len(lines) > MOST_LINES + 1
            if folded:
                lines = lines[:MOST_LINES]
            spacing = self._line_height()
            height = 2 * _TOP + self._header_height() + 3 + spacing * (len(lines) + bool(folded))
            known = self._layouts[key] = _MessageLayout(tuple(lines), folded, round(height))
            if row.writing:  # each piece makes another text; only the newest is asked for again
                self._layouts.pop(self._growing, None)
                self._growing = key
        return known

    def _line_height(self) -> float:
        return self.wrapper().metrics.height() * 1.12

    def _header_height(self) -> float:
        return max(20.0, self.wrapper().metrics.height())

    # ---- drawing ----------------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a row."""
        row = index.data(ITEM)
        if not isinstance(row, ChatRow):
            return
        theme = self._theme
        rect = QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.row() == self._pointed:
            painter.fillRect(rect, theme.color("neutral_soft"))
            painter.fillRect(QRectF(rect.left(), rect.top(), 3, rect.height()), theme.color("mark"))
        if chosen:
            painter.fillRect(rect, theme.color("accent_soft"))
            painter.fillRect(QRectF(rect.left(), rect.top(), 3, rect.height()), theme.color("accent"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.setPen(hairline(theme.color("border")))
        below = rect.bottom() - 0.5  # inside the row: what reaches over its edge is lost where the next one is drawn
        painter.drawLine(QPointF(rect.left() + _EDGE, below), QPointF(rect.right() - _EDGE, below))
        self._draw_avatar(painter, QRectF(rect.left() + _EDGE, rect.top() + _TOP, _AVATAR, _AVATAR), row)
        body = self._body(rect)
        self._draw_header(painter, QRectF(body.left(), body.top(), body.width(), self._header_height()), row, chosen)
        body.setTop(body.top() + self._header_height() + 3)
        self._draw_text(painter, body, row, chosen)
        if chosen and option.state & QStyle.StateFlag.State_HasFocus:
            draw_focus(painter, rect, theme)
        painter.restore()

    def _draw_avatar(self, painter: QPainter, box: QRectF, row: ChatRow) -> None:
        fill = {Speaker.USER: "blue", Speaker.CHARACTER: "green", Speaker.NEXT: "sky"}.get(row.speaker, "grey")
        ground, ink = self._theme.fill(fill)
        if row.speaker in {Speaker.HIDDEN, Speaker.NARRATOR}:
            ground, ink = self._theme.color("sunken"), self._theme.color("text_muted")
        set_inks(painter, Qt.PenStyle.NoPen, ground)
        painter.drawEllipse(box)
        if row.speaker is Speaker.HIDDEN:
            draw_glyph(painter, box, "hidden", ink.name(), 15)
            return
        set_inks(painter, ink, font=self._font(0.95, bold=True))
        letter = "+" if row.speaker is Speaker.NEXT else row.name[:1].upper()
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, letter)

    def _draw_header(self, painter: QPainter, box: QRectF, row: ChatRow, chosen: bool) -> None:
        theme = self._theme
        right = box.right()
        painter.setFont(self._font(0.88))
        metrics = QFontMetricsF(painter.font())
        word = row.writing or row.seen or tr(_ROLE_WORD[row.speaker])
        remark = f"⚠ {row.remark}" if row.remark else ""
        note = " · ".join(part for part in (f"#{number(row.number)}", word, remark) if part)
        chip_words = self._chip(row, box.width())
        if chip_words:
            wide, high = chip_width(metrics, chip_words), max(18.0, metrics.height() + 2)
            chip = QRectF(right - wide, box.center().y() - high / 2, wide, high)
            ground = theme.color("panel") if chosen else theme.color("good_soft" if "·" in row.chip else "neutral_soft")
            ink = theme.color("good" if "·" in row.chip else "neutral")
            draw_chip(painter, chip, chip_words, ground, ink, theme.color("border"))
            right -= wide + 8
        if row.swipes > 1:
            before, middle, after = self.swipe_boxes(box, row, right)
            ink_name = theme.palette.on_accent_soft if chosen else theme.palette.text_muted
            draw_glyph(painter, before, "chevron-left", ink_name, 14)
            draw_glyph(painter, after, "chevron-right", ink_name, 14)
            painter.setPen(QColor(ink_name))
            painter.drawText(middle, Qt.AlignmentFlag.AlignCenter, f"{row.swipe + 1}/{row.swipes}")
            right = before.left() - 6
        if row.badge is not None:
            glyph, tone, _words = row.badge
            right -= 18
            draw_glyph(painter, QRectF(right, box.top(), 16, box.height()), glyph, theme.color(tone).name(), 15)
            right -= 4
        ink = theme.color("on_accent_soft" if chosen else "text")
        painter.setFont(self._font(1.0, bold=True))
        wrapper = QFontMetricsF(painter.font())
        name = wrapper.elidedText(row.name, Qt.TextElideMode.ElideRight, max(30.0, right - box.left()))
        named = next((mark for mark in row.marks if mark.in_name), None)
        if named is not None:
            wide = wrapper.horizontalAdvance(name)
            draw_key_mark(painter, QRectF(box.left(), box.top() + 1, wide, box.height() - 2), named, theme)
            ink = ink if named.refine else theme.color("on_mark")
        painter.setPen(ink)
        painter.drawText(box, V_LEFT, name)
        left = box.left() + wrapper.horizontalAdvance(name) + 8
        set_inks(painter, theme.color("on_accent_soft" if chosen else "text_faint"), font=self._font(0.88))
        shown = whole_parts(note, QFontMetricsF(painter.font()), right - left)
        painter.drawText(box.adjusted(left - box.left(), 0, 0, 0), V_LEFT, shown)

    def _chip(self, row: ChatRow, width: float) -> str:
        """What went in, in as many words as name and number leave room for."""
        small = QFontMetricsF(self._font(0.88))
        name = QFontMetricsF(self._font(1.0, bold=True)).horizontalAdvance(row.name)
        around = 58 + small.horizontalAdvance(f"{row.swipes}/{row.swipes}") if row.swipes > 1 else 16.0
        around += 22 if row.badge is not None else 0
        room = width - name - small.horizontalAdvance(f"#{number(row.number)}") - around
        entries = row.chip.partition(" · ")[0]
        forms = (row.chip, entries, entries.partition(" ")[0])
        return next((form for form in forms if chip_width(small, form) <= room), forms[-1])

    def _draw_text(self, painter: QPainter, box: QRectF, row: ChatRow, chosen: bool) -> None:
        theme, wrapper = self._theme, self.wrapper()
        layout = self._layout(row, self._view.viewport().width())
        painter.setFont(wrapper.font)
        muted = row.speaker in {Speaker.HIDDEN, Speaker.NARRATOR, Speaker.NEXT}
        ink = theme.color("on_accent_soft" if chosen else "text_muted" if muted else "text")
        height = self._line_height()
        # Most of a message as long as a book is out of sight.
        first = max(0, int(-box.top() / height))
        last = first + int(self._view.viewport().height() / height) + 2
        for place, line in enumerate(layout.lines[first:last], first):
            top = box.top() + place * height
            part = row.text[line[0] : line[1]]
            pieces = tuple(self._pieces(line, part, row, QRectF(box.left(), top, box.width(), height)))
            for mark, piece, _text in pieces:
                draw_key_mark(painter, piece, mark, theme)
            painter.setPen(ink)
            painter.drawText(QRectF(box.left(), top, box.width() + 20, height), V_LEFT, part)
            painter.setPen(theme.color("on_mark"))  # the marked words again, in the ink that belongs to their ground
            for mark, piece, text in pieces:
                if not mark.refine:
                    painter.drawText(QRectF(piece.left(), top, 2000, height), V_LEFT, text)
        if layout.folded:
            top = box.top() + len(layout.lines) * height
            set_inks(painter, theme.color("on_accent_soft" if chosen else "accent"), font=self._font(0.88, bold=True))
            painter.drawText(QRectF(box.left(), top, box.width(), height), V_LEFT, tr("… more (X shows all)"))

    def _pieces(self, line: Line, part: str, row: ChatRow, box: QRectF) -> Iterator[tuple[KeyMark, QRectF, str]]:
        """What lies of the row's marks in one line: each mark, where its words stand, and these words."""
        metrics = self.wrapper().metrics
        for mark in row.marks:
            if not mark.in_name and mark.start < line[1] and mark.end > line[0]:
                first, last = max(mark.start, line[0]) - line[0], min(mark.end, line[1]) - line[0]
                x = metrics.horizontalAdvance(part[:first])
                wide = metrics.horizontalAdvance(part[:last]) - x
                yield mark, QRectF(box.left() + x, box.top(), wide, box.height()), part[first:last]

    def mark_at(self, point: QPointF, rect: QRectF, row: ChatRow) -> KeyMark | None:
        """The mark under a point of the view, for a row that lies in `rect`."""
        body = self._body(rect)
        named = next((mark for mark in row.marks if mark.in_name), None)
        if named is not None and QRectF(body.left(), body.top(), body.width(), self._header_height()).contains(point):
            wide = QFontMetricsF(self._font(1.0, bold=True)).horizontalAdvance(row.name)
            return named if point.x() <= body.left() + wide else None
        height, top = self._line_height(), body.top() + self._header_height() + 3
        for line in self._layout(row, self._view.viewport().width()).lines:
            box = QRectF(body.left(), top, body.width(), height)
            if box.top() <= point.y() < box.bottom():
                pieces = self._pieces(line, row.text[line[0] : line[1]], row, box)
                return next((mark for mark, piece, _text in pieces if piece.contains(point)), None)
            top += height
        return None

    @staticmethod
    def _body(rect: QRectF) -> QRectF:
        """Where header and text of a row stand."""
        return rect.adjusted(_EDGE + _AVATAR + _GAP, _TOP, -_EDGE, -_TOP)

    def _room(self, width: float) -> float:
        """How long a line of text may be in a row of this width."""
        return max(40.0, self._body(QRectF(0, 0, width, 0)).width())

    def swipe_boxes(self, header: QRectF, row: ChatRow, right: float) -> tuple[QRectF, QRectF, QRectF]:
        """Where the arrows and the count of the swipe switcher are."""
        wide = QFontMetricsF(self._font(0.88)).horizontalAdvance(f"{row.swipes}/{row.swipes}") + 4
        after = QRectF(right - 16, header.top(), 16, header.height())
        middle = QRectF(after.left() - wide, header.top(), wide, header.height())
        before = QRectF(middle.left() - 16, header.top(), 16, header.height())
        return before, middle, after

    def _font(self, factor: float, *, bold: bool = False) -> QFont:
        return scaled(self.wrapper().font, factor, bold=bold)

    # ---- mouse ------------------------------------------------------------------------------------------------------

    def editorEvent(self, event: QEvent, model: object, option: QStyleOptionViewItem, index: Index) -> bool:
        """Qt: clicks on swipe arrows and on the fold line."""
        row = index.data(ITEM)
        if event.type() is not QEvent.Type.MouseButtonRelease or not isinstance(event, QMouseEvent):
            return False
        if not isinstance(row, ChatRow):
            return False
        rect = QRectF(option.rect)
        place = event.position()
        header = self._body(rect)
        header.setHeight(self._header_height())
        if row.swipes > 1:
            right = header.right()
            chip = self._chip(row, header.width())
            if chip:
                right -= chip_width(QFontMetricsF(self._font(0.88)), chip) + 8
            before, _middle, after = self.swipe_boxes(header, row, right)
            for box, step in ((before, -1), (after, 1)):
                if box.adjusted(-3, -3, 3, 3).contains(place):
                    self.swipe_wanted.emit(index.row(), step)
                    return True
        layout = self._layout(row, self._view.viewport().width())
        if (layout.folded or row.expanded) and place.y() > rect.bottom() - _TOP - self._line_height():
            self.fold_wanted.emit(index.row())
            return True
        return False

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        """Qt: what a mark is about, under the mouse."""
        row = index.data(ITEM)
        if not isinstance(row, ChatRow) or event.type() is not QEvent.Type.ToolTip:
            return super().helpEvent(event, view, option, index)
        mark = self.mark_at(QPointF(event.pos()), QRectF(option.rect), row)
        QToolTip.showText(event.globalPos(), plain(mark.words) if mark is not None else "", view)
        return True


LEAST_HEIGHT: Final = 110
_AROUND_FIELD: Final = 30


class MessageDelegate(ChatDelegate):
    """`edited` carries the row and the text that it is to have; Ctrl+Enter or leaving the field finishes an edit.

    `given_up` says that Escape has ended one.
    """

    edited = Signal(int, str)
    given_up = Signal()

    def __init__(self, theme: Theme, view: QListView, parent: QObject | None = None) -> None:
        super().__init__(theme, view, parent)
        self._field: MessageField | None = None
        self._place = QPersistentModelIndex()

    def unfinished(self) -> tuple[int, str] | None:
        """The row that is being edited and the text in its field, None where there is none or nothing was typed."""
        if self._field is None or not self._field.document().isModified():
            return None
        return self._place.row(), self._field.toPlainText()

    def finish(self) -> None:
        """Take the text of the field, as leaving it does."""
        if self._field is not None:
            self._finish(self._field)

    def give_up(self) -> None:
        """Close the field; the message stays as it was."""
        if self._field is not None:
            self.closeEditor.emit(self._field, self.EndEditHint.NoHint)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: a short message that is edited makes room for its field, which else covers the one above the last."""
        hint = super().sizeHint(option, index)
        if self._field is not None and index == self._place:
            hint.setHeight(max(hint.height(), LEAST_HEIGHT + _AROUND_FIELD))
        return hint

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Qt: a field over the message."""
        field = MessageField(parent, tabChangesFocus=True)
        row = index.data(ITEM)
        number = row.number if isinstance(row, ChatRow) else index.row()
        field.setAccessibleName(tr("Text of message {number}", number=number))
        field.setToolTip(tr("Ctrl+Enter takes the text, Escape leaves it as it was"))
        field.finished.connect(lambda: self._finish(field))
        field.given_up.connect(self.give_up)
        field.given_up.connect(self.given_up)
        self._field, self._place = field, QPersistentModelIndex(index)
        self.sizeHintChanged.emit(index)
        QTimer.singleShot(0, field, lambda: self._view.scrollTo(self._place))
        return field

    def destroyEditor(self, editor: QWidget, index: Index) -> None:
        """Qt: an edit has ended."""
        if editor is self._field:
            self._field = None
            self.sizeHintChanged.emit(index)
        super().destroyEditor(editor, index)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Qt: the text as it is, until something is typed."""
        row = index.data(ITEM)
        written = isinstance(editor, MessageField) and editor.document().isModified()
        if isinstance(editor, MessageField) and isinstance(row, ChatRow) and not written:
            editor.setPlainText(row.text)
            editor.moveCursor(QTextCursor.MoveOperation.End)  # as in SillyTavern

    def setModelData(self, editor: QWidget, _model: object, index: Index) -> None:
        """Qt: the model is never changed here; whoever owns the chat does that."""
        row = index.data(ITEM)
        if isinstance(editor, MessageField) and isinstance(row, ChatRow) and editor.toPlainText() != row.text:
            editor.document().setModified(False)  # from here on the text is the chat's
            self.edited.emit(index.row(), editor.toPlainText())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, _index: Index) -> None:
        """Qt: over the row's text, with room to write in a short one."""
        holder = editor.parentWidget()
        room = holder.rect() if holder is not None else option.rect
        top = option.rect.top() + 26
        height = max(LEAST_HEIGHT, option.rect.height() - _AROUND_FIELD)
        height = min(height, room.height())
        top = max(0, min(top, room.bottom() - height))
        editor.setGeometry(QRect(option.rect.left() + 40, top, option.rect.width() - 48, height))

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        """Qt: Enter makes a new line; only the field itself finishes an edit with a key."""
        if isinstance(editor, MessageField) and event.type() is QEvent.Type.KeyPress:
            return False
        return super().eventFilter(editor, event)

    def _finish(self, field: MessageField) -> None:
        self.commitData.emit(field)
        self.closeEditor.emit(field, self.EndEditHint.NoHint)
