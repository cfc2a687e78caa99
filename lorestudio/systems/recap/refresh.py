"""Bringing a chat's memory up to date: hiding by scenes, the walk, and the running recap on its way into the prompt.

Everything that shows or uses recap memory takes its decisions from here (rules: recap-memory 16 to 18).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Role
from lorestudio.domain.javascript import trim, truthy
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import GrowingText, growing
from lorestudio.settings.recap import SEED_DIALECT, RecapSettings
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.message_recaps import PERCENT, Inclusion, WalkItem, token_limit, walk, with_flags
from lorestudio.systems.recap.records import NAMESPACE, Record, get_data
from lorestudio.systems.recap.running import Ownership, RunningRecaps, Storage
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


class Refresh(Struct, frozen=True, dict=True):
    """What one refresh decided about the first `length` messages of a chat.

    `inclusion` is None where the memory is off, or where nothing that is only told is `recorded`. `shown_again` are
    messages that had been hidden and that hiding by scenes shows.
    """

    read: ReadChat
    length: int
    hiding: Hiding
    shown_again: tuple[int, ...]
    inclusion: Inclusion | None
    storage: Storage
    injection: RecapInjection
    place: RecapPlace
    recorded: bool = True

    @cached_property
    def chat(self) -> RecapChat:
        """These messages after it."""
        before, found = self.read.chat, self.inclusion
        messages = with_visibility(before.messages[: self.length])
        messages = tuple(_hidden(each, wanted=self.hides(index)) for index, each in enumerate(messages))
        messages = messages if found is None else with_flags(messages, found)
        return before.with_messages(messages).with_running(self.storage.store)

    def hides(self, index: int) -> bool:
        """Whether the message at this position is hidden after it; a pinned one stays so whatever the rule says."""
        return self.hiding.hides(index) or index in self.read.pinned


class ReadChat(Struct, frozen=True, dict=True):
    """A chat for refreshes of it and of its beginnings: each message is read once for all of them."""

    chat: RecapChat
    around: RecapSurroundings

    @cached_property
    def pinned(self) -> frozenset[int]:
        """Messages that stay hidden because a person said so."""
        return pinned_hidden(self.chat.messages)

    @cached_property
    def hidden(self) -> tuple[int, ...]:
        """Messages that are hidden before a refresh."""
        return tuple(index for index, message in enumerate(self.chat.messages) if truthy(message.get("is_system")))

    @cached_property
    def _items(self) -> tuple[list[WalkItem | None], list[WalkItem | None]]:
        """For the walk each message where it is shown and where it is hidden, None where nobody has asked yet."""
        return [None] * len(self.chat.messages), [None] * len(self.chat.messages)

    @cached_property
    def _counted(self) -> GrowingText:
        return growing(self.around.counter)

    def _storage(self, length: int) -> Storage:
        """The running recap's versions as they were before the message at this position was written.

        Those are left that reach to a scene before it; where the current one is not among them, the last one is.
        """
        chat = self.chat
        if length >= len(chat.messages):
            return chat.storage
        known = frozenset(_until(chat.recaps, length))
        left = tuple(version for version in chat.running.versions if version.reaches in known)
        numbers = [version.number for version in left]
        current = chat.running.current if chat.running.current in numbers else max(numbers, default=0)
        return Storage(replace(chat.running, chat_id=chat.id, versions=left, current=current), Ownership.MATCH)

    def refreshed(
        self, length: int, context_size: int, shown: Collection[int] = (), *, recorded: bool = True
    ) -> Refresh:
        """A refresh of the messages before this position; `shown` are hidden ones that were in sight then.

        `context_size` is the room for prompts: the context without the reply, in tokens. Where nobody knows the room, a
        share of it cannot be taken, and the walk has no limit.
        """
        settings, length = self.around.settings, min(length, len(self.chat.messages))
        stored = self._storage(length)
        hiding = auto_hide(length, _until(self.chat.breaks, length), settings.auto_hide_scene_count)
        before = (index for index in _until(self.hidden, length) if index not in shown)
        place = place_of(settings.running_scene_recap_position, settings.position_dialect)
        told = injection(stored.store, settings, enabled=settings.enabled)
        found = self._walked(length, hiding, context_size) if settings.enabled and recorded else None
        again = reverted(before, hiding, self.pinned)
        return Refresh(self, length, hiding, again, found, stored, told, place, recorded)

    def _walked(self, length: int, hiding: Hiding, context_size: int) -> Inclusion:
        settings, start, (shown, hidden) = self.around.settings, hiding.visible_start or 0, self._items
        known = [*hidden[:start], *shown[start:length]]
        for index in self.pinned:
            if index < length:
                known[index] = hidden[index]
        items = [
            item or self._item(index, hides=index < start or index in self.pinned) for index, item in enumerate(known)
        ]
        kind = settings.message_recap_context_type
        limit = None if kind == PERCENT and not context_size else settings.message_recap_context_limit
        return walk(reversed(items), self._counted.anew(), token_limit(context_size, limit, kind))

    def _item(self, index: int, *, hides: bool) -> WalkItem:
        message = _hidden(self.chat.messages[index], wanted=hides)
        item = self._items[hides][index] = WalkItem.of(index, message, self.around)
        return item


def _until(places: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Those of ascending positions that lie before one."""
    return places[: bisect_left(places, length)]


def _hidden(message: Record, *, wanted: bool) -> Record:
    return message if truthy(message.get("is_system")) == wanted else {**message, "is_system": wanted}


def refreshed(chat: RecapChat, around: RecapSurroundings, context_size: int) -> Refresh:
    """The chat brought up to date."""
    return ReadChat(chat, around).refreshed(len(chat.messages), context_size)


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
    hide, unhide = ((0, hidden - 1),), ((hidden, message_count - 1),)
    return Hiding(scene_count, tuple(breaks), start, hide if hidden else (), unhide if hidden < message_count else ())


def pinned_hidden(messages: Sequence[Record]) -> frozenset[int]:
    """Messages that stay hidden because a person said so."""
    return frozenset(index for index, message in enumerate(messages) if truthy(get_data(message, PINNED_HIDDEN)))


def reverted(hidden: Iterable[int], hiding: Hiding, pinned: frozenset[int]) -> tuple[int, ...]:
    """Of messages hidden so far those that hiding by scenes shows again."""
    return tuple(index for index in hidden if not hiding.hides(index) and index not in pinned)
