"""What a card or a lorebook lies in: a PNG picture, a CharX or another archive, or nothing but its own JSON.

Opened, a container gives its JSON; closed with another JSON it is what it was but for that. Archives and pictures are
untrusted: what is too large, or names places outside of itself, is refused (rules: lorebooks 12).
"""

from __future__ import annotations

import base64
import binascii
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

from lorestudio.domain.json_text import json_or_none
from lorestudio.domain.records import Terse
from lorestudio.exchange.json_file import set_members, utf8_text
from lorestudio.exchange.problems import InputError

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
ZIP: Final = b"PK\x03\x04"
_JPEG: Final = b"\xff\xd8"
CARD_CHUNKS: Final = ("ccv3", "chara")
"""The names of text chunks that hold a card, the preferred one first."""
NOVELAI_CHUNK: Final = "naidata"
"""The name of the text chunk that holds a NovelAI lorebook."""
CARD_MEMBER: Final = "card.json"
RISU_MODULE: Final = "module.risum"
_ENCRYPTED: Final = b"rcc||"

_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)

MAX_MEMBERS: Final = 50_000
MAX_UNPACKED: Final = 64 * 1024**2
"""The most that an archive may hold: members, and bytes of them all together where they are more than twice its own."""


class OpenedContainer(Terse, frozen=True):
    """The JSON text in a container. `close` gives the container's bytes with another; `remarks` say what changes."""

    unprinted = ("text", "close")

    text: str
    close: Callable[[bytes], bytes] = bytes
    remarks: tuple[str, ...] = ()


def opened(data: bytes, source: Path | str, what: str = "card") -> OpenedContainer:
    """What lies in the bytes of a PNG, a CharX or a JSON file. Raises InputError; `what` is the thing looked for."""
    if data.startswith(SIGNATURE):
        return _from_png(data, source)
    if is_archive(data):
        return _from_charx(data, source)
    try:
        return OpenedContainer(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        message = f"this is neither a PNG picture nor JSON in UTF-8. Choose a {what}."
        raise InputError(source, message) from error


# ---- pictures -------------------------------------------------------------------------------------------------------


class _Chunk(Struct, frozen=True):
    """A chunk of a picture: where it begins and ends, and keyword and text of one that is text."""

    start: int
    end: int
    keyword: str = ""
    value: bytes = b""


def _from_png(data: bytes, source: Path | str) -> OpenedContainer:
    chunks = [chunk for chunk in _chunks(data, source) if chunk.keyword in {*CARD_CHUNKS, NOVELAI_CHUNK}]
    found = {chunk.keyword: chunk for chunk in reversed(chunks)}
    name = next((name for name in (*CARD_CHUNKS, NOVELAI_CHUNK) if name in found), "")
    if not name:
        raise InputError(
            source,
            "the picture holds no character. Pictures that were saved by a browser or an editor have lost it: "
            "download the card itself.",
        )
    text = _chunk_text(found[name], source)

    def close(made: bytes) -> bytes:
        parts: list[bytes] = []
        done, changed = 0, made.decode()
        for chunk in chunks:
            before = _chunk_text(chunk, source)
            after = changed if chunk is found[name] else _with_book_of(changed, before)
            if after != before:
                parts += [data[done : chunk.start], _text_chunk(data, chunk, after)]
                done = chunk.end
        return b"".join((*parts, data[done:]))

    return OpenedContainer(text, close)


def _chunks(data: bytes, source: Path | str) -> Iterator[_Chunk]:
    """The picture's chunks, in order."""
    place = len(SIGNATURE)
    while place + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        body = data[place + 8 : place + 8 + length]
        if len(body) < length:
            raise InputError(source, "the picture ends in the middle. Download it again.")
        keyword, _, value = body.partition(b"\0") if kind == b"tEXt" else (b"", b"", b"")
        yield _Chunk(place, place + 12 + length, keyword.decode("latin-1").lower(), value)
        if kind == b"IEND":
            return
        place += 12 + length


def _chunk_text(chunk: _Chunk, source: Path | str) -> str:
    if chunk.value.startswith(_ENCRYPTED):
        raise InputError(source, "the card in the picture is encrypted by Risu. Export it there as an open card.")
    try:  # not every program fills up the end, and SillyTavern asks for nothing there
        return base64.b64decode(chunk.value + b"==", validate=False).decode("utf-8-sig")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise InputError(source, f"the card in the picture is damaged ({error}). Download it again.") from error


def _text_chunk(data: bytes, chunk: _Chunk, text: str) -> bytes:
    """A chunk with another text, its keyword spelled as it was."""
    keyword = data[chunk.start + 8 :][: len(chunk.keyword)]
    body = b"tEXt" + keyword + b"\0" + base64.b64encode(text.encode())
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def _with_book_of(changed: str, other: str) -> str:
    """The other card in a picture with the book of the one that was changed, where it is a card that can have one."""
    card, into = json_or_none(changed), json_or_none(other)
    data = card.get("data") if isinstance(card, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(into, Mapping) or not isinstance(into.get("data"), Mapping):
        return other
    return set_members(other, ("data",), {"character_book": data.get("character_book")})


# ---- archives -------------------------------------------------------------------------------------------------------


def is_archive(data: bytes) -> bool:
    """Whether the bytes are a ZIP archive, also one behind a JPEG picture."""
    return data.startswith(ZIP) or (data.startswith(_JPEG) and ZIP in data)


def archive(data: bytes, source: Path | str, *, only_names: bool = False) -> dict[str, bytes]:
    """The files in a ZIP archive, by name and in order. Raises InputError for one that is damaged or not to be trusted.

    Folders are left out; `only_names` unpacks nothing.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            members = [member for member in packed.infolist() if not member.is_dir()]
            _check(members, max(MAX_UNPACKED, 2 * len(data)), source)
            return {member.filename: b"" if only_names else packed.read(member) for member in members}
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, OSError, RuntimeError, ValueError, EOFError) as error:
        raise InputError(source, f"the archive is damaged ({error}). Download or pack it again.") from error


def _check(members: list[zipfile.ZipInfo], most: int, source: Path | str) -> None:
    if len(members) > MAX_MEMBERS or sum(member.file_size for member in members) > most:
        limits = f"{MAX_MEMBERS:,} files or {most // 1024**2} MiB"
        raise InputError(
            source, f"the archive holds more than {limits}, so it is not unpacked. Take out what is no lore."
        )
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            message = f"the archive holds “{member.filename}”, a place outside of itself, so it is not unpacked."
            raise InputError(source, message)
        if member.flag_bits & 1:
            raise InputError(source, "the archive is encrypted. Unpack it, and give what it holds.")


def _from_charx(data: bytes, source: Path | str) -> OpenedContainer:
    files = archive(data, source)
    if CARD_MEMBER not in files and "manifest.json" in files:
        raise InputError(source, "this is a file of Backyard AI (BYAF). Export the character there as a PNG card.")
    if CARD_MEMBER not in files:
        raise InputError(source, f"the archive holds neither a character ({CARD_MEMBER}) nor notes (.md).")
    text = utf8_text(files[CARD_MEMBER], f"{source}, {CARD_MEMBER}", "Export the card again.")
    lead = data[: data.find(ZIP)]

    def close(changed: bytes) -> bytes:
        kept = {name: each for name, each in files.items() if name != RISU_MODULE}
        return lead + zipped({**kept, CARD_MEMBER: changed})

    module = (
        f"The file has a {RISU_MODULE}, whose lorebook Risu prefers and which cannot be read here. When the file is "
        "written it goes without, so that Risu takes the card's own lorebook; scripts in the module go with it."
    )
    return OpenedContainer(text, close, (module,) if RISU_MODULE in files else ())


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A ZIP archive of files; the same files give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(zipfile.ZipInfo(name, _NO_TIME), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()
