"""`lorestudio check`: unit tests for lore."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lorestudio.cli.options import JsonOption
from lorestudio.cli.output import FAILED, print_json, say_all
from lorestudio.cli.screen import Screen, filled, fold, table
from lorestudio.cli.tuning.whole_chats import WholeChats
from lorestudio.domain.javascript import Json
from lorestudio.exchange.json_file import parse_document, read_file
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.tuning import checking
from lorestudio.trace.wording import plural


def check(
    chats: WholeChats,
    *,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="FILE", help="An earlier report of --json, to compare with.")
    ] = None,
    only_regressions: Annotated[
        bool,
        typer.Option("--fail-on-regression", help="End with 1 only where something that was met in --baseline is not."),
    ] = False,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Check what should be in the prompt, over whole chats and offline. Ends with 1 where an expectation is broken."""
    if only_regressions and baseline is None:
        raise InputError("--fail-on-regression", "name the earlier report with --baseline.")
    earlier = None if baseline is None else _baseline(baseline)
    runs: list[checking.CheckedChat] = []
    problems: list[str] = []
    for project in chats.projects():
        file, expected = chats.expected(project, needed=True)
        problems += [*project.problems, *expected.problems]
        if not expected.every and not expected.problems:
            raise InputError(
                file or "", "nothing is expected there yet. Say “Should be in…” in the window, or write the file."
            )
        runs += [asyncio.run(checking.check(project, expected.every, each)) for each in chats.candidates(project)]
    regressed = checking.regressions(runs, earlier or frozenset())
    if junit is not None:
        write_bytes(junit, checking.as_junit(runs))
    if as_json:
        print_json(checking.as_json(runs, problems, regressed), 1)
    else:
        _print(runs, regressed)
    say_all(problems)
    broken = any(each.failed for each in runs) or bool(problems)
    if regressed or (broken and not only_regressions):
        raise typer.Exit(FAILED)


def _baseline(path: Path) -> frozenset[str]:
    document: Json = parse_document(read_file(path), path, "report")
    return checking.baseline_of(document, str(path))


def _print(runs: list[checking.CheckedChat], regressed: tuple[str, ...]) -> None:
    console = Screen()
    for run in runs:
        shown = table(*map(fold, ("expectation", "result", "first of what broke it")), title=_title(run))
        filled(shown, ((each.expectation.sentence, each.verdict, _why(each)) for each in run.every))
        console.print(shown)
    for key in regressed:
        console.print(f"met before, broken now: {key}", soft_wrap=True)
    every = [each for run in runs for each in run.every]
    failed = sum(not each.judged.met for each in every)
    console.print(f"{failed} of {plural(len(every), '# expectation|# expectations')} not met.")


def _title(run: checking.CheckedChat) -> str:
    return f"{run.chat or 'no chat'}, {run.run}"


def _why(each: checking.CheckedExpectation) -> str:
    if each.judged.problem:
        return each.judged.problem
    return "".join(f"#{item.generation.message}, {item.title}: {item.why}" for item in each.breaks[:1])
