"""A chat file as it is written: every line of it, and how the chat goes back into them.

What was not changed is written byte for byte as it was read, lines that cannot be read included; of a line that was
changed, the fields that are the same keep their spelling (see `json_spelling`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.records import header_record, message_record
from lorestudio.exchange.json_spelling import changed_text, same_value, spell_record

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
    """A line with its line end, or in plain text all the lines of a message. `number` counts from 1.

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


@dataclass(frozen=True, slots=True)
class ChatDocument:
    """The lines of a chat file in order; together they are the file.

    `digest` is the SHA-256 of the file's bytes, "" for a chat that was never in a file.
    """

    format: ChatFormat = ChatFormat.SILLYTAVERN
    lines: tuple[ChatLine, ...] = field(default=(), repr=False)
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
        pieces: list[str] = []
        for _before, item in self._arranged(chat):
            if isinstance(item, ChatLine):
                if item.kind is LineKind.HEADER and self.format is ChatFormat.SILLYTAVERN:
                    pieces.append(_header_text(item, chat))
                else:
                    pieces.append(item.text)
                continue
            old = self.lines[item.line] if item.line is not None else None
            pieces.append(spelled(item, old, newline))
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


def _joined(pieces: Sequence[str], newline: str, ends: tuple[str, ...], *, final: bool) -> str:
    """The pieces with a line end between any two; the last one has one where `final` says so.

    `ends` are the characters that end a line in this kind of file.
    """
    if not pieces:
        return ""
    ended = [piece if piece.endswith(ends) else piece + newline for piece in pieces[:-1]]
    last = pieces[-1]
    if final and not last.endswith(ends):
        last += newline
    elif not final and last.endswith(ends):
        last = last.removesuffix("\r") if last.endswith("\r") else last.removesuffix("\n").removesuffix("\r")
    return "".join(ended) + last


def _header_text(line: ChatLine, chat: Chat) -> str:
    record = header_record(chat, line.record or {})
    return line.text if record is line.record else _rewritten(line.text, lambda text: changed_text(text, record))


def _spell_line(message: Message, old: ChatLine | None, _newline: str) -> str:
    record = message_record(message)
    if old is None:
        return spell_record(record)
    return old.text if record is old.record else _rewritten(old.text, lambda line: changed_text(line, record))


def _rewritten(text: str, change: Callable[[str], str]) -> str:
    """The line with another record; its line end and what white space is around it stay."""
    body = text.strip(" \t\r\n")
    start = text.index(body)
    return text[:start] + change(body) + text[start + len(body) :]


def _spell_text(message: Message, old: ChatLine | None, newline: str) -> str:
    """A message of a plain text: its lines as they were, or `Name: text` with the blank lines that followed."""
    record = message_record(message)
    if old is not None and old.record is not None and same_value(record, old.record):
        return old.text
    text = f"{message.name or ''}: {message.text}".replace("\r\n", "\n").replace("\n", newline)
    after = old.text[len(old.text.rstrip("\r\n")) :] if old is not None else newline
    return text + after
