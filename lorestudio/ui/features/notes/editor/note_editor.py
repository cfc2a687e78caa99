"""A note as a form above its text, or as the whole file: two views of one document.

Markdown and front matter are coloured; long notes piece by piece, so that nobody waits for them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QFont, QResizeEvent, QSyntaxHighlighter, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QWidget

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.javascript import length
from lorestudio.domain.texts import comparable, shorten
from lorestudio.studio.notes.book_entries import is_book_entry
from lorestudio.ui.features.notes.editor.body import BodyEdit, addresses_in, is_address, links_in
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer, for_editor
from lorestudio.ui.features.notes.editor.fields import FieldContext
from lorestudio.ui.features.notes.editor.form import PropertyForm
from lorestudio.ui.features.notes.editor.names import LinkCompleter
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.layouts import column, named, split, tool
from lorestudio.ui.widgets.paint import text_format
from lorestudio.vault.links.references import Reference, ReferenceKind, heading_words, headings
from lorestudio.vault.links.targets import is_file_name

SLICE_SECONDS: Final = 0.008
"""So long at most lines are coloured before the window gets its turn."""

_PAUSE_SECONDS: Final = 0.02
"""Lines that come further apart than this are not part of one change."""

_PLAIN, _CODE, _COMMENT = 0, 1, 2

_HEADING: Final = re.compile(r"#{1,6}[ \t]")
_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
_CODE_SPAN: Final = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_BOLD: Final = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_ITALIC: Final = re.compile(r"(?<![\w*])([*_])(?![\s*_])(.+?)(?<![\s*])\1(?![\w*])")
_INLINE_COMMENT: Final = re.compile(r"%%[^%\n]+%%")
_TAG: Final = re.compile(r"</?div[^>]*>")
_LIST: Final = re.compile(r"\s*([-*+]|\d+[.)])\s")
_PROPERTY: Final = re.compile(r"([\w.-]+)\s*:")
_HIGHLIGHT: Final = re.compile(r"==(?=\S)(.+?)(?<=\S)==")

_SPANS: Final = (("==", _HIGHLIGHT, "highlight"), ("`", _CODE_SPAN, "code"), ("div", _TAG, "faint"))


class MarkdownHighlighter(QSyntaxHighlighter):
    """Colours one document. `exists` says whether a link's target is there; `front_lines` how many lines are YAML."""

    def __init__(self, document: QTextDocument, theme: Theme, exists: Callable[[Reference], bool]) -> None:
        super().__init__(document)
        self._theme, self._exists = theme, exists
        self._front_lines = 0
        self._formats: dict[str, QTextCharFormat] = {}
        self._pending: set[int] = set()
        self._began = self._last = time.perf_counter()
        self._timer = later(self, self._go_on)
        self._make_formats()
        theme.changed.connect(self.recolour)

    def set_front_lines(self, lines: int) -> None:
        """The first `lines` lines are front matter."""
        if lines != self._front_lines:
            first, last = sorted((lines, self._front_lines))
            self._front_lines = lines
            self._pending.update(range(first, last))
            self._timer.start()

    def recolour(self) -> None:
        """Colours or link targets have changed: colour everything again, a piece at a time."""
        self._make_formats()
        self._pending.update(range(self.document().blockCount()))
        self._timer.start()

    def highlightBlock(self, text: str) -> None:
        """Qt: what the line leaves open is noted at once, colours only while there is time."""
        number = self.currentBlock().blockNumber()
        if number < self._front_lines:
            self.setCurrentBlockState(_PLAIN)
        else:
            self.setCurrentBlockState(self._next_state(text, max(self.previousBlockState(), _PLAIN)))
        if not self._in_time():
            self._pending.add(number)
            if not self._timer.isActive():
                self._timer.start()
            return
        if number < self._front_lines:
            self._colour_front(text)
        else:
            self._colour(text)

    def _in_time(self) -> bool:
        """Whether this line still belongs to the first lines of a row of lines that come at once."""
        now = time.perf_counter()
        if now - self._last > _PAUSE_SECONDS:
            self._began = now
        self._last = now
        return now - self._began < SLICE_SECONDS

    def _go_on(self) -> None:
        self._began = self._last = began = time.perf_counter()
        document = self.document()
        for number in sorted(self._pending):
            if time.perf_counter() - began > SLICE_SECONDS * 0.8:
                self._timer.start(4)
                return
            self._pending.discard(number)
            block = document.findBlockByNumber(number)
            if block.isValid():
                self.rehighlightBlock(block)

    def _next_state(self, text: str, state: int) -> int:
        if state == _CODE:
            return _PLAIN if _FENCE.match(text) else _CODE
        if state == _COMMENT:
            return _PLAIN if text == "%%" else _COMMENT
        if text.startswith("%%") and not _INLINE_COMMENT.match(text) and text.count("%%") == 1:
            return _COMMENT
        return _CODE if _FENCE.match(text) else _PLAIN

    def _colour_front(self, text: str) -> None:
        if text.lstrip("\ufeff").startswith("---"):
            self._set(text, 0, len(text), "faint")
        elif text.lstrip().startswith("#"):
            self._set(text, 0, len(text), "comment")
        else:
            found = _PROPERTY.match(text)
            if found is not None:
                self._set(text, 0, found.end(), "property")

    def _colour(self, text: str) -> None:
        before, state = max(self.previousBlockState(), _PLAIN), self.currentBlockState()
        for inside, name in ((_CODE, "code"), (_COMMENT, "comment")):
            if inside in {before, state}:
                self._set(text, 0, len(text), name)
                return
        if text:
            self._colour_line(text)
            self._colour_spans(text)

    def _colour_spans(self, text: str) -> None:
        if "*" in text or "_" in text:
            for pattern, name in ((_BOLD, "bold"), (_ITALIC, "italic")):
                for found in pattern.finditer(text):
                    self._merge(found, name, len(found[1]))
        for sign, pattern, name in _SPANS:
            if sign in text:
                for found in pattern.finditer(text):
                    self._set(text, found.start(), found.end(), name)
        for link in addresses_in(text):
            self._set(text, link.start, link.end, "link")
        for link in links_in(text):
            there = link.kind is ReferenceKind.EMBED or self._exists(link)
            self._set(text, link.start, link.end, "link" if there else "missing")
        if "%%" in text:
            for found in _INLINE_COMMENT.finditer(text):
                self._set(text, found.start(), found.end(), "comment")

    def _colour_line(self, text: str) -> None:
        """What the start of a line says about all of it."""
        formats = self._formats
        heading = _HEADING.match(text)
        if heading is not None:
            self._set(text, 0, len(text), "h1" if heading.end() == 2 else "h2")
            self.setFormat(0, heading.end(), formats["faint"])
        elif text[0] == ">":
            self._set(text, 0, len(text), "quote")
        else:
            bullet = _LIST.match(text)
            if bullet is not None:
                self.setFormat(bullet.start(1), bullet.end(1) - bullet.start(1), formats["mark"])

    def _set(self, text: str, start: int, end: int, name: str) -> None:
        first = length(text[:start])
        self.setFormat(first, length(text[:end]) - first, self._formats[name])

    def _merge(self, found: re.Match[str], name: str, marks: int) -> None:
        """Format what was found, and faintly the marks at both of its ends."""
        text, start, end = found.string, found.start(), found.end()
        for first, last, each in ((start, end, name), (start, start + marks, "faint"), (end - marks, end, "faint")):
            self._set(text, first, last, each)

    def _make_formats(self) -> None:
        self._formats = {
            "faint": self._format("text_faint"),
            "mark": self._format("accent"),
            "property": self._format("accent"),
            "comment": self._format("text_faint", italic=True),
            "quote": self._format("text_muted", italic=True),
            "code": self._format("text_muted", ground="sunken"),
            "bold": self._format("text", bold=True),
            "italic": self._format("text", italic=True),
            "highlight": self._format("on_mark", ground="mark"),
            "h1": self._format("text", bold=True, larger=1.35),
            "h2": self._format("text", bold=True, larger=1.12),
            "link": self._format("accent"),
            "missing": self._format("warning", dotted=True),
        }

    def _format(
        self, colour: str, ground: str = "", larger: float = 0, *, bold: bool = False, italic: bool = False,
        dotted: bool = False,
    ) -> QTextCharFormat:  # fmt: skip
        made = text_format(self._theme.palette, colour, ground)
        if bold:
            made.setFontWeight(QFont.Weight.DemiBold)
        made.setFontItalic(italic)
        if larger:
            made.setProperty(QTextCharFormat.Property.FontSizeAdjustment, 1 if larger < 1.2 else 2)
        if dotted:
            made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
            made.setUnderlineColor(self._theme.color(colour))
        return made


CHEAP_SECONDS: Final = 0.005
"""Reading the note again may take so long after every keystroke; a note that takes longer is read in a pause."""

PAUSE_MS: Final = 160

PAUSE_SHARE: Final = 20
"""The pause lasts at least so many times what reading takes: nobody waits for a large note between two keystrokes."""

BODY_LINES: Final = 8
"""The form leaves the text room for so many lines, where there is any."""

Parse = Callable[[NoteBuffer], Entry | LeftOutNote | None]
"""Reads the text of a buffer as the pipeline would."""


class NoteEditor(QWidget):
    """Shows one buffer at a time. `settled` follows a change once the form shows it, with the buffer.

    `followed` carries a link.
    """

    settled = Signal(object)
    followed = Signal(object)
    source_wanted = Signal(int)

    def __init__(self, theme: Theme, parse: Parse, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._parse = theme, parse
        self.context = FieldContext()
        """Settings, fields and titles in use."""
        self.buffer: NoteBuffer | None = None
        """The note that is shown."""
        self.source = ("", "")
        """Its vault and file, from which its links are read."""
        self._highlighters: dict[int, MarkdownHighlighter] = {}
        self._source = False
        self._read_only = True
        self._front = ""
        self._moved = False
        self.parsed: Entry | LeftOutNote | None = None
        self.form = PropertyForm(theme, self)
        self.body = BodyEdit(self)
        self.body.preview = self._preview
        self.completer = LinkCompleter(self.body, lambda: self.context.book)
        self.timer = later(self, self.settle)
        self._cost = 0.0
        self._field = ""  # the one that had the keyboard in the note before
        self._sharing = later(self, self._share)  # heights are known only after the layouts have done their work
        self._build()
        self._connect()

    def _build(self) -> None:
        self.toggle = named(tool(self, "", checkable=True, beside=True), tr("Show the properties"))
        self.toggle.setObjectName("FormToggle")
        self.toggle.setChecked(True)
        self.splitter = split(self.form, self.body, stretch=1)
        self.splitter.setHandleWidth(5)
        self.body.setMinimumHeight(60)
        column(self.splitter, of=self, margins=0)
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

    def show_nothing(self) -> None:
        """Show an empty text that cannot be edited, as for a file that cannot be read."""
        self.timer.stop()
        if self.buffer is not None:
            self.buffer.document.contentsChanged.disconnect(self._changed)
        self.buffer = self.parsed = None
        self._read_only = True
        self.form.show_note(None, None, {}, read_only=True)
        self.body.show_nothing()

    def set_context(self, context: FieldContext) -> None:
        """Other settings, fields or titles."""
        self.context = context
        self.form.set_context(context)
        for highlighter in self._highlighters.values():
            highlighter.recolour()

    def show_buffer(self, buffer: NoteBuffer, *, read_only: bool) -> None:
        """Show a note."""
        self.timer.stop()
        fresh = self.buffer is not buffer
        if fresh:
            if self.buffer is not None:
                self.buffer.document.contentsChanged.disconnect(self._changed)
            buffer.document.contentsChanged.connect(self._changed)
        self.buffer, self._read_only = buffer, read_only
        self._highlight(buffer)
        if fresh:
            self.form.begin_note(of_book=is_book_entry(buffer.path))
            self.body.show_buffer(buffer)
            self._moved = False
        self.body.setReadOnly(read_only)
        self._front = "\0"
        self.settle()
        row, self._field = self.form.row(self._field), ""
        if row is not None and self.body.hasFocus():
            row.field.setFocus()

    def leave(self) -> None:
        """Another note is to be shown: take what is half typed into this one, and have its field there again."""
        self._field = self.form.focused
        if self._field:
            self.body.setFocus()
        self.form.take_typed()

    def edit_keys(self) -> None:
        """Give the keyboard to the field of the note's keys."""
        self.edit_field(self.form.name_of_keys())

    def edit_field(self, name: str) -> None:
        """Give the keyboard to the field of a property, which may be empty yet."""
        self.toggle.setChecked(True)
        self.form.add(name)

    def set_source(self, source: bool) -> None:
        """Show the whole file, or the form above the body."""
        self._source = source
        self.form.setVisible(not source and self.toggle.isChecked())
        self.body.hide_front(not source)

    def line_of(self, heading: str) -> tuple[int, str] | None:
        """The line of the file, from 1, that a link calls so behind its `#`, and its text.

        It is that of a heading, of several the last part, or one that ends with a block's name behind `^`.
        """
        text = for_editor(self.buffer.text) if self.buffer is not None else ""
        words, lines = heading.rpartition("#")[2].strip(), text.split("\n")
        if words.startswith("^"):
            places = (number for number, line in enumerate(lines, 1) if comparable(line).endswith(comparable(words)))
        else:
            wanted = comparable(heading_words(words))
            places = (number for number, words in headings(text) if comparable(words) == wanted)
        return next(((number, lines[number - 1]) for number in places), None)

    def shows_line(self, line: int) -> bool:
        """Whether the view as it is shows a line of the file: the body alone hides the properties."""
        block = self.body.document().findBlockByNumber(line - 1)
        return block.isValid() and block.isVisible()

    def select_in_line(self, line: int, start: int, end: int) -> None:
        """Select the characters `start` to `end` of a line of the file, counted from 1, and go there."""
        block = self.body.document().findBlockByNumber(line - 1)
        if block.isValid():
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + length(block.text()[:start]))
            cursor.setPosition(block.position() + length(block.text()[:end]), QTextCursor.MoveMode.KeepAnchor)
            self.body.setTextCursor(cursor)
            self.body.centerCursor()
            self.body.setFocus()

    def undo(self) -> None:
        """Take back the last change, wherever it was made."""
        if self.buffer is not None and not self._read_only:
            self.buffer.document.undo()
            self.settle()

    def redo(self) -> None:
        """Make the last change again that was taken back."""
        if self.buffer is not None and not self._read_only:
            self.buffer.document.redo()
            self.settle()

    def settle(self) -> None:
        """Read the text again, now, and show in the form what it says."""
        buffer = self.buffer
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
        if self.buffer is buffer:
            self.show_nothing()

    # ---- inner ------------------------------------------------------------------------------------------------------

    def _highlight(self, buffer: NoteBuffer) -> None:
        if id(buffer) not in self._highlighters:
            self._highlighters[id(buffer)] = MarkdownHighlighter(buffer.document, self._theme, self._exists)
            key = id(buffer)
            buffer.destroyed.connect(lambda: self._highlighters.pop(key, None))

    def _exists(self, link: Reference) -> bool:
        return not link.target or self.context.book.place(link, self.source) is not None

    def _preview(self, link: Reference) -> str:
        if not link.target:
            return ""  # a heading of this note
        if is_address(link):
            return tr("{address}\n\nCtrl+Click opens it.", address=link.target)
        note = self.context.book.find(link, self.source)
        if note is None:
            place = self.context.book.place(link, self.source)
            if place is not None:
                return tr("{address}\n\nCtrl+Click opens it.", address=place[1])
            if is_file_name(link.target):
                return tr("No file is called “{target}”.", target=link.target)
            return tr("No note is called “{target}”. Ctrl+Click asks to make it.", target=link.target)
        if isinstance(note, Entry):
            by_title = self.context.book.is_title(link.deeplore_name or "")
            followed = "" if by_title else tr("DeepLore follows links in double brackets only, by title.")
            text = shorten(note.content, 400) or tr("(The note has no text.)")
            return "\n\n".join(part for part in (note.title, text, followed) if part)
        return f"{note.filename}\n\n{note.message}"

    def _changed(self) -> None:
        if not self.timer.isActive() or self._cost > CHEAP_SECONDS:
            pause = max(PAUSE_MS, round(1000 * PAUSE_SHARE * self._cost))
            self.timer.start(0 if self._cost <= CHEAP_SECONDS else pause)

    def _apply(self, edits: object) -> None:
        if self.buffer is not None and isinstance(edits, tuple) and not self._read_only:
            self.buffer.apply(*edits)
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
            body = BODY_LINES * self.body.fontMetrics().lineSpacing()
            form = min(wanted, round(total * 0.6), max(64, total - body))
            self.splitter.setSizes([form, max(total - form, 1)])
        self.form.keep_in_sight()

    def _paint(self) -> None:
        name = "chevron-down" if self.toggle.isChecked() else "chevron-right"
        self.toggle.setIcon(self._theme.icon(name, "text_faint"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: share the height anew."""
        self._sharing.start()
