"""Lorebook files: World Info, other programs' books, and the book inside a character card.

A book's name is its file's without the ending, as SillyTavern has it; a card's book has a name of its own, or is named
after the character (spec: deeplore-ai-and-tools 5.1, 5.5).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lorestudio.engine.worldinfo.book import BookError
from lorestudio.engine.worldinfo.books import BookRole, Lorebook
from lorestudio.engine.worldinfo.lorebook import read_lorebook
from lorestudio.exchange.character_card import SIGNATURE, CharacterCard, parse_card
from lorestudio.exchange.json_file import read_file
from lorestudio.exchange.json_spelling import parse_record
from lorestudio.exchange.problems import InputError

MAX_BYTES: Final = 256 * 1024 * 1024
"""The largest file that is read as a lorebook."""

ADVICE: Final = "Give a World Info file that SillyTavern exported, or a character card with a lorebook inside."


def load_lorebook(path: Path, role: BookRole | None = None) -> Lorebook:
    """The lorebook in a file, told by its content. Waits for the disk. Raises InputError.

    Without a role a card's book is the character's and any other one is global.
    """
    try:
        large = path.stat().st_size > MAX_BYTES
    except OSError:
        large = False  # reading says what is wrong
    if large:
        raise InputError(path, f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB, so it is no lorebook.")
    data = read_file(path)
    if data.startswith(SIGNATURE):
        return card_book(parse_card(data, path), path, role or BookRole.CHARACTER)
    try:
        document = parse_record(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(path, f"this is neither a PNG picture nor JSON in UTF-8. {ADVICE}") from None
    except json.JSONDecodeError as error:
        raise InputError(path, f"not valid JSON ({error.msg}). {ADVICE}", error.lineno) from None
    except ValueError as error:
        raise InputError(path, f"not valid JSON ({error}). {ADVICE}") from None
    if isinstance(document, Mapping) and _is_card(document):
        return card_book(parse_card(data, path), path, role or BookRole.CHARACTER)
    try:
        return read_lorebook(document, path.stem, role or BookRole.GLOBAL, str(path))
    except BookError as error:
        raise InputError(path, str(error)) from None


def card_book(card: CharacterCard, path: Path | None, role: BookRole = BookRole.CHARACTER) -> Lorebook:
    """The book inside a card. Raises InputError where there is none, or it cannot be read."""
    source = path if path is not None else f"the card of {card.name}"
    document = card.data.character_book
    if document is None:
        raise InputError(source, f"the card of {card.name} has no lorebook inside. {ADVICE}")
    name = document.get("name")
    try:
        return read_lorebook(
            {"character_book": document},
            name if isinstance(name, str) and name.strip() else f"{card.name}'s Lorebook",
            role,
            str(source),
        )
    except BookError as error:
        raise InputError(source, str(error), field="character_book") from None


def _is_card(document: Mapping[str, object]) -> bool:
    data = document.get("data")
    inner = data if isinstance(data, Mapping) else document
    return "entries" not in document and ("spec" in document or "character_book" in inner or "first_mes" in inner)
