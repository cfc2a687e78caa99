from __future__ import annotations

import asyncio
import threading

import pytest

from lorestudio.domain.lifecycle import Cancelled, CancelToken, Progress
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator


def test_a_token_can_be_cancelled_from_another_thread_while_a_replay_runs(demo: Project) -> None:
    simulator, token, far_enough = Simulator(demo), CancelToken(), threading.Event()
    stopper = threading.Thread(target=lambda: (far_enough.wait(10), token.cancel()))
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
