"""A generation that was run, held so that it can be run again with parts exchanged.

Everything else stays: same chat, same state before it, same seed, same answers. No provider and no person is asked, and
the simulator's own traces and states stay what they are.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from lorestudio.domain.chat import Generation, Message
from lorestudio.domain.lifecycle import CancelToken, stoppable
from lorestudio.domain.records import Terse, replace
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.settings.declaration import Section
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator, decided_trace
from lorestudio.systems.base import INPUTS, Given, Moment, Offline, State, StopBetweenStages, System
from lorestudio.trace.model import Trace


def trace_of(traces: Mapping[Generation, Trace], generation: Generation) -> Trace:
    """The trace of a generation. Raises ValueError for one that was not run."""
    trace = traces.get(generation)
    if trace is None:
        message = f"Reply #{generation.message} with swipe {generation.swipe + 1} has not been run yet."
        raise ValueError(message)
    return trace


class Ran(Struct, frozen=True):
    """What running again came to. `answers` are sentences on where a model's answers came from, one a question;
    `lacks` are sentences on what the run lacked because nobody is asked.
    """

    trace: Trace
    answers: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


class Rerun(Terse, frozen=True):
    """What it takes to run a generation again, in any thread.

    `before` is its trace; `system` decided on `moment`, beginning from what `read_state` gives. `recorded` are answers
    of a model that were read already; other questions fail, except where the stand-in answers anyway. `known` is the
    system that the chat was run with, whose vectors are taken over, where `system` is another one.
    """

    unprinted = ("before", "project", "system", "moment", "read_state", "recorded", "known")

    generation: Generation
    before: Trace
    project: Project
    system: System
    moment: Moment
    read_state: Callable[[], State] = lambda: None
    recorded: RecordedAnswers | None = None
    known: System | None = None

    @classmethod
    def of(cls, simulator: Simulator, generation: Generation, recorded: RecordedAnswers | None = None) -> Rerun:
        """Taken from a simulator at once. Raises ValueError for a generation that was not run."""
        return cls(
            generation,
            trace_of(simulator.traces, generation),
            simulator.project,
            simulator.decider(generation),
            simulator.moment(generation),
            simulator.later_state_before(generation),
            recorded,
        )

    @property
    def state(self) -> State:
        """The state that the generation begins with; putting it together may take a moment."""
        return self.read_state()

    def at(self, **parts: Any) -> Rerun:  # noqa: ANN401  # fields of a moment
        """The same at a moment that has these `parts`."""
        return replace(self, moment=replace(self.moment, **parts))

    def begun_from(self, state: State) -> Rerun:
        """The same, beginning from another state."""
        return replace(self, read_state=lambda: state)

    def decided_by(self, **fields: Any) -> Rerun:  # noqa: ANN401  # fields of the system
        """The same by the system with these `fields` changed."""
        return replace(self, system=self.system.changed(**fields))

    def continued(self, begun: Message) -> Rerun:
        """The same for a reply that goes on: what there is of it is the last message that is read."""
        moment = self.moment
        return self.at(chat=(*moment.chat, begun), positions=(*moment.numbers, self.generation.message))

    def with_settings(self, settings: Section) -> Rerun:
        """The same with other settings of the system. Raises InputError where one of them cannot be used."""
        if settings == self.system.settings:
            return self
        changed = self.system.with_settings(settings, self.project.scene())
        return replace(self, system=changed, known=self.known or self.system)

    def with_project(self, project: Project, settings: Section) -> Rerun:
        """The same over the entries of this project, with these settings of the system. Raises InputError as above."""
        project = project.read_for(self.system.kind)
        made = replace(self.at(index=project.index), project=project)
        if project.books is self.project.books:
            return made.with_settings(settings)
        changed = self.system.with_settings(settings, project.scene())  # one that scans lorebooks holds them
        return replace(made, system=changed, known=self.known or self.system)

    def offline(self) -> Offline:
        """The system for a run that asks nobody; each is for one run, or for one replay."""
        return self.system.offline(Given(self.before, self.recorded), self.known or self.system)

    def named(self, difference: str) -> Rerun:
        """The same under another digest of its inputs, so that its trace is never taken for that of a real run."""
        digests = self.moment.digests
        changed = hashlib.sha256(f"{digests.get(INPUTS, '')} {difference}".encode()).hexdigest()
        return self.at(digests={**digests, INPUTS: changed})

    def run(self, stop: CancelToken | StopBetweenStages | None = None) -> Ran:
        """Run it; nothing is kept.

        For a worker thread, since it may take more than a moment. Raises Cancelled between two stages after a request
        to stop.
        """
        watcher = stop if isinstance(stop, StopBetweenStages) else StopBetweenStages(stop or CancelToken())
        watcher.look()
        offline = self.offline()
        with stoppable(watcher.token):
            trace = asyncio.run(decided_trace(offline.system, replace(self.moment, watcher=watcher), self.state))
        return Ran(trace, offline.answers(), offline.lacks())
