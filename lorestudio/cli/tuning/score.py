"""`lorestudio score`: how good runs are over whole chats, and what they cost; `lorestudio check`: unit tests for
lore.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Group
from rich.table import Table

from lorestudio.cli.answering import Answering, agree, answering
from lorestudio.cli.command import OutputFile
from lorestudio.cli.options import JsonOption, YesOption
from lorestudio.cli.output import FAILED, print_json, say, say_all, waited
from lorestudio.cli.screen import Screen, figure, filled, fold, in_parts, table
from lorestudio.cli.tuning.whole_chats import NOTHING_EXPECTED, WholeChats
from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import grouped, picked
from lorestudio.exchange.json_file import parse_document, read_file
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.answering import AnswerKind
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.project.project import Project
from lorestudio.studio.tuning import checking
from lorestudio.studio.tuning.expectations import TurnOutcome
from lorestudio.studio.tuning.scores import METRICS, Scores
from lorestudio.studio.tuning.scoring import EntryUse, ScoredChat, metric_words, pooled, score_chat
from lorestudio.studio.tuning.use_judge import judged_use, use_cost, use_questions
from lorestudio.trace.wording import plural

_SHOWN: Final = 12
_OF_LABELS: Final = ("precision", "recall", "f1")


def score(
    chats: WholeChats,
    *,
    judge: Annotated[
        str, "PROFILE", "Let this provider, or recorded answers, say what each reply has used; the cost is told first."
    ] = "",
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Score runs over whole chats, offline: against what should be in, what they cost, what was used, what is lacking.

    Several chats are scored each for itself and together.
    """
    if judge == AnswerKind.STAND_IN:
        raise InputError("--judge", "the stand-in cannot read a reply. Name a profile, or recorded after asking one.")
    found: list[ScoredChat] = []
    problems: list[str] = []
    for project in chats.projects():
        _, expected = chats.expected(project)
        problems += [*project.problems, *expected.problems]
        judging = partial(_used, project, answering(judge, project, option="--judge"), yes) if judge else None
        found += waited(score_chat(project, expected.every, chats.candidates(project), judge_use=judging))
    by_run = grouped((each.run, each) for each in found)
    together = {run: pooled(each.scores for each in of) for run, of in by_run.items() if len(of) > 1}
    if as_json:
        whole = [{"run": run, "metrics": _metrics_json(scores)} for run, scores in together.items()]
        print_json({"runs": [_chat_json(each) for each in found], "together": whole}, 1)
    else:
        _print_scores(found, together, chats.seed)
    say_all(problems)


async def _used(
    project: Project, asked: Answering, yes: bool, index: VaultIndex, outcomes: Sequence[TurnOutcome]
) -> tuple[Mapping[Generation, frozenset[int]], str]:
    """What a model says that replies have used, after the cost was told and agreed to."""
    questions = use_questions(project.chat or Chat(), index, outcomes, asked.model)
    agree(asked, partial(use_cost, questions, project), yes=yes)
    return await judged_use(asked.source, questions), asked.source.label


def _chat_json(each: ScoredChat) -> dict[str, Json]:
    return {
        **picked(each, "chat", "run"),
        "metrics": _metrics_json(each.scores),
        "turns": [
            {
                "reply": turn.generation.message,
                **picked(turn, "hits", "missed", "wrong", "met", "judged", "tokens", "cut", "churn", "read_again"),
                "ai_calls": turn.ai_calls,
            }
            for turn in each.scores.turns
        ],
        "silver": {"by": each.silver_by, "metrics": _metrics_json(each.silver, _OF_LABELS)} if each.silver_by else None,
        "use_by": each.used_by,
        "use": [picked(use, "title", "constant", "replies", "used", "tokens", "idle", "dead") for use in each.uses],
        "gaps": [{"name": gap.name, "messages": list(gap.messages), "near": gap.near} for gap in each.gaps],
    }


def _metrics_json(scores: Scores, names: Iterable[str] = METRICS) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name in names:
        interval = scores.interval(name)
        ends: Json = None if interval is None else [interval.low, interval.high]
        found[name] = {"value": scores.value(name), "interval": ends}
    return found


def _print_scores(found: Sequence[ScoredChat], together: dict[str, Scores], seed: int) -> None:
    console = Screen()
    columns = [(f"{each.chat or 'no chat'}\n{each.run}", each.scores) for each in found]
    columns += [(f"all chats\n{run}", scores) for run, scores in together.items()]
    console.print(_metrics_tables("scores, with 95 % intervals", columns, METRICS, seed))
    silver = [(f"{each.chat or 'no chat'}\n{each.run}", each.silver) for each in found if each.silver_by]
    if silver:
        by = ", ".join(dict.fromkeys(each.silver_by for each in found if each.silver_by))
        title = f"silver labels: what was selected by {by}; nobody has checked them"
        console.print(_metrics_tables(title, silver, _OF_LABELS, seed))
    for each in found:
        if each.dead:
            console.print(_dead_table(each, each.dead))
        if each.gaps:
            shown = table(fold("name"), figure("messages"), fold("a note called so"), title=f"{each.chat}: gaps")
            rows = ((gap.name, str(len(gap.messages)), gap.near) for gap in each.gaps[:_SHOWN])
            console.print(filled(shown, rows))


def _metrics_tables(title: str, columns: Sequence[tuple[str, Scores]], names: Iterable[str], seed: int) -> Group:
    rows = [[METRICS[name].title, *(metric_words(scores, name, seed) for _, scores in columns)] for name in names]
    headings = ["score", *(heading for heading, _ in columns)]
    return Group(*in_parts(title, [headings, *(row for row in rows if any(row[1:]))], Screen().width))


def _dead_table(each: ScoredChat, dead: Sequence[EntryUse]) -> Table:
    says = f", says {each.used_by}" if each.used_by else ""
    shown = table(
        fold("entry"), figure("replies"), figure("tokens"), title=f"{each.chat}, {each.run}: in, and never used{says}",
        caption=f"and {len(dead) - _SHOWN} more" if len(dead) > _SHOWN else "",
    )  # fmt: skip
    rows = ((f"{use.title}{' (constant)' if use.constant else ''}", str(use.replies), f"{use.idle:,}") for use in dead)
    return filled(shown, list(rows)[:_SHOWN])


def check(
    chats: WholeChats,
    *,
    baseline: Annotated[Path | None, "An earlier report of --json, to compare with."] = None,
    only_regressions: Annotated[
        bool, "--fail-on-regression", "End with 1 only where something that was met in --baseline is not."
    ] = False,
    junit: Annotated[Path | None, "Also write JUnit XML.", OutputFile((".xml",))] = None,
    as_json: JsonOption = False,
) -> None:
    """Check what should be in the prompt, over whole chats and offline. Ends with 1 where an expectation is broken."""
    if only_regressions and baseline is None:
        raise InputError("--fail-on-regression", "name the earlier report with --baseline.")
    earlier = frozenset[str]()
    if baseline is not None:
        earlier = checking.baseline_of(parse_document(read_file(baseline), baseline, "report"), str(baseline))
    runs: list[checking.CheckedChat] = []
    problems: list[str] = []
    for project in chats.projects():
        file, expected = chats.expected(project, needed=True)
        problems += [*project.problems, *expected.problems]
        if not expected.every and not expected.problems:
            raise InputError(file or "", NOTHING_EXPECTED)
        runs += [asyncio.run(checking.check(project, expected.every, each)) for each in chats.candidates(project)]
    regressed, unseen = checking.regressions(runs, earlier), checking.not_looked_at(runs, earlier)
    if baseline is not None and unseen and len(unseen) == len(earlier):
        raise InputError(
            baseline,
            f"nothing that was met then is looked at here, such as “{unseen[0]}”. Check the same chats, with the same "
            "names, runs and expectations, or write the report anew.",
        )
    if junit is not None:
        write_bytes(junit, checking.as_junit(runs))
    if as_json:
        print_json(checking.as_json(runs, problems, regressed), 1)
    else:
        _print_checks(runs, regressed)
    say_all(problems)
    if unseen:
        told = plural(len(unseen), "# expectation that was met before was|# expectations that were met before were")
        say(f"{told} not looked at: {'; '.join(unseen[:_SHOWN])}")
    broken = any(each.failed for each in runs) or bool(problems)
    if regressed or (broken and not only_regressions):
        raise typer.Exit(FAILED)


def _print_checks(runs: list[checking.CheckedChat], regressed: tuple[str, ...]) -> None:
    console = Screen()
    for run in runs:
        shown = table(*map(fold, ("expectation", "result", "first of what broke it")), title=_title(run))
        filled(shown, ((each.judged.called.sentence, each.verdict, _why(each)) for each in run.every))
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
