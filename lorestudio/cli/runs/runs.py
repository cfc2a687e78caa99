"""What is kept of a chat's runs: `lorestudio runs`, and other systems' runs for the commands that explain them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from lorestudio.cli.options import ChatOptions, JsonOption, ReplyOption, SwipeOption, SystemOptions
from lorestudio.cli.output import clear_messages, echo, print_json, say, say_all
from lorestudio.cli.screen import Screen, figure, fixed, fold, table
from lorestudio.domain.chat import Generation
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.run_store import RunStore, default_folder
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.model import Trace
from lorestudio.trace.storage.serialize import to_json
from lorestudio.trace.summary import summary
from lorestudio.trace.wording import plural


def prune(value: bool) -> None:
    """Delete the runs of chats that are gone and end, where that is asked for."""
    if not value:
        return
    folder = default_folder()
    if not (folder / "traces.sqlite").exists():
        say("nothing is kept.")
        raise typer.Exit
    with clear_messages(), RunStore(folder) as store:
        done, left = store.prune(), store.size
    amount = f"{plural(done.runs, '# run|# runs')} of {plural(done.chats, '# chat|# chats')}"
    say(f"{amount} deleted, {done.size / 2**20:.1f} MiB. {left / 2**20:.1f} MiB are left in {folder}.")
    if done.unknown:
        say(
            f"The runs of {plural(done.unknown, '# chat|# chats')} were kept by an earlier version, which did not note "
            "where the file is. They stay until the chat is run again; all of the folder may be deleted."
        )
    raise typer.Exit


PruneOption = Annotated[
    bool,
    typer.Option(
        "--prune",
        help="Only delete the runs of all chats whose files are gone, and say how much is left.",
        is_eager=True,
        callback=prune,
    ),
]


def runs(
    given: ChatOptions,
    by: SystemOptions,
    *,
    message: ReplyOption = None,
    swipe: SwipeOption = None,
    as_json: JsonOption = False,
    _prune: PruneOption = False,
) -> None:
    """List what the window has kept of a chat's runs with a system: the last of each reply, or all of one reply.

    Nothing is run.
    """
    project = by.adjusted(given.project())
    simulator = Simulator(project, by.made(project))
    found = _kept(simulator, message, None if swipe is None else swipe - 1)
    if as_json:
        print_json([to_json(trace) for trace in found])
    elif found:
        Screen().print(_table(found, simulator))
    else:
        echo(_nothing(project, by.named(project)))


def with_kept(simulator: Simulator) -> Simulator:
    """The simulator with what the window has kept of the same inputs, where it has kept anything."""
    folder = default_folder()
    if (folder / "traces.sqlite").exists():
        try:
            with RunStore(folder) as store:
                store.restore(simulator)
                say_all(store.problems)
        except OSError as error:
            say(f"what was kept of earlier runs cannot be read: {error}")
    return simulator


def _kept(simulator: Simulator, message: int | None, swipe: int | None) -> tuple[Trace, ...]:
    folder, project, system = default_folder(), simulator.project, simulator.system.name
    if not (folder / "traces.sqlite").exists():
        return ()
    with RunStore(folder) as store:
        if message is None:
            found = store.latest(project, system)
        else:
            wanted = [each for each in simulator.generations if each.message == message]
            if not wanted:
                raise InputError("--message", f"#{message} is no reply of the chat's.")
            if swipe is not None:
                wanted = [Generation(message, swipe)]
            found = tuple(trace for each in wanted for trace in store.history(project, each, system))
        say_all(store.problems)
    return found


def _table(traces: Sequence[Trace], simulator: Simulator) -> Table:
    """A row a run. Whether it is what a run would give now can be told where no model answers."""
    inputs = dict(zip(simulator.generations, simulator.inputs, strict=True))
    told = not simulator.system.asks_model
    as_now = [fixed("as now")] if told else []
    shown = table(*map(figure, ("reply", "entries", "tokens")), *as_now, fold("what came of it"))
    for trace in traces:
        place = trace.turn.generation
        cells = [place.name, str(len(trace.injections)), f"{trace.total_tokens:,}"]
        if told:
            cells.append("yes" if trace.digests.get("inputs") == inputs.get(place) else "stale")
        shown.add_row(*cells, Text(summary(trace)))
    return shown


def _nothing(project: Project, system: str) -> str:
    folder = default_folder()
    others: dict[str, int] = {}
    if (folder / "traces.sqlite").exists():
        with RunStore(folder) as store:
            others = store.counts(project)
    if not others:
        return "Nothing is kept of this chat's runs. The window keeps them when it replays the chat."
    if system in others:
        return f"No run with {system} is kept of the replies asked for."
    names = ", ".join(f"{name} ({count})" for name, count in others.items())
    return f"Nothing is kept of this chat's runs with {system}. There are runs with: {names}."
