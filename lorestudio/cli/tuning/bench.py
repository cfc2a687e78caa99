"""The command that tests a text: what it would trigger, by which key, and what stops the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from rich.table import Table
from rich.text import Text

from lorestudio.cli.command import RulesOption, rules_named
from lorestudio.cli.options import (
    JsonOption,
    ModeOption,
    SeedOption,
    SeenOptions,
    SettingsOption,
    SystemOptions,
    TokenizerOption,
    in_mode,
)
from lorestudio.cli.output import STANDARD_STREAM, print_json, read_text, say, say_all
from lorestudio.cli.runs.controls import ChoiceOptions, with_chosen
from lorestudio.cli.screen import Screen, figure, filled, fold, table
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import picked
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.bench import Bench, BenchResult, BenchRow
from lorestudio.trace.storage.serialize import to_json
from lorestudio.trace.summary import summary


def try_text(
    vault: Annotated[
        list[str],
        "<VAULT...>",
        "Folders of Markdown notes, or Obsidian's REST plugin; a lone - reads the text from standard input.",
    ],
    chosen: ChoiceOptions,
    by: SystemOptions,
    seen: SeenOptions,
    *,
    text: Annotated[str | None, "TEXT", "The text."] = None,
    file: Annotated[Path | None, "A file with the text, - for standard input."] = None,
    chat: Annotated[Path | None, "Put the text behind this chat, which is replayed."] = None,
    settings: SettingsOption = None,
    rules: RulesOption = None,
    seed: SeedOption = 0,
    mode: ModeOption = None,
    tokenizer: TokenizerOption = "",
    as_json: JsonOption = False,
) -> None:
    """Say what a text would trigger: who goes in, who is matched but stopped, and why. No provider is asked."""
    vaults = [each for each in vault if each != STANDARD_STREAM]
    if not vaults:
        raise InputError("VAULT", "name the folder with your notes, too.")
    said = _text(text, Path(STANDARD_STREAM) if len(vaults) < len(vault) else file)
    opened = seen.looking(open_project(vaults, chat, settings, seed, rules_named(rules), tokenizer))
    project = with_chosen(by.adjusted(in_mode(opened, mode)), chosen, by.named(opened))
    simulator = Simulator(project, by.offline(project))
    if chat is not None:
        asyncio.run(simulator.run_missing(until=len(simulator.generations) - 1))
    result = Bench(simulator).test(said, append=chat is not None)
    say_all(project.problems)
    if as_json:
        print_json(_as_json(result))
        return
    _show(result)


def _text(text: str | None, file: Path | None) -> str:
    """The text that was given. Raises InputError where there is none, or two."""
    if text is not None and file is not None:
        raise InputError("--text", "give one of the two: a text, or a file with it.")
    if text is None and file is None:
        raise InputError("--text", "say what to test: --text “...”, --file FILE, or - for standard input.")
    return text or "" if file is None else read_text(file)


def _show(result: BenchResult) -> None:
    console = Screen()
    marked = _marked(result)
    if marked:
        console.print(marked)
        console.print()
    if result.rows:
        console.print(_table(result.rows))
    console.print(summary(result.trace))
    for remark in result.remarks:
        say(remark)


def _marked(result: BenchResult) -> Text:
    """The text with the keys that were found in it underlined."""
    shown = Text(result.text.rstrip("\n"))
    for row in result.rows:
        for place in row.places:
            shown.stylize("bold underline" if row.injected else "underline", place.start or 0, place.end)
    return shown


def _table(rows: Sequence[BenchRow]) -> Table:
    signs = {True: Text("+", "green"), False: Text("-", "red")}
    return filled(
        table("", "entry", figure("tokens"), "key", fold("why"), caption="+ goes in  - is found and stays out"),
        ((signs[row.injected], row.title, f"{row.tokens:,}", ", ".join(row.keys), " ".join(_why(row))) for row in rows),
    )


def _why(row: BenchRow) -> Iterator[str]:
    """How it came in; for one that goes in that is enough, else what stopped it."""
    if row.how_sentence:
        yield row.how_sentence
    if not row.injected or not row.how_sentence or row.fate.state.value == "truncated":
        yield row.sentence


def _as_json(result: BenchResult) -> dict[str, Json]:
    return {
        "summary": summary(result.trace),
        "tokens": result.trace.total_tokens,
        "entries": [_row_json(row) for row in result.rows],
        "remarks": list(result.remarks),
        "trace": to_json(result.trace),
    }


def _row_json(row: BenchRow) -> dict[str, Json]:
    return {
        **picked(row, "title", "injected", "tokens", "keys"),
        "how": row.how_sentence,
        "why": row.sentence,
        "reason": row.fate.reason,
        "places": [picked(place, "key", "start", "end") for place in row.places],
    }
