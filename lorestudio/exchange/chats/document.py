"""A chat file as it is written: every line, what SillyTavern's records say, and how a changed chat goes back into it.

What was not changed is written byte for byte as it was read, lines that cannot be read included; of a line that was
changed, the fields that are the same keep their spelling (see `exchange.json_file`). The version that is about to be
overwritten is kept. SillyTavern has written dates in several ways (rules: sillytavern 5.2); those that say no time zone
count as UTC, so that they read the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import EMPTY
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import whole_in
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.texts import text_digest
from lorestudio.exchange.json_file import changed_text, same_value, spell_record
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import real_path, write_atomically
from lorestudio.vault.files import LOOK_THERE, refused
from lorestudio.vault.writer import digest_of

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
        swipe_id=whole_in(swipe),
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


BOM: Final = "\ufeff"


class ChatFormat(StrEnum):
    """The kinds of chat files."""

    SILLYTAVERN = "sillytavern"
    PLAIN_TEXT = "plain text"


_LINE_ENDS: Final = {ChatFormat.SILLYTAVERN: ("\n",), ChatFormat.PLAIN_TEXT: ("\n", "\r")}


class LineKind(StrEnum):
    """What a line of a chat file is."""

    HEADER = "header"
    MESSAGE = "message"
    BROKEN = "broken"
    """It cannot be read as a message; it stays where it is."""
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A line with its line end, or in plain text all the lines of a message. `number` counts from 1; pieces of a line
    with zeros in it have the same.

    `problem` says what is wrong with a broken one, `record` is what a message or header was read as.
    """

    number: int
    text: str = field(repr=False)
    kind: LineKind
    problem: str = ""
    record: Mapping[str, Json] | None = field(default=None, repr=False, compare=False)


class BrokenLine(Struct, frozen=True):
    """A line that could not be read, and the index of the message that it stands before in the chat of now."""

    before: int
    line: ChatLine


class ChatDocument(Terse, frozen=True):
    """The lines of a chat file in order; together they are the file.

    `digest` is the SHA-256 of the file's bytes, "" for a chat that was never in a file.
    """

    unprinted = ("lines",)

    format: ChatFormat = ChatFormat.SILLYTAVERN
    lines: tuple[ChatLine, ...] = ()
    bom: bool = False
    digest: str = ""

    @property
    def newline(self) -> str:
        """The line end that new lines get: that of most lines."""
        crlf = sum(line.text.endswith("\r\n") for line in self.lines)
        ends = sum(line.text.endswith("\n") for line in self.lines)
        return "\r\n" if crlf * 2 > ends else "\n"

    @property
    def ends_with_newline(self) -> bool:
        """Whether the last line has a line end; SillyTavern writes none."""
        return bool(self.lines) and self.lines[-1].text.endswith(_LINE_ENDS[self.format])

    def broken_lines(self, chat: Chat) -> tuple[BrokenLine, ...]:
        """The lines that cannot be read, and where each stands in the chat as it is now."""
        found: list[BrokenLine] = []
        for before, line in self._arranged(chat):
            if isinstance(line, ChatLine) and line.kind is LineKind.BROKEN:
                found.append(BrokenLine(before, line))
        return tuple(found)

    def text_for(self, chat: Chat) -> str:
        """The text of the file with this chat in it. Raises ValueError where something cannot be spelled."""
        spelled = _spell_line if self.format is ChatFormat.SILLYTAVERN else _spell_text
        newline = self.newline
        pieces: list[tuple[str, int]] = []
        for _before, item in self._arranged(chat):
            if isinstance(item, ChatLine):
                header = item.kind is LineKind.HEADER and self.format is ChatFormat.SILLYTAVERN
                pieces.append((_header_text(item, chat) if header else item.text, item.number))
                continue
            old = self.lines[item.line] if item.line is not None else None
            pieces.append((spelled(item, old, newline), old.number if old is not None else 0))
        ends = _LINE_ENDS[self.format]
        return (BOM if self.bom else "") + _joined(pieces, newline, ends, final=self.ends_with_newline)

    def until(self, chat: Chat, count: int) -> ChatDocument:
        """The document for a chat that begins like this one and ends after `count` messages, in a file of its own."""
        lines = {message.line for message in chat.messages[count:]}
        first = next((place for place in range(len(self.lines)) if place in lines), len(self.lines))
        kept = self.lines[:first]
        if kept and not self.ends_with_newline:
            last = replace(kept[-1], text=kept[-1].text.removesuffix("\n").removesuffix("\r"))
            kept = (*kept[:-1], last)
        return replace(self, lines=kept, digest="")

    def _arranged(self, chat: Chat) -> Iterator[tuple[int, ChatLine | Message]]:
        """The lines that are no messages and the messages, in the order they are written in.

        Each with the index of the message that comes next. A line that is no message stays behind the message that it
        followed, or behind the one before where that is gone. A message that stands twice is new the second time.
        """
        places = [place for place, line in enumerate(self.lines) if line.kind is LineKind.MESSAGE]
        first = places[0] if places else len(self.lines)
        kept = {message.line for message in chat.messages}
        followers: dict[int, list[ChatLine]] = {-1: list(self.lines[:first])}
        owner = -1
        for place, line in enumerate(self.lines[first:], first):
            if line.kind is not LineKind.MESSAGE:
                followers[owner].append(line)
            elif place in kept:
                owner = place
                followers[owner] = []
        for line in followers.pop(-1):
            yield 0, line
        for index, message in enumerate(chat.messages):
            if message.line is not None and message.line in followers:
                yield index, message
                for line in followers.pop(message.line):
                    yield index + 1, line
            else:
                yield index, replace(message, line=None)


def _joined(pieces: Sequence[tuple[str, int]], newline: str, ends: tuple[str, ...], *, final: bool) -> str:
    """The pieces with a line end between any two; the last one has one where `final` says so.

    Each comes with the number of the line that it was read from, 0 for none: pieces of one line, which end with zeros,
    stay together.
    `ends` are the characters that end a line in this kind of file.
    """
    if not pieces:
        return ""
    ended = [
        piece if piece.endswith(ends) or (piece.endswith("\0") and 0 < number == following) else piece + newline
        for (piece, number), (_, following) in pairwise(pieces)
    ]
    last = pieces[-1][0]
    if final and not last.endswith(ends):
        last += newline
    elif not final and last.endswith(ends):
        last = last.removesuffix("\r") if last.endswith("\r") else last.removesuffix("\n").removesuffix("\r")
    return "".join(ended) + last


def _header_text(line: ChatLine, chat: Chat) -> str:
    record = header_record(chat, line.record or {})
    return line.text if record is line.record else rewritten(line.text, record)


def _spell_line(message: Message, old: ChatLine | None, _newline: str) -> str:
    record = message_record(message)
    if old is None:
        return spell_record(record)
    return old.text if record is old.record else rewritten(old.text, record)


def rewritten(text: str, record: Mapping[str, Json]) -> str:
    """The line with another record; its line end, and what white space and zeros are around it, stay."""
    body = text.strip(" \t\r\n\0")
    start = text.index(body)
    return text[:start] + changed_text(body, record) + text[start + len(body) :]


def _spell_text(message: Message, old: ChatLine | None, newline: str) -> str:
    """A message of a plain text: its lines as they were, or `Name: text` with the blank lines that followed."""
    record = message_record(message)
    if old is not None and old.record is not None and same_value(record, old.record):
        return old.text
    text = f"{message.name or ''}: {message.text}".replace("\r\n", "\n").replace("\n", newline)
    after = old.text[len(old.text.rstrip("\r\n")) :] if old is not None else newline
    return text + after


def keep_version(data: bytes, path: Path, folder: Path | None, now: datetime, *, foreign: bool = False) -> Path | None:
    """Keep `data`, which is what the file at `path` holds; where it is then, None where nothing had to be kept.

    Kept are the first version of each file, and any that is `foreign`: written by others since it was read. Without a
    `folder` none is. Raises InputError where it cannot be kept.
    """
    if folder is None:
        return None
    key = text_digest(str(real_path(path)))[:12]
    own = folder / f"{path.stem[:60]}-{key}"
    if not foreign and own.is_dir() and any(not each.name.startswith(".") for each in own.iterdir()):  # no half ones
        return None
    target = own / f"{file_date(now)}-{digest_of(data)[:8]}{path.suffix}"
    unkept = f"nothing was saved, because the version that is there could not be kept in “{own}” ({{reason}})."
    with refused(partial(InputError, path), f"{unkept} {LOOK_THERE}"):
        write_atomically(target, data, private=True)
    return target


def file_date(now: datetime) -> str:
    """A time as SillyTavern has it in names of files: `2024-09-28@14h05m09s`."""
    return f"{now.year}-{now.month:02d}-{now.day:02d}@{now.hour:02d}h{now.minute:02d}m{now.second:02d}s"
