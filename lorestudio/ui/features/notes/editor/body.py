"""The text editor over a note's document, which follows links.

In form mode the front matter is hidden and cannot be reached.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QFontMetricsF,
    QInputMethodEvent,
    QKeyEvent,
    QMouseEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QApplication, QPlainTextDocumentLayout, QPlainTextEdit, QWidget

from lorestudio.domain.javascript import length
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.shell.theme import LETTERS, fixed_font, scaled
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.paint import shows_tip
from lorestudio.vault.links.references import Reference, ReferenceKind, references

_SCHEME: Final = r"\b(?:https?://|obsidian://|mailto:)"
_ADDRESS: Final = re.compile(
    rf"\[[^\[\]\n]*\]\(<?(?P<linked>{_SCHEME}(?:[^\s()<>]|\([^\s()<>]*\))+)>?(?:[ \t][^()\n]*)?\)"
    rf"|(?P<bare>{_SCHEME}[^\s()<>\[\]]*[^\s()<>\[\].,;:!?'\"])"
)


def is_address(link: Reference) -> bool:
    """Whether the link leads out of the vault, to what another program opens by its address."""
    return re.match(_SCHEME, link.target) is not None


def link_at(line: str, place: int) -> Reference | None:
    """The link that `place`, a number of code units into the line, lies in or touches; its target can be an address."""
    for found in (*links_in(line), *addresses_in(line)):
        if length(line[: found.start]) <= place <= length(line[: found.end]):
            return found
    return None


def links_in(line: str) -> tuple[Reference, ...]:
    """The links of one line of a note, in brackets or as Markdown has them."""
    return references(line) if "[[" in line or "](" in line else ()


def addresses_in(line: str) -> tuple[Reference, ...]:
    """The addresses of one line that lead out of the vault, bare or as Markdown links them."""
    return tuple(
        Reference(ReferenceKind.MARKDOWN, *found.span(), found[name], *found.span(name))
        for found in (_ADDRESS.finditer(line) if ":" in line else ())
        if (name := found.lastgroup)
    )


COLUMN: Final = 760
"""Lines longer than this many device-independent pixels are hard to read."""

_KEEP: Final = QTextCursor.MoveMode.KeepAnchor
_COMMENT: Final = "%%"
_ITEM: Final = re.compile(r"(\s*(?:[-*+]|(\d{1,9})[.)]) +(?:\[.\] +)?|\s*(?:> ?)+)(.*)")
"""A line of a list or a quotation: what begins it with its number, and what stands there."""
_BULLET: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)]) ")
_NUMBER: Final = re.compile(r"\d+")
_CLOSING: Final = dict(zip("[({\"'`*_~=", "])}\"'`*_~=", strict=True))
"""What closes each sign that, typed over a selection, goes around it."""
_STEP: Final = re.compile(rf"^(\t| {{2,4}}){_BULLET.pattern}", re.MULTILINE)
"""The first item below another one, and by what it is moved in."""


def _level(line: QTextBlock) -> int:
    """How far in the item stands, in blanks."""
    text = line.text().expandtabs(4)
    return len(text) - len(text.lstrip())


def _renumber(cursor: QTextCursor, moved: Sequence[QTextBlock], levels: Collection[int]) -> None:
    """Have numbers follow each other, as in Obsidian, on these levels from the moved lines to the end of their list."""
    line, numbers = moved[0], dict[int, int]()
    while _BULLET.match(line.previous().text()):
        line = line.previous()
    while found := _BULLET.match(line.text()):
        level, number = _level(line), _NUMBER.search(found[0])
        numbers = {each: last for each, last in numbers.items() if each < level + bool(number)}
        if number:
            place, end = (line.position() + each for each in number.span())
            counted = int(number[0])
            if level in levels and place >= moved[0].position():
                counted = numbers[level] + 1 if level in numbers else 1 if line in moved else counted
                if counted != int(number[0]):
                    cursor.setPosition(place)
                    cursor.setPosition(end, _KEEP)
                    cursor.insertText(str(counted))
            numbers[level] = counted
        line = line.next()


class BodyEdit(QPlainTextEdit):
    """Markdown of a note. `followed` carries the link that is to be opened.

    `hide_front` hides the lines before the body; then neither caret nor selection nor anything dropped can get there.
    """

    followed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, tabChangesFocus=True, cursorWidth=2, undoRedoEnabled=True)
        self._buffer: NoteBuffer | None = None
        self._hidden = False
        self._guarding = False
        self._first = 0
        self._scrolled: int | None = None
        """How far the text was scrolled before the front matter changed, while it does."""
        self._blank = QTextDocument(self)
        self._blank.setDocumentLayout(QPlainTextDocumentLayout(self._blank))
        self.preview: Callable[[Reference], str] = lambda _link: ""
        self.menu_actions: Sequence[QAction] = ()
        self.setObjectName("Body")  # the stylesheet says its size, which else would be that of the window
        self.setMouseTracking(True)
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
        if buffer.left is not None:
            cursor, scrolled = buffer.left
            self.setTextCursor(cursor)
            self.verticalScrollBar().setValue(scrolled)
        self._guard()

    def show_nothing(self) -> None:
        """Show an empty text that cannot be edited."""
        self._leave_buffer()
        self._buffer, self._first = None, 0
        self.setDocument(self._blank)
        self.setReadOnly(True)

    def _leave_buffer(self) -> None:
        if self._buffer is not None:
            self._buffer.left = self.textCursor(), self.verticalScrollBar().value()
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

    def _changing(self, place: int, removed: int, added: int) -> None:
        if place < self._first:
            if self._scrolled is None:
                self._scrolled = self.verticalScrollBar().value()
            self._first = max(place, self._first + added - removed)

    def _content_changed(self) -> None:
        # Typing in the body moves nothing, so nothing is parsed for it here.
        if self._scrolled is not None:
            self._hide()
            self.verticalScrollBar().setValue(self._scrolled)  # Qt keeps the first line's number, with hidden ones
        self._scrolled = None

    def _use_font(self) -> None:
        base = QApplication.font()
        font = scaled(base if self._hidden else fixed_font(base.pointSizeF()), LETTERS)
        self.setFont(font)
        self.document().setDefaultFont(font)
        self.setTabStopDistance(4 * QFontMetricsF(font).horizontalAdvance(" "))

    # ---- links ------------------------------------------------------------------------------------------------------

    def link_at_caret(self) -> Reference | None:
        """The link that the caret is in."""
        cursor = self.textCursor()
        return link_at(cursor.block().text(), cursor.positionInBlock())

    def follow(self) -> bool:
        """Open the link that the caret is in; False where there is none."""
        found = self.link_at_caret()
        if found is not None:
            self.followed.emit(found)
        return found is not None

    def toggle_marks(self, opens: str, closes: str) -> None:
        """Put marks such as `**` around the selection or the word at the caret, or take them away where they are.

        Of several lines each gets its own, behind what begins an item of a list; without a word the caret comes
        between them.
        """
        if self.isReadOnly():
            return
        self._make_room()
        self.setFocus()  # where what becomes of the text is seen
        chosen, word = self.textCursor(), self.textCursor()
        selected = word.hasSelection()
        if not selected:
            if self.document().characterAt(word.position() - 1).isalnum():
                word.movePosition(QTextCursor.MoveOperation.Left)  # behind a word Qt may take the signs for one
            word.select(QTextCursor.SelectionType.WordUnderCursor)
            if word.selectionStart() < self.first_place or not any(map(str.isalnum, word.selectedText())):
                word = chosen
        parts = self._parts_to_mark(word.selectionStart(), word.selectionEnd(), opens[0], closes[0])
        if selected:
            chosen.setPosition(parts[0][0])
            chosen.setPosition(parts[-1][1], _KEEP)
        # Three stars are bold and italic, two are bold, one is italic.
        there = [bool(around & len(opens)) for _start, _end, around in parts]
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for (start, end, _around), marked in reversed(list(zip(parts, there, strict=True))):
            if all(there):
                for place in (end, start - len(opens)):
                    cursor.setPosition(place)
                    cursor.setPosition(place + len(opens), _KEEP)
                    cursor.removeSelectedText()
            elif not marked:
                for place, mark, stays in ((end, closes, True), (start, opens, False)):
                    chosen.setKeepPositionOnInsert(stays)
                    cursor.setPosition(place)
                    cursor.insertText(mark)
        cursor.endEditBlock()
        if not selected or parts[0][0] == parts[-1][1]:
            chosen.clearSelection()
        self.setTextCursor(chosen)

    def _parts_to_mark(self, start: int, end: int, opens: str, closes: str) -> list[tuple[int, int, int]]:
        """The words of each line from `start` to `end`, without blanks and marks around them, and how many marks stand
        around; the places as they are where there are no words.
        """
        sign, found, block = self.document().characterAt, list[tuple[int, int, int]](), self.document().findBlock(start)
        while block.isValid() and block.position() <= end:
            item = _ITEM.match(block.text())
            first = max(start, block.position() + (length(item[1]) if item is not None else 0))
            last = min(end, block.position() + block.length() - 1)
            while first < last and sign(first).isspace():
                first += 1
            while first < last and sign(last - 1).isspace():
                last -= 1
            while first < last and sign(first) == opens:
                first += 1
            while first < last and sign(last - 1) == closes:
                last -= 1
            around = 0
            while (sign(first - around - 1), sign(last + around)) == (opens, closes):
                around += 1
            if first < last:
                found.append((first, last, around))
            elif start == end:
                found.append((start, end, around))
            block = block.next()
        return found or [(start, start, 0)]

    def toggle_comment(self) -> None:
        """Make the selection, or the caret's line, a comment that stays out of the prompt, or undo that."""
        if self.isReadOnly():
            return
        self._make_room()
        self.setFocus()
        cursor = self.textCursor()
        if not cursor.hasSelection():
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, _KEEP)
        start, text = cursor.selectionStart(), cursor.selectedText()
        inner = text.strip()
        if len(inner) > 3 and inner.startswith(_COMMENT) and inner.endswith(_COMMENT):
            inside = inner[len(_COMMENT) : -len(_COMMENT)]
            new = text.replace(inner, inside.strip("\u2029" if inside[:1] == "\u2029" else " "), 1)
        elif "\u2029" in text:  # a comment over several lines needs its marks on lines of their own
            new = f"{_COMMENT}\u2029{text.strip(chr(0x2029))}\u2029{_COMMENT}"
        else:
            new = f"{_COMMENT} {inner} {_COMMENT}" if inner else f"{_COMMENT}  {_COMMENT}"
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
        if not self.isReadOnly() and ((enter and self._goes_on(event)) or self._goes_around(event.text())):
            return
        super().keyPressEvent(event)

    def _goes_around(self, sign: str) -> bool:
        """Put a typed bracket or mark around what is chosen, which stays chosen; False where there is nothing."""
        cursor = self.textCursor()
        start, text = cursor.selectionStart(), cursor.selectedText().replace("\u2029", "\n")
        if not text or sign not in _CLOSING:
            return False
        cursor.beginEditBlock()  # who follows the text is told at the end, when the caret is where it stays
        cursor.insertText(f"{sign}{text}{_CLOSING[sign]}")
        cursor.setPosition(start + 1)
        cursor.setPosition(start + 1 + length(text), _KEEP)
        self.setTextCursor(cursor)
        cursor.endEditBlock()
        return True

    def _goes_on(self, event: QKeyEvent) -> bool:
        """Begin the next line of a list or a quotation as this one does; where nothing stands in this one, move it out
        a step or end the list. With Shift the next line belongs to the same item: Qt would write U+2028 there.
        """
        cursor, pressed = self.textCursor(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        found = _ITEM.fullmatch(cursor.block().text())
        if pressed == Qt.KeyboardModifier.ShiftModifier:
            first = self.document().findBlock(cursor.selectionStart())
            item = _BULLET.match(first.text()[: cursor.selectionStart() - first.position()])
            cursor.insertText("\n" + (re.sub(r"\S", " ", item[0]) if item is not None else ""))
        elif pressed or found is None or cursor.hasSelection() or cursor.positionInBlock() < length(found[1]):
            return False
        elif (parts := found.groups())[2].strip():
            begins, number_ = re.sub(r"\[.\]", "[ ]", parts[0]), parts[1]
            cursor.beginEditBlock()
            cursor.insertText(f"\n{begins.replace(number_, str(int(number_) + 1), 1) if number_ else begins}")
            if number_:
                _renumber(QTextCursor(cursor), [cursor.block()], {_level(cursor.block())})
            cursor.endEditBlock()
        elif self._moves_in(back=True):
            return True
        else:
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, _KEEP)
            cursor.removeSelectedText()
        self.setTextCursor(cursor)
        return True

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002  # Qt's name and place
        """Qt: Tab and Shift+Tab leave the text, but in a list they move its lines."""
        return self._moves_in(back=not next) or super().focusNextPrevChild(next)

    def _moves_in(self, *, back: bool) -> bool:
        """Move the chosen lines of a list a step in, or `back`; False where others are among them, or none can go."""
        cursor, lines = self.textCursor(), list[QTextBlock]()
        block = self.document().findBlock(cursor.selectionStart())
        while block.isValid() and (not lines or block.position() < cursor.selectionEnd()):
            lines.append(block)
            block = block.next()
        if self.isReadOnly() or not all(_BULLET.match(line.text()) for line in lines):
            return False
        found = _STEP.search(self.toPlainText(), self.first_place)
        step = found[1] if found is not None else "\t"
        outer = re.compile(rf"\t| {{1,{len(step)}}}")
        gone = [length(found[0]) if back and (found := outer.match(line.text())) else 0 for line in lines]
        if back and not any(gone):
            return False
        levels = {_level(line) for line in lines}
        cursor.beginEditBlock()
        for line, least in zip(lines, gone, strict=True):
            cursor.setPosition(line.position())
            cursor.setPosition(line.position() + least, _KEEP)
            cursor.insertText("" if back else step)
        _renumber(cursor, lines, levels.union(map(_level, lines)))
        cursor.endEditBlock()
        return True

    def _deletes_into_front(self, event: QKeyEvent) -> bool:
        """Whether it would delete across the body's first character; a word, too, is deleted up to its line's begin."""
        cursor = self.textCursor()
        here = cursor.position() <= self.first_place and not cursor.hasSelection()
        return here and event.key() == Qt.Key.Key_Backspace

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
            self.followed.emit(found)
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
        return shows_tip(self, event, self._words_at) or super().event(event)

    def _words_at(self, point: QPoint) -> str:
        found = self._link_under(self.viewport().mapFrom(self, point))
        return self.preview(found) if found is not None else ""

    def _link_under(self, point: QPoint) -> Reference | None:
        cursor = self.cursorForPosition(point)
        found = link_at(cursor.block().text(), cursor.positionInBlock())
        box = self.cursorRect(cursor)
        return found if found is not None and abs(box.center().x() - point.x()) < 24 else None

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Qt: what the editor does with a place in the text, above what Qt itself does with any text."""
        under, cursor = self.cursorForPosition(event.pos()), self.textCursor()
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        if not by_key and not cursor.selectionStart() <= under.position() <= cursor.selectionEnd():
            self.setTextCursor(under)
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        first = menu.actions()[0]
        at_link = self.link_at_caret() is not None
        offered = [each for each in self.menu_actions if at_link or each.objectName() != "entry.follow"]
        if self._buffer is not None:
            menu.insertActions(first, offered)
            menu.insertSeparator(first)
        menu.popup(self.mapToGlobal(self.cursorRect().bottomLeft()) if by_key else event.globalPos())

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
