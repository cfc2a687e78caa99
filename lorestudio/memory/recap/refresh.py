"""Bringing a chat's memory up to date: hiding by scenes, the walk, and what is injected (spec: recap-memory 18).

Everything that shows or uses recap memory takes its decisions from here.
"""

from __future__ import annotations

from dataclasses import dataclass

from lorestudio.memory.recap.chat import RecapChat
from lorestudio.memory.recap.exclusion import Surroundings
from lorestudio.memory.recap.inclusion import Inclusion, token_limit, walk, with_flags
from lorestudio.memory.recap.injection import Place, RecapInjection, injection, place_of
from lorestudio.memory.recap.scenes import Hiding, auto_hide, pinned_hidden, reverted, with_hiding, with_visibility
from lorestudio.memory.recap.storage import Storage


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
