"""What is kept of a chat's runs: `lorestudio runs`, and other systems' runs for the commands that explain them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lorestudio.cli.compare import SetOption, SystemOption, SystemSettingsOption
from lorestudio.cli.options import (
    JsonOption,
    NeededChat,
    ReplyOption,
    SeedOption,
    SettingsOption,
    SwipeOption,
    VaultArgument,
)
from lorestudio.cli.output import clear_messages, figure, fixed, fold, print_json, say, say_all, table
from lorestudio.domain.chat import Generation
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.run_store import ChatRuns, Keeper, default_folder
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.replay.system_simulator import SystemSimulator
from lorestudio.systems.registry import DEEPLORE, SystemKind, kind_of
from lorestudio.trace.model import Trace
from lorestudio.trace.serialize import to_json
from lorestudio.trace.summary import summary


def runs(
    vault: VaultArgument,
    *,
    chat: NeededChat,
    system: SystemOption = DEEPLORE,
    system_settings: SystemSettingsOption = None,
    assignments: SetOption = None,
    message: ReplyOption = None,
    swipe: SwipeOption = None,
    settings: SettingsOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """List what the window has kept of a chat's runs with a system: the last of each reply, or all of one reply.

    Nothing is run.
    """
    with clear_messages():
        project = open_project(vault, chat, settings, seed)
        simulator = runner(project, system, system_settings, assignments)
        found = _kept(simulator, message, None if swipe is None else swipe - 1, system)
        if as_json:
            print_json([to_json(trace) for trace in found])
            return
        if not found:
            typer.echo(_nothing(project, system))
            return
        Console().print(_table(found, simulator))


def runner(project: Project, system: str, file: Path | None, assignments: Sequence[str] | None) -> ChatRuns:
    """Who would run the chat with a system; DeepLore's answers are the stand-in's. Raises InputError, SettingsError."""
    if system == DEEPLORE:
        if file is not None or assignments:
            name = "--system-settings" if file is not None else "--set"
            raise InputError(name, "these are settings of another system. Name it with --system, or use --settings.")
        return Simulator(project)
    return system_runner(project, system, file, assignments).runs


@dataclass(frozen=True, slots=True)
class SystemRunner:
    """A system beside DeepLore with its settings, and the chat's runs with it."""

    kind: SystemKind
    settings: Section
    runs: SystemSimulator


def system_runner(project: Project, system: str, file: Path | None, assignments: Sequence[str] | None) -> SystemRunner:
    """Who runs the chat with a system other than DeepLore. Raises InputError and SettingsError."""
    kind = kind_of(system)
    settings = kind.read(file, assignments or ())
    return SystemRunner(kind, settings, SystemSimulator(project, kind.make(settings, project)))


def with_kept(simulator: SystemSimulator) -> SystemSimulator:
    """The simulator with what the window has kept of the same inputs, where it has kept anything."""
    folder = default_folder()
    if (folder / "traces.sqlite").exists():
        try:
            with Keeper(folder) as keeper:
                keeper.restore(simulator)
                say_all(keeper.problems)
        except OSError as error:
            say(f"what was kept of earlier runs cannot be read: {error}")
    return simulator


def _kept(simulator: ChatRuns, message: int | None, swipe: int | None, system: str) -> tuple[Trace, ...]:
    folder, project = default_folder(), simulator.project
    if not (folder / "traces.sqlite").exists():
        return ()
    with Keeper(folder) as keeper:
        if message is None:
            found = keeper.latest(project, system)
        else:
            wanted = [each for each in simulator.generations if each.message == message]
            if not wanted:
                raise InputError("--message", f"#{message} is no reply of the chat's.")
            if swipe is not None:
                wanted = [Generation(message, swipe)]
            found = tuple(trace for each in wanted for trace in keeper.history(project, each, system))
        say_all(keeper.problems)
    return found


def _table(traces: Sequence[Trace], simulator: ChatRuns) -> Table:
    """A row a run. Whether it is what a run would give now can be told of systems that no model answers for."""
    inputs = dict(zip(simulator.generations, simulator.inputs, strict=True))
    told = isinstance(simulator, SystemSimulator)
    as_now = [fixed("as now")] if told else []
    shown = table(*map(figure, ("reply", "entries", "tokens")), *as_now, fold("what came of it"))
    for trace in traces:
        place = Generation(trace.turn.message, trace.turn.swipe)
        swipe = f" ‹{place.swipe + 1}›" if place.swipe else ""
        cells = [f"#{place.message}{swipe}", str(len(trace.injections)), f"{trace.total_tokens:,}"]
        if told:
            cells.append("yes" if trace.digests.get("inputs") == inputs.get(place) else "stale")
        shown.add_row(*cells, Text(summary(trace)))
    return shown


def _nothing(project: Project, system: str) -> str:
    folder = default_folder()
    others: dict[str, int] = {}
    if (folder / "traces.sqlite").exists():
        with Keeper(folder) as keeper:
            others = keeper.counts(project)
    if not others:
        return "Nothing is kept of this chat's runs. The window keeps them when it replays the chat."
    names = ", ".join(f"{name} ({count})" for name, count in others.items())
    return f"Nothing is kept of this chat's runs with {system}. There are runs with: {names}."
