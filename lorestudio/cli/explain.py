"""The command that explains: one entry's way through a generation, or the fates of all; and what would bring it in."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as ProgressBar

from lorestudio.cli.choosing import answering_offline, chosen_generation, in_mode
from lorestudio.cli.comparing import SetOption, SystemOption, SystemSettingsOption
from lorestudio.cli.explaining import EntryExplained, entry_json, entry_lines, fates_table, turn_json
from lorestudio.cli.kept import SystemRunner, system_runner, with_kept
from lorestudio.cli.messages import clear_messages, say, say_all
from lorestudio.cli.options import (
    JsonOption,
    ModeOption,
    NeededChat,
    OfflineAnswersOption,
    SeedOption,
    SettingsOption,
    SwipeOption,
    VaultArgument,
)
from lorestudio.cli.printing import print_json
from lorestudio.cli.settings import ProfileOption
from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.studio import Generation, InputError, Project, Simulator, open_project
from lorestudio.studio.answering import AnswerKind, load_recorded
from lorestudio.studio.keeping import ChatRuns
from lorestudio.studio.settings_sources import settings_path
from lorestudio.studio.system_why_not import SystemWhyNotFinder
from lorestudio.studio.systems import DEEPLORE
from lorestudio.studio.why_not import WhyNot, WhyNotFinder, WhyNotNews
from lorestudio.studio.would_also import HeldRuns
from lorestudio.trace import EntryRef, Trace, summary, turn_words

Note = Entry | LeftOutNote


def explain(
    vault: VaultArgument,
    *,
    chat: NeededChat,
    entry: Annotated[
        str | None, typer.Option("--entry", help="The entry: its title, or its file name in the vault. Default: all.")
    ] = None,
    message: Annotated[
        int | None,
        typer.Option("--message", min=0, help="The number of a message. Default: the reply to come."),
    ] = None,
    swipe: SwipeOption = None,
    why_not: Annotated[
        bool, typer.Option("--why-not", help="Find the single changes that would bring the entry in.")
    ] = False,
    settings: SettingsOption = None,
    profile: ProfileOption = None,
    seed: SeedOption = 0,
    mode: ModeOption = None,
    answers: OfflineAnswersOption = AnswerKind.STAND_IN.value,
    system: SystemOption = DEEPLORE,
    system_settings: SystemSettingsOption = None,
    assignments: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say stage by stage what a reply did with an entry, and what would bring it in. No provider is asked."""
    with clear_messages():
        if why_not and entry is None:
            raise InputError("--why-not", "name the entry that it is about with --entry.")
        project = in_mode(open_project(vault, chat, settings_path(settings, profile), seed), mode)
        if system != DEEPLORE:
            of_system = system_runner(project, system, system_settings, assignments)
            _explain_system(of_system, entry, chosen(of_system.runs, message, swipe), why_not=why_not, as_json=as_json)
            return
        note = None if entry is None else find_note(project, entry)
        asked = answering_offline(answers, project)
        simulator = Simulator(project, asked.source, model=asked.model)
        generation = chosen(simulator, message, swipe)
        trace = asyncio.run(simulator.generate(generation))
        say_all(project.problems)
        if note is None:
            _say_turn(trace, as_json=as_json)
            return
        recorded = load_recorded(project.chat_path) if answers == AnswerKind.RECORDED else None
        found = _search(WhyNotFinder(simulator, generation, recorded), note, quiet=as_json) if why_not else None
        would = HeldRuns(simulator, generation).of(note.id) if isinstance(note, Entry) else None
        _say_entry(EntryExplained(trace, note, would, found), as_json=as_json)


def _explain_system(
    made: SystemRunner, entry: str | None, generation: Generation, *, why_not: bool, as_json: bool
) -> None:
    """The same from the run of a system other than DeepLore, which may have been kept."""
    simulator = with_kept(made.runs)
    trace = asyncio.run(simulator.generate(generation))
    say_all(simulator.project.problems)
    if entry is None:
        _say_turn(trace, as_json=as_json)
        return
    note = find_in(simulator.project, trace, entry)
    found = None
    if why_not and not isinstance(note, LeftOutNote):
        finder = SystemWhyNotFinder(simulator, generation, made.kind, made.settings)
        found = _search(finder, note, quiet=as_json)
    _say_entry(EntryExplained(trace, note, None, found), as_json=as_json)


def _say_turn(trace: Trace, *, as_json: bool) -> None:
    if as_json:
        print_json(turn_json(trace), 2)
        return
    typer.echo(f"{turn_words(trace.turn)}: {summary(trace)}")
    Console().print(fates_table(trace))


def _say_entry(explained: EntryExplained, *, as_json: bool) -> None:
    if as_json:
        print_json(entry_json(explained), 2)
    else:
        typer.echo("\n".join(entry_lines(explained)))


def find_in(project: Project, trace: Trace, name: str) -> Note | EntryRef:
    """What has that title or file name in a run, which may know others than the vault's notes; else the note.

    Raises InputError.
    """
    known = {(entry.vault, entry.filename) for entry in project.index.entries}
    own = [ref for ref in trace.entries.values() if (ref.vault, ref.filename) not in known]
    found = [ref for ref in own if ref.filename == name] or [ref for ref in own if ref.title.lower() == name.lower()]
    if len(found) > 1:
        names = ", ".join(ref.filename for ref in found)
        raise InputError("--entry", f"several entries have the title “{name}”. Name one of: {names}.")
    return found[0] if found else find_note(project, name)


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


def chosen(simulator: ChatRuns, message: int | None, swipe: int | None) -> Generation:
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
    return chosen_generation(simulator, place, swipe)


def _search(finder: WhyNotFinder | SystemWhyNotFinder, note: Note | EntryRef, *, quiet: bool) -> WhyNot:
    """Search with a progress bar on the error stream."""
    console = Console(stderr=True)
    columns = (TextColumn("Trying"), BarColumn(), TextColumn("{task.description}"))
    with ProgressBar(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def told(news: WhyNotNews) -> None:
            bar.update(task, completed=news.done, total=news.total, description=news.trying)

        return finder.find((note.vault, note.filename), told)
