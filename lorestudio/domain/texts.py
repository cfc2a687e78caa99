"""Texts: digests by which they are known again, cut ones, differences, names mistyped or meaning this computer."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from difflib import get_close_matches, unified_diff
from functools import lru_cache
from ipaddress import ip_address
from typing import Final

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
"""Their names, which the language of the computer leaves alone."""

_NUMBER: Final = re.compile(r"(\d{1,99})")


def whole_number(figures: str) -> int:
    """What decimal figures come to; of very many, what the first of them do: Python reads no more than 4,300."""
    return int(figures.lstrip("0")[:99] or "0")


def text_digest(*parts: str) -> str:
    """SHA-256 of a text in hexadecimal, or of several in order; halves of surrogate pairs count as they are."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def comparable(text: str) -> str:
    """What texts have in common that differ in case, or in how their accents are encoded."""
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).casefold()


@lru_cache(maxsize=1 << 16)  # the same names are sorted by in several lists, and again and again
def reading_order(name: str) -> tuple[str | int, ...]:
    """By this key people look for names: in any case, numbers in them by their value, “Book 2” before “Book 10”."""
    return tuple(int(part) if place % 2 else part for place, part in enumerate(_NUMBER.split(comparable(name))))


def joined_spans(spans: Iterable[tuple[int, int]], apart: int = 0) -> list[tuple[int, int]]:
    """The spans in order, those as one that lie no more than `apart` from each other."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1] + apart:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def shorten(text: str, limit: int) -> str:
    """`text` on one line and at most `limit` characters long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def meant(name: str, known: Iterable[str], most: int = 1, likeness: float = 0.6) -> str:
    """A blank and the question whether one of the known names was meant that are so much like it, "" for none."""
    names = {each.lower(): each for each in known}
    near = ", ".join(f"“{names[each]}”" for each in get_close_matches(name.lower(), names, most, likeness))
    return f" Did you mean {near}?" if near else ""


def called_alike(name: str, known: Iterable[str]) -> str:
    """As `meant`, of up to three titles: those that have the name in them, else those that are nearly this one."""
    titles = list(dict.fromkeys(known))
    near = [each for each in titles if name.lower() in each.lower()] or get_close_matches(name, titles, 3, 0.75)
    return f" Did you mean {' or '.join(f'“{each}”' for each in near[:3])}?" if name and near else ""


def is_local(host: str) -> bool:
    """Whether a host is this computer."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def difference_lines(before: str | None, after: str | None, old: str, new: str, around: int = 1) -> Iterator[str]:
    """The lines of a difference as `git diff` shows it; `old` and `new` are the names of the two texts."""
    first, second = ((text or "").splitlines(keepends=True) for text in (before, after))
    for line in unified_diff(first, second, old, new, n=around):
        end = "" if line.endswith("\n") else "\n" if line.endswith("\r") else "\n\\ No newline at end of file\n"
        yield f"{line}{end}"


def figures(value: float) -> str:
    """A number that somebody gave, for reading, to its last digit: `1,200`, `1,200.5`, `0.05`."""
    whole = value == value // 1 and abs(value) < 10**16  # greater ones are spelled as powers of ten
    return f"{int(value) if whole else value:,}"
