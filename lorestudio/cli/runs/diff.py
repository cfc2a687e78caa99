"""`lorestudio diff`: what differs between two runs, and which setting, note or message did it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Final

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.table import Table
from rich.text import Text

from lorestudio.cli.command import Limits
from lorestudio.cli.options import (
    ChatOptions,
    JsonOption,
    OfflineRun,
    SwipeOption,
    answering_offline,
    chosen_generation,
    in_mode,
)
from lorestudio.cli.output import print_json, say_all
from lorestudio.cli.runs.runs import with_kept
from lorestudio.cli.runs.tables import reply_words
from lorestudio.cli.screen import Screen, advancing, figure, fixed, fold, progress_bar, table
from lorestudio.domain.chat import Generation
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import grouped, replace
from lorestudio.domain.texts import whole_number
from lorestudio.exchange.problems import InputError
from lorestudio.studio.compare.causes import (
    Causes,
    RunSide,
    TurnDiff,
    What,
    can_find,
    compared,
    find_causes,
    replay_differences,
    side_of,
    turn_diffs,
    with_settings_of,
    with_vaults_of,
)
from lorestudio.studio.compare.text import (
    HEADINGS,
    SIGNS,
    cause_words,
    change_lines,
    comparison_json,
    difference_json,
    refated_lines,
    tokens_words,
)
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import MAIN, kind_of
from lorestudio.trace.diff import TraceDiff
from lorestudio.trace.summary import summary
from lorestudio.trace.wording import first_few, signed_words

_STYLES: Final = {
    What.ENTERED: "green",
    What.LEFT: "red",
    What.MOVED: "cyan",
    What.RESIZED: "yellow",
    What.REWRITTEN: "yellow",
}
_AGAINST: Final = re.compile(r"#?(\d+)(?:\.(\d+))?\Z")
_LISTED: Final = 4
_LEGEND: Final = "+ only in the second  - only in the first  ~ shortened or longer  ↕ moved  ≠ other words"


def diff_runs(
    given: ChatOptions,
    by: OfflineRun,
    *,
    message: Annotated[
        int | None, Limits(0), "The number of a reply. Default: all replies of the chat, a row for each."
    ] = None,
    swipe: SwipeOption = None,
    against: Annotated[str | None, "MESSAGE[.SWIPE]", "Compare with another reply, or another swipe of it."] = None,
    settings2: Annotated[Path | None, "Compare with these settings."] = None,
    vault2: Annotated[
        list[str] | None, "VAULT", "Compare with another state of the vault. Repeat it where there are several."
    ] = None,
    chat2: Annotated[Path | None, "Compare with another state of the chat."] = None,
    system2: Annotated[str | None, "SYSTEM[:FILE]", "Compare with another system, or its file."] = None,
    causes: Annotated[
        bool, "--causes/--no-causes", "Find out which difference did what, by running each alone."
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Say what differs between two runs of a reply, or of the whole chat, and which difference did it.

    The second run is another reply (--against), or the same one with other settings (--settings2), notes (--vault2) or
    messages (--chat2), or by another system (--system2). No provider is asked for an answer. Which difference did it
    can be found out where one system made both runs.
    """
    _check(against, settings2, vault2, chat2, system2)
    if by.system is not None and settings2 is not None and not kind_of(by.system).in_project:
        raise InputError("--settings2", f"these are those of {MAIN.title}. Use --system2 {by.system}:FILE instead.")
    second = first = by.adjusted(given.project())
    titles, other = ("first", "second"), by
    if settings2 is not None:
        second = by.adjusted(in_mode(with_settings_of(first, settings2), given.mode))
        own = first.settings_path
        titles = own.name if own is not None else "DeepLore's own settings", settings2.name
    elif vault2 is not None:
        second, titles = with_vaults_of(first, vault2), (", ".join(given.vault), ", ".join(vault2))
    elif chat2 is not None:
        second, titles = first.with_chat(chat2), (given.chat.name, chat2.name)
    elif system2 is not None:
        other, titles = _other_system(by, system2), (by.named(first), system2)
    say_all((*first.problems, *second.problems))
    asked = answering_offline(by.answers, first)
    scanning = [kind_of(each.named(first)).books is not None for each in (by, other)]
    if any(scanning):  # a run that scans no lorebooks leaves them alone
        by, other = (each if one else replace(each, book=None) for each, one in zip((by, other), scanning, strict=True))
    if message is None and (against is not None or swipe is not None):
        name = "--against" if against is not None else "--swipe"
        raise InputError(name, "say which reply is meant with --message.")
    one = with_kept(Simulator(first, by.made(first, asked)))
    two = one if against is not None else with_kept(Simulator(second, other.made(second, asked), earlier=(one,)))
    if message is None:
        _whole_chat(one, two, titles, as_json=as_json)
        return
    wanted = chosen_generation(one, message, swipe)
    if against is not None:
        place, which = _place(against)
        sides = _sides(one, wanted, two, chosen_generation(two, place, which, "--against"), ("", ""))
    else:
        sides = _sides(one, wanted, two, chosen_generation(two, message, swipe), titles)
    _one_reply(*sides, find=causes and can_find(*sides), as_json=as_json)


def _check(*others: object) -> None:
    if sum(bool(each) for each in others) != 1:
        given = any(others)
        names = "--against, --settings2, --vault2, --chat2 or --system2"
        why = "say with what the run is to be compared" if not given else "a run is compared with one other"
        raise InputError("diff", f"{why}: give one of {names}.")


def _other_system(by: OfflineRun, text: str) -> OfflineRun:
    """The same with the system of `SYSTEM[:FILE]`. Raises InputError."""
    name, _, file = text.partition(":")
    if file and kind_of(name).in_project:
        raise InputError("--system2", f"compare with other settings of {MAIN.title} by --settings2.")
    return replace(by, system=name, system_settings=Path(file).expanduser() if file else None, assignments=None)


def _place(against: str) -> tuple[int, int | None]:
    """Message and swipe of `12` or `12.2`."""
    match = _AGAINST.match(against.strip())
    if match is None or match[2] == "0":
        raise InputError("--against", f"“{against}” is no reply. Write its number, as 12, or with a swipe, as 12.2.")
    return whole_number(match[1]), whole_number(match[2]) if match[2] else None


def _sides(
    first: Simulator, one: Generation, second: Simulator, other: Generation, titles: tuple[str, str]
) -> tuple[RunSide, RunSide]:
    asyncio.run(first.generate(one))
    asyncio.run(second.generate(other))
    return side_of(first, one, titles[0]), side_of(second, other, titles[1])


# ---- one reply ------------------------------------------------------------------------------------------------------


def _one_reply(before: RunSide, after: RunSide, *, find: bool, as_json: bool) -> None:
    diff = compared(before, after)
    found = _causes(before, after, quiet=as_json) if find and diff else None
    if as_json:
        print_json(comparison_json(diff, (before.title, after.title), found))
        return
    console = Screen()
    for side in (before, after):
        console.print(Text(f"{side.title}: {summary(side.trace)}"))
    console.print(Text(f"{tokens_words(diff)}, {diff.unchanged} unchanged"))
    console.print()
    console.print(_changes_table(diff, found) if diff else Text("The same entries go in, in the same order."))
    for line in refated_lines(diff):
        console.print(Text(f"stopped by something else: {line}", style="dim"))
    if found is not None:
        console.print()
        console.print(_causes_table(found))


def _causes(before: RunSide, after: RunSide, *, quiet: bool) -> Causes:
    columns = (TextColumn("Trying each difference alone"), BarColumn(), MofNCompleteColumn(), TextColumn("runs"))
    with progress_bar(*columns, quiet=quiet) as bar:
        return find_causes(before, after, on_progress=advancing(bar))


def _changes_table(diff: TraceDiff, causes: Causes | None) -> Table:
    because = [] if causes is None else [fold("because of")]
    shown = table("", fold("entry"), figure("tokens"), fold("what happened"), *because)
    for line in change_lines(diff, causes):
        style = _STYLES[line.what]
        sign = Text(f"{line.sign} {HEADINGS[line.what].lower()}", style=style)
        grown = Text(signed_words(line.tokens) if line.tokens else "", style=style)
        cells = [sign, Text(line.title), grown, Text(line.words)]
        if causes is not None:
            cells.append(Text(line.who.removeprefix("by ") or "not found"))
        shown.add_row(*cells)
    return shown


def _causes_table(causes: Causes) -> Table:
    shown = table(fold("difference"), fixed("kind"), fold("tried alone"), title="What was different")
    for cause in causes.causes:
        row = cause.difference.sentence, cause.difference.kind.value, cause_words(cause)
        shown.add_row(*map(Text, row), style="" if cause.does_something else "dim")
    return shown


# ---- a whole chat ---------------------------------------------------------------------------------------------------


def _whole_chat(first: Simulator, second: Simulator, titles: tuple[str, str], *, as_json: bool) -> None:
    turns = changed = 0

    def differing() -> Iterator[TurnDiff]:  # one after the other: thousands of traces need not be in memory at once
        nonlocal turns, changed
        for turn in turn_diffs(first, second):
            turns += 1
            changed += turn.differs
            if turn.differs:
                yield turn
            for each in (first, second):
                if turn.generation in each.traces and turn.generation != each.generations[-1]:  # which tells of all
                    each.let_go(turn.generation)

    if as_json:
        told: list[Json] = [_turn_json(turn) for turn in differing()]
        names: list[Json] = [difference_json(each) for each in replay_differences(first, second)]
        print_json({"before": titles[0], "after": titles[1], "turns": turns, "differences": names, "changed": told})
        return
    console = Screen()
    rows = _chat_table(differing(), first.project, titles)
    for difference in replay_differences(first, second):
        console.print(Text(f"{difference.kind.value}: {difference.sentence}"))
    if changed:
        console.print(rows)
    what = f"{changed} of {turns} generations differ." if changed else "No generation differs."
    console.print(Text(what + (" Choose one with --message to see what did it." if changed else "")))


def _chat_table(turns: Iterable[TurnDiff], project: Project, titles: tuple[str, str]) -> Table:
    shown = table(
        *map(figure, ("reply", "tokens", "")), fold("what differs"),
        title=f"{project.name}: {titles[0]} → {titles[1]}", caption=_LEGEND,
    )  # fmt: skip
    for turn in turns:
        reply = reply_words(project, turn.generation) or f"#{turn.generation.message}"
        if turn.diff is None:
            shown.add_row(reply, "", "", Text("only in the first" if turn.before is not None else "only in the second"))
            continue
        old, new = turn.diff.tokens
        shown.add_row(reply, f"{old:,} → {new:,}", signed_words(new - old), _happened(turn.diff))
    return shown


def _happened(diff: TraceDiff) -> Text:
    found = grouped((line.what, line.title) for line in change_lines(diff))
    lines = [
        Text.assemble((f"{SIGNS[what]} ", _STYLES[what]), first_few(names, _LISTED)) for what, names in found.items()
    ]
    return Text("\n").join(lines)


def _turn_json(turn: TurnDiff) -> Json:
    found: dict[str, Json] = {"message": turn.generation.message, "swipe": turn.generation.swipe}
    if turn.diff is None:
        return {**found, "only_in": "before" if turn.before is not None else "after"}
    found["tokens"] = list(turn.diff.tokens)
    keys = grouped((line.what, line.effect[1]) for line in change_lines(turn.diff))
    return {**found, **{what.value: [list(key) for key in keys.get(what, ())] for what in What}}
