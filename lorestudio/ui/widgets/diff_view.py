"""Two texts as one list of lines: what stays, what goes, what comes, and the words that differ."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct
from PySide6.QtGui import QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QWidget

from lorestudio.domain.records import same_ends
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.layouts import column, label, row, text_view
from lorestudio.ui.widgets.paint import text_format

AROUND: Final = 2
"""So many equal lines are shown around a difference."""

MOST_LINES: Final = 2000
"""Longer differences are cut; nobody reads them here."""

_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")

Span = tuple[int, int]
"""A piece of a text: start and end in code points."""


class DiffLine(Struct, frozen=True):
    """One line to show. `sign` is "-" for a line that goes, "+" for one that comes, " " for one that stays.

    `spans` are the words that differ. `folded` counts equal lines that are left out here.
    """

    text: str
    sign: str = " "
    spans: tuple[Span, ...] = ()
    folded: int = 0


def diff_lines(before: str, after: str) -> tuple[DiffLine, ...]:
    """The lines of two texts in one row, equal ones far from a difference folded."""
    old, new = before.splitlines(), after.splitlines()
    head, tail = (max(same - AROUND, 0) for same in same_ends(old, new))  # to compare all of that would take long
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) > 3000)
    lines: list[DiffLine] = []
    shown = -head
    for group in matcher.get_grouped_opcodes(AROUND):
        if group[0][1] > shown:
            lines.append(DiffLine("", folded=group[0][1] - shown))
        for tag, first, last, first_new, last_new in group:
            if tag == "equal":
                lines += [DiffLine(line) for line in old[first:last]]
            else:
                lines += _changed(old[first:last], new[first_new:last_new])
        shown = group[-1][2]
    if lines and shown < len(old) + tail:
        lines.append(DiffLine("", folded=len(old) + tail - shown))
    return tuple(lines)


def _changed(gone: Sequence[str], come: Sequence[str]) -> list[DiffLine]:
    spans = [word_spans(*pair) for pair in zip(gone, come, strict=False)]
    spans += [((), ())] * abs(len(gone) - len(come))
    return [
        *(DiffLine(line, "-", mine) for line, (mine, _its) in zip(gone, spans, strict=False)),
        *(DiffLine(line, "+", its) for line, (_mine, its) in zip(come, spans, strict=False)),
    ]


def word_spans(before: str, after: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The words of each text that the other has not; nothing where hardly anything is the same."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if len(old) * len(new) > 4_000_000 or matcher.quick_ratio() < 0.3:
        return (), ()
    first: list[Span] = []
    second: list[Span] = []
    for tag, start, end, start_new, end_new in matcher.get_opcodes():
        if tag != "equal":
            first += _span(old, start, end)
            second += _span(new, start_new, end_new)
    return tuple(first), tuple(second)


def _span(words: Sequence[str], start: int, end: int) -> list[Span]:
    at = sum(map(len, words[:start]))
    return [(at, at + sum(map(len, words[start:end])))] if end > start else []


def marked_html(text: str, spans: Sequence[Span], style: str) -> str:
    """`text` for a rich label, with the spans in a CSS style; blanks and line ends stay as they are."""
    parts = []
    at = 0
    for start, end in spans:
        parts += [html.escape(text[at:start]), f'<span style="{style}">{html.escape(text[start:end])}</span>']
        at = end
    parts.append(html.escape(text[at:]))
    return f'<div style="white-space: pre-wrap">{"".join(parts)}</div>'


class DiffView(QWidget):
    """Shows what differs between two texts. `summary` says it in words, for a screen reader too."""

    def __init__(self, theme: Theme, titles: tuple[str, str], parent: QWidget | None = None) -> None:
        """`titles` are what the two texts are called, the one with minus signs first."""
        super().__init__(parent)
        self._theme = theme
        self._lines: tuple[DiffLine, ...] = ()
        self.summary = label(self, kind="small", wrap=False)
        signs = [
            label(self, f"{sign}  {title}", "section", wrap=False) for sign, title in zip("-+", titles, strict=True)
        ]
        self.view = text_view(self, tr("What differs"), fixed=True, object_name="Diff")
        head = row(row(*signs, spacing=16), 1, self.summary)
        column(head, (self.view, 1), of=self, spacing=4, margins=0)
        theme.changed.connect(self._fill)

    def show_texts(self, before: str, after: str) -> None:
        """Show two texts."""
        lines = diff_lines(before, after)
        self._lines, changed = lines[:MOST_LINES], sum(line.sign != " " for line in lines)
        words = count(changed, "line differs", "lines differ")
        if not changed:
            words = tr("The texts are the same.") if before == after else tr("Only line ends differ.")
        self.summary.setText(words)
        self.view.setAccessibleDescription(words)
        self._fill()

    def _fill(self) -> None:
        theme = self._theme
        grounds = {"-": theme.color("error_soft"), "+": theme.color("good_soft")}
        marked = text_format(theme.palette, "on_mark", "mark")
        faint, plain = text_format(theme.palette, "text_faint"), text_format(theme.palette, "text")
        self.view.clear()
        cursor = QTextCursor(self.view.document())
        for place, line in enumerate(self._lines):
            block = QTextBlockFormat()
            if line.sign in grounds:
                block.setBackground(grounds[line.sign])
            if place:
                cursor.insertBlock(block, plain)
            else:
                cursor.setBlockFormat(block)
            if line.folded:
                cursor.insertText(tr("⋯ {lines} alike", lines=count(line.folded, "line", "lines")), faint)
                continue
            cursor.insertText(f"{line.sign} ", faint if line.sign == " " else plain)
            at = 0
            for start, end in line.spans:
                cursor.insertText(line.text[at:start], plain)
                cursor.insertText(line.text[start:end], marked)
                at = end
            cursor.insertText(line.text[at:], plain)
        first = next((place for place, line in enumerate(self._lines) if line.sign != " "), 0)
        self.view.setTextCursor(QTextCursor(self.view.document().findBlockByNumber(first)))
        self.view.centerCursor()
