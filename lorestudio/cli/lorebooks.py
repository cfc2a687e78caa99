"""Lorebooks and a card on the command line, for World Info."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lorestudio.exchange.character_card import load_card
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio import Project
from lorestudio.studio.world_info import book_file, book_files, with_book_files

BookOption = Annotated[
    list[str] | None,
    typer.Option(
        "--book",
        metavar="[ROLE:]FILE",
        help="A lorebook for world-info: World Info JSON, or a card with a book inside. ROLE is global, character, "
        "chat or persona. May be repeated.",
    ),
]
CardOption = Annotated[
    Path | None,
    typer.Option("--card", help="The character's card (PNG or JSON), for what world-info looks up in it."),
]


def with_books(settings: Section, books: Sequence[str]) -> Section:
    """The settings of World Info with these lorebooks besides those they name. Raises InputError for another system."""
    if not books:
        return settings
    if not isinstance(settings, WorldInfoSettings):
        raise InputError("--book", "lorebooks are scanned by --system world-info.")
    return with_book_files(settings, (*book_files(settings), *(book_file(text) for text in books)))


def with_card(project: Project, card: Path | None) -> Project:
    """The project with a character's card. Raises InputError."""
    if card is None:
        return project
    return replace(project, setup=replace(project.setup, card=load_card(card), card_path=card))
