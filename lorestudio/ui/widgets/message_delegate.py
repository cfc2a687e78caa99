"""Rows of the chat that can be edited in place."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, QRect, Signal
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from lorestudio.ui.models.chat_list import ChatRow
from lorestudio.ui.qt import ITEM, Index
from lorestudio.ui.widgets.chat_delegate import ChatDelegate
from lorestudio.ui.widgets.composer import MessageField
from lorestudio.ui.words import tr

LEAST_HEIGHT = 110


class MessageDelegate(ChatDelegate):
    """`edited` carries the row and the text that it is to have; Ctrl+Enter or leaving the field finishes an edit."""

    edited = Signal(int, str)

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Qt: a field over the message."""
        field = MessageField(parent)
        row = index.data(ITEM)
        number = row.number if isinstance(row, ChatRow) else index.row()
        field.setAccessibleName(tr("Text of message {number}", number=number))
        field.setToolTip(tr("Ctrl+Enter takes the text, Escape leaves it as it was"))
        field.setTabChangesFocus(True)
        field.finished.connect(lambda: self._finish(field))
        field.given_up.connect(lambda: self.closeEditor.emit(field, self.EndEditHint.NoHint))
        return field

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Qt: the text as it is."""
        row = index.data(ITEM)
        if isinstance(editor, MessageField) and isinstance(row, ChatRow) and not editor.toPlainText():
            editor.setPlainText(row.text)

    def setModelData(self, editor: QWidget, _model: QAbstractItemModel, index: Index) -> None:
        """Qt: the model is never changed here; whoever owns the chat does that."""
        row = index.data(ITEM)
        if isinstance(editor, MessageField) and isinstance(row, ChatRow) and editor.toPlainText() != row.text:
            self.edited.emit(index.row(), editor.toPlainText())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, _index: Index) -> None:
        """Qt: over the row's text, with room to write in a short one."""
        holder = editor.parentWidget()
        room = holder.rect() if holder is not None else option.rect
        top = option.rect.top() + 26
        height = max(LEAST_HEIGHT, option.rect.height() - 30)
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
