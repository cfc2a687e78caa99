"""Arguments and options that several commands have, each declared once, and what they choose.

Each raises InputError with its option's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lorestudio.cli.answering import Answering, answering
from lorestudio.cli.output import say_all
from lorestudio.domain.chat import Generation
from lorestudio.exchange.character_card import load_card
from lorestudio.exchange.lorebooks.files import book_file
from lorestudio.exchange.problems import InputError
from lorestudio.settings.behaviour import fixed
from lorestudio.settings.declaration import Section
from lorestudio.studio.project.answering import AnswerKind, load_recorded
from lorestudio.studio.project.modes import Mode, with_mode
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import Given, System, SystemKind
from lorestudio.systems.offline import Unanswered
from lorestudio.systems.registry import KINDS, MAIN, kind_of, system_of


def in_mode(project: Project, mode: str | None) -> Project:
    """The project in the mode of that name; as it is without one."""
    if mode is None:
        return project
    if mode not in set(Mode):
        raise InputError("--mode", f"there is no mode “{mode}”. There are: {', '.join(Mode)}.")
    return with_mode(project, Mode(mode))


def with_fixed(project: Project, switches: Sequence[str] | None) -> Project:
    """The project with these quirks of DeepLore mended, and no others."""
    try:
        return replace(project, behaviour=fixed(switches or ()))
    except ValueError as error:
        raise InputError("--fixed", str(error)) from error


def answering_offline(answers: str, project: Project) -> Answering:
    """Who answers in a command that asks no provider."""
    if answers not in {AnswerKind.STAND_IN, AnswerKind.RECORDED}:
        raise InputError("--answers", "this asks no provider. Choose stand-in, or recorded after a replay with one.")
    return answering(answers, project)


def chosen_generation(
    simulator: Simulator, message: int | None, swipe: int | None = None, option: str = ""
) -> Generation:
    """The generation of that reply and swipe (from 1).

    By default the reply to come, and the active swipe. `option` is the one that says both in one.
    """
    generation = simulator.generations[-1] if message is None else simulator.shown(message)
    if generation is None:  # a chat may call a swipe active that it does not have
        generation = next((each for each in reversed(simulator.generations) if each.message == message), None)
    if generation is None:
        replies = dict.fromkeys(each.message for each in simulator.generations)
        numbers = ", ".join(f"#{reply}" for reply in replies)
        raise InputError(option or "--message", f"#{message} is no reply of the chat's. There are: {numbers}.")
    if swipe is None:
        return generation
    chosen = Generation(generation.message, swipe - 1)
    if chosen not in simulator.generations:
        count = sum(each.message == generation.message for each in simulator.generations)
        swipes = f"{count} swipe{'' if count == 1 else 's'}"
        raise InputError(option or "--swipe", f"reply #{generation.message} has {swipes}, and none is {swipe}.")
    return chosen


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


def with_books(kind: SystemKind, settings: Section, books: Sequence[str]) -> Section:
    """The settings with these lorebooks besides those they name. Raises InputError for a system that scans none."""
    if not books:
        return settings
    if kind.books is None:
        scanning = " or ".join(name for name, each in KINDS.items() if each.books is not None)
        raise InputError("--book", f"lorebooks are scanned by --system {scanning}.")
    return kind.books.naming(settings, (*kind.books.files(settings), *map(book_file, books)))


def chosen_system(
    project: Project,
    name: str = MAIN.name,
    file: Path | None = None,
    assignments: Sequence[str] | None = None,
    books: Sequence[str] | None = None,
    asked: Answering | None = None,
) -> System:
    """The system that decides, with its settings; without `asked` the offline stand-in answers.

    Says what there is to say of what it was made of. Raises InputError and SettingsError.
    """
    kind = kind_of(name)
    settings: Section = project.settings
    if kind is not MAIN:
        settings = kind.read(file, assignments or ())
    elif file is not None or assignments:
        option = "--set" if file is None else "--system-settings"
        raise InputError(option, "these are settings of another system. Name it with --system, or use --settings.")
    scene = project.scene() if asked is None else project.scene(asked.source, asked.model)
    system = system_of(scene, kind, with_books(kind, settings, books or ()))
    say_all(system.remarks)
    return system


def offline_system(
    project: Project,
    answers: str = AnswerKind.STAND_IN.value,
    name: str = MAIN.name,
    file: Path | None = None,
    assignments: Sequence[str] | None = None,
    books: Sequence[str] | None = None,
) -> System:
    """As `chosen_system`, for a command that asks no provider: neither for an answer nor for a vector."""
    asked = answering_offline(answers, project)
    chosen = chosen_system(project, name, file, assignments, books, asked)
    stands_in = answers == AnswerKind.STAND_IN
    given = Given(
        recorded=None if stands_in else load_recorded(project.chat_path),
        unanswered=Unanswered.STAND_IN if stands_in else Unanswered.FAIL,
    )
    return chosen.offline(given).system


def with_card(project: Project, card: Path | None) -> Project:
    """The project with a character's card. Raises InputError."""
    if card is None:
        return project
    return replace(project, setup=replace(project.setup, card=load_card(card), card_path=card))


VaultArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="VAULT...",
        help="Folders of Markdown notes, or Obsidian's REST plugin as http://127.0.0.1:27123; merged in order.",
    ),
]

_CHAT = typer.Option("--chat", help="A SillyTavern chat (.jsonl) or plain text.")
ChatOption = Annotated[Path | None, _CHAT]
NeededChat = Annotated[Path, _CHAT]
"""The chat of commands that are about one."""

ReplyOption = Annotated[
    int | None, typer.Option("--message", min=0, help="The number of a reply. Default: the reply to come.")
]
SwipeOption = Annotated[
    int | None, typer.Option("--swipe", min=1, help="A swipe of the reply, from 1. Default: the active one.")
]
SettingsOption = Annotated[
    Path | None, typer.Option("--settings", help="DeepLore settings, or SillyTavern's settings.json.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the probability rolls.")]
SizeOption = Annotated[
    int,
    typer.Option(
        "--context-size",
        metavar="TOKENS",
        min=0,
        help="Context size of the story's model, to be warned of too much lore.",
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option("--mode", help=f"How entries are selected: {', '.join(Mode)}. Default: as the settings say."),
]
FixedOption = Annotated[
    list[str] | None,
    typer.Option("--fixed", metavar="SWITCH", help="Mend this quirk of DeepLore (“all”: every one). May be repeated."),
]
AnswersOption = Annotated[
    str,
    typer.Option("--answers", help="Who answers for the model: stand-in (offline), recorded, or a profile's name."),
]
OfflineAnswersOption = Annotated[
    str, typer.Option("--answers", help="Who answers for the model: stand-in (offline) or recorded.")
]
"""The same for commands that ask no provider."""

YesOption = Annotated[bool, typer.Option("--yes", help="Ask the provider without asking you first.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]
