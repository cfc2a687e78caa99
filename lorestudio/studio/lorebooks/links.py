"""What links a lorebook and the notes that it became, or that it was made of: kept in the vault, beside the notes.

`NAME.book.json` says which entry is which note, and how both were when they last agreed. So it is made, undone and
moved together with the notes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.exchange.json_file import parse_document, read_file, same_value
from lorestudio.exchange.lorebooks.notes import Raw
from lorestudio.exchange.problems import checked
from lorestudio.settings.files import json_bytes
from lorestudio.studio.notes.vault_notes import VaultNotes
from lorestudio.vault.folder import walked

SUFFIX: Final = ".book.json"
_VERSION: Final = 1
_ADVICE: Final = "Delete the file; then the book can be imported or exported again."


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A note as it was when it last agreed with its entry. `filename` is relative to the vault.

    `said` is the entry that it was then, where the book's format could not say all of it; else None.
    """

    filename: str
    text: str = field(repr=False)
    said: Raw | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class BookLink:
    """A lorebook and its notes. `file` is where the book lies, `form` its format, `folder` that of its notes.

    `entries` are the book's as World Info has them, by uid as text; `notes` the note of each; those of `apart` have
    none, because they were left out. `original` is the text of the book's file, "" where that is no text.
    """

    book: str
    file: str
    form: str
    folder: str
    entries: Mapping[str, Raw] = field(repr=False)
    notes: Mapping[str, LinkedNote] = field(repr=False)
    original: str = field(default="", repr=False)
    place: str = ""
    """Where the link itself lies in the vault."""
    heads: bool = False
    """Whether what NovelAI puts before and behind an entry is part of its text."""

    @property
    def apart(self) -> frozenset[str]:
        """The uids of entries that have no note, because somebody wanted it so."""
        return frozenset(self.entries.keys() - self.notes.keys())

    @property
    def text(self) -> str:
        """The link as it is written."""
        return json_bytes({
            "version": _VERSION, "book": self.book, "file": self.file, "format": self.form, "folder": self.folder,
            "entries": self.entries,
            "notes": {uid: _spelled(note) for uid, note in self.notes.items()},
            "original": self.original, **({"heads": True} if self.heads else {}),
        }).decode()  # fmt: skip


def _spelled(note: LinkedNote) -> dict[str, Json]:
    return {"note": note.filename, "text": note.text, **({} if note.said is None else {"said": note.said})}


class _Note(BaseModel):
    model_config = ConfigDict(strict=True)

    note: str
    text: str
    said: dict[str, JsonValue] | None = None


class _Link(BaseModel):
    model_config = ConfigDict(strict=True, populate_by_name=True)

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
    found = checked(_Link, parse_document(read_file(path, "link of a book"), path, "link of a book"), path, _ADVICE)
    notes = {uid: LinkedNote(note.note, note.text, note.said) for uid, note in found.notes.items()}
    return BookLink(
        found.book, found.file, found.form, found.folder, found.entries, notes, found.original, place, found.heads
    )  # fmt: skip


def links_of(vault: VaultNotes) -> tuple[BookLink, ...]:
    """The links that lie in a vault. Waits for the disk. Raises InputError for a damaged one."""
    below = (place / name for place, files in walked(vault.folder) for name in files)
    places = sorted(path for path in below if path.name.endswith(SUFFIX) and not path.name.startswith("."))
    return tuple(read_link(vault.folder, path.relative_to(vault.folder).as_posix()) for path in places)


def link_to(links: Sequence[BookLink], file: Path) -> BookLink | None:
    """The link to a book's file."""
    return next((link for link in links if Path(link.file) == file), None)


def original_text(data: bytes) -> str:
    """The text of a book's file, "" for a picture or an archive."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def linked_note(filename: str, text: str, said: Raw, entry: Raw) -> LinkedNote:
    """A note that said the entry `said`, of which the book holds `entry` now."""
    return LinkedNote(filename, text, None if same_value(said, entry) else said)


def linked(link: BookLink, entries: Mapping[str, Raw], notes: Mapping[str, LinkedNote], data: bytes) -> BookLink:
    """The link after both sides were brought together."""
    return replace(link, entries=entries, notes=notes, original=original_text(data))
