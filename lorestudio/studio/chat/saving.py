"""Writing a chat into its file when the person asks for it, and not otherwise.

The file is compared with what was read before, replaced in one step, and the version that is overwritten first is kept.
Everything here waits for the disk, so a window calls it from a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Folder
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.exchange.chats.document import (
    ChatDocument,
    ChatFormat,
    ChatLine,
    LineKind,
    file_date,
    keep_version,
    message_record,
    new_header,
)
from lorestudio.exchange.chats.loading import lost_as_text
from lorestudio.exchange.chats.metadata import with_controls
from lorestudio.exchange.json_file import same_value, spell_record
from lorestudio.exchange.problems import InputError
from lorestudio.llm.recorded_answers import answers_path
from lorestudio.settings.files import read_whole, write_atomically
from lorestudio.studio.chat.editing import ChatBranch
from lorestudio.studio.project.project import Project
from lorestudio.vault.files import LOOK_THERE, refused
from lorestudio.vault.writer import digest_of

NO_HEADER: Final = (
    "The file has no header, as those of group chats: SillyTavern keeps pins, blocks, context and notes of such a chat "
    "in the group's own file. They were not saved."
)


class ChatChangedError(InputError):
    """Somebody else has changed the chat file since it was read; it was left as it is."""


class ChatLosesError(InputError):
    """The format cannot hold all of the chat; nothing was written. `losses` are sentences."""

    def __init__(self, source: Path, losses: Sequence[str]) -> None:
        super().__init__(source, " ".join(losses))
        self.losses = tuple(losses)


class SavedChat(Struct, frozen=True):
    """A chat that stands in its file now. `backup` is where the version lies that was overwritten, if one was kept.

    `remarks` are sentences for the person.
    """

    path: Path
    document: ChatDocument
    backup: Path | None = None
    remarks: tuple[str, ...] = ()


class ChatToSave(Struct, frozen=True):
    """A chat with the choices for it, and the document that it is written into; `folders` are those of the vault."""

    document: ChatDocument
    chat: Chat
    controls: ChatControls
    folders: tuple[Folder, ...] = ()

    def written(self) -> Chat:
        """The chat with the choices in its metadata, and with a mark where nothing but a changed greeting is left.

        Source: SillyTavern 1.18 puts the card's greeting in the place of one without the mark when the card is saved.
        """
        metadata = with_controls(self.chat.metadata, self.controls, self.folders)
        match self.chat.messages:
            case [Message(is_user=False, is_system=False) as only] if self.chat.header:
                there = [line.record for line in self.document.lines if line.kind is LineKind.MESSAGE]
                metadata = metadata if there == [message_record(only)] else {**metadata, "tainted": True}
        return replace(self.chat, metadata=metadata)


def save_chat(
    wanted: ChatToSave,
    path: Path,
    backups: Path | None,
    now: datetime,
    *,
    elsewhere: bool = False,
    overwrite: bool = False,
    lossy: bool = False,
) -> SavedChat:
    """Write the chat into the file at `path`.

    `elsewhere` says that it is another file than the one that the chat was read from; it then gets the format of its
    ending. `overwrite` agrees to replace whatever is there, `lossy` to what the format cannot hold. Raises
    ChatChangedError, ChatLosesError, and InputError where the file cannot be written; then it is as it was.
    """
    document, chat = wanted.document, wanted.written()
    remarks: list[str] = []
    if elsewhere:
        document, chat = _for_ending(document, chat, path, now)
    elif chat.metadata is not wanted.chat.metadata and not chat.header and document.format is ChatFormat.SILLYTAVERN:
        remarks.append(NO_HEADER)
    data = _bytes(document, chat, path, lossy=lossy)
    there = _there(path)
    if there is not None and not overwrite and (elsewhere or digest_of(there) != document.digest):
        raise ChatChangedError(
            path,
            "the file was changed by another program since it was opened here. Nothing was written. Save the chat "
            "under another name, overwrite the file (a copy of it is kept), or open it again.",
        )
    foreign = there is not None and digest_of(there) != document.digest
    backup = keep_version(there, path, backups, now, foreign=foreign) if there else None
    unsaved = f"the chat was not saved ({{reason}}). {LOOK_THERE}"
    with refused(partial(InputError, path), unsaved):
        write_atomically(path, data, expected=there)
    return SavedChat(path, replace(document, digest=digest_of(data)), backup, tuple(remarks))


def save_branch(document: ChatDocument, made: ChatBranch, folder: Path) -> Path:
    """Write a branch into a new file of the folder. Raises InputError where one of its name is there."""
    part = document.until(made.original, len(made.branch.messages))
    path = folder / f"{made.name}{'.jsonl' if part.format is ChatFormat.SILLYTAVERN else '.txt'}"
    if path.exists():
        raise InputError(path, "there is a file of this name already, so the branch was not made. Try again.")
    data = _bytes(part, made.branch, path, lossy=True)
    with refused(partial(InputError, path), f"the branch was not made ({{reason}}). {LOOK_THERE}"):
        write_atomically(path, data)
    return path


def carry_answers(chat: Path, to: Path) -> str:
    """Copy the recorded answers of a chat beside another file of it; a sentence where that could not be done.

    Answers that are there already stay: they may be those of another chat.
    """
    source, target = answers_path(chat), answers_path(to)
    if source == target or not source.exists():
        return ""
    try:
        data = read_whole(source)
        if not target.exists():
            write_atomically(target, data, private=True)
        elif read_whole(target) != data:
            return f"{target.name} was there already and stays, so the chat's recorded answers were not copied."
    except OSError as error:
        return f"The chat's recorded answers could not be copied to {target.name} ({error.strerror or error})."
    return ""


def new_chat(user: str, character: str, now: datetime) -> tuple[Chat, ChatDocument]:
    """An empty chat that is in no file yet."""
    chat = Chat(user_name=user or "User", character_name=character)
    return _with_header(chat, now)


def _with_header(chat: Chat, now: datetime) -> tuple[Chat, ChatDocument]:
    header = chat.header or new_header(chat, file_date(now))
    line = ChatLine(1, spell_record(header), LineKind.HEADER, record=header)
    return replace(chat, header=header), ChatDocument(lines=(line,))


def _for_ending(document: ChatDocument, chat: Chat, path: Path, now: datetime) -> tuple[ChatDocument, Chat]:
    """The document for a file of this name: a `.txt` is plain text, everything else lines of JSON."""
    wanted = ChatFormat.PLAIN_TEXT if path.suffix.lower() == ".txt" else ChatFormat.SILLYTAVERN
    if wanted is document.format:
        return document, chat
    if wanted is ChatFormat.PLAIN_TEXT:
        return ChatDocument(ChatFormat.PLAIN_TEXT), chat
    chat, made = _with_header(chat, now)
    return made, chat


def _bytes(document: ChatDocument, chat: Chat, path: Path, *, lossy: bool) -> bytes:
    try:
        text = document.text_for(chat)
        data = text.encode("utf-8", "surrogateescape" if document.format is ChatFormat.SILLYTAVERN else "strict")
    except UnicodeEncodeError as error:
        raise InputError(
            path, "a text holds half of a character, which plain text cannot. Save it as .jsonl."
        ) from error
    except ValueError as error:
        raise InputError(path, f"the chat cannot be written: {error}.") from error
    if document.format is ChatFormat.PLAIN_TEXT and not lossy:
        losses = lost_as_text(chat, text)
        if losses:
            raise ChatLosesError(path, losses)
    return data


def _there(path: Path) -> bytes | None:
    unread = "the file that is there cannot be read: {reason}."
    with refused(partial(InputError, path), unread), suppress(FileNotFoundError):
        return read_whole(path)
    return None


def going_on(known: Chat | None, read: Chat | None) -> Callable[[Chat], Chat | None]:
    """What becomes of chats that were made of `known`, now that their file has gone on from that to `read`.

    Each keeps what was changed in it, on the lines and beside the fields that the file has by now, with the new
    messages behind its own. None where the file has not only gone on, or where both have changed the same.
    """
    if known is None or read is None or read.messages[: len(known.messages)] != known.messages:
        return lambda _mine: None
    pairs = [*zip(known.messages, read.messages, strict=False)]
    same = {id(old): new for old, new in pairs}
    lines = {old.line: (old, new) for old, new in pairs if old.line is not None}
    altered = {new.line for old, new in pairs if old is not new and old.raw != new.raw}

    def gone_on(mine: Chat) -> Chat | None:
        messages: list[Message] = []
        for message in mine.messages:
            now = same.get(id(message))
            if now is None and message.line in lines:
                now = _message_moved(message, *lines[message.line])
                if now is None:
                    return None
            messages.append(now or replace(message, line=None))
        metadata = _fields_moved(mine.metadata, known.metadata, read.metadata)
        if metadata is None or not altered <= {message.line for message in messages}:
            return None
        return replace(read, messages=(*messages, *read.messages[len(pairs) :]), metadata=metadata)

    return gone_on


def _message_moved(mine: Message, known: Message, read: Message) -> Message | None:
    """`mine`, which was made of `known`, on the line that the file has by now; None where both have changed a field."""
    record = _fields_moved(*map(message_record, (mine, known, read)))
    return None if record is None else replace(mine, raw=record, line=read.line)


def _fields_moved(
    mine: Mapping[str, Json], known: Mapping[str, Json], read: Mapping[str, Json]
) -> Mapping[str, Json] | None:
    """`read` with the fields that `mine` has changed since `known`; None where both have changed one."""
    changed = {key for key in (*known, *mine) if not same_value(mine.get(key), known.get(key))}
    if any(not same_value(read.get(key), known.get(key)) for key in changed):
        return None
    kept = {key: value for key, value in read.items() if key in mine or key not in changed}
    return {**kept, **{key: value for key, value in mine.items() if key in changed}}


def with_chat_reread(project: Project) -> Project | None:
    """The project with its chat as the file has it now; None where that is the same, or not whole at the moment.

    Waits for the disk. A file that is gone, or whose last line is still being written, will be heard of again.
    """
    path, document = project.chat_path, project.document
    try:
        if path is None or document is None or digest_of(read_whole(path)) == document.digest:
            return None
        read = project.with_chat(path)
    except (OSError, InputError):
        return None
    lines = read.document.lines if read.document is not None else ()
    return None if not lines or lines[-1].kind is LineKind.BROKEN else _with_known_lines(read, project)


def _with_known_lines(read: Project, project: Project) -> Project:
    """`read` with the lines and messages of `project` where they are the same, so that comparing the two is quick."""
    if read.chat is None or read.document is None or project.chat is None or project.document is None:
        return read
    known = project.document.lines
    here = {each.line: each for each in project.chat.messages}
    lines = [
        known[place] if place < len(known) and known[place] == line else line
        for place, line in enumerate(read.document.lines)
    ]

    def known_one(message: Message) -> Message:
        same = here.get(message.line)
        stands = same is not None and message.line is not None and same.raw is lines[message.line].record
        return same if stands and same == message else message

    chat = replace(read.chat, messages=tuple(map(known_one, read.chat.messages)))
    return replace(read, chat=chat, document=replace(read.document, lines=tuple(lines)))
