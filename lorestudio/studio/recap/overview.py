"""What there is in a chat, as rows for lists: messages, scenes, versions, operations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lorestudio.domain.javascript import truthy
from lorestudio.memory.recap.chat import RecapChat
from lorestudio.memory.recap.records import get_data, get_memory, is_included, message_text, namespace, text_of
from lorestudio.memory.recap.scene_recaps import recap_hash, versions_of
from lorestudio.memory.recap.scenes import PINNED_HIDDEN, Lock, Range, display_range, generation_range, has_recap, locks
from lorestudio.memory.recap.stages import recap_in_words


class RecapState(StrEnum):
    """How a message stands to its recap (spec: recap-memory 10, the status colours)."""

    NONE = "none"
    INCLUDED = "included"
    KEPT = "kept"
    EXCLUDED = "excluded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message. `stale`: it was changed after its recap was made; `hidden`: from the prompt;
    `pinned`: hidden for good, whatever hiding by scenes does.
    """

    index: int
    speaker: str
    text: str
    state: RecapState
    recap: str
    error: str = ""
    edited: bool = False
    stale: bool = False
    hidden: bool = False
    ends_scene: bool = False
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class SceneRow:
    """One scene. `made_of` is what the reference would make its recap of, where that differs from `where`."""

    index: int
    where: Range
    name: str
    recap: str
    versions: str
    lock: Lock
    made_of: Range | None = None

    @property
    def is_bookmark(self) -> bool:
        """Whether it has no recap yet."""
        return not self.recap


def message_rows(chat: RecapChat) -> tuple[MessageRow, ...]:
    """All messages, oldest first."""
    breaks = frozenset(chat.breaks)
    rows: list[MessageRow] = []
    for index, message in enumerate(chat.messages):
        data = namespace(message)
        memory, error = get_memory(message), text_of(data.get("error"))
        state = RecapState.KEPT if memory else RecapState.NONE
        if error:
            state = RecapState.FAILED
        elif truthy(data.get("exclude")):
            state = RecapState.EXCLUDED
        elif memory and is_included(message):
            state = RecapState.INCLUDED
        kept = data.get("hash")
        stale = bool(memory) and isinstance(kept, str) and kept != recap_hash(message_text(message))
        rows.append(
            MessageRow(
                index, text_of(message.get("name")), message_text(message), state, memory, error,
                truthy(data.get("edited")), stale, truthy(message.get("is_system")), index in breaks,
                truthy(data.get(PINNED_HIDDEN)),
            )
        )  # fmt: skip
    return tuple(rows)


def scene_rows(chat: RecapChat, scenes_in_recap: int = 1) -> tuple[SceneRow, ...]:
    """All scenes that have an end, oldest first."""
    locked, breaks, recaps = locks(chat.messages), chat.breaks, chat.recaps
    rows: list[SceneRow] = []
    for index in breaks:
        message = chat.messages[index]
        where, other = display_range(breaks, recaps, index), generation_range(breaks, index, scenes_in_recap)
        name = text_of(get_data(message, "scene_break_name")) or f"Scene {where[0]}-{where[1]}"
        recap = recap_in_words(text_of(get_data(message, "scene_recap_memory"))) if has_recap(message) else ""
        rows.append(
            SceneRow(
                index, where, name, recap, versions_of(message).words, locked.get(index, Lock()),
                None if other == where else other,
            )
        )  # fmt: skip
    return tuple(rows)
