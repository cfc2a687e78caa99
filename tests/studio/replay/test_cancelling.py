from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from lorestudio.domain.lifecycle import Cancelled, CancelToken, Progress
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of, system_of
from tests.conftest import LaterStop


def test_a_token_can_be_cancelled_from_another_thread_while_a_replay_runs(demo: Project) -> None:
    simulator, token, far_enough = Simulator(demo), CancelToken(), threading.Event()
    stopper = threading.Thread(target=lambda: (far_enough.wait(60), token.cancel()))
    stopper.start()

    def report(progress: Progress) -> None:
        if progress.done == 3:
            far_enough.set()
            stopper.join()

    with pytest.raises(Cancelled):
        asyncio.run(simulator.run_missing(report, token))
    assert token.cancelled
    assert len(simulator.traces) == 3


def test_a_replay_goes_on_in_another_event_loop(demo: Project, replayed: Simulator) -> None:
    simulator = Simulator(demo)
    asyncio.run(simulator.generate(simulator.generations[4]))
    traces = asyncio.run(simulator.replay())
    assert [trace.injections for trace in traces] == [trace.injections for trace in replayed.traces.values()]


@pytest.mark.parametrize("name", ["deeplore", "context-window", "hybrid", "world-info"])
def test_a_generation_is_stopped_while_what_finds_keys_is_made_and_nothing_of_it_is_kept(
    name: str, tmp_path: Path
) -> None:
    notes = 40
    for number in range(notes):
        text = f"---\ntags: [lorebook]\nkeys: [key{number}]\n---\nText {number}.\n"
        (tmp_path / f"{number}.md").write_text(text, "utf-8")
    project = open_project([tmp_path])
    simulator = Simulator(project, system_of(project.scene(), kind_of(name)))
    never = LaterStop()
    asyncio.run(simulator.run_missing(cancel=never))
    assert never.looks > notes
    for after in (1, notes // 2):
        stopped = Simulator(project, system_of(project.scene(), kind_of(name)))
        with pytest.raises(Cancelled):
            asyncio.run(stopped.run_missing(cancel=LaterStop(after)))
        assert not stopped.traces
        asyncio.run(stopped.run_missing())
        assert list(stopped.traces) == list(simulator.traces)
