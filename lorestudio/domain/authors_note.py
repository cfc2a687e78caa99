"""SillyTavern's author's note of a chat: its text, and where and when it is inserted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json, to_number

NOTE_TAG: Final = "2_floating_prompt"
"""The name under which SillyTavern holds the note (spec: deeplore-ai-and-tools 5.7)."""


@dataclass(frozen=True, slots=True)
class AuthorsNote:
    """The note with SillyTavern's defaults; `interval` counts the person's messages (spec: deeplore-ai-and-tools 5.7).

    `position` is that of extension prompts: 0 after the main prompt, 1 in the chat, 2 before the main prompt.
    """

    text: str = ""
    interval: int = 1
    position: int = 1
    depth: int = 4
    role: int = 0

    def due(self, user_messages: int) -> bool:
        """Whether it is inserted in the turn before which the person has written so many messages."""
        if self.interval == 1:
            return True
        return self.interval > 1 and user_messages > 0 and user_messages % self.interval == 0


def authors_note(metadata: Mapping[str, Json]) -> AuthorsNote:
    """The note of a chat's metadata (spec: 5.2). What is no whole number counts as its default."""
    text = metadata.get("note_prompt")
    return AuthorsNote(
        text if isinstance(text, str) else "",
        _whole(metadata.get("note_interval"), 1),
        _whole(metadata.get("note_position"), 1),
        _whole(metadata.get("note_depth"), 4),
        _whole(metadata.get("note_role"), 0),
    )


def _whole(value: Json, default: int) -> int:
    if value is None or isinstance(value, bool):
        return default
    number = to_number(value)
    return int(number) if float(number).is_integer() else default
