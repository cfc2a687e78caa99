"""What was done to a chat elsewhere, and what recap memory does about it (spec: recap-memory 19)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lorestudio.systems.recap import triggers
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.queue import NewOperation
from lorestudio.systems.recap.records import Record, message_text
from lorestudio.systems.recap.running import after_deletion
from lorestudio.systems.recap.session import RecapSession


class Event(StrEnum):
    """What can happen to a message."""

    WRITTEN = "written"
    EDITED = "edited"
    SWIPED = "swiped"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Happening:
    """One message to which something happened; of a deleted one the position is that from before."""

    event: Event
    index: int


def happenings(before: RecapChat, after: RecapChat) -> tuple[Happening, ...]:
    """What happened between two states of a chat, as far as it can be told.

    Messages are told apart by speaker, text and active swipe. Where a stretch was replaced by one of another length,
    nothing is told of it.
    """
    old, new = before.messages, after.messages
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    gone, come = len(old) - head - tail, len(new) - head - tail
    if not come:
        return tuple(Happening(Event.DELETED, head + place) for place in range(gone))
    if not gone:
        return tuple(Happening(Event.WRITTEN, head + place) for place in range(come)) if not tail else ()
    found = [_change(old[head + place], new[head + place], head + place) for place in range(min(gone, come))]
    if gone == come:
        return tuple(found)
    if come > gone and not tail:
        return (*found, *(Happening(Event.WRITTEN, head + place) for place in range(gone, come)))
    return ()


def _change(old: Record, new: Record, index: int) -> Happening:
    swiped = (old.get("swipe_id") or 0) != (new.get("swipe_id") or 0)
    return Happening(Event.SWIPED if swiped else Event.EDITED, index)


def _alike(old: tuple[Record, ...], new: tuple[Record, ...]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one is not other and _seen(one) != _seen(other):
            break
        count += 1
    return count


def _seen(message: Record) -> tuple[object, ...]:
    return message.get("name"), bool(message.get("is_user")), message_text(message), message.get("swipe_id") or 0


async def follow(session: RecapSession, *, by_itself: bool) -> tuple[Happening, ...]:
    """Take over what was written into the chat's file, and tell what happened.

    Versions of the running recap follow deleted messages. With `by_itself` the chat is brought up to date, and what
    the settings ask for is queued. Raises InputError.
    """
    before = session.chat
    after = await session.book.change(lambda chat: chat)
    found = happenings(before, after)
    gone = [each.index for each in found if each.event is Event.DELETED]
    if gone and after.running.versions:
        await session.book.change(lambda chat: _followed(chat, before, gone))
    if by_itself and found:
        await session.edits.refresh()
        for each in found:
            await session.enqueue(_due(session, each))
    return found


async def opened(session: RecapSession) -> tuple[str, ...]:
    """Queue what opening a chat brings on, where the settings ask for it; the ids. Raises InputError."""
    ctx = session.context
    if not ctx.settings.enabled or not ctx.settings.auto_scene_break_on_load:
        return ()
    queue = session.queue
    await session.book.change(lambda chat: triggers.on_load(chat, queue, ctx)[0])
    return await session.enqueue(triggers.on_load(session.chat, queue, ctx)[1])


def _due(session: RecapSession, happening: Happening) -> tuple[NewOperation, ...]:
    chat, queue, ctx, index = session.chat, session.queue, session.context, happening.index
    if happening.event is Event.DELETED or chat.at(index) is None:
        return ()
    if happening.event is Event.WRITTEN:
        return triggers.on_message(chat, index, queue, ctx)
    if happening.event is Event.EDITED:
        return triggers.on_edit(chat, index, ctx)
    last = index == len(chat.messages) - 1
    more = triggers.on_message(chat, index, queue, ctx, swiped=True) if last else ()
    own = triggers.on_swipe(chat, index, ctx)
    known = {item.params.get("index") for item in more}
    return (*(item for item in own if item.params.get("index") not in known), *more)


def _followed(chat: RecapChat, before: RecapChat, gone: list[int]) -> RecapChat:
    store, recaps, length = chat.running, before.recaps, len(before.messages)
    for index in sorted(gone, reverse=True):
        store, _ = after_deletion(store, index, length, recaps)
        recaps = tuple(place - (place > index) for place in recaps if place != index)
        length -= 1
    return chat.with_running(store)
