"""Simulators with somebody who answers, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from lorestudio.settings.declaration import Section
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import System, Watcher
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.trace.model import Trace


def answered(
    project: Project,
    answers: Any = None,
    watcher: Watcher | None = None,
    model: str = "",
    earlier: Sequence[Simulator] = (),
) -> Simulator:
    """The project's own system, with these answers."""
    return Simulator(project, system_of(project.scene(answers, model)), watcher, earlier)


def system(name: str, project: Project, settings: Section | None = None) -> System:
    """A system by its name, with its defaults where no settings are given."""
    return system_of(project.scene(), kind_of(name), settings)


def replayed_with(project: Project, decides: System) -> tuple[Trace, ...]:
    """The traces of all generations of the project's chat, in order."""
    return asyncio.run(Simulator(project, decides).replay())


def reused(simulator: Simulator) -> int:
    """How many of the generations done were not run by this simulator, because they were known."""
    return len(simulator.traces) - simulator.ran
