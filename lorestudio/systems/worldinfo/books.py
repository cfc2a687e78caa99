"""World Info for a project: which lorebooks are in play, and what the scan is told of chat, card and persona."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from lorestudio.domain import json_text
from lorestudio.domain.chat import AuthorsNote, Chat, authors_note
from lorestudio.domain.javascript import Json, to_string, truthy
from lorestudio.domain.json_text import items_in, object_in, objects_in, texts_in
from lorestudio.domain.records import grouped, replace
from lorestudio.exchange.character_card import CardData
from lorestudio.exchange.chats.recorded import ACTIVE_BOOKS, BOOK_VIEWER
from lorestudio.exchange.host_settings import room_in
from lorestudio.exchange.lorebooks.entry import BookEntry
from lorestudio.exchange.lorebooks.reading import (
    BookFile,
    BookRole,
    InsertionStrategy,
    Lorebook,
    card_book,
    card_book_name,
    in_order,
    in_play,
    load_lorebook,
)
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.settings_files import SectionCarrier
from lorestudio.settings.declaration import declared
from lorestudio.settings.files import parse_json, read_bytes
from lorestudio.settings.sections import section_of
from lorestudio.settings.worldinfo import BY_BOOKS, CARRIED, LARGEST_CONTEXT, VAULT, WorldInfoSettings
from lorestudio.systems.base import ScannedBooks, Scene, SystemKind, WakeFinder
from lorestudio.systems.macros import Macros
from lorestudio.systems.vectors import KnownVectors, embedder_named
from lorestudio.systems.worldinfo import NAME, SUMMARY, TITLE
from lorestudio.systems.worldinfo.checks import Listed, checked_books
from lorestudio.systems.worldinfo.decision import (
    CARD_TEXTS,
    Surroundings,
    WorldInfoState,
    as_book_entry,
    budget_of,
    index_of,
)
from lorestudio.systems.worldinfo.key_search import WorldInfoKeySearch, WorldInfoWakes
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.systems.worldinfo.words import VOCABULARY
from lorestudio.trace.wording import one_line
from lorestudio.vault.lint.model import CheckedBooks

_ROLE_WORDS: Final = {
    BookRole.GLOBAL: "a global lorebook",
    BookRole.CHARACTER: "the character's",
    BookRole.CHAT: "the chat's",
    BookRole.PERSONA: "the persona's",
}


_FIELDS: Final = {
    BookRole.GLOBAL: "book",
    BookRole.CHARACTER: "character_books",
    BookRole.CHAT: "chat_books",
    BookRole.PERSONA: "persona_books",
}
"""The settings with the files of each role."""


def book_files(settings: WorldInfoSettings) -> tuple[BookFile, ...]:
    """The files that the settings name, by role and in their order."""
    return tuple(
        BookFile(line.strip(), role)
        for role, name in _FIELDS.items()
        for line in str(getattr(settings, name)).splitlines()
        if line.strip()
    )


def with_book_files(settings: WorldInfoSettings, files: Iterable[BookFile]) -> WorldInfoSettings:
    """The settings with these files in place of those they named; a setting that says to scan the vault gives way."""
    listed = list(files)
    update: dict[str, Json] = {
        name: "\n".join(file.path for file in listed if file.role is role) for role, name in _FIELDS.items()
    }
    if listed and settings.source == VAULT:
        update["source"] = BY_BOOKS
    return settings.model_copy(update=update)


def world_info_system(settings: WorldInfoSettings, scene: Scene) -> WorldInfoSystem:
    """World Info for the scene's chat. Waits for the disk. Raises InputError."""
    embedder = embedder_named(settings.embedder) if settings.vectors else None
    vectors = KnownVectors(embedder) if embedder is not None else None
    around = surroundings(scene, settings)
    if not _scans_books(settings, scene):
        return WorldInfoSystem(settings, None, around, vectors)
    books, missing = _read_books(settings, scene)
    return WorldInfoSystem(settings, books, around, vectors, (*_remarks(books), *missing))


def _scans_books(settings: WorldInfoSettings, scene: Scene) -> bool:
    """Whether lorebooks are scanned, and not the vault."""
    if settings.source == VAULT:  # but for books in its place, whose notes it shows
        return bool(scene.books) and {book.name for book in scene.books} >= set(scene.index.vaults)
    extra = (file for each in (scene, *_speaking(scene).values()) for file in _extra_files(settings, each))
    without_vault = not scene.index.vaults
    return settings.source != BY_BOOKS or without_vault or bool(scene.books or book_files(settings)) or any(extra)


def _read_books(settings: WorldInfoSettings, scene: Scene) -> tuple[tuple[Lorebook, ...], tuple[str, ...]]:
    """The books that settings, chat and card name, and those of the scene; and sentences about those missing.

    A file in SillyTavern's folder that cannot be used is missing, since its settings go on to name books that are gone.
    """
    missing: list[str] = []
    named = list(_read(settings, (*book_files(settings), *_extra_files(settings, scene)), missing))
    linked = _linked(settings, scene, [*named, *scene.books], missing)
    others = (book for book in scene.books if book.role is not BookRole.CHARACTER)
    common = {book.name for book in (*named, *linked, *others)}  # whoever speaks
    books = [*named, *scene.books, *linked]
    owners: dict[str, set[str]] = {}
    for name, own in _speaking(scene).items():
        known = {book.place for book in books}
        further = (file for file in _extra_files(settings, own) if file.path not in known)
        books += _read(settings, further, missing)
        books += _linked(settings, own, books, missing)
        for called in _names_of_own(settings, own):
            owners.setdefault(called, set()).add(name)
    owned = (
        book if book.name in common else replace(book, owners=book.owners | owners.get(book.name, set()))
        for book in books
    )
    return tuple(owned), tuple(dict.fromkeys(missing))


def _read(settings: WorldInfoSettings, files: Iterable[BookFile], missing: list[str]) -> Iterator[Lorebook]:
    for file in files:
        path = Path(file.path).expanduser()
        try:
            yield load_lorebook(path, file.role)
        except InputError as error:
            if not settings.worlds or path.parent != Path(settings.worlds).expanduser():
                raise
            missing.append(f"A lorebook that SillyTavern's settings name is not scanned: {error}")


def _names_of_own(settings: WorldInfoSettings, scene: Scene) -> Iterator[str]:
    """What the books of the scene's character are called, there or not."""
    yield from (Path(file.path).stem for file in _extra_files(settings, scene))
    if scene.card is not None:
        data = scene.card.data
        yield str(data.extensions.world or "")
        if data.character_book is not None:
            yield card_book_name(scene.card)


def _speaking(scene: Scene) -> dict[str, Scene]:
    """The scene where each member of the group speaks, by their names."""
    return {
        name: replace(
            scene,
            card=member.card,
            card_path=member.path,
            names=(PurePosixPath(member.avatar).stem,),
            character_name=name,
        )
        for name, member in scene.cast.items()
    }


def surroundings(scene: Scene, settings: WorldInfoSettings) -> Surroundings:
    """What a scan is told beside the messages. Raises InputError for a line of a setting that cannot be read."""
    cast = {
        name: replace(_surroundings(own, settings), muted=scene.cast[name].muted)
        for name, own in _speaking(scene).items()
    }
    return replace(_surroundings(scene, settings), cast=cast)


def _surroundings(scene: Scene, settings: WorldInfoSettings) -> Surroundings:
    chat, called = scene.chat or Chat(), _called(settings, scene)
    card = scene.card.data if scene.card is not None else CardData()
    macros = {"user": scene.user_name}
    if scene.cast:
        every = ", ".join(scene.cast)
        others = (name for name in scene.cast if name != scene.character_name)
        macros |= {
            "group": every,
            "charifnotgroup": every,
            "groupnotmuted": ", ".join(name for name, member in scene.cast.items() if not member.muted),
            "notchar": ", ".join([*others, scene.user_name]),
        }
    texts = vars(card) | {"depth_prompt": card.extensions.depth_prompt.prompt}
    filled = {"persona": scene.persona} | {macro: texts[name] for name, macro in CARD_TEXTS.items()}
    return Surroundings(
        note=_note(scene.metadata, settings, called),
        messages=chat.messages,
        characters=frozenset(_names(scene)),
        only_these=_sure_names(scene) is not None,
        tags=_tags(scene, settings, called),
        macros=macros,
        filled=filled,
        variables={name: to_string(value) for name, value in object_in(scene.metadata, "variables").items()},
        reply_tokens=scene.reply_tokens,
    )


def _note(metadata: Mapping[str, Json], settings: WorldInfoSettings, names: Collection[str]) -> AuthorsNote:
    """The chat's note with that of the character, which takes its place or stands before or behind it."""
    note, written = authors_note(metadata), settings.character_notes.strip()
    if not written:
        return note
    try:
        listed = json_text.parse_json(written)
    except ValueError as error:
        raise InputError("character_notes", f"not valid JSON ({error}). {_NOTES_ADVICE}") from None
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise InputError("character_notes", f"no list of objects. {_NOTES_ADVICE}")
    own = next((each for each in listed if each.get("name") in names), None)
    if own is None or not truthy(own.get("useChara")):
        return note
    text, place = str(own.get("prompt") or ""), own.get("position")
    texts = {1: (text, note.text), 2: (note.text, text)}
    return replace(note, text="\n".join(texts.get(place, (text,)) if isinstance(place, int) else (text,)))


_LONGEST_NAME: Final = 240
_NOTES_ADVICE: Final = "Copy the list “chara” from “note” in SillyTavern's settings.json."


def _tags(scene: Scene, settings: WorldInfoSettings, names: Collection[str]) -> frozenset[str] | None:
    """The ids of the character's tags, None where nobody knows them."""
    if scene.tags is not None:
        return frozenset(scene.tags)
    for line in filter(None, map(str.strip, settings.tags.splitlines())):
        character, colon, tags = (part.strip() for part in line.partition(":"))
        if not colon:
            raise InputError("tags", f"“{line}” names no tags. Write the character, a colon, and the ids of its tags.")
        if character in names:
            return frozenset(filter(None, map(str.strip, tags.split(","))))
    return None


def _called(settings: WorldInfoSettings, scene: Scene) -> frozenset[str]:
    """What settings may call the chat's character."""
    return frozenset({settings.avatar} if settings.avatar else _names(scene))


def _sure_names(scene: Scene) -> tuple[str, ...] | None:
    """What files call the character, None where that is a guess.

    SillyTavern calls a character by its card's file and the folder of its chats by that, so where both are called alike
    a card's name, which several may have, says nothing more.
    """
    card, chat = scene.card_path, scene.chat_path
    if scene.names is None and card is not None and chat is not None and card.stem == chat.parent.name:
        return (card.stem,)
    return scene.names


def _names(scene: Scene) -> Iterator[str]:
    """What a character filter may call the character: SillyTavern uses the name of the picture's file."""
    sure = _sure_names(scene)
    if sure is not None:
        yield from sure
        return
    if scene.card is not None:
        yield scene.card.name
    if scene.card_path is not None:
        yield scene.card_path.stem
    if scene.chat_path is not None:
        yield scene.chat_path.parent.name


def _extra_files(settings: WorldInfoSettings, scene: Scene) -> Iterator[BookFile]:
    """The further books of the chat's character. Raises InputError for a line that names no file."""
    names = _called(settings, scene)
    for line in filter(None, map(str.strip, settings.extra_books.splitlines())):
        character, _colon, path = (part.strip() for part in line.partition(":"))
        if not path:
            raise InputError("extra_books", f"“{line}” names no file. Write the character, a colon, and the file.")
        if character in names:
            yield BookFile(path, BookRole.CHARACTER)


def _linked(settings: WorldInfoSettings, scene: Scene, named: Sequence[Lorebook], missing: list[str]) -> list[Lorebook]:
    """The books that chat and card name, as far as they are there and not listed yet; what is not is added."""
    books: list[Lorebook] = []
    card = scene.card
    by_chat = scene.metadata.get("world_info")
    by_card = card.data.extensions.world if card is not None else None
    who_of_card = f"card of {card.name}" if card is not None and scene.cast else "card"
    for wanted, role, who in ((by_chat, BookRole.CHAT, "chat"), (by_card, BookRole.CHARACTER, who_of_card)):
        if not isinstance(wanted, str) or not wanted or any(book.name == wanted for book in (*named, *books)):
            continue
        if Path(wanted).name != wanted or len(wanted) > _LONGEST_NAME:
            missing.append(f"The {who} names the lorebook “{one_line(wanted)}”, as which no file is called.")
            continue
        path = Path(settings.worlds).expanduser() / f"{wanted}.json" if settings.worlds else None
        if path is not None and path.is_file():
            try:
                books.append(load_lorebook(path, role))
            except InputError as error:
                missing.append(f"The {who} names the lorebook “{wanted}”, which is not scanned: {error}")
        elif not (role is BookRole.CHARACTER and card is not None and card.data.character_book):
            hint = f"{path} is not there" if path is not None else "SillyTavern's folder of lorebooks is not set"
            missing.append(f"The {who} names the lorebook “{wanted}”, which is not scanned: {hint}.")
    if card is not None and card.data.character_book is not None:
        inside = card_book(card, scene.card_path)
        known = {book.name for book in (*named, *books)}
        if inside.name not in known and not (isinstance(by_card, str) and by_card in known):
            books.append(inside)
    return books


def _remarks(books: tuple[Lorebook, ...]) -> Iterator[str]:
    playing = in_play(books)
    told = grouped((remark, book.name) for book in playing.used for remark in book.remarks)
    for remark, names in told.items():
        listed = ", ".join(names)
        yield f"{f'{len(names)} books ({listed})' if len(names) > 1 else listed}: {remark}"
    for dropped, kept in playing.dropped:
        if dropped.place == kept.place:
            yield f"{kept.name} is listed twice; it is scanned once, as {_ROLE_WORDS[kept.role]}."
        else:
            yield (
                f"{dropped.place} is not scanned: there is another lorebook “{kept.name}” ({kept.place}), and "
                "SillyTavern tells lorebooks apart by their names alone."
            )


def _in_play(settings: WorldInfoSettings, scene: Scene) -> tuple[tuple[Lorebook, ...], tuple[str, ...]]:
    books, missing = _read_books(settings, scene) if _scans_books(settings, scene) else ((), ())
    return in_play(books).used, missing


def _entries_of(books: tuple[Lorebook, ...]) -> tuple[BookEntry, ...]:
    return in_order(in_play(books).used, InsertionStrategy(WorldInfoSettings().character_strategy))


def _checked(
    settings: WorldInfoSettings, scene: Scene, context: int, on_progress: Callable[[int, int], None] | None = None
) -> CheckedBooks:
    raws = {entry.digest: raw for book in scene.books for entry, raw in zip(book.entries, book.raws, strict=True)}
    listed = [
        Listed(entry, raws[entry.digest], note)
        for entry, note in zip(_entries_of(scene.books), scene.index.entries, strict=True)
    ]
    budget = budget_of(settings, context, scene.reply_tokens)
    return checked_books(settings, listed, budget, scene.counter, on_progress)


def _wakes(settings: WorldInfoSettings, scene: Scene) -> WakeFinder:
    """Of the notes or of the lorebooks that stand in their place; nobody can tell where other lorebooks are scanned."""
    index, macros = scene.index, Macros({"user": scene.user_name, "char": scene.character_name, "noop": ""})
    if not _scans_books(settings, scene):
        entries = {entry.id: as_book_entry(entry) for entry in index.entries if not entry.guide}
    elif {book.name for book in scene.books} >= set(index.vaults):
        entries = {note.id: entry for note, entry in zip(index.entries, _entries_of(scene.books), strict=True)}
    else:
        return WakeFinder(index)
    return WorldInfoWakes(index, entries, settings, macros.fill)


_SECTION: Final = "world_info_settings"


def _file_settings(path: Path) -> WorldInfoSettings | None:
    """World Info as a SillyTavern has it set: its settings.json as settings, None for another file.

    The books that are active everywhere and those of characters are in the folder beside the file. What SillyTavern
    keeps there and World Info here does not have (alerts) is left out (rules: sillytavern 5.1, 5.4, 5.6).
    Raises SettingsError for a file that cannot be read and a value that cannot be.
    """
    document = parse_json(read_bytes(path), path)
    if not isinstance(document, Mapping) or not isinstance(own := document.get(_SECTION), Mapping):
        return None
    extensions, known = object_in(document, "extension_settings"), object_in(own, "world_info")
    keys = {each.alias for each in declared(WorldInfoSettings) if each.alias != each.name}
    values: dict[str, Json] = {}
    for source in (own, object_in(extensions, "note"), object_in(extensions, "vectors")):
        values |= {key: value for key, value in source.items() if key in keys and value is not None}
    worlds, note = path.parent / "worlds", object_in(extensions, "note")
    size, reply = room_in(document)
    if size:
        values["world_info_context"] = min(max(1, size - reply), LARGEST_CONTEXT)
    lore = objects_in(known.get("charLore"))
    extra = [f"{each.get('name')}: {worlds / name}.json" for each in lore for name in texts_in(each.get("extraBooks"))]
    values |= {
        "worlds": str(worlds),
        "book": "\n".join(f"{worlds / name}.json" for name in texts_in(known.get("globalSelect"))),
        "extra_books": "\n".join(extra),
        "tags": "\n".join(
            f"{avatar.rpartition('.')[0] or avatar}: {', '.join(texts_in(tags))}"
            for avatar, tags in object_in(document, "tag_map").items()
            if isinstance(tags, list)
        ),
        "character_notes": json.dumps(notes, ensure_ascii=False) if (notes := items_in(note.get("chara"))) else "",
    }
    return section_of(values, WorldInfoSettings, str(path))


KIND: Final = SystemKind(
    NAME,
    TITLE,
    SUMMARY,
    WorldInfoSettings,
    world_info_system,
    VOCABULARY,
    state=WorldInfoState,
    filters=frozenset({"wi_blocked"}),
    heeds=frozenset({"blocks", "character"}),
    budget="budget_cap",
    budget_alone={"budget": 100},
    not_held="World Info decides in one scan, in which entries bring each other in.",
    reads_file=_file_settings,
    carrier=partial(SectionCarrier, places=CARRIED),
    knows="Lorebooks, card, persona and author's note",
    remembers_what="Timed effects",
    of_one_computer=frozenset({"book", "character_books", "chat_books", "persona_books", "extra_books", "worlds"}),
    books=ScannedBooks(
        book_files, with_book_files, _in_play, lambda books: index_of(_entries_of(books)), _checked, "worlds"
    ),
    key_search=WorldInfoKeySearch,
    wakes=_wakes,
    reads_setup=True,
    records=(ACTIVE_BOOKS, BOOK_VIEWER),
)
WorldInfoSystem.kind = KIND
