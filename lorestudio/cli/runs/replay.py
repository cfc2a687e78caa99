"""`lorestudio replay`: a progress bar with the time left, a range of messages, and stopping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as ProgressBar

from lorestudio.cli.answering import agree, agree_to_vectors, answering
from lorestudio.cli.options import (
    AnswersOption,
    AskAgainOption,
    ChatOptions,
    FixedOption,
    ResultOptions,
    SizeOption,
    SystemOptions,
    YesOption,
    with_fixed,
)
from lorestudio.cli.output import STOPPED, done_whole, say, say_all
from lorestudio.cli.runs.controls import ChoiceOptions, with_chosen
from lorestudio.cli.runs.tables import ReplayReport
from lorestudio.cli.screen import Screen, progress_bar, rows_of
from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Progress
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.answering import AnswerKind
from lorestudio.studio.replay.costs import live_cost, vector_cost
from lorestudio.studio.replay.ranges import MessageRange, Pace, time_left_words
from lorestudio.studio.replay.run_store import RunStore, default_folder, forget, is_stored
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import KINDS, kind_of
from lorestudio.trace.ai_selection import failure_of
from lorestudio.trace.model import Trace
from lorestudio.trace.storage.serialize import to_json
from lorestudio.trace.text import csv_bytes
from lorestudio.trace.wording import plural


def replay_chat(
    simulator: Simulator,
    take: Callable[[Trace], object],
    wanted: MessageRange | None = None,
    keep_in: Path | None = None,
    *,
    quiet: bool = False,
) -> str:
    """Run what is missing, with a progress bar on the error stream, where that is a terminal.

    `take` gets the trace of each wanted generation, in order and as soon as it is there; later it may be packed.

    Ctrl+C ends it; what was done is kept in `keep_in`, and a later replay on the same inputs goes on from there.
    Returns what was left undone and how to go on, "" at the end. Raises InputError where no reply stands in the range.
    """
    part = _part(simulator, wanted or MessageRange())
    _restore(simulator, keep_in)
    _say_beginning(simulator, part, wanted)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("generations"),
        TextColumn("{task.fields[left]}"),
    )
    stopped, taken = "", part.start

    def hand_on(done: int) -> None:
        nonlocal taken
        for generation in simulator.generations[taken : min(done, part.stop)]:
            with done_whole():  # else it would be taken again
                take(simulator.traces[generation])
                taken += 1

    with progress_bar(*columns, quiet=quiet) as bar:
        advance = _advance(bar, simulator, part)

        def went_on(progress: Progress) -> None:
            hand_on(progress.done)
            advance(progress)

        hand_on(len(simulator.traces))
        try:
            asyncio.run(simulator.run_missing(went_on, until=part.stop))
            if keep_in is not None and len(simulator.traces) == len(simulator.generations):
                forget(keep_in, simulator)
        except KeyboardInterrupt:
            stopped = _stopped(simulator, part, keep_in)
    hand_on(len(simulator.traces))
    return stopped


def _part(simulator: Simulator, wanted: MessageRange) -> range:
    """The places of the wanted replies. Raises InputError where there is none."""
    try:
        return wanted.part(simulator.generations)
    except ValueError as error:
        raise InputError("--messages", str(error)) from error


def _advance(bar: ProgressBar, simulator: Simulator, part: range) -> Callable[[Progress], None]:
    begun = len(simulator.traces)
    task = bar.add_task("Replaying", total=part.stop, completed=begun, left="")
    pace = Pace()

    def advance(progress: Progress) -> None:
        pace.note(progress.done - begun)
        what = "Before the range" if progress.done <= part.start else "Replaying"
        left = time_left_words(pace.left(part.stop - progress.done))
        bar.update(task, completed=progress.done, description=what, left=left)

    return advance


def _say_beginning(simulator: Simulator, part: range, wanted: MessageRange | None) -> None:
    done = len(simulator.traces)
    if done:
        say(f"going on from a replay that was stopped: {done} of {len(simulator.generations)} generations are done.")
    before = max(0, part.start - done)
    if before and wanted is not None:
        runs = plural(before, "# generation before it is|# generations before it are")
        say(f"{runs} run first, because the range begins with the state that they leave.")


def _restore(simulator: Simulator, keep_in: Path | None) -> None:
    """Take up what a stopped replay has kept; a question that failed then is put again."""
    if keep_in is None or not is_stored(keep_in, simulator):
        return
    try:
        with RunStore(keep_in) as store:
            store.restore(simulator)
            say_all(store.problems)
    except OSError as error:
        say(f"what was kept of earlier replays cannot be read: {error}")
        return
    done = simulator.generations[: len(simulator.traces)]
    failed = (place for place, generation in enumerate(done) if failure_of(simulator.traces[generation]))
    simulator.rewind(next(failed, len(done)))


def _stopped(simulator: Simulator, part: range, keep_in: Path | None) -> str:
    """Keep what was done; returns how to go on."""
    done = len(simulator.traces)
    simulator.rewind(done)  # a run may have been kept just before its trace was
    last = f", the last one at message #{simulator.generations[done - 1].message}" if done else ""
    told = f"stopped after {done} of {part.stop} generations{last}."
    if keep_in is None or not done:
        return told
    try:
        with RunStore(keep_in) as store:
            store.keep(simulator)
    except OSError as error:
        return f"{told} They could not be kept: {error}"
    return f"{told} They are kept: run the same command again to go on from there."


def replay(
    given: ChatOptions,
    chosen: ChoiceOptions,
    by: SystemOptions,
    *,
    context_size: SizeOption = 0,
    answers: AnswersOption = AnswerKind.STAND_IN.value,
    fixed_switches: FixedOption = None,
    yes: YesOption = False,
    ask_again: AskAgainOption = False,
    messages: Annotated[str | None, "A-B", "Only the replies from message A to B; A- is to the end."] = None,
    kind: Annotated[
        str | None, "--type", "KIND", "What world-info takes the replies for, as in normal, continue."
    ] = None,
    result: ResultOptions,
) -> None:
    """Replay a chat turn by turn and say what was injected, what was not, and why."""
    project = replace(by.adjusted(given.project()), context_size=context_size)
    project = with_chosen(project, chosen, by.named(project)).read_for(kind_of(by.named(project)))
    project = with_fixed(project, fixed_switches)
    asked = answering(answers, project, fresh=ask_again)
    if kind is not None:
        telling = [name for name, each in KINDS.items() if "generation_type" in each.settings.model_fields]
        if by.named(project) not in telling:
            raise InputError("--type", f"kinds of replies are told apart by --system {' or '.join(telling)}.")
        by = replace(by, assignments=[*(by.assignments or ()), f"generation_type={kind}"])
    decides = by.asking(project, asked)
    wanted = MessageRange.parse(messages, "--messages") if messages is not None else MessageRange()
    simulator = Simulator(project, decides)
    if decides.asks_model:
        path, model, until = project.chat_path, asked.model, _part(simulator, wanted).stop
        agree(asked, lambda: asyncio.run(live_cost(project, path, model, fresh=ask_again, until=until)), yes=yes)
    elif counted := decides.counting_vectors():
        cost = asyncio.run(vector_cost(project, counted, simulator, _part(simulator, wanted).stop))
        agree_to_vectors(cost, yes=yes)
    report, documents = ReplayReport(simulator.project), list[Json]()

    def take(trace: Trace) -> None:
        report.take(trace)
        if result.json:
            documents.append(to_json(trace))

    stopped = replay_chat(simulator, take, wanted, default_folder() / "stopped", quiet=result.json)
    if result.as_json or result.output is not None:
        say_all([*project.problems, *filter(None, [report.failures()])])
    result.give(
        lambda: documents, lambda: csv_bytes(rows_of(report.table()), grouped=True), lambda: show_report(report)
    )
    if stopped:
        say(stopped)
        raise typer.Exit(STOPPED)


def show_report(report: ReplayReport) -> None:
    """Print what happened in each turn, and in the whole replay."""
    console = Screen()
    console.print(report.table())
    console.print()
    console.print(report.summary())
