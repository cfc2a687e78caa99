"""World Info for a project: which lorebooks are in play, and what the scan is told of chat, card and persona."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lorestudio.domain.chat import Chat, authors_note
from lorestudio.exchange.lorebooks.books import BookRole, Lorebook, in_play
from lorestudio.exchange.lorebooks.entry import Extra
from lorestudio.exchange.lorebooks.files import BookFile, book_files
from lorestudio.exchange.lorebooks.reading import card_book, load_lorebook
from lorestudio.exchange.problems import InputError
from lorestudio.llm.vectors import KnownVectors, embedder_named
from lorestudio.settings.worldinfo import BY_BOOKS, VAULT, WorldInfoSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.systems.worldinfo.surroundings import Surroundings
from lorestudio.systems.worldinfo.system import WorldInfoSystem

_ROLE_WORDS: Final = {
    BookRole.GLOBAL: "a global lorebook",
    BookRole.CHARACTER: "the character's",
    BookRole.CHAT: "the chat's",
    BookRole.PERSONA: "the persona's",
}


def world_info_system(settings: WorldInfoSettings, project: Project) -> WorldInfoSystem:
    """World Info for the project's chat. Waits for the disk. Raises InputError."""
    embedder = embedder_named(settings.embedder) if settings.vectors else None
    vectors = KnownVectors(embedder) if embedder is not None else None
    around = surroundings(project)
    files = (*book_files(settings), *_extra_files(settings, project))
    if settings.source == VAULT or (settings.source == BY_BOOKS and not files):
        return WorldInfoSystem(settings, None, around, vectors)
    named = [load_lorebook(Path(file.path).expanduser(), file.role) for file in files]
    linked, missing = _linked(settings, project, named)
    books = (*named, *linked)
    return WorldInfoSystem(settings, books, around, vectors, (*_remarks(books), *missing))


def surroundings(project: Project) -> Surroundings:
    """What a scan is told beside the messages."""
    chat, setup = project.chat or Chat(), project.setup
    card = setup.card.data if setup.card is not None else None
    extras = {Extra.PERSONA: setup.persona.text}
    macros = {"user": setup.user_name(chat), "char": setup.character_name(chat), "persona": setup.persona.text}
    if card is not None:
        extras |= {
            Extra.DESCRIPTION: card.description,
            Extra.PERSONALITY: card.personality,
            Extra.DEPTH_PROMPT: card.extensions.depth_prompt.prompt,
            Extra.SCENARIO: card.scenario,
            Extra.CREATOR_NOTES: card.creator_notes,
        }
        macros |= {
            "description": card.description,
            "personality": card.personality,
            "scenario": card.scenario,
            "mesexamples": card.mes_example,
            "charprompt": card.system_prompt,
            "charinstruction": card.post_history_instructions,
        }
    return Surroundings(
        note=authors_note(chat.metadata),
        by_user=tuple(message.is_user for message in chat.messages),
        characters=frozenset(_names(project, setup)),
        extras=extras,
        macros=macros,
        reply_tokens=setup.reply_tokens,
    )


def _names(project: Project, setup: PromptSetup) -> Iterator[str]:
    """What a character filter may call the character: SillyTavern uses the name of the picture's file."""
    if setup.card is not None:
        yield setup.card.name
    if setup.card_path is not None:
        yield setup.card_path.stem
    if project.chat_path is not None:
        yield project.chat_path.parent.name


def _extra_files(settings: WorldInfoSettings, project: Project) -> Iterator[BookFile]:
    """The further books of the chat's character. Raises InputError for a line that names no file."""
    names = frozenset(_names(project, project.setup))
    for line in filter(None, map(str.strip, settings.extra_books.splitlines())):
        character, _colon, path = (part.strip() for part in line.partition(":"))
        if not path:
            raise InputError("extra_books", f"“{line}” names no file. Write the character, a colon, and the file.")
        if character in names:
            yield BookFile(path, BookRole.CHARACTER)


def _linked(
    settings: WorldInfoSettings, project: Project, named: list[Lorebook]
) -> tuple[list[Lorebook], tuple[str, ...]]:
    """The books that chat and card name, as far as they are there and not listed yet; and what is missing."""
    books: list[Lorebook] = []
    missing: list[str] = []
    chat, setup = project.chat or Chat(), project.setup
    by_chat = chat.metadata.get("world_info")
    by_card = setup.card.data.extensions.world if setup.card is not None else None
    for wanted, role, who in ((by_chat, BookRole.CHAT, "chat"), (by_card, BookRole.CHARACTER, "card")):
        if not isinstance(wanted, str) or not wanted or any(book.name == wanted for book in (*named, *books)):
            continue
        path = Path(settings.worlds).expanduser() / f"{wanted}.json" if settings.worlds else None
        if path is not None and path.is_file():
            books.append(load_lorebook(path, role))
        elif not (role is BookRole.CHARACTER and setup.card is not None and setup.card.data.character_book):
            hint = f"{path} is not there" if path is not None else "SillyTavern's folder of lorebooks is not set"
            missing.append(f"The {who} names the lorebook “{wanted}”, which is not scanned: {hint}.")
    if setup.card is not None and setup.card.data.character_book is not None:
        inside = card_book(setup.card, setup.card_path)
        known = {book.name for book in (*named, *books)}
        if inside.name not in known and not (isinstance(by_card, str) and by_card in known):
            books.append(inside)
    return books, tuple(missing)


def _remarks(books: tuple[Lorebook, ...]) -> Iterator[str]:
    playing = in_play(books)
    for book in playing.used:
        for remark in book.remarks:
            yield f"{book.name}: {remark}"
    for dropped, kept in playing.dropped:
        if dropped.place == kept.place:
            yield f"{kept.name} is listed twice; it is scanned once, as {_ROLE_WORDS[kept.role]}."
        else:
            yield (
                f"{dropped.place} is not scanned: there is another lorebook “{kept.name}” ({kept.place}), and "
                "SillyTavern tells lorebooks apart by their names alone."
            )
