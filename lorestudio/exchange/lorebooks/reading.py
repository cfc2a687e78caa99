"""Reading lorebooks for runs as SillyTavern does, from files as a person names them, and putting several in play.

Of books in play it is known whose each is, which one counts where one is listed twice, and the order of their entries.
Nothing of an entry that is not known is passed over in silence. A book's name is its file's without the ending; a
card's book has a name of its own, or is named after the character. Entries of other programs are taken in as
SillyTavern takes them (rules: sillytavern 5.1, 5.3, 5.5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import partial
from itertools import chain, count
from operator import itemgetter
from pathlib import Path
from typing import Final

from msgspec import Struct
from pydantic.alias_generators import to_camel

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem
from lorestudio.domain.file_names import free_name, note_name
from lorestudio.domain.javascript import Json, key_order, to_string, trim, truthy
from lorestudio.domain.json_text import mapping_in, object_in
from lorestudio.domain.lifecycle import heeding
from lorestudio.domain.records import replace
from lorestudio.domain.texts import meant
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.character_card import CharacterCard, parse_card
from lorestudio.exchange.containers import SIGNATURE, is_archive
from lorestudio.exchange.json_file import parse_text, read_file
from lorestudio.exchange.lorebooks.entry import (
    DEFAULT_DEPTH,
    NEW_ENTRY,
    OWN,
    USED,
    WITHOUT_EFFECT,
    BookEntry,
    BookError,
    BookPlace,
    are_keys,
    changed_entry,
    native_entry,
)
from lorestudio.exchange.lorebooks.keys import broken_patterns
from lorestudio.exchange.lorebooks.kinds.card_book import EXTENSIONS, book_remarks
from lorestudio.exchange.lorebooks.notes import note_of, title_of
from lorestudio.exchange.problems import Belongs, InputError, WrongFileError
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.trace.wording import first_few, plural
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.files import VaultError, index_order
from lorestudio.vault.folder import KnownFile, KnownVault, parser_key
from lorestudio.vault.index import VaultState, state_of
from lorestudio.vault.sources import OnRead


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


NAMED: Final = "uid "
"""How the file name of an entry begins, where it stands as a note: a name that no file can have inside a book."""


@dataclass(frozen=True, slots=True)
class Lorebook:
    """A lorebook as it was read. SillyTavern knows books by `name`; `place` says to people where it was read from.

    `remarks` are sentences about what does not work here as its author may expect. `raws` are the entries as World Info
    files have them, in the same order. `spoils`: an entry's content is no text, so that SillyTavern scans nothing, of
    any book. `owners` are the members of a group that it belongs to, none where it is in play whoever speaks.
    """

    name: str
    entries: tuple[BookEntry, ...] = field(default=(), repr=False)
    role: BookRole = BookRole.GLOBAL
    place: str = ""
    remarks: tuple[str, ...] = ()
    raws: tuple[Mapping[str, Json], ...] = field(default=(), repr=False, compare=False)
    spoils: bool = False
    owners: frozenset[str] = frozenset()

    @property
    def whose(self) -> str:
        """The role and, in a line each, the owners, as `open_project` takes them."""
        return "\n".join((self.role.value, *sorted(self.owners)))


class BooksInPlay(Struct, frozen=True):
    """The books that are used, in the order they were given, and those that are not because of another one."""

    used: tuple[Lorebook, ...] = ()
    dropped: tuple[tuple[Lorebook, Lorebook], ...] = ()


def with_texts(books: Sequence[Lorebook], notes: Iterable[NoteText]) -> tuple[Lorebook, ...]:
    """The books with other texts in some entries; None takes an entry out. Raises VaultError for what cannot be one."""
    by_book = {(note.vault, note.filename.removeprefix(NAMED)): note for note in notes}
    return tuple(_with_texts(book, by_book) for book in books)


def _with_texts(book: Lorebook, notes: Mapping[tuple[str, str], NoteText]) -> Lorebook:
    pairs = []
    for entry, raw in zip(book.entries, book.raws, strict=True):
        note = notes.get((book.name, entry.name))
        if note is None:
            pairs.append((entry, raw))
        elif note.text is not None:
            try:
                changed = changed_entry(raw, note.text)
            except ValueError as error:
                raise VaultError(str(error)) from None
            pairs.append((native_entry(changed, entry.name), changed))
    raws = tuple(raw for _, raw in pairs)
    return replace(book, entries=tuple(entry for entry, _ in pairs), raws=raws, spoils=_spoil(raws))


def as_notes(
    books: Sequence[Lorebook],
    settings: DeepLoreSettings,
    counter: TokenCounter,
    before: VaultState | None = None,
    *,
    whole: bool = False,
    on_read: OnRead | None = None,
) -> VaultState:
    """The books in play as vaults, every entry the note that importing it makes, in the order of these notes' names.

    Each file has the name of its entry in its book, and its text where the `whole` notes are wanted. What has no text
    and no keys, which is not imported, is left out; so is what fits into no note. An entry that is as it was `before`,
    by the same settings, is not read again. `on_read` hears how many of how many entries are; what it raises ends that.
    """
    rules = ParseRules.from_settings(settings)
    parser = parser_key(rules)
    known = {vault.name: vault for vault in before.vaults if vault.parser == parser} if before is not None else {}
    new = partial(KnownVault, parser=parser)
    used = in_play(books).used
    total, done = sum(len(book.entries) for book in used), count(1)
    read = (lambda: on_read(next(done), total)) if on_read is not None else lambda: None
    vaults = [_as_vault(book, rules, known.get(book.name) or new(book.name), read, whole=whole) for book in used]
    return state_of(vaults, settings, counter, None if before is None else before.assembly)


def _as_vault(
    book: Lorebook, rules: ParseRules, before: KnownVault, read: Callable[[], None], *, whole: bool
) -> KnownVault:
    known, taken = {file.filename: file for file in before.files}, dict[str, int]()
    files = []
    for entry, raw in zip(book.entries, book.raws, strict=True):
        filename = f"{NAMED}{entry.name}"
        file = known.get(filename)
        if file is None or file.digest != entry.digest or (whole and file.text is None):
            same = file.note if file is not None and file.digest == entry.digest else None
            text, note = _as_note(filename, book.name, entry.name, raw, rules, same)
            # What is not imported has an empty text. Those of the others take as much memory as the book.
            file = KnownFile(filename, entry.digest, note, text=text if whole or not text else None)
        name = note_name(title_of(raw, entry.name), filename)
        # What is not imported takes no name from another one.
        files.append((index_order(name if file.text == "" else free_name(name, ".md", taken)), file))
        read()
    return replace(before, files=tuple(file for _, file in sorted(files, key=itemgetter(0))))


def _as_note(
    filename: str, book: str, uid: str, raw: Mapping[str, Json], rules: ParseRules, known: Entry | LeftOutNote | None
) -> tuple[str, Entry | LeftOutNote]:
    """The text of an entry's note and what it says, as far as that is not `known`."""
    title, content = title_of(raw, uid), raw.get("content")
    try:
        text = note_of(raw, book, rules, fates=False).text
    except InputError as error:
        return "", LeftOutNote(filename, book, NoteProblem.UNREADABLE, str(error), title)
    if known is not None:
        return text, known
    note = parse_note(text, filename, book, rules)
    empty = not content and not raw.get("key")
    if isinstance(note, Entry) and note.content == content:
        note = replace(note, content=content)  # the text that is there already
    if isinstance(note, LeftOutNote):
        off = note.problem is NoteProblem.DISABLED
        note = replace(note, message="The entry is switched off." if off else note.message, title=title)
    elif empty:
        note = LeftOutNote(filename, book, NoteProblem.DISABLED, "The entry has no text and no keys.", title)
    return "" if empty else text, note


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
    by_role: dict[BookRole, list[tuple[str, BookEntry]]] = {role: [] for role in BookRole}
    for book in books:
        by_role[book.role] += ((book.name, entry) for entry in book.entries)
    common, own = by_role[BookRole.GLOBAL], by_role[BookRole.CHARACTER]
    if strategy is InsertionStrategy.EVENLY:
        rest = _by_order([*common, *own])
    elif strategy is InsertionStrategy.CHARACTER_FIRST:
        rest = [*_by_order(own), *_by_order(common)]
    else:
        rest = [*_by_order(common), *_by_order(own)]
    listed = [*_by_order(by_role[BookRole.CHAT]), *_by_order(by_role[BookRole.PERSONA]), *rest]
    return tuple(_with_own_uids(listed))


def _by_order(entries: Iterable[tuple[str, BookEntry]]) -> list[tuple[str, BookEntry]]:
    return sorted(entries, key=lambda pair: -pair[1].order)


def _with_own_uids(entries: Iterable[tuple[str, BookEntry]]) -> Iterable[BookEntry]:
    """`book.uid`, as SillyTavern names an entry; a number behind it where a book repeats one."""
    seen: dict[str, int] = {}
    for world, entry in heeding(entries):
        name = f"{world}.{entry.name or entry.uid}"
        seen[name] = seen.get(name, 0) + 1
        uid = name if seen[name] == 1 else f"{name} ({seen[name]})"
        yield replace(entry, world=world, uid=uid, name=name)


Raw = Mapping[str, Json]

_CARD: Final = frozenset({
    "id", "keys", "secondary_keys", "comment", "name", "content", "constant", "selective", "insertion_order", "enabled",
    "position", "extensions", "use_regex",
})  # fmt: skip


def of_card(raw: Raw, name: str) -> dict[str, Json]:
    """A card's entry as a native one. What SillyTavern does not take over keeps its own name."""
    own = object_in(raw, "extensions")
    native: dict[str, Json] = {
        **NEW_ENTRY,
        "uid": raw.get("id", name),
        "key": raw.get("keys"),
        "keysecondary": raw.get("secondary_keys") or [],
        "comment": raw.get("comment") or raw.get("name"),
        "content": raw.get("content"),
        "constant": truthy(raw.get("constant")),
        "selective": truthy(raw.get("selective")),
        "disable": not truthy(raw.get("enabled")),
        "position": int(BookPlace.BEFORE if raw.get("position") == "before_char" else BookPlace.AFTER),
    }
    _take(native, "order", raw, "insertion_order")
    native |= {to_camel(name): value for name, value in own.items() if name in EXTENSIONS and value is not None}
    native |= {f"extensions.{name}": value for name, value in own.items() if name not in EXTENSIONS}
    return native | _left_over(raw, _CARD)


def _take(native: dict[str, Json], ours: str, raw: Raw, theirs: str) -> None:
    """The field of another form under our name; what is not said there is not said here either."""
    if theirs in raw:
        native[ours] = raw[theirs]
    else:
        native.pop(ours, None)


def _left_over(raw: Raw, taken: Collection[str]) -> dict[str, Json]:
    """The fields that SillyTavern does not take over, under names that no native field has."""
    return {(f"entry.{name}" if name in USED else name): value for name, value in raw.items() if name not in taken}


_AGNAISTIC: Final = {
    "key": "keywords", "comment": "name", "content": "entry", "order": "weight", "disable": "enabled",
}  # fmt: skip
_RISU: Final = {
    "key": "key", "keysecondary": "secondkey", "comment": "comment", "content": "content", "constant": "alwaysActive",
    "selective": "selective", "order": "insertorder",
}  # fmt: skip
_RISU_CHANCE: Final = "activationPercent"
_NOVELAI: Final = {"key": "keys", "comment": "displayName", "content": "text", "disable": "enabled"}
"""The fields of a native entry and what other programs call them."""


def _taken_over(raw: Raw, name: str, fields: Mapping[str, str]) -> dict[str, Json]:
    """Another program's entry as a native one. What SillyTavern does not take over keeps its own name."""
    native: dict[str, Json] = {**NEW_ENTRY, "uid": name, "selective": False}
    for ours, theirs in fields.items():
        _take(native, ours, raw, theirs)
    if "disable" in fields:
        native["disable"] = not truthy(native.get("disable"))
    return native | _left_over(raw, fields.values())


def of_risu(raw: Raw, name: str) -> dict[str, Json]:
    """An entry of a Risu lorebook; its keys are texts with commas. A chance of 0 is taken for none at all."""
    native = _taken_over(raw, name, _RISU)
    for member in ("key", "keysecondary"):
        keys = native.get(member)
        native[member] = [trim(key) for key in keys.split(",")] if isinstance(keys, str) and keys else []
    chance = native.pop(_RISU_CHANCE, None)
    if chance is not None:
        native |= {"probability": chance, "useProbability": chance}
    return native


def of_novelai(raw: Raw, name: str) -> dict[str, Json]:
    """An entry of a NovelAI lorebook."""
    native = _taken_over(raw, name, _NOVELAI)
    config = mapping_in(native.pop("contextConfig", None))
    native["order"] = config.get("budgetPriority", 0)
    return native | {f"contextConfig.{field}": value for field, value in config.items() if field != "budgetPriority"}


LOREBOOK_V3: Final = "lorebook_v3"
"""What a book of a card says of itself where it stands in a file of its own."""
_SHOWN: Final = 3
_EVERY: Final = 100


class _BookForm(Struct, frozen=True):
    """A kind of file: what people call it, its book and list of entries, and how one of these becomes native."""

    title: str
    book: Raw
    entries: Json
    native: Callable[[Raw, str], Raw]


def read_lorebook(
    document: Json, name: str = "", role: BookRole = BookRole.GLOBAL, place: str = "", on_read: OnRead | None = None
) -> Lorebook:
    """The lorebook in a document: World Info, a bare list of entries, a card's book, or another program's.

    `on_read` hears how many of how many entries are read; what it raises ends that. Raises BookError.
    """
    form = _form(document)
    found: dict[str, Raw] = {}
    for key, raw in _listed(form.entries):
        if not isinstance(raw, Mapping):
            raise BookError(f"entries.{key}: an object is expected here, as World Info has one for each entry.")
        native = form.native(raw, key)
        # What is imported stands under its own number, so that of two entries of one number the later is there alone.
        found[key if native is raw else to_string(native.get("uid", key))] = native
    raws = [found[key] for key in key_order(found)]
    made: list[BookEntry] = []
    for key, raw in zip(key_order(found), raws, strict=True):
        if on_read is not None and len(made) % _EVERY == 0:
            on_read(len(made), len(raws))
        try:
            made.append(native_entry(raw, key))
        except (RecursionError, ValueError) as error:
            raise BookError(f"entries.{key}: it is nested too deeply. Take it out of the file.") from error
    entries = tuple(made)
    remarks = (*_about_book(form), *_about_entries(raws, entries), *_about_fields(raws))
    return Lorebook(name, entries, role, place, remarks, tuple(raws), _spoil(raws))


def edited(book: Lorebook, changes: Mapping[str, Raw | None]) -> Lorebook:
    """The book with other fields in its entries, by uid; None takes an entry out, an unknown uid makes a new one."""
    found: dict[str, Raw] = {}
    for entry, raw in zip(book.entries, book.raws, strict=True):
        change = changes.get(entry.name, {})
        if change is not None:
            number = {} if entry.unnumbered else {"uid": entry.name}
            found[str(len(found))] = {**number, **raw, **change}
    known = {entry.name for entry in book.entries}
    new = {uid: change for uid, change in changes.items() if uid not in known and change is not None}
    found |= {str(len(found) + place): {**NEW_ENTRY, "uid": uid, **raw} for place, (uid, raw) in enumerate(new.items())}
    return replace(read_lorebook({"entries": found}, book.name, book.role, book.place), owners=book.owners)


def _form(document: Json) -> _BookForm:
    if isinstance(document, Sequence) and not isinstance(document, str):
        return _BookForm("World Info", {}, document, _native_or_card)
    if not isinstance(document, Mapping):
        raise BookError("a lorebook is a JSON object with “entries”. Give a World Info file that SillyTavern exported.")
    data = document.get("data")
    if document.get("type") == "risu":
        return _BookForm("Risu", document, data, of_risu)
    inner = data if isinstance(data, Mapping) else document
    book = inner if document.get("spec") == LOREBOOK_V3 else inner.get("character_book")
    if isinstance(book, Mapping):
        return _BookForm("card", book, book.get("entries"), of_card)
    if "lorebookVersion" in document:
        return _BookForm("NovelAI", document, document.get("entries"), of_novelai)
    if document.get("kind") == "memory":
        return _BookForm("Agnaistic", document, document.get("entries"), partial(_taken_over, fields=_AGNAISTIC))
    return _BookForm("World Info", document, document.get("entries"), _native_or_card)


def _native_or_card(raw: Raw, name: str) -> Raw:
    return of_card(raw, name) if "keys" in raw and "key" not in raw else raw


def _listed(entries: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(entries, Mapping):
        return iter(entries.items())
    if isinstance(entries, Sequence) and not isinstance(entries, str):
        return ((str(place), entry) for place, entry in enumerate(entries))
    raise BookError("entries: a lorebook has its entries there. Give a World Info file that SillyTavern exported.")


# ---- remarks --------------------------------------------------------------------------------------------------------


def _about_book(form: _BookForm) -> Iterator[str]:
    if form.title not in {"World Info", "card"}:
        yield f"This is a lorebook of {form.title}'s; it is read as SillyTavern would import it."
    yield from book_remarks(form.book)


_HAVE: Final = "# entry has|# entries have"


def _about_entries(raws: Sequence[Raw], entries: Sequence[BookEntry]) -> Iterator[str]:
    automated = sum(truthy(raw.get("automationId")) for raw in raws)
    if automated:
        yield f"{plural(automated, _HAVE)} an automation (automationId); no quick reply runs here."
    nowhere = [entry for entry in entries if entry.place is BookPlace.NOWHERE]
    if nowhere:
        told = f"{_named(nowhere)}: this position, depth or role is none of World Info's, so the text stands nowhere"
        unsaid = any(entry.depth is None for entry in nowhere)
        yield f"{told}{f' unless others above it stand at depth {DEFAULT_DEPTH}' if unsaid else ' in the prompt'}."
    unnamed = [entry for entry in entries if entry.place is BookPlace.OUTLET and not entry.outlet]
    if unnamed:
        yield f"{_named(unnamed)}: the position is an outlet, but none is named, so the text stands nowhere."
    lost = sum(
        not (raw.get(member) is None or are_keys(raw[member])) for raw in raws for member in ("key", "keysecondary")
    )
    if lost:
        yield f"{plural(lost, _HAVE)} keys that are no list of texts; SillyTavern takes what is no text for no key."
    for member, then in (("content", "then scans nothing, of any book"), ("group", "fails where the entry comes in")):
        odd = [entry for entry, raw in zip(entries, raws, strict=True) if _no_text(raw, member)]
        if odd:
            yield f"{_named(odd)}: “{member}” is no text; SillyTavern {then}. Write it between quotation marks."
    broken = [(entry, dict(broken_patterns((*entry.keys, *entry.secondary)))) for entry in entries]
    keys = {key: problem for _, found in broken for key, problem in found.items()}
    if keys:  # a sentence for each would bury all others
        key, problem = next(iter(keys.items()))
        told, what = f"the key {key} is no usable pattern ({problem})", "it is"
        if len(keys) > 1:
            told, what = f"{len(keys)} keys are no usable patterns, {key} for one ({problem})", "they are"
        yield f"{_named([entry for entry, found in broken if found])}: {told}; {what} looked for as plain text."


def _about_fields(raws: Sequence[Raw]) -> Iterator[str]:
    """What changes nothing: a slip in a name by itself, all others in one sentence."""
    known = USED | WITHOUT_EFFECT | {"automationId", "extensions"}
    # SillyTavern's import of a card's book leaves in the extensions what it took over, too
    unknown = Counter(
        member
        for raw in raws
        for member, value in chain(
            raw.items(),
            ((f"extensions.{name}", True) for name in object_in(raw, "extensions") if name not in EXTENSIONS),
        )
        if member not in known and value not in (None, "", [], {}) and not member.startswith(f"extensions.{OWN}")
    )
    # other programs' fields are called otherwise, and mean otherwise
    slips = {member: hint for member in unknown if (hint := meant(member, USED, likeness=0.85))}
    for member, hint in slips.items():
        yield _unknown(member, unknown.pop(member)) + hint
    if len(unknown) == 1:
        yield _unknown(*next(iter(unknown.items())))
    elif unknown:
        names = ", ".join(f"“{member}”" for member in unknown)
        yield f"The entries have {len(unknown)} fields that the scan does not know, so they change nothing: {names}."


def _unknown(member: str, amount: int) -> str:
    return f"{plural(amount, _HAVE)} the field “{member}”, which the scan does not know: it changes nothing."


def _named(entries: Sequence[BookEntry]) -> str:
    titles = (entry.comment or ", ".join(entry.keys) or f"entry {entry.uid}" for entry in entries)
    return first_few([f"“{title}”" for title in titles], _SHOWN)


def _spoil(raws: Iterable[Raw]) -> bool:
    return any(_no_text(raw, "content") for raw in raws)


def _no_text(raw: Raw, field: str) -> bool:
    return truthy(raw.get(field)) and not isinstance(raw[field], str)


ADVICE: Final = "Give a World Info file that SillyTavern exported, or a character card with a lorebook inside."


def load_lorebook(path: Path, role: BookRole | None = None, on_read: OnRead | None = None) -> Lorebook:
    """The lorebook in a file, told by its content. Waits for the disk. Raises InputError.

    Without a role a card's book is the character's and any other one is global. `on_read` as for `read_lorebook`.
    """
    return lorebook_in(read_file(path), path, role, on_read)


def lorebook_in(data: bytes, path: Path, role: BookRole | None = None, on_read: OnRead | None = None) -> Lorebook:
    """The lorebook in the bytes of a file, as `load_lorebook`. Raises InputError."""
    # Knowing every other program's formats takes a fifth of a second, which whoever reads no file need not wait.
    from lorestudio.exchange.lorebooks.formats import what_document, what_file  # noqa: PLC0415

    if wrong := what_file(data, path):
        raise wrong
    if data.startswith(SIGNATURE) or is_archive(data):
        return card_book(parse_card(data, path), path, role or BookRole.CHARACTER)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(path, f"this is neither a PNG picture nor JSON in UTF-8. {ADVICE}") from None
    document = parse_text(text, path, ADVICE)
    if wrong := what_document(document, path):
        raise wrong
    if isinstance(document, Mapping) and _is_card(document):
        return card_book(parse_card(data, path), path, role or BookRole.CHARACTER)
    del data, text  # they are as large as what is made of them now
    try:
        return read_lorebook(document, path.stem, role or BookRole.GLOBAL, str(path), on_read)
    except BookError as error:
        raise InputError(path, str(error)) from None


def card_book(card: CharacterCard, path: Path | None, role: BookRole = BookRole.CHARACTER) -> Lorebook:
    """The book inside a card. Raises InputError where there is none, or it cannot be read."""
    source = path if path is not None else f"the card of {card.name}"
    document = card.data.character_book
    if document is None:
        raise WrongFileError(source, f"the card of {card.name} has no lorebook inside", Belongs.CARD)
    try:
        return read_lorebook({"character_book": document}, card_book_name(card), role, str(source))
    except BookError as error:
        raise InputError(source, str(error), field="character_book") from None


def card_book_name(card: CharacterCard) -> str:
    """What the book inside a card is called."""
    name = (card.data.character_book or {}).get("name")
    return name if isinstance(name, str) and name.strip() else f"{card.name}'s Lorebook"


def _is_card(document: Mapping[str, object]) -> bool:
    data = document.get("data")
    inner = data if isinstance(data, Mapping) else document
    if document.get("spec") == LOREBOOK_V3:
        return False
    return "entries" not in document and ("spec" in document or "character_book" in inner or "first_mes" in inner)


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
