"""Several lorebooks in play: whose each is, which one counts where one is listed twice, and the order of entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.exchange.lorebooks.entry import BookEntry


class BookRole(StrEnum):
    """Whose a lorebook is (rules: sillytavern 5.4 "Books in play")."""

    GLOBAL = "global"
    CHAT = "chat"
    PERSONA = "persona"
    CHARACTER = "character"


PRECEDENCE: Final = (BookRole.GLOBAL, BookRole.CHAT, BookRole.PERSONA, BookRole.CHARACTER)
"""Of a book that is listed twice the one with the earlier role here is used."""


class InsertionStrategy(IntEnum):
    """How the entries of global books and those of the character's are put in order."""

    EVENLY = 0
    CHARACTER_FIRST = 1
    GLOBAL_FIRST = 2


@dataclass(frozen=True, slots=True)
class Lorebook:
    """A lorebook as it was read. SillyTavern knows books by `name`; `place` says to people where it was read from.

    `remarks` are sentences about what does not work here as its author may expect. `raws` are the entries as World Info
    files have them, in the same order. `spoils`: an entry's content is no text, so that SillyTavern scans nothing, of
    any book.
    """

    name: str
    entries: tuple[BookEntry, ...] = field(default=(), repr=False)
    role: BookRole = BookRole.GLOBAL
    place: str = ""
    remarks: tuple[str, ...] = ()
    raws: tuple[Mapping[str, Json], ...] = field(default=(), repr=False, compare=False)
    spoils: bool = False


class BooksInPlay(Struct, frozen=True):
    """The books that are used, in the order they were given, and those that are not because of another one."""

    used: tuple[Lorebook, ...] = ()
    dropped: tuple[tuple[Lorebook, Lorebook], ...] = ()


def in_play(books: Sequence[Lorebook]) -> BooksInPlay:
    """A book that is listed twice is used once: as a global one, else as the chat's, the persona's, the character's.

    Within one role the first one counts. Rules: sillytavern 5.4; the persona's place is newer ST's.
    """
    chosen: dict[str, Lorebook] = {}
    for role in PRECEDENCE:
        for book in books:
            if book.role is role:
                chosen.setdefault(book.name, book)
    used = tuple(book for book in books if chosen[book.name] is book)
    return BooksInPlay(used, tuple((book, chosen[book.name]) for book in books if chosen[book.name] is not book))


def in_order(books: Iterable[Lorebook], strategy: InsertionStrategy) -> tuple[BookEntry, ...]:
    """The entries as they are offered to the budget, each with a uid of its own (rules: sillytavern 5.6).

    The chat's come first, then the persona's, then the others by the strategy; each part by order, the highest first,
    and those of the same order as they stand in their books.
    """
    by_role: dict[BookRole, list[BookEntry]] = {role: [] for role in BookRole}
    for book in books:
        by_role[book.role] += (replace(entry, world=book.name) for entry in book.entries)
    common, own = by_role[BookRole.GLOBAL], by_role[BookRole.CHARACTER]
    if strategy is InsertionStrategy.EVENLY:
        rest = _by_order([*common, *own])
    elif strategy is InsertionStrategy.CHARACTER_FIRST:
        rest = [*_by_order(own), *_by_order(common)]
    else:
        rest = [*_by_order(common), *_by_order(own)]
    listed = [*_by_order(by_role[BookRole.CHAT]), *_by_order(by_role[BookRole.PERSONA]), *rest]
    return tuple(_with_own_uids(listed))


def _by_order(entries: Iterable[BookEntry]) -> list[BookEntry]:
    return sorted(entries, key=lambda entry: -entry.order)


def _with_own_uids(entries: Iterable[BookEntry]) -> Iterable[BookEntry]:
    """`book.uid`, as SillyTavern names an entry; a number behind it where a book repeats one."""
    seen: dict[str, int] = {}
    for entry in entries:
        name = f"{entry.world}.{entry.name or entry.uid}"
        seen[name] = seen.get(name, 0) + 1
        yield replace(entry, uid=name if seen[name] == 1 else f"{name} ({seen[name]})", name=name)
