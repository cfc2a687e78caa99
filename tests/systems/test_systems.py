"""Replaying and comparing with every system, on the demo."""

import asyncio

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.studio.compare.comparison import candidate, compare_candidates
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.ranges import generations
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import KINDS, kind_of, system_of
from lorestudio.trace.model import RunOutcome


@pytest.fixture(scope="module")
def project():
    return demo_project()


@pytest.mark.parametrize("name", KINDS)
def test_every_system_replays_the_demo(project, name, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    reports = []
    simulator = Simulator(project, system_of(project.scene(), kind_of(name)))
    asyncio.run(simulator.run_missing(reports.append))
    traces = asyncio.run(simulator.replay())
    assert [(trace.turn.message, trace.turn.swipe) for trace in traces] == [
        (each.message, each.swipe) for each in generations(project.chat)
    ]
    assert {trace.system for trace in traces} == {name}
    assert {trace.mode for trace in traces} <= kind_of(name).words.modes, "so that a redacted report tells it"
    # The demo's chat was never recapped and no facts were drawn out of it, so the memories have nothing to tell.
    assert any(trace.injections for trace in traces) is (name not in {"recap", "facts"})
    assert all(trace.outcome is not RunOutcome.FAILED for trace in traces)
    assert (reports[-1].done, reports[-1].total) == (len(traces), len(traces))


def test_systems_and_settings_are_compared(project, tmp_path):
    tight = tmp_path / "tight.json"
    tight.write_text('{"totalTokenBudget": 200}')
    chosen = [candidate("deeplore"), candidate("context-window"), candidate(f"context-window:{tight}")]
    found = asyncio.run(compare_candidates(project, chosen))
    assert found.labels == ("deeplore", "context-window", f"context-window:{tight}")
    assert len(found.turns) == len(generations(project.chat))
    assert found.totals[2].most_tokens <= 200 < found.totals[1].most_tokens
    assert found.agreement[0][0] == 1
    assert 0 < found.agreement[0][1] < 1


def test_what_cannot_be_compared_is_said(project):
    with pytest.raises(InputError, match="at least two runs"):
        asyncio.run(compare_candidates(project, [candidate("deeplore")]))
    with pytest.raises(InputError, match="there is no system “deep”"):
        candidate("deep")


def test_a_word_list_that_cannot_be_read_is_named(project, tmp_path):
    kind = kind_of("context-window")
    with pytest.raises(InputError, match=r"none\.txt cannot be read"):
        kind.make(ContextWindowSettings(word_list=str(tmp_path / "none.txt")), project.scene())
    (tmp_path / "words.txt").write_text("\n")
    with pytest.raises(InputError, match="holds no words"):
        kind.make(ContextWindowSettings(word_list=str(tmp_path / "words.txt")), project.scene())
    (tmp_path / "words.txt").write_text("lantern\nfog\n")
    system = kind.make(ContextWindowSettings(word_list=str(tmp_path / "words.txt")), project.scene())
    trace = asyncio.run(Simulator(project, system).replay())[-1]
    assert trace.facts["counter"] == "word list words.txt"
