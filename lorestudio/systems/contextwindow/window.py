"""What a context window holds: entries of a lorebook, context elements, a conversation (rules: context-window 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.systems.known import Known

PROPOSED_SIZE: Final = 8000
"""What a window's document says of its size in tokens; only a proposal (rules: context-window 17 row 1)."""


class LoreEntry(Struct, frozen=True):
    """One entry. Only `value` costs tokens; of two entries the one with the larger `weight` goes first.

    `linked_keys` come in with it, `alias_keys` trigger it as its key does, all `required_keys` have to be there.
    """

    key: str = ""
    value: str = ""
    weight: int = 0
    linked_keys: tuple[str, ...] = ()
    alias_keys: tuple[str, ...] = ()
    required_keys: tuple[str, ...] = ()

    def with_spellings(self) -> LoreEntry:
        """With its key in upper and in lower case added to the aliases, also where it is there already."""
        return replace(self, alias_keys=(*self.alias_keys, self.key.upper(), self.key.lower()))


LoreBook: TypeAlias = Mapping[str, LoreEntry]
"""Entries by their keys; their order counts (rules: context-window 4)."""


class KnownBook(dict[str, LoreEntry]):
    """A book that is looked through again and again: `found` keeps what looking for its keys in a text came to."""

    def __init__(self, entries: LoreBook) -> None:
        super().__init__(entries)
        self.found = Known()


class WindowTurn(Struct, frozen=True):
    """One turn of a conversation. Two turns are the same one when their `uuid` is, whatever they say."""

    role: Literal["user", "assistant"]
    text: str
    uuid: str = ""


class ContextWindow(Struct, frozen=True):
    """Lore, context elements and conversation of one request."""

    lore: LoreBook = {}
    elements: tuple[str, ...] = ()
    history: tuple[WindowTurn, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there are no entries, no elements and no turns."""
        return not (self.lore or self.elements or self.history)


def window_to_json(window: ContextWindow) -> dict[str, Json]:
    """The window as the JSON document that the original measures it by (rules: context-window 1.3)."""
    return {
        "loreBookKeys": {
            key: {
                "key": entry.key,
                "value": entry.value,
                "weight": entry.weight,
                "linkedKeys": list(entry.linked_keys),
                "aliasKeys": list(entry.alias_keys),
                "requiredKeys": list(entry.required_keys),
            }
            for key, entry in window.lore.items()
        },
        "contextElements": list(window.elements),
        "converseHistory": {
            "history": [
                {"role": turn.role, "content": {"text": turn.text}} | ({"uuid": turn.uuid} if turn.uuid else {})
                for turn in window.history
            ]
        },
        "contextSize": PROPOSED_SIZE,
        "version": 0,
    }
