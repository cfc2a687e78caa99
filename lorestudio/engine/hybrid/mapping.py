"""How a vault and a chat become a worldbook and the texts to look at (resources/docs/hybrid-retrieval.md says it too).

A note is an entry: its title, keys, text and constant mark as they are, its priority number as the order, before or
after the character by where DeepLore puts it. Writing guides are no lore; blocked entries are switched off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, Position, VaultIndex
from lorestudio.domain.state import ChatControls
from lorestudio.engine.hybrid.book import WorldEntry


@dataclass(frozen=True, slots=True)
class Texts:
    """What is looked at: the newest exchanges, the person's last message, and which messages these are."""

    history: str
    user_input: str
    messages: tuple[int, ...]


def worldbook(index: VaultIndex, controls: ChatControls) -> tuple[WorldEntry, ...]:
    """The vault as a worldbook; an entry's id is the number of the note."""
    return tuple(_entry(entry, controls) for entry in index.entries if not entry.guide)


def texts_of(chat: Sequence[Message], exchanges: int) -> Texts:
    """The newest complete exchanges before the last message of the person, and that message (spec: 2)."""
    last = next((place for place in range(len(chat) - 1, -1, -1) if chat[place].is_user), len(chat))
    user_input = chat[last].text if last < len(chat) else ""
    grouped: list[list[int]] = []
    for place in range(last):
        if chat[place].is_user or not grouped:
            grouped.append([])
        grouped[-1].append(place)
    shown = [place for group in (grouped[-exchanges:] if exchanges else ()) for place in group]
    lines = [f"{'User' if chat[place].is_user else 'AI'}: {chat[place].text}" for place in shown]
    looked_at = (*shown, last) if last < len(chat) else tuple(shown)
    return Texts("\n".join(lines), user_input, looked_at)


def with_vector(entry: WorldEntry, vector: np.ndarray[tuple[int], np.dtype[np.float64]] | None) -> WorldEntry:
    """The entry with its vector, without one where there is none."""
    return entry if vector is None else replace(entry, embedding=vector)


def _entry(entry: Entry, controls: ChatControls) -> WorldEntry:
    return WorldEntry(
        str(entry.id),
        entry.keys,
        entry.content,
        entry.title,
        enabled=not any(rule.matches(entry) for rule in controls.blocks),
        constant=entry.constant,
        position="before_char" if entry.position == Position.BEFORE else "after_char",
        insertion_order=entry.priority,
    )
