"""The files attached to messages: SillyTavern puts their texts in front of what was said (rules: sillytavern 5.9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Message
from lorestudio.domain.json_text import text_in

LARGEST: Final = 16 * 1024 * 1024
"""Bytes; a larger file is none that anybody attaches to be read."""

_FOLDER: Final = "/user/files/"
_UP: Final = 3  # chats/NAME/chat.jsonl lies two folders below the one that the addresses begin in


class AttachedFile(Struct, frozen=True):
    """A file as a message names it; `text` is None where the message does not hold it itself."""

    name: str
    address: str
    text: str | None = None


class AttachedTexts(Struct, frozen=True):
    """The texts of files by their addresses, and sentences about those that are not there."""

    texts: Mapping[str, str] = {}
    problems: tuple[str, ...] = ()


def files_of(message: Message) -> Iterator[AttachedFile]:
    """The files of a message in order; older versions of SillyTavern know one alone."""
    several, one = message.extra.get("files"), message.extra.get("file")
    for each in several if isinstance(several, list | tuple) else [one]:
        if isinstance(each, Mapping):
            name, address, text = map(each.get, ("name", "url", "text"))
            yield AttachedFile(text_in(name), text_in(address), text if isinstance(text, str) else None)


def attached_files(messages: Sequence[Message], chat: Path) -> AttachedTexts:
    """The texts of all files that messages name without holding them, from SillyTavern's folder above the chat's file.

    Waits for the disk.
    """
    texts: dict[str, str] = {}
    missing: dict[str, str] = {}
    for number, message in enumerate(messages):
        for file in files_of(message):
            if file.text or file.address in texts or file.address in missing:
                continue
            text = _read(file.address, chat)
            if text is None:
                missing[file.address] = f"#{number} “{file.name or file.address}”"
            else:
                texts[file.address] = text
    if not missing:
        return AttachedTexts(texts)
    told = ", ".join(missing.values())
    return AttachedTexts(
        texts, (f"Attached files are not where SillyTavern keeps them (user/files), so they are not searched: {told}.",)
    )


def _read(address: str, chat: Path) -> str | None:
    place = PurePosixPath(address)
    if not address.startswith(_FOLDER) or ".." in place.parts:
        return None
    for above in list(chat.absolute().parents)[:_UP]:
        path = above.joinpath(*place.parts[1:])
        try:
            if path.is_file() and path.stat().st_size <= LARGEST:
                return path.read_text("utf-8-sig", "replace")
        except OSError:
            return None
    return None


def with_attachments(message: Message, text: str, files: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The text as the host hands it over, files in front and titles of pictures behind, and the names of these."""
    names: list[str] = []
    pieces: list[str] = []
    attached = list(files_of(message))
    for file in attached:
        held = file.text or files.get(file.address)
        if held:
            pieces.append(held)
            names.append(f"file “{file.name or file.address}”")
    if pieces:
        text = "\n\n".join(pieces) + "\n\n" + text
    titles = list(_titles(message))
    if titles:
        text = text + "\n\n" + "\n\n".join(titles)
        names.append("title of a picture")
    return text, tuple(names)


def _titles(message: Message) -> Iterator[str]:
    media = message.extra.get("media")
    for each in (message.extra, *(media if isinstance(media, list | tuple) else ())):
        title = each.get("title") if isinstance(each, Mapping) else None
        if isinstance(title, str) and title and isinstance(each, Mapping) and each.get("append_title"):
            yield title
