"""Checking a project's expectations over whole chats: what is met, what broke the rest, and what was met before."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import picked
from lorestudio.exchange.problems import InputError
from lorestudio.studio.compare.comparison import Candidate, run_candidate
from lorestudio.studio.project.project import Project
from lorestudio.studio.tuning.expectations import Expectation, Judged, JudgedTurn, Should, judge, turn_outcome
from lorestudio.systems.registry import kind_of
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import Trace
from lorestudio.trace.wording import first_few, plural


class Break(Struct, frozen=True):
    """A reply in which an expectation is not met: the entry that tells most, the stage that decided, and why."""

    generation: Generation
    entry: int
    title: str
    stage: str
    why: str


class CheckedExpectation(Struct, frozen=True):
    """An expectation and what a run made of it. `replies` is in how many it speaks of something."""

    judged: Judged
    breaks: tuple[Break, ...] = ()

    @property
    def expectation(self) -> Expectation:
        """What is expected."""
        return self.judged.expectation

    @property
    def replies(self) -> int:
        """Of how many replies it speaks."""
        return len(self.judged.turns)

    @property
    def verdict(self) -> str:
        """What became of it, in a few words."""
        if self.judged.problem:
            return "cannot be judged"
        if not self.replies:
            return "nothing to judge"
        if self.breaks:
            return f"broken in {len(self.breaks)} of {plural(self.replies, '# reply|# replies')}"
        return f"met in {plural(self.replies, '# reply|# replies')}"

    @property
    def lines(self) -> tuple[str, ...]:
        """Each reply in which it is not met, and why; the entry is named where the expectation speaks of several."""
        of_one = len(frozenset[int]().union(*self.judged.notes)) == 1
        return tuple(
            f"#{each.generation.message}: {each.why if of_one else f'{each.title}: {each.why}'}" for each in self.breaks
        )


class CheckedChat(Struct, frozen=True):
    """All expectations over one chat with one system and its settings."""

    chat: str
    run: str
    every: tuple[CheckedExpectation, ...]

    @property
    def failed(self) -> tuple[CheckedExpectation, ...]:
        """Those that are broken or could not be judged."""
        return tuple(each for each in self.every if not each.judged.met)


async def check(project: Project, expectations: Sequence[Expectation], candidate: Candidate) -> CheckedChat:
    """Run the project's chat and judge the expectations; offline, as every comparison.

    Raises InputError and VaultError.
    """
    traces = await run_candidate(project, candidate)
    return checked(project.read_for(kind_of(candidate.system)), expectations, candidate.label, traces.values())


def checked(project: Project, expectations: Sequence[Expectation], run: str, traces: Collection[Trace]) -> CheckedChat:
    """Judge the expectations by the traces of a whole chat, which are gone through twice."""
    chat = project.chat or Chat()
    name = chat_name(project)
    judged = judge(expectations, chat, name, project.index, [turn_outcome(trace) for trace in traces])
    wanted = {turn.generation for each in judged for turn in each.broken}
    ways: dict[Generation, Journeys] = {}
    for trace in traces if wanted else ():
        place = trace.turn.generation
        if place in wanted:
            ways[place] = Journeys(trace)
    every, known = [], {entry.id: entry.title for entry in project.index.entries}
    for each in judged:
        breaks = tuple(_break(each.expectation, turn, ways[turn.generation], known) for turn in each.broken)
        every.append(CheckedExpectation(each, breaks))
    return CheckedChat(name, run, tuple(every))


def chat_name(project: Project) -> str:
    """What a project's chat is called in expectations: its file without the ending."""
    return project.chat_path.stem if project.chat_path is not None else ""


_NO_XML: Final = r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_NAMED: Final = 4
_TOO_MUCH: Final = frozenset({Should.OUT, Should.APART, Should.BEFORE, Should.WITHIN})


def _break(expectation: Expectation, turn: JudgedTurn, journeys: Journeys, known: Mapping[int, str]) -> Break:
    """`known` are the titles of the vault's entries: a trace names only those that a stage decided about."""
    trace = journeys.trace
    names = {each: known.get(each) or trace.title(each) for each in sorted(turn.entries)}
    entry = min(names)
    title, fate = names[entry], journeys.fate(entry)
    if expectation.should not in _TOO_MUCH:
        return Break(turn.generation, entry, title, fate.stage, journeys.told(entry).sentence)
    if expectation.should is Should.WITHIN:
        taken = sum(each.tokens for each in trace.injections if each.entry in turn.entries)
        why = f"It takes {plural(taken, '# token|# tokens')} of {expectation.tokens:,}."
        titles = first_few([*names.values()], _NAMED)
        return Break(turn.generation, entry, titles, fate.stage, why)
    way = journeys.came_in(entry)
    return Break(turn.generation, entry, title, fate.stage, way.sentence if way is not None else "It went in.")


# ---- what was met before ---------------------------------------------------------------------------------------------


def key_of(run: CheckedChat, each: CheckedExpectation) -> str:
    """By what an expectation is found in another check: chat, run, and its sentence as the file says it."""
    return f"{run.chat} | {run.run} | {each.expectation.sentence}"


def baseline_of(document: Json, source: str) -> frozenset[str]:
    """The keys of what was met in an earlier check, from its JSON. Raises InputError for anything else."""
    runs = document.get("checks") if isinstance(document, Mapping) else None
    if not isinstance(runs, list):
        raise InputError(source, "this is no report of `lorestudio check --json`: there is no list of “checks”.")
    met = set()
    for run in runs:
        items = run.get("expectations") if isinstance(run, Mapping) else None
        for item in items if isinstance(items, list) else ():
            if isinstance(item, Mapping) and item.get("met") is True:
                met.add(str(item.get("key")))
    return frozenset(met)


def regressions(runs: Sequence[CheckedChat], baseline: frozenset[str]) -> tuple[str, ...]:
    """What was met then and is not now, by its keys."""
    return tuple(key for run in runs for each in run.failed if (key := key_of(run, each)) in baseline)


def not_looked_at(runs: Sequence[CheckedChat], baseline: frozenset[str]) -> tuple[str, ...]:
    """What was met then and is checked no more, by its keys: another chat or run, another wording, or unreadable."""
    return tuple(sorted(baseline.difference(key_of(run, each) for run in runs for each in run.every)))


# ---- reports --------------------------------------------------------------------------------------------------------


def as_json(runs: Sequence[CheckedChat], problems: Sequence[str], regressed: Sequence[str] = ()) -> dict[str, Json]:
    """The checks as data; `--baseline` reads it again."""
    return {
        "checks": [
            {
                **picked(run, "chat", "run"),
                "expectations": [
                    {
                        "key": key_of(run, each),
                        "expectation": each.judged.called.sentence,
                        "line": each.expectation.line,
                        "met": each.judged.met,
                        "verdict": each.verdict,
                        "problem": each.judged.problem,
                        "replies": each.replies,
                        "breaks": [
                            {
                                "reply": item.generation.message,
                                "swipe": item.generation.swipe,
                                "entry": item.title,
                                **picked(item, "stage", "why"),
                            }
                            for item in each.breaks
                        ],
                    }
                    for each in run.every
                ],
            }
            for run in runs
        ],
        "problems": list(problems),
        "regressions": list(regressed),
    }


def as_junit(runs: Sequence[CheckedChat]) -> bytes:
    """The checks as JUnit XML, which continuous integration shows: a suite for each chat and run."""
    from xml.etree import ElementTree as ET  # noqa: PLC0415  # the window begins without it

    suites = ET.Element("testsuites", name="lorestudio check")
    for run in runs:
        suite = ET.SubElement(
            suites,
            "testsuite",
            name=f"{run.chat} ({run.run})",
            tests=str(len(run.every)),
            failures=str(sum(bool(each.breaks) for each in run.every)),
            errors=str(sum(bool(each.judged.problem) for each in run.every)),
            skipped=str(sum(not each.replies and not each.judged.problem for each in run.every)),
        )
        for each in run.every:
            case = ET.SubElement(suite, "testcase", classname=run.chat, name=each.judged.called.sentence)
            if each.judged.problem:
                ET.SubElement(case, "error", message=each.judged.problem)
            elif each.breaks:
                failure = ET.SubElement(case, "failure", message=each.verdict)
                failure.text = "\n".join(each.lines)
            elif not each.replies:
                ET.SubElement(case, "skipped", message="It speaks of no reply of this chat.")
    ET.indent(suites)
    written: str = ET.tostring(suites, encoding="unicode", xml_declaration=True)
    return re.sub(_NO_XML, "\N{REPLACEMENT CHARACTER}", written).encode()  # a title may hold what XML cannot
