"""Recap memory of a chat: what it keeps, the work on its queue, and what a person changes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console

from lorestudio.cli.asking import Answering, agree, answering
from lorestudio.cli.messages import FAILED, STOPPED, clear_messages, say, say_all
from lorestudio.cli.recap_output import (
    message_text,
    prompt_text,
    queue_table,
    running_table,
    scene_text,
    scenes_table,
    status_lines,
    version_text,
)
from lorestudio.domain.entry import VaultIndex
from lorestudio.settings import DeepLoreSettings
from lorestudio.studio import InputError, Project
from lorestudio.studio.answering import AnswerKind, AnswerSource
from lorestudio.studio.recap.cost import recap_cost
from lorestudio.studio.recap.session import RecapSession
from lorestudio.studio.recap.settings import QueueProgress, RecapSettings, recap_settings
from lorestudio.trace import as_text, to_json
from lorestudio.trace.wording import plural

recap = typer.Typer(
    help="Recaps of a chat's messages and scenes, and the running recap that goes into its prompt.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ChatOption = Annotated[Path, typer.Option("--chat", help="A SillyTavern chat (.jsonl).")]
SettingsOption = Annotated[
    Path | None, typer.Option("--settings", help="Settings of recap memory, or SillyTavern's settings.json.")
]
ContextOption = Annotated[
    int, typer.Option("--context", metavar="TOKENS", min=0, help="Room of the story's model for prompts.")
]
AnswersOption = Annotated[
    str, typer.Option("--answers", help="Who writes the recaps: stand-in (offline), recorded, or a profile's name.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do it without asking you first.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the trace as JSON.")]

_Result = TypeVar("_Result")


@recap.command()
def status(chat: ChatOption, settings: SettingsOption = None, context: ContextOption = 0) -> None:
    """Say which messages have recaps, which of them fit, what is hidden, what goes in, and what is queued."""
    with clear_messages():
        session = _opened(chat, _settings(settings), context)
        typer.echo("\n".join(status_lines(session)))


@recap.command()
def run(
    chat: ChatOption,
    *,
    settings: SettingsOption = None,
    context: ContextOption = 0,
    answers: AnswersOption = AnswerKind.STAND_IN.value,
    message: Annotated[
        list[int] | None, typer.Option("--message", min=0, help="Only the recap of this message. May be repeated.")
    ] = None,
    scene: Annotated[
        list[int] | None,
        typer.Option("--scene", min=0, help="Only the recap of the scene ending at this message. May be repeated."),
    ] = None,
    search: Annotated[bool, typer.Option("--search", help="Only the search for the next scene break.")] = False,
    running: Annotated[bool, typer.Option("--running", help="Only the running recap of all scenes.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Only what is queued already.")] = False,
    yes: YesOption = False,
) -> None:
    """Make what is due: recaps of messages and scenes, scene breaks, the running recap. Ctrl+C stops; run goes on."""
    with clear_messages():
        own = _settings(settings)
        asked = answering(answers, _project(chat), fresh=True)
        session = _opened(chat, own, context, asked.source, asked.model)
        session.hold()
        try:
            before = session.queue
            asyncio.run(_queued(session, message or [], scene or [], search=search, running=running, resume=resume))
            if session.queue.is_idle:
                typer.echo("Nothing is due.")
                return
            try:
                agree(asked, lambda: asyncio.run(recap_cost(session)), yes=yes)
            except (typer.Exit, InputError):
                asyncio.run(session.restore(before))
                raise
            _work(session, asked)
        finally:
            session.release()
        typer.echo("\n".join(status_lines(session)))


@recap.command()
def scenes(
    chat: ChatOption,
    *,
    settings: SettingsOption = None,
    toggle: Annotated[
        int | None, typer.Option("--toggle", min=0, help="Set, hide or show a scene break after this message.")
    ] = None,
    turn: Annotated[
        int | None, typer.Option("--next", min=0, help="Use the next version of this scene's recap.")
    ] = None,
    delete: Annotated[
        int | None,
        typer.Option("--delete", min=0, help="Take this scene out, with the running recaps that reach to it."),
    ] = None,
    hide: Annotated[
        int | None, typer.Option("--hide", min=0, help="Keep this message hidden, whatever hiding by scenes does.")
    ] = None,
    unhide: Annotated[int | None, typer.Option("--unhide", min=0, help="Leave it to hiding by scenes again.")] = None,
    back: Annotated[
        int | None, typer.Option("--back", min=0, help="Use the version before of this scene's recap.")
    ] = None,
) -> None:
    """List the scenes: their messages, names, versions, and what locks them; set breaks and choose versions."""
    with clear_messages():
        session = _opened(chat, _settings(settings))
        if toggle is not None:
            _change(session.edits.toggle_break(toggle))
        if delete is not None:
            _change(session.edits.delete_scene(delete))
        if hide is not None:
            _change(session.edits.keep_hidden(hide, wanted=True))
        if unhide is not None:
            _change(session.edits.keep_hidden(unhide, wanted=False))
        if turn is not None:
            _change(session.edits.turn_scene(turn, 1))
        if back is not None:
            _change(session.edits.turn_scene(back, -1))
        Console().print(scenes_table(session))


@recap.command()
def running(
    chat: ChatOption,
    *,
    settings: SettingsOption = None,
    use: Annotated[int | None, typer.Option("--use", min=0, help="Let this version go into the prompt.")] = None,
    delete: Annotated[int | None, typer.Option("--delete", min=0, help="Delete this version.")] = None,
) -> None:
    """List the versions of the running recap; choose or delete one."""
    with clear_messages():
        session = _opened(chat, _settings(settings))
        if use is not None:
            _change(session.edits.use_running(use))
        if delete is not None:
            _change(session.edits.delete_running(delete))
        Console().print(running_table(session))


@recap.command()
def show(
    chat: ChatOption,
    *,
    settings: SettingsOption = None,
    context: ContextOption = 0,
    message: Annotated[int | None, typer.Option("--message", min=0, help="The recap of this message.")] = None,
    scene: Annotated[int | None, typer.Option("--scene", min=0, help="The recap of the scene ending here.")] = None,
    version: Annotated[int | None, typer.Option("--version", min=0, help="This version of the running recap.")] = None,
    trace: Annotated[bool, typer.Option("--trace", help="What was decided about every message and scene.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print what goes into the prompt; or a recap, a version, or the whole trace."""
    with clear_messages():
        session = _opened(chat, _settings(settings), context)
        if as_json:
            line = json.dumps(to_json(session.trace()), ensure_ascii=False).encode("utf-8", "backslashreplace")
            typer.echo(line + b"\n", nl=False)
        elif trace:
            typer.echo(as_text(session.trace()))
        elif message is not None:
            typer.echo(message_text(session, message))
        elif scene is not None:
            typer.echo(scene_text(session, scene))
        else:
            typer.echo(prompt_text(session) if version is None else version_text(session, version))


@recap.command()
def edit(
    chat: ChatOption,
    text: Annotated[Path, typer.Option("--text", help="A file with the new text, - for standard input.")],
    *,
    settings: SettingsOption = None,
    message: Annotated[int | None, typer.Option("--message", min=0, help="The recap of this message.")] = None,
    scene: Annotated[int | None, typer.Option("--scene", min=0, help="The recap of the scene ending here.")] = None,
    exclude: Annotated[bool, typer.Option("--exclude", help="Exclude the message's recap afterwards.")] = False,
) -> None:
    """Write the recap of a message or a scene; without either, a new version of the running recap."""
    with clear_messages():
        session = _opened(chat, _settings(settings))
        written = _read(text)
        if message is not None:
            _change(session.edits.edit_message(message, written))
            if exclude:
                _change(session.edits.exclude(message, wanted=True))
        elif scene is not None:
            _change(session.edits.edit_scene(scene, written))
        else:
            _change(session.edits.edit_running(written))
        typer.echo("Written.")


@recap.command()
def queue(
    chat: ChatOption,
    *,
    settings: SettingsOption = None,
    pause: Annotated[bool, typer.Option("--pause", help="Begin nothing further.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Allow work again.")] = False,
    remove: Annotated[str | None, typer.Option("--remove", metavar="ID", help="Take this operation out.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Take all of them out.")] = False,
) -> None:
    """List what is queued and what became of the last operations; pause, resume or empty the queue."""
    with clear_messages():
        session = _opened(chat, _settings(settings))
        if pause or resume or clear or remove is not None:
            session.hold()
        try:
            if remove is not None and not asyncio.run(session.worker.remove(remove)):
                raise InputError("--remove", f"the queue has no operation “{remove}”.")
            if clear:
                asyncio.run(session.worker.clear())
            if pause or resume:
                asyncio.run(session.worker.pause() if pause else session.worker.resume())
        finally:
            session.release()
        Console().print(queue_table(session))


@recap.command("clear")
def clear_recaps(chat: ChatOption, yes: YesOption = False) -> None:
    """Take everything of recap memory out of a chat: recaps, scene breaks, the running recap, the queue."""
    with clear_messages():
        session = _opened(chat, RecapSettings())
        if not yes:
            typer.echo(f"Take all recaps and scene breaks out of “{chat.name}”? [y/N] ", nl=False, err=True)
            if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
                say("stopped; nothing was changed.")
                raise typer.Exit(STOPPED)
        session.hold()
        try:
            gone = asyncio.run(session.clear_all())
        finally:
            session.release()
        typer.echo(
            f"Taken out: {plural(gone.single_recaps, '# recap of a message|# recaps of messages')}, "
            f"{plural(gone.scene_recaps, '# of a scene|# of scenes')}, "
            f"{plural(gone.scene_breaks, '# scene break|# scene breaks')}, "
            f"{plural(gone.running_recaps, '# version|# versions')} of the running recap."
        )


async def _queued(
    session: RecapSession, messages: list[int], scenes_: list[int], *, search: bool, running: bool, resume: bool
) -> None:
    """Queue what the options name, or everything that is due."""
    await session.worker.resume()
    for index in messages:
        await session.enqueue_recap(index)
    for index in scenes_:
        await session.enqueue_scene(index)
    if search:
        await session.enqueue_search()
    if running:
        await session.enqueue_running()
    if not (messages or scenes_ or search or running or resume):
        await session.enqueue_missing()


def _work(session: RecapSession, asked: Answering) -> None:
    """Work with a line of progress on the error stream. Exit code 1 where something failed for good."""
    before = {item.id for item in session.queue.log}
    console = Console(stderr=True)

    with console.status("Working") as line:

        def tell(progress: QueueProgress) -> None:
            left = len(progress.state.operations)
            what = progress.operation.words if progress.operation is not None else "Working"
            again = f"; next attempt in {progress.retry_in_s:g} s" if progress.retry_in_s else ""
            line.update(f"{what} ({left} left{again})")
            if again and progress.operation is not None and progress.operation.error:
                console.print(f"{what}: {progress.operation.error}", highlight=False, markup=False)

        session.worker.on_progress = tell
        asyncio.run(_whole(session))
    failed = [item for item in session.queue.log if item.outcome == "failed" and item.id not in before]
    for item in failed:
        say(f"{item.words}: {item.summary}")
    if failed and asked.profile is not None:
        say("what failed was taken from the queue; “run” asks for it again.")
    if failed:
        raise typer.Exit(FAILED)


async def _whole(session: RecapSession) -> None:
    await session.work()
    await session.edits.refresh()


def _opened(
    chat: Path,
    settings: RecapSettings,
    context: int = 0,
    answers: AnswerSource | None = None,
    model: str = "",
) -> RecapSession:
    session = RecapSession.open(chat.expanduser().resolve(), settings, answers, context_size=context, model=model)
    say_all(session.problems)
    return session


def _settings(path: Path | None) -> RecapSettings:
    loaded = recap_settings(path)
    say_all(loaded.problems)
    return loaded.settings


def _project(chat: Path) -> Project:
    """What choosing answers needs to know: the chat that they lie beside."""
    empty = Project((), VaultIndex(), DeepLoreSettings())
    return replace(empty, chat_path=chat.expanduser().resolve())


def _change(work: Awaitable[_Result]) -> _Result:
    async def whole() -> _Result:
        return await work

    return asyncio.run(whole())


def _read(path: Path) -> str:
    if str(path) == "-":
        return sys.stdin.read().rstrip("\n")
    try:
        return path.read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"the text cannot be read: {error}.") from error
