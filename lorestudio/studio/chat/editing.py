"""Changing a chat: a chat and what is wanted go in, the changed chat comes out; nothing is written.

Records change as SillyTavern changes them (rules: sillytavern 5.2), so that a chat that was edited here goes
on there. `place` is a message's index in the chat file. Functions raise IndexError for a message or swipe that is not
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import items_in, mapping_in, object_in
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.domain.texts import MONTHS
from lorestudio.exchange.chats import notepad
from lorestudio.exchange.chats.document import METADATA, file_date, message_record

_NARRATOR: Final = "System"
_OF_SWIPE: Final = ("send_date", "gen_started", "gen_finished")
"""What SillyTavern keeps with each swipe besides its `extra`."""


class Voice(StrEnum):
    """As whom a message is written."""

    YOU = "you"
    CHARACTER = "character"
    SYSTEM = "system"
    """A narrator: the model gets it as a system message, and it is not searched for keys."""


class ChatBranch(Struct, frozen=True):
    """A branch: the new chat, the old one with a mark where the branch begins, and the branch's name."""

    branch: Chat
    original: Chat
    name: str


def send_date(now: datetime) -> str:
    """A time as SillyTavern notes it on messages: `September 28, 2024 2:05pm`."""
    half = "am" if now.hour < 12 else "pm"
    return f"{MONTHS[now.month - 1]} {now.day}, {now.year} {now.hour % 12 or 12}:{now.minute:02d}{half}"


def new_message(
    chat: Chat, text: str, voice: Voice, now: datetime, *, name: str = "", extra: Mapping[str, Json] | None = None
) -> Message:
    """A message that is in no chat yet. `name` is the speaker's where it is not the chat's own."""
    noted: dict[str, Json] = {"isSmallSys": False, **(extra or {})}
    if voice is Voice.SYSTEM:
        named = chat.metadata.get("narrator_name")
        name = name or (named if isinstance(named, str) and named else _NARRATOR)
        noted["type"] = "narrator"
    else:
        name = name or (chat.user_name if voice is Voice.YOU else chat.character_name or "Character")
    made = Message(name=name, text=text, is_user=voice is Voice.YOU, extra=noted, send_date=send_date(now))
    return synced(made)


def insert(chat: Chat, place: int, message: Message) -> Chat:
    """The message before the one at `place`; at the end where that is the chat's length."""
    if not 0 <= place <= len(chat.messages):
        raise IndexError(f"The chat has no place {place}.")
    return replace(chat, messages=(*chat.messages[:place], message, *chat.messages[place:]))


def append(chat: Chat, message: Message) -> Chat:
    """The message at the end."""
    return insert(chat, len(chat.messages), message)


def edit(chat: Chat, place: int, text: str, swipe: int | None = None) -> Chat:
    """Another text of a message, or of a swipe that is not the active one.

    What the AI notepad got from the old text goes with it, as in DeepLore.
    """
    message = _message(chat, place)
    if swipe is not None and swipe != message.swipe:
        _check_swipe(message, swipe)
        swipes = (*message.swipes[:swipe], text, *message.swipes[swipe + 1 :])
        return chat.with_message(place, synced(replace(message, swipes=swipes)))
    if text == message.text:
        return chat
    if notepad.notes_of(message):
        message = notepad.with_notes(synced(message), message.text, "")
    swipes = message.swipes
    if message.swipe < len(swipes):
        swipes = (*swipes[: message.swipe], text, *swipes[message.swipe + 1 :])
    return chat.with_message(place, synced(replace(message, text=text, swipes=swipes)))


def delete(chat: Chat, place: int) -> Chat:
    """The chat without a message."""
    _message(chat, place)
    return replace(chat, messages=(*chat.messages[:place], *chat.messages[place + 1 :]))


def hide(chat: Chat, place: int, *, hidden: bool) -> Chat:
    """Keep a message from the model, or show it again."""
    return chat.with_message(place, synced(replace(_message(chat, place), is_system=hidden)))


def add_swipe(chat: Chat, place: int, now: datetime) -> Chat:
    """A new, empty alternative of a message, which becomes the active one; the others keep what belongs to them."""
    message = _message(chat, place)
    swipes = (*(message.swipes or (message.text,)), "")
    info: Json = {"send_date": send_date(now), "extra": {}}
    infos = [*_infos(message, message_record(message)), info]
    return chat.with_message(place, _at(message, len(swipes) - 1, swipes, infos))


def choose_swipe(chat: Chat, place: int, swipe: int) -> Chat:
    """Go on with another swipe of a message."""
    message = _message(chat, place)
    if swipe == message.swipe:
        return chat
    _check_swipe(message, swipe)
    return chat.with_message(place, _at(message, swipe, message.swipes, _infos(message, message_record(message))))


def delete_swipe(chat: Chat, place: int, swipe: int) -> Chat:
    """A message without one of its swipes; where it was the active one, its neighbour is from now on.

    Raises ValueError for the only one: then the message itself is what could be deleted.
    """
    message = _message(chat, place)
    _check_swipe(message, swipe)
    if len(message.swipes) < 2:
        raise ValueError("A message has at least one swipe. Delete the message instead.")
    infos = _infos(message, message_record(message))
    swipes = (*message.swipes[:swipe], *message.swipes[swipe + 1 :])
    rest = [*infos[:swipe], *infos[swipe + 1 :]]
    if swipe == message.swipe:
        return chat.with_message(place, _at(message, min(swipe, len(swipes) - 1), swipes, rest))
    active = message.swipe - (swipe < message.swipe)
    record = {**message_record(message), "swipes": list(swipes), "swipe_id": active, "swipe_info": rest}
    return chat.with_message(place, replace(message, swipes=swipes, swipe_id=active, raw=record))


def branch(chat: Chat, place: int, main_chat: str, now: datetime) -> ChatBranch:
    """The chat up to and with a message, as a chat of its own; `main_chat` is the old file's name, without ending."""
    message = _message(chat, place)
    name = f"Branch #{place} - {file_date(now)}"
    extra = dict(message.extra)
    extra["branches"] = [*items_in(extra.get("branches")), name]
    original = chat.with_message(place, synced(replace(message, extra=extra)))
    metadata = {**chat.metadata, "main_chat": main_chat}
    header = {**chat.header, METADATA: metadata} if chat.header else chat.header
    made = replace(chat, messages=chat.messages[: place + 1], metadata=metadata, header=header)
    return ChatBranch(made, original, name)


def synced(message: Message) -> Message:
    """The message with its record as it would be written; for whoever changes one field by field."""
    return replace(message, raw=message_record(message))


def notes_followed(controls: ChatControls, before: Chat, after: Chat) -> ChatControls:
    """The chat's choices with the AI notepad as swiping and editing leave it.

    DeepLore takes back what a swipe or an old text has noted; deleting a message takes nothing back.
    """
    if len(before.messages) != len(after.messages):
        return controls
    text = controls.notepad
    for old, new in zip(before.messages, after.messages, strict=True):
        if old is not new and notepad.notes_of(old) != notepad.notes_of(new):
            text = notepad.added(notepad.withdrawn(text, notepad.notes_of(old)), notepad.notes_of(new))
    return controls if text == controls.notepad else replace(controls, notepad=text)


def _message(chat: Chat, place: int) -> Message:
    if not 0 <= place < len(chat.messages):
        raise IndexError(f"The chat has no message #{place}.")
    return chat.messages[place]


def _check_swipe(message: Message, swipe: int) -> None:
    if not 0 <= swipe < len(message.swipes):
        raise IndexError(f"The message has {len(message.swipes)} swipes, so there is no number {swipe + 1}.")


def _infos(message: Message, record: Mapping[str, Json]) -> list[Json]:
    """What is kept with each swipe, with the active one's as the message has it now."""
    stored = record.get("swipe_info")
    infos: list[Json] = list(stored) if isinstance(stored, list) else []
    infos = [each if isinstance(each, Mapping) else {} for each in infos[: max(1, len(message.swipes))]]
    infos += [{} for _ in range(max(1, len(message.swipes)) - len(infos))]
    if message.swipe < len(infos):
        known = infos[message.swipe]
        mine = {name: record[name] for name in _OF_SWIPE if name in record}
        infos[message.swipe] = {**(known if isinstance(known, Mapping) else {}), **mine, "extra": message.extra}
    return infos


def _at(message: Message, swipe: int, swipes: tuple[str, ...], infos: list[Json]) -> Message:
    """The message with these swipes, one of them active."""
    info = mapping_in(infos[swipe])
    noted: Mapping[str, Json] = object_in(info, "extra")
    record = dict(message_record(message))
    for name in _OF_SWIPE:
        if name in info:
            record[name] = info[name]
        elif name != "send_date":
            record.pop(name, None)
    record |= {
        "mes": swipes[swipe], "extra": noted, "swipes": list(swipes), "swipe_id": swipe, "swipe_info": infos,
    }  # fmt: skip
    date = record.get("send_date")
    date = "" if date is None else str(date)
    return replace(message, text=swipes[swipe], swipes=swipes, swipe_id=swipe, extra=noted, send_date=date, raw=record)
