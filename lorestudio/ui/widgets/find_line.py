"""Finding words in a text that is shown: every occurrence is marked, gone to one after the other, and replaced."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from PySide6.QtCore import QRegularExpression, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from lorestudio.ui.shell.qt import later, pressed_by_enter
from lorestudio.ui.shell.theme import Palette, Theme
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.widgets.layouts import column, holding, iconed, label, named, row, small_button, tool
from lorestudio.ui.widgets.paint import text_format

Text: TypeAlias = QPlainTextEdit | QTextEdit

MOST_FOUND: Final = 500
"""Occurrences that a search marks."""


def mark_all(text: Text, words: str, palette: Palette) -> str:
    """Mark every occurrence that can be seen; returns which of how many is selected, "" where nothing is wanted."""
    marks: list[QTextEdit.ExtraSelection] = []
    place, chosen, look = 0, text.textCursor(), text_format(palette, "on_mark", "mark")
    wanted = _wanted(words)
    cursor = _seen(text.document(), wanted, QTextCursor(text.document()))
    while not cursor.isNull() and len(marks) < MOST_FOUND:
        mark = QTextEdit.ExtraSelection()
        mark.cursor, mark.format = cursor, look
        marks.append(mark)
        if (cursor.selectionStart(), cursor.selectionEnd()) == (chosen.selectionStart(), chosen.selectionEnd()):
            place = len(marks)
        cursor = _seen(text.document(), wanted, cursor)
    text.setExtraSelections(marks)
    if not words or not marks:
        return tr("none") if words else ""
    found = number(len(marks)) + ("+" if len(marks) == MOST_FOUND else "")
    return tr("{place} of {found}", place=number(place), found=found) if place else found


def go_to(text: Text, words: str, *, back: bool = False) -> None:
    """Select the next occurrence from the caret on, or the one before it; at the end it goes on from the beginning."""
    far = QTextCursor(text.document())
    if back:
        far.movePosition(QTextCursor.MoveOperation.End)
    for start in (text.textCursor(), far):
        found = _seen(text.document(), _wanted(words), start, back=back)
        if not found.isNull():
            text.setTextCursor(found)
            return


def replace_all(text: Text, words: str, new: str) -> int:
    """Put other words in place of every occurrence that can be seen, as one step of undo; returns how many."""
    done, edit = 0, QTextCursor(text.document())
    edit.beginEditBlock()
    found = _seen(text.document(), _wanted(words), QTextCursor(text.document()))
    while not found.isNull():
        found.insertText(new)
        done += 1
        found = _seen(text.document(), _wanted(words), found)
    edit.endEditBlock()
    return done


def _wanted(words: str) -> str | QRegularExpression:
    """The words, however their accents are encoded."""
    forms = dict.fromkeys((words, *(unicodedata.normalize(form, words) for form in ("NFC", "NFD"))))
    if len(forms) == 1:
        return words  # an expression takes far longer in a very long line
    return QRegularExpression("|".join(map(QRegularExpression.escape, forms)))


def _seen(
    document: QTextDocument, wanted: str | QRegularExpression, start: QTextCursor, *, back: bool = False
) -> QTextCursor:
    """The next occurrence that is not in a hidden line, a null cursor where there is none."""
    way = QTextDocument.FindFlag.FindBackward if back else QTextDocument.FindFlag(0)
    found = document.find(wanted, start, way)
    while not found.isNull() and not found.block().isVisible():
        found = document.find(wanted, found, way)
    return found


class FindLine(QWidget):
    """A line above a text. Enter goes to the next occurrence, Shift+Enter to the one before, Escape back to the text.

    A second one, where it is wanted and the text can be edited, has what is put in its place: Enter there replaces the
    occurrence that is selected and goes to the next. `shown` gives the text that is in sight at present.
    """

    def __init__(self, theme: Theme, shown: Callable[[], Text], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._shown = theme, shown
        self._start, self._replacing = 0, False
        self._marked: Text | None = None
        self._soon = later(self, self.renew)
        words = tr("Find in this text")  # Escape leaves it with its words, which are looked for again
        self.field = named(QLineEdit(self, placeholderText=words, clearButtonEnabled=True), words)
        self.field.textChanged.connect(self._typed)
        self.found = label(self, kind="small", wrap=False)
        before = iconed(theme, tool(self, tr("The one before (Shift+Enter)"), partial(self._go, back=True)), "previous")
        after = iconed(theme, tool(self, tr("The next one (Enter)"), self._go), "next")
        close = iconed(theme, tool(self, tr("Close (Escape)"), self.close_line), "close")
        words = tr("Replace with")
        self.new = named(QLineEdit(self, placeholderText=words, clearButtonEnabled=True), words)
        self.replaced = label(self, kind="small", wrap=False)
        one = small_button(self, tr("Replace"), tr("Replace this one and go to the next (Enter)"), self._replace)
        all_ = small_button(self, tr("Replace all"), tr("Replace every one, as one step of undo"), self._replace_all)
        self.second = holding(row((self.new, 1), self.replaced, one, all_, spacing=4, margins=0))
        first = row((self.field, 1), self.found, before, after, close, spacing=4)
        column(first, self.second, of=self, spacing=2, margins=(10, 2, 6, 2))
        self.hide()

    def begin(self, *, replacing: bool = False) -> None:
        """Give the field the keyboard, with the words that are selected in the text, else with the last ones."""
        cursor = self._shown().textCursor()
        self._start, words = cursor.selectionStart(), cursor.selectedText()
        self._replacing = replacing
        self.replaced.clear()
        self.show()
        if words and "\u2029" not in words:
            self.field.setText(words)
        self.field.setFocus()
        self.field.selectAll()
        self.renew()

    def renew(self, *, another: bool = False) -> None:
        """Another text is in sight, or it was edited: mark what is looked for in it.

        In `another` text, also one in the same widget, the search begins at its own caret.
        """
        if self.isVisible():
            text = self._shown()
            if another or text is not self._marked:
                self._start = text.textCursor().selectionStart()
            self.second.setVisible(self._replacing and not text.isReadOnly())
            if text is not self._marked:
                self._unmark()
                self._marked = text
                text.textChanged.connect(self._soon.start)
            self.found.setText(mark_all(text, self.field.text(), self._theme.palette))

    def close_line(self) -> None:
        """Give the keyboard back to the text, at what was found."""
        self.hide()
        self._unmark()
        self._shown().setFocus()

    def _unmark(self) -> None:
        marked, self._marked = self._marked, None
        if marked is not None:
            marked.textChanged.disconnect(self._soon.start)
            marked.setExtraSelections([])

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: while nobody saw it, another text may have come."""
        self.renew(another=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: see the class; the fields leave these keys to whoever holds them."""
        if pressed_by_enter(self, event):
            return
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.new.hasFocus():
            self._replace()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._go(back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif event.key() == Qt.Key.Key_Escape:
            self.close_line()
        elif event.key() in {Qt.Key.Key_Down, Qt.Key.Key_Up} and self.second.isVisible():
            (self.new if event.key() == Qt.Key.Key_Down else self.field).setFocus()
        else:
            super().keyPressEvent(event)

    def _typed(self, words: str) -> None:
        """Go to the first occurrence behind where the search began."""
        text = self._shown()
        cursor = text.textCursor()
        cursor.setPosition(min(self._start, text.document().characterCount() - 1))
        text.setTextCursor(cursor)
        if words:
            go_to(text, words)
        self.renew()

    def _go(self, _pressed: bool = False, *, back: bool = False) -> None:
        if self.field.text():
            go_to(self._shown(), self.field.text(), back=back)
            self._start = self._shown().textCursor().selectionStart()
        self.renew()

    def _replace(self) -> None:
        """Replace what is selected, where it is an occurrence, and go to the next."""
        text = self._shown()
        cursor, start = text.textCursor(), text.textCursor()
        start.setPosition(cursor.selectionStart())
        found = _seen(text.document(), _wanted(self.field.text()), start)
        same = (found.selectionStart(), found.selectionEnd()) == (cursor.selectionStart(), cursor.selectionEnd())
        if same and cursor.hasSelection() and not text.isReadOnly():
            cursor.insertText(self.new.text())
        self._go()

    def _replace_all(self) -> None:
        done = 0
        if self.field.text() and not self._shown().isReadOnly():
            done = replace_all(self._shown(), self.field.text(), self.new.text())
        self.replaced.setText(tr("{number} replaced", number=number(done)))
        self.renew()
