"""`lorestudio compare`, and the replay of a chat with another system."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lorestudio.cli.command import rules_named
from lorestudio.cli.options import SYSTEMS, BookOption, NeededChat, ResultOptions, SeedOption, SeenOptions
from lorestudio.cli.output import say_all
from lorestudio.cli.screen import Screen, figure, filled, fixed, fold, in_parts, table
from lorestudio.cli.tuning.whole_chats import candidates_with_books
from lorestudio.domain.entry import NoteKey
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import picked, replace
from lorestudio.settings.rules import VERSIONS
from lorestudio.studio.compare.comparison import (
    Comparison,
    TurnComparison,
    by_rules,
    candidate,
    compare_candidates,
    comparison_rows,
    names_of,
    settled,
    total_rows,
)
from lorestudio.studio.project.project import open_project
from lorestudio.systems.registry import MAIN
from lorestudio.trace.text import csv_bytes
from lorestudio.trace.wording import plural

_SHOWN: Final = 3


def compare(
    vault: Annotated[list[str], "<VAULT...>", "Folders of Markdown notes; merged in order."],
    seen: SeenOptions,
    *,
    chat: NeededChat,
    run: Annotated[
        list[str] | None,
        "SYSTEM[:FILE]",
        f"A run to compare: a system ({SYSTEMS}), with a file of its settings. At least two.",
    ] = None,
    rules: Annotated[
        list[str] | None,
        "VERSION",
        f"DeepLore by these rules ({', '.join(VERSIONS)}) as one of the runs. Of two it is said which rule "
        "did what. May be repeated.",
    ] = None,
    settings: Annotated[Path | None, "DeepLore settings of every run."] = None,
    seed: SeedOption = 0,
    tokenizer: Annotated[
        list[str] | None,
        "NAME|FILE",
        "How tokens are counted. Given several times, every run is made with each (default: deeplore).",
    ] = None,
    book: BookOption = None,
    result: ResultOptions,
) -> None:
    """Run a chat with several systems or settings and say, turn by turn, what each would put into the prompt."""
    counted = tokenizer or [""]
    project = seen.looking(open_project(vault, chat, settings, seed, tokenizer=counted[0]))
    chosen = [*(by_rules(project, rules_named(text)) for text in rules or ()), *map(candidate, run or ())]
    if len(counted) > 1:
        pairs = [(each, name) for each in chosen or [candidate(MAIN.name)] for name in counted]
        chosen = [replace(each, label=f"{each.label}, {name}", tokenizer=name, rules="") for each, name in pairs]
    chosen = [*candidates_with_books(chosen, book or ())]
    found = asyncio.run(compare_candidates(project, chosen))
    for each in chosen:
        read, kind, _settings = settled(project, each)
        say_all((*read.problems, *project.book_remarks(kind)))
    rows = partial(csv_bytes, comparison_rows(found), grouped=True)
    result.give(partial(comparison_json, found), rows, partial(print_comparison, found))


def print_comparison(found: Comparison) -> None:
    """Print a comparison turn by turn, over the whole chat, and what made the difference where that is known."""
    console = Screen()
    console.print(turns_table(found))
    console.print(totals_tables(found, console.width))
    console.print(differing(found))
    if found.reasons:
        console.print(
            filled(
                table(fixed("rule"), figure("turns"), title="what made the difference"),
                [[title, f"{turns:,}"] for title, turns in found.reasons],
            )
        )


def differing(found: Comparison) -> str:
    """How many replies get other entries, in a sentence."""
    return f"{found.changed} of {plural(len(found.turns), '# reply gets|# replies get')} other entries."


def turns_table(found: Comparison) -> Table:
    """A row a turn: what each run put in, how far they agree, and what only one of them did."""
    shown = table(
        figure("reply"), figure("all agree"), *map(fold, found.labels),
        caption=f"for each run: entries, tokens, and what it alone put in{', and by which rule' if found.why else ''}",
    )  # fmt: skip
    for turn in found.turns:
        cells = [_cell(found, turn, place) for place in range(len(found.labels))]
        shown.add_row(turn.turn.generation.name, f"{turn.overlap:.0%}", *cells)
    return shown


def totals_tables(found: Comparison, width: int) -> Group:
    """A row a run: what it puts in on the whole, and how far it agrees with the others."""
    rows = [[f"{place} {cells[0]}", *cells[1:]] for place, cells in enumerate(total_rows(found)[1:], 1)]
    for place, cells in enumerate(rows):
        cells[len(cells) - len(rows) + place] = ""  # how far a run agrees with itself
    headings = ["run", "entries\na turn", "tokens\na turn", "most\ntokens", "different\nentries", "silent\nturns"]
    like = [f"like\nrun {place}" for place in range(1, len(rows) + 1)]
    title, own = "over the whole chat", len(headings)
    parts = [*in_parts(title, [[*headings, *like], *rows], width)]
    if len(parts) > 1:  # what a run puts in stands together, and so does whom it is like
        parts = [*in_parts(title, [headings, *(cells[:own] for cells in rows)], width)]
        parts += in_parts("", [["run", *like], *([cells[0], *cells[own:]] for cells in rows)], width)
    return Group(*parts)


def comparison_json(found: Comparison) -> Mapping[str, Json]:
    """The comparison as data: notes by vault and file name; where rules were tried, why each note is only there."""
    reasons: dict[str, Json] = {"rules": [{"rule": title, "turns": turns} for title, turns in found.reasons]}
    return (reasons if found.why else {}) | {
        "runs": [
            {
                **picked(total, "label", "most_tokens"),
                "entries_per_turn": total.entries,
                "tokens_per_turn": total.tokens,
                "different_notes": total.different,
                "silent_turns": total.silent,
                "agreement": dict(zip(found.labels, found.agreement[place], strict=True)),
            }
            for place, total in enumerate(found.totals)
        ],
        "changed": found.changed,
        "turns": [
            {
                **picked(turn.turn, "message", "swipe"),
                "overlap": turn.overlap,
                "runs": [
                    {
                        "label": label,
                        "tokens": share.tokens,
                        "entries": [
                            {"vault": vault, "file": file, "title": found.titles[vault, file]}
                            for vault, file in share.notes
                        ],
                        "alone": [found.titles[note] for note in share.notes if note in alone],
                        **_whys(found, turn, alone),
                    }
                    for label, share, alone in zip(found.labels, turn.shares, turn.alone, strict=True)
                ],
            }
            for turn in found.turns
        ],
    }


def _whys(found: Comparison, turn: TurnComparison, alone: frozenset[NoteKey]) -> Mapping[str, Json]:
    """What did it, by title, where that was looked for."""
    place = turn.turn.message, turn.turn.swipe
    return {"why": {found.titles[note]: found.why.get((place, note), "") for note in alone}} if found.why else {}


def _cell(found: Comparison, turn: TurnComparison, place: int) -> Text:
    share, alone = turn.shares[place], turn.alone[place]
    names = names_of(found, [note for note in share.notes if note in alone], turn.turn)
    shown = len(names) if found.why else _SHOWN  # who wants to know the rules wants to know all
    listed = [f"+ {title}" for title in names[:shown]]
    if len(names) > shown:
        listed.append(f"and {len(names) - shown} more")
    return Text("\n".join([f"{len(share.notes)}, {share.tokens:,}", *listed]))
