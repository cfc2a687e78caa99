"""How often the texts of connected entries mention each other (spec: deeplore-ai-and-tools 3.8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import ahocorasick

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import fold
from lorestudio.studio.jobs import Cancelled, CancelToken

LEAST_NAME: Final = 2
"""Shorter names are found everywhere and say nothing."""

WHOLE_WORD_UP_TO: Final = 3
"""Names of up to so many characters count only where they stand as a word."""


def mentions(
    entries: Sequence[Entry], partners: Mapping[int, AbstractSet[int]], cancel: CancelToken | None = None
) -> Mapping[tuple[int, int], int]:
    """How often the content of an entry holds the title or a key of another, by (entry, other); only for `partners`.

    All names of all entries are looked for in one pass over each text, in any case. Where names of one entry overlap
    (a title and a key that is a part of it), the first and longest counts. Raises Cancelled.
    """
    automaton = _automaton(entry for entry in entries if entry.id in partners)
    if automaton is None:
        return {}
    counts: dict[tuple[int, int], int] = {}
    for entry in entries:
        if cancel is not None and cancel.cancelled:
            raise Cancelled
        wanted = partners.get(entry.id)
        if wanted:
            for other, spans in _hits(automaton, fold(entry.content), wanted).items():
                counts[entry.id, other] = _apart(spans)
    return counts


def _automaton(entries: Iterable[Entry]) -> ahocorasick.Automaton | None:
    owners: dict[str, set[int]] = {}
    for entry in entries:
        for name in (entry.title, *entry.keys):
            folded = fold(name.strip())
            if len(folded) >= LEAST_NAME:
                owners.setdefault(folded, set()).add(entry.id)
    if not owners:
        return None
    automaton = ahocorasick.Automaton()
    for name, ids in owners.items():
        automaton.add_word(name, (len(name), frozenset(ids)))
    automaton.make_automaton()
    return automaton


def _hits(automaton: ahocorasick.Automaton, text: str, wanted: AbstractSet[int]) -> Mapping[int, list[tuple[int, int]]]:
    """Where names of the wanted entries stand in the text, as (start, end)."""
    found: dict[int, list[tuple[int, int]]] = {}
    for last, (size, owners) in automaton.iter(text):
        here = owners & wanted
        if here:
            span = (last + 1 - size, last + 1)
            if size > WHOLE_WORD_UP_TO or _is_word(text, *span):
                for owner in here:
                    found.setdefault(owner, []).append(span)
    return found


def _is_word(text: str, start: int, end: int) -> bool:
    return not (start and _in_word(text[start - 1])) and not (end < len(text) and _in_word(text[end]))


def _in_word(letter: str) -> bool:
    return letter == "_" or letter.isalnum()


def _apart(spans: list[tuple[int, int]]) -> int:
    """How many spans are left when of overlapping ones the first and longest counts."""
    count, reached = 0, 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= reached:
            count, reached = count + 1, end
    return count
