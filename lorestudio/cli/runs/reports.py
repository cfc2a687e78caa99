"""`lorestudio report` and `scenario`: what happened in a turn, to be given away or to be run again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lorestudio.cli.command import Limits, OutputFile
from lorestudio.cli.options import (
    ChatOptions,
    FixedOption,
    OfflineRun,
    ReplyOption,
    SizeOption,
    SwipeOption,
    chosen_generation,
    with_fixed,
)
from lorestudio.cli.output import FAILED, as_bytes, echo, say, say_all
from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.exchange.scenario_file import scenario_bytes
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.replay.exported_scenario import export_turn
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.report.page import Format, report_text
from lorestudio.studio.report.source import gather, without_words
from lorestudio.systems.base import Deciding
from lorestudio.trace.wording import plural


def report(
    given: ChatOptions,
    by: OfflineRun,
    *,
    message: Annotated[int | None, Limits(0), "The number of a reply. Default: the whole chat."] = None,
    swipe: SwipeOption = None,
    redacted: Annotated[bool, "Replace names, keys and texts, so that it can be posted where all can read."] = False,
    output: Annotated[
        Path | None,
        "-o",
        "--output",
        "Write it to this file: .html, .md, .txt or .json. Default: text, here.",
        OutputFile((".html", ".md", ".txt", ".json"), printed=True),
    ] = None,
    context: SizeOption = 0,
    fixed_switches: FixedOption = None,
) -> None:
    """Write a report of a turn or of the whole chat: what went in, what did not, and why. No provider is asked."""
    wanted = Format.TEXT if output is None else Format.of(output)
    simulator = _simulator(given, by, context, fixed_switches)
    chosen = None if message is None else chosen_generation(simulator, message, swipe)
    _run(simulator, chosen)
    by_whom = Deciding(simulator.system.kind, simulator.system.settings)
    source = gather(simulator.project, simulator.traces, chosen, by_whom)
    text = report_text(without_words(source) if redacted else source, wanted)
    say_all(simulator.project.problems)
    if output is None:
        echo(as_bytes(text), nl=False)
        return
    write_bytes(output, as_bytes(text))
    echo(f"The {'redacted ' if redacted else ''}report is in {output}.")


def scenario(
    given: ChatOptions,
    by: OfflineRun,
    *,
    message: ReplyOption = None,
    swipe: SwipeOption = None,
    output: Annotated[
        Path | None, "-o", "--output", "Write it to this file.", OutputFile((".json", ".jsonl"), printed=True)
    ] = None,
    context: SizeOption = 0,
    fixed_switches: FixedOption = None,
) -> None:
    """Write a turn as a scenario that “lorestudio run” repeats: notes, chat, settings, seed and the model's answers.

    The file holds your notes and messages. No provider is asked.
    """
    simulator = _simulator(given, by, context, fixed_switches)
    chosen = chosen_generation(simulator, message, swipe)
    _run(simulator, chosen)
    made = export_turn(simulator, chosen)
    say_all((*simulator.project.problems, *made.remarks))
    data = scenario_bytes(made.scenario)
    if output is None:
        echo(data, nl=False)
    else:
        write_bytes(output, data)
        count = plural(len(made.scenario.generations), "# generation|# generations")
        echo(f"The scenario is in {output}: {count}.")
    if made.differing:
        numbers = ", ".join(str(number + 1) for number in made.differing)
        odd = plural(len(made.differing), "# generation|# generations")
        say(f"when it was run once more, {odd} decided otherwise ({numbers}). Please report this as a fault.")
        raise typer.Exit(FAILED)


def _simulator(given: ChatOptions, by: OfflineRun, context: int, fixed_switches: list[str] | None) -> Simulator:
    return by.simulator(with_fixed(replace(given.project(), context_size=context), fixed_switches))


def _run(simulator: Simulator, chosen: Generation | None) -> None:
    asyncio.run(simulator.run_missing() if chosen is None else simulator.generate(chosen))
