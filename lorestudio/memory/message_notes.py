"""The notes that a message contributed to the AI notepad, kept with each of its swipes so that they can be taken back.

They are in `extra`, and a chat file has a copy of each swipe's `extra` in `swipe_info`
(spec: deeplore-ai-and-tools 4.8, 5.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from lorestudio.domain.chat import Message
from lorestudio.domain.javascript import Json, to_number

MESSAGE_KEY: Final = "deeplore_ai_notes"


def notes_of(message: Message) -> str:
    """The notes that the active swipe of a message contributed, empty where there are none."""
    notes = _extra_at(message, message.swipe).get(MESSAGE_KEY)
    return notes if isinstance(notes, str) else ""


def with_notes(message: Message, text: str, notes: str) -> Message:
    """The message with another visible text and its own notes, in every place where its record keeps them.

    `raw` changes along, so that the notes of each swipe are there when the chat is written.
    """
    extra = {key: value for key, value in _extra_at(message, message.swipe).items() if key != MESSAGE_KEY}
    if notes:
        extra[MESSAGE_KEY] = notes
    return _rewritten(message, message.swipe, text, extra)


def turned(message: Message, swipe: int) -> Message:
    """The message with another swipe active, and what belongs to that swipe in `extra`.

    Raises IndexError for a swipe that the message does not have.
    """
    if not 0 <= swipe < len(message.swipes):
        text = f"The message has {len(message.swipes)} swipes, so there is no number {swipe + 1}."
        raise IndexError(text)
    return _rewritten(message, swipe, message.swipes[swipe], dict(_extra_at(message, swipe)))


def _stored_swipe(message: Message) -> int:
    """The swipe that `extra` belongs to: the one that was active in the record."""
    if not message.raw:
        return message.swipe
    stored = message.raw.get("swipe_id")
    whole = isinstance(stored, int | float) and not isinstance(stored, bool) and float(stored).is_integer()
    return int(to_number(stored)) if whole else 0


def _extra_at(message: Message, swipe: int) -> Mapping[str, Json]:
    """The `extra` of one swipe; that of the stored one is the message's, the others are in `swipe_info`."""
    if not message.swipes or swipe == _stored_swipe(message):
        return message.extra
    infos = message.raw.get("swipe_info")
    info = infos[swipe] if isinstance(infos, list | tuple) and 0 <= swipe < len(infos) else None
    extra = info.get("extra") if isinstance(info, Mapping) else None
    return extra if isinstance(extra, Mapping) else {}


def _rewritten(message: Message, swipe: int, text: str, extra: Mapping[str, Json]) -> Message:
    """Text and `extra` of one swipe, which becomes the active one; the others keep theirs."""
    raw: dict[str, Json] = {**message.raw, "mes": text, "extra": extra}
    if not 0 <= swipe < len(message.swipes):
        return replace(message, text=text, extra=extra, raw=raw if message.raw else message.raw)
    swipes = (*message.swipes[:swipe], text, *message.swipes[swipe + 1 :])
    infos = message.raw.get("swipe_info")
    given = list(infos) if isinstance(infos, list | tuple) else []
    padded: list[Json] = [*given, *({} for _ in range(len(swipes) - len(given)))]
    stored = _stored_swipe(message)
    if stored != swipe and 0 <= stored < len(padded):
        padded[stored] = _with_extra(padded[stored], message.extra)
    padded[swipe] = _with_extra(padded[swipe], extra)
    raw |= {"swipes": list(swipes), "swipe_id": swipe, "swipe_info": padded}
    return replace(message, text=text, extra=extra, swipes=swipes, swipe_id=swipe, raw=raw)


def _with_extra(info: Json, extra: Mapping[str, Json]) -> Json:
    return {**(info if isinstance(info, Mapping) else {}), "extra": extra}
