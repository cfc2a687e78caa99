"""Bringing a chat's memory up to date: hiding by scenes, the walk, and the running recap on its way into the prompt.

Everything that shows or uses recap memory takes its decisions from here (rules: recap-memory 16 to 18).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Role
from lorestudio.domain.history import ranges_of
from lorestudio.domain.javascript import trim, truthy
from lorestudio.settings.recap import SEED_DIALECT, RecapSettings
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.message_recaps import Inclusion, token_limit, walk, with_flags
from lorestudio.systems.recap.records import NAMESPACE, Record, get_data
from lorestudio.systems.recap.running import RunningRecaps, Storage
from lorestudio.systems.recap.scenes.scenes import PINNED_HIDDEN, Range, with_visibility

KEY: Final = f"{NAMESPACE}_scene"
MACRO: Final = "{{running_recap}}"
NO_POSITION: Final = 1
"""What a disabled memory registers its empty text with, so that the host forgets the last one."""


class RecapPlace(StrEnum):
    """Where an injection stands."""

    NONE = "NONE"
    BEFORE_MAIN = "BEFORE_MAIN"
    AFTER_MAIN = "AFTER_MAIN"
    IN_CHAT = "IN_CHAT"
    AFTER_HISTORY = "AFTER_HISTORY"


_SEED: Final = {0: RecapPlace.BEFORE_MAIN, 1: RecapPlace.IN_CHAT, 2: RecapPlace.AFTER_HISTORY}
_HOST: Final = {-1: RecapPlace.NONE, 0: RecapPlace.AFTER_MAIN, 1: RecapPlace.IN_CHAT, 2: RecapPlace.BEFORE_MAIN}

ROLE_NAMES: Final = {role: role.name.lower() for role in Role}

PLACE_WORDS: Final = {
    RecapPlace.NONE: "nowhere",
    RecapPlace.BEFORE_MAIN: "before the character card",
    RecapPlace.AFTER_MAIN: "after the character card",
    RecapPlace.IN_CHAT: "in the chat",
    RecapPlace.AFTER_HISTORY: "after the chat, before the new message",
}


def place_of(code: int, dialect: str) -> RecapPlace:
    """What a position code means; a code that the dialect does not have places nothing."""
    return (_SEED if dialect == SEED_DIALECT else _HOST).get(code, RecapPlace.NONE)


class RecapInjection(Struct, frozen=True):
    """What the host is told. `role` and `scan` are None where the memory is off for the chat."""

    value: str
    position: int
    depth: int
    role: int | None = None
    scan: bool | None = None
    key: str = KEY


def injected_text(store: RunningRecaps, template: str) -> str:
    """The current version in its template; the version's own text is taken as it is, whatever signs are in it."""
    content = store.content
    if not content:
        return ""
    return template.replace(MACRO, content) if trim(template) else content


def injection(store: RunningRecaps, settings: RecapSettings, *, enabled: bool = True) -> RecapInjection:
    """What is injected; nothing where the memory is off, though the host is told so."""
    if not enabled:
        return RecapInjection("", NO_POSITION, 0)
    return RecapInjection(
        injected_text(store, settings.running_scene_recap_template),
        settings.running_scene_recap_position,
        settings.running_scene_recap_depth,
        settings.running_scene_recap_role,
        settings.running_scene_recap_scan,
    )


class Refresh(Struct, frozen=True):
    """What one refresh decided, and the chat after it. `inclusion` is None where the memory is off.

    `shown_again` are messages that had been hidden and that hiding by scenes shows.
    """

    chat: RecapChat
    hiding: Hiding
    shown_again: tuple[int, ...]
    inclusion: Inclusion | None
    storage: Storage
    injection: RecapInjection
    place: RecapPlace


def refreshed(chat: RecapChat, around: RecapSurroundings, context_size: int) -> Refresh:
    """The chat brought up to date. `context_size` is the room for prompts: the context without the reply, in tokens.

    Where nobody knows the room, a share of it cannot be taken, and the walk has no limit.
    """
    settings = around.settings
    messages = with_visibility(chat.messages)
    stored = chat.storage
    chat = chat.with_messages(messages).with_running(stored.store)
    hiding = auto_hide(len(messages), chat.breaks, settings.auto_hide_scene_count)
    pinned = pinned_hidden(messages)
    shown_again = reverted(messages, hiding, pinned)
    chat = chat.with_messages(with_hiding(messages, hiding, pinned))
    place = place_of(settings.running_scene_recap_position, settings.position_dialect)
    told = injection(stored.store, settings, enabled=settings.enabled)
    if not settings.enabled:
        return Refresh(chat, hiding, shown_again, None, stored, told, place)
    kind = settings.message_recap_context_type
    limit = None if kind == "percent" and not context_size else settings.message_recap_context_limit
    found = walk(chat.messages, around, token_limit(context_size, limit, kind))
    return Refresh(
        chat.with_messages(with_flags(chat.messages, found)), hiding, shown_again, found, stored, told, place
    )


class Hiding(Struct, frozen=True):
    """What hiding by scenes does. `visible_start` is the first message that stays, None where none is hidden."""

    scene_count: int
    breaks: tuple[int, ...]
    visible_start: int | None
    hide: tuple[Range, ...]
    unhide: tuple[Range, ...]

    def hides(self, index: int) -> bool:
        """Whether the message at this position is hidden."""
        return self.visible_start is not None and index < self.visible_start


def auto_hide(message_count: int, breaks: Sequence[int], scene_count: int) -> Hiding:
    """Hide everything before the last `scene_count` scenes, the open one among them (rules: recap-memory 17).

    With 0 or less nothing is hidden and everything is shown.
    """
    start = breaks[len(breaks) - scene_count] + 1 if 0 < scene_count <= len(breaks) else None
    hidden = min(start or 0, message_count)
    hide, unhide = ranges_of(range(hidden)), ranges_of(range(hidden, message_count))
    return Hiding(scene_count, tuple(breaks), start, hide, unhide)


def with_hiding(messages: Sequence[Record], hiding: Hiding, pinned: frozenset[int] = frozenset()) -> tuple[Record, ...]:
    """The messages hidden and shown; those at `pinned` stay hidden whatever the rule says."""
    result: list[Record] = []
    for index, message in enumerate(messages):
        wanted = hiding.hides(index) or index in pinned
        result.append(message if truthy(message.get("is_system")) == wanted else {**message, "is_system": wanted})
    return tuple(result)


def pinned_hidden(messages: Sequence[Record]) -> frozenset[int]:
    """Messages that stay hidden because a person said so."""
    return frozenset(index for index, message in enumerate(messages) if truthy(get_data(message, PINNED_HIDDEN)))


def reverted(messages: Sequence[Record], hiding: Hiding, pinned: frozenset[int] = frozenset()) -> tuple[int, ...]:
    """Messages hidden so far that hiding by scenes shows again."""
    return tuple(
        index
        for index, message in enumerate(messages)
        if truthy(message.get("is_system")) and not hiding.hides(index) and index not in pinned
    )
