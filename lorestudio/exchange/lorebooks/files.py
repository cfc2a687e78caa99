"""Files of lorebooks as a person names them, and what may be learnt of one before it is named."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from lorestudio.exchange.lorebooks.books import BookRole, Lorebook
from lorestudio.exchange.lorebooks.reading import load_lorebook
from lorestudio.exchange.problems import InputError


class BookFile(Struct, frozen=True):
    """A lorebook's file and whose book it is."""

    path: str
    role: BookRole


def book_file(text: str) -> BookFile:
    """A file as the command line names it: `FILE`, or `ROLE:FILE`. Raises InputError where it cannot be read.

    Without a role a card's book is the character's, and any other one is global.
    """
    role, colon, path = text.partition(":")
    if colon and role in set(BookRole):
        return BookFile(path, BookRole(role))
    return BookFile(text, load_lorebook(Path(text).expanduser()).role)


class LookedAt(Struct, frozen=True):
    """A file as it was looked at: the book, or a sentence why there is none."""

    file: BookFile
    book: Lorebook | None = None
    problem: str = ""


def added_file(path: Path) -> BookFile:
    """A file with the role that its content suggests. Waits for the disk."""
    try:
        return BookFile(str(path), load_lorebook(path).role)
    except InputError:
        return BookFile(str(path), BookRole.GLOBAL)  # looking at it says what is wrong


def look_at(file: BookFile) -> LookedAt:
    """The file read, for a person to see. Waits for the disk."""
    try:
        return LookedAt(file, load_lorebook(Path(file.path).expanduser(), file.role))
    except InputError as error:
        return LookedAt(file, problem=str(error))
