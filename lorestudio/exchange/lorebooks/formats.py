"""Every format of lore that is read and written: what a file of it is told by, and how it becomes World Info and back.

A file is told by its content, never by its ending; formats are asked in the order of `FORMATS` (rules: lorebooks 1). Of
a file that is neither a lorebook nor a chat it is said what it is, and what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import json_or_none, mapping_in, object_in, parse_json, spell, text_in
from lorestudio.domain.records import replace
from lorestudio.exchange.containers import CARD_MEMBER, SIGNATURE, OpenedContainer, archive, is_archive, opened
from lorestudio.exchange.json_file import changed_text, parse_text, read_file, same_value
from lorestudio.exchange.lorebooks.crossing import EntryForm, Fidelity, FieldFate, Raw, only_carried
from lorestudio.exchange.lorebooks.documents import Found, Lore, Written, part_at, read_book, write_book
from lorestudio.exchange.lorebooks.kinds import agnaistic, aidungeon, card_book, kobold, markdown, novelai, risu
from lorestudio.exchange.lorebooks.kinds.table import HEADER, form_of, looks_like_table, read_table, write_table
from lorestudio.exchange.problems import Belongs, InputError, WrongFileError

Find = Callable[[Json], Found | None]


class LoreFormat(Struct, frozen=True):
    """A format of lore. `looks` says to people what a file of it is told by, `endings` how such files are called.

    `find` finds its book in a JSON document. `empty` is the document of a new book of that name; without one a book
    is written only into a copy of a file that exists. `forms` are those of its entries, for the table of fields.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    looks: str
    forms: tuple[EntryForm, ...] = ()
    find: Find = lambda _document: None
    empty: Callable[[str], Json] | None = None

    @property
    def makes_new(self) -> bool:
        """Whether a file of it is made from nothing."""
        return self.empty is not None or self.name in {CSV, NOTES}


# ---- where the book lies --------------------------------------------------------------------------------------------


def _in_lorebook_v3(document: Json) -> Found | None:
    data = object_in(document, "data")
    if mapping_in(document).get("spec") != "lorebook_v3":
        return None
    return Found(("data", "entries"), card_book.FORM, text_in(data.get("name")))


_CARDS: Final = frozenset({"chara_card_v2", "chara_card_v3"})
_FIRST_CARDS: Final = frozenset({"first_mes", "char_persona", "mes_example"})


def _in_card(document: Json) -> Found | None:
    card = mapping_in(document)
    data = object_in(card, "data")
    path: tuple[str, ...] = ("data", "character_book", "entries")
    inner = data
    if text_in(card.get("spec")) not in _CARDS and not {"first_mes", "character_book"} & data.keys():
        path, inner = path[1:], card
        if "entries" in card or not (_FIRST_CARDS | {"character_book"}) & card.keys():
            return None
    named = text_in(object_in(inner, "character_book").get("name"))
    remarks = card_book.book_remarks(object_in(inner, "character_book"))
    title = named or f"{text_in(inner.get('name'))}'s Lorebook"
    return Found(  # SillyTavern's validator asks for the extensions
        path, card_book.FORM, title, remarks=remarks,
        around=lambda before, after: after if same_value(before, after) else {"extensions": {}, **after},
    )  # fmt: skip


def _in_risu(kind: str, member: str, document: Json) -> Found | None:
    book = mapping_in(document)
    listed = book.get(member)
    if book.get("type") != kind or not isinstance(listed, list | tuple):
        return None
    folder = partial(risu.folder_of, risu.folder_names(listed))
    return Found((member,), risu.FORM, text_in(book.get("name")), is_lore=risu.is_lore, folder=folder)


_NOVELAI: Final[Mapping[str, tuple[str, ...]]] = {
    "lorebookVersion": (),
    "storyContainerVersion": ("content", "lorebook"),
    "scenarioVersion": ("lorebook",),
}
"""Where NovelAI's book lies in the document that has the field."""


def _in_novelai(document: Json) -> Found | None:
    path: tuple[str, ...] | None = next((path for name, path in _NOVELAI.items() if name in mapping_in(document)), None)
    if path is None:
        return None
    book = mapping_in(document)
    for name in path:
        book = object_in(book, name)
    title = text_in(mapping_in(document).get("title")) or text_in(object_in(document, "metadata").get("title"))
    remarks = ("Memory and author's note of the story are no entries; they stay in the file.",) if path else ()
    form, folder = novelai.form_of(book), partial(novelai.folder_of, book)
    named = title if path else ""
    return Found((*path, "entries"), form, named, folder=folder, around=novelai.with_order, remarks=remarks)


def _in_agnaistic(document: Json) -> Found | None:
    book = mapping_in(document)
    if book.get("kind") != "memory":
        return None
    return Found(("entries",), agnaistic.FORM, text_in(book.get("name")))


def _in_united(document: Json) -> Found | None:
    whole = mapping_in(document)
    in_story = isinstance(object_in(whole, "worldinfo_v2").get("entries"), Mapping)
    if not in_story and not {"entries", "folders"} <= whole.keys():
        return None
    path = ("worldinfo_v2", "entries") if in_story else ("entries",)
    return Found(path, kobold.UNITED, folder=_united_folder, around=kobold.with_folders)


def _united_folder(raw: Raw) -> str:
    folder = text_in(raw.get("folder"))
    return "" if folder == "root" else folder


def _in_kobold(document: Json) -> Found | None:
    path: tuple[str, ...] = ()
    if isinstance(document, Mapping):
        if not {"gamestarted", "prompt", "actions"} & document.keys():
            return None
        path, listed = ("worldinfo",), document.get("worldinfo")
    else:
        listed = document
    first = _first(listed)
    if not path and not (isinstance(first.get("key"), str) and "content" in first):
        return None
    if not isinstance(listed, list | tuple):
        return None
    return Found(path, kobold.LITE, folder=lambda raw: text_in(raw.get("wigroup")))


_CARD_LISTS: Final = ("storyCards", "story_cards", "cards", "worldInfo", "worldInfos")


def _in_aidungeon(document: Json) -> Found | None:
    path: tuple[str, ...] = ()
    listed = document
    if isinstance(document, Mapping):
        name = next((name for name in _CARD_LISTS if isinstance(document.get(name), list | tuple)), "")
        path, listed = (name,), document.get(name)
    first = _first(listed)
    if not ("keys" in first and {"value", "entry"} & first.keys()) and not (path[:1] and path[0] and listed == []):
        return None
    return Found(
        path, aidungeon.CARDS, text_in(mapping_in(document).get("title")), folder=lambda raw: text_in(raw.get("type"))
    )


def _first(listed: Json) -> Raw:
    return mapping_in(listed[0]) if isinstance(listed, list | tuple) and listed else {}


def _in_character_book(document: Json) -> Found | None:
    """A card's book without its card."""
    book = mapping_in(document)
    first = _first(book.get("entries"))
    if "keys" not in first or {"key", "uid"} & first.keys():
        return None
    return Found(("entries",), card_book.FORM, text_in(book.get("name")), remarks=card_book.book_remarks(book))


_OF_A_REPORT: Final = frozenset({"from", "to", "counts"})
"""What the report of an import has, whose entries are no lore."""


def _in_world_info(document: Json) -> Found | None:
    if isinstance(document, Mapping):
        if document.keys() >= _OF_A_REPORT:
            return None
        remarks = card_book.book_remarks(document)
        return (
            Found(("entries",), None, remarks=remarks) if isinstance(document.get("entries"), Mapping | list) else None
        )
    return Found((), None) if "key" in _first(document) or "uid" in _first(document) else None


# ---- the formats ----------------------------------------------------------------------------------------------------

CSV: Final = "csv"
NOTES: Final = "markdown"
SILLYTAVERN: Final = "sillytavern"
CARD: Final = "card"

FORMATS: Final[tuple[LoreFormat, ...]] = (
    LoreFormat(
        "lorebook-v3", "Lorebook V3", (".json",), "`spec` is `lorebook_v3`", (card_book.FORM,), _in_lorebook_v3,
        lambda name: {"spec": "lorebook_v3", "data": {"name": name, "extensions": {}, "entries": []}},
    ),
    LoreFormat(
        CARD, "Character card", (".png", ".json", ".charx"),
        "a PNG picture with a `chara` or `ccv3` text, `card.json` in a CharX, or a card's `spec` or fields",
        (card_book.FORM,), _in_card,
    ),
    LoreFormat(
        "risu", "Risu", (".json",), "`type` is `risu`", (risu.FORM,), partial(_in_risu, "risu", "data"),
        lambda _name: {"type": "risu", "ver": 1, "data": []},
    ),
    LoreFormat("risu-module", "Risu module", (".json",), "`type` is `risuModule`", (risu.FORM,),
        partial(_in_risu, "risuModule", "lorebook"),
    ),
    LoreFormat(
        "novelai", "NovelAI", (".lorebook", ".story", ".scenario", ".png"),
        "`lorebookVersion`, `storyContainerVersion` or `scenarioVersion`, or a PNG picture with a `naidata` text",
        (novelai.FORM,), _in_novelai, lambda _name: novelai.EMPTY,
    ),
    LoreFormat(
        "agnaistic", "Agnaistic", (".json",), "`kind` is `memory`", (agnaistic.FORM,), _in_agnaistic,
        lambda name: {"kind": "memory", "name": name, "description": "", "entries": []},
    ),
    LoreFormat(
        "kobold-united", "KoboldAI United", (".json",), "`entries` and `folders`, or `worldinfo_v2`",
        (kobold.UNITED,), _in_united, lambda _name: kobold.EMPTY,
    ),
    LoreFormat(
        "kobold", "KoboldAI", (".json",), "a list with `key` as a text and `content`, or a save with `worldinfo`",
        (kobold.LITE,), _in_kobold, lambda _name: [],
    ),
    LoreFormat(
        "aidungeon", "AI Dungeon", (".json",), "a list with `keys` and `value`, or `storyCards`",
        (aidungeon.CARDS,), _in_aidungeon, lambda _name: [],
    ),
    LoreFormat(
        "character-book", "Book of a card", (".json",), "`entries` that have `keys`, and no `key`",
        (card_book.FORM,), _in_character_book,
    ),
    LoreFormat(
        SILLYTAVERN, "World Info", (".json",), "`entries` that have `key`, or a list of such",
        find=_in_world_info, empty=lambda _name: {"entries": {}},
    ),
    LoreFormat(
        CSV, "Table (CSV)", (".csv", ".tsv"), "a first line that names columns for keys and text",
        (form_of(HEADER),),
    ),
    LoreFormat(
        NOTES, markdown.TITLE, (".zip", markdown.ENDING), "a folder or an archive of notes", (markdown.FORM,),
    ),
)  # fmt: skip

BY_NAME: Final[Mapping[str, LoreFormat]] = {each.name: each for each in FORMATS}


def form_called(path: Path) -> str:
    """The format that a file's name says; World Info where that may be, and where it says none."""
    found = [each.name for each in FORMATS if path.suffix.lower() in each.endings]
    return SILLYTAVERN if SILLYTAVERN in found or not found else found[0]


_PACKED: Final = {".png": "picture", ".charx": "archive", ".zip": "archive"}


def check_name(path: Path, form: str, data: bytes) -> None:
    """Raises InputError where a file is called as those of another format are, so that nobody could open it."""
    packed = "picture" if data.startswith(SIGNATURE) else "archive" if is_archive(data) else ""
    fitting = [each for each in BY_NAME[form].endings if _PACKED.get(each, "") == packed]
    suffix = path.suffix.lower()
    if suffix not in fitting and any(suffix in each.endings for each in FORMATS):
        told = f"what would be written ({BY_NAME[form].title}) ends in {' or '.join(fitting)}. Choose another name."
        raise InputError(path, told)


def read_lore(path: Path, *, split: int = 0) -> Lore:
    """The lore in a file of any format, or in a folder of notes. Waits for the disk. Raises InputError."""
    if path.is_dir() or path.suffix.lower() == markdown.ENDING:
        return markdown.read_notes(path, split)
    return parse_lore(read_file(path), path, split=split)


def parse_lore(data: bytes, path: Path, *, heads: bool = False, split: int = 0) -> Lore:
    """The lore in the bytes of a file. Raises InputError that names the field that is wrong, or says what it is.

    `heads`: what NovelAI puts before and behind an entry is part of its text. `split`: the level of the headings that
    begin an entry in Markdown, 0 for a note an entry.
    """
    if is_archive(data) and archived(data) == NOTES:
        return markdown.notes_in(archive(data, path), path, split)
    looked = _look(data, path)
    if looked is None:
        return read_table(data, path.stem, path)
    kind, found, _inside, document = looked
    found = _with_heads(found) if heads else found
    if kind.name == CARD and not isinstance(part_at(document, found.path[:-1]), Mapping):
        raise InputError(path, "the card has no lorebook inside. Give one that has.")
    with _not_too_deep(path):
        lore = read_book(document, found, kind.name, kind.title, path.stem, path)
    for place, entry in enumerate(lore.entries, 1):
        try:
            spell(entry)
        except ValueError:  # said here, where nothing is written yet
            what = f"entry {place} holds a number that is too large to be written, as 1e999, or is nested too deeply"
            raise InputError(path, f"{what}. Correct it in the file.") from None
    report = replace(lore.report, remarks=(*_inside.remarks, *lore.report.remarks))
    return replace(lore, report=report)


def _with_heads(found: Found) -> Found:
    """The book with prefixes and suffixes in its texts, where its form has any."""
    has_any = found.form is not None and found.form.name == novelai.FORM.name
    return replace(found, form=novelai.with_heads(found.form)) if has_any and found.form is not None else found


def left_behind(form: EntryForm, entry: Raw) -> Iterator[FieldFate]:
    """What the entry keeps for programs that it came from, which goes no further where a form has no place for it."""
    origins = {each.name: each for known in FORMATS for each in known.forms if each.name != form.name}
    for origin in origins.values() if form.cannot else ():
        for name in only_carried(origin, entry):
            yield FieldFate(f"{origin.name}.{name}", Fidelity.LOST, form.cannot)


def write_lore(
    form: str,
    name: str,
    entries: Sequence[Raw],
    original: tuple[Path, bytes] | None = None,
    *,
    heads: bool = False,
    called: Mapping[str, str] = MappingProxyType({}),
    ending: str = "",
) -> Written:
    """World Info entries as a file of a format, a new one named `name` or a copy of `original` with these entries.

    Each entry has a `uid` of its own. In the copy an entry with the uid of one there stands in its place, and all
    else is as it was. `called` has the uids that those of the copy go by in `entries`, where they are other ones.
    `heads` as in `parse_lore`, `ending` as in `write_table`.
    Raises InputError where the format cannot be written so, or `original` is another one.
    """
    kind = BY_NAME[form]
    written = _written(kind, name, entries, original, heads=heads, called=called, ending=ending)
    raws = {to_string(raw.get("uid")): raw for raw in entries}
    lost = {uid: [each for into in kind.forms[:1] for each in left_behind(into, raw)] for uid, raw in raws.items()}
    fates = (replace(fate, fields=(*fate.fields, *lost.get(fate.uid, ()))) for fate in written.report.entries)
    return replace(written, report=replace(written.report, entries=tuple(fates)))


def _written(
    kind: LoreFormat,
    name: str,
    entries: Sequence[Raw],
    original: tuple[Path, bytes] | None,
    *,
    heads: bool,
    called: Mapping[str, str],
    ending: str,
) -> Written:
    if kind.name == CSV:
        return write_table(entries, original and original[1], original[0] if original else name, called, ending)
    if kind.name == NOTES:
        return markdown.write_notes(entries, name, original and original[1], original[0] if original else name)
    if original is None and kind.empty is None:
        told = "no new file of this format can be made. Name a card that the book goes into a copy of (--card FILE)."
        raise InputError(kind.title, told)
    if original is None:
        document = kind.empty(name) if kind.empty is not None else None
        found = kind.find(document) or Found((), kind.forms[0])
        # Every member of a new file is on a line of its own.
        inside = OpenedContainer(changed_text("[\n]" if isinstance(document, list) else "{\n}", document))
        source: Path | str = name
    else:
        source = original[0]
        looked = _look(original[1], original[0])
        if looked is None or looked[0].name != kind.name:
            is_one = "a table" if looked is None else looked[0].title
            raise InputError(source, f"this is no file of that format ({kind.title}), but of another: {is_one}.")
        _kind, found, inside, document = looked
    found = _with_heads(found) if heads and found is not None else found
    if found is None:
        raise InputError(source, f"there is no place for a book of this format ({kind.title}) in the file.")
    if kind.name == CARD and found.path[0] != "data":
        raise InputError(source, "a card of version 1 has no place for a lorebook. Save it in SillyTavern first.")
    with _not_too_deep(source):
        made, report, uids = write_book(inside.text, document, found, kind.title, entries, source, called)
    return Written(inside.close(made), replace(report, remarks=(*inside.remarks, *report.remarks)), uids)


@contextmanager
def _not_too_deep(source: Path | str) -> Iterator[None]:
    """Raise InputError where entries are nested deeper than they can be compared."""
    try:
        yield
    except InputError:
        raise
    except (RecursionError, ValueError) as error:
        raise InputError(source, "an entry in it is nested too deeply. Take it out of the file.") from error


CHAT_FIELDS: Final = frozenset({"mes", "user_name", "chat_metadata"})
"""What the lines of a chat have."""


def kind_of(document: Json) -> tuple[LoreFormat, Found] | None:
    """The format of a JSON document, and where its book lies; None for what is no lore."""
    return next(((kind, found) for kind in FORMATS if (found := kind.find(document)) is not None), None)


def archived(data: bytes) -> str:
    """Which format an archive is of: notes, or a card; "" where neither is in it, or it cannot be read."""
    try:
        names = archive(data, "", only_names=True)
    except InputError:
        return ""
    if CARD_MEMBER in names:
        return "card"
    return NOTES if any(map(markdown.is_note, names)) else ""


def refusal(data: bytes, path: Path) -> InputError | None:
    """Why a file with these bytes holds neither lore nor a chat, None where it may hold some."""
    said = ""
    if not data.strip():
        said = "the file is empty. Give a lorebook, or a chat with at least one message."
    if data.strip() == b"null":
        said = "the file holds only “null”, as a save that failed leaves it. Give a copy of before."
    if data.startswith(_RISU_MODULE):
        said = "this is a Risu module in its packed form, which cannot be read. Export the module in Risu as JSON."
    return InputError(path, said) if said else None


_RISU_MODULE: Final = b"\x6f\x00"

SETTINGS: Final = "this is a settings file of SillyTavern's"
_A_CHAT: Final = "this is a chat, and no lorebook"

Looked = tuple[LoreFormat, Found, OpenedContainer, Json]


def _look(data: bytes, path: Path) -> Looked | None:
    """What a file is, and its document; None for a table. Raises InputError for what is no lore."""
    if refused := refusal(data, path):
        raise refused
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")) and looks_like_table(data):
        return None
    inside = opened(data, path, "lorebook or a card with one")
    try:
        document = parse_text(inside.text, path, "Export the file again.")
    except InputError:
        if CHAT_FIELDS & mapping_in(json_or_none(inside.text.partition("\n")[0])).keys():
            raise WrongFileError(path, _A_CHAT, Belongs.CHAT) from None
        raise
    known = kind_of(document)
    if known is not None:
        return *known, inside, document
    if CHAT_FIELDS & mapping_in(document).keys():
        raise WrongFileError(path, _A_CHAT, Belongs.CHAT)
    if "power_user" in mapping_in(document):
        raise WrongFileError(path, SETTINGS, Belongs.SETTINGS)
    told = ", ".join(dict.fromkeys(each.title for each in FORMATS))
    raise InputError(path, f"this is no lore that is known here. Give a file of one of these: {told}.")


_RUN: Final = frozenset({"lorebook-v3", "card", "character-book", "sillytavern", "risu", "novelai", "agnaistic"})
"""The formats that the scan takes as SillyTavern does."""


def json_of(data: bytes) -> tuple[bool, Json]:
    """Whether the bytes are one JSON document, and that document."""
    try:
        return True, parse_json(data.decode("utf-8-sig"))
    except ValueError:
        return False, None


def what_it_is(data: bytes, path: Path) -> InputError | None:
    """What a file with these bytes is and where it belongs; None for a lorebook, a chat, and what is not known."""
    is_json, document = json_of(data)
    return what_file(data, path) or (what_document(document, path) if is_json else None)


def what_file(data: bytes, path: Path) -> InputError | None:
    """The same of a file that is no JSON document."""
    what = ""
    if is_archive(data):
        what = "this is an archive of notes" if archived(data) == NOTES else ""
    elif data.lstrip()[:1] not in {b"{", b"["} and looks_like_table(data):
        what = "this is a table"
    return refusal(data, path) or (WrongFileError(path, what, Belongs.OTHER_LORE) if what else None)


def what_document(document: Json, path: Path) -> InputError | None:
    """The same of a JSON document."""
    if isinstance(document, Mapping) and "power_user" in document:
        return WrongFileError(path, SETTINGS, Belongs.SETTINGS)
    known = kind_of(document)
    if known is None:
        return None
    kind, found = known
    if kind.name in _RUN and not (kind.name == "novelai" and len(found.path) > 1):
        return None
    what = f"this is a file in the form “{kind.title}”, which World Info does not read"
    return WrongFileError(path, what, Belongs.OTHER_LORE)


def another_file(data: bytes, path: Path, wanted: str) -> InputError | None:
    """What lore, chat or settings a file holds in place of what was `wanted`; None where it holds none of them."""
    if not data.strip():
        return None
    if wrong := what_it_is(data, path):
        return wrong
    try:
        looked = _look(data, path)
    except WrongFileError as error:
        what, _, _ = error.what.partition(",")
        return WrongFileError(path, f"{what}, and no {wanted}", error.belongs)
    except InputError:
        return None
    what = "a card" if looked is not None and looked[0].name == CARD else "a lorebook"
    return WrongFileError(path, f"this is {what}, and no {wanted}", Belongs.BOOK)


def may_be_chat(data: bytes) -> bool:
    """False for a picture, an archive and one JSON document without anything that a line of a chat has."""
    if data.startswith(SIGNATURE) or is_archive(data):
        return False
    is_json, document = json_of(data)
    return not is_json or (isinstance(document, Mapping) and not CHAT_FIELDS.isdisjoint(document))
