"""The text editor over a note's document. In form mode the front matter is hidden and cannot be reached.

Links in a line of Markdown: where they stand, and the half-typed one before the caret.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import (
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QApplication, QPlainTextDocumentLayout, QPlainTextEdit, QToolTip, QWidget

from lorestudio.domain.javascript import length
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.shell.qt import plain
from lorestudio.ui.shell.theme import fixed_font, scaled
from lorestudio.ui.shell.words import tr

LINK: Final = re.compile(r"(!?)\[\[([^\[\]|\n]+)(?:\|([^\]\n]*))?\]\]")
_OPEN: Final = re.compile(r"\[\[([^\[\]|\n]*)$")


class Link(Struct, frozen=True):
    """A link in a line: `start` and `end` are code units, `target` is what it leads to."""

    start: int
    end: int
    target: str


def link_at(line: str, place: int) -> Link | None:
    """The link that `place`, a number of code units into the line, lies in or touches."""
    for found in LINK.finditer(line):
        start, end = length(line[: found.start()]), length(line[: found.end()])
        if start <= place <= end:
            return Link(start, end, found[2].strip().removesuffix("\\"))
    return None


def half_typed(before: str) -> str | None:
    """What was typed behind the last `[[` that is still open, None where there is none."""
    found = _OPEN.search(before)
    return found[1] if found is not None else None


COLUMN: Final = 760
"""Lines longer than this many device-independent pixels are hard to read."""

_KEEP: Final = QTextCursor.MoveMode.KeepAnchor
_COMMENT: Final = "%%"


class BodyEdit(QPlainTextEdit):
    """Markdown of a note. `followed` carries the target of a link that is to be opened.

    `hide_front` hides the lines before the body; then neither caret nor selection nor anything dropped can get there.
    """

    followed = Signal(str)
    shown_again = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buffer: NoteBuffer | None = None
        self._hidden = False
        self._guarding = False
        self._first = 0
        self._front_touched = False
        self._blank = QTextDocument(self)
        self._blank.setDocumentLayout(QPlainTextDocumentLayout(self._blank))
        self.preview: Callable[[str], str] = lambda _target: ""
        self.setAccessibleName(tr("Text of the note"))
        self.setMouseTracking(True)
        self.setTabChangesFocus(True)
        self.setCursorWidth(2)
        self.setUndoRedoEnabled(True)
        self.cursorPositionChanged.connect(self._guard)
        self.selectionChanged.connect(self._guard)

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def show_buffer(self, buffer: NoteBuffer) -> None:
        """Show another note."""
        self._leave_buffer()
        self._buffer = buffer
        self.setDocument(buffer.document)
        buffer.document.contentsChange.connect(self._changing)
        buffer.document.contentsChanged.connect(self._content_changed)
        self._use_font()
        self._hide()
        self._guard()

    def show_nothing(self) -> None:
        """Show an empty text that cannot be edited."""
        self._leave_buffer()
        self._buffer, self._first = None, 0
        self.setDocument(self._blank)
        self.setReadOnly(True)

    def _leave_buffer(self) -> None:
        if self._buffer is not None:
            self._buffer.document.contentsChange.disconnect(self._changing)
            self._buffer.document.contentsChanged.disconnect(self._content_changed)

    def hide_front(self, hidden: bool) -> None:
        """Hide the front matter, or show the whole file in a fixed-width font."""
        if hidden != self._hidden:
            self._hidden = hidden
            self._use_font()
            self._hide()
            self._guard()
            self._set_column()
            self.setAccessibleName(tr("Text of the note") if hidden else tr("The note's file"))
            self.centerCursor()

    @property
    def first_place(self) -> int:
        """The first position that can be reached; the end of the document where there is no body line yet."""
        return self._first if self._hidden else 0

    def settle(self) -> None:
        """The front matter may have other lines now: hide exactly those."""
        self._hide()
        self._guard()

    def _hide(self) -> None:
        buffer = self._buffer
        if buffer is None:
            return
        first = buffer.body_block if self._hidden else self.document().begin()
        last = first.blockNumber() if first.isValid() else self.document().blockCount()
        self._first = first.position() if first.isValid() else self.document().characterCount() - 1
        block = self.document().begin()
        changed_from = changed_to = -1
        while block.isValid():
            visible = block.blockNumber() >= last
            if block.isVisible() != visible:
                block.setVisible(visible)
                changed_from = block.position() if changed_from < 0 else changed_from
                changed_to = block.position() + block.length()
            elif visible and block.blockNumber() > last:
                break
            block = block.next()
        if changed_from >= 0:
            self.document().markContentsDirty(changed_from, changed_to - changed_from)
            layout = self.document().documentLayout()
            layout.documentSizeChanged.emit(layout.documentSize())
            self.viewport().update()

    def _changing(self, place: int, removed: int, added: int) -> None:
        if place < self._first:
            self._front_touched = True
            self._first = max(place, self._first + added - removed)

    def _content_changed(self) -> None:
        # Typing in the body moves nothing, so nothing is parsed for it here.
        if self._hidden and self._front_touched:
            self._hide()
        self._front_touched = False

    def _use_font(self) -> None:
        base = QApplication.font()
        font = scaled(base, 1.1) if self._hidden else fixed_font(base.pointSizeF())
        self.setFont(font)
        self.document().setDefaultFont(font)
        self.setTabStopDistance(4 * QFontMetricsF(font).horizontalAdvance(" "))

    # ---- links ------------------------------------------------------------------------------------------------------

    def link_at_caret(self) -> Link | None:
        """The link that the caret is in."""
        cursor = self.textCursor()
        return link_at(cursor.block().text(), cursor.positionInBlock())

    def follow(self) -> bool:
        """Open the link that the caret is in; False where there is none."""
        found = self.link_at_caret()
        if found is not None:
            self.followed.emit(found.target)
        return found is not None

    def link_selection(self) -> None:
        """Put brackets around the selection, or around the word at the caret; without either, begin a link."""
        if self.isReadOnly():
            return
        cursor = self.textCursor()
        if not cursor.hasSelection():
            cursor.select(QTextCursor.SelectionType.WordUnderCursor)
            if cursor.selectionStart() < self.first_place or not cursor.selectedText().strip():
                cursor = self.textCursor()
        text = cursor.selectedText()
        if "\u2029" in text:
            return
        start = cursor.selectionStart()
        cursor.insertText(f"[[{text}]]")
        if not text:
            cursor.setPosition(start + 2)
        self.setTextCursor(cursor)

    def toggle_comment(self) -> None:
        """Make the selection, or the caret's line, a comment that stays out of the prompt, or undo that."""
        if self.isReadOnly():
            return
        cursor = self.textCursor()
        if not cursor.hasSelection():
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, _KEEP)
        start, text = cursor.selectionStart(), cursor.selectedText()
        inner = text.strip()
        if len(inner) > 3 and inner.startswith(_COMMENT) and inner.endswith(_COMMENT):
            new = text.replace(inner, inner[2:-2].strip(" "), 1)
        elif "\u2029" in text:  # a comment over several lines needs its marks on lines of their own
            new = f"{_COMMENT}\u2029{text.strip(chr(0x2029))}\u2029{_COMMENT}"
        else:
            new = f"{_COMMENT} {inner} {_COMMENT}" if inner else f"{_COMMENT}  {_COMMENT}"
        if "\u2029" in inner and inner.startswith(f"{_COMMENT}\u2029"):
            new = inner[2:-2].strip("\u2029")
        cursor.insertText(new.replace("\u2029", "\n"))
        end = cursor.position()
        cursor.setPosition(start)
        cursor.setPosition(end, _KEEP)
        self.setTextCursor(cursor)

    def begin(self) -> None:
        """Give a note that was just made the keyboard, at the end of the first paragraph below its heading."""
        cursor = QTextCursor(self.document())
        block = self.document().findBlock(self.first_place)
        while block.isValid() and (not block.text().strip() or block.text().startswith("#")):
            block = block.next()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if block.isValid():
            cursor.setPosition(block.position() + len(block.text()))
        self.setTextCursor(cursor)
        self.setFocus()

    # ---- guards -----------------------------------------------------------------------------------------------------

    def _guard(self) -> None:
        """Bring caret and selection back out of the hidden part."""
        if self._guarding or not self._hidden:
            return
        cursor, first = self.textCursor(), min(self.first_place, self.document().characterCount() - 1)
        anchor, place = max(cursor.anchor(), first), max(cursor.position(), first)
        if (anchor, place) != (cursor.anchor(), cursor.position()):
            self._guarding = True
            cursor.setPosition(anchor)
            cursor.setPosition(place, _KEEP)
            self.setTextCursor(cursor)
            self._guarding = False

    def _make_room(self) -> None:
        """Give a note that ends with its front matter a line to write in."""
        if self._hidden and self._buffer is not None and not self._buffer.body_block.isValid():
            cursor = QTextCursor(self.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertBlock()
            self._hide()
            self.setTextCursor(cursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: nothing deletes across the body's first character."""
        enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if self._hidden and not self.isReadOnly():
            if self._deletes_into_front(event):
                return
            if enter or (event.text() and event.text().isprintable()):
                self._make_room()
        super().keyPressEvent(event)

    def _deletes_into_front(self, event: QKeyEvent) -> bool:
        cursor = self.textCursor()
        keys = QKeySequence.StandardKey
        if cursor.hasSelection():
            return False
        move = None
        if event.key() == Qt.Key.Key_Backspace:
            move = QTextCursor.MoveOperation.PreviousCharacter
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                move = QTextCursor.MoveOperation.PreviousWord
        if event.matches(keys.DeleteStartOfWord):
            move = QTextCursor.MoveOperation.PreviousWord
        if move is None:
            return False
        cursor.movePosition(move, _KEEP)
        if cursor.position() >= self.first_place:
            return False
        here = self.textCursor()
        here.setPosition(self.first_place, _KEEP)
        here.removeSelectedText()
        return True

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Qt: pasting needs a line to write in too."""
        self._make_room()
        super().insertFromMimeData(source)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Qt: an input method must not replace what is hidden."""
        if self._hidden and self.textCursor().position() + event.replacementStart() < self.first_place:
            event.ignore()
            return
        if event.commitString():
            self._make_room()
        super().inputMethodEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Qt: nothing is dropped before the body."""
        super().dragMoveEvent(event)
        if self.cursorForPosition(event.position().toPoint()).position() < self.first_place:
            event.ignore()

    def dropEvent(self, event: QDropEvent) -> None:
        """Qt: see `dragMoveEvent`."""
        if self.cursorForPosition(event.position().toPoint()).position() < self.first_place:
            event.ignore()
            return
        super().dropEvent(event)

    # ---- mouse ------------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: Ctrl and a click follow a link."""
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        found = self._link_under(event.position().toPoint()) if control else None
        if found is not None and event.button() is Qt.MouseButton.LeftButton:
            self.followed.emit(found.target)
            return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: a hand over a link that a click would follow."""
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        hand = bool(control) and self._link_under(event.position().toPoint()) is not None
        shape = Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)
        super().mouseMoveEvent(event)

    def event(self, event: QEvent) -> bool:
        """Qt: the tooltip over a link shows where it leads."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found = self._link_under(self.viewport().mapFrom(self, event.pos()))
            text = self.preview(found.target) if found is not None else ""
            if text:
                QToolTip.showText(event.globalPos(), plain(text), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def _link_under(self, point: QPoint) -> Link | None:
        cursor = self.cursorForPosition(point)
        found = link_at(cursor.block().text(), cursor.positionInBlock())
        box = self.cursorRect(cursor)
        return found if found is not None and abs(box.center().x() - point.x()) < 24 else None

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: keep lines at a readable width."""
        super().resizeEvent(event)
        self._set_column()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt: the caret may have been left in what is hidden now."""
        super().focusInEvent(event)
        self._guard()

    def _set_column(self) -> None:
        spare = self.width() - COLUMN if self._hidden else 0
        side = max(0, spare // 2)
        if self.viewportMargins().left() != side:
            self.setViewportMargins(side, 0, side, 0)
