"""Colours for Markdown and front matter. Long notes are coloured piece by piece, so that nobody waits for them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextBlock, QTextCharFormat, QTextDocument

from lorestudio.ui.features.notes.editor.body import LINK
from lorestudio.ui.shell.theme import Theme

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

    def __init__(self, document: QTextDocument, theme: Theme, exists: Callable[[str], bool]) -> None:
        super().__init__(document)
        self._theme, self._exists = theme, exists
        self._front_lines = 0
        self._formats: dict[str, QTextCharFormat] = {}
        self._pending: set[int] = set()
        self._began = self._last = time.perf_counter()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._go_on)
        self._make_formats()
        theme.changed.connect(self.recolour)

    @property
    def waiting(self) -> int:
        """How many lines are not coloured yet."""
        return len(self._pending)

    def set_front_lines(self, lines: int) -> None:
        """The first `lines` lines are front matter."""
        if lines != self._front_lines:
            first, last = sorted((lines, self._front_lines))
            self._front_lines = lines
            self._pending.update(range(first or 0, last))
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
            block: QTextBlock = document.findBlockByNumber(number)
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
        formats = self._formats
        if text.lstrip("\ufeff").startswith("---"):
            self.setFormat(0, len(text), formats["faint"])
        elif text.lstrip().startswith("#"):
            self.setFormat(0, len(text), formats["comment"])
        else:
            found = _PROPERTY.match(text)
            if found is not None:
                self.setFormat(0, found.end(), formats["property"])

    def _colour(self, text: str) -> None:
        formats, before, state = self._formats, max(self.previousBlockState(), _PLAIN), self.currentBlockState()
        for inside, name in ((_CODE, "code"), (_COMMENT, "comment")):
            if inside in {before, state}:
                self.setFormat(0, len(text), formats[name])
                return
        if text:
            self._colour_line(text)
            self._colour_spans(text, _Utf16Places(text))

    def _colour_spans(self, text: str, units: _Utf16Places) -> None:
        if "*" in text or "_" in text:
            for pattern, name in ((_BOLD, "bold"), (_ITALIC, "italic")):
                for found in pattern.finditer(text):
                    self._merge(units, found, name, len(found[1]))
        for sign, pattern, name in _SPANS:
            if sign in text:
                for found in pattern.finditer(text):
                    self._set(units, found.start(), found.end(), name)
        if "[[" in text:
            for found in LINK.finditer(text):
                there = self._exists(found[2].strip().removesuffix("\\")) or bool(found[1])
                self._set(units, found.start(), found.end(), "link" if there else "missing")
        if "%%" in text:
            for found in _INLINE_COMMENT.finditer(text):
                self._set(units, found.start(), found.end(), "comment")

    def _colour_line(self, text: str) -> None:
        """What the start of a line says about all of it."""
        formats = self._formats
        heading = _HEADING.match(text)
        if heading is not None:
            self.setFormat(0, len(text), formats["h1" if heading.end() == 2 else "h2"])
            self.setFormat(0, heading.end(), formats["faint"])
        elif text[0] == ">":
            self.setFormat(0, len(text), formats["quote"])
        else:
            bullet = _LIST.match(text)
            if bullet is not None:
                self.setFormat(bullet.start(1), bullet.end(1) - bullet.start(1), formats["mark"])

    def _set(self, units: _Utf16Places, start: int, end: int, name: str) -> None:
        first = units(start)
        self.setFormat(first, units(end) - first, self._formats[name])

    def _merge(self, units: _Utf16Places, found: re.Match[str], name: str, marks: int) -> None:
        self._set(units, found.start(), found.end(), name)
        self._set(units, found.start(), found.start() + marks, "faint")
        self._set(units, found.end() - marks, found.end(), "faint")

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
        self,
        colour: str,
        *,
        bold: bool = False,
        italic: bool = False,
        ground: str = "",
        larger: float = 0,
        dotted: bool = False,
    ) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setForeground(self._theme.color(colour))
        if ground:
            made.setBackground(self._theme.color(ground))
        if bold:
            made.setFontWeight(QFont.Weight.DemiBold)
        made.setFontItalic(italic)
        if larger:
            made.setProperty(QTextCharFormat.Property.FontSizeAdjustment, 1 if larger < 1.2 else 2)
        if dotted:
            made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
            made.setUnderlineColor(self._theme.color(colour))
        return made


class _Utf16Places:
    """Places in a text as UTF-16 code units, which Qt counts in."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain = text.isascii() or max(text) <= "\uffff"

    def __call__(self, place: int) -> int:
        if self._plain:
            return place
        return place + sum(char > "\uffff" for char in self._text[:place])
