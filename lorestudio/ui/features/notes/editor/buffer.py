"""The text of one opened note: a Qt document with one undo history, and the file it came from.

An editor knows one kind of line end; files have several. What was not edited keeps the one it had.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextDocumentLayout

from lorestudio.domain.javascript import length
from lorestudio.domain.records import same_ends
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import TextEdit

_END = re.compile("\r\n|[\n\r\u2029]")


def for_editor(text: str) -> str:
    """`text` with every line end as a single line feed."""
    return _END.sub("\n", text)


def restore(original: str, edited: str) -> str:
    """`edited` with the line ends of the file it came from.

    Lines that were not changed keep their own; new lines get the one the file uses most.
    """
    if "\r" not in original and "\u2029" not in original:
        return edited
    ends = _END.findall(original)
    usual = Counter(ends).most_common(1)[0][0] if ends else "\n"
    if all(end == usual for end in ends):
        return edited if usual == "\n" else edited.replace("\n", usual)
    before, after = for_editor(original).split("\n"), edited.split("\n")
    head, tail = same_ends(before, after)
    new = [usual] * (len(after) - 1)
    for place in range(len(new)):
        if place < head and place < len(ends):
            new[place] = ends[place]
        elif len(new) - place <= min(tail, len(ends)):
            new[place] = ends[place - len(new)]
    matcher = SequenceMatcher(None, before[head : len(before) - tail], after[head : len(after) - tail])
    for old, now, size in matcher.get_matching_blocks():
        for place in range(size):
            if head + now + place < len(new) and head + old + place < len(ends):
                new[head + now + place] = ends[head + old + place]
    places = range(len(new) - 1)
    for place in places if usual == "\r" else reversed(places):  # mending one place may bring the next one about
        # A lone carriage return before an empty line would swallow the line feed after it.
        if (new[place], after[place + 1], new[place + 1]) == ("\r", "", "\n"):
            new[place if usual != "\r" else place + 1] = usual
    return "".join(line + end for line, end in zip(after, [*new, ""], strict=True))


MOST_CLEAN: Final = 24
"""So many notes without unsaved changes keep their undo history; the one not looked at for longest goes first."""


class _BothWays(QPlainTextDocumentLayout):
    """Lines that are read from right to left stand at the right, where Qt's own layout has all at the left."""

    def blockBoundingRect(self, block: QTextBlock) -> QRectF:
        """Qt: a block is about to be drawn; by now it has its lines."""
        box = super().blockBoundingRect(block)
        if block.textDirection() is Qt.LayoutDirection.RightToLeft:
            layout, left = block.layout(), self.document().documentMargin()
            for line in (layout.lineAt(number) for number in range(layout.lineCount())):
                line.setPosition(QPointF(left + line.width() - line.naturalTextWidth(), line.y()))
        return box


_KEEP: Final = QTextCursor.MoveMode.KeepAnchor


class NoteBuffer(QObject):
    """All views of a note change this text and nothing else.

    `text` is the file's text with its own line ends; the Qt document has one kind. `dirty_changed` follows the first
    change after a save, and the way back to it by undo.
    """

    dirty_changed = Signal()

    def __init__(self, path: Path, text: str, digest: str | None, parent: QObject | None = None) -> None:
        """`digest` is that of the file whose text `text` is, None where there is no file yet."""
        super().__init__(parent)
        self.path, self.base, self.digest = path, text, digest
        self._ends = text
        self.pinned: dict[str, None] = {}
        self.left: tuple[QTextCursor, int] | None = None
        """Where an editor was when it left the note: its caret, and how far it was scrolled."""
        self.document = QTextDocument(self)
        self.document.setDocumentLayout(_BothWays(self.document))
        self.document.setDocumentMargin(10)
        # A byte order mark never enters the document: Qt drops it from the start of every text it is given.
        self._mark = text[: len(text) - len(text.lstrip(BOM))]
        self.document.setUndoRedoEnabled(False)
        self.document.setPlainText(for_editor(text[len(self._mark) :]))
        self.document.setUndoRedoEnabled(True)
        self.document.setModified(False)
        self._text: str | None = None
        self._note: NoteDocument | None = None
        self.kept_whole = False
        self.kept_whole = self.text == text
        self._text = None
        self.document.contentsChanged.connect(self._forget)
        self.document.modificationChanged.connect(lambda _modified: self.dirty_changed.emit())

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return self.document.isModified()

    @property
    def text(self) -> str:
        """The note as it would be written."""
        if self._text is None:
            if self.document.isModified() or not self.kept_whole:
                # toPlainText would turn no-break spaces into spaces.
                edited = self.document.toRawText().replace("\u2029", "\n")
                self._text = self._mark + restore(self._ends.lstrip(BOM), edited)
            else:
                self._text = self.base
        return self._text

    @property
    def note(self) -> NoteDocument:
        """The text understood as front matter and body."""
        if self._note is None:
            self._note = NoteDocument(self.text)
        return self._note

    def position(self, offset: int) -> int:
        """Where in the Qt document a place of `text` lies."""
        return self._place(self.text, offset)

    def _place(self, text: str, offset: int) -> int:
        return max(0, length(for_editor(text[:offset])) - len(self._mark))

    @property
    def body_block(self) -> QTextBlock:
        """The first line that is body from its first character; invalid where the file ends before."""
        note = self.note
        if not note.has_front_matter:
            return self.document.begin()
        at = self.position(note.body_start)
        block = self.document.findBlock(at)
        if block.position() == at and note.text[: note.body_start].endswith(("\n", "\r", "\u2029")):
            return block
        # Text behind the closing dashes counts as body; its line is shown whole.
        return block if note.body else QTextBlock()

    def apply(self, *edits: TextEdit) -> None:
        """Change the text as one step of the undo history; only characters that differ are touched."""
        text = self.text
        changes = []
        for edit in sorted(edits, key=lambda item: item.start, reverse=True):
            old, new = for_editor(text[edit.start : edit.end]), for_editor(edit.text)
            changes.append((self._place(text, edit.start), old, new))
        self._swap(changes)

    def replace_all(self, text: str) -> None:
        """Take a whole other text, as one step of the undo history."""
        now, mark = self.text, self._mark
        self._mark = text[: len(text) - len(text.lstrip(BOM))]
        self._swap([(0, for_editor(now[len(mark) :]), for_editor(text[len(self._mark) :]))])
        self._forget()

    def _swap(self, changes: Iterable[tuple[int, str, str]]) -> None:
        """Put one text in place of another at each of these places of the document, the last place first."""
        cursor, differing = QTextCursor(self.document), [each for each in changes if each[1] != each[2]]
        if not differing:
            return
        cursor.beginEditBlock()
        for place, old, new in differing:
            same, tail = same_ends(old, new)
            cursor.setPosition(place + length(old[:same]))
            cursor.setPosition(place + length(old[: len(old) - tail]), _KEEP)
            _insert(cursor, new[same : len(new) - tail])
        cursor.endEditBlock()

    def saved(self, text: str, digest: str | None) -> None:
        """The file holds `text` now; what was typed meanwhile stays unsaved."""
        self._rest_on(text, digest, modified=self.text != text)

    def take(self, text: str, digest: str | None) -> None:
        """The file has another text now, which is shown and counts as saved; undo leads back to the one before."""
        self.replace_all(text)
        self._rest_on(text, digest, modified=False)

    def _rest_on(self, text: str, digest: str | None, *, modified: bool) -> None:
        self.base = self._ends = text
        self.digest = digest
        self._forget()
        if not modified:
            self.document.setModified(False)
        self.dirty_changed.emit()

    def rebase(self, text: str, digest: str | None) -> None:
        """The file on disk is known to hold `text`; the unsaved text stays as it is and is to be saved over it."""
        mine = self.text
        self.base, self.digest = text, digest
        if mine != text:
            self.document.setModified(True)
        else:
            self._ends = text
            self.document.setModified(False)
        self._text, self._note = mine, None
        self.dirty_changed.emit()

    def _forget(self) -> None:
        self._text = self._note = None


def _insert(cursor: QTextCursor, text: str) -> None:
    """Put `text` in place of what the cursor has selected; Qt drops a mark that begins a text, so it gets a guard."""
    if not text.startswith(BOM):
        cursor.insertText(text)
        return
    start = cursor.selectionStart()
    cursor.insertText("|" + text)
    cursor.setPosition(start)
    cursor.deleteChar()


class Buffers(QObject):
    """The notes that are open or unsaved, each with its undo history.

    `dirty_changed` carries a buffer, `dropped` one that nobody may show any more.
    """

    dirty_changed = Signal(object)
    dropped = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._buffers: dict[Path, NoteBuffer] = {}

    def get(self, path: Path) -> NoteBuffer | None:
        """The buffer of a file, None where it is not open."""
        return self._buffers.get(path)

    def all(self) -> tuple[NoteBuffer, ...]:
        """Every open note, the one used last at the end."""
        return tuple(self._buffers.values())

    def open(self, path: Path, text: str, digest: str | None) -> NoteBuffer:
        """A buffer for a file that was just read; what was open under that path is given up."""
        self.drop(path)
        made = NoteBuffer(path, text, digest, self)
        made.dirty_changed.connect(lambda: self.dirty_changed.emit(made))
        self._buffers[path] = made
        return made

    def move(self, buffer: NoteBuffer, path: Path) -> None:
        """The text of a note belongs to this file from now on; what was open under that path is given up."""
        self.drop(path)
        self._buffers[path] = self._buffers.pop(buffer.path)
        buffer.path = path

    def use(self, buffer: NoteBuffer) -> None:
        """This one is looked at now; of the others, only the latest and the unsaved are kept."""
        self._buffers[buffer.path] = self._buffers.pop(buffer.path, buffer)
        clean = [item for item in self._buffers.values() if not item.dirty and item is not buffer]
        for item in clean[: max(0, len(clean) - MOST_CLEAN)]:
            self.drop(item.path)

    def drop(self, path: Path) -> None:
        """Forget the text of a file, unsaved or not."""
        known = self._buffers.pop(path, None)
        if known is not None:
            self.dropped.emit(known)
            known.deleteLater()
