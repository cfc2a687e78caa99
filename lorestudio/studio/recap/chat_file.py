"""A chat file as recap memory reads and writes it: only what it changes is spelled anew.

Data goes where the original keeps it: into each message's `extra` and `swipe_info`, and into the header's metadata
(spec: recap-memory 2, 4, 20).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from lorestudio.domain.chat import Chat
from lorestudio.domain.javascript import Json
from lorestudio.exchange.chat_document import BOM, ChatDocument, ChatFormat, LineKind, digest_of
from lorestudio.exchange.chat_records import METADATA, message_record, new_header
from lorestudio.exchange.chats import load_chat
from lorestudio.exchange.json_spelling import changed_text, spell_record
from lorestudio.exchange.problems import InputError
from lorestudio.memory.recap.chat import REFUSED_KEY, RecapChat
from lorestudio.memory.recap.records import NAMESPACE, OLD_NAMESPACE, Record, mapping, namespace
from lorestudio.memory.recap.running import STORE_KEY
from lorestudio.settings.files import write_atomically

OURS: Final = (STORE_KEY, REFUSED_KEY)
"""What the metadata of a chat keeps for recap memory."""
_SHOWN: Final = ("mes", "swipe_id", "name", "is_user")
"""What two records have to share to be the same message on the same swipe."""


@dataclass(frozen=True, slots=True)
class ChatFile:
    """A chat file as it was read: the chat, and the lines to write it back into."""

    path: Path
    chat: RecapChat
    source: Chat = field(repr=False)
    document: ChatDocument = field(repr=False)
    problems: tuple[str, ...] = ()

    @property
    def keeps_recaps(self) -> bool:
        """Whether recaps can be stored in a file of this kind."""
        return self.document.format is ChatFormat.SILLYTAVERN

    def with_chat(self, chat: RecapChat) -> bytes:
        """The bytes of the file with this chat's recaps in it; what did not change stays byte for byte.

        Raises InputError for a kind of file that holds no recaps.
        """
        if not self.keeps_recaps:
            raise InputError(
                self.path, "plain text holds no recaps. Save the chat as a SillyTavern chat (.jsonl) and open that."
            )
        places = [place for place, line in enumerate(self.document.lines) if line.kind is LineKind.MESSAGE]
        texts = [line.text for line in self.document.lines]
        for place, before, after in zip(places, self.chat.messages, chat.messages, strict=True):
            if before is not after and before != after:
                texts[place] = _rewritten(texts[place], after)
        if chat.metadata != self.chat.metadata:
            texts = self._with_metadata(texts, chat.metadata)
        return ((BOM if self.document.bom else "") + "".join(texts)).encode("utf-8", "surrogateescape")

    def _with_metadata(self, texts: list[str], metadata: Mapping[str, Json]) -> list[str]:
        """The lines with other metadata in the header; a file without one, as of old group chats, gets one."""
        for place, line in enumerate(self.document.lines):
            if line.kind is LineKind.HEADER:
                header = {**self.source.header, METADATA: metadata}
                return [*texts[:place], _rewritten(texts[place], header), *texts[place + 1 :]]
        created = replace(self.source, metadata=metadata)
        dates = (message.send_date for message in self.source.messages if message.send_date)
        return [spell_record(new_header(created, next(dates, ""))) + self.document.newline, *texts]


def recap_chat(chat: Chat, chat_id: str) -> RecapChat:
    """A chat of the studio's as recap memory sees it."""
    records = tuple(message_record(message) for message in chat.messages)
    return RecapChat(chat_id, records, chat.metadata, chat.user_name, chat.character_name)


def read_chat_file(path: Path) -> ChatFile:
    """Read a chat file. Raises InputError."""
    loaded = load_chat(path)
    chat = recap_chat(loaded.chat, path.stem)
    problems = tuple(f"{path.name}: {problem}" for problem in loaded.problems)
    return ChatFile(path, chat, loaded.chat, loaded.document, problems)


def write_chat_file(file: ChatFile, chat: RecapChat) -> ChatFile:
    """Write the chat, unless the file is not the one that was read any more; the file as it is now.

    Raises ChangedMeanwhileError, and InputError where it cannot be written.
    """
    try:
        found = digest_of(file.path.read_bytes())
    except OSError as error:
        raise InputError(file.path, f"the chat cannot be read: {error.strerror or error}.") from error
    if found != file.document.digest:
        raise ChangedMeanwhileError(file.path, "another program has changed the chat meanwhile.")
    data = file.with_chat(chat)
    if digest_of(data) == found:
        return file
    try:
        write_atomically(file.path, data)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(file.path, f"the chat cannot be written: {reason}. Its recaps are kept.") from error
    return read_chat_file(file.path)


class ChangedMeanwhileError(InputError):
    """The chat is not the one that was read any more."""


def carried_over(before: RecapChat, ours: RecapChat, theirs: RecapChat) -> RecapChat:
    """Their chat with what was changed in ours since `before`, message by message.

    Raises ValueError naming the first message that is another one there.
    """
    messages = list(theirs.messages)
    for index, (old, new) in enumerate(zip(before.messages, ours.messages, strict=True)):
        if old == new:
            continue
        if index >= len(messages) or any(messages[index].get(key) != old.get(key) for key in _SHOWN):
            message = f"message {index} is another one now"
            raise ValueError(message)
        messages[index] = grafted(messages[index], new)
    changed = {key: ours.metadata[key] for key in OURS if ours.metadata.get(key) != before.metadata.get(key)}
    metadata = {**theirs.metadata, **changed} if changed else theirs.metadata
    return replace(theirs, messages=tuple(messages), metadata=metadata)


def grafted(theirs: Record, ours: Record) -> Record:
    """Their record with our namespace, in `extra` and on every swipe, and with our hiding."""
    result: dict[str, Json] = {**theirs, "extra": _extra(mapping(theirs.get("extra")), mapping(ours.get("extra")))}
    if "is_system" in ours:
        result["is_system"] = ours["is_system"]
    infos, own = theirs.get("swipe_info"), ours.get("swipe_info")
    if isinstance(infos, list | tuple) and isinstance(own, list | tuple):
        result["swipe_info"] = [
            _grafted_swipe(info, own[place]) if place < len(own) else info for place, info in enumerate(infos)
        ]
    return result


def _grafted_swipe(theirs: Json, ours: Json) -> Json:
    if not isinstance(theirs, Mapping) or not isinstance(ours, Mapping) or not namespace(ours):
        return theirs
    return {**theirs, "extra": _extra(mapping(theirs.get("extra")), mapping(ours.get("extra")))}


def _extra(theirs: Mapping[str, Json], ours: Mapping[str, Json]) -> Mapping[str, Json]:
    names = (NAMESPACE, OLD_NAMESPACE)
    kept = {key: value for key, value in theirs.items() if key not in names}
    return {**kept, **{name: ours[name] for name in names if name in ours}}


def _rewritten(text: str, record: Mapping[str, Json]) -> str:
    """A line with another record; its line end and the white space around it stay."""
    body = text.strip(" \t\r\n")
    start = text.index(body)
    return text[:start] + changed_text(body, record) + text[start + len(body) :]
