"""A lorebook and its notes brought together: what was changed here, there and in both, new and gone.

Three versions of every entry decide, member by member: what the note says, what the book says, and how both were when
they last agreed. What both sides said differently is never decided here; who is right is for a person to say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from posixpath import commonpath
from typing import Final

from msgspec import Struct

from lorestudio.domain.file_names import note_name
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import number_in
from lorestudio.domain.records import Terse, replace
from lorestudio.exchange.json_file import keep_copy, read_file, same_value
from lorestudio.exchange.lorebooks.documents import Lore
from lorestudio.exchange.lorebooks.formats import BY_NAME, parse_lore, write_lore
from lorestudio.exchange.lorebooks.notes import (
    BOOK,
    UID,
    Raw,
    changed_note,
    entry_of,
    meaning,
    note_of,
    restored,
    values_of,
)
from lorestudio.exchange.problems import InputError
from lorestudio.studio.lorebooks.exporting import as_read
from lorestudio.studio.lorebooks.importing import FreeNames
from lorestudio.studio.lorebooks.links import (
    SUFFIX,
    BookLink,
    LinkedNote,
    called_here,
    known_entries,
    linked,
    linked_note,
    links_of,
    numbers_in,
    original_text,
)
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.vault_notes import VaultNotes
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.note.three_way_merge import joined, three_way
from lorestudio.vault.writer import read_note


class SyncState(StrEnum):
    """How an entry and its note stand to each other."""

    HERE = "changed here"
    THERE = "changed there"
    BOTH = "changed in both"
    NEW_HERE = "new here"
    NEW_THERE = "new there"
    GONE_HERE = "gone here"
    GONE_THERE = "gone there"

    @property
    def is_gone(self) -> bool:
        """Whether one of them is not there any more."""
        return self in {SyncState.GONE_HERE, SyncState.GONE_THERE}


class Gone(StrEnum):
    """What becomes of the other one where an entry or its note is gone."""

    LEAVE = "leave"
    FOLLOW = "follow"
    UNLINK = "unlink"


class Prefer(StrEnum):
    """Who is right where both say something else."""

    NOTE = "note"
    BOOK = "book"


class SyncChoice(Struct, frozen=True):
    """How both are brought together. Without `prefer` what both changed differently stays as it is on both sides.

    `decided` has, by uid and member, who is right in a field, or what a person made of both; it also holds where only
    one side changed the field. `only` are the uids that are looked at, None for all.
    """

    prefer: Prefer | None = None
    decided: Mapping[str, Mapping[str, Json | Prefer]] = {}
    gone: Gone = Gone.LEAVE
    new: bool = True
    only: Collection[str] | None = None


class SyncItem(Struct, frozen=True):
    """An entry and its note that are not as they were when they last agreed.

    `members` are those that differ from then, `clashes` those that both changed, with what each says; `before` is what
    the entry said then. `settled` says that the choice leaves nothing open, `touched` of one whose other side is gone
    that it was changed since, so that it never goes by itself.
    """

    uid: str
    title: str
    filename: str
    found: SyncState
    members: tuple[str, ...] = ()
    clashes: Mapping[str, tuple[Json, Json]] = {}
    settled: bool = True
    before: Raw = {}
    touched: bool = False

    @property
    def why_left(self) -> str:
        """Why one whose other side is gone is left also where it was to go, too; empty where it is not so."""
        if self.settled or not self.touched:
            return ""
        side = "the entry of the book" if self.found is SyncState.GONE_HERE else "the note"
        return f"{side} was changed since both agreed"


class SyncPlan(Terse, frozen=True):
    """What bringing both together would do. `book` are the bytes that the book's file gets, None for those it has."""

    unprinted = ("changes", "before", "book")

    link: BookLink
    path: Path
    items: tuple[SyncItem, ...]
    changes: ChangeSet
    before: bytes
    book: bytes | None
    remarks: tuple[str, ...] = ()

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to write."""
        return self.book is None and not self.changes.changes

    def keep_copy(self) -> Path | None:
        """Keep a copy beside the book that is about to be written; None where it is not. Raises InputError."""
        return None if self.book is None else keep_copy(self.path, self.before)


def plan_sync(
    link: BookLink, vault: VaultNotes, rules: ParseRules, choice: SyncChoice, at: Path | None = None
) -> SyncPlan:
    """What has to be written so that the book and its notes say the same. Waits for the disk.

    `at` is where the book lies now, if it was moved or renamed: there it stays linked. Raises InputError where the book
    is not there, or is another one.
    """
    path = at or Path(link.file)
    if not path.exists():
        raise InputError(
            path,
            f"the lorebook {link.book} is gone from there. Where it lies elsewhere now, say so: --with FILE, or "
            "“It lies elsewhere…” in the window.",
        )
    data = read_file(path)
    lore = parse_lore(data, path, heads=link.heads)
    found = known_entries(lore, link.entries)
    if not _is_same_book(link, lore, found, path):
        raise InputError(
            path,
            f"this is another book than {link.book}: it has another format, or less than half of its entries. "
            "Import it instead.",
        )
    both = _Both(link, vault, rules, choice, found)
    ranked = any(form.ranked for form in BY_NAME[link.form].forms)
    if ranked:
        both.rank_as_notes()
    there = dict(both.there)
    items = tuple(both.look())
    book: bytes | None = None
    read = found
    if both.there != there:
        going = list(both.there.values())
        called = called_here(lore, link.entries)
        written = write_lore(link.form, link.book, going, (path, data), heads=link.heads, called=called)
        book = written.data if written.data != data else None
        read = as_read(written, parse_lore(written.data, path, heads=link.heads), going)
    if ranked or both.there != there:
        both.take_as_read(read)
    placed = [uid for uid in read if uid in both.base]
    moved = placed != [uid for uid in both.base if uid in read]
    if moved:
        both.base = {uid: both.base[uid] for uid in (*placed, *both.base)}
    after = replace(linked(link, both.base, both.notes, data if book is None else book), file=str(path))
    changes = [] if book is None else [NoteFileChange(path, data, book, home=vault.folder)]
    changes += both.changes
    place = vault.path(link.place)
    known = read_note(place)[0] if place.exists() else None
    if known is None or book is not None or moved or replace(after, original=link.original) != link:
        changes.append(NoteFileChange(place, known, after.data))
    remarks = []
    if book is not None and path.parent.name == _WORLDS:
        remarks.append(
            "SillyTavern keeps books in memory: reload its page before you edit there, or it writes its own."
        )
    return SyncPlan(link, path, items, ChangeSet(f"Sync with {path.name}", tuple(changes)), data, book, tuple(remarks))


def moved_link(links: Iterable[BookLink], path: Path) -> BookLink | None:
    """The link to a book that is gone from its place and lies at `path` now. Waits for the disk. Raises InputError."""
    data = read_file(path)
    for link in links:
        lore = parse_lore(data, path, heads=link.heads)
        if not Path(link.file).exists() and _is_same_book(link, lore, known_entries(lore, link.entries), path):
            return link
    return None


def found_link(vault: VaultNotes, path: Path, rules: ParseRules) -> BookLink:
    """A link to a book that was lost, found again by the numbers that notes carry. Waits for the disk.

    Of a book that has another name now the notes are those that name no linked book, and half of which say what its
    entries say. Nobody knows any more how both last agreed, so what they say differently is to be asked.

    Raises InputError.
    """
    data = read_file(path)
    lore = parse_lore(data, path)
    books: dict[str, dict[str, tuple[str, Raw]]] = {}
    for filename, note in sorted(vault.index.notes.items()):
        said = entry_of(note.text, filename, rules)
        if said.book and said.uid is not None:
            books.setdefault(said.book, {}).setdefault(to_string(said.uid), (filename, {**said.raw, "uid": said.uid}))
    linked_books = {link.book for link in links_of(vault)}
    own, there = dict[str, tuple[str, Raw]](), dict[str, Raw]()
    for book in [lore.name] if lore.name in books else [name for name in books if name not in linked_books]:
        by_number = sorted(books[book], key=lambda uid: (len(uid), uid))
        said_here = {uid: books[book][uid][1] for uid in by_number}
        found = known_entries(lore, said_here)
        if book == lore.name or _are_alike(said_here, found):
            own, there = books[book], found
            break
    entries: dict[str, Raw] = {}
    notes: dict[str, LinkedNote] = {}
    for uid, entry in there.items():
        if uid in own:
            filename, raw = own[uid]
            differs = _changed(restored(entry, raw), entry)
            entries[uid] = {name: _UNKNOWN if name in differs else value for name, value in entry.items()}
            notes[uid] = LinkedNote(filename, b"")
    if not notes:
        raise InputError(path, f"no note of the vault says that it is of this book ({BOOK}: {lore.name}). Import it.")
    folder = commonpath([note.filename.rpartition("/")[0] for note in notes.values()])
    place = "/".join(filter(None, (folder, f"{note_name(book, 'Lorebook')}{SUFFIX}")))
    return BookLink(book, str(path), lore.form, folder, entries, notes, original_text(data), place)


_UNKNOWN: Final = "\0unknown"
"""Stands for what an entry said when both sides last agreed, where nobody knows that."""
_WORLDS: Final = "worlds"
"""The folder of books in SillyTavern's."""


def _is_same_book(link: BookLink, lore: Lore, there: Mapping[str, Raw], path: Path) -> bool:
    """Whether half of the entries are known. One without any may have been emptied, but only in its old place."""
    emptied = not there and str(path) == link.file
    return lore.form == link.form and (emptied or _are_alike(link.entries, there))


def _are_alike(known: Mapping[str, Raw], there: Mapping[str, Raw]) -> bool:
    """Whether half of the known entries are there, with the text, the name or the keys that they had."""
    alike = sum(
        any(same_value(there[uid].get(name), raw.get(name)) for name in ("content", "comment", "key"))
        for uid, raw in known.items()
        if uid in there
    )
    return 2 * alike >= len(known)


@dataclass(slots=True)
class _Both:
    """Both sides, and what is done to them. `base` and `notes` become those of the link."""

    link: BookLink
    vault: VaultNotes
    rules: ParseRules
    choice: SyncChoice
    there: dict[str, Raw]
    base: dict[str, Raw] = field(init=False)
    notes: dict[str, LinkedNote] = field(init=False)
    changes: list[NoteFileChange] = field(default_factory=list)
    _names: FreeNames = field(init=False)

    def __post_init__(self) -> None:
        self._names = FreeNames(self.vault.folder)
        self.there, self.base, self.notes = dict(self.there), dict(self.link.entries), dict(self.link.notes)

    def rank_as_notes(self) -> None:
        """Where the place in the file is the order, take the orders that the notes say for those places.

        Then an entry that only others came before keeps its own, and one without a note has that of the one before it.
        """
        own = {
            uid: said
            for uid, note in self.link.notes.items()
            if uid in self.there and uid in self.base
            and (said := number_in((note.said or self.base[uid]).get("order"))) is not None
        }  # fmt: skip
        then = iter(sorted(own, key=lambda uid: -(number_in(self.base[uid].get("order")) or 0)))
        order = max(own.values(), default=None)
        for uid, entry in self.there.items():
            order = own[next(then)] if uid in own else order
            self.there[uid] = entry if order is None else {**entry, "order": order}
        self.base |= {uid: {**self.base[uid], "order": said} for uid, said in own.items()}

    def look(self) -> Iterator[SyncItem]:
        """What is found, one entry after the other; what the choice settles is done."""
        places = self._places()
        known = frozenset(self.there)
        for uid, note in self.link.notes.items():
            if uid not in self.link.entries or not (self.choice.only is None or uid in self.choice.only):
                continue
            filename = places.get(uid)
            if filename is None:
                yield self._gone(uid, note, SyncState.GONE_HERE)
            elif uid not in known:
                yield self._gone(uid, replace(note, filename=filename), SyncState.GONE_THERE)
            elif (item := self._compared(uid, note, filename)) is not None:
                yield item
        yield from self._new_there(known)
        yield from self._new_here(frozenset(places.values()))

    def _places(self) -> dict[str, str]:
        """Where the linked notes lie now: by their own number, else under the name that they had."""
        found: dict[str, str] = {}
        for filename, note in self.vault.index.notes.items():
            if UID in note.text:
                values = values_of(note.text)[0]
                uid = to_string(values.get(UID))
                if values.get(BOOK) == self.link.book and uid in self.link.notes:
                    found.setdefault(uid, filename)
        for uid, one in self.link.notes.items():
            if one.filename in self.vault.index.notes and one.filename not in found.values():
                found.setdefault(uid, one.filename)
        return found

    def _compared(self, uid: str, note: LinkedNote, filename: str) -> SyncItem | None:
        """Bring one entry and its note together; None where both are as they were."""
        text = read_note(self.vault.path(filename))[0]
        base, theirs = self.base[uid], self.there[uid]
        was = base if note.said is None else note.said
        there = _changed(base, theirs)
        if text == note.text and not there:
            self.notes[uid] = replace(note, filename=filename)
            return None
        said = entry_of(text, filename, self.rules, note.text)
        now = was if text == note.text or said.left_out else restored(was, said.raw)
        here = _changed(was, now)
        if not here and not there:
            self.notes[uid] = replace(note, filename=filename, data=text.encode())
            return None
        mine = _with_members(base, now, here)  # what the book could not say is no change
        decided = self.choice.decided.get(uid, {})
        merged, clashes = _merged(base, mine, theirs, self.choice.prefer, decided)
        for_note = merged | {name: mine[name] for name in clashes if name in mine}
        after = said.settled or text
        if meaning(for_note) != meaning(mine) or _foreign(for_note) != _foreign(mine):
            book = self.link.book
            wanted = note_of(for_note, book, self.rules, uid)
            own = note_of(mine, book, self.rules, uid)
            after, pieces = changed_note(after, own, wanted, decided="content" in decided)
            if pieces:  # the note's own text is another than the entry's, and both changed the same lines
                clashes["content"] = mine.get("content"), theirs.get("content")
        for_book = {name: value for name, value in merged.items() if name not in clashes}
        for_book |= {name: theirs[name] for name in clashes if name in theirs}
        title = said.title or note.filename
        settled = not clashes
        agreed = {name: value for name, value in merged.items() if name not in clashes}
        agreed |= {name: base[name] for name in clashes if name in base}
        if text != after:
            self.changes.append(NoteFileChange(self.vault.path(filename), text, after))
        self.there[uid], self.base[uid] = _in_order(theirs, for_book), _in_order(theirs, agreed)
        whole = _with_members(_with_members(now, agreed, there), was, clashes)
        self.notes[uid] = linked_note(filename, note.text if clashes else after, whole, self.base[uid])
        found = SyncState.BOTH if here and there else SyncState.HERE if here else SyncState.THERE
        return SyncItem(uid, title, filename, found, tuple(sorted(here | there)), clashes, settled, base)

    def take_as_read(self, read: Mapping[str, Raw]) -> None:
        """Keep in mind of the written entries what the book says of them now, and what their notes say beyond that."""
        for uid, entry in read.items():
            base, note = self.base.get(uid), self.notes.get(uid)
            if base is None:
                continue
            if note is not None:
                self.base[uid] = _with_members(base, entry, _changed(self.there[uid], entry))
            if note is None or not _alike(base.get("order"), self.there[uid].get("order")):  # nobody has decided that
                self.base[uid] = _with_members(self.base[uid], self.link.entries.get(uid, base), {"order"})
            if note is not None:
                whole = base if note.said is None else note.said
                self.notes[uid] = linked_note(note.filename, note.text, whole, self.base[uid])

    def _gone(self, uid: str, note: LinkedNote, found: SyncState) -> SyncItem:
        """One side is gone. Where the other was changed since, nothing is done by itself."""
        base = self.base[uid]
        path = self.vault.path(note.filename)
        if found is SyncState.GONE_HERE:
            touched = bool(_changed(base, self.there[uid])) if uid in self.there else False
        else:
            touched = read_note(path)[0] != note.text
        settled = self.choice.gone is Gone.UNLINK or (self.choice.gone is Gone.FOLLOW and not touched)
        if settled:
            if self.choice.gone is Gone.FOLLOW and found is SyncState.GONE_HERE:
                self.there.pop(uid, None)
            elif self.choice.gone is Gone.FOLLOW:
                self.changes.append(NoteFileChange(path, read_note(path)[0], None))
            if found is SyncState.GONE_HERE or self.choice.gone is Gone.FOLLOW:
                del self.notes[uid]  # an unlinked note is kept in mind, so that it is not taken for a new one
            if uid not in self.there:
                self.base.pop(uid)
        return SyncItem(uid, note_title(base, uid), note.filename, found, settled=settled, touched=touched)

    def _new_there(self, known: Collection[str]) -> Iterator[SyncItem]:
        for uid in known:
            wanted = self.choice.only is None or uid in self.choice.only
            if uid in self.link.entries or not wanted:
                continue
            raw = self.there[uid]
            note = note_of(raw, self.link.book, self.rules, uid)
            name = self._names.get(self.link.folder, note_name(note.title, f"Entry {uid}"))
            if self.choice.new:
                self.changes.append(NoteFileChange(self.vault.path(name), None, note.text))
                self.base[uid], self.notes[uid] = raw, LinkedNote(name, note.text.encode())
            yield SyncItem(uid, note.title, name, SyncState.NEW_THERE, settled=self.choice.new)

    def _new_here(self, known: Collection[str]) -> Iterator[SyncItem]:
        """Notes in the book's folder that are entries and of no other book."""
        highest = max(numbers_in((*self.base, *self.there, *self.link.entries)), default=-1)
        for filename, note in sorted(self.vault.index.notes.items()):
            inside = not self.link.folder or filename.startswith(f"{self.link.folder}/")
            if filename in known or not inside or self.rules.lorebook_tag not in note.tags:
                continue
            text = read_note(self.vault.path(filename))[0]
            said = entry_of(text, filename, self.rules)
            if said.left_out or said.book not in {"", self.link.book}:
                continue
            highest += 1
            uid = str(highest)
            if self.choice.only is not None and filename not in self.choice.only:
                continue
            if self.choice.new:
                raw = {"uid": highest, **said.raw}
                self.there[uid] = self.base[uid] = raw
                self.notes[uid] = LinkedNote(filename, text.encode())
            yield SyncItem(filename, said.title, filename, SyncState.NEW_HERE, settled=self.choice.new)


def note_title(raw: Raw, uid: str) -> str:
    """What an entry is called."""
    return to_string(raw.get("comment") or "") or f"entry {uid}"


_NOTHING: Final = object()


def _changed(base: Raw, other: Raw) -> set[str]:
    """The members that are other ones, or there alone."""
    return {name for name in {**base, **other} if not _alike(base.get(name, _NOTHING), other.get(name, _NOTHING))}


def _with_members(raw: Raw, other: Raw, names: Collection[str]) -> dict[str, Json]:
    """An entry with some of its members as another one has them, or without them as that is."""
    kept = {name: value for name, value in raw.items() if name not in names or name in other}
    return {**kept, **{name: value for name, value in other.items() if name in names}}


def _alike(one: object, other: object) -> bool:
    if type(one) is type(other) is str:
        return one == other
    if one is _NOTHING or other is _NOTHING:
        return one is other
    return same_value(one, other)  # type: ignore[arg-type]  # values of JSON


_Clashes = dict[str, tuple[Json, Json]]


def _merged(
    base: Raw, mine: Raw, theirs: Raw, prefer: Prefer | None, decided: Mapping[str, Json | Prefer]
) -> tuple[dict[str, Json], _Clashes]:
    """What both say together, and what they say differently and nobody has decided. What is decided always holds."""
    merged: dict[str, Json] = {}
    clashes: _Clashes = {}
    for name in {**theirs, **mine, **base}:
        versions = [side.get(name, _NOTHING) for side in (base, mine, theirs)]
        old, own, other = versions
        taken = other if _alike(old, own) else own
        both = not (_alike(old, own) or _alike(old, other))
        if not _alike(own, other) and (both or name in decided):
            text = _lines(*versions) if name == "content" else None
            answer = decided.get(name, prefer if text is None else text)
            if answer is None and name not in decided:
                clashes[name] = (mine.get(name), theirs.get(name))
                continue
            taken = own if answer is Prefer.NOTE else other if answer is Prefer.BOOK else answer
        if taken is not _NOTHING:
            merged[name] = taken  # type: ignore[assignment]  # a value of JSON
    return merged, clashes


def _lines(base: object, mine: object, theirs: object) -> str | None:
    """Three texts brought together line by line; None where a person has to decide."""
    if not (isinstance(base, str) and isinstance(mine, str) and isinstance(theirs, str)):
        return None
    pieces = three_way(base, mine, theirs)
    return None if any(piece.merged is None for piece in pieces) else joined(pieces, {})


def _in_order(order: Raw, values: Raw) -> dict[str, Json]:
    """The values in the order of another entry, new ones last."""
    return {name: values[name] for name in (*order, *(name for name in values if name not in order)) if name in values}


def _foreign(raw: Raw) -> dict[str, Json]:
    return {name: value for name, value in raw.items() if name not in meaning(raw)}
