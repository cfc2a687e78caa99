"""The command that explains: one entry's way through a generation, or the fates of all; and what would bring it in."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as ProgressBar

from lorestudio.cli.asking import answering
from lorestudio.cli.explaining import EntryExplained, entry_json, entry_lines, fates_table, turn_json
from lorestudio.cli.messages import clear_messages, say, say_all
from lorestudio.cli.settings import ProfileOption
from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.studio import Generation, InputError, Project, Simulator, open_project
from lorestudio.studio.answering import AnswerKind, load_recorded
from lorestudio.studio.modes import Mode, with_mode
from lorestudio.studio.settings_sources import settings_path
from lorestudio.studio.why_not import WhyNot, WhyNotFinder, WhyNotNews
from lorestudio.studio.would_also import HeldRuns
from lorestudio.trace import summary, turn_words

Note = Entry | LeftOutNote


def explain(
    vault: Annotated[
        list[str],
        typer.Argument(metavar="VAULT...", help="Folders of Markdown notes, or Obsidian's REST plugin as an address."),
    ],
    *,
    chat: Annotated[Path, typer.Option("--chat", help="A SillyTavern chat (.jsonl) or plain text.")],
    entry: Annotated[
        str | None, typer.Option("--entry", help="The entry: its title, or its file name in the vault. Default: all.")
    ] = None,
    message: Annotated[
        int | None,
        typer.Option("--message", min=0, help="The number of a message. Default: the reply to come."),
    ] = None,
    swipe: Annotated[
        int | None, typer.Option("--swipe", min=1, help="Which swipe of that reply. Default: the active one.")
    ] = None,
    why_not: Annotated[
        bool, typer.Option("--why-not", help="Find the single changes that would bring the entry in.")
    ] = False,
    settings: Annotated[
        Path | None, typer.Option("--settings", help="DeepLore settings, or SillyTavern's settings.json.")
    ] = None,
    profile: ProfileOption = None,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the probability rolls.")] = 0,
    mode: Annotated[str | None, typer.Option("--mode", help=f"How entries are selected: {', '.join(Mode)}.")] = None,
    answers: Annotated[
        str, typer.Option("--answers", help="Who answers for the model: stand-in or recorded.")
    ] = AnswerKind.STAND_IN.value,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Say stage by stage what a reply did with an entry, and what would bring it in. No provider is asked."""
    with clear_messages():
        if answers not in {AnswerKind.STAND_IN, AnswerKind.RECORDED}:
            raise InputError("--answers", "an explanation asks no provider. Choose stand-in or recorded.")
        if why_not and entry is None:
            raise InputError("--why-not", "name the entry that it is about with --entry.")
        project = open_project(vault, chat, settings_path(settings, profile), seed)
        if mode is not None:
            if mode not in set(Mode):
                raise InputError("--mode", f"there is no mode “{mode}”. There are: {', '.join(Mode)}.")
            project = with_mode(project, Mode(mode))
        note = None if entry is None else find_note(project, entry)
        asked = answering(answers, project)
        simulator = Simulator(project, asked.source, model=asked.model)
        generation = chosen(simulator, message, swipe)
        trace = asyncio.run(simulator.generate(generation))
        say_all(project.problems)
        if note is None:
            if as_json:
                _print_json(turn_json(trace))
                return
            typer.echo(f"{turn_words(trace.turn)}: {summary(trace)}")
            Console().print(fates_table(trace))
            return
        recorded = load_recorded(project.chat_path) if answers == AnswerKind.RECORDED else None
        found = _search(WhyNotFinder(simulator, generation, recorded), note, quiet=as_json) if why_not else None
        would = HeldRuns(simulator, generation).of(note.id) if isinstance(note, Entry) else None
        explained = EntryExplained(trace, note, would, found)
        if as_json:
            _print_json(entry_json(explained))
        else:
            typer.echo("\n".join(entry_lines(explained)))


def find_note(project: Project, name: str) -> Note:
    """The entry of that title or file name, or the note that is none. Raises InputError."""
    notes: tuple[Note, ...] = (*project.index.entries, *project.index.left_out)
    by_file = [note for note in notes if note.filename == name]
    if by_file:
        return by_file[0]
    titled = [each for each in project.index.entries if each.title.lower() == name.lower()]
    if len(titled) > 1:
        names = ", ".join(each.filename for each in titled)
        raise InputError("--entry", f"several notes have the title “{name}”. Name the file: {names}.")
    left_out = [note for note in project.index.left_out if Path(note.filename).stem.lower() == name.lower()]
    found: list[Note] = [*titled, *left_out]
    if not found:
        near = [each.title for each in project.index.entries if name.lower() in each.title.lower()]
        hint = f" Did you mean {' or '.join(f'“{title}”' for title in near[:3])}?" if near else ""
        raise InputError("--entry", f"no note has the title or the file name “{name}”.{hint}")
    return found[0]


def chosen(simulator: Simulator, message: int | None, swipe: int | None) -> Generation:
    """The generation of that reply; for a message that is no reply that of the next one. Raises InputError."""
    if message is None:
        return simulator.generations[-1]
    later = [each for each in simulator.generations if each.message >= message]
    if not later:
        last = simulator.generations[-1].message
        raise InputError("--message", f"the chat has no message #{message}; #{last} is the reply to come.")
    place = later[0].message
    if place != message:
        say(f"#{message} is no reply; the reply after it, #{place}, is explained.")
    if swipe is None:
        return simulator.shown(place) or later[0]
    generation = Generation(place, swipe - 1)
    if generation not in simulator.generations:
        count = sum(each.message == place for each in simulator.generations)
        raise InputError("--swipe", f"reply #{place} has {count} {'swipe' if count == 1 else 'swipes'}.")
    return generation


def _search(finder: WhyNotFinder, note: Note, *, quiet: bool) -> WhyNot:
    """Search with a progress bar on the error stream."""
    console = Console(stderr=True)
    columns = (TextColumn("Trying"), BarColumn(), TextColumn("{task.description}"))
    with ProgressBar(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def told(news: WhyNotNews) -> None:
            bar.update(task, completed=news.done, total=news.total, description=news.trying)

        return finder.find((note.vault, note.filename), told)


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n", nl=False)
