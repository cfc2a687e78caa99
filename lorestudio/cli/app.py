"""The commands: where each lies. What one needs is loaded when it is asked for, so that each begins at once."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_command

from lorestudio.domain.resources import VERSION

COMMANDS: Final[Mapping[str, str]] = {
    "demo": "window.demo",
    "open": "window.open_window",
    "replay": "runs.replay.replay",
    "preview": "runs.preview.preview",
    "explain": "runs.explain.explain",
    "report": "runs.reports.report",
    "scenario": "runs.reports.scenario",
    "choose": "runs.controls.choose",
    "presets": "runs.controls.presets",
    "runs": "runs.runs.runs",
    "diff": "runs.diff.diff_runs",
    "prompt": "runs.prompt.show_prompt",
    "graph": "notes.graph.graph",
    "history": "notes.history.history",
    "undo": "notes.history.undo",
    "trash": "notes.history.trash",
    "lint": "notes.lint.lint",
    "search": "notes.notes.search_notes",
    "rename": "notes.notes.rename_note",
    "order": "notes.notes.order_notes",
    "change": "notes.notes.change_property",
    "move": "notes.notes.move_notes",
    "new": "notes.notes.new_note",
    "delete": "notes.notes.delete_notes",
    "duplicate": "notes.notes.duplicate_notes",
    "links": "notes.notes.list_links",
    "entries": "notes.notes.entries",
    "import": "notes.lorebooks.import_books",
    "export": "notes.lorebooks.export_notes",
    "sync": "notes.lorebooks.sync_books",
    "propose": "notes.propose.propose",
    "usage": "notes.usage.usage",
    "check": "tuning.score.check",
    "tune": "tuning.tune.tune",
    "score": "tuning.score.score",
    "effects": "tuning.effects.effects",
    "compare": "tuning.compare.compare",
    "verify": "tuning.verify.verify",
    "test": "tuning.bench.try_text",
    "scribe": "systems.scribe.scribe",
    "recap": "systems.recap.recap",
    "facts": "systems.facts.facts",
    "run": "run.run",
    "doctor": "doctor.doctor",
    "profiles": "profiles.profiles",
    "settings": "settings.settings_app",
    "basis": "basis.basis",
    "tokens": "tokens.tokens",
    "attach": "attach.attach",
    "captures": "attach.captures",
}
"""Module and name of each command: a function (see `command.command`), or a `Typer` of several."""


_SECTIONS: Final = {
    "window": "Open the window",
    "runs": "Run a chat, and look at what was decided",
    "notes": "Notes and lorebooks",
    "tuning": "Test, compare and tune",
    "systems": "Memories of a chat",
}
_OTHERS: Final = "Models, settings and the rest"


class _Loaded(Mapping[str, Any]):
    """The commands by name, each loaded when it is looked up."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  # typer has no public name for what a command is
        return _loaded(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


@cache
def _loaded(name: str) -> Any:  # noqa: ANN401  # the same
    module, _, place = COMMANDS[name].rpartition(".")
    from lorestudio.cli.command import command  # noqa: PLC0415  # the version is told without it

    found: typer.Typer | Callable[..., None] = getattr(import_module(f"lorestudio.cli.{module}"), place)
    if isinstance(found, typer.Typer):
        return get_command(found)
    one = typer.Typer(add_completion=False, rich_markup_mode=None)
    command(one, name)(found)
    return get_command(one)


class _Group(TyperGroup):
    def __init__(self, **given: Any) -> None:  # noqa: ANN401  # what typer hands over
        super().__init__(**given)
        self.commands = _Loaded()  # type: ignore[assignment]  # nothing is ever put into it

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  # the same
        from lorestudio.cli.command import list_commands  # noqa: PLC0415  # the version is told without it

        list_commands(self, ctx, formatter, lambda name: _SECTIONS.get(COMMANDS[name].partition(".")[0], _OTHERS))

    def make_context(self, *given: Any, **more: Any) -> Any:  # noqa: ANN401  # the same
        with _stop_handed_on():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  # the same
        with _stop_handed_on():
            return super().invoke(ctx)


@contextmanager
def _stop_handed_on() -> Iterator[None]:
    """Typer would end without a word while modules are loaded; `lorestudio.cli.main` has one."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise RuntimeError from stop


app = typer.Typer(
    name="lorestudio", cls=_Group, add_completion=False, rich_markup_mode=None, pretty_exceptions_show_locals=False
)


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    show: Annotated[bool, typer.Option("--version", help="Print the version and end.", is_eager=True)] = False,
) -> None:
    """See, for every turn of a chat, which lore reached the model's prompt, which did not, and why.

    Without a command the window opens on its start screen.
    """
    if show:
        typer.echo(f"lorestudio {VERSION}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from lorestudio.cli.window import start  # noqa: PLC0415  # the version is told without it

        start(context.get_help())


def main() -> None:
    """Run the command line. What the terminal cannot show, half a character among it, is printed as its number."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    gc.set_threshold(20_000)  # a long replay makes millions of objects and hardly a cycle: a quarter of its time
    app()
