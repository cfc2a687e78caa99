"""How a vault becomes a lorebook (resources/docs/world-info.md tells it to people).

Keys are keys, refine keys secondary ones of which any has to be found; the order is 1000 less the priority number, so
that what DeepLore takes first is offered to the budget first here, too. A cooldown of generations is one of twice as
many messages. Properties whose names begin with `wi_` say it as a lorebook would: `wi_order`, `wi_sticky`, `wi_group`.

Lorebook entries as the entries of an index, so that traces can name them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from lorestudio.domain.entry import Entry, Position, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.exchange.lorebooks.entry import BookEntry, BookPlace, Logic
from lorestudio.exchange.lorebooks.native import NEW_ENTRY, native_entry


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


TOP_ORDER: Final = 1000
MESSAGES_PER_GENERATION: Final = 2

_PLACES: Final = {
    Position.AFTER: BookPlace.AFTER,
    Position.IN_CHAT: BookPlace.AT_DEPTH,
    Position.BEFORE: BookPlace.BEFORE,
}
_SPELLINGS: Final = {
    "secondary": "keysecondary",
    "logic": "selectiveLogic",
    "prevent_recursion": "preventRecursion",
    "delay_until_recursion": "delayUntilRecursion",
    "group_override": "groupOverride",
    "group_weight": "groupWeight",
    "use_group_scoring": "useGroupScoring",
    "case_sensitive": "caseSensitive",
    "match_whole_words": "matchWholeWords",
    "scan_depth": "scanDepth",
    "outlet": "outletName",
    "ignore_budget": "ignoreBudget",
    "match_persona_description": "matchPersonaDescription",
    "match_character_description": "matchCharacterDescription",
    "match_character_personality": "matchCharacterPersonality",
    "match_character_depth_prompt": "matchCharacterDepthPrompt",
    "match_scenario": "matchScenario",
    "match_creator_notes": "matchCreatorNotes",
}
"""Properties that a lorebook spells in another way; all others are `wi_` and the lorebook's own word."""


def as_book_entry(entry: Entry, *, disabled: bool = False) -> BookEntry:
    """A note as an entry of a lorebook; its uid is the note's number."""
    own: dict[str, Json] = {}
    for name, value in entry.system_fields.items():
        if name.startswith("wi_"):
            word = name.removeprefix("wi_")
            own[_SPELLINGS.get(word, word)] = list(value) if isinstance(value, tuple) else value
    native: dict[str, Json] = {**NEW_ENTRY, **_native(entry), **own, "disable": disabled or own.get("disable") is True}
    return native_entry(native, str(entry.id))


def _native(entry: Entry) -> Mapping[str, Json]:
    place = _PLACES.get(Position(entry.position), BookPlace.BEFORE) if entry.position in _PLACES else BookPlace.BEFORE
    return {
        "uid": entry.id,
        "key": list(entry.keys),
        "keysecondary": list(entry.refine_keys),
        "selective": bool(entry.refine_keys),
        "selectiveLogic": int(Logic.AND_ANY),
        "comment": entry.title,
        "content": entry.content,
        "constant": entry.constant,
        "order": max(0.0, TOP_ORDER - entry.priority),
        "position": int(place),
        "depth": 4 if entry.depth is None else entry.depth,
        "role": 0 if entry.role is None else entry.role,
        "scanDepth": entry.scan_depth,
        "excludeRecursion": entry.exclude_recursion,
        "probability": 100 if entry.probability is None else 100 * entry.probability,
        "cooldown": None if entry.cooldown is None else MESSAGES_PER_GENERATION * entry.cooldown,
    }
