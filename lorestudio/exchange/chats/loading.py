"""Opening a chat file, whatever its kind; and chats from plain text: `Name: text` begins a message, other lines go
on with it.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Final

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.document import BOM, ChatDocument, ChatFormat, ChatLine, LineKind, read_message
from lorestudio.exchange.chats.sillytavern import LoadedChat, parse_chat
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import read_whole
from lorestudio.trace.wording import plural
from lorestudio.vault.files import refused
from lorestudio.vault.writer import digest_of

_SPEAKER = re.compile(r"^(?P<name>[^\s:][^:\n]{0,39}):(?:\s+|$)(?P<text>.*)$", re.DOTALL)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_USER_NAMES = frozenset({"user", "you", "me", "human"})

AT_MOST: Final = 64 * 1024 * 1024
"""So many bytes may a chat have: 13,000 messages of five swipes; reading it takes five times its room."""

MOST_LINES: Final = 200_000
"""So many lines may it have: however short they are, 200,000 of them take two seconds and 170 MB."""


def read_plain_text(text: str, source: Path | str, user_name: str = "") -> LoadedChat:
    """A chat from text. The person is `user_name`, or a speaker called User, You or Me, or else the first one.

    A text without any speaker is one message of the user's. Raises InputError for a text with nothing in it.
    """
    lines: list[ChatLine] = []
    spoken: list[tuple[str, list[str], int, list[str]]] = []
    for number, whole in enumerate(_LINE.findall(text.removeprefix(BOM)), start=1):
        line = whole.rstrip("\r\n")
        match = _SPEAKER.match(line)
        if match or (not spoken and line.strip()):
            name, said = (match["name"].strip(), match["text"]) if match else ("", line)
            spoken.append((name, [said], len(lines), [whole]))
            lines.append(ChatLine(number, whole, LineKind.MESSAGE))
        elif spoken:
            spoken[-1][1].append(line)
            spoken[-1][3].append(whole)
        else:
            lines.append(ChatLine(number, whole, LineKind.BLANK))
    if not spoken:
        raise InputError(source, "the file has no text. Write one message a line, as in “Name: what they say”.")
    names = list(dict.fromkeys(name for name, *_ in spoken if name))
    person = user_name or next((name for name in names if name.lower() in _USER_NAMES), names[0] if names else "User")
    messages = tuple(_message(name or person, "\n".join(said).strip(), person, line) for name, said, line, _ in spoken)
    for message, (_, _, place, wholes) in zip(messages, spoken, strict=True):
        lines[place] = replace(lines[place], text="".join(wholes), record=message.raw)
    character = next((name for name in names if name != person), "")
    chat = Chat(messages=messages, user_name=person, character_name=character)
    return LoadedChat(chat, (), ChatDocument(ChatFormat.PLAIN_TEXT, tuple(lines), bom=text.startswith(BOM)))


def lost_as_text(chat: Chat, text: str) -> tuple[str, ...]:
    """Sentences on what plain text cannot hold of a chat that was written as `text`."""
    lost: list[str] = []
    swipes = sum(len(message.swipes) > 1 for message in chat.messages)
    hidden = sum(message.is_system for message in chat.messages)
    if swipes:
        lost.append(f"The other swipes of {plural(swipes, '# message|# messages')} are not kept.")
    if hidden:
        lost.append(f"{plural(hidden, '# hidden message|# hidden messages')} would be shown to the model again.")
    if any(message.extra for message in chat.messages):
        lost.append("What other programs noted beside the messages is not kept.")
    if chat.metadata:
        lost.append("Pins, blocks, context and notes of the chat are not kept.")
    if not chat.messages:
        return (*lost, "A chat without messages cannot be opened again as plain text.")
    again = read_plain_text(text, "chat", chat.user_name).chat.messages if text.strip() else ()
    wanted = [(message.name or "", message.text) for message in chat.messages]
    if [(message.name or "", message.text) for message in again] != wanted:
        lost.append(
            "A line that looks like “Name: text” would begin a message of its own, and blanks at ends are lost."
        )
    return tuple(lost)


def _message(name: str, text: str, person: str, line: int) -> Message:
    record: dict[str, Json] = {
        "name": name,
        "is_user": name == person,
        "is_system": False,
        "send_date": "",
        "mes": text,
        "extra": {},
    }
    return read_message(record, line)


def chat_of_text(text: str, source: Path | str) -> LoadedChat:
    """A chat from its text: SillyTavern's lines of JSON where it begins so, else plain text. Raises InputError."""
    lines = text.removeprefix("\ufeff").lstrip().startswith("{")
    return parse_chat(text, source) if lines else read_plain_text(text, source)


def load_chat(path: Path) -> LoadedChat:
    """Read a SillyTavern chat (JSON lines) or plain text: by the file's ending, else by how its text begins.

    Raises InputError naming the file, and the line where its text is no UTF-8; in a `.jsonl` that line is broken, and
    the others are read.
    """
    with refused(partial(InputError, path), "the chat cannot be read: {reason}."):
        data = read_whole(path, AT_MOST)
    return chat_in(data, path)


def chat_in(data: bytes, path: Path) -> LoadedChat:
    """The chat in the bytes of a file, as `load_chat`. Raises InputError."""
    if max(map(data.count, (b"\n", b"\r"))) > MOST_LINES:
        raise InputError(path, f"the chat cannot be read: it has more than {MOST_LINES:,} lines. Give a part of it.")
    jsonl = path.suffix.lower() == ".jsonl"
    begun = data.removeprefix(BOM.encode()).lstrip(b" \t\r\n\0")  # a crash leaves zeros
    lines = jsonl and begun.startswith(b'{"')
    if b"\0" in data and not lines:
        raise InputError(path, "this is no text. Open a SillyTavern chat file (.jsonl) or plain text (.txt).")
    try:
        # In lines of JSON a bad byte spoils its own line only.
        text = data.decode("utf-8", "surrogateescape" if jsonl else "strict")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {error.start} of the file is not UTF-8. Save the chat as UTF-8 and open it again."
        raise InputError(path, message, line) from error
    plain = path.suffix.lower() == ".txt"
    loaded = parse_chat(text, path) if jsonl else read_plain_text(text, path) if plain else chat_of_text(text, path)
    return replace(loaded, document=replace(loaded.document, digest=digest_of(data)))
