"""Names whose mention makes a cached AI selection void (rules: deeplore 4.7 "Cache")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import length
from lorestudio.systems.deeplore.keys import lower_variants

_WORD: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")


def entity_names(entries: Iterable[Entry]) -> frozenset[str]:
    """Lower-cased titles, and keys of two code units and more, of all entries of the index."""
    names: set[str] = set()
    for entry in entries:
        if entry.title:
            names.add(entry.title.lower())
        names.update(key.lower() for key in entry.keys if length(key) >= 2)
    return frozenset(names)


def mentioned(names: Iterable[str], text: str) -> str | None:
    """The first name that stands in the text between ASCII word boundaries, None for none."""
    searched = lower_variants(text)
    return next((name for name in sorted(names) if _stands(lower_variants(name), searched)), None)


def _stands(name: str, text: str) -> bool:
    start = text.find(name)
    while start >= 0:
        if _boundary(text, start) and _boundary(text, start + len(name)):
            return True
        start = text.find(name, start + 1)
    return False


def _boundary(text: str, place: int) -> bool:
    before = place > 0 and text[place - 1] in _WORD
    after = place < len(text) and text[place] in _WORD
    return before != after
