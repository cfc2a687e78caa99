"""What links a lorebook and the notes that it became, or that it was made of: kept in the vault, beside the notes.

`NAME.book.json` says which entry is which note, and how both were when they last agreed. So it is made, undone and
moved together with the notes.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import stringified
from lorestudio.domain.records import Terse, grouped, replace
from lorestudio.exchange.json_file import parse_document, read_file, same_value
from lorestudio.exchange.lorebooks.documents import Lore
from lorestudio.exchange.lorebooks.notes import Raw
from lorestudio.exchange.problems import checked
from lorestudio.settings.files import READ_AT_MOST, write_json
from lorestudio.studio.notes.vault_notes import VaultNotes
from lorestudio.vault.folder import walked

SUFFIX: Final = ".book.json"
_VERSION: Final = 1
_TOGETHER: Final = 65536
_HALVES: Final = "surrogatepass"  # JSON can spell half a character
_ADVICE: Final = "Delete the file; then the book can be imported or exported again."


class LinkedNote(Terse, frozen=True):
    """A note as it was when it last agreed with its entry. `filename` is relative to the vault, `data` its text.

    `said` is the entry that it was then, where the book's format could not say all of it; else None.
    """

    unprinted = ("data", "said")

    filename: str
    data: bytes
    said: Raw | None = None

    @property
    def text(self) -> str:
        """The text of the note."""
        return self.data.decode("utf-8", _HALVES)


class BookLink(Terse, frozen=True):
    """A lorebook and its notes. `file` is where the book lies, `form` its format, `folder` that of its notes.

    `entries` are the book's as World Info has them, by uid as text and in the order of the file; `notes` the note of
    each; those of `apart` have none, because they were left out. An entry keeps its uid also where the file numbers its
    entries by their places, and has another one for it (`known_entries`). `original` is the text of the book's file in
    UTF-8, b"" where that is no text.
    """

    unprinted = ("entries", "notes", "original")

    book: str
    file: str
    form: str
    folder: str
    entries: Mapping[str, Raw]
    notes: Mapping[str, LinkedNote]
    original: bytes = b""
    place: str = ""
    """Where the link itself lies in the vault."""
    heads: bool = False
    """Whether what NovelAI puts before and behind an entry is part of its text."""

    @property
    def data(self) -> bytes:
        """The link as it is written; of a large book's text some at a time, as spelled it is there several times."""
        before = {
            "version": _VERSION, "book": self.book, "file": self.file, "format": self.form, "folder": self.folder,
            "entries": self.entries, "notes": self.notes,
        }  # fmt: skip
        written = io.BytesIO()
        write_json(written, before, _spelled)
        written.seek(-len("\n}"), io.SEEK_END)
        written.write(b',\n    "original": "')
        places = range(0, len(self.original), _TOGETHER)
        for part in codecs.iterdecode((self.original[at : at + _TOGETHER] for at in places), "utf-8", _HALVES):
            written.write(json.dumps(part, ensure_ascii=False)[1:-1].encode("utf-8", "backslashreplace"))
        written.write(b'",\n    "heads": true\n}\n' if self.heads else b'"\n}\n')
        return written.getvalue()


def _spelled(note: LinkedNote) -> Json:
    return {"note": note.filename, "text": note.text, **({} if note.said is None else {"said": note.said})}


class _Note(BaseModel):
    model_config = ConfigDict(defer_build=True, strict=True)

    note: str
    text: str
    said: dict[str, JsonValue] | None = None


class _Link(BaseModel):
    model_config = ConfigDict(defer_build=True, strict=True, populate_by_name=True)

    version: Annotated[int, Field(ge=1, le=_VERSION)]
    book: str
    file: str
    form: Annotated[str, Field(alias="format")]
    folder: str
    entries: dict[str, dict[str, JsonValue]]
    notes: dict[str, _Note]
    original: str = ""
    heads: bool = False


def read_link(vault: Path, place: str) -> BookLink:
    """The link in that file of the vault. Raises InputError."""
    path = vault / place
    found = checked(_Link, parse_document(read_file(path, READ_AT_MOST), path, "link of a book"), path, _ADVICE)
    said = found.notes.items()
    notes = {uid: LinkedNote(note.note, note.text.encode("utf-8", _HALVES), note.said) for uid, note in said}
    original = found.original.encode("utf-8", _HALVES)
    return BookLink(
        found.book, found.file, found.form, found.folder, found.entries, notes, original, place, found.heads
    )  # fmt: skip


def links_of(vault: VaultNotes) -> tuple[BookLink, ...]:
    """The links that lie in a vault. Waits for the disk. Raises InputError for a damaged one."""
    below = (place / name for place, files in walked(vault.folder) for name in files)
    places = sorted(path for path in below if path.name.endswith(SUFFIX) and not path.name.startswith("."))
    return tuple(read_link(vault.folder, path.relative_to(vault.folder).as_posix()) for path in places)


def link_to(links: Sequence[BookLink], file: Path) -> BookLink | None:
    """The link to a book's file."""
    return next((link for link in links if Path(link.file) == file), None)


def original_text(data: bytes) -> bytes:
    """The text of a book's file as it is in it, b"" for a picture or an archive."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return b""
    return data


def linked_note(filename: str, text: str, said: Raw, entry: Raw) -> LinkedNote:
    """A note that said the entry `said`, of which the book holds `entry` now."""
    return LinkedNote(filename, text.encode(), None if same_value(said, entry) else said)


def linked(link: BookLink, entries: Mapping[str, Raw], notes: Mapping[str, LinkedNote], data: bytes) -> BookLink:
    """The link after both sides were brought together."""
    return replace(link, entries=entries, notes=notes, original=original_text(data))


# ---- which entry of the file is which -------------------------------------------------------------------------------

_DIGITS: Final = 15
"""Digits of the largest whole numbers that JavaScript tells apart."""

_OF_PLACE: Final = frozenset({"uid", "order", "displayIndex"})
"""The members that may follow from the place in the file."""
_TELLING: Final = (("comment", "content"), ("comment", "key"), ("content", "key"), ("content",), ("comment",), ("key",))
"""The members that an entry is known again by, the surest first, where it is not as it was."""


def known_entries(lore: Lore, known: Mapping[str, Raw]) -> dict[str, Raw]:
    """The entries of a file in its order, by the uids that they are known under, new ones by a free one.

    `known` has those that were in the file, in the order of then. An entry has its own number; one that has no number
    but its place is known by what it says, of several alike by its place, and at last by the one it stands behind.
    """
    left = {uid: place for place, uid in enumerate(known)}
    uids = [to_string(raw.get("uid")) for raw in lore.entries]
    found = {place: uid for place, uid in enumerate(uids) if uid in left and uid not in lore.placed}
    for uid in found.values():
        del left[uid]
    for names, in_place in product((None, *_TELLING), (True, False)):
        alike = grouped((_told(known[uid], names), uid) for uid in left)
        for place, raw in enumerate(lore.entries):
            if uids[place] in lore.placed and place not in found and (told := _told(raw, names)):
                same = (uid for uid in alike.get(told, ()) if uid in left and (not in_place or left[uid] == place))
                if uid := next(same, ""):
                    found[place] = uid
                    del left[uid]
    behind = dict(zip(("", *known), known, strict=False))
    numbered: dict[str, Raw] = {}
    highest = max(numbers_in((*known, *uids)), default=-1)
    for place, raw in enumerate(lore.entries):
        number = raw.get("uid")
        if uids[place] in lore.placed:
            follower = behind.get(next(reversed(numbered), ""), "")
            uid = found.get(place, follower if follower in left else "")
            left.pop(uid, None)
            if uid:
                number = known[uid].get("uid", uid)
            elif uids[place] in known:
                number = highest = highest + 1
        numbered[to_string(number)] = {**raw, "uid": number}
    return numbered


def numbers_in(uids: Iterable[str]) -> Iterator[int]:
    """The uids that are numbers; what has more digits than a number of JavaScript's is a name."""
    return (int(uid) for uid in uids if uid.isascii() and uid.isdigit() and len(uid) <= _DIGITS)


def called_here(lore: Lore, known: Mapping[str, Raw]) -> dict[str, str]:
    """The uids that the entries of a file are known under, by those that they have there."""
    there = [to_string(raw.get("uid")) for raw in lore.entries]
    return dict(zip(there, known_entries(lore, known), strict=True))


def _told(raw: Raw, names: Sequence[str] | None) -> str:
    """What an entry is known again by: these members, "" where it has not all of them; without names all of them."""
    if names is None:
        return stringified({name: value for name, value in raw.items() if name not in _OF_PLACE})
    return stringified([raw.get(name) for name in names]) if all(map(raw.get, names)) else ""
