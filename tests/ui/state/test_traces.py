"""How often entries fired: run by run, also where a run is made again or goes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.studio.compare.causes import RunSide
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Preview
from lorestudio.trace.model import Trace
from lorestudio.trace.text import turn_words
from lorestudio.trace.timeline import NEVER, Fired
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.state.replay_worker import MOST_EARLIER, MOST_SIMULATORS, Replay, WantedReplay
from lorestudio.ui.state.session import Session
from lorestudio.ui.state.traces import FiringCounts
from tests.ui.worlds import BELL, CROWN, SKARN, make_project, make_trace

FIRST, SECOND = Generation(2), Generation(5)


def test_runs_are_counted_once_and_made_again_they_count_anew() -> None:
    counts = FiringCounts()
    traces = {FIRST: make_trace(2), SECOND: make_trace(5)}
    assert counts.take(traces, None)
    assert len(counts._runs) == 2
    assert counts.of(SKARN) == Fired(2, 2)
    assert counts.of(CROWN) == Fired(2, 0)  # it does not fit
    assert counts.of(BELL) == NEVER
    assert not counts.take(traces, (FIRST,))

    nothing = replace(make_trace(5), stages=(), injections=())
    assert counts.take(traces | {SECOND: nothing}, (SECOND,))
    assert (counts.of(SKARN), counts.of(CROWN), len(counts._runs)) == (Fired(1, 1), Fired(1, 0), 2)
    assert counts.take({SECOND: nothing}, None)
    assert (counts.of(SKARN), len(counts._runs), dict(counts.injected())) == (NEVER, 1, {})


def test_another_vault_begins_at_nothing() -> None:
    counts = FiringCounts()
    counts.take({FIRST: make_trace(2)}, None)
    counts.clear()
    assert (len(counts._runs), counts.of(SKARN)) == (0, NEVER)


def test_a_run_that_is_not_as_chosen_now_is_compared_without_its_inputs(window) -> None:
    runs = window.session.runs
    known = runs.side(SECOND, "Five")
    assert known is not None
    assert known.trace is runs.trace(SECOND)
    other = make_trace(5)
    runs.traces = {SECOND: other}
    assert runs.side(SECOND, "Five") == RunSide("Five", other)
    assert runs.side(SECOND) == RunSide(turn_words(other.turn), other)
    assert runs.side(FIRST) is None
    assert runs.side(None) is None


def test_a_preview_with_other_numbers_of_entries_is_not_shown(make_session: Callable[..., Session]) -> None:
    session = make_session(make_project(), replay=False)
    runs, project = session.runs, session.project
    assert project is not None
    told: list[bool] = []
    session.preview_changed.connect(lambda: told.append(True))
    fewer = replace(project.index, entries=project.index.entries[1:])
    fits, shifted = (cast("Preview", SimpleNamespace(generation=FIRST, index=at)) for at in (project.index, fewer))
    for preview, shown in ((shifted, None), (fits, fits), (fits, fits), (shifted, None), (None, None)):
        runs.show_preview(preview)
        assert runs.preview_of(FIRST) is shown
    assert len(told) == 2
    session.project = None
    runs.show_preview(fits)
    assert runs.preview_of(FIRST) is None


def test_only_some_simulators_are_kept_those_used_last(make_session: Callable[..., Session]) -> None:
    runs = make_session(replay=False).runs
    choices = [RunChoice(system=f"system {at}") for at in range(MOST_SIMULATORS + 2)]

    def remember(choice: RunChoice, simulator: object) -> None:
        runs.remember(Replay(WantedReplay(choice), {}, simulator=simulator))

    for at, choice in enumerate(choices):
        remember(choice, at)
        if at == 1:
            remember(choices[0], "again")
    assert list(runs._simulators) == choices[-MOST_SIMULATORS:]
    remember(choices[-2], "newer")
    assert list(runs._simulators)[-2:] == [choices[-1], choices[-2]]
    assert len(runs._simulators) == MOST_SIMULATORS


def test_before_a_change_is_the_newest_other_run_of_the_same_system(make_session: Callable[..., Session]) -> None:
    session = make_session(replay=False)
    runs = session.runs
    oldest, older, newer, foreign, now = (
        replace(make_trace(2), system=system) for system in (*["deeplore"] * 3, "worldinfo", "deeplore")
    )

    def ran(choice: RunChoice, trace: Trace) -> None:
        simulator = cast("Simulator", SimpleNamespace(traces={FIRST: trace}))
        runs.remember(Replay(WantedReplay(choice), {}, simulator=simulator))

    for name, trace in (("one", older), ("two", newer), ("three", foreign)):
        ran(RunChoice(system=name), trace)
    ran(session.choice.effective, now)
    runs._earlier = (cast("Simulator", SimpleNamespace(traces={FIRST: oldest})),)
    runs.traces = TraceBook({FIRST: now})
    found = [runs.before_change(FIRST)]
    for name in ("two", "one"):
        runs.drop(lambda choice, name=name: choice.system == name)
        found.append(runs.before_change(FIRST))
    assert [id(each) for each in found] == [id(each) for each in (newer, older, oldest)]
    assert runs.before_change(SECOND) is None
    runs._earlier = (cast("Simulator", SimpleNamespace(traces={FIRST: replace(oldest, index_size=0)})), *runs._earlier)
    assert runs.before_change(FIRST) is None  # the chat was open before its vault
    runs.traces = TraceBook()
    assert runs.before_change(FIRST) is None  # nothing stands beside what was not run


def test_before_a_change_of_the_settings_is_the_newest_of_the_runs_until_then(
    make_session: Callable[..., Session], tmp_path: Path
) -> None:
    session = make_session(make_project(tmp_path), replay=False)
    runs, project = session.runs, session.project
    assert project is not None
    for budget, count in ((1000, MOST_EARLIER + 1), (2000, 1)):
        for number in range(count):
            newest = make_trace(2)
            simulator = cast("Simulator", SimpleNamespace(traces={FIRST: newest}))
            runs.remember(Replay(WantedReplay(RunChoice(system=f"{budget} {number}")), {}, simulator=simulator))
        settings = project.settings.model_copy(update={"max_tokens_budget": budget})
        session.set_project(replace(project, settings=settings))
        runs.traces = TraceBook({FIRST: make_trace(2)})
        assert runs.before_change(FIRST) is newest
