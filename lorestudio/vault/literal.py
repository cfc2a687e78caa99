"""The parts of a note's body in which Obsidian makes no links: code and comments.

Indented code is not recognised: telling it from the continuation of a list takes a whole Markdown parser, and a link
in it is better shown than lost.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""Start and end in code points of the text."""

# A fence may stand in a quote or in a list item. Behind a fence of backticks no further backtick may stand in the line.
_OPENING = re.compile(
    r"""
      ^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*
    | \\[`%<\\]
    | (?P<code>`+)
    | (?P<comment>%%)
    | (?P<html><!--)
    """,
    re.MULTILINE | re.VERBOSE,
)
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


def literal_parts(text: str, start: int = 0) -> list[Span]:
    """The spans of fenced code, inline code, `%%` comments and HTML comments from `start` on, in order, disjoint.

    A fence that is never closed reaches to the end, as in Obsidian; other openings without an end are plain text.
    """
    if not ("`" in text or "~~~" in text or "%%" in text or "<!--" in text):
        return []
    parts: list[Span] = []
    while (opening := _OPENING.search(text, start)) is not None:
        end = _end(text, opening)
        if end is None:
            start = opening.end()
        else:
            parts.append((opening.start(), end))
            start = end
    return parts


def _end(text: str, opening: re.Match[str]) -> int | None:
    """Where the part ends that `opening` begins; None where it begins none."""
    after = opening.end()
    if fence := opening["fence"]:
        closing = re.compile(rf"^[ \t>]*{re.escape(fence)}{re.escape(fence[0])}*[ \t\r]*$", re.MULTILINE)
        found = closing.search(text, after)
        return len(text) if found is None else found.end()
    if marks := opening["code"]:
        return _end_of_code(text, after, len(marks))
    for name, mark in (("comment", "%%"), ("html", "-->")):
        if opening[name]:
            place = text.find(mark, after)
            return None if place < 0 else place + len(mark)
    return None


def _end_of_code(text: str, start: int, size: int) -> int | None:
    """The end of the next run of exactly `size` backticks in the same paragraph."""
    blank = _BLANK_LINE.search(text, start)
    limit = len(text) if blank is None else blank.start()
    while (place := text.find("`", start, limit)) >= 0:
        start = place
        while start < limit and text[start] == "`":
            start += 1
        if start - place == size:
            return start
    return None


def inside(parts: list[Span], place: int) -> bool:
    """Whether `place` lies in one of the parts, which are in order and disjoint."""
    number = bisect_right(parts, place, key=_start) - 1
    return number >= 0 and place < parts[number][1]


def _start(span: Span) -> int:
    return span[0]
