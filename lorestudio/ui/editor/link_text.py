"""Links in a line of Markdown: where they stand, and the half-typed one before the caret."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

LINK: Final = re.compile(r"(!?)\[\[([^\[\]|\n]+)(?:\|([^\]\n]*))?\]\]")
_OPEN: Final = re.compile(r"\[\[([^\[\]|\n]*)$")


@dataclass(frozen=True, slots=True)
class Link:
    """A link in a line: `start` and `end` are code units, `target` is what it leads to."""

    start: int
    end: int
    target: str
    embed: bool = False


def link_at(line: str, place: int) -> Link | None:
    """The link that `place`, a number of code units into the line, lies in or touches."""
    text, shift = _as_units(line)
    for found in LINK.finditer(text):
        start, end = shift[found.start()], shift[found.end()]
        if start <= place <= end:
            return Link(start, end, found[2].strip().removesuffix("\\"), bool(found[1]))
    return None


def half_typed(before: str) -> str | None:
    """What was typed behind the last `[[` that is still open, None where there is none."""
    found = _OPEN.search(before)
    return found[1] if found is not None else None


def _as_units(line: str) -> tuple[str, list[int]]:
    """The line, and for each place in it the number of UTF-16 code units before."""
    shift, units = [], 0
    for char in line:
        shift.append(units)
        units += 2 if ord(char) > 0xFFFF else 1
    shift.append(units)
    return line, shift
