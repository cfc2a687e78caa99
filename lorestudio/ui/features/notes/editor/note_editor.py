"""A note as a form above its text, or as the whole file: two views of one document."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QTextCursor
from PySide6.QtWidgets import QSplitter, QToolButton, QVBoxLayout, QWidget

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.ui.features.notes.editor.body import BodyEdit
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.features.notes.editor.completion import LinkCompleter
from lorestudio.ui.features.notes.editor.fields import FieldContext
from lorestudio.ui.features.notes.editor.form import PropertyForm
from lorestudio.ui.features.notes.editor.highlighter import MarkdownHighlighter
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import shorten, tr
from lorestudio.vault.note.document import NoteDocument

CHEAP_SECONDS: Final = 0.005
"""Reading the note again may take so long after every keystroke; a note that takes longer is read in a pause."""

PAUSE_MS: Final = 160

Parse = Callable[[NoteBuffer], Entry | LeftOutNote | None]
"""Reads the text of a buffer as the pipeline would."""


class NoteEditor(QWidget):
    """Shows one buffer at a time. `settled` follows a change once the form shows it, with the buffer.

    `followed` carries a link's target.
    """

    settled = Signal(object)
    followed = Signal(str)
    source_wanted = Signal(int)

    def __init__(self, theme: Theme, parse: Parse, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._parse = theme, parse
        self._context = FieldContext()
        self._buffer: NoteBuffer | None = None
        self._highlighters: dict[int, MarkdownHighlighter] = {}
        self._source = False
        self._read_only = True
        self._front = ""
        self._moved = False
        self.parsed: Entry | LeftOutNote | None = None
        self.form = PropertyForm(theme, self)
        self.body = BodyEdit(self)
        self.body.preview = self._preview
        self.completer = LinkCompleter(self.body, lambda: self._context.book)
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.timeout.connect(self.settle)
        self._cost = 0.0
        self._sharing = QTimer(self)  # heights are known only after the layouts have done their work
        self._sharing.setSingleShot(True)
        self._sharing.setInterval(0)
        self._sharing.timeout.connect(self._share)
        self._build()
        self._connect()

    # ---- building ---------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.toggle = QToolButton(self)
        self.toggle.setObjectName("FormToggle")
        self.toggle.setCheckable(True)
        self.toggle.setChecked(True)
        self.toggle.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.toggle.setAccessibleName(tr("Show the properties"))
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(5)
        self.splitter.addWidget(self.form)
        self.splitter.addWidget(self.body)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.body.setMinimumHeight(60)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.splitter)
        self.body.hide_front(True)
        self._paint()

    def _connect(self) -> None:
        self.form.edited.connect(self._apply)
        self.form.left.connect(self.body.setFocus)
        self.form.source_wanted.connect(self.source_wanted)
        self.form.undo_wanted.connect(self.undo)
        self.form.redo_wanted.connect(self.redo)
        self.form.height_changed.connect(self._sharing.start)
        self.body.followed.connect(self.followed)
        self.toggle.toggled.connect(self._fold)
        self.splitter.splitterMoved.connect(self._was_moved)
        self._theme.changed.connect(self._paint)

    # ---- what is shown ----------------------------------------------------------------------------------------------

    @property
    def buffer(self) -> NoteBuffer | None:
        """The note that is shown."""
        return self._buffer

    @property
    def context(self) -> FieldContext:
        """Settings, fields and titles in use."""
        return self._context

    def show_nothing(self) -> None:
        """Show an empty text that cannot be edited, as for a file that cannot be read."""
        self.timer.stop()
        if self._buffer is not None:
            self._buffer.document.contentsChanged.disconnect(self._changed)
        self._buffer = self.parsed = None
        self._read_only = True
        self.form.show_note(NoteDocument(""), None, {}, read_only=True)
        self.body.show_nothing()

    def set_context(self, context: FieldContext) -> None:
        """Other settings, fields or titles."""
        self._context = context
        self.form.set_context(context)
        for highlighter in self._highlighters.values():
            highlighter.recolour()

    def show_buffer(self, buffer: NoteBuffer, *, read_only: bool) -> None:
        """Show a note."""
        self.timer.stop()
        if self._buffer is not None and self._buffer is not buffer:
            self._buffer.document.contentsChanged.disconnect(self._changed)
        if self._buffer is not buffer:
            buffer.document.contentsChanged.connect(self._changed)
        fresh = self._buffer is not buffer
        self._buffer, self._read_only = buffer, read_only
        self._highlight(buffer)
        if fresh:
            self.body.show_buffer(buffer)
            self._moved = False
        self.body.setReadOnly(read_only)
        self._front = "\0"
        self.settle()

    def set_source(self, source: bool) -> None:
        """Show the whole file, or the form above the body."""
        self._source = source
        self.form.setVisible(not source and self.toggle.isChecked())
        self.body.hide_front(not source)

    def go_to_line(self, line: int) -> None:
        """Put the caret at the start of a line of the file, counted from 1."""
        block = self.body.document().findBlockByNumber(line - 1)
        if block.isValid():
            self.body.setTextCursor(QTextCursor(block))
            self.body.centerCursor()

    def shows_line(self, line: int) -> bool:
        """Whether the view as it is shows a line of the file: the body alone hides the properties."""
        block = self.body.document().findBlockByNumber(line - 1)
        return block.isValid() and block.isVisible()

    def select_in_line(self, line: int, start: int, end: int) -> None:
        """Select the characters `start` to `end` of a line of the file, counted from 1, and go there."""
        block = self.body.document().findBlockByNumber(line - 1)
        if block.isValid():
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + _units(block.text()[:start]))
            cursor.setPosition(block.position() + _units(block.text()[:end]), QTextCursor.MoveMode.KeepAnchor)
            self.body.setTextCursor(cursor)
            self.body.centerCursor()
            self.body.setFocus()

    def undo(self) -> None:
        """Take back the last change, wherever it was made."""
        if self._buffer is not None and not self._read_only:
            self._buffer.document.undo()
            self.settle()

    def redo(self) -> None:
        """Make the last change again that was taken back."""
        if self._buffer is not None and not self._read_only:
            self._buffer.document.redo()
            self.settle()

    def settle(self) -> None:
        """Read the text again, now, and show in the form what it says."""
        buffer = self._buffer
        if buffer is None:
            return
        self.timer.stop()
        began = time.thread_time()
        note = buffer.note
        self.parsed = self._parse(buffer)
        self._cost = time.thread_time() - began
        front = note.text[: note.body_start]
        if front != self._front or self._read_only:
            self._front = front
            self.body.settle()
            self.form.show_note(note, self.parsed, buffer.pinned, read_only=self._read_only)
            lines = self.body.document().findBlock(buffer.position(note.body_start)).blockNumber()
            self._highlighters[id(buffer)].set_front_lines(lines if note.has_front_matter else 0)
            self.toggle.setText(tr("Properties · {number}", number=len(note.properties)))
        self.settled.emit(buffer)

    def forget(self, buffer: object) -> None:
        """A buffer goes away: show it no more."""
        self._highlighters.pop(id(buffer), None)
        if self._buffer is buffer:
            self.show_nothing()

    # ---- inner ------------------------------------------------------------------------------------------------------

    def _highlight(self, buffer: NoteBuffer) -> None:
        if id(buffer) not in self._highlighters:
            made = MarkdownHighlighter(buffer.document, self._theme, self._exists)
            self._highlighters[id(buffer)] = made
            key = id(buffer)
            buffer.destroyed.connect(lambda: self._highlighters.pop(key, None))

    def _exists(self, target: str) -> bool:
        return self._context.book.find(target) is not None

    def _preview(self, target: str) -> str:
        note = self._context.book.find(target)
        if note is None:
            return tr("No note is called “{target}”. Ctrl+Click makes it.", target=target)
        if isinstance(note, Entry):
            followed = "" if self._context.book.is_title(target) else tr("DeepLore follows links by title only.")
            text = shorten(note.content, 400) or tr("(The note has no text.)")
            return "\n\n".join(part for part in (note.title, text, followed) if part)
        return f"{note.filename}\n\n{note.message}"

    def _changed(self) -> None:
        if not self.timer.isActive() or self._cost > CHEAP_SECONDS:
            self.timer.start(0 if self._cost <= CHEAP_SECONDS else PAUSE_MS)

    def _apply(self, edits: object) -> None:
        if self._buffer is not None and isinstance(edits, tuple) and not self._read_only:
            self._buffer.apply(*edits)
            self.settle()

    def _fold(self, shown: bool) -> None:
        self.form.setVisible(shown and not self._source)
        self._moved = False
        self._paint()
        self._sharing.start()

    def _was_moved(self) -> None:
        self._moved = True

    def _share(self) -> None:
        """Give the form the height it needs, but not so much that nothing is left for the text."""
        wanted = self.form.content_height()
        self.form.setMinimumHeight(min(wanted, 64))
        self.form.setMaximumHeight(wanted)
        if not self._moved:
            total = self.splitter.height() - self.splitter.handleWidth()
            form = min(wanted, round(total * 0.6))
            self.splitter.setSizes([form, max(total - form, 1)])

    def _paint(self) -> None:
        name = "chevron-down" if self.toggle.isChecked() else "chevron-right"
        self.toggle.setIcon(self._theme.icon(name, "text_faint"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: share the height anew."""
        super().resizeEvent(event)
        self._sharing.start()


def _units(text: str) -> int:
    """How long Qt says a text is: UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
