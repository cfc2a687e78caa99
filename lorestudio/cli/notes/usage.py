"""`lorestudio usage`: how often entries fired, in a chat and as DeepLore counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from rich.table import Table

from lorestudio.cli.command import OutputFile
from lorestudio.cli.options import ChatOption, JsonOption, OfflineRun, ProjectOptions
from lorestudio.cli.output import print_json, say, say_all
from lorestudio.cli.screen import Screen, figure, filled, fixed, fold, table
from lorestudio.studio.notes.usage import UsageRow, usage_csv, usage_rows
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.trace.journey import FOREIGN_IDS
from lorestudio.trace.timeline import Fired
from lorestudio.trace.wording import plural

_SHOWN: Final = 40


def usage(
    given: ProjectOptions,
    by: OfflineRun,
    *,
    chat: ChatOption = None,
    output: Annotated[
        Path | None, "-o", "--output", "Write a row for each entry to this CSV file.", OutputFile((".csv",))
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say how often entries fired: in a replay of a chat, and in all chats as DeepLore's settings file counts.

    No provider is asked.
    """
    project = given.opened(chat)
    matched: Counter[int] = Counter()
    injected: Counter[int] = Counter()
    with_chat = False
    if chat is not None:
        simulator = by.simulator(project)
        project = simulator.project
        asyncio.run(simulator.run_missing())
        runs = TraceBook(simulator.traces)
        with_chat = any(trace.of_notes for trace in runs.values())
        for gist in filter(None, map(runs.gist, runs)):
            matched.update(gist.matched)
            injected.update(gist.injected)
    rows = usage_rows(project.index, project.recorded, lambda entry: Fired(matched[entry], injected[entry]))
    say_all(project.problems)
    if chat is not None and not with_chat:
        say("no run looked at a note of the vault, so none is counted here. “lorestudio replay” says what went in.")
    elif any(entry >= FOREIGN_IDS for entry in matched):
        say("entries that are no notes of the vault are left out.")
    if output is not None:
        write_bytes(output, usage_csv(rows))
        say(f"{plural(len(rows), '# entry is|# entries are')} in {output}.")
    elif as_json:
        print_json([_json(row) for row in rows])
    else:
        Screen().print(_table(rows, with_chat=with_chat))


def _table(rows: Sequence[UsageRow], *, with_chat: bool) -> Table:
    """The entries that fired, at most so many; what never did is a number below."""
    fired = [row for row in rows if row.fired.matched or row.recorded.matched or row.recorded.injected]
    here = (figure("matched\nhere"), figure("injected\nhere")) if with_chat else ()
    silent = len(rows) - len(fired)
    more = f"{len(fired) - _SHOWN} more fired; " if len(fired) > _SHOWN else ""
    told = f"{more}{silent} of {len(rows)} entries never fired" if fired or with_chat else "no entry has a count"
    columns = (fold("entry"), *here, figure("matched\nDeepLore"), figure("injected\nDeepLore"), fixed("last used"))
    return filled(
        table(*columns, caption=told),
        (
            (
                row.entry.title,
                *((f"{row.fired.matched:,}", f"{row.fired.injected:,}") if with_chat else ()),
                f"{row.recorded.matched:,}", f"{row.recorded.injected:,}", row.last_used[:10],
            )
            for row in fired[:_SHOWN]
        ),
    )  # fmt: skip


def _json(row: UsageRow) -> dict[str, str | int | None]:
    return {
        "vault": row.entry.vault,
        "file": row.entry.filename,
        "title": row.entry.title,
        "matched": row.fired.matched,
        "injected": row.fired.injected,
        "recorded_matched": row.recorded.matched,
        "recorded_injected": row.recorded.injected,
        "last_used": row.last_used or None,
    }
