"""Recap memory of a chat: what it keeps, the work on its queue, and what a person changes."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from lorestudio.cli.answering import Answering, agree, answering
from lorestudio.cli.command import Limits, command, command_group
from lorestudio.cli.options import DoItOption, JsonOption, TokenizerOption, YesOption
from lorestudio.cli.output import FAILED, ask_first, echo, print_json, read_text, say, say_all, waited
from lorestudio.cli.screen import Screen, figure, filled, fold, listing, print_lines
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import picked
from lorestudio.domain.texts import shorten
from lorestudio.exchange.problems import InputError
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import real_path
from lorestudio.settings.recap import LoadedRecapSettings, RecapSettings, load_recap_settings
from lorestudio.settings.sections import assigned
from lorestudio.studio.project.answering import AnswerKind
from lorestudio.studio.project.project import Project, read_chat
from lorestudio.studio.project.tokens import counting_for
from lorestudio.systems.recap.overview import message_rows, scene_rows
from lorestudio.systems.recap.queue import write_operation
from lorestudio.systems.recap.records import RecapState
from lorestudio.systems.recap.running import foreign_notice
from lorestudio.systems.recap.session import RecapSession, recap_cost
from lorestudio.systems.recap.worker import QueueProgress
from lorestudio.trace.storage.serialize import record_to_json, to_json
from lorestudio.trace.summary import summary
from lorestudio.trace.text import as_text
from lorestudio.trace.wording import plural, time_words
from lorestudio.vault.files import default_folder

_LOGGED = 12
_SHOWN = 60


def status_lines(session: RecapSession) -> list[str]:
    """The chat's recaps in a few lines."""
    rows, scenes = message_rows(session.chat), scene_rows(session.chat)
    states = Counter(row.state for row in rows)
    bookmarks = sum(row.is_bookmark for row in scenes)
    store, queue = session.chat.running, session.queue
    current = store.get()
    newer = 0 if current is None else sum(index > current.reaches for index in session.chat.recaps)
    have = sum(row.has_recap for row in rows)
    messages = (
        f"Messages: {len(rows)}, {have} with a recap ({states[RecapState.INCLUDED]} take part), "
        f"{states[RecapState.EXCLUDED]} excluded, {states[RecapState.FAILED]} failed, "
        f"{sum(row.stale for row in rows)} changed since, {sum(row.hidden for row in rows)} hidden."
        + ("" if have or not rows else " “recap run” makes recaps.")
    )
    lines = [
        messages,
        f"Scenes: {len(scenes)}, {bookmarks} without a recap.",
        f"Running recap: {plural(len(store.versions), '# version|# versions')}"
        + (f", version {current.number} goes into the prompt." if current is not None else ".")
        + (f" {plural(newer, '# newer scene is|# newer scenes are')} not in it." if newer else ""),
        summary(session.trace()),
    ]
    waiting = sum(queue.counts.values())
    if waiting:
        lines.append(f"Queue: {waiting} left{', paused' if queue.paused else ''}. “recap run --resume” goes on.")
    return lines


def scenes_table(session: RecapSession) -> Table:
    """One row a scene."""
    rows = scene_rows(session.chat, session.settings.scene_recap_history_count)
    states = ["no recap yet" if row.is_bookmark else "locked" if row.lock.locked else "" for row in rows]
    return filled(
        listing(figure("messages"), fold("name"), figure("version"), "", fold("recap")),
        (
            (f"{row.where[0]}-{row.where[1]}", row.name, row.versions, state, shorten(row.recap, _SHOWN))
            for row, state in zip(rows, states, strict=True)
        ),
    )


def running_table(session: RecapSession) -> Table:
    """One row a version of the running recap; a star marks the current one."""
    store = session.chat.running
    return filled(
        listing("", figure("version"), fold("made"), figure("scenes"), figure("reaches"), fold("text")),
        (
            (
                "*" if each.number == store.current else "", str(each.number),
                time_words(each.timestamp), str(each.scene_count), str(each.reaches),
                shorten(each.content, _SHOWN),
            )
            for each in store.versions
        ),
    )  # fmt: skip


def queue_table(session: RecapSession) -> Table:
    """What waits, in the order it is queued, and below it what was finished last."""
    table = listing(*map(fold, ("id", "status", "what")), figure("priority"), fold(""))
    for operation in session.queue.operations:
        table.add_row(
            operation.id, str(operation.status), operation.words, f"{operation.priority:g}", Text(operation.error or "")
        )
    for item in session.queue.log[-_LOGGED:]:
        table.add_row(
            time_words(item.at), item.outcome, item.words, "", Text(shorten(item.summary, _SHOWN)), style="dim"
        )
    return table


def message_text(session: RecapSession, index: int) -> str:
    """The recap of a message, and what there is to say about it."""
    rows = message_rows(session.chat)
    if index >= len(rows):
        raise InputError("--message", f"there is no message {index}; the last one is {len(rows) - 1}.")
    row = rows[index]
    remarks = [name for name, wanted in (("edited", row.edited), ("changed since", row.stale)) if wanted]
    head = f"#{index} {row.speaker}: {row.state.value}{''.join(f', {remark}' for remark in remarks)}"
    return "\n".join(part for part in (head, row.error, row.recap) if part)


def scene_text(session: RecapSession, index: int) -> str:
    """The recap of a scene."""
    row = next((row for row in scene_rows(session.chat) if row.index == index), None)
    if row is None:
        raise InputError("--scene", f"message {index} ends no scene.")
    return f"{row.name} (messages {row.where[0]} to {row.where[1]})\n{row.recap or 'There is no recap yet.'}"


def version_text(session: RecapSession, number: int) -> str:
    """One version of the running recap."""
    version = session.chat.running.get(number)
    if version is None:
        raise InputError("--version", f"the running recap has no version {number}.")
    return version.content


def prompt_text(session: RecapSession) -> str:
    """What goes into the prompt, and where."""
    trace = session.trace()
    record = trace.stage("recap injection")
    where = [verdict.details.get("where") for verdict in record.verdicts] if record is not None else []
    if not trace.prompt:
        return summary(trace)
    return f"({where[0] if where else ''})\n{trace.prompt[0].text}"


recap = command_group("Recaps of a chat's messages and scenes, and the running recap that goes into its prompt.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapOptions:
    """The chat whose recaps are meant, and the settings of recap memory."""

    chat: Annotated[Path, "A SillyTavern chat (.jsonl)."]
    settings: Annotated[Path | None, "Settings of recap memory, or SillyTavern's settings.json."] = None
    assignments: Annotated[list[str] | None, "--set", "NAME=VALUE", "A setting of recap memory. May be repeated."] = (
        None
    )
    context: Annotated[
        int, "--context-size", "--context", "TOKENS", Limits(0), "Room of the story's model for prompts."
    ] = 0
    tokenizer: TokenizerOption = ""

    def session(self, asked: Answering | None = None) -> RecapSession:
        """The chat's recaps, with whoever writes them. Raises InputError, SettingsError and TokenizerError."""
        loaded = LoadedRecapSettings(RecapSettings()) if self.settings is None else load_recap_settings(self.settings)
        say_all(loaded.problems)
        settings = assigned(self.assignments or (), RecapSettings, loaded.settings)
        answers, model = (None, "") if asked is None else (asked.source, asked.model)
        path = real_path(self.chat)
        copies = default_folder() / "chats"
        counting = counting_for(self.tokenizer, (self.settings, path))
        try:
            session = RecapSession.open(
                path, settings, answers, counter=counting.budgets, context_size=self.context, model=model,
                copies=copies,
            )  # fmt: skip
        except InputError:
            read_chat(path)  # tells what else a file is
            raise
        foreign = session.chat.foreign
        notice = [foreign_notice(foreign, session.chat.id)] if foreign is not None else []
        say_all((*counting.problems, *session.problems, *notice))
        return session


@command(recap)
def status(given: RecapOptions, *, as_json: JsonOption = False) -> None:
    """Say which messages have recaps, which of them fit, what is hidden, what goes in, and what is queued."""
    session = given.session()
    if not as_json:
        print_lines(status_lines(session))
        return
    queue, current = session.queue, session.chat.running.get()
    lists = {"messages": message_rows(session.chat), "scenes": scene_rows(session.chat)}
    rows = {name: [record_to_json(row) for row in each] for name, each in lists.items()}
    told = {"running": None if current is None else current.number, "left": sum(queue.counts.values())}
    print_json({**rows, **told, "paused": queue.paused}, 1)


@command(recap)
def run(
    given: RecapOptions,
    *,
    answers: Annotated[
        str, "Who writes the recaps: stand-in (offline), recorded, or a profile's name."
    ] = AnswerKind.STAND_IN.value,
    message: Annotated[list[int] | None, Limits(0), "Only the recap of this message. May be repeated."] = None,
    scene: Annotated[
        list[int] | None, Limits(0), "Only the recap of the scene ending at this message. May be repeated."
    ] = None,
    search: Annotated[bool, "Only the search for the next scene break."] = False,
    running: Annotated[bool, "Only the running recap of all scenes."] = False,
    resume: Annotated[bool, "Only what is queued already."] = False,
    yes: YesOption = False,
) -> None:
    """Make what is due: recaps of messages and scenes, scene breaks, the running recap. Ctrl+C stops; run goes on."""
    empty = Project((), VaultIndex(), DeepLoreSettings())
    asked = answering(answers, empty, real_path(given.chat), fresh=True, keeps_asking=True)
    session = given.session(asked)
    session.hold()
    try:
        before = session.queue
        try:
            asyncio.run(_queued(session, message or [], scene or [], search=search, running=running, resume=resume))
            if session.queue.is_idle:
                echo("Nothing is due.")
                return
            agree(asked, lambda: asyncio.run(recap_cost(session)), yes=yes)
        except (typer.Exit, InputError):
            asyncio.run(session.restore(before))
            raise
        _work(session, asked)
    finally:
        session.release()
    print_lines(status_lines(session))


@command(recap)
def scenes(
    given: RecapOptions,
    *,
    toggle: Annotated[int | None, Limits(0), "Set, hide or show a scene break after this message."] = None,
    turn: Annotated[int | None, "--next", Limits(0), "Use the next version of this scene's recap."] = None,
    delete: Annotated[int | None, Limits(0), "Take this scene out, with the running recaps that reach to it."] = None,
    hide: Annotated[int | None, Limits(0), "Keep this message hidden, whatever hiding by scenes does."] = None,
    unhide: Annotated[int | None, Limits(0), "Leave it to hiding by scenes again."] = None,
    back: Annotated[int | None, Limits(0), "Use the version before of this scene's recap."] = None,
    as_json: JsonOption = False,
) -> None:
    """List the scenes: their messages, names, versions, and what locks them; set breaks and choose versions."""
    session = given.session()
    edits = session.edits
    for message, change in (
        (toggle, edits.toggle_break),
        (delete, edits.delete_scene),
        (hide, partial(edits.keep_hidden, wanted=True)),
        (unhide, partial(edits.keep_hidden, wanted=False)),
        (turn, lambda scene: edits.turn_scene(scene, 1)),
        (back, lambda scene: edits.turn_scene(scene, -1)),
    ):
        if message is not None:
            waited(change(message))
    rows = scene_rows(session.chat, session.settings.scene_recap_history_count)
    if as_json:
        print_json([record_to_json(row) for row in rows], 1)
    elif rows:
        Screen().print(scenes_table(session))
    else:
        say(
            "there is no scene yet. --toggle N ends one with message N, “lorestudio recap run --search” looks for them."
        )


@command(recap)
def running(
    given: RecapOptions,
    *,
    use: Annotated[int | None, Limits(0), "Let this version go into the prompt."] = None,
    delete: Annotated[int | None, Limits(0), "Delete this version."] = None,
    adopt: Annotated[bool, "Use those of another chat that are in this file."] = False,
    as_json: JsonOption = False,
) -> None:
    """List the versions of the running recap; choose or delete one."""
    session = given.session()
    if adopt:
        waited(session.edits.adopt_running())
    if use is not None:
        waited(session.edits.use_running(use))
    if delete is not None:
        waited(session.edits.delete_running(delete))
    store = session.chat.running
    if as_json:
        names = ("number", "timestamp", "scene_count", "reaches", "content")
        print_json([{**picked(each, *names), "current": each.number == store.current} for each in store.versions], 1)
    elif store.versions:
        Screen().print(running_table(session))
    else:
        say("there is no running recap yet. “lorestudio recap run --running” writes one of the scenes.")


@command(recap)
def show(
    given: RecapOptions,
    *,
    message: Annotated[int | None, Limits(0), "The recap of this message."] = None,
    scene: Annotated[int | None, Limits(0), "The recap of the scene ending here."] = None,
    version: Annotated[int | None, Limits(0), "This version of the running recap."] = None,
    trace: Annotated[bool, "What was decided about every message and scene."] = False,
    as_json: JsonOption = False,
) -> None:
    """Print what goes into the prompt; or a recap, a version, or the whole trace."""
    session = given.session()
    if as_json:
        print_json(to_json(session.trace()))
    elif trace:
        echo(as_text(session.trace()))
    elif message is not None:
        echo(message_text(session, message))
    elif scene is not None:
        echo(scene_text(session, scene))
    else:
        echo(prompt_text(session) if version is None else version_text(session, version))


@command(recap)
def edit(
    given: RecapOptions,
    text: Annotated[Path, "A file with the new text, - for standard input."],
    *,
    message: Annotated[int | None, Limits(0), "The recap of this message."] = None,
    scene: Annotated[int | None, Limits(0), "The recap of the scene ending here."] = None,
    exclude: Annotated[bool, "Exclude the message's recap afterwards."] = False,
) -> None:
    """Write the recap of a message or a scene; without either, a new version of the running recap."""
    session = given.session()
    written = read_text(text).rstrip("\n")
    if message is not None:
        waited(session.edits.edit_message(message, written))
        if exclude:
            waited(session.edits.exclude(message, wanted=True))
    elif scene is not None:
        waited(session.edits.edit_scene(scene, written))
    else:
        waited(session.edits.edit_running(written))
    echo("Written.")


@command(recap)
def queue(
    given: RecapOptions,
    *,
    pause: Annotated[bool, "Begin nothing further."] = False,
    resume: Annotated[bool, "Allow work again."] = False,
    remove: Annotated[str | None, "ID", "Take this operation out."] = None,
    clear: Annotated[bool, "Take all of them out."] = False,
    as_json: JsonOption = False,
) -> None:
    """List what is queued and what became of the last operations; pause, resume or empty the queue."""
    if pause and resume:
        raise InputError("--resume", "it cannot go together with --pause. Give one of them.")
    session = given.session()
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
    found = session.queue
    if as_json:
        waiting, finished = map(write_operation, found.operations), map(record_to_json, found.log)
        print_json({"paused": found.paused, "operations": [*waiting], "finished": [*finished]}, 1)
    elif found.operations or found.log:
        Screen().print(queue_table(session))
    else:
        say("nothing was queued yet. “lorestudio recap run” makes what is due.")


@command(recap, "clear")
def clear_recaps(given: RecapOptions, yes: DoItOption = False) -> None:
    """Take everything of recap memory out of a chat: recaps, scene breaks, the running recap, the queue."""
    session = given.session()
    ask_first(f"Take all recaps and scene breaks out of “{given.chat.name}”?", yes=yes)
    session.hold()
    try:
        gone = asyncio.run(session.clear_all())
    finally:
        session.release()
    echo(
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
    before, calls = {item.id for item in session.queue.log}, len(session.calls)
    console = Screen(stderr=True)

    with console.status("Working") as line:

        def tell(progress: QueueProgress) -> None:
            left = len(progress.state.operations)
            what = progress.operation.words if progress.operation is not None else "Working"
            again = f"; next attempt in {progress.retry_in_s:g} s" if progress.retry_in_s else ""
            line.update(f"{what} ({left} left{again})")
            if again and progress.operation is not None and progress.operation.error:
                console.print(f"{what}: {progress.operation.error}")

        session.worker.on_progress = tell
        asyncio.run(_whole(session))
    failed = [item for item in session.queue.log if item.outcome == "failed" and item.id not in before]
    for item in failed:
        say(f"{item.words}: {item.summary}")
    if failed and asked.profile is not None:
        say("what failed was taken from the queue; “run” asks for it again.")
    say_all(filter(None, (session.cut_short(calls), session.left_behind)))
    if failed:
        raise typer.Exit(FAILED)


async def _whole(session: RecapSession) -> None:
    await session.work()
    await session.edits.refresh()
