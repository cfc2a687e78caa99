"""SillyTavern's chat files: one JSON object a line (rules: sillytavern 5.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import field

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import EMPTY
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import parse_json
from lorestudio.domain.records import Terse
from lorestudio.exchange.chats.document import BOM, METADATA, ChatDocument, ChatLine, LineKind, read_message
from lorestudio.exchange.problems import InputError

_BAD_BYTE: Final = re.compile("[\udc80-\udcff]")
_PIECE: Final = re.compile(r"(?:[^\0]+\0*|\0+)\r?\n?")


class LoadedChat(Terse, frozen=True):
    """A chat, a sentence for each line that could not be used, and the file's lines to write it back into."""

    unprinted = ("document",)

    chat: Chat
    problems: tuple[str, ...] = ()
    document: ChatDocument = field(default_factory=ChatDocument)


def parse_chat(text: str, source: Path | str) -> LoadedChat:
    """Read the lines of a chat file; the first may be its header, group chats have none.

    Lines that are no JSON object are reported, and stay in the document; a record without `mes` counts as an empty
    message and is reported too. Bytes that are no UTF-8 are expected as the halves that `surrogateescape` makes of
    them. Raises InputError when no line can be used.
    """
    header: Mapping[str, Json] = EMPTY
    messages: list[Message] = []
    problems: list[str] = []
    lines: list[ChatLine] = []
    for number, line in _pieces(text.removeprefix(BOM), problems):
        record, problem = _read_line(line.removesuffix("\n"))
        kind = LineKind.MESSAGE
        if problem:
            told = any(each.startswith(f"Line {number} ") for each in problems[-1:])
            if line.strip("\r\n\0") or not told:
                problems.append(f"Line {number} {problem}; it was left out and stays in the file.")
            kind = LineKind.BROKEN
        elif record is None:
            kind = LineKind.BLANK
        elif not messages and not header and is_header(record):
            header = record
            kind = LineKind.HEADER
        else:
            if "mes" not in record:
                problems.append(f"Line {number} has no “mes”; it counts as an empty message.")
            messages.append(read_message(record, len(lines)))
        lines.append(ChatLine(number, line, kind, problem, record))
    if not header and not any("mes" in message.raw for message in messages):
        seen = f" {problems[0]}" if problems else " The file is empty."
        raise InputError(
            source,
            f"no line is a message or a header.{seen} Open a SillyTavern chat file (.jsonl) or plain text (.txt).",
        )
    metadata = header.get(METADATA)
    return LoadedChat(
        Chat(
            messages=tuple(messages),
            user_name=_named(header.get("user_name"), messages, user=True, fallback="User"),
            character_name=_named(header.get("character_name"), messages, user=False, fallback=""),
            metadata=metadata if isinstance(metadata, Mapping) else EMPTY,
            header=header,
        ),
        tuple(problems),
        ChatDocument(lines=tuple(lines), bom=text.startswith(BOM)),
    )


def _lines(text: str) -> list[str]:
    """The lines with their line ends; only line feeds end one."""
    pieces = text.split("\n")
    lines = [piece + "\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def _pieces(text: str, problems: list[str]) -> Iterator[tuple[int, str]]:
    """The lines and their numbers. A crash leaves zeros for what was not written yet, and what is written next follows
    them at once: such a line comes in pieces, which end with their zeros, and that is told.
    """
    for number, line in enumerate(_lines(text), start=1):
        pieces = _PIECE.findall(line) if "\0" in line else []
        if any(_read_line(piece)[0] is not None for piece in pieces):
            problems.append(
                f"Line {number} has zeros in it, as a crash leaves them. What stands beside them was read; SillyTavern "
                "leaves it out. Take the zeros out of the file, and give each message a line of its own."
            )
            yield from ((number, piece) for piece in pieces)
        else:
            yield number, line


def _read_line(line: str) -> tuple[Mapping[str, Json] | None, str]:
    """The record in a line, None for a blank one, and what is wrong with the line, "" where nothing is."""
    if "\0" in line and line.strip(" \t\r\n\0"):
        line = line.rstrip("\r\n\0")
    if not line.strip():
        return None, ""
    if _BAD_BYTE.search(line):
        return None, "is not UTF-8 text"
    try:
        record = parse_json(line)
    except json.JSONDecodeError as error:
        return None, f"is no JSON ({error.msg}, column {error.colno})"
    return (record, "") if isinstance(record, dict) else (None, "is no JSON object")


def is_header(record: Mapping[str, Json]) -> bool:
    """Whether a record that stands first is the chat's header."""
    return "mes" not in record and any(key in record for key in (METADATA, "user_name", "name"))


def _named(value: Json, messages: list[Message], *, user: bool, fallback: str) -> str:
    """The header's name, or that of the first message of this side."""
    if isinstance(value, str) and value and value != "unused":
        return value
    names = (message.name for message in messages if message.is_user is user and message.name and message.is_story)
    return next(names, fallback)
