"""`lorestudio scribe`: a note about the end of a chat."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lorestudio.cli.answering import agree, answering
from lorestudio.cli.command import Limits, RulesOption, rules_named
from lorestudio.cli.options import AskAgainOption, NeededChat, SettingsOption, TokenizerOption, VaultArgument, YesOption
from lorestudio.cli.output import FAILED, echo, say, say_all
from lorestudio.domain.chat import Chat
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.answering import AnswerKind
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.costs import note_cost, taking_cost
from lorestudio.systems.registry import system_of


def scribe(
    vault: VaultArgument,
    *,
    chat: NeededChat,
    answers: Annotated[str, "Who writes the note: a profile's name, or recorded."],
    settings: SettingsOption = None,
    rules: RulesOption = None,
    focus: Annotated[str, "TEXT", "What the note should pay attention to."] = "",
    save: Annotated[bool, "Put the note into the vault's session folder."] = False,
    reply: Annotated[
        int | None, "--message", "--reply", Limits(0), "Take the AI notepad's notes from this reply (extract mode)."
    ] = None,
    tokenizer: TokenizerOption = "",
    yes: YesOption = False,
    ask_again: AskAgainOption = False,
) -> None:
    """Have a session note written about the end of a chat, or notes taken from a reply. The chat stays as it is."""
    if answers == AnswerKind.STAND_IN.value:
        raise InputError("--answers", "the offline stand-in writes no notes. Name a profile, or recorded.")
    project = open_project(vault, chat, settings, rules=rules_named(rules), tokenizer=tokenizer)
    say_all(project.problems)
    if reply is not None:
        _take_notes(project, reply, answers, yes=yes, fresh=ask_again)
        return
    folder = _note_folder(project) if save else None
    asked = answering(answers, project, fresh=ask_again)
    agree(asked, lambda: asyncio.run(note_cost(project, focus, fresh=ask_again)), yes=yes)
    system = system_of(project.scene(asked.source))
    note = asyncio.run(system.write_note(project.chat or Chat(), project.controls, focus, folder))
    if note is None:
        raise InputError("--answers", f"{system.title} writes no notes about chats.")
    if note.text:
        echo(note.text)
    say(note.said)
    if not note.fine:
        raise typer.Exit(FAILED)


def _take_notes(project: Project, reply: int, answers: str, *, yes: bool, fresh: bool) -> None:
    """What a model notes from a reply. Raises InputError where the settings do not have it asked, or it is no reply."""
    if not project.settings.asks_for_notes:
        raise InputError("--message", "the AI notepad is not on, or not in extract mode. Set aiNotepadMode to extract.")
    chat = project.chat or Chat()
    if reply not in chat.replies:
        raise InputError("--message", f"#{reply} is no reply of the chat's.")
    asked = answering(answers, project, fresh=fresh)
    agree(asked, lambda: asyncio.run(taking_cost(project, reply, fresh=fresh)), yes=yes)
    noted = asyncio.run(system_of(project.scene(asked.source, asked.model)).take_notes(chat, project.controls, reply))
    if noted is None:
        raise InputError("--message", f"there is nothing in #{reply} to take notes from.")
    if noted.notes:
        echo(noted.notes)
    say(noted.said)
    if not noted.fine:
        raise typer.Exit(FAILED)


def _note_folder(project: Project) -> Path:
    """The folder of the first vault that has one. Raises InputError where none has."""
    if not project.roots:
        raise InputError("--save", "a note is saved into a vault's folder, and this vault has none. Name its folder.")
    return project.roots[0]
