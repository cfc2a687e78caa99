"""Entries of lorebooks as notes that are read, searched and changed in the books' own files.

An entry's path is its book's file and a name that no file can have there, `Book.json/uid 3`. What is saved changes the
fields that its text changes: every other byte of the file stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Final

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import items_in, parse_json
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.texts import text_digest
from lorestudio.exchange.containers import RISU_MODULE
from lorestudio.exchange.json_file import changed_text
from lorestudio.exchange.lorebooks.crossing import alike, effective
from lorestudio.exchange.lorebooks.documents import Lore
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY, changed_entry, entry_text, native_entry, without_unsaid
from lorestudio.exchange.lorebooks.formats import BY_NAME, CARD, parse_lore, write_lore
from lorestudio.exchange.lorebooks.notes import UID
from lorestudio.exchange.lorebooks.reading import NAMED, Lorebook, lorebook_in, with_texts
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.changes.plan import read_bytes
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.studio.project.project import Project
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.files import ChangedOnDisk, VaultError
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.links.index import LinkIndex, index_note
from lorestudio.vault.links.targets import IndexedNote, NoteNames
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.writer import digest_of, read_note, save_note


def is_book_entry(path: Path) -> bool:
    """Whether the path is that of an entry of a lorebook."""
    return path.name.startswith(NAMED) and path.suffix != ".md"


def ranked_by_order(entry: Entry) -> bool:
    """Whether the entry's priority is a lorebook's order, the highest first; read as a note it has a note's."""
    return is_book_entry(Path(entry.filename)) and UID not in entry.system_fields


def parsed_entry(project: Project, note: NoteText) -> Entry | LeftOutNote | None:
    """The entry that a text of an entry makes, or why it makes none; None where the project has no such entry."""
    uid = note.filename.removeprefix(NAMED)
    for book in (each for each in project.books if each.name == note.vault):
        for entry, raw in zip(book.entries, book.raws, strict=True):
            if entry.name == uid:
                try:
                    alone = with_texts([replace(book, entries=(entry,), raws=(raw,))], [note])
                except VaultError as error:
                    return LeftOutNote(note.filename, note.vault, NoteProblem.UNREADABLE, str(error))
                empty = replace(project, index=replace(project.index, entries=()))  # nothing to look through for one
                return next(iter(empty.with_books(alone).index.entries), None)
    return None


class BookNotes:
    """The entries of lorebooks as the notes of vaults that a search looks through; none names another one.

    An entry is spelled once as long as its book is asked for again and was not read anew.
    """

    def __init__(self) -> None:
        self._spelled: dict[int, tuple[Mapping[str, Json], IndexedNote]] = {}

    def of(self, books: Sequence[Lorebook], unsaved: Mapping[Path, str] = MappingProxyType({})) -> list[VaultNotes]:
        """One vault for each book.

        `unsaved` are texts by the path of their entry that stand in the place of those that were read.
        """
        spelled: dict[int, tuple[Mapping[str, Json], IndexedNote]] = {}
        vaults: list[VaultNotes] = []
        for book in books:
            place, notes = Path(book.place), []
            for entry, raw in zip(book.entries, book.raws, strict=True):
                name = f"{NAMED}{entry.name}"
                known = self._spelled.get(id(raw)) or (raw, _spelled(name, raw))
                spelled[id(raw)] = known  # with the entry itself, so that no other one takes its id
                text = unsaved.get(place / name) if unsaved else None
                note = index_note(name, text, linked=False) if text else known[1]
                names = NoteNames(name, entry.comment or ", ".join(entry.keys) or name)
                notes.append(replace(note, names=names, keys=entry.keys))
            vaults.append(VaultNotes(place, LinkIndex.unlinked(notes)))
        self._spelled = spelled
        return vaults


def _spelled(name: str, raw: Mapping[str, Json]) -> IndexedNote:
    """An entry as a note without names and keys, which an entry says itself; so it is read for its tags alone."""
    text = entry_text(raw)
    if any(member.lower() == "tags" for member in raw):
        return index_note(name, text, linked=False)
    return IndexedNote(name, text, NoteNames(name, name), (), (), (), {})


# ---- in the file ----------------------------------------------------------------------------------------------------


class _BookText(Terse, frozen=True):
    """A lorebook's file as it is on the disk. `found` are its entries by uid, with where they stand in `entries`.

    `other` is what a card or another program's file says in World Info's fields, None for a World Info file. `shown`
    are the uids of what SillyTavern takes for entries, and that program does not, as Risu's folders.
    """

    unprinted = ("data", "document", "found", "other", "shown")

    path: Path
    data: bytes
    document: Json
    found: Mapping[str, Sequence[tuple[str | int, Mapping[str, Json]]]]
    other: Lore | None = None
    shown: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        return digest_of(self.data)

    def free(self) -> Iterator[int]:
        """The numbers that no entry has as its uid."""
        return (number for number in count() if str(number) not in self.found)

    def entry(self, uid: str) -> Mapping[str, Json] | None:
        """The entry, None where there is none. Raises VaultError for two of one uid."""
        here = self.found.get(uid, ())
        if len(here) > 1:
            raise VaultError(
                f"“{self.path.name}” has {len(here)} entries with the uid {uid}, which cannot be told apart."
            )
        return here[0][1] if here else None

    def there(self, uid: str) -> Mapping[str, Json]:
        """The entry. Raises VaultError where there is none, or where two have one uid."""
        raw = self.entry(uid)
        if raw is None and uid in self.shown:
            raise VaultError(
                f"The uid {uid} of “{self.path.name}” is a folder there, and no entry, so it is shown only. Change "
                "it in the program that the file is of."
            )
        if raw is None:
            raise VaultError(f"“{self.path.name}” has no entry with the uid {uid} any more. Reload from disk.")
        return raw

    def changed(self, entries: Mapping[str, Mapping[str, Json] | None]) -> bytes:
        """The file with other entries, by uid: None takes one out, an unknown uid puts one behind the others.

        Raises VaultError where the file has no place for what they say.
        """
        if self.other is not None:
            return self._other_changed(self.other, entries)
        inner = self.document["entries"] if isinstance(self.document, Mapping) else self.document
        places = {self.found[uid][0][0]: raw for uid, raw in entries.items() if uid in self.found}
        new = {uid: raw for uid, raw in entries.items() if uid not in self.found and raw is not None}
        wanted: Json
        if isinstance(inner, Mapping):
            kept = {key: places.get(key, raw) for key, raw in inner.items() if places.get(key, raw) is not None}
            wanted = {**kept, **new}
        else:
            listed = (places.get(place, raw) for place, raw in enumerate(items_in(inner)))
            wanted = [*(raw for raw in listed if raw is not None), *new.values()]
        if isinstance(self.document, Mapping):
            wanted = {**self.document, "entries": wanted}
        text = self.data.decode()
        mark = BOM if text.startswith(BOM) else ""
        return (mark + changed_text(text.removeprefix(BOM), wanted)).encode("utf-8", "surrogatepass")

    def _other_changed(self, lore: Lore, entries: Mapping[str, Mapping[str, Json] | None]) -> bytes:
        wanted = {to_string(raw.get("uid")): raw for raw in lore.entries}
        for uid, raw in entries.items():
            shown = self.entry(uid) or {}
            if raw is None:
                wanted.pop(uid, None)
            else:
                said = {name: value for name, value in raw.items() if shown.get(name, _NOTHING) != value}
                wanted[uid] = {**wanted.get(uid, {"uid": raw.get("uid", uid), **NEW_ENTRY}), **said}
        try:
            written = write_lore(lore.form, lore.name, list(wanted.values()), (self.path, self.data))
            now = _other(self.path, written.data)
        except InputError as error:
            raise VaultError(f"“{self.path.name}” was not saved: {error.message}") from None
        # where an entry was taken out, others may have another number now, as their place in the file is one
        numbers = [to_string(raw.get("uid")) for raw in now.other.entries] if now.other is not None else []
        before = dict(zip(numbers, written.uids, strict=True)) if len(numbers) == len(written.uids) else {}
        there = {before.get(uid, uid): found for uid, found in now.found.items()}
        for uid, raw in entries.items():
            found = there.get(uid)
            lost = [name for name in raw or {} if found and not _says_same(name, raw or {}, found[0][1])]
            if (found is None) != (raw is None) or lost:
                what = ", ".join(lost) or "this entry"
                raise VaultError(
                    f"“{self.path.name}” was not saved: its form ({BY_NAME[lore.form].title}) has no place for {what} "
                    "that SillyTavern would read. Import the book as notes, or save it in SillyTavern as World Info."
                )
        return written.data

    def change(self, entries: Mapping[str, Mapping[str, Json] | None]) -> NoteFileChange:
        """What `changed` does to the file. Raises VaultError."""
        after = self.changed(entries)
        return NoteFileChange(self.path, self.data, after, home=None if self.other is None else self.path.parent)


_NOTHING: Final = object()


def _says_same(name: str, wanted: Mapping[str, Json], found: Mapping[str, Json]) -> bool:
    return name == "uid" or alike(name, effective(wanted, name), effective(found, name))


def _read(path: Path) -> _BookText:
    """The file. Raises VaultError where it cannot be read, or its entries cannot be changed in it."""
    data = read_bytes(path)
    if data is None:
        raise VaultError(f"“{path.name}” is not there any more.")
    return _parsed(path, data)


def _parsed(path: Path, data: bytes) -> _BookText:
    try:
        document = parse_json(data.decode("utf-8-sig"))
    except ValueError:
        return _read_other(path, data)
    inner = document.get("entries") if isinstance(document, Mapping) else document
    pairs: Iterable[tuple[str | int, Json]]
    pairs = inner.items() if isinstance(inner, Mapping) else enumerate(items_in(inner))
    found: dict[str, list[tuple[str | int, Mapping[str, Json]]]] = {}
    for key, raw in pairs:
        if not isinstance(raw, Mapping) or "key" not in raw:
            return _read_other(path, data)
        found.setdefault(to_string(raw.get("uid", key)), []).append((key, raw))
    if not found and not isinstance(inner, Mapping | list | tuple):
        return _read_other(path, data)
    return _BookText(path, data, document, found)


def _read_other(path: Path, data: bytes) -> _BookText:
    try:
        return _other(path, data)
    except InputError as error:
        raise VaultError(f"The entries of “{path.name}” cannot be edited here: {error.message}") from None


def _other(path: Path, data: bytes) -> _BookText:
    """A card, or another program's file: its entries as SillyTavern reads them. Raises InputError."""
    lore = parse_lore(data, path)
    if lore.form == CARD and any(RISU_MODULE in remark for remark in lore.report.remarks):
        advice = "save the character in Risu as a card without it, or import the book as notes."
        raise InputError(path, f"writing the file would take its {RISU_MODULE} away; {advice}")
    known = frozenset({"uid", *NEW_ENTRY})
    book = lorebook_in(data, path)
    found: dict[str, list[tuple[str | int, Mapping[str, Json]]]] = {}
    uids = {to_string(raw.get("uid")) for raw in lore.entries}
    for entry, raw in zip(book.entries, book.raws, strict=True):
        if entry.name in uids:  # a folder is none
            found[entry.name] = [(entry.name, {name: value for name, value in raw.items() if name in known})]
    if found.keys() != uids:
        raise InputError(path, "two of its entries have one number, and SillyTavern takes one. Import it as notes.")
    return _BookText(path, data, None, found, lore, frozenset(entry.name for entry in book.entries) - uids)


def _uid(path: Path) -> str:
    return path.name.removeprefix(NAMED)


def read_text(path: Path) -> tuple[str, str]:
    """The text of a note or of an entry of a lorebook, and its digest. Raises VaultError."""
    if not is_book_entry(path):
        return read_note(path)
    raw = _read(path.parent).there(_uid(path))
    text = entry_text(raw)
    if NoteDocument(text).body != (raw.get("content") or ""):
        raise VaultError("The text of this entry cannot be told from its properties, so it is shown only.")
    return text, text_digest(text)


def entry_texts(paths: Sequence[Path]) -> Mapping[Path, str]:
    """The texts of entries of lorebooks, each book read once. Raises VaultError."""
    books = {book: _read(book) for book in dict.fromkeys(path.parent for path in paths)}
    return {path: entry_text(raw) for path in paths if (raw := books[path.parent].entry(_uid(path))) is not None}


def text_in(path: Path, data: bytes) -> str:
    """The text of an entry in a former content of its book, "" where it had none. Raises VaultError."""
    raw = _parsed(path.parent, data).entry(_uid(path))
    return "" if raw is None else entry_text(raw)


def is_there(path: Path) -> bool:
    """Whether there is such a note, or such an entry in its book. Raises VaultError where the book cannot be read."""
    if not is_book_entry(path):
        return path.exists()
    return path.parent.exists() and _read(path.parent).entry(_uid(path)) is not None


def save_text(path: Path, text: str, expected_digest: str | None) -> str:
    """Save a note as `save_note` does, or an entry into its book; returns the new digest.

    The rest of the book may have changed meanwhile: it stays as it is on the disk. Raises ChangedOnDisk where the entry
    is not the expected one (None: there is none), and VaultError where it cannot be saved.
    """
    if not is_book_entry(path):
        return save_note(path, text, expected_digest)
    book, uid = _read(path.parent), _uid(path)
    raw = book.entry(uid)
    if expected_digest != (None if raw is None else text_digest(entry_text(raw))):
        what = "is gone" if raw is None else "has changed on disk"
        told = f"“{path.parent.name}” was not saved: this entry {what} since it was opened. Compare, and decide."
        raise ChangedOnDisk(path, told)
    changed = _with_text(book, uid, text)
    save_note(book.path, book.changed({uid: changed}), book.digest)
    return text_digest(entry_text(changed))


def text_change(path: Path, text: str) -> NoteFileChange:
    """What giving an entry this text does to its book; it is made again where it is gone. Raises VaultError."""
    book, uid = _read(path.parent), _uid(path)
    return book.change({uid: _with_text(book, uid, text)})


def _with_text(book: _BookText, uid: str, text: str) -> dict[str, Json]:
    raw = book.entry(uid)
    return _changed(raw if raw is not None else without_unsaid(_new_entry(book, uid), text), text)


def _changed(raw: Mapping[str, Json], text: str) -> dict[str, Json]:
    try:
        return changed_entry(raw, text)
    except ValueError as error:
        raise VaultError(f"The entry was not saved: {error}") from None


def _new_entry(book: _BookText, uid: str = "") -> dict[str, Json]:
    """What SillyTavern makes for a new entry, with the first number that is free (rules: sillytavern 5.3)."""
    return {"uid": int(uid) if uid.isdecimal() else uid or next(book.free()), **NEW_ENTRY}


# ---- several entries at once ----------------------------------------------------------------------------------------

_Change = Callable[[Path, Mapping[str, Json], Iterator[int]], Mapping[str, Mapping[str, Json] | None]]
"""What becomes of an entry of this path, and what comes besides, by uid; the numbers are those that are free."""


def plan_new_entry(book: Path, title: str) -> tuple[Planned, Path]:
    """Make an entry with this title, and the path that it will have. Raises InputError for a title, and VaultError."""
    text = _read(book)
    made = {**_new_entry(text), "comment": _titled(title)}
    uid = str(made["uid"])
    return Planned(ChangeSet(f"New entry {title}", (text.change({uid: made}),)), entries=1), book / f"{NAMED}{uid}"


def plan_copies(paths: Sequence[Path]) -> Planned:
    """Put a copy of each entry behind the others of its book. Raises VaultError."""

    def change(_path: Path, raw: Mapping[str, Json], free: Iterator[int]) -> Mapping[str, Mapping[str, Json] | None]:
        number = next(free)
        return {str(number): {**raw, "uid": number}}

    return _planned("Duplicate {what}", paths, change)


def plan_removal(paths: Sequence[Path]) -> Planned:
    """Take the entries out of their books. Raises VaultError."""
    return _planned("Delete {what}", paths, lambda path, _raw, _free: {_uid(path): None})


def plan_title(path: Path, title: str) -> Planned:
    """Give an entry another title, SillyTavern's comment. Raises InputError for a title, and VaultError."""
    comment = _titled(title)
    return _planned("Rename {what}", [path], lambda path, raw, _free: {_uid(path): {**raw, "comment": comment}})


def _titled(title: str) -> str:
    if not title.strip():
        raise InputError("title", "an entry needs a title. Write one.")
    return title


def plan_edits(paths: Sequence[Path], edited: Callable[[Path, str], str]) -> Planned:
    """Give entries other texts, made of their own. Raises InputError where one cannot be made, and VaultError."""

    def change(path: Path, raw: Mapping[str, Json], _free: Iterator[int]) -> Mapping[str, Mapping[str, Json] | None]:
        try:
            return {_uid(path): _changed(raw, edited(path, entry_text(raw)))}
        except ValueError as error:
            raise InputError(path, str(error)) from error

    return _planned("Edit {what}", paths, change)


def file_changes(changes: Sequence[NoteFileChange]) -> tuple[NoteFileChange, ...]:
    """Changes of texts as changes of files: those of entries become one of each book, behind those of notes.

    Raises InputError where an entry cannot have its text, and VaultError.
    """
    texts = {change.path: change.after or "" for change in changes if is_book_entry(change.path)}
    notes = (change for change in changes if change.path not in texts)
    return (*notes, *(plan_edits(list(texts), lambda path, _text: texts[path]).changes.changes if texts else ()))


def entry_changes(book: NoteFileChange) -> Iterator[NoteFileChange]:
    """What the change of a lorebook's file does to the text of each entry. Raises VaultError.

    Nothing is said of entries that have another number alone, as their place in the file is one.
    """
    read = (_parsed(book.path, data or b"") for data in (book.old, book.new))
    before, after = ({uid: entry_text(found[0][1]) for uid, found in each.found.items()} for each in read)
    old, new = (
        {uid: text for uid, text in one.items() if other.get(uid) != text}
        for one, other in ((before, after), (after, before))
    )
    same = Counter(old.values()) & Counter(new.values())
    for texts in (old, new):
        left = same.copy()
        for uid, text in [*texts.items()]:
            if left[text]:
                left[text] -= 1
                del texts[uid]
    for uid in dict.fromkeys((*old, *new)):
        yield NoteFileChange(book.path / f"{NAMED}{uid}", old.get(uid), new.get(uid))


def plan_switch(paths: Sequence[Path]) -> Planned:
    """Switch the entries off, or on where all of them are off. Raises VaultError."""
    entries = [_read(path.parent).entry(_uid(path)) or {} for path in paths]
    on = all(native_entry(raw, "").disabled for raw in entries)
    title = "Switch {what} on" if on else "Switch {what} off"
    return _planned(title, paths, lambda path, raw, _free: {_uid(path): {**raw, "disable": not on}})


def _planned(title: str, paths: Sequence[Path], change: _Change) -> Planned:
    """One change for each book. Raises InputError where no entry is chosen, and VaultError."""
    if not paths:
        raise InputError("entries", "no entry is chosen.")
    changes: list[NoteFileChange] = []
    named: list[str] = []
    count = 0
    for path in dict.fromkeys(path.parent for path in paths):
        book = _read(path)
        free = book.free()
        entries: dict[str, Mapping[str, Json] | None] = {}
        for each in dict.fromkeys(each for each in paths if each.parent == path):
            raw = book.there(_uid(each))
            named.append(to_string(raw.get("comment") or f"entry {_uid(each)}"))
            entries |= change(each, raw, free)
        count += sum(raw is None or raw != book.entry(uid) for uid, raw in entries.items())
        made = book.change(entries)
        changes += [] if made.is_idle else [made]
    what = named[0] if len(named) == 1 else f"{len(named)} entries"
    return Planned(ChangeSet(title.format(what=what), tuple(changes)), entries=count)
