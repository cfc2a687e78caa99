"""`lorestudio tune`: searching for settings that do what is expected for few tokens."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from lorestudio.cli.command import Limits, OutputFile
from lorestudio.cli.notes.notes import carry_out, change_log
from lorestudio.cli.options import JsonOption
from lorestudio.cli.output import echo, print_json, say, say_all
from lorestudio.cli.screen import Screen, advancing, figure, filled, fold, progress_bar, table
from lorestudio.cli.tuning.compare import comparison_json, print_comparison
from lorestudio.cli.tuning.effects import effects_json, print_effects
from lorestudio.cli.tuning.whole_chats import NOTHING_EXPECTED, WholeChats
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import picked
from lorestudio.exchange.problems import InputError
from lorestudio.studio.compare.comparison import Comparison, compare_candidates, simulator_of
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.tuning.checking import chat_name
from lorestudio.studio.tuning.effects import Effects, WholeChat
from lorestudio.studio.tuning.report import (
    candidate_at,
    keep_as_profile,
    note_changes,
    plan_notes,
    settings_file,
    tuning_page,
)
from lorestudio.studio.tuning.scores import METRICS, Interval
from lorestudio.studio.tuning.scoring import metric_words
from lorestudio.studio.tuning.search import GOALS, Gain, Plan, SearchOutcome, SearchWay, TriedPoint, search
from lorestudio.studio.tuning.space import point_words
from lorestudio.studio.tuning.trials import TuningTrial, Workers, trial_of
from lorestudio.trace.wording import plural

_SHOWN: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningOptions:
    """What may be turned, and how the best point is searched for."""

    over: Annotated[
        list[str] | None,
        "WHAT[=VALUES]",
        "What may be turned: SETTING=LOW..HIGH[/STEP], SETTING=A,B,C, or SETTING for all that is declared; "
        "NOTE:PROPERTY=VALUES; NOTE:keys for each of its keys, there or not. May be repeated.",
    ] = None
    by: Annotated[SearchWay, "How the next point is chosen."] = SearchWay.OPTUNA
    runs: Annotated[int, Limits(1), "So many points at most."] = 100
    minutes: Annotated[float | None, Limits(0), "End after so many minutes."] = None
    goal: Annotated[
        list[str] | None,
        f"What is searched for, the first one decides: {', '.join(METRICS)}. May be repeated. "
        f"Default: {' and '.join(GOALS)}.",
    ] = None
    hold_out: Annotated[float, Limits(0, 0.9), "The share of replies that is only looked at in the end."] = 1 / 3
    hold_out_chat: Annotated[list[str] | None, "A whole chat that is held out. May be repeated."] = None
    workers: Annotated[int, Limits(1), "Processes of this computer that run points."] = 1
    dask: Annotated[str, "ADDRESS", "A Dask scheduler whose workers run them."] = ""
    journal: Annotated[
        Path | None, "Keep every run there, and go on from what is there.", OutputFile((".log", ".jsonl", ".json"))
    ] = None

    def found(self, trial: TuningTrial, seed: int) -> SearchOutcome:
        """What the search comes to, with a bar. Raises InputError."""
        goals = tuple(dict.fromkeys(self.goal or GOALS))
        for name in goals:
            if name not in METRICS:
                raise InputError("--goal", f"there is no score “{name}”. There are: {', '.join(METRICS)}.")
        plan = Plan(self.by, self.runs, self.minutes, goals, seed, self.hold_out, tuple(self.hold_out_chat or ()))
        columns = (TextColumn("points"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with progress_bar(*columns, quiet=False) as bar:
            return search(trial, plan, Workers(self.workers, self.dask), self.journal, advancing(bar, plan.runs))


@dataclass(frozen=True, slots=True, kw_only=True)
class PointOptions:
    """Which point is looked at, and what becomes of it."""

    keep: Annotated[str | None, "Keep the chosen point as a settings profile."] = None
    output: Annotated[
        Path | None, "-o", "--output", "Write the settings there as a file for --run.", OutputFile((".json",))
    ] = None
    point: Annotated[
        int | None,
        Limits(-1),
        "Which point to keep. Default: the best by the first goal, of equal ones the nearest to now.",
    ] = None
    look: Annotated[bool, "Say of every reply who enters and who leaves at the point, as effects does."] = False
    beside: Annotated[bool, "--compare", "Put the point beside the settings as they are now, as compare does."] = False
    apply: Annotated[
        bool, "Write what the point turns in notes into them, as one step that `lorestudio undo` takes back."
    ] = False
    dry_run: Annotated[bool, "Print what --apply would write, and write nothing."] = False

    def keep_settings(self, trial: TuningTrial, best: TriedPoint) -> None:
        """Keep the point's settings as a profile and as a file, where that is wanted. Raises SettingsError."""
        if self.keep is not None:
            keep_as_profile(trial, best.point, self.keep)
            name = self.keep.strip()
            held = f"the settings profile “{name}” holds the settings of {_called(best)}."
            say(f"{held} To use it: --profile {shlex.quote(name)}")
        if self.output is not None:
            write_bytes(self.output, settings_file(trial, best.point))

    def write_notes(self, trial: TuningTrial, best: TriedPoint) -> None:
        """Write what the point turns in notes into them; where only its settings are kept, say that this is left."""
        if not (self.apply or self.dry_run):
            left = len(note_changes(trial, best.point).changes)
            if left and (self.keep is not None or self.output is not None):
                say(f"the point turns {plural(left, '# note|# notes')}, too: --apply writes that into them.")
            return
        planned, roots = plan_notes(trial, best.point), trial.projects[0].changed_in
        if not planned.changes.changes:
            say("no note has to be changed for this point.")
            return
        carry_out(change_log(roots, dry_run=self.dry_run), roots, planned, dry_run=self.dry_run, err=True)


def tune(
    chats: WholeChats,
    *,
    searching: TuningOptions,
    wanted: PointOptions,
    report: Annotated[Path | None, "Also write a page of HTML.", OutputFile((".html",))] = None,
    as_json: JsonOption = False,
) -> None:
    """Search for settings that do what is expected for few tokens, over whole chats and offline.

    Part of the replies is held out: every gain is shown on those too, and one that may be chance is warned of.
    """
    projects = list(chats.projects())
    file, expected = chats.expected(projects[0], needed=True)
    if not expected.every:
        raise InputError(file or "--expectations", NOTHING_EXPECTED)
    chosen = chats.candidates(projects[0])
    if len(chosen) > 1:
        raise InputError("--run", "a search is of one system. Name one.")
    trial = trial_of(projects, chosen[0], expected.every, searching.over or ())
    found = searching.found(trial, chats.seed)
    best = found.best if wanted.point is None else found.of(wanted.point)
    compared = _compared(trial, best) if wanted.beside else []
    looked = _looked(trial, best) if wanted.look else []
    if as_json:
        more = {"comparisons": [comparison_json(each) for _, each in compared]} if wanted.beside else {}
        more |= {"effects": [{"chat": chat, **effects_json(told)} for chat, told in looked]} if wanted.look else {}
        print_json({**_json(found, best), **more}, 1)
    else:
        _print(found, best)
        for chat, told in looked:
            print_effects(Screen(), f"{chat or 'no chat'}, {_called(best)}", told)
        for chat, each in compared:
            echo(f"\n{chat or 'no chat'}")
            print_comparison(each)
    say_all([*projects[0].problems, *expected.problems])
    wanted.keep_settings(trial, best)
    wanted.write_notes(trial, best)
    if report is not None:
        write_bytes(report, tuning_page(trial, found, best).encode())


def _called(at: TriedPoint) -> str:
    """What the tables call a point."""
    return f"point {at.number}" if at.number >= 0 else "now"


def _compared(trial: TuningTrial, best: TriedPoint) -> list[tuple[str, Comparison]]:
    """Each chat's name with the comparison of the settings as they are now with the point."""
    runs = candidate_at(trial, {}, "now"), candidate_at(trial, best.point, _called(best))
    every = ((project, asyncio.run(compare_candidates(project, runs))) for project in trial.projects)
    return [(chat_name(project), found) for project, found in every]


def _looked(trial: TuningTrial, best: TriedPoint) -> list[tuple[str, Effects]]:
    """Each chat's name with what the point does to its replies."""
    at, found = candidate_at(trial, best.point, ""), []
    for project in trial.projects:
        simulator = simulator_of(project, candidate_at(trial, {}, "now"))
        asyncio.run(simulator.run_missing())
        told = WholeChat(simulator, trial.expectations).effects(at.settings, at.notes)
        found.append((chat_name(project), told))
    return found


def _print(found: SearchOutcome, best: TriedPoint) -> None:
    console = Screen()
    goals = found.plan.goals
    shown = table(
        figure("point"), fold("settings"),
        *(_words(head) for goal in goals for head in (METRICS[goal].title, "held out")),
        title="the best point, and those that none beats in everything",
    )  # fmt: skip
    points = {each.number: each for each in (found.best, *found.front()) if each is not found.now}
    rows = [("now", found.now), *((str(number), each) for number, each in points.items())]
    cells = (
        (
            number,
            point_words(each.point),
            *(metric_words(part, goal) for goal in goals for part in (each.training, each.held)),
        )
        for number, each in rows[: _SHOWN + 1]
    )
    console.print(filled(shown, cells))
    if found.importance:
        shares = ((label, f"{share:.0%}") for label, share in found.importance.items())
        console.print(filled(table(fold("what was turned"), figure("importance")), shares))
    console.print(f"{plural(len(found.tried), '# point|# points')} run. {_best_words(found)}", markup=False)
    for warning in found.warnings(best):
        console.print(f"Beware: {warning}", markup=False, soft_wrap=True)


def _words(heading: str) -> Column:
    """A column of figures under words of which each stays whole."""
    return Column(heading, justify="right", min_width=max(map(len, heading.split())))


def _best_words(found: SearchOutcome) -> str:
    if found.best is found.now:
        title = METRICS[found.plan.goals[0]].title
        return f"The best: the settings as they are now; no point does more for “{title}”."
    return f"The best: {found.best.number}"


def _json(found: SearchOutcome, best: TriedPoint) -> dict[str, Json]:
    front = {each.number for each in found.front()}
    return {
        "goals": list(found.plan.goals),
        "axes": [{"label": axis.label, "now": axis.now} for axis in found.axes],
        "now": _tried_json(found, found.now),
        "points": [{**_tried_json(found, each), "front": each.number in front} for each in found.tried],
        "best": best.number,
        "importance": dict(found.importance),
        "warnings": list(found.warnings(best)),
    }


def _tried_json(found: SearchOutcome, each: TriedPoint) -> dict[str, Json]:
    return {
        "number": each.number,
        "settings": dict(each.point),
        "training": {goal: each.training.value(goal) for goal in found.plan.goals},
        "held_out": {goal: each.held.value(goal) for goal in found.plan.goals},
        "gains": [_gain_json(found.gain(each, goal)) for goal in found.plan.goals],
    }


def _gain_json(gain: Gain) -> dict[str, Json]:
    def ends(interval: Interval | None) -> Json:
        return None if interval is None else [interval.low, interval.high]

    return {
        **picked(gain, "metric", "training", "held", "warning"),
        "training_interval": ends(gain.training_interval),
        "held_interval": ends(gain.held_interval),
    }
