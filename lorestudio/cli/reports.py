"""`lorestudio report` and `lorestudio scenario`: what happened in a turn, to be given away or to be run again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lorestudio.cli.compare import SetOption, SystemOption, SystemSettingsOption, other_system
from lorestudio.cli.options import (
    FixedOption,
    ModeOption,
    NeededChat,
    OfflineAnswersOption,
    ReplyOption,
    SeedOption,
    SettingsOption,
    SizeOption,
    SwipeOption,
    VaultArgument,
    answering_offline,
    chosen_generation,
    in_mode,
    with_fixed,
)
from lorestudio.cli.output import FAILED, as_bytes, clear_messages, say, say_all
from lorestudio.domain.chat import Generation
from lorestudio.exchange.scenario_file import scenario_bytes
from lorestudio.studio.project.answering import AnswerKind
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.replay.system_simulator import SystemSimulator
from lorestudio.studio.report.formats import Format, report_text
from lorestudio.studio.report.source import gather, without_words
from lorestudio.studio.scenario.export import export_turn
from lorestudio.systems.registry import MAIN


def report(
    vault: VaultArgument,
    *,
    chat: NeededChat,
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
    context: SizeOption = 0,
    mode: ModeOption = None,
    answers: OfflineAnswersOption = AnswerKind.STAND_IN.value,
    fixed_switches: FixedOption = None,
) -> None:
    """Write a report of a turn or of the whole chat: what went in, what did not, and why. No provider is asked."""
    with clear_messages():
        wanted = Format.TEXT if output is None else Format.of(output)
        simulator = _simulator(vault, chat, settings, seed, context, mode, answers, fixed_switches)
        chosen = None if message is None else chosen_generation(simulator, message, swipe)
        _run(simulator, chosen)
        source = gather(simulator.project, simulator.traces, chosen)
        text = report_text(without_words(source) if redacted else source, wanted)
        say_all(simulator.project.problems)
        if output is None:
            typer.echo(as_bytes(text), nl=False)
            return
        write_bytes(output, as_bytes(text))
        typer.echo(f"The {'redacted ' if redacted else ''}report is in {output}.")


def scenario(
    vault: VaultArgument,
    *,
    chat: NeededChat,
    message: ReplyOption = None,
    swipe: SwipeOption = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write it to this file.")] = None,
    settings: SettingsOption = None,
    seed: SeedOption = 0,
    context: SizeOption = 0,
    mode: ModeOption = None,
    answers: OfflineAnswersOption = AnswerKind.STAND_IN.value,
    fixed_switches: FixedOption = None,
    system: SystemOption = MAIN.name,
    system_settings: SystemSettingsOption = None,
    assignments: SetOption = None,
) -> None:
    """Write a turn as a scenario that “lorestudio run” repeats: notes, chat, settings, seed and the model's answers.

    The file holds your notes and messages. No provider is asked.
    """
    with clear_messages():
        other = other_system(system, system_settings, assignments)
        simulator: Simulator = _simulator(vault, chat, settings, seed, context, mode, answers, fixed_switches)
        if other is not None:
            simulator = SystemSimulator(simulator.project, other[0].make(other[1], simulator.project))
        chosen = chosen_generation(simulator, message, swipe)
        _run(simulator, chosen)
        made = export_turn(simulator, chosen)
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
    project = replace(open_project(vault, chat, settings, seed), context_size=context)
    project = with_fixed(in_mode(project, mode), fixed_switches)
    asked = answering_offline(answers, project)
    return Simulator(project, asked.source, model=asked.model)


def _run(simulator: Simulator, chosen: Generation | None) -> None:
    asyncio.run(simulator.replay() if chosen is None else simulator.generate(chosen))
