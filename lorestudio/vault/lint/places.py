"""On which line of a note something stands: a field of the front matter, an item in it, a word of the body."""

from __future__ import annotations

import re
from typing import Final

_PROPERTY: Final = re.compile(r"(\w[\w.-]*)\s*:", re.ASCII)
_HEADING: Final = re.compile(r"^#\s", re.MULTILINE)


class Places:
    """Lines count from 1. `body` is the end of `text` that lies behind the front matter."""

    def __init__(self, text: str, body: str) -> None:
        self._text, self._body = text, body
        self._body_start = len(text) - len(body)
        self._lines: list[str] | None = None

    def line(self, field: str, item: str = "") -> int:
        """The line of `item` in a field ("title" and "body" are the body's), else of the field, else 1."""
        if field in {"title", "body"}:
            return self._in_body(field, item)
        if self._lines is None:
            self._lines = self._text[: self._body_start].split("\n")
        lines = self._lines
        span = self._span(lines, field) if field else None
        if span is None:
            return 1
        first, last = span
        if item:
            lower = item.lower()
            for wanted, fold in ((item, False), (lower, True)):
                for number in range(first, last):
                    if wanted in (lines[number].lower() if fold else lines[number]):
                        return number + 1
        return first + 1

    def at(self, offset: int) -> int:
        """The line of an offset into the body."""
        return self._text.count("\n", 0, self._body_start + offset) + 1

    def _in_body(self, field: str, item: str) -> int:
        if field == "title":
            heading = _HEADING.search(self._body)
            return self.at(heading.start()) if heading is not None else 1
        found = self._body.find(item) if item else -1
        return self.at(found) if found >= 0 else self.at(0) if self._body.strip() else 1

    @staticmethod
    def _span(lines: list[str], field: str) -> tuple[int, int] | None:
        """The lines of a field, from 0, the end excluded; of several of that name the last, which is the one read."""
        found: tuple[int, int] | None = None
        start: int | None = None
        for number, line in enumerate(lines[1:], 1):
            match = _PROPERTY.match(line)
            fence = line.startswith("---")
            if match is None and not fence:
                continue
            if start is not None:
                found = (start, number)
                start = None
            if fence:
                break
            if match is not None and match[1].lower() == field.lower():
                start = number
        return (start, len(lines)) if start is not None else found
