"""`lorestudio verify`: what a chat recorded beside what the studio says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Annotated

import typer
from rich.progress import BarColumn, TaskProgressColumn, TextColumn

from lorestudio.cli.command import Limits
from lorestudio.cli.options import ChatOptions, JsonOption, SystemOptions
from lorestudio.cli.output import FAILED, print_json, say_all
from lorestudio.cli.screen import Screen, advancing, filled, fixed, fold, progress_bar, table
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import picked
from lorestudio.exchange.problems import InputError
from lorestudio.studio.verify.agreement import COUNTED, Agreement, ComparedReply
from lorestudio.studio.verify.causes import Cause, Verified
from lorestudio.studio.verify.causes import verify as verified

_SHOWN = 12


def verify(
    options: ChatOptions,
    system: SystemOptions,
    *,
    fail_under: Annotated[
        float | None,
        "PERCENT",
        Limits(0, 100),
        "End with 1 where fewer of the judged replies agree, or none could be judged.",
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Hold what a chat recorded of its replies against the run, and say what explains the differences."""
    project = system.adjusted(options.project())
    decides = system.made(project)
    if not decides.kind.records:
        problem = (
            f"no chat keeps what {decides.title} put into its prompts, so there is nothing to hold the runs against."
        )
        raise InputError("--system", problem)
    with progress_bar(TextColumn("comparing"), BarColumn(), TaskProgressColumn(), quiet=as_json) as bar:
        found = verified(project, decides, advancing(bar))
    say_all(project.problems)
    if as_json:
        print_json(verified_json(found), 1)
    else:
        _print(found)
    percent = found.percent
    if fail_under is not None and (percent is None or percent < fail_under):
        raise typer.Exit(FAILED)


def _print(found: Verified) -> None:
    console = Screen()
    shown = table(fixed("reply"), fixed("verdict"), *map(fold, ("what differs", "because")))
    alike = groupby(found.replies, lambda each: (each.verdict, _differences(each), " ".join(each.because)))
    console.print(filled(shown, ((_names(list(replies)), *told) for told, replies in alike)))
    if found.causes:
        causes = table(fold("what may explain it"), fixed("replies"), fixed("breaks"))
        console.print(filled(causes, ((each.title, _explained(each), _broken(each)) for each in found.causes[:_SHOWN])))
    for remark in found.remarks:
        console.print(remark, markup=False)
    console.print(found.sentence, markup=False)


def _names(replies: Sequence[ComparedReply]) -> str:
    """The replies of a row, which follow one another."""
    first, last = replies[0].generation.name, replies[-1].generation.name
    return first if len(replies) == 1 else f"{first} to {last} ({len(replies):,})"


def _differences(reply: ComparedReply) -> str:
    if reply.verdict not in COUNTED:
        return ""
    told = [f"{each.title} {each.where} ({each.words})" for each in reply.differing]
    return "; ".join([*told, *(["another order"] if reply.reordered else [])])


def _explained(cause: Cause) -> str:
    return f"{len(cause.explains):,}" if cause.explains else f"{len(cause.closer):,} in part"


def _broken(cause: Cause) -> str:
    return f"{cause.broken} of {cause.checked}" if cause.checked else ""


def verified_json(found: Verified) -> Mapping[str, Json]:
    """The comparison as data."""
    return {
        **picked(found, "percent", "judged"),
        **{each.name.lower(): found.count(each) for each in Agreement},
        "remarks": list(found.remarks),
        "causes": [
            {
                "kind": cause.kind.value,
                "cause": cause.title,
                "subject": cause.suspect.subject,
                "may_be": cause.unknowable,
                "proven": cause.suspect.proven,
                "explains": [picked(each, "message", "swipe") for each in cause.explains],
                "closer": [picked(each, "message", "swipe") for each in cause.closer],
                **picked(cause, "broken", "checked"),
            }
            for cause in found.causes
        ],
        "replies": [
            {
                **picked(reply.generation, "message", "swipe"),
                "verdict": reply.verdict.value,
                "because": list(reply.because),
                "recorded": None
                if reply.record is None
                else [
                    picked(each, "title", "filename", "vault", "tokens", "priority", "reason")
                    for each in reply.record.entries
                ],
                "simulated": [
                    {"title": each.title, "tokens": each.here.tokens, "reason": each.here.label}
                    for each in reply.entries
                    if each.here is not None
                ],
                "differing": [
                    {"title": each.title, "where": each.where.value, "words": each.words} for each in reply.differing
                ],
                "reordered": reply.reordered,
            }
            for reply in found.replies
        ],
    }
