"""Chats from plain text: `Name: text` begins a message, other lines go on with it."""

from __future__ import annotations

import re
from pathlib import Path

from lorestudio.domain.chat import Chat, Message
from lorestudio.exchange.problems import InputError

_SPEAKER = re.compile(r"^(?P<name>[^\s:][^:\n]{0,39}):(?:\s+|$)(?P<text>.*)$")
_USER_NAMES = frozenset({"user", "you", "me", "human"})


def parse_plain_text(text: str, source: Path | str, user_name: str = "") -> Chat:
    """Read a chat from text. The person is `user_name`, or a speaker called User, You or Me, or else the first one.

    A text without any speaker is one message of the user's. Raises InputError for a text with nothing in it.
    """
    spoken: list[tuple[str, list[str]]] = []
    for line in text.removeprefix("\ufeff").splitlines():
        match = _SPEAKER.match(line)
        if match:
            spoken.append((match["name"].strip(), [match["text"]]))
        elif spoken:
            spoken[-1][1].append(line)
        elif line.strip():
            spoken.append(("", [line]))
    if not spoken:
        raise InputError(source, "the file has no text. Write one message a line, as in “Name: what they say”.")
    names = list(dict.fromkeys(name for name, _ in spoken if name))
    person = user_name or next((name for name in names if name.lower() in _USER_NAMES), names[0] if names else "User")
    messages = tuple(
        Message(name=name or person, text="\n".join(lines).strip(), is_user=(name or person) == person)
        for name, lines in spoken
    )
    character = next((name for name in names if name != person), "")
    return Chat(messages=messages, user_name=person, character_name=character)
