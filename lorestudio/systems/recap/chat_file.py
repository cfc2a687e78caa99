"""The chat file as recap memory reads and writes it: only what it changes is spelled anew.

Data goes where the original keeps it: into each message's `extra` and `swipe_info`, and into the header's metadata
(rules: recap-memory 2, 4, 20). Every change of the open chat is written at once. Where another program has written the
file meanwhile, its version is taken and the changes are carried over to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from itertools import compress, count
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.chat import Chat, Message, places_in
from lorestudio.domain.javascript import Json, truthy
from lorestudio.domain.json_text import object_in
from lorestudio.domain.records import Terse, compared_fields, replace, same_ends
from lorestudio.exchange.chats.document import (
    BOM,
    METADATA,
    ChatDocument,
    ChatFormat,
    LineKind,
    keep_version,
    message_record,
    new_header,
    read_message,
    rewritten,
)
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.exchange.json_file import spell_record
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import read_whole, write_atomically
from lorestudio.systems.recap.chat import REFUSED_KEY, RecapChat
from lorestudio.systems.recap.records import NAMESPACE, OLD_NAMESPACE, Record, get_memory, namespace, with_values
from lorestudio.systems.recap.refresh import auto_hide, pinned_hidden, reverted
from lorestudio.systems.recap.running import STORE_KEY
from lorestudio.systems.recap.scenes.scenes import PINNED_HIDDEN, recap_of
from lorestudio.vault.files import LOOK_THERE, refused, utc_now
from lorestudio.vault.writer import digest_of

OURS: Final = (STORE_KEY, REFUSED_KEY)
"""What the metadata of a chat keeps for recap memory."""
_SHOWN: Final = ("mes", "swipe_id", "name", "is_user")
"""What two records have to share to be the same message on the same swipe."""


class ChatFile(Terse, frozen=True):
    """A chat file as it was read: the chat, and the lines to write it back into."""

    unprinted = ("source", "document")

    path: Path
    chat: RecapChat
    source: Chat
    document: ChatDocument
    problems: tuple[str, ...] = ()

    def check_format(self) -> None:
        """Raises InputError for a kind of file that holds no recaps."""
        if self.document.format is not ChatFormat.SILLYTAVERN:
            raise InputError(
                self.path, "plain text holds no recaps. Save the chat as a SillyTavern chat (.jsonl) and open that."
            )

    def with_chat(self, chat: RecapChat) -> bytes:
        """The bytes of the file with this chat's recaps in it; what did not change stays byte for byte.

        Raises InputError for a kind of file that holds no recaps.
        """
        self.check_format()
        places = [place for place, line in enumerate(self.document.lines) if line.kind is LineKind.MESSAGE]
        texts = [line.text for line in self.document.lines]
        for place, before, after in zip(places, self.chat.messages, chat.messages, strict=True):
            if before is not after and before != after:
                texts[place] = rewritten(texts[place], after)
        if chat.metadata != self.chat.metadata:
            texts = self._with_metadata(texts, chat.metadata)
        return ((BOM if self.document.bom else "") + "".join(texts)).encode("utf-8", "surrogateescape")

    def _with_metadata(self, texts: list[str], metadata: Mapping[str, Json]) -> list[str]:
        """The lines with other metadata in the header; a file without one, as of old group chats, gets one."""
        for place, line in enumerate(self.document.lines):
            if line.kind is LineKind.HEADER:
                header = {**self.source.header, METADATA: metadata}
                return [*texts[:place], rewritten(texts[place], header), *texts[place + 1 :]]
        created = replace(self.source, metadata=metadata)
        dates = (message.send_date for message in self.source.messages if message.send_date)
        return [spell_record(new_header(created, next(dates, ""))) + self.document.newline, *texts]


def recap_chat(chat: Chat, chat_id: str) -> RecapChat:
    """A chat of the studio's as recap memory sees it."""
    records = tuple(message_record(message) for message in chat.messages)
    return RecapChat(chat_id, records, chat.metadata, chat.user_name, chat.character_name, is_group=chat.is_group)


def read_chat_file(path: Path) -> ChatFile:
    """Read a chat file. Raises InputError."""
    loaded = load_chat(path)
    chat = recap_chat(loaded.chat, path.stem)
    problems = tuple(f"{path.name}: {problem}" for problem in loaded.problems)
    return ChatFile(path, chat, loaded.chat, loaded.document, problems)


def write_chat_file(file: ChatFile, chat: RecapChat, copies: Path | None = None) -> ChatFile:
    """Write the chat, unless the file is not the one that was read any more; the file as it is now.

    The first version of the file is kept in `copies`.

    Raises ChangedMeanwhileError, and InputError where it cannot be written.
    """
    with refused(partial(InputError, file.path), "the chat cannot be read: {reason}."):
        there = read_whole(file.path)
    if digest_of(there) != file.document.digest:
        raise RecapFileChangedError(file.path, "another program has changed the chat meanwhile.")
    data = file.with_chat(chat)
    if data == there:
        return file
    keep_version(there, file.path, copies, utc_now())
    unwritten = f"the chat cannot be written: {{reason}}. Its recaps are kept. {LOOK_THERE}"
    with refused(partial(InputError, file.path), unwritten):
        write_atomically(file.path, data, expected=there)
    return read_chat_file(file.path)


def hidden_by_hand(before: RecapChat, after: RecapChat, scenes_shown: int) -> RecapChat | None:
    """`before` with a mark on what a person hid and `after` would show, and none on what a person shows again and
    `after` would hide; None where there is neither.

    A person hid what is hidden and is shown by hiding by scenes, as it was when `before` was made.
    """
    messages, marked = before.messages, pinned_hidden(before.messages)
    was, hidden = ([truthy(message.get("is_system")) for message in chat.messages] for chat in (before, after))
    others = reverted(compress(count(), was), auto_hide(len(messages), before.breaks, scenes_shown), marked)
    marks = {index: True for index in others if not hidden[index]}
    marks |= {index: False for index in marked if hidden[index] and not was[index]}
    for index, mark in marks.items():
        before = before.with_message(index, with_values(messages[index], {PINNED_HIDDEN: mark}))
    return before if marks else None


class RecapFileChangedError(InputError):
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
    result: dict[str, Json] = {**theirs, "extra": _extra(object_in(theirs, "extra"), object_in(ours, "extra"))}
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
    return {**theirs, "extra": _extra(object_in(theirs, "extra"), object_in(ours, "extra"))}


def _extra(theirs: Mapping[str, Json], ours: Mapping[str, Json]) -> Mapping[str, Json]:
    names = (NAMESPACE, OLD_NAMESPACE)
    kept = {key: value for key, value in theirs.items() if key not in names}
    return {**kept, **{name: ours[name] for name in names if name in ours}}


def known_again(before: ChatFile, after: ChatFile) -> dict[int, int]:
    """Where the messages of a file stand now; those that are gone are missing.

    A changed one beside others that came or went is known by its recaps.
    """
    where = places_in(after.source.messages, before.source.messages)
    taken = frozenset(where.values())
    found = {
        recaps: index
        for index, message in enumerate(after.chat.messages)
        if index not in taken and any(recaps := (get_memory(message), recap_of(message)))
    }
    changed = [(index, message) for index, message in enumerate(before.chat.messages) if index not in where]
    for index, message in changed:
        if (place := found.get((get_memory(message), recap_of(message)))) is not None:
            where[index] = place
    return where


_ATTEMPTS: Final = 3

Change = Callable[[RecapChat], RecapChat]


async def _nobody_follows(_: Mapping[int, int]) -> None:
    """Nobody keeps positions of messages."""


class ChatBook(Struct, eq=False):
    """A chat file that is open. One event loop uses it; the disk is waited for in a thread.

    `scenes_shown` are the scenes that hiding by scenes leaves in sight. What is hidden otherwise was hidden by hand,
    and stays hidden. The file as it was before the first change is kept in `copies`. `moved` hears where the messages
    are now that another program has moved; those that are gone are missing.
    """

    file: ChatFile
    chat: RecapChat
    scenes_shown: int = 0
    copies: Path | None = None
    moved: Callable[[Mapping[int, int]], Awaitable[None]] = _nobody_follows
    _before: int | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def open(cls, path: Path) -> ChatBook:
        """Open a chat file. Raises InputError; waits for the disk."""
        file = read_chat_file(path)
        return cls(file, file.chat)

    def show_scenes(self, scenes_shown: int) -> None:
        """From the next change on so many scenes are left in sight."""
        if self._before is None:
            self._before = self.scenes_shown
        self.scenes_shown = scenes_shown

    async def change(self, how: Change) -> RecapChat:
        """Change the chat and write it at once. Raises InputError; then the chat is as it was before."""
        async with self._lock:
            await self._refresh()
            before = self.chat
            rule = self.scenes_shown if self._before is None else self._before
            self.chat = how(before)
            marked = hidden_by_hand(before, self.chat, rule)
            if marked is not None:
                self.chat = how(marked)
            try:
                await self._write()
            except BaseException:
                self.chat = before
                raise
            self._before = None
        return self.chat

    async def _refresh(self) -> None:
        """Take over what another program has written meanwhile."""
        theirs = await asyncio.to_thread(read_chat_file, self.file.path)
        if theirs.document.digest != self.file.document.digest:
            await self._take(theirs)

    async def _take(self, theirs: ChatFile) -> None:
        """Their chat with our changes. Raises InputError where a changed message is another one there."""
        try:
            chat = carried_over(self.file.chat, self.chat, theirs.chat)
        except ValueError as error:
            raise InputError(
                self.file.path,
                f"another program has changed the chat, and {error}. Open the chat again; what was changed here since "
                "the last writing has to be done once more.",
            ) from error
        before, where = self.file.chat, known_again(self.file, theirs)
        self.file, self.chat = theirs, chat
        if any(where.get(index) != index for index in range(len(before.messages))):
            self.chat = chat.followed(before, where)
            await self.moved(where)

    async def _write(self) -> None:
        for _ in range(_ATTEMPTS):
            if self.chat == self.file.chat:
                return
            try:
                written = await asyncio.to_thread(write_chat_file, self.file, self.chat, self.copies)
            except RecapFileChangedError:
                await self._take(await asyncio.to_thread(read_chat_file, self.file.path))
                continue
            self.file = written
            self.chat = written.chat
            return
        raise InputError(self.file.path, "another program keeps writing the chat. Close it there and try again.")


_READ: Final = tuple(name for name in compared_fields(Message) if name != "extra")


def with_recaps(chat: Chat, before: Chat, after: Chat) -> Chat:
    """`chat`, which went on from `before`, with what recap memory wrote since; `after` is the file as it is now.

    Messages that nobody has changed are those of the file, wherever they stand. A changed one keeps its text and gets
    the recap; it is known by its line, or by its place where it has none. A new one, or one that the file has no more,
    stays as it is.
    """
    if chat is before:
        return after
    old, new, mine = before.messages, after.messages, chat.messages
    if len(old) != len(new):
        return chat  # somebody else has written, too; saving the chat will say so
    head, tail = same_ends(old, mine)
    same = {id(message): place for place, message in enumerate(old)}
    lines: dict[int | None, int] = {
        message.line: place for place, message in enumerate(old) if message.line is not None
    }

    def carried(place: int, message: Message) -> Message:
        known = same.get(id(message), lines.get(message.line))
        if known is None and len(old) == len(mine) and message.line is old[place].line is None:
            known = place
        if known is None:
            return replace(message, line=None)
        return new[known] if old[known] is message else _with_recap(message, old[known], new[known])

    changed = (carried(head + place, message) for place, message in enumerate(mine[head : len(mine) - tail]))
    messages = (*new[:head], *changed, *new[len(new) - tail :])
    metadata = {key: value for key, value in chat.metadata.items() if key not in OURS}
    metadata |= {key: after.metadata[key] for key in OURS if key in after.metadata}
    return replace(chat, messages=messages, metadata=metadata, header=after.header)


def alters_runs(before: Chat, after: Chat) -> bool:
    """Whether runs over the chats may differ: anything but recaps has changed, such as who is hidden."""
    if len(before.messages) != len(after.messages):
        return True
    pairs = zip(before.messages, after.messages, strict=True)
    return not all(one is other or _alike_but_recaps(one, other) for one, other in pairs)


def _with_recap(message: Message, was: Message, now: Message) -> Message:
    """A changed message with the recap of the file; it is hidden as the person left it, where that was changed."""
    made = read_message(grafted(message_record(message), now.raw), now.line)
    hidden = message.is_system if message.is_system != was.is_system else now.is_system
    return replace(message, extra=made.extra, raw=made.raw, line=made.line, is_system=hidden)


def _alike_but_recaps(one: Message, other: Message) -> bool:
    same = all(getattr(one, name) == getattr(other, name) for name in _READ)
    return same and (one.extra is other.extra or _others(one.extra) == _others(other.extra))


def _others(extra: Mapping[str, Json]) -> Mapping[str, Json]:
    return {key: value for key, value in extra.items() if key not in (NAMESPACE, OLD_NAMESPACE)}
