"""Lorebook entries as the entries of an index, so that traces can name them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.engine.worldinfo.book import BookEntry


def index_of(entries: Sequence[BookEntry], counter: TokenCounter = CHARS_4) -> VaultIndex:
    """An index with an entry for each; its number is the place, its vault the lorebook, its file the uid there."""
    seen: Counter[tuple[str, str]] = Counter()
    made = []
    for place, entry in enumerate(entries):
        name = f"uid {entry.uid.removeprefix(f'{entry.world}.')}"
        seen[entry.world, name] += 1
        if seen[entry.world, name] > 1:
            name = f"{name} ({seen[entry.world, name]})"
        made.append(
            Entry(
                place,
                name,
                entry.world or "lorebook",
                title_of(entry),
                entry.content,
                entry.keys,
                entry.secondary,
                priority=entry.order,
                constant=entry.constant,
                tokens=counter.count(entry.content),
                content_hash=entry.digest,
            )
        )
    return VaultIndex(tuple(made), vaults=tuple(dict.fromkeys(entry.vault for entry in made)))


def title_of(entry: BookEntry) -> str:
    """What people know the entry by: its comment, else its keys, else its uid."""
    return entry.comment or ", ".join(entry.keys) or f"entry {entry.uid.removeprefix(f'{entry.world}.')}"
