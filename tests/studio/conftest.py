"""The demo, replayed once for all tests of this folder."""

from __future__ import annotations

import asyncio

import pytest

from lorestudio.studio.project.project import Project, demo_project
from lorestudio.studio.replay.simulator import Simulator


@pytest.fixture(scope="session")
def demo() -> Project:
    """The project that `lorestudio demo` opens."""
    return demo_project()


@pytest.fixture(scope="session")
def replayed(demo: Project) -> Simulator:
    """A simulator with all traces of the demo."""
    simulator = Simulator(demo)
    asyncio.run(simulator.replay())
    return simulator
