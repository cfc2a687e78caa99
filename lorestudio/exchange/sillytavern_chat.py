"""SillyTavern's chat files: one JSON object a line (spec: deeplore-ai-and-tools 5.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import EMPTY
from lorestudio.domain.javascript import Json
from lorestudio.exchange.problems import InputError


@dataclass(frozen=True, slots=True)
class LoadedChat:
    """A chat, and a sentence for each line that could not be used."""

    chat: Chat
    problems: tuple[str, ...] = ()


def read_message(raw: Mapping[str, Json]) -> Message:
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
    )


def _whole(value: Json) -> int | None:
    """A whole number, however JSON spells it; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if float(value).is_integer() else None


def parse_chat(text: str, source: Path | str) -> LoadedChat:
    """Read the lines of a chat file; the first may be its header, group chats have none.

    Lines that are no JSON object are left out and reported; a record without `mes` counts as an empty message and is
    reported too. Raises InputError when no line can be used.
    """
    header: Mapping[str, Json] = EMPTY
    messages: list[Message] = []
    problems: list[str] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            problems.append(f"Line {number} is no JSON ({error.msg}, column {error.colno}); it was left out.")
            continue
        except RecursionError:
            problems.append(f"Line {number} is nested too deeply; it was left out.")
            continue
        if not isinstance(record, dict):
            problems.append(f"Line {number} is no JSON object; it was left out.")
        elif not messages and not header and _is_header(record):
            header = record
        else:
            if "mes" not in record:
                problems.append(f"Line {number} has no “mes”; it counts as an empty message.")
            messages.append(read_message(record))
    if not header and not any("mes" in message.raw for message in messages):
        seen = f" {problems[0]}" if problems else " The file is empty."
        raise InputError(
            source,
            f"no line is a message or a header.{seen} Open a SillyTavern chat file (.jsonl) or plain text (.txt).",
        )
    metadata = header.get("chat_metadata")
    return LoadedChat(
        Chat(
            messages=tuple(messages),
            user_name=_named(header.get("user_name"), messages, user=True, fallback="User"),
            character_name=_named(header.get("character_name"), messages, user=False, fallback=""),
            metadata=metadata if isinstance(metadata, Mapping) else EMPTY,
            header=header,
        ),
        tuple(problems),
    )


def _is_header(record: Mapping[str, Json]) -> bool:
    return "mes" not in record and any(key in record for key in ("chat_metadata", "user_name", "name"))


def _named(value: Json, messages: list[Message], *, user: bool, fallback: str) -> str:
    """The header's name, or that of the first message of this side."""
    if isinstance(value, str) and value and value != "unused":
        return value
    names = (message.name for message in messages if message.is_user is user and message.name and message.scannable)
    return next(names, fallback)
