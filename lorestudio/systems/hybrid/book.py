"""What hybrid retrieval is given: a worldbook, its options, and the texts to look at (rules: hybrid-retrieval 1, 2).

How a vault and a chat become a worldbook and the texts to look at (resources/docs/hybrid-retrieval.md says it too).

A note is an entry: its title, keys, text and constant mark as they are, its priority number as the order, before or
after the character by where DeepLore puts it. Writing guides are no lore; blocked entries are switched off.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Position, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls

POSITIONS: Final = ("before_char", "after_char", "before_input", "after_input")
"""Where an entry can stand; what stands anywhere else is not printed by the original."""

Numbers: TypeAlias = Sequence[float] | np.ndarray[tuple[int], np.dtype[np.float64]]
"""A vector."""

DEFAULT_LIMIT: Final = 5
DEFAULT_THRESHOLD: Final = 0.5


class FirstStep(StrEnum):
    """What comes first."""

    KEYWORDS = "keyword_first"
    SEMANTIC = "semantic_first"


class WorldEntry(Struct, frozen=True, eq=False):
    """An entry of the worldbook as it was read: what is absent is None, what is of another type is kept as it is.

    `embedding` is empty where the entry has no vector.
    """

    id: str
    keys: Json = None
    content: str = ""
    comment: str = ""
    enabled: Json = None
    constant: Json = None
    selective: Json = None
    use_regex: Json = None
    position: str = ""
    insertion_order: Json = None
    embedding: Numbers = ()


class Options(Struct, frozen=True):
    """How entries are chosen. `limit` and `threshold` are as `slice` and `>=` take them.

    `strict` does everything as the listing under study does it; else the rules R1 to R12 hold.
    """

    limit: float = DEFAULT_LIMIT
    threshold: float = DEFAULT_THRESHOLD
    use_semantic: bool = True
    mode: FirstStep = FirstStep.KEYWORDS
    keyword_boost: float = 0.1
    strict: bool = False


class Texts(Struct, frozen=True):
    """What is looked at: the newest exchanges, the person's last message, and which messages these are."""

    history: str
    user_input: str
    messages: tuple[int, ...]


def worldbook(index: VaultIndex, controls: ChatControls, held: str = "") -> tuple[WorldEntry, ...]:
    """The vault as a worldbook; an entry's id is the number of the note. The one that is `held` in is there anyway."""
    return tuple(
        WorldEntry(
            str(entry.id),
            entry.keys,
            entry.content,
            entry.title,
            enabled=str(entry.id) == held or not any(rule.matches(entry) for rule in controls.blocks),
            constant=entry.constant,
            position="before_char" if entry.position == Position.BEFORE else "after_char",
            insertion_order=entry.priority,
        )
        for entry in index.entries
        if not entry.guide or str(entry.id) == held
    )


def texts_of(chat: Sequence[Message], exchanges: int) -> Texts:
    """The newest complete exchanges before the last message of the person, and that message
    (rules: hybrid-retrieval 2).
    """
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
