"""Breaking a text into lines, fast enough for thousands of messages: words are measured once and remembered."""

from __future__ import annotations

from typing import Final, TypeAlias

from PySide6.QtGui import QFont, QFontMetricsF

_REMEMBERED: Final = 50_000

Line: TypeAlias = tuple[int, int]
"""A line of a text, as start and end: `text[start:end]`."""


class Wrapper:
    """Breaks texts in one font. A word that is wider than a line is broken between characters."""

    def __init__(self, font: QFont) -> None:
        self.font = QFont(font)
        self.metrics = QFontMetricsF(self.font)
        self._widths: dict[str, float] = {}

    def width(self, piece: str) -> float:
        """The width of a piece of text in device-independent pixels."""
        known = self._widths.get(piece)
        if known is None:
            if len(self._widths) > _REMEMBERED:
                self._widths.clear()
            known = self._widths[piece] = self.metrics.horizontalAdvance(piece)
        return known

    def lines(self, text: str, width: float, most: int | None = None) -> list[Line]:
        """The lines of `text` in a column of `width` pixels; at least one, and not many more than `most`."""
        if most is not None:  # no line holds more characters than fit at half their usual width
            text = text[: round(most * 2 * width / max(1.0, self.metrics.averageCharWidth())) + 1]
        lines: list[Line] = []
        place = 0
        for paragraph in text.split("\n"):
            if most is not None and len(lines) > most:
                break
            self._break_paragraph(text, place, paragraph, width, lines)
            place += len(paragraph) + 1
        return lines

    def _break_paragraph(self, text: str, place: int, paragraph: str, width: float, lines: list[Line]) -> None:
        known, space = self._widths, self.width(" ")
        start = end = place
        used = 0.0
        for word in paragraph.split(" "):
            wide = known.get(word)
            if wide is None:
                wide = self.width(word)
            after = place + len(word)
            if used and used + space + wide > width:
                lines.append((start, end))
                start, used = place, 0.0
            if wide > width:
                start, used = self._break_word(text, start if used else place, after, width, lines)
            else:
                used += wide + (space if place > start else 0.0)
            end = after
            place = after + 1
        lines.append((start, end))

    def _break_word(self, text: str, start: int, end: int, width: float, lines: list[Line]) -> tuple[int, float]:
        used = 0.0
        for place in range(start, end):
            wide = self.width(text[place])
            if used + wide > width and place > start:
                lines.append((start, place))
                start, used = place, 0.0
            used += wide
        return start, used
