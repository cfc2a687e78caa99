"""The text of the test bench, with the keys that were found in it marked where they stand.

What a tested text triggers, as a table: who goes in, then who does not, each with its key and the reason.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from lorestudio.studio.tryout.bench import BenchRow
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.widgets.cells import Column, Look, Marked, Words, one_line
from lorestudio.ui.widgets.marks import fate_mark
from lorestudio.ui.widgets.paint import shows_tip
from lorestudio.ui.widgets.record_table import RecordTable

ENTRY, KEY, WHY, TOKENS = range(4)


def key_words(row: BenchRow) -> str:
    """The keys that were found, "" for none."""
    return ", ".join(row.keys)


def why_words(row: BenchRow) -> str:
    """In a word or two: how it came in, or what stopped it."""
    if row.injected:
        return row.how or row.label
    return row.label


def full_words(row: BenchRow) -> str:
    """How it came in, and what settled it, in sentences."""
    settled = row.sentence if not row.injected or not row.how_sentence or row.label == "Shortened" else ""
    return " ".join(part for part in (row.how_sentence, settled) if part)


def bench_table(parent: QObject) -> RecordTable:
    """A table of a result's rows: one line an entry, the mark of what became of it before its title."""
    columns = (
        Column("Entry", attrgetter("title"), look=_title_look, spoken=_spoken),
        Column("Key", key_words, look=lambda row: _look(key_words(row))),
        Column("Why", why_words, look=lambda row: _look(why_words(row))),
        Column("Tokens", lambda row: number(row.tokens), width=62, numeric=True,
               look=lambda row: _look("", Words(number(row.tokens), tone="text_muted", scale=0.93, gap=0))),
    )  # fmt: skip
    entry = attrgetter("entry")
    return RecordTable(columns, key=entry, entry=entry, tip=lambda row, _column: full_words(row), parent=parent)


def _title_look(row: BenchRow) -> Look:
    return one_line(Marked(fate_mark(row.fate), width=27), Words(row.title), ring=True, rule="bottom")


def _look(text: str, *right: Words) -> Look:
    return one_line(Words(text, tone="text_muted", scale=0.93, gap=0), right=right, margin=8, rule="bottom")


def _spoken(row: BenchRow) -> str:
    return tr("{title}: {state}", title=row.title, state=tr(fate_mark(row.fate).word))


MOST_MARKS: Final = 2000
"""A text with more found keys is marked up to here."""


class BenchText(QPlainTextEdit):
    """A field for any text; `show_rows` marks the keys of a result, more strongly those of the chosen entry.

    Keys of entries that go in have a full line below, those of entries that are stopped a dotted one.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[BenchRow, ...] = ()
        self._chosen: int | None = None
        self._text = ""
        self.setAccessibleName(tr("Text to test"))
        self.setTabChangesFocus(True)
        self.setObjectName("Diff")  # with an edge
        theme.changed.connect(self._mark)

    def show_rows(self, text: str, rows: Sequence[BenchRow]) -> None:
        """Mark the keys of these rows, which are about `text`; where another one stands here, nothing is marked."""
        self._text, self._rows = text, tuple(rows)
        self._mark()

    def choose(self, entry: int | None) -> None:
        """Mark the keys of this entry more strongly."""
        if entry != self._chosen:
            self._chosen = entry
            self._mark()

    def names_at(self, position: int) -> str:
        """Which keys of which entries stand at a place of the text (in Qt's count), line by line."""
        lines = []
        units = _Units(self._text)
        for row in self._rows:
            for place in row.places:
                start, end = units.at(place.start or 0), units.at(place.end or 0)
                if start <= position < end:
                    words = tr("“{key}” refines “{title}”") if place.refine else tr("“{key}” is a key of “{title}”")
                    lines.append(words.format(key=place.key, title=row.title))
        return "\n".join(dict.fromkeys(lines))

    def event(self, event: QEvent) -> bool:
        """Qt: what a marked word belongs to, under the mouse."""
        return shows_tip(self, event, self._words_at) or super().event(event)

    def _words_at(self, point: QPoint) -> str:
        place = self.viewport().mapFrom(self, point)
        cursor = self.cursorForPosition(place)
        inside = self.cursorRect(cursor).adjusted(-12, 0, 12, 0).contains(place)
        return self.names_at(cursor.position()) if inside else ""

    def _mark(self) -> None:
        if self.toPlainText() != self._text:
            self.setExtraSelections([])
            return
        units = _Units(self._text)
        found: list[QTextEdit.ExtraSelection] = []
        # The chosen entry's come last, so that they lie on top.
        for row in sorted(self._rows, key=lambda row: (row.entry == self._chosen, row.injected)):
            for place in row.places[: MOST_MARKS - len(found)]:
                cursor = QTextCursor(self.document())
                cursor.setPosition(units.at(place.start or 0))
                cursor.setPosition(units.at(place.end or 0), QTextCursor.MoveMode.KeepAnchor)
                selection = QTextEdit.ExtraSelection()
                selection.cursor = cursor
                selection.format = self._format(row)
                found.append(selection)
        self.setExtraSelections(found)

    def _format(self, row: BenchRow) -> QTextCharFormat:
        theme, look = self._theme, QTextCharFormat()
        if row.entry == self._chosen:
            ground, ink = theme.fill("yellow")
            look.setBackground(ground)
            look.setForeground(ink)
        else:
            look.setBackground(theme.color("mark"))
            look.setForeground(theme.color("on_mark"))
        lines = QTextCharFormat.UnderlineStyle
        look.setUnderlineStyle(lines.SingleUnderline if row.injected else lines.DotLine)
        look.setUnderlineColor(look.foreground().color())
        return look


class _Units:
    """Places of a text in Qt's count, which is of UTF-16 code units."""

    def __init__(self, text: str) -> None:
        self._double = [place for place, char in enumerate(text) if char > "\uffff"]

    def at(self, place: int) -> int:
        return place + bisect_left(self._double, place)
