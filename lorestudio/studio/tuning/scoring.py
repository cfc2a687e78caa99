"""One run of a chat, scored: against what is expected, and by what can be said without it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Final, TypeAlias

from msgspec import Struct, field

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.lifecycle import CancelToken, Progress
from lorestudio.domain.records import replace
from lorestudio.studio.compare.comparing import Candidate, run_candidate
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.timeline import TimelineMaker
from lorestudio.studio.tuning.checking import chat_name
from lorestudio.studio.tuning.expectations import Expectation, judge, shown_swipes
from lorestudio.studio.tuning.gaps import Gap, gaps
from lorestudio.studio.tuning.outcomes import TurnOutcome, turn_outcome
from lorestudio.studio.tuning.scores import METRICS, Scores, score, score_by_labels
from lorestudio.studio.tuning.use import EntryUse, UseReader
from lorestudio.systems.registry import MAIN
from lorestudio.trace.model import Trace

UseJudge: TypeAlias = Callable[[Sequence[TurnOutcome]], Awaitable[tuple[Mapping[Generation, frozenset[int]], str]]]
"""Tells which entries each reply has used, and who says so."""


class ScoredChat(Struct, frozen=True):
    """A chat with one system and its settings. `scores` are against expectations.

    `silver` are the scores against what a model has selected where a run asked one, and `silver_by` says who answered
    in which run, "" where nobody did. `uses` are the entries that went in, the most idle tokens first.
    """

    chat: str
    run: str
    scores: Scores
    uses: tuple[EntryUse, ...] = ()
    gaps: tuple[Gap, ...] = ()
    silver: Scores = field(default_factory=Scores)
    silver_by: str = ""
    used_by: str = ""
    """Which model says what was used, "" where words do."""

    @property
    def dead(self) -> tuple[EntryUse, ...]:
        """Entries that were in several replies and used in none."""
        return tuple(use for use in self.uses if use.dead)


async def score_chat(
    project: Project,
    expectations: Sequence[Expectation],
    chosen: Sequence[Candidate],
    on_progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
    judge_use: UseJudge | None = None,
) -> tuple[ScoredChat, ...]:
    """Run the project's chat with each candidate and score it; offline, as every comparison.

    The silver labels of all are the selections of the first run in which a model was asked. With `judge_use` it says
    what each reply of a run has used, and by whom. Raises what `run_candidate` and `judge_use` raise.
    """
    runs = [(each.label, await run_candidate(project, each, None, on_progress, cancel)) for each in chosen]
    found = scored(project, expectations, runs)
    if judge_use is None:
        return found
    chat = project.chat or Chat()
    reader = UseReader(project.index, MAIN.key_search(project.settings))
    judged = []
    for each, (_, traces) in zip(found, runs, strict=True):
        shown = shown_swipes(chat, tuple(map(turn_outcome, traces)))
        used, by = await judge_use(shown)
        judged.append(replace(each, uses=reader.uses(chat, shown, used), used_by=by))
    return tuple(judged)


def scored(
    project: Project, expectations: Sequence[Expectation], runs: Sequence[tuple[str, Sequence[Trace]]]
) -> tuple[ScoredChat, ...]:
    """As `score_chat`, for runs that were made: each its name, and the traces of the whole chat."""
    chat, index = project.chat or Chat(), project.index
    search = MAIN.key_search(project.settings)
    reader, missing = UseReader(index, search), gaps(chat, index, search)
    constants = frozenset(entry.id for entry in index.entries if entry.constant)
    labels: dict[Generation, frozenset[int]] = {}
    labelled_by = ""
    found = []
    for run, traces in runs:
        outcomes = tuple(map(turn_outcome, traces))
        shown = shown_swipes(chat, outcomes)
        if not labels:
            asked = [each for each in shown if each.ai_calls]
            labels = {Generation(each.message, each.swipe): each.selected for each in asked}
            who = dict.fromkeys(call.source for trace in traces for call in trace.ai_calls if not call.error)
            labelled_by = f"{', '.join(who)} in {run}" if labels else ""
        judged = judge(expectations, chat, chat_name(project), index, outcomes)
        found.append(
            ScoredChat(
                chat_name(project),
                run,
                score(shown, judged, _read_again(project, traces)),
                reader.uses(chat, shown),
                missing,
                score_by_labels(shown, labels, constants),
                labelled_by,
            )
        )
    return tuple(found)


def _read_again(project: Project, traces: Sequence[Trace]) -> dict[Generation, int]:
    """For each reply the tokens that lore made a prompt cache read again, as the timeline has them."""
    by_turn = {Generation(trace.turn.message, trace.turn.swipe): trace for trace in traces}
    maker = TimelineMaker(project.chat, tuple(by_turn), project.counter, project.setup)
    turns = maker.turns(by_turn, maker.generations)
    return {turn.generation: turn.cache.by_lore for turn in turns if turn.cache is not None}


def pooled(scores: Iterable[Scores]) -> Scores:
    """Several chats as one."""
    return reduce(Scores.__add__, scores, Scores())


def value_words(value: float, unit: str) -> str:
    """A figure of this unit, "" for a share: `83 %`, `1,204`, `2.4`."""
    if not unit:
        return f"{100 * value:.0f} %"
    return f"{value:,.0f}" if value == 0 or abs(value) >= _WHOLE_FROM else f"{value:,.1f}"


def metric_words(scores: Scores, name: str, seed: int = 0) -> str:
    """A metric with its interval: `83 % (71 to 92)`; "" where there is none."""
    value, unit = scores.value(name), METRICS[name].unit
    if value is None:
        return ""
    interval = scores.interval(name, seed)
    if interval is None:
        return value_words(value, unit)
    low, high = (value_words(each, unit).removesuffix(" %") for each in (interval.low, interval.high))
    return f"{value_words(value, unit)} ({low} to {high})"


_WHOLE_FROM: Final = 20
"""Larger figures are told without decimals."""
