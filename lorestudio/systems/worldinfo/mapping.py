"""How a vault becomes a lorebook (resources/docs/world-info.md tells it to people).

Keys are keys, refine keys secondary ones of which any has to be found; the order is 1000 less the priority number, so
that what DeepLore takes first is offered to the budget first here, too. A cooldown of generations is one of twice as
many messages. Properties whose names begin with `wi_` say it as a lorebook would: `wi_order`, `wi_sticky`, `wi_group`.

Lorebook entries as the entries of an index, so that traces can name them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.exchange.lorebooks.entry import BookEntry
from lorestudio.exchange.lorebooks.native import native_entry
from lorestudio.exchange.lorebooks.notes import native_of


def index_of(entries: Sequence[BookEntry], counter: TokenCounter = CHARS_4) -> VaultIndex:
    """An index with an entry for each; its number is the place, its vault the lorebook, its file the uid there."""
    made = []
    for place, entry in enumerate(entries):
        name = f"uid {entry.name.removeprefix(f'{entry.world}.')}"
        made.append(
            Entry(
                place,
                name,
                entry.world or "lorebook",
                title_of(entry),
                entry.content,
                entry.keys,
                entry.secondary,
                priority=0 if math.isnan(entry.order) else entry.order,
                constant=entry.constant,
                tokens=counter.count(entry.content),
                content_hash=entry.digest,
            )
        )
    return VaultIndex(tuple(made), vaults=tuple(dict.fromkeys(entry.vault for entry in made)))


def title_of(entry: BookEntry) -> str:
    """What people know the entry by: its comment, else its keys, else its uid."""
    return entry.comment or ", ".join(entry.keys) or f"entry {entry.uid.removeprefix(f'{entry.world}.')}"


def as_book_entry(entry: Entry, *, disabled: bool = False) -> BookEntry:
    """A note as an entry of a lorebook; its uid is the note's number."""
    native = native_of(entry)
    return native_entry({"uid": entry.id, **native, "disable": disabled or native["disable"]}, str(entry.id))
