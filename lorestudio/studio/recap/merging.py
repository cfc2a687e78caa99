"""An open chat after its file was written by recap memory: its recaps come in, and what is not saved yet stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Final

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.javascript import Json
from lorestudio.exchange.chat_records import message_record, read_message
from lorestudio.memory.recap.records import NAMESPACE, OLD_NAMESPACE
from lorestudio.studio.recap.chat_file import OURS, grafted

_READ: Final = tuple(each.name for each in fields(Message) if each.compare and each.name != "extra")


def with_recaps(chat: Chat, before: Chat, after: Chat) -> Chat:
    """`chat`, which went on from `before`, with what recap memory wrote since; `after` is the file as it is now.

    Messages that nobody has changed are those of the file. A changed one keeps its text and gets the recap, where the
    chat has as many messages as the file; else it keeps the recap that it has.
    """
    if chat is before:
        return after
    old, new, mine = before.messages, after.messages, chat.messages
    if len(old) != len(new):
        return chat  # somebody else has written, too; saving the chat will say so
    head = _alike(old, mine)
    tail = _alike(old[head:][::-1], mine[head:][::-1])
    moved = _moved(old, new)
    middle = mine[head : len(mine) - tail]
    if len(old) == len(mine):
        pairs = zip(middle, old[head:], new[head:], strict=False)
        changed = tuple(_with_recap(message, was, now, moved) for message, was, now in pairs)
    else:
        changed = tuple(_shifted(message, moved) for message in middle)
    messages = (*new[:head], *changed, *new[len(new) - tail :])
    metadata = {key: value for key, value in chat.metadata.items() if key not in OURS}
    metadata |= {key: after.metadata[key] for key in OURS if key in after.metadata}
    return replace(chat, messages=messages, metadata=metadata, header=after.header)


def alters_runs(before: Chat, after: Chat) -> bool:
    """Whether runs over the chats may differ: anything but recaps has changed, such as who is hidden."""
    if len(before.messages) != len(after.messages):
        return True
    pairs = zip(before.messages, after.messages, strict=True)
    return not all(one is other or _alike_but_recaps(one, other) for one, other in pairs)


def _alike(old: Sequence[Message], mine: Sequence[Message]) -> int:
    """How many messages at the start are the same."""
    count = 0
    for one, other in zip(old, mine, strict=False):
        if one is not other and one != other:
            break
        count += 1
    return count


def _moved(old: Sequence[Message], new: Sequence[Message]) -> int:
    """By how many lines the messages moved in the file, as when it got a first line."""
    places = ((one.line, other.line) for one, other in zip(old, new, strict=False))
    return next((now - was for was, now in places if was is not None and now is not None), 0)


def _shifted(message: Message, moved: int) -> Message:
    return message if message.line is None or not moved else replace(message, line=message.line + moved)


def _with_recap(message: Message, was: Message, now: Message, moved: int) -> Message:
    """A changed message with the recap of the file; it is hidden as the person left it, where that was changed."""
    made = read_message(grafted(message_record(message), now.raw), None if message.line is None else now.line)
    hidden = message.is_system if message.is_system != was.is_system else now.is_system
    return replace(_shifted(message, moved), extra=made.extra, raw=made.raw, line=made.line, is_system=hidden)


def _alike_but_recaps(one: Message, other: Message) -> bool:
    same = all(getattr(one, name) == getattr(other, name) for name in _READ)
    return same and (one.extra is other.extra or _others(one.extra) == _others(other.extra))


def _others(extra: Mapping[str, Json]) -> Mapping[str, Json]:
    return {key: value for key, value in extra.items() if key not in (NAMESPACE, OLD_NAMESPACE)}
