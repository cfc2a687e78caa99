"""Everything that a run of a system beside DeepLore was made of, held so that it can be run with a part exchanged."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from lorestudio.domain.chat import Generation
from lorestudio.settings.declaration import Section
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.offline_systems import offline
from lorestudio.studio.replay.system_simulator import SystemSimulator, decided_trace, moment
from lorestudio.systems.base import Moment, System
from lorestudio.systems.contextwindow.system import ContextWindowSystem
from lorestudio.systems.facts.system import FactsSystem
from lorestudio.systems.hybrid.system import HybridSystem
from lorestudio.systems.recap.system import RecapSystem
from lorestudio.systems.registry import SystemKind, kind_of
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.trace.model import Trace


@dataclass(frozen=True, slots=True)
class SystemInputs:
    """`system` is as it decided, with what it knows beside the moment; with other `settings` it is made anew for
    `project`. `state` is what the generation before left.
    """

    kind: SystemKind
    settings: Section
    project: Project = field(repr=False)
    system: System = field(repr=False)
    moment: Moment = field(repr=False)
    state: object = None

    @classmethod
    def of(cls, simulator: SystemSimulator, generation: Generation) -> SystemInputs | None:
        """Those of a generation that was run, None for a system that the studio does not know.

        Raises ValueError for a generation that the chat does not have.
        """
        settings = settings_of(simulator.system)
        if settings is None:
            return None
        place = simulator.place(generation)
        now = moment(simulator.project, place, generation, simulator.inputs[place])
        kind = kind_of(simulator.system.name)
        return cls(kind, settings, simulator.project, simulator.system, now, simulator.state_before(generation))

    def run(self) -> Trace:
        """The trace of these inputs; nothing is kept, and nobody is asked for a vector. For a worker.

        Raises InputError where settings cannot be used.
        """
        made = self.system
        if settings_of(made) != self.settings:
            made = self.kind.make(self.settings, self.project)
        return asyncio.run(decided_trace(offline(made, self.system).system, self.moment, self.state))


def settings_of(system: System) -> Section | None:
    """The settings that a system decides by, None for one that the studio does not know."""
    known = HybridSystem | ContextWindowSystem | WorldInfoSystem | FactsSystem | RecapSystem
    return system.settings if isinstance(system, known) else None
