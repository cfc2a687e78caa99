"""`lorestudio usage`: how often entries fired, in a chat and as DeepLore counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rich.table import Table

from lorestudio.cli.options import ChatOption, OfflineRun, ProjectOptions, ResultOptions
from lorestudio.cli.output import say, say_all
from lorestudio.cli.screen import Screen, figure, filled, fixed, fold, table
from lorestudio.domain.records import grouped, picked
from lorestudio.studio.notes.usage import UNUSED, UsageRow, usage_csv, usage_rows
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.trace.journey import FOREIGN_IDS, Journeys
from lorestudio.trace.timeline import Fired
from lorestudio.trace.wording import first_few, lowered

_SHOWN: Final = 40
_NAMED: Final = 4


def usage(given: ProjectOptions, by: OfflineRun, *, chat: ChatOption = None, result: ResultOptions) -> None:
    """Say how often entries fired: in a replay of a chat, and in all chats as DeepLore's settings file counts.

    With a chat it is also said which never went in, and what kept them out. No provider is asked.
    """
    project = given.opened(chat)
    runs = TraceBook()
    if chat is not None:
        simulator = by.simulator(project)
        project = simulator.project
        asyncio.run(simulator.run_missing())
        runs = TraceBook(simulator.traces)
    gists = [gist for gist in map(runs.gist, runs) if gist is not None]
    matched = Counter(entry for gist in gists for entry in gist.matched)
    injected = Counter(entry for gist in gists for entry in gist.injected)
    with_chat = any(trace.of_notes for trace in runs.values())
    rows = usage_rows(project.index, project.recorded, lambda entry: Fired(matched[entry], injected[entry]))
    say_all(project.problems)
    if chat is not None and not with_chat:
        say("no run looked at a note of the vault, so none is counted here. “lorestudio replay” says what went in.")
    elif any(entry >= FOREIGN_IDS for entry in matched):
        say("entries that are no notes of the vault are left out.")

    def show() -> None:
        lore = [row for row in rows if not row.entry.guide]
        screen = Screen()
        none = "nothing is counted" if chat is not None else "nothing is counted: give --chat"
        screen.print(_table(lore, none, with_chat=with_chat))
        for line in _kept_out(lore, runs) if with_chat else ():
            screen.print(line)

    result.give(lambda: [_json(row) for row in rows], lambda: usage_csv(rows), show)


def _table(rows: Sequence[UsageRow], none: str, *, with_chat: bool) -> Table:
    """The entries that fired, at most so many, with DeepLore's counts if any; below how many never did, or `none`."""
    counted = not with_chat or any(row.recorded != UNUSED for row in rows)
    fired = [row for row in rows if row.fired.matched or row.recorded.matched or row.recorded.injected]
    here = (figure("matched\nhere"), figure("injected\nhere")) if with_chat else ()
    there = (figure("matched\nDeepLore"), figure("injected\nDeepLore"), fixed("last used")) if counted else ()
    silent = len(rows) - len(fired)
    more = f"{len(fired) - _SHOWN} more fired; " if len(fired) > _SHOWN else ""
    told = f"{more}{silent} of {len(rows)} entries never fired" if fired or with_chat else none
    return filled(
        table(fold("entry"), *here, *there, caption=told),
        (
            (
                row.entry.title,
                *((f"{row.fired.matched:,}", f"{row.fired.injected:,}") if with_chat else ()),
                *((f"{row.recorded.matched:,}", f"{row.recorded.injected:,}", row.last_used[:10]) if counted else ()),
            )
            for row in fired[:_SHOWN]
        ),
    )


def _kept_out(rows: Sequence[UsageRow], runs: TraceBook) -> Iterator[str]:
    """Who never went in, by what kept each out in the last run that said something of it, else in the last of all."""
    silent = {row.entry.id: row.entry.title for row in rows if not row.fired.injected}
    if not silent:
        return
    last = dict.fromkeys(silent, [*runs][-1])
    for generation in runs:
        gist = runs.gist(generation)
        last.update(dict.fromkeys(silent.keys() & (gist.named if gist is not None else ()), generation))
    yield f"Never injected: {len(silent)} of {len(rows)} entries, by what kept them out last:"
    why: dict[str, list[str]] = {}
    for generation, entries in grouped((generation, entry) for entry, generation in last.items()).items():
        journeys = Journeys(runs[generation])
        for entry in entries:
            label = lowered(journeys.trace.words.label(journeys.fate(entry).reason))
            why.setdefault(label, []).append(silent[entry])
    for label, titles in sorted(why.items(), key=lambda item: -len(item[1])):
        yield f"  {len(titles)} {label}: {first_few(sorted(titles), _NAMED)}"
    yield "“-o usage.csv” lists every entry; “lorestudio explain” says of one what brings it in."


def _json(row: UsageRow) -> dict[str, str | int | None]:
    return {
        "vault": row.entry.vault,
        "file": row.entry.filename,
        "title": row.entry.title,
        **picked(row.fired, "matched", "injected"),
        "recorded_matched": row.recorded.matched,
        "recorded_injected": row.recorded.injected,
        "last_used": row.last_used or None,
    }
