"""Messages, their dates and headers as the records of a SillyTavern chat file (rules: sillytavern 5.2).

SillyTavern has written dates in several ways; those that say no time zone count as UTC, so that they read the same
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import EMPTY
from lorestudio.domain.javascript import Json
from lorestudio.exchange.json_spelling import same_value

METADATA: Final = "chat_metadata"


def read_message(raw: Mapping[str, Json], line: int | None = None) -> Message:
    """One message record; fields of an unexpected shape count as missing."""
    name, text, swipe, extra, swipes = (raw.get(key) for key in ("name", "mes", "swipe_id", "extra", "swipes"))
    send_date = raw.get("send_date")
    return Message(
        name=name if isinstance(name, str) else None,
        text=text if isinstance(text, str) else "",
        is_user=bool(raw.get("is_user")),
        is_system=bool(raw.get("is_system")),
        is_thoughts=bool(raw.get("is_thoughts")),
        swipe_id=_whole(swipe),
        swipes=tuple(item if isinstance(item, str) else "" for item in swipes) if isinstance(swipes, list) else (),
        extra=extra if isinstance(extra, Mapping) else EMPTY,
        send_date="" if send_date is None else str(send_date),
        raw=raw,
        line=line,
    )


def message_record(message: Message) -> Mapping[str, Json]:
    """The record of a message: its `raw` with the fields that say something else by now.

    What a field of an unexpected shape held stays while nobody has changed what it stands for.
    """
    raw = message.raw
    seen = read_message(raw) if raw or message.line is not None else None
    if seen is not None and seen == message and same_value(seen.extra, message.extra):
        return raw
    fields = _fields(message)
    if not message.is_thoughts and not (seen is not None and seen.is_thoughts):
        del fields["is_thoughts"]
    if not message.swipes and not (seen is not None and seen.swipes):
        del fields["swipes"], fields["swipe_id"]
    if seen is None:
        return {key: value for key, value in fields.items() if value is not None}
    as_read = _fields(seen)
    return {**raw, **{key: value for key, value in fields.items() if not same_value(value, as_read[key])}}


def _fields(message: Message) -> dict[str, Json]:
    """Everything that a record holds of a message, in SillyTavern's order."""
    return {
        "name": message.name,
        "is_user": message.is_user,
        "is_system": message.is_system,
        "send_date": message.send_date,
        "mes": message.text,
        "extra": message.extra,
        "is_thoughts": message.is_thoughts,
        "swipes": list(message.swipes),
        "swipe_id": message.swipe_id,
    }


def header_record(chat: Chat, there: Mapping[str, Json] = EMPTY) -> Mapping[str, Json]:
    """The record of a chat's header with its metadata as they are now.

    `there` is the header of the file, for a chat that got it only when it was saved; without any it is empty.
    """
    header = chat.header or there
    if not header:
        return EMPTY
    stored = header.get(METADATA)
    if same_value(stored if isinstance(stored, Mapping) else EMPTY, chat.metadata):
        return header
    return {**header, METADATA: chat.metadata}


def new_header(chat: Chat, created: str) -> Mapping[str, Json]:
    """The header of a chat that has none yet; `created` is the date as SillyTavern writes it."""
    return {
        "user_name": chat.user_name,
        "character_name": chat.character_name,
        "create_date": created,
        METADATA: chat.metadata,
    }


def _whole(value: Json) -> int | None:
    """A whole number, however JSON spells it; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if float(value).is_integer() else None


_HUMANIZED: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(\d{1,2})s(?:\s*(\d{1,3})ms)?"
)
_LONG: Final = re.compile(r"([A-Za-z]+) (\d{1,2}), (\d{4}) (\d{1,2}):(\d{2})\s*([ap]m)?", re.IGNORECASE)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SECONDS_END: Final = 100_000_000_000


def sent_at(text: str) -> int | None:
    """Milliseconds since the epoch, None for a date that cannot be read."""
    text = text.strip()
    try:
        return _number(text) if text.isdigit() else _written(text)
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> int:
    value = int(text)
    moment = value * 1000 if value < _SECONDS_END else value
    datetime.fromtimestamp(moment / 1000, UTC)  # refuses what is no date
    return moment


def _written(text: str) -> int | None:
    found = _HUMANIZED.match(text)
    if found is not None:
        year, month, day, hour, minute, second, rest = (int(part or 0) for part in found.groups())
        return _ms(datetime(year, month, day, hour, minute, second, rest * 1000, UTC))
    found = _LONG.match(text)
    if found is not None and found[1][:3].lower() in _MONTHS:
        hour = int(found[4])
        if found[6]:
            hour = hour % 12 + 12 * (found[6].lower() == "pm")
        month = _MONTHS.index(found[1][:3].lower()) + 1
        return _ms(datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), tzinfo=UTC))
    read = datetime.fromisoformat(text) if text else None
    return None if read is None else _ms(read if read.tzinfo else read.replace(tzinfo=UTC))


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
