"""A context window as data: lore, context elements and a conversation (rules: context-window 1, 9, 16)."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.systems.contextwindow import lore
from lorestudio.systems.contextwindow.lore import LoreBook, LoreEntry

DEFAULT_SIZE: Final = 8000
"""Tokens; only a proposal for the budget (rules: context-window 17 row 1)."""


class WindowRole(StrEnum):
    """Who speaks a turn."""

    DEVELOPER = "developer"
    SYSTEM = "system"
    USER = "user"
    AGENT = "agent"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class WindowTurn:
    """One turn of a conversation. Two turns are the same one when their `uuid` is, whatever they say."""

    role: WindowRole
    text: str
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """Lore, context elements and conversation of one request. Everything that changes it gives a new one."""

    lore: LoreBook = field(default_factory=lambda: lore.EMPTY)
    elements: tuple[str, ...] = ()
    history: tuple[WindowTurn, ...] = ()
    context_size: int = DEFAULT_SIZE
    version: int = 0
    is_locked: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there are no entries, no elements and no turns."""
        return not (self.lore or self.elements or self.history)

    def cleared(self) -> ContextWindow:
        """The window without its content; size, version and lock stay."""
        return replace(self, lore=lore.EMPTY, elements=(), history=())

    def merged(
        self,
        other: ContextWindow,
        *,
        emplace: bool = True,
        append: bool = False,
        emplace_history: bool | None = None,
        only_if_empty: bool = False,
        source_compatible: bool = False,
    ) -> ContextWindow:
        """This window and another one (rules: context-window 9, 17 rows 4 to 7).

        `append` and `emplace` say what becomes of entries in both. With `emplace_history` given, the conversation is
        replaced or left as it is, as the original does; else the turns of the other one that are not here yet follow.
        """
        elements = list(self.elements)
        for element in other.elements:
            if element not in elements:
                elements.append(element)
        history = self.history
        if emplace_history is None and not source_compatible:
            known = {turn.uuid for turn in history}
            history = (*history, *(turn for turn in other.history if turn.uuid not in known))
        elif emplace_history and not (only_if_empty and history):
            history = other.history
        return replace(
            self,
            lore=lore.merged(
                self.lore, other.lore, emplace=emplace, append=append, source_compatible=source_compatible
            ),
            elements=tuple(elements),
            history=history,
        )


def with_turn(
    history: tuple[WindowTurn, ...], turn: WindowTurn, new_id: Callable[[], str] | None = None
) -> tuple[WindowTurn, ...]:
    """The history with a turn, which gets an id where it has none; one whose id is there already is left out."""
    if not turn.uuid:
        turn = replace(turn, uuid=(new_id or _new_id)())
    return history if any(other.uuid == turn.uuid for other in history) else (*history, turn)


def window_from_json(document: Json, new_id: Callable[[], str] | None = None) -> ContextWindow:
    """The window that a JSON document describes; what is missing or unknown is forgiven (rules: context-window 1.3).

    Turns without an id get one, so that they can be told apart (rules: context-window 17 row 17). Raises ValueError
    naming the field.
    """
    top = _object(document, "the document")
    book: dict[str, LoreEntry] = {}
    for key, value in _object(top.get("loreBookKeys", {}), "loreBookKeys").items():
        book[key] = _entry(_object(value, f"loreBookKeys.{key}"), key)
    history = _object(top.get("converseHistory", {}), "converseHistory")
    turns = [_turn(_object(item, f"converseHistory.history[{place}]"), place, new_id or _new_id)
             for place, item in enumerate(_list(history.get("history", []), "converseHistory.history"))]  # fmt: skip
    return ContextWindow(
        book,
        tuple(str(item) for item in _list(top.get("contextElements", []), "contextElements")),
        tuple(turns),
        _whole(top.get("contextSize", DEFAULT_SIZE)),
        _whole(top.get("version", 0)),
    )


def window_to_json(window: ContextWindow) -> dict[str, Json]:
    """The window as a JSON document; the lock flag is not written."""
    document: dict[str, Json] = {
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
                {"role": turn.role.value, "content": {"text": turn.text}} | ({"uuid": turn.uuid} if turn.uuid else {})
                for turn in window.history
            ]
        },
        "contextSize": window.context_size,
        "version": window.version,
    }
    return document


def _entry(value: Mapping[str, Json], key: str) -> LoreEntry:
    def texts(name: str) -> tuple[str, ...]:
        return tuple(str(item) for item in _list(value.get(name, []), f"loreBookKeys.{key}.{name}"))

    return LoreEntry(
        str(value.get("key", key)),
        str(value.get("value", "")),
        _whole(value.get("weight", 0)),
        texts("linkedKeys"),
        texts("aliasKeys"),
        texts("requiredKeys"),
    )


def _turn(value: Mapping[str, Json], place: int, new_id: Callable[[], str]) -> WindowTurn:
    role = str(value.get("role", "user")).lower()
    if role not in set(WindowRole):
        known = ", ".join(WindowRole)
        raise ValueError(f"converseHistory.history[{place}].role: “{role}” is no role. Use one of: {known}.")
    content = value.get("content", {})
    text = content.get("text", "") if isinstance(content, Mapping) else content
    return WindowTurn(WindowRole(role), str(text), str(value.get("uuid", "")) or new_id())


def _whole(value: Json) -> int:
    """A whole number, truncated toward zero; 0 for what is none (rules: context-window 1.1)."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, int | float):
        return int(value)
    try:
        return int(float(value)) if isinstance(value, str) else 0
    except (ValueError, OverflowError):
        return 0


def _object(value: Json, name: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}: an object is expected here.")  # noqa: TRY004  # the document is wrong, not its use
    return value


def _list(value: Json, name: str) -> Iterable[Json]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise ValueError(f"{name}: a list is expected here.")  # noqa: TRY004  # as above
    return value


def _new_id() -> str:
    return str(uuids.uuid4())
