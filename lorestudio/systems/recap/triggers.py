"""What was done to a chat elsewhere, and what is queued when something happens in it
(rules: recap-memory 7.1, 12.1, 19).
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from lorestudio.domain.javascript import truthy
from lorestudio.systems.recap.asking import WorkContext
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.message_recaps import candidates, exclusion, recap_operation
from lorestudio.systems.recap.queue import NewOperation, OperationType, Priority, QueueState
from lorestudio.systems.recap.records import Record, alike, get_data, get_memory, message_text, previous_swipe_value
from lorestudio.systems.recap.scenes.breaks import detect_operation, detection_range, scene_operation


class MessageEvent(StrEnum):
    """What can happen to a message."""

    WRITTEN = "written"
    EDITED = "edited"
    SWIPED = "swiped"
    DELETED = "deleted"


class MessageHappening(Struct, frozen=True):
    """One message to which something happened; of a deleted one the position is that from before."""

    event: MessageEvent
    index: int


def happenings(before: RecapChat, after: RecapChat) -> tuple[MessageHappening, ...]:
    """What happened between two states of a chat, as far as it can be told.

    Messages are told apart by speaker, text and active swipe. Where a stretch was replaced by one of another length,
    nothing is told of it.
    """
    old, new = before.messages, after.messages
    head = alike(old, new, _same)
    tail = alike(old[head:][::-1], new[head:][::-1], _same)
    gone, come = len(old) - head - tail, len(new) - head - tail
    if not come:
        return tuple(MessageHappening(MessageEvent.DELETED, head + place) for place in range(gone))
    if not gone:
        return tuple(MessageHappening(MessageEvent.WRITTEN, head + place) for place in range(come)) if not tail else ()
    found = [_changed_message(old[head + place], new[head + place], head + place) for place in range(min(gone, come))]
    if gone == come:
        return tuple(found)
    if come > gone and not tail:
        return (*found, *(MessageHappening(MessageEvent.WRITTEN, head + place) for place in range(gone, come)))
    return ()


def _changed_message(old: Record, new: Record, index: int) -> MessageHappening:
    swiped = (old.get("swipe_id") or 0) != (new.get("swipe_id") or 0)
    return MessageHappening(MessageEvent.SWIPED if swiped else MessageEvent.EDITED, index)


def _same(one: Record, other: Record) -> bool:
    return _seen(one) == _seen(other)


def _seen(message: Record) -> tuple[object, ...]:
    return message.get("name"), bool(message.get("is_user")), message_text(message), message.get("swipe_id") or 0


def due_recaps(chat: RecapChat, queue: QueueState, ctx: WorkContext) -> tuple[NewOperation, ...]:
    """Recaps of the messages whose turn has come and that are not queued already."""
    queued = {item.params.get("index") for item in queue.operations if item.type == OperationType.RECAP}
    return tuple(recap_operation(index) for index in candidates(chat.messages, ctx.around) if index not in queued)


def search(
    chat: RecapChat, queue: QueueState, ctx: WorkContext, start: int | None = None, end: int | None = None
) -> tuple[NewOperation, ...]:
    """The search for a break; none while the queue has anything to do, or where there is too little to look through."""
    settings = ctx.settings
    found = queue.is_idle and detection_range(
        chat.messages,
        chat.breaks,
        offset=settings.auto_scene_break_message_offset,
        least=settings.auto_scene_break_minimum_scene_length,
        which=settings.auto_scene_break_check_which_messages,
        start=start,
        end=end,
    )
    if not found:
        return ()
    return (detect_operation(found.start, found.end, found.offset, metadata=found.metadata),)


def on_message(
    chat: RecapChat, index: int, queue: QueueState, ctx: WorkContext, *, swiped: bool = False
) -> tuple[NewOperation, ...]:
    """What a new message brings on: recaps that are due, and after a reply the search for a break.

    A swipe brings on no search while the newest messages are left alone anyway.
    """
    settings = ctx.settings
    if not settings.enabled:
        return ()
    is_user = truthy(chat.messages[index].get("is_user"))
    recaps = due_recaps(chat, queue, ctx) if settings.auto_recap else ()
    looks = settings.auto_scene_break_on_new_message and not is_user
    if not looks or (swiped and settings.auto_scene_break_message_offset >= 1):
        return recaps
    return (*recaps, *search(chat, queue, ctx, end=index))


def on_edit(chat: RecapChat, index: int, ctx: WorkContext) -> tuple[NewOperation, ...]:
    """An edited message that has a recap gets a new one."""
    wanted = ctx.settings.auto_recap_on_edit and get_memory(chat.messages[index])
    return (recap_operation(index),) if wanted and _takes_part(chat, index, ctx) else ()


def on_swipe(chat: RecapChat, index: int, ctx: WorkContext) -> tuple[NewOperation, ...]:
    """A new swipe gets a recap where the one before it had one."""
    message = chat.messages[index]
    wanted = ctx.settings.auto_recap_on_swipe and not truthy(get_data(message, "memory"))
    follows = wanted and previous_swipe_value(message, "memory")
    return (recap_operation(index),) if follows and _takes_part(chat, index, ctx) else ()


def _takes_part(chat: RecapChat, index: int, ctx: WorkContext) -> bool:
    return ctx.settings.enabled and exclusion(chat.messages[index], ctx.around).included


def on_load(chat: RecapChat, queue: QueueState, ctx: WorkContext) -> tuple[RecapChat, tuple[NewOperation, ...]]:
    """Opening a chat: where it is wanted, everything before the last break counts as looked through, the rest is."""
    settings = ctx.settings
    if not settings.enabled or not settings.auto_scene_break_on_load:
        return chat, ()
    if chat.breaks:
        chat = chat.checked(0, chat.breaks[-1])
    return chat, search(chat, queue, ctx)


def everything_missing(
    chat: RecapChat, queue: QueueState, ctx: WorkContext, start: int | None = None
) -> tuple[NewOperation, ...]:
    """For a person who asks for all of it: recaps that are due, recaps of bookmarks, and the search for breaks.

    The search begins at `start` where that is given.
    """
    queued = {item.params.get("index") for item in queue.operations if item.type == OperationType.SCENE_RECAP}
    known = frozenset(chat.recaps)
    scenes = tuple(
        scene_operation(index, Priority.SCENE_RECAP)
        for index in chat.breaks
        if index not in known and index not in queued
    )
    recaps = due_recaps(chat, queue, ctx) if ctx.settings.auto_recap else ()
    return (*recaps, *scenes, *search(chat, queue, ctx, start))
