"""What an ordering stage puts on record: the numbers that it sorted by, so that nobody has to guess them later."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json


def order_details(candidates: Sequence[Entry], keys: dict[str, Callable[[Entry], float]]) -> dict[str, Json]:
    """`order_by`: what decides, first things first, the title last; `order`: each entry's id and its numbers."""
    return {
        "order_by": [*keys, "title"],
        "order": [[entry.id, *(key(entry) for key in keys.values())] for entry in candidates],
    }
