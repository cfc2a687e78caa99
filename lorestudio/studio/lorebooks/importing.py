"""Lorebooks become notes of a vault: what becomes of every entry and field, said before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.file_names import free_name, note_name, same_name
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import texts_in
from lorestudio.domain.records import Terse, grouped, replace
from lorestudio.exchange.json_file import read_file
from lorestudio.exchange.lorebooks.crossing import EntryFate, Fidelity, FieldFate, LoreReport, told_once
from lorestudio.exchange.lorebooks.documents import Lore
from lorestudio.exchange.lorebooks.entry import native_entry
from lorestudio.exchange.lorebooks.formats import NOTES, parse_lore, read_lore
from lorestudio.exchange.lorebooks.notes import (
    MAPPED,
    PREFIX,
    BookNote,
    Raw,
    changed_note,
    entry_of,
    note_of,
    own_text,
    partners_of,
    title_of,
    values_of,
)
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import real_path
from lorestudio.studio.lorebooks.links import SUFFIX, BookLink, LinkedNote, link_to, links_of, original_text
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.renaming import checked_folder
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.trace.wording import plural
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.files import VaultError
from lorestudio.vault.links.targets import NOTE_SUFFIX
from lorestudio.vault.note.three_way_merge import joined, three_way
from lorestudio.vault.writer import read_note


class Twin(StrEnum):
    """What becomes of an entry that a note of the vault says already."""

    SKIP = "skip"
    REPLACE = "replace"
    BOTH = "keep-both"
    MERGE = "merge"


class BookFileRead(Terse, frozen=True):
    """A file of lore as it was read. `original` is its text in UTF-8, b"" of a picture or an archive.

    It is None for Markdown, which no book is written back into.
    """

    unprinted = ("lore", "original")

    path: Path
    original: bytes | None
    lore: Lore
    heads: bool = False


class ImportChoice(Struct, frozen=True):
    """How books are imported. `folder` is where their folders go, "" for the vault itself.

    `grouped` keeps the folders, categories or groups of a file. `twins` is what becomes of entries that the vault has
    already: None skips those of the same text and keys and keeps both of the others. `only` are the uids that are
    imported, by name of the book, None for all. `excludes`: members of a small inclusion group exclude each other.
    `gates`: the characters of a filter become a gate.
    """

    folder: str = ""
    grouped: bool = True
    disabled: bool = True
    twins: Twin | None = None
    only: Mapping[str, frozenset[str]] | None = None
    excludes: bool = False
    gates: bool = False


class ImportedEntry(Struct, frozen=True, gc=False):  # no part of a cycle, and there are thousands of them
    """What becomes of one entry. `source` is its book's own name, `filename` the note that it becomes or goes into,
    "" where it is left out.

    `twin` is the note that says the same, and `alike` in what; `way` is what is done about that.
    """

    source: str
    fate: EntryFate
    filename: str = ""
    twin: str = ""
    alike: str = ""
    way: Twin | None = None


@dataclass(frozen=True)
class ImportPlan:
    """What becomes of every entry, and the changes that make it so: notes, and links to the books.

    `left` says which files could not be taken.
    """

    entries: tuple[ImportedEntry, ...]
    reports: tuple[LoreReport, ...]
    title: str
    made: Sequence[NoteFileChange | BookLink] = field(repr=False)
    folder: Path
    left: tuple[str, ...] = ()

    @cached_property
    def planned(self) -> Planned:
        """All of it as one step, in which each link has its whole book once more: spelled for who writes it."""
        changes = tuple(
            NoteFileChange(self.folder / one.place, None, one.data) if isinstance(one, BookLink) else one
            for one in self.made
        )
        remarks = told_once(remark for report in self.reports for remark in report.remarks)
        return Planned(ChangeSet(self.title, changes), remarks)

    @property
    def notes(self) -> frozenset[str]:
        """The notes that entries become or go into."""
        return frozenset(one.filename for one in self.entries if one.filename)


def read_books(
    paths: Sequence[Path],
    *,
    heads: bool = False,
    split: int = 0,
    links: Sequence[BookLink] = (),
    left: list[InputError | VaultError] | None = None,
) -> tuple[BookFileRead, ...]:
    """The lore in the files. Waits for the disk. Raises InputError, also for a book of `links`.

    `heads` and `split` as in `parse_lore`. Of several files those that cannot be taken go to `left`, where it is given,
    and stop no other.
    """
    read = []
    for path in map(real_path, paths):
        try:
            data = b"" if path.is_dir() or path.suffix.lower() == NOTE_SUFFIX else read_file(path)
            lore = parse_lore(data, path, heads=heads, split=split) if data else read_lore(path, split=split)
            original = original_text(data) if data and (lore.form != NOTES or not split) else None
            book = BookFileRead(path, original, lore, heads)
            check_unlinked(book, links)
        except (InputError, VaultError) as error:
            if left is None:
                raise
            left.append(error)
        else:
            read.append(book)
    if left and not read:
        raise left[0]
    return tuple(read)


def check_unlinked(book: BookFileRead, links: Sequence[BookLink]) -> None:
    """Raises InputError for a book that the vault of these links is linked to already."""
    if (link := link_to(links, book.path)) is not None:
        raise InputError(
            book.path,
            f"the vault is linked to this book already ({link.place}). `lorestudio sync` brings both together.",
        )


def plan_import(
    books: Sequence[BookFileRead],
    vault: VaultNotes,
    rules: ParseRules,
    choice: ImportChoice,
    on_progress: Callable[[int, int], None] | None = None,
) -> ImportPlan:
    """What the import would do, all of it as one step. Waits for the disk.

    Raises InputError for a book that the vault is linked to already, and where no entry is left to import.
    """
    links = links_of(vault)
    for book in books:
        check_unlinked(book, links)
    steps = sum(len(book.lore.entries) for book in books)
    making = _Making(vault, rules, choice, {link.book for link in links})
    found: list[ImportedEntry] = []
    reports = []
    for book in books:
        done = []
        for one in making.take(book):
            done.append(one)
            if on_progress is not None:
                on_progress(len(found) + len(done), steps)
        found += done
        notes = LoreReport("World Info", "notes", tuple(one.fate for one in done), making.remarks(done))
        reports.append(replace(book.lore.report.then(notes), book=book.lore.name))
    made = sum(one.filename != "" for one in found)
    names = ", ".join(book.lore.name for book in books)
    if not made:
        raise InputError(names, "no entry is left to import: every one is empty, left out, or in the vault already.")
    title = f"Import {plural(made, '# entry|# entries')} of {names}"
    return ImportPlan(tuple(found), tuple(reports), title, tuple(making.changes), vault.folder)


_EMPTY: Final = "It has no text and no keys."


@dataclass(slots=True)
class _Making:
    """Makes notes of books, one after the other, and keeps in mind which names are taken."""

    vault: VaultNotes
    rules: ParseRules
    choice: ImportChoice
    books: set[str]
    changes: list[NoteFileChange | BookLink] = field(default_factory=list)
    _names: FreeNames = field(init=False)
    _twins: _Twins = field(init=False)

    def __post_init__(self) -> None:
        self._names = FreeNames(self.vault.folder)
        self._twins = _Twins.of(self.vault, self.rules)

    def take(self, book: BookFileRead) -> Iterator[ImportedEntry]:
        """Make the notes of a book, and the link to it."""
        lore = book.lore
        name = self._free_book(lore.name)
        folder = checked_folder(f"{self.choice.folder}/{note_name(name, 'Lorebook')}", self.vault.folder)
        notes: dict[str, LinkedNote] = {}
        entries: dict[str, Raw] = {}
        groups = _groups(lore.entries) if self.choice.excludes else {}
        wanted = None if self.choice.only is None else self.choice.only.get(lore.name, frozenset())
        for raw in lore.entries:
            uid = to_string(raw.get("uid"))
            entries[uid] = raw
            note = _approximated(note_of(raw, name, self.rules), raw, groups, gates=self.choice.gates)
            left_out = self._left_out(raw, wanted, uid)
            if left_out:
                yield ImportedEntry(lore.name, replace(note.fate, left_out=left_out))
                continue
            inner = note_name(lore.folders.get(uid, ""), "") if self.choice.grouped else ""
            done = self._make(note, "/".join(filter(None, (folder, inner))), lore.name, uid)
            change = self.changes[-1] if done.filename else None
            if isinstance(change, NoteFileChange):
                notes[uid] = LinkedNote(done.filename, change.new or b"")
            yield done
        if notes and book.original is not None:
            place = f"{folder}/{note_name(name, 'Lorebook')}{SUFFIX}"
            self.changes.append(
                BookLink(name, str(book.path), lore.form, folder, entries, notes, book.original, place, book.heads)
            )

    def remarks(self, done: Sequence[ImportedEntry]) -> tuple[str, ...]:
        """What a person should know of the notes of one book."""
        titles = Counter(one.fate.title.lower() for one in done if one.filename)
        twice = sum(amount > 1 for amount in titles.values())
        if not twice:
            return ()
        several = plural(twice, "# title is|# titles are")
        return (f"{several} that of several notes: DeepLore counts cooldowns by title, and `requires` finds one.",)

    def _free_book(self, name: str) -> str:
        number, free = 1, name
        while free in self.books:
            number += 1
            free = f"{name} ({number})"
        self.books.add(free)
        return free

    def _left_out(self, raw: Raw, wanted: frozenset[str] | None, uid: str) -> str:
        if wanted is not None and uid not in wanted:
            return "It was not chosen."
        if raw.get("disable") is True and not self.choice.disabled:
            return "It is switched off."
        return "" if raw.get("content") or raw.get("key") else _EMPTY

    def _make(self, note: BookNote, folder: str, book: str, uid: str) -> ImportedEntry:
        twin, alike = self._twins.find(note)
        way = None
        if twin:
            way = self.choice.twins or (Twin.SKIP if alike == _ALL_ALIKE else Twin.BOTH)
            if way is Twin.SKIP:
                said = f"{twin} has {alike} already."
                return ImportedEntry(book, replace(note.fate, left_out=said), twin=twin, alike=alike, way=way)
            if way is not Twin.BOTH:
                path = self.vault.path(twin)
                try:
                    text = read_note(path)[0]
                    after = replaced(text, note, self.rules) if way is Twin.REPLACE else merged(text, note)
                except (VaultError, ValueError) as error:
                    raise InputError(twin, f"{error} Choose to skip it or to keep both.") from error
                self._twins.forget(twin)
                self.changes.append(NoteFileChange(path, text, after))
                fate = note.fate if way is Twin.REPLACE else _merged_fate(note, after, self.rules)
                return ImportedEntry(book, fate, twin, twin, alike, way)
        filename = self._names.get(folder, note_name(note.title, f"Entry {uid}"))
        self.changes.append(NoteFileChange(self.vault.path(filename), None, note.text))
        return ImportedEntry(book, note.fate, filename, twin, alike, way)


# ---- what DeepLore only has something close to ----------------------------------------------------------------------

_MOST_MEMBERS: Final = 8
"""A larger inclusion group would make lists that nobody keeps in order."""


def _groups(entries: Sequence[Raw]) -> dict[str, list[str]]:
    """The titles of the members of each small inclusion group."""
    found = grouped(
        (group, title_of(raw, to_string(raw.get("uid")))) for raw in entries for group in native_entry(raw, "").groups
    )
    return {group: titles for group, titles in found.items() if 1 < len(titles) <= _MOST_MEMBERS}


def _approximated(note: BookNote, raw: Raw, groups: Mapping[str, Sequence[str]], *, gates: bool) -> BookNote:
    """The note with `excludes` for its groups, and a gate for its characters, and what is to be said of them."""
    if not (groups or gates):
        return note
    entry = native_entry(raw, "")
    others = [title for group in entry.groups for title in groups.get(group, ()) if title != note.title]
    added: dict[str, tuple[str, Json, str]] = {}
    if others and "excludes" not in note.properties:
        said = "The notes exclude each other: of those that match, the most important one stays; no lot is drawn."
        added["group"] = "excludes", list(dict.fromkeys(others)), said
    if gates and entry.characters and not entry.characters_excluded and "character_present" not in note.properties:
        said = "A gate by the names of the characters' files: rename them where the chat calls them otherwise."
        added["characterFilter"] = "character_present", list(entry.characters), said
    fates = [
        FieldFate(one.field, Fidelity.APPROXIMATE, added[one.field][2]) if one.field in added else one
        for one in note.fate.fields
    ]
    properties = {**note.properties, **{name: value for name, value, _said in added.values()}}
    return replace(note, properties=properties, fate=replace(note.fate, fields=tuple(fates))) if added else note


class FreeNames(Struct):
    """Gives names in a vault that neither a file nor one given before has. Waits for the disk."""

    vault: Path
    _taken: dict[str, dict[str, int]] = {}

    def get(self, folder: str, name: str) -> str:
        """A free name in that folder of the vault for a note that would be called so."""
        place, known = self.vault / folder, same_name(folder)
        if known not in self._taken:
            here = place.iterdir() if place.is_dir() else ()
            self._taken[known] = {same_name(path.name): 1 for path in here}
        free = free_name(name, NOTE_SUFFIX, self._taken[known])
        return f"{folder}/{free}" if folder else free


# ---- what the vault has already -------------------------------------------------------------------------------------

_ALL_ALIKE: Final = "the same text and keys"
_TEXT: Final = "the same text"
_KEYS: Final = "the same keys"


class _Twins(Struct):
    """The notes of a vault by what they say and by their keys."""

    by_text: dict[str, str] = {}
    by_keys: dict[frozenset[str], str] = {}
    keys: dict[str, frozenset[str]] = {}

    @classmethod
    def of(cls, vault: VaultNotes, rules: ParseRules) -> _Twins:
        found = cls()
        for filename, note in vault.index.notes.items():
            _values, body = values_of(note.text)
            found.keys[filename] = frozenset(key.lower() for key in note.keys)
            if text := _plain(body):
                found.by_text.setdefault(text, filename)
            if found.keys[filename] and rules.lorebook_tag in note.tags:
                found.by_keys.setdefault(found.keys[filename], filename)
        return found

    def find(self, note: BookNote) -> tuple[str, str]:
        """The note that says the same, and in what it does; "" for none."""
        keys = frozenset(key.strip().lower() for key in texts_in(note.properties.get("keys")))
        same = self.by_text.get(_plain(note.body), "")
        if same:
            return same, _ALL_ALIKE if self.keys[same] == keys else _TEXT
        same = self.by_keys.get(keys, "")
        return same, _KEYS if same else ""

    def forget(self, filename: str) -> None:
        """The note is used up: no second entry goes into it."""
        self.by_text = {text: name for text, name in self.by_text.items() if name != filename}
        self.by_keys = {keys: name for keys, name in self.by_keys.items() if name != filename}


def _plain(body: str) -> str:
    return " ".join(own_text(body).split()).lower()


def replaced(text: str, note: BookNote, rules: ParseRules) -> str:
    """A note's text with what an entry says in its place; properties that no entry has stay. Raises ValueError."""
    values, body = values_of(text)
    old = {name: value for name, value in values.items() if name in MAPPED or name.startswith(PREFIX)}
    tags = list(texts_in(values.get("tags")))
    kept = tags if rules.lorebook_tag in (tag.lower() for tag in tags) else [*tags, rules.lorebook_tag]
    after = replace(note, properties={**note.properties, "tags": kept})
    return changed_note(text, BookNote(note.title, old, body, note.fate), after)[0]


def merged(text: str, note: BookNote) -> str:
    """A note's text with the keys, properties and lines of an entry that it lacks. Raises ValueError."""
    values, body = values_of(text)
    lists: dict[str, Json] = {
        name: list(dict.fromkeys((*texts_in(values.get(name)), *texts_in(note.properties.get(name)))))
        for name in ("tags", "keys", "refine_keys")
        if name in values and name in note.properties
    }
    known: dict[str, Json] = {name: value for name, value in values.items() if name in note.properties}
    mine = {name for name, value in known.items() if value != note.properties[name]} - lists.keys()
    added = {name: value for name, value in note.properties.items() if mine.isdisjoint(partners_of(name))}
    after = {**added, **known, **lists}
    text_here, text_there = own_text(body), own_text(note.body)
    whole = body[: len(body) - len(text_here)] + both_lines(text_here, text_there)
    done = changed_note(text, BookNote(note.title, known, body, note.fate), BookNote("", after, whole, note.fate))
    return done[0]


def _merged_fate(note: BookNote, text: str, rules: ParseRules) -> EntryFate:
    """What becomes of an entry that was merged into a note, which keeps what it says itself: `text` is the outcome."""
    wanted, made = (entry_of(each, "", rules).raw for each in (note.text, text))
    fields = (
        one
        if one.field == "content" or one.field not in wanted or _holds(made.get(one.field), wanted[one.field])
        else FieldFate(one.field, Fidelity.LOST, "The note keeps what it says itself.")
        for one in note.fate.fields
    )
    return replace(note.fate, fields=tuple(fields))


def _holds(made: Json, wanted: Json) -> bool:
    """Whether all of a value is there, maybe with more members."""
    if isinstance(wanted, Mapping):
        return isinstance(made, Mapping) and all(_holds(made.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(made, list):
        return all(one in made for one in wanted)
    return made == wanted


def both_lines(mine: str, theirs: str) -> str:
    """The lines of both texts, those that both have once; where each has its own, mine come first.

    How a line ends is no difference: new ones end as those of mine do, and the whole as the text of its last line.
    """
    end = "\r\n" if "\r\n" in mine else "\n"
    left, words = mine.splitlines(keepends=True), theirs.splitlines()
    if left and left[-1].splitlines() == [left[-1]]:
        left[-1] += end
    own = [line.splitlines()[0] for line in left]
    blocks = SequenceMatcher(None, own, words, autojunk=False).get_matching_blocks()
    base = "".join(line for block in blocks for line in left[block.a : block.a + block.size])
    right = [f"{line}{end}" for line in words]
    for block in blocks:
        right[block.b : block.b + block.size] = left[block.a : block.a + block.size]
    pieces = three_way(base, "".join(left), "".join(right))
    both = joined(pieces, {at: one.mine + one.theirs for at, one in enumerate(pieces) if one.merged is None})
    last = mine if own and both.splitlines()[-1:] == own[-1:] else theirs
    return both if last.endswith("\n") else both.removesuffix(end)
