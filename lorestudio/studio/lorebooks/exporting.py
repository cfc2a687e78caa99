"""Notes of a vault, or the entries of another lorebook, become a lorebook: which go along, what becomes of every field,
and which numbers they get.

What the book would do with a chat in the place of the vault is tried: both are run, and compared.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.file_names import note_name
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import spell
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.texts import meant
from lorestudio.exchange.json_file import CHANGED_MEANWHILE, keep_copy, read_file
from lorestudio.exchange.lorebooks.crossing import EntryFate, LoreReport, told_once
from lorestudio.exchange.lorebooks.documents import Lore, Written
from lorestudio.exchange.lorebooks.formats import BY_NAME, check_name, parse_lore, write_lore
from lorestudio.exchange.lorebooks.notes import BOOK, UID, NoteEntry, Raw, entry_of, restored, values_of
from lorestudio.exchange.lorebooks.reading import NAMED, read_lorebook
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import READ_AT_MOST, TEXT_AT_MOST, real_path
from lorestudio.studio.lorebooks.importing import BookFileRead, read_books
from lorestudio.studio.lorebooks.links import (
    SUFFIX,
    BookLink,
    LinkedNote,
    called_here,
    known_entries,
    link_to,
    linked_note,
    links_of,
    numbers_in,
    original_text,
)
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.vault_notes import VaultNotes
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.trace.model import Trace, Turn
from lorestudio.trace.wording import plural
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.links.index import LinkIndex
from lorestudio.vault.writer import read_note

WORLD_INFO: Final = "sillytavern"
"""The format that is written where nobody names another."""


class ExportChoice(Struct, frozen=True):
    """What is exported: the notes in `folder` ("" for all), or those of `only`.

    `as_written` takes texts as they stand in the notes and not as DeepLore cleans them; `disabled` takes notes along
    that say `enabled: false`. `card` is the file that the book goes into a copy of.
    """

    form: str = WORLD_INFO
    folder: str = ""
    only: Collection[str] | None = None
    disabled: bool = True
    as_written: bool = False
    card: Path | None = None


class ExportedNote(Terse, frozen=True):
    """A note on its way into a book: its entry with its number, and what becomes of it. `raw` is None if left out.

    `settled` is its text with what counts in the book from now on, where the vault is linked to that.
    """

    unprinted = ("text", "settled")

    filename: str
    raw: Raw | None
    fate: EntryFate
    text: str = ""
    settled: str = ""


class ExportPlan(Terse, frozen=True):
    """The file that would be written, the link that the vault would get, and what becomes of every note."""

    unprinted = ("written", "notes", "link", "report", "before")

    vault: Path
    target: Path
    written: Written
    notes: tuple[ExportedNote, ...]
    link: NoteFileChange | None
    report: LoreReport
    before: bytes | None
    """What the file holds now, None where there is none."""
    source: Path
    """The vault's folder, or the lorebook in its place: undoing what was done with that takes the file back."""

    @property
    def entries(self) -> dict[str, Raw]:
        """The entries as World Info has them, by file name of their notes."""
        return {note.filename: note.raw for note in self.notes if note.raw is not None}

    @property
    def changes(self) -> ChangeSet:
        """The file and the link, as one step, with the notes that say something in two ways."""
        book = NoteFileChange(self.target, self.before, self.written.data, home=self.source)
        linking: tuple[NoteFileChange, ...] = ()
        if self.link is not None:
            settled = (note for note in self.notes if note.settled != note.text)
            files = (NoteFileChange(self.vault / note.filename, note.text, note.settled) for note in settled)
            linking = (self.link, *files)
        return ChangeSet(
            f"Export {plural(len(self.entries), '# entry|# entries')} to {self.target.name}", (book, *linking)
        )

    def keep_copy(self) -> Path | None:
        """Keep a copy beside the file that is about to be written over; None for a new one.

        Raises InputError, also where the file was changed since: one that goes out as it came is not compared later.
        """
        if self.before is None:
            return None
        if read_file(self.target, READ_AT_MOST) != self.before:
            raise InputError(self.target, CHANGED_MEANWHILE)
        return keep_copy(self.target, self.before)


def lore_file(path: Path) -> VaultNotes:
    """A lorebook's file in the place of a vault, for `plan_export`, which reads it."""
    return VaultNotes(real_path(path), LinkIndex.unlinked(()))


def plan_export(vault: VaultNotes, target: Path, rules: ParseRules, choice: ExportChoice) -> ExportPlan:
    """What the export would write. Waits for the disk. Raises InputError where nothing is left to export.

    A lorebook's file in the place of the vault's folder is written in another form, or as another one's copy.
    """
    kind = BY_NAME.get(choice.form)
    if kind is None:
        raise InputError("--format", f"there is no format “{choice.form}”. There are: {', '.join(BY_NAME)}.")
    book = read_books([vault.folder])[0] if vault.folder.is_file() else None
    links = links_of(vault) if book is None else ()
    told: list[str] = []
    here = link_to(links, target)
    found = _notes(vault, links, here, rules, choice) if book is None else _entries(book.lore, choice)
    notes = tuple(_numbered(deque(found), links, here, told))
    going = [note.raw for note in notes if note.raw is not None]
    _check_numbers(notes)
    if not going:
        why = _no_such_folder(choice.folder.strip("/"), vault, book) or (
            "no note is left to export: none is an entry, or all of them are left out."
            if book is None
            else "no entry is left to export: there is none, or all of them are left out."
        )
        raise InputError(vault.folder, why)
    if book is not None and target == book.path:
        raise InputError(target, "this is the book itself. Give the file to be written another name.")
    link = here or _link_of(links, notes)
    absent = 0 if link is None else len(link.entries.keys() - {to_string(raw.get("uid")) for raw in going})
    if absent:
        told.append(f"{plural(absent, '# entry of the book has|# entries of the book have')} no note here: left out.")
    if link is not None and Path(link.file) == target and target.is_file() and not _is_as_linked(link, target):
        raise InputError(target, "the book was changed since. `lorestudio sync` brings both together.")
    before = read_file(target, READ_AT_MOST) if target.exists() else None  # as much as is written here
    if before is not None and here is None:
        told.append(f"{_what_is_there(before, target)} It is replaced; a copy stays beside it.")
    original = _original(choice, target, link)
    if book is not None and original is None and book.lore.form == choice.form:
        original = book.path, read_file(book.path)
    name = target.stem if link is None else link.book
    heads = link is not None and link.heads and choice.card is None
    called: Mapping[str, str] = {}
    if original is not None and link is not None and original[0] == Path(link.file):
        called = called_here(parse_lore(original[1], original[0], heads=heads), link.entries)
    written = write_lore(choice.form, name, going, original, heads=heads, called=called, ending=target.suffix)
    check_name(target, choice.form, written.data)
    too_large = _too_large(written, target, link) if book is None else ""
    if link is not None and link.file != str(target):
        told.append(f"The notes stay linked to {Path(link.file).name}: a sync will not know this file.")
    told += filter(None, [too_large])
    # What cannot be read again is not written; a book that is too large is read by nobody, and would be there twice.
    lore = None if too_large else parse_lore(written.data, target, heads=heads)
    source, remarks = ("notes", ()) if book is None else (book.lore.report.source, book.lore.report.remarks)
    first = LoreReport(source, "World Info", tuple(note.fate for note in notes), told_once((*remarks, *told)))
    report = first if choice.form == WORLD_INFO else first.then(written.report)
    linking = None
    if book is None and lore is not None:
        read = as_read(written, lore, going)
        linking = _linking(vault, target, choice, name, notes, written, link, read, heads=heads)
    home = vault.folder if book is None else vault.folder.parent
    return ExportPlan(home, target, written, notes, linking, report, before, vault.folder)


def _check_numbers(notes: Iterable[ExportedNote]) -> None:
    for note in notes:
        try:
            spell(note.raw)
        except ValueError:
            what = "it holds a number such as 1e999, or lists in each other, that no lorebook can hold"
            raise InputError(note.filename, f"{what}. Correct it in the note.") from None


def _too_large(written: Written, target: Path, link: BookLink | None) -> str:
    """Why no link to the book is made, "" where one is: it would hold the book and all notes.

    Raises InputError where there is one already, which would not fit.
    """
    if len(written.data) <= TEXT_AT_MOST:
        return ""
    why = f"larger than {TEXT_AT_MOST // 1024 // 1024} MiB, so neither it nor a link is read again"
    if link is not None and link.file == str(target):
        raise InputError(target, f"the book is {why}. Export fewer notes, or under another name.")
    return f"The book is {why}: the vault is not linked to it."


# ---- which notes ----------------------------------------------------------------------------------------------------


class _Note(Struct, frozen=True):
    filename: str
    text: str
    said: NoteEntry
    book: str
    uid: Json
    raw: Raw


def _notes(
    vault: VaultNotes, links: Sequence[BookLink], here: BookLink | None, rules: ParseRules, choice: ExportChoice
) -> Iterator[_Note]:
    folder = choice.folder.strip("/")
    linked = {note.filename: (link, uid) for link in links for uid, note in link.notes.items()}
    by_uid = {(link.book, uid): link for link in links for uid in link.notes.keys() & link.entries.keys()}
    for filename in sorted(vault.index.notes, key=str.casefold):
        inside = not folder or filename.startswith(f"{folder}/")
        if not inside or (choice.only is not None and filename not in choice.only):
            continue
        if {rules.lorebook_tag, rules.guide_tag}.isdisjoint(vault.index.notes[filename].tags) and not choice.only:
            continue  # an ordinary note
        text, before = read_note(vault.path(filename))[0], vault.index.notes[filename].text
        text = before if before == text else text  # all of a large vault's would be there twice
        values = values_of(text)[0]
        book, uid = to_string(values.get(BOOK) or ""), values.get(UID)
        link = by_uid.get((book, to_string(uid)))
        if link is None and uid is None and filename in linked:
            link, uid = linked[filename]
            book = link.book
        entry = None if link is None else link.entries.get(to_string(uid))
        known = None if link is None or entry is None else link.notes[to_string(uid)]
        then = None if known is None else known.text
        said = entry_of(text, filename, rules, None if then == text else then, as_written=choice.as_written)
        raw: Raw = said.raw
        if entry is not None and known is not None and not said.left_out:
            base = entry if known.said is None else known.said
            # a note that was made of its entry, or goes where that lies, is the entry as long as nobody touches it
            untouched = then == text and (said.uid is not None or link is here)
            raw, uid = base if untouched else restored(base, said.raw), entry.get("uid", uid)
        yield _Note(filename, text, _with_choice(said, raw, choice), book, uid, raw)


def _entries(lore: Lore, choice: ExportChoice) -> Iterator[_Note]:
    """The entries of a lorebook that go into another one, in the file's order; `only` has their uids or titles.

    Raises InputError for one of `only` that is not there.
    """
    folder, left = choice.folder.strip("/"), set(choice.only or ())
    fates = {fate.uid: fate for fate in lore.report.entries}
    for raw in lore.entries:
        uid = to_string(raw.get("uid"))
        said = NoteEntry({**raw}, fates[uid].title, raw.get("uid"), lore.name, fate=fates[uid])
        called = {f"{NAMED}{uid}", uid, said.title}
        if (not folder or lore.folders.get(uid) == folder) and (choice.only is None or called & set(choice.only)):
            left -= called
            yield _Note(f"{NAMED}{uid}", "", _with_choice(said, raw, choice), lore.name, raw.get("uid"), raw)
    if left:
        name, titles = min(left), (fate.title for fate in fates.values())
        raise InputError(name, f"the book has no entry with this title or number.{meant(name, titles)}")


def _no_such_folder(folder: str, vault: VaultNotes, book: BookFileRead | None) -> str:
    """That a folder is not there which somebody named, "" where it is."""
    there = vault.index.notes if book is None else {f"{each}/" for each in book.lore.folders.values()}
    if not folder or any(name.startswith(f"{folder}/") for name in there):
        return ""
    known = {name.rpartition("/")[0] for name in there if "/" in name}
    return f"there is no entry in a folder “{folder}”.{meant(folder, known)}"


def _with_choice(said: NoteEntry, raw: Raw, choice: ExportChoice) -> NoteEntry:
    off = raw.get("disable") is True and not choice.disabled and not said.left_out
    return replace(said, left_out="It is switched off.") if off else said


def _numbered(
    notes: deque[_Note], links: Sequence[BookLink], here: BookLink | None, told: list[str]
) -> Iterator[ExportedNote]:
    """The notes with a number for each: its own where it has one that nobody before it has, else the next one.

    Numbers are those of the book that is written, which `here` links, else of the book that most notes came from. One
    that was free once is not used again: a deleted entry may still have an effect in a chat. Notes are let go on the
    way: their entries without a number take as much as those with one.
    """
    numbered = [(note.book, note.uid) for note in notes if note.uid is not None and not note.said.left_out]
    books = [book for book, _uid in numbered]
    main = max(dict.fromkeys(books), key=books.count, default="") if here is None else here.book
    used = {uid for link in links if link.book == main for uid in link.entries}
    known: dict[str, Json] = {  # notes of other books that went out with this one before
        note.filename: link.entries[uid].get("uid", uid)
        for link in links if link.book == main for uid, note in link.notes.items() if uid in link.entries
    }  # fmt: skip
    used |= {to_string(uid) for book, uid in numbered if book == main}
    highest = max(numbers_in(used), default=-1)
    taken: set[str] = set()
    again = anew = 0
    while notes:
        note = notes.popleft()
        fate = replace(note.said.fate, left_out=note.said.left_out, title=note.said.title)
        if note.said.left_out:
            yield ExportedNote(note.filename, None, fate)
            continue
        uid = note.uid if note.book == main else known.get(note.filename)
        if uid is not None and to_string(uid) in taken:
            uid, again = None, again + 1
        elif uid is None and note.uid is not None:
            anew += 1
        if uid is None:
            highest += 1
            uid = highest
        taken.add(to_string(uid))
        raw = {"uid": uid, **{name: value for name, value in note.raw.items() if name != "uid"}}
        if "uid" in note.raw:  # a known entry has its number where it stood
            raw = {name: uid if name == "uid" else value for name, value in note.raw.items()}
        yield ExportedNote(note.filename, raw, replace(fate, uid=to_string(uid)), note.text, note.said.settled)
    if again:
        told.append(f"{plural(again, '# note has|# notes have')} the number of another one and got a new one.")
    if anew:
        told.append(f"{plural(anew, '# note of another book gets a number|# notes of other books get numbers')} here.")


def _link_of(links: Sequence[BookLink], notes: Sequence[ExportedNote]) -> BookLink | None:
    """The link to the book that most of the notes came from."""
    here = {note.filename for note in notes if note.raw is not None}
    shared = {link.place: len(here & {note.filename for note in link.notes.values()}) for link in links}
    best = max(links, key=lambda link: shared[link.place], default=None)
    return best if best is not None and shared[best.place] else None


def _what_is_there(data: bytes, target: Path) -> str:
    with suppress(InputError):
        if len(data) <= TEXT_AT_MOST:
            entries = parse_lore(data, target).entries
            return f"{target.name} is there already, with {plural(len(entries), '# entry|# entries')}."
    return f"{target.name} is there already."


def _is_as_linked(link: BookLink, target: Path) -> bool:
    lore = parse_lore(read_file(target), target, heads=link.heads)
    return list(known_entries(lore, link.entries).items()) == list(link.entries.items())


def _original(choice: ExportChoice, target: Path, link: BookLink | None) -> tuple[Path, bytes] | None:
    """The file that the entries go into a copy of."""
    if choice.card is not None:
        return choice.card, read_file(choice.card)
    if link is not None and link.form == choice.form and link.original:
        return Path(link.file), link.original
    if not BY_NAME[choice.form].makes_new:
        for path in (target, *((Path(link.file),) if link is not None and link.form == choice.form else ())):
            if path.is_file():
                return path, read_file(path)
    return None


def as_read(written: Written, lore: Lore, going: Sequence[Raw]) -> dict[str, Raw]:
    """The entries that went out as they come in again, in the file's order, with the uids that they went out with."""
    own = {to_string(raw.get("uid")): raw.get("uid") for raw in going}
    return {uid: {**raw, "uid": own[uid]} for uid, raw in zip(written.uids, lore.entries, strict=True)}


def _linking(
    vault: VaultNotes, target: Path, choice: ExportChoice, name: str, notes: Sequence[ExportedNote], written: Written,
    link: BookLink | None, read: Mapping[str, Raw], *, heads: bool,
) -> NoteFileChange | None:  # fmt: skip
    """The link that the vault gets; None where it is linked to another file."""
    if link is not None and link.file != str(target):
        return None
    linked: dict[str, LinkedNote] = {}
    for note in notes:
        if note.raw is not None:
            uid = to_string(note.raw.get("uid"))
            linked[uid] = linked_note(note.filename, note.settled, note.raw, read[uid])
    inside = "/".join(filter(None, (choice.folder.strip("/"), f"{note_name(name, 'Lorebook')}{SUFFIX}")))
    place = link.place if link is not None else inside
    made = BookLink(
        name, str(target), choice.form, choice.folder, read, linked, original_text(written.data), place, heads
    )
    path = vault.path(place)
    before = read_note(path)[0] if path.exists() else None
    return NoteFileChange(path, before, made.data)


class TriedTurn(Struct, frozen=True):
    """A reply that gets other entries from the book: those that only the vault gives, and those that only the book."""

    turn: Turn
    vault_only: tuple[str, ...]
    book_only: tuple[str, ...]


class Tried(Struct, frozen=True):
    """How a book and the vault agree over a chat. `counts` has, by title, in how many replies each gives an entry."""

    replies: int
    turns: tuple[TriedTurn, ...]
    counts: Mapping[str, tuple[int, int]]

    @property
    def sentence(self) -> str:
        """How far they agree."""
        same = self.replies - len(self.turns)
        return f"In {same:,} of {plural(self.replies, '# reply|# replies')} the book gives the same entries."

    def as_json(self) -> dict[str, Json]:
        """For reports."""
        return {
            "replies": self.replies,
            "same": self.replies - len(self.turns),
            "differing": [
                {"message": one.turn.message, "vault_only": list(one.vault_only), "book_only": list(one.book_only)}
                for one in self.turns
            ],
            "entries": [{"title": title, "vault": vault, "book": book} for title, (vault, book) in self.counts.items()],
        }


async def try_book(project: Project, entries: Mapping[str, Raw], cancel: CancelToken | None = None) -> Tried:
    """Run the project's chat with the vault, and again with these entries alone (by file name of their notes).

    Notes that did not become entries are not counted. Raises Cancelled and InputError.
    """
    by_uid = {f"{NAMED}{to_string(raw.get('uid'))}": filename for filename, raw in entries.items()}
    whole: dict[str, Json] = {to_string(raw.get("uid")): raw for raw in entries.values()}
    book = read_lorebook({"entries": whole}, "book")
    alone = replace(project, places=(), vault_folders=(), vault_state=None).with_books((book,))
    runs = [Simulator(each, system_of(each.scene(), kind_of(each.system))) for each in (project, alone)]
    for simulator in runs:
        await simulator.run_missing(None, cancel)
    here, there = (TraceBook(simulator.traces).values() for simulator in runs)
    turns: list[TriedTurn] = []
    counts: Counter[tuple[str, bool]] = Counter()
    for one, other in zip(here, there, strict=True):
        left = frozenset(_files(one)) & entries.keys()
        right = frozenset(by_uid[name] for name in _files(other) if name in by_uid)
        counts.update((name, False) for name in left)
        counts.update((name, True) for name in right)
        if left != right:
            turns.append(TriedTurn(one.turn, tuple(sorted(left - right)), tuple(sorted(right - left))))
    differing = {name for turn in turns for name in (*turn.vault_only, *turn.book_only)}
    return Tried(
        len(here), tuple(turns), {name: (counts[name, False], counts[name, True]) for name in sorted(differing)}
    )  # fmt: skip


def _files(trace: Trace) -> Iterator[str]:
    return (trace.entries[injection.entry].filename for injection in trace.injections)
