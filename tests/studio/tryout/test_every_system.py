"""Trying out works for every system that is registered, or the system says in a sentence why it makes no sense."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.settings.sections import differences
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.bench import Bench
from lorestudio.studio.tryout.control_trials import Trials
from lorestudio.studio.tryout.preview import HeldRuns, Previewer
from lorestudio.studio.tryout.why_not import WhyNotFinder, conclusion
from lorestudio.systems.registry import KINDS, system_of
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import token_limit
from lorestudio.trace.scores import Bm25Figures
from tests.studio.previews import TEXTS, note, project_of

LAST = Generation(5)
GATE = ("v", "Gate.md")


@pytest.fixture(scope="module", params=KINDS)
def simulator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    kind, project = KINDS[request.param], project_of()
    named = {each: str(tmp_path_factory.mktemp("store") / "none.sqlite") for each in kind.settings.model_fields}
    settings = kind.settings.model_validate({name: path for name, path in named.items() if name == "store"})
    made = system_of(project.scene(), kind, project.settings if type(project.settings) is kind.settings else settings)
    simulator = Simulator(project, made)
    asyncio.run(simulator.replay())
    return simulator


def test_unsaved_texts_and_settings(simulator: Simulator) -> None:
    tried = Previewer(simulator, LAST)
    assert tried.before is simulator.traces[LAST]
    made = tried.preview([note("Gate.md", TEXTS["Gate.md"].replace("portcullis", "lamp"))])
    (edited,) = made.notes
    assert edited.outcome is not None
    assert edited.outcome.sentence
    goes_in = any(made.trace.entries[each.entry].filename == "Gate.md" for each in made.trace.injections)
    assert edited.outcome.goes_in is goes_in
    same = tried.preview((), settings=simulator.system.settings)
    assert (same.trace.injections, same.trace.prompt) == (tried.before.injections, tried.before.prompt)
    assert same.trace.digests["inputs"] != tried.before.digests["inputs"]


def test_any_text_alone_and_behind_the_chat(simulator: Simulator) -> None:
    kind, bench = simulator.system.kind, Bench(simulator)
    for append in (False, True):
        result = bench.test("By the portcullis.", append=append)
        assert {row.entry for row in result.injected} == {each.entry for each in result.trace.injections}
        assert result.trace.system == kind.name
        assert (kind.no_text in result.remarks) is bool(kind.no_text)


def test_what_would_bring_a_note_in(simulator: Simulator) -> None:
    """Every answer is a run of the system: applying it brings the note in."""
    found = WhyNotFinder(simulator, LAST).find(GATE)
    assert found.complete
    assert conclusion(found)
    for answer in found.answers:
        if answer.change.settings and answer.holds.applies:
            settings = answer.change.set_in(simulator.system.settings)
            changed = simulator.system.with_settings(settings, simulator.project.scene())
            again = Simulator(simulator.project, changed)
            trace = asyncio.run(again.generate(LAST))
            assert any(trace.entries[each.entry].filename == "Gate.md" for each in trace.injections)


def test_what_later_stages_would_have_done(simulator: Simulator) -> None:
    runs, kind = HeldRuns(simulator, LAST), simulator.system.kind
    trace = simulator.traces[LAST]
    asked = {entry.id: runs.of(entry.id) for entry in simulator.project.index.entries}
    assert runs.not_held == kind.not_held
    if kind.not_held:
        assert kind.not_held.endswith(".")
        assert set(asked.values()) == {None}
    else:
        never = [entry for entry in asked if Journeys(trace).fate(entry).state == "never"]
        assert never
        assert all(asked[entry] is not None for entry in never)


def test_a_choice_of_the_chat(simulator: Simulator) -> None:
    trials = Trials(simulator, LAST)
    same = trials.run(lambda controls: controls)
    assert not trials.effect(trials.before, same)


def test_the_budget_or_why_there_is_none(simulator: Simulator) -> None:
    """A budget that is set is the limit of the run with it."""
    kind = simulator.system.kind
    assert bool(kind.budget) is not bool(kind.no_budget)
    assert not kind.no_budget or kind.no_budget.endswith(".")
    if kind.budget:
        settings = kind.with_budget(simulator.system.settings, 321)
        assert differences(simulator.system.settings, settings)
        limit = token_limit(Previewer(simulator, LAST).preview((), settings=settings).trace)
        assert limit is not None
        assert limit.maximum == 321


def test_a_score_is_explained_or_not(simulator: Simulator) -> None:
    run = Rerun.of(simulator, LAST)
    figures = run.system.explain_score(run.moment, run.state, run.before, 0)
    assert figures is None or isinstance(figures, Bm25Figures)


def test_a_note_is_made_a_constant_and_no_more_one(simulator: Simulator, tmp_path: Path) -> None:
    """By every system that chooses from notes: recaps and facts are none."""
    system, gate = simulator.system, tmp_path / GATE[1]
    chooses = system.kind.name not in {"recap", "facts"}
    for front in ("", "constant: true\n"):
        gate.write_text(f"---\ntags: [lorebook]\nkeys: [portcullis]\n{front}---\nShut.\n", encoding="utf-8")
        project = replace(open_project([tmp_path]), chat=simulator.project.chat)
        ran = Simulator(project, system.with_settings(system.settings, project.scene()))
        asyncio.run(ran.replay())
        found = WhyNotFinder(ran, LAST).find((tmp_path.name, gate.name))
        assert found.keeps_out is (bool(front) and chooses)
        assert ("constant" in {each.change.code for each in found.answers}) is chooses
