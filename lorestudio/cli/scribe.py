"""`lorestudio scribe`: a note about the end of a chat."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lorestudio.cli.answering import agree, answering
from lorestudio.cli.options import NeededChat, SettingsOption, VaultArgument, YesOption
from lorestudio.cli.output import FAILED, say
from lorestudio.domain.chat import Chat
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.answering import AnswerKind
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.costs import note_cost
from lorestudio.systems.registry import system_of


def scribe(
    vault: VaultArgument,
    *,
    chat: NeededChat,
    answers: Annotated[str, typer.Option("--answers", help="Who writes the note: a profile's name, or recorded.")],
    settings: SettingsOption = None,
    focus: Annotated[str, typer.Option("--focus", help="What the note should pay attention to.")] = "",
    save: Annotated[bool, typer.Option("--save", help="Put the note into the vault's session folder.")] = False,
    yes: YesOption = False,
) -> None:
    """Have a session note written about the end of a chat. The chat file is left as it is."""
    if answers == AnswerKind.STAND_IN.value:
        raise InputError("--answers", "the offline stand-in writes no notes. Name a profile, or recorded.")
    project = open_project(vault, chat, settings)
    folder = _note_folder(project) if save else None
    asked = answering(answers, project)
    agree(asked, lambda: asyncio.run(note_cost(project, focus)), yes=yes)
    system = system_of(project.scene(asked.source))
    note = asyncio.run(system.write_note(project.chat or Chat(), project.controls, focus, folder))
    if note is None:
        raise InputError("--answers", f"{system.title} writes no notes about chats.")
    if note.text:
        typer.echo(note.text)
    say(note.said)
    if not note.fine:
        raise typer.Exit(FAILED)


def _note_folder(project: Project) -> Path:
    """The folder of the first vault that has one. Raises InputError where none has."""
    if not project.roots:
        raise InputError("--save", "a note is saved into a vault's folder, and this vault has none. Name its folder.")
    return project.roots[0]
