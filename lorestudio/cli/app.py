"""The commands."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from lorestudio.cli.answering import agree, answering
from lorestudio.cli.bench import try_text
from lorestudio.cli.compare import compare
from lorestudio.cli.controls import ChoiceOptions, with_chosen
from lorestudio.cli.diff import diff_runs
from lorestudio.cli.explain import explain
from lorestudio.cli.facts import facts
from lorestudio.cli.history import history
from lorestudio.cli.lint import lint
from lorestudio.cli.notes import list_links, rename_note, search_notes
from lorestudio.cli.options import (
    AnswersOption,
    BookOption,
    CardOption,
    ChatOption,
    ChatOptions,
    FixedOption,
    JsonOption,
    NeededChat,
    OfflineRun,
    ProjectOptions,
    ReplyOption,
    SettingsOption,
    SizeOption,
    SystemOptions,
    TokenizerOption,
    VaultArgument,
    YesOption,
    chosen_generation,
    command,
    with_card,
    with_fixed,
)
from lorestudio.cli.output import FAILED, json_bytes, print_json, say, say_all
from lorestudio.cli.preview import edited_note, preview_lines
from lorestudio.cli.profiles import profiles
from lorestudio.cli.prompt import show_prompt
from lorestudio.cli.propose import propose
from lorestudio.cli.recap import recap
from lorestudio.cli.replay import replay_chat
from lorestudio.cli.reports import report, scenario
from lorestudio.cli.runs import runs
from lorestudio.cli.settings import settings_app
from lorestudio.cli.tables import findings_table, gaps_table, graph_tables, replay_summary, replay_table
from lorestudio.cli.tokens import tokens
from lorestudio.cli.window import has_display, save_picture, show_window, window_problem, writable_folder
from lorestudio.domain.chat import Chat
from lorestudio.domain.resources import VERSION
from lorestudio.exchange.problems import InputError
from lorestudio.studio.graph.analysis import gaps_json, graph_json, study
from lorestudio.studio.graph.graph import build_graph
from lorestudio.studio.project.answering import AnswerKind
from lorestudio.studio.project.doctor import examine
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.project.project import Project, demo_project, open_project
from lorestudio.studio.replay.costs import live_cost, note_cost
from lorestudio.studio.replay.ranges import MessageRange
from lorestudio.studio.replay.run_store import default_folder
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.scenario.running import run_scenarios
from lorestudio.studio.tryout.preview import Previewer
from lorestudio.systems.registry import system_of
from lorestudio.trace.ai_selection import ai_totals
from lorestudio.trace.model import Trace
from lorestudio.trace.serialize import to_json

app = typer.Typer(
    name="lorestudio",
    help="See, for every turn of a chat, which lore reached the model's prompt, which did not, and why.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_show_locals=False,
)

app.add_typer(profiles, name="profiles")
app.add_typer(propose, name="propose")
app.add_typer(settings_app, name="settings")
app.add_typer(tokens, name="tokens")
app.add_typer(recap)
app.add_typer(facts)

_COMMANDS: Final[Mapping[str, Callable[..., None]]] = {
    "explain": explain, "history": history, "lint": lint, "compare": compare, "search": search_notes,
    "rename": rename_note, "links": list_links, "report": report, "scenario": scenario, "runs": runs,
    "diff": diff_runs, "test": try_text, "prompt": show_prompt,
}  # fmt: skip
for _name, _function in _COMMANDS.items():
    command(app, _name)(_function)

ScreenshotOption = Annotated[
    Path | None, typer.Option("--screenshot", help="Write a picture of the window to this PNG file and end.")
]


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and end.", is_eager=True)] = False,
) -> None:
    """See, for every turn of a chat, which lore reached the model's prompt, which did not, and why."""
    if show:
        typer.echo(f"lorestudio {VERSION}")
        raise typer.Exit


@command(app)
def demo(screenshot: ScreenshotOption = None) -> None:
    """Open the demo vault and chat, replayed. Without a display: replay here and write a picture of the window."""
    project = demo_project()
    if screenshot is not None:
        save_picture(project, screenshot)
    elif has_display():
        raise typer.Exit(show_window(project))
    else:
        typer.echo("There is no display here, so the demo is replayed in the terminal.\n")
        _show(replay_chat(Simulator(project)).traces, project)
        save_picture(project, writable_folder() / "lorestudio-demo.png")


@command(app, "open")
def open_window(
    given: ProjectOptions,
    chat: ChatOption = None,
    context_size: SizeOption = 0,
    screenshot: ScreenshotOption = None,
) -> None:
    """Open a vault in the window, with a chat where one is given."""
    project = replace(given.opened(chat), context_size=context_size)
    if screenshot is not None:
        save_picture(project, screenshot)
    elif has_display():
        raise typer.Exit(show_window(project))
    else:
        say("there is no display to open a window on. Use “replay”, or --screenshot.")
        raise typer.Exit(FAILED)


@command(app)
def replay(
    given: ChatOptions,
    chosen: ChoiceOptions,
    by: SystemOptions,
    *,
    context_size: SizeOption = 0,
    answers: AnswersOption = AnswerKind.STAND_IN.value,
    fixed_switches: FixedOption = None,
    yes: YesOption = False,
    messages: Annotated[
        str | None,
        typer.Option("--messages", metavar="A-B", help="Only the replies from message A to B; A- is to the end."),
    ] = None,
    book: BookOption = None,
    card: CardOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all traces as JSON.")] = False,
) -> None:
    """Replay a chat turn by turn and say what was injected, what was not, and why."""
    project = with_chosen(replace(given.project(), context_size=context_size), chosen)
    project = with_fixed(project, fixed_switches)
    asked = answering(answers, project)
    decides = by.made(with_card(project, card), asked, book)
    if decides.asks_model:
        agree(asked, lambda: asyncio.run(live_cost(project, project.chat_path, asked.model)), yes=yes)
    wanted = MessageRange.parse(messages, "--messages") if messages is not None else MessageRange()
    simulator = Simulator(project, decides)
    replayed = replay_chat(simulator, wanted, default_folder() / "stopped", quiet=as_json)
    _say_traces(replayed.traces, project, as_json=as_json)
    replayed.end()


@command(app)
def preview(
    given: ChatOptions,
    note: Annotated[str, typer.Argument(metavar="NOTE", help="The note: its file name in the vault, or its title.")],
    by: OfflineRun,
    *,
    message: ReplyOption = None,
    text: Annotated[
        Path | None,
        typer.Option("--text", help="A file with the edited note, - for standard input. Default: as saved."),
    ] = None,
) -> None:
    """Say what an edited note would change in a generation, without saving it. No provider is asked."""
    project = given.project()
    edited = edited_note(project, note, text)
    simulator = Simulator(project, by.offline(project, by.answers))
    generation = chosen_generation(simulator, message)
    asyncio.run(simulator.generate(generation))
    made = Previewer(simulator, generation, by.recorded(project)).preview([edited])
    say_all(project.problems)
    typer.echo("\n".join(preview_lines(made)))


@command(app)
def run(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario: JSON, or JSON lines.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the result to this file.")] = None,
    vault_root: Annotated[
        Path | None, typer.Option("--vault-root", help="The folder with the vaults that scenarios refer to.")
    ] = None,
) -> None:
    """Run scenarios and print, one a line, what every generation decided."""
    results = run_scenarios(scenario, vault_root)
    lines = b"".join(json_bytes(result) for result in results)
    if output is None:
        typer.echo(lines, nl=False)
    else:
        write_bytes(output, lines)


@command(app)
def scribe(
    vault: VaultArgument,
    *,
    chat: NeededChat,
    answers: Annotated[str, typer.Option("--answers", help="Who writes the note: a profile's name, or recorded.")],
    settings: SettingsOption = None,
    focus: Annotated[str, typer.Option("--focus", help="What the note should pay attention to.")] = "",
    save: Annotated[bool, typer.Option("--save", help="Put the note into the vault's session folder.")] = False,
    tokenizer: TokenizerOption = "",
    yes: YesOption = False,
) -> None:
    """Have a session note written about the end of a chat. The chat file is left as it is."""
    if answers == AnswerKind.STAND_IN.value:
        raise InputError("--answers", "the offline stand-in writes no notes. Name a profile, or recorded.")
    project = open_project(vault, chat, settings, tokenizer=tokenizer)
    folder = _note_folder(project) if save else None
    asked = answering(answers, project)
    agree(asked, lambda: asyncio.run(note_cost(project, focus)), yes=yes)
    system = system_of(project.scene(asked.source))
    note = asyncio.run(system.write_note(project.chat or Chat(), project.controls, focus, folder))
    if note is None:
        raise InputError("--answers", f"{system.title} writes no notes about chats.")
    if note.text:
        typer.echo(note.text)
    say(note.said)
    if not note.fine:
        raise typer.Exit(FAILED)


@command(app)
def graph(
    vault: VaultArgument,
    *,
    settings: SettingsOption = None,
    only_gaps: Annotated[bool, typer.Option("--gaps", help="Say only what seems to be missing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say how the entries of a vault are connected: communities, typed edges, and gaps."""
    project = open_project(vault, None, settings)
    say_all(project.problems)
    index = project.index
    found = study(build_graph(index), index.entries, alpha=project.settings.graph_edge_filter_alpha)
    if as_json:
        print_json(gaps_json(found.gaps) if only_gaps else graph_json(found))
        return
    console = Console()
    for table in [gaps_table(found)] if only_gaps else graph_tables(found):
        console.print(table)


@app.command()
def doctor() -> None:
    """Check that everything that the studio needs is here and works."""
    findings = examine(has_display=has_display(), window_problem=window_problem())
    Console().print(findings_table(findings))
    if any(not finding.ok for finding in findings):
        raise typer.Exit(FAILED)


def _note_folder(project: Project) -> Path:
    """The folder of the first vault that has one. Raises InputError where none has."""
    if not project.roots:
        raise InputError("--save", "a note is saved into a vault's folder, and this vault has none. Name its folder.")
    return project.roots[0]


def _show(traces: tuple[Trace, ...], project: Project) -> None:
    console = Console()
    console.print(replay_table(traces, project))
    console.print()
    console.print(replay_summary(traces, project), highlight=False, markup=False)


def _say_traces(traces: tuple[Trace, ...], project: Project, *, as_json: bool) -> None:
    if not as_json:
        _show(traces, project)
        return
    say_all(project.problems)
    totals = ai_totals(traces)
    if totals.failed:
        say(f"the AI gave no usable answer in {totals.failed} of {totals.runs} generations; the traces say why.")
    print_json([to_json(trace) for trace in traces])


def main() -> None:
    """Run the command line. What the terminal cannot show, half a character among it, is printed as its number."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app()
