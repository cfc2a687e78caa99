"""`lorestudio report` and `lorestudio scenario`: what happened in a turn, to be given away or to be run again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lorestudio.cli.asking import answering
from lorestudio.cli.messages import FAILED, clear_messages, say, say_all
from lorestudio.cli.previewing import chosen_generation
from lorestudio.exchange.scenario.writing import scenario_bytes
from lorestudio.settings import fixed
from lorestudio.studio import Generation, InputError, Project, Simulator, open_project
from lorestudio.studio.answering import AnswerKind
from lorestudio.studio.files import write_bytes
from lorestudio.studio.modes import Mode, with_mode
from lorestudio.studio.report import Format, gather, report_text, without_words
from lorestudio.studio.scenario_export import export_scenario

VaultArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="VAULT...",
        help="Folders of Markdown notes, or Obsidian's REST plugin as http://127.0.0.1:27123; merged in order.",
    ),
]
ChatOption = Annotated[Path, typer.Option("--chat", help="A SillyTavern chat (.jsonl) or plain text.")]
SwipeOption = Annotated[
    int | None, typer.Option("--swipe", min=1, help="A swipe of the reply, from 1. Default: the active one.")
]
SettingsOption = Annotated[
    Path | None, typer.Option("--settings", help="DeepLore settings, or SillyTavern's settings.json.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the probability rolls.")]
ContextOption = Annotated[
    int,
    typer.Option("--context-size", metavar="TOKENS", min=0, help="Context size of the story's model."),
]
ModeOption = Annotated[
    str | None,
    typer.Option("--mode", help=f"How entries are selected: {', '.join(Mode)}. Default: as the settings say."),
]
AnswersOption = Annotated[
    str, typer.Option("--answers", help="Who answers for the model: stand-in (offline) or recorded.")
]
FixedOption = Annotated[
    list[str] | None,
    typer.Option("--fixed", metavar="SWITCH", help="Mend this quirk of DeepLore (“all”: every one). May be repeated."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("report")(report)
    app.command("scenario")(scenario)


def report(
    vault: VaultArgument,
    *,
    chat: ChatOption,
    message: Annotated[
        int | None, typer.Option("--message", min=0, help="The number of a reply. Default: the whole chat.")
    ] = None,
    swipe: SwipeOption = None,
    redacted: Annotated[
        bool,
        typer.Option("--redacted", help="Replace names, keys and texts, so that it can be posted where all can read."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write it to this file: .html, .md, .txt or .json. Default: text, here."),
    ] = None,
    settings: SettingsOption = None,
    seed: SeedOption = 0,
    context: ContextOption = 0,
    mode: ModeOption = None,
    answers: AnswersOption = AnswerKind.STAND_IN.value,
    fixed_switches: FixedOption = None,
) -> None:
    """Write a report of a turn or of the whole chat: what went in, what did not, and why. No provider is asked."""
    with clear_messages():
        wanted = Format.TEXT if output is None else Format.of(output)
        simulator = _simulator(vault, chat, settings, seed, context, mode, answers, fixed_switches)
        chosen = None if message is None else _chosen(simulator, message, swipe)
        _run(simulator, chosen)
        source = gather(simulator.project, simulator.traces, chosen)
        text = report_text(without_words(source) if redacted else source, wanted)
        say_all(simulator.project.problems)
        if output is None:
            typer.echo(text.encode("utf-8", "backslashreplace"), nl=False)
            return
        write_bytes(output, text.encode("utf-8", "backslashreplace"))
        typer.echo(f"The {'redacted ' if redacted else ''}report is in {output}.")


def scenario(
    vault: VaultArgument,
    *,
    chat: ChatOption,
    message: Annotated[
        int | None, typer.Option("--message", min=0, help="The number of a reply. Default: the reply to come.")
    ] = None,
    swipe: SwipeOption = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write it to this file.")] = None,
    settings: SettingsOption = None,
    seed: SeedOption = 0,
    context: ContextOption = 0,
    mode: ModeOption = None,
    answers: AnswersOption = AnswerKind.STAND_IN.value,
    fixed_switches: FixedOption = None,
) -> None:
    """Write a turn as a scenario that “lorestudio run” repeats: notes, chat, settings, seed and the model's answers.

    The file holds your notes and messages. No provider is asked.
    """
    with clear_messages():
        simulator = _simulator(vault, chat, settings, seed, context, mode, answers, fixed_switches)
        chosen = _chosen(simulator, message, swipe)
        _run(simulator, chosen)
        made = export_scenario(simulator, chosen)
        say_all((*simulator.project.problems, *made.remarks))
        data = scenario_bytes(made.scenario)
        if output is None:
            typer.echo(data, nl=False)
        else:
            write_bytes(output, data)
            count = len(made.scenario.generations)
            typer.echo(f"The scenario is in {output}: {count:,} generation{'' if count == 1 else 's'}.")
        if made.differing:
            numbers = ", ".join(str(number + 1) for number in made.differing)
            say(f"when it was run once more, generation {numbers} decided otherwise. Please report this as a fault.")
            raise typer.Exit(FAILED)


def _simulator(
    vault: list[str],
    chat: Path,
    settings: Path | None,
    seed: int,
    context: int,
    mode: str | None,
    answers: str,
    fixed_switches: list[str] | None,
) -> Simulator:
    """What runs the chat as the options say. Raises InputError."""
    if answers not in {AnswerKind.STAND_IN, AnswerKind.RECORDED}:
        raise InputError("--answers", "this asks no provider. Choose stand-in, or recorded after a replay with one.")
    project = replace(open_project(vault, chat, settings, seed), context_size=context)
    project = _adjusted(project, mode, fixed_switches)
    asked = answering(answers, project)
    return Simulator(project, asked.source, model=asked.model)


def _adjusted(project: Project, mode: str | None, fixed_switches: list[str] | None) -> Project:
    if mode is not None:
        if mode not in set(Mode):
            raise InputError("--mode", f"there is no mode “{mode}”. There are: {', '.join(Mode)}.")
        project = with_mode(project, Mode(mode))
    try:
        return replace(project, behaviour=fixed(fixed_switches or ()))
    except ValueError as error:
        raise InputError("--fixed", str(error)) from error


def _chosen(simulator: Simulator, message: int | None, swipe: int | None) -> Generation:
    """The generation that the options name. Raises InputError."""
    generation = chosen_generation(simulator, message)
    if swipe is None:
        return generation
    chosen = Generation(generation.message, swipe - 1)
    if chosen not in simulator.generations:
        count = sum(each.message == generation.message for each in simulator.generations)
        raise InputError("--swipe", f"reply #{generation.message} has {count} swipe{'' if count == 1 else 's'}.")
    return chosen


def _run(simulator: Simulator, chosen: Generation | None) -> None:
    asyncio.run(simulator.replay() if chosen is None else simulator.generate(chosen))
