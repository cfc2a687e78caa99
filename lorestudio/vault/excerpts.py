"""Where a span of a text stands, as it is shown: line number, the line, and the span in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The line in which a span begins. `line` counts from 1; `start` and `end` are code points of `text`."""

    line: int
    text: str
    start: int
    end: int


def excerpt(text: str, start: int, end: int, known: tuple[int, int] = (0, 1)) -> Excerpt:
    """The line around `start`; a span over several lines ends with the first of them.

    `known` is an earlier place of the text and its line number, so that many spans in order are found in one pass.
    """
    line = known[1] + text.count("\n", known[0], start)
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    if line_end < 0:
        line_end = len(text)
    if line_end > start and text[line_end - 1] == "\r":
        line_end -= 1
    return Excerpt(line, text[line_start:line_end], start - line_start, min(end, line_end) - line_start)
