"""Bringing a chat's memory up to date: hiding by scenes, the walk, and what is injected (spec: recap-memory 18).

Everything that shows or uses recap memory takes its decisions from here.

The running recap on its way into the prompt: its text, its place, and the order of everything around it.

Source: spec: recap-memory 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lorestudio.domain.entry import Role
from lorestudio.domain.javascript import trim, truthy
from lorestudio.settings.recap import SEED_DIALECT, RecapSettings
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.inclusion import Inclusion, Surroundings, token_limit, walk, with_flags
from lorestudio.systems.recap.records import NAMESPACE, Record, message_text
from lorestudio.systems.recap.running import RunningRecaps
from lorestudio.systems.recap.scenes import Hiding, auto_hide, pinned_hidden, reverted, with_hiding, with_visibility
from lorestudio.systems.recap.storage import Storage

KEY: Final = f"{NAMESPACE}_scene"
MACRO: Final = "{{running_recap}}"
NO_POSITION: Final = 1
"""What a disabled memory registers its empty text with, so that the host forgets the last one."""


class Place(StrEnum):
    """Where an injection stands."""

    NONE = "NONE"
    BEFORE_MAIN = "BEFORE_MAIN"
    AFTER_MAIN = "AFTER_MAIN"
    IN_CHAT = "IN_CHAT"
    AFTER_HISTORY = "AFTER_HISTORY"


_SEED: Final = {0: Place.BEFORE_MAIN, 1: Place.IN_CHAT, 2: Place.AFTER_HISTORY}
_HOST: Final = {-1: Place.NONE, 0: Place.AFTER_MAIN, 1: Place.IN_CHAT, 2: Place.BEFORE_MAIN}

ROLE_NAMES: Final = {role: role.name.lower() for role in Role}
_ROLE_ORDER: Final = (Role.ASSISTANT, Role.USER, Role.SYSTEM)
"""From top to bottom where several stand at one place."""

PLACE_WORDS: Final = {
    Place.NONE: "nowhere",
    Place.BEFORE_MAIN: "before the character card",
    Place.AFTER_MAIN: "after the character card",
    Place.IN_CHAT: "in the chat",
    Place.AFTER_HISTORY: "after the chat, before the new message",
}


def place_of(code: int, dialect: str) -> Place:
    """What a position code means; a code that the dialect does not have places nothing."""
    return (_SEED if dialect == SEED_DIALECT else _HOST).get(code, Place.NONE)


@dataclass(frozen=True, slots=True)
class RecapInjection:
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


@dataclass(frozen=True, slots=True)
class Placed:
    """An injection with the place that its code came to."""

    key: str
    text: str
    place: Place
    depth: int
    role: int


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a prompt. `place` is a `Place`, or card, history or new_message; `role` is of injections only."""

    place: str
    text: str
    role: int | None = None


def prompt_order(
    card: str, history: Sequence[Record], injections: Sequence[Placed], new_message: str
) -> tuple[Block, ...]:
    """The blocks of a prompt from top to bottom (spec: recap-memory 16.4).

    In the chat, an injection of depth d stands before the last d messages; one deeper than the chat is long stands
    before the first, and of several such the deepest stands first. Seed code 1 at depth 0 stands after the last
    message (spec: errata on 16.3).
    """
    seen = [message for message in history if not truthy(message.get("is_system"))]
    inside = [item for item in injections if item.place is Place.IN_CHAT]
    blocks = [*_joined(injections, Place.BEFORE_MAIN), Block("card", card), *_joined(injections, Place.AFTER_MAIN)]
    for number in range(len(seen) + 1):
        blocks += _at_depth(inside, len(seen) - number, deepest=number == 0)
        if number < len(seen):
            blocks.append(Block("history", message_text(seen[number])))
    return (*blocks, *_joined(injections, Place.AFTER_HISTORY), Block("new_message", new_message))


def _at_depth(inside: Sequence[Placed], depth: int, *, deepest: bool) -> list[Block]:
    depths = sorted({item.depth for item in inside if item.depth == depth or (deepest and item.depth > depth)})
    return [
        block
        for found in reversed(depths)
        for block in _joined([item for item in inside if item.depth == found], Place.IN_CHAT)
    ]


def _joined(injections: Sequence[Placed], place: Place) -> list[Block]:
    """One block per role: its injections by their keys, trimmed, one a line."""
    blocks: list[Block] = []
    for role in _ROLE_ORDER:
        found = sorted((item for item in injections if item.place is place and item.role == role), key=_by_key)
        text = "\n".join(trim(item.text) for item in found if trim(item.text))
        if text:
            blocks.append(Block(place.value, text, int(role)))
    return blocks


def _by_key(item: Placed) -> str:
    return item.key


@dataclass(frozen=True, slots=True)
class Refresh:
    """What one refresh decided, and the chat after it. `inclusion` is None where the memory is off.

    `shown_again` are messages that had been hidden and that hiding by scenes shows.
    """

    chat: RecapChat
    hiding: Hiding
    shown_again: tuple[int, ...]
    inclusion: Inclusion | None
    storage: Storage
    injection: RecapInjection
    place: Place


def refreshed(chat: RecapChat, around: Surroundings, context_size: int) -> Refresh:
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
