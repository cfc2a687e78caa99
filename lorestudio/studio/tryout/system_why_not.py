"""Why an entry did not go in where a system beside DeepLore decides, and the single changes that bring it in.

They are found by running the system, as `studio.tryout.why_not` does with DeepLore's engine. Nothing is written and no
provider is asked: where a change would need a vector that nobody has made, it is left out.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.offline_systems import OfflineSystem, offline
from lorestudio.studio.replay.rerun import trace_of
from lorestudio.studio.replay.system_simulator import SystemSimulator
from lorestudio.studio.tryout.project_changes import ProjectChanges
from lorestudio.studio.tryout.what_if_runs import Ran
from lorestudio.studio.tryout.why_not_answers import WhyNot
from lorestudio.studio.tryout.why_not_trying import WENT_IN, Report, Search, numbered
from lorestudio.systems.changes import Change, Part
from lorestudio.systems.context import StopBetweenStages
from lorestudio.systems.ideas import SystemSituation, system_options
from lorestudio.systems.registry import SystemKind
from lorestudio.trace.diff import Key
from lorestudio.trace.journey import TAKES_NO_PART, Journeys
from lorestudio.trace.model import Trace

_WORD: Final = re.compile(r"[^\W\d_][\w'-]{3,}")
_COMMON: Final = 0.2
"""A word that occurs in a larger share of the messages brings the note in all the time."""

_LOOKED_AT: Final = 4
"""Words of so many of the newest messages are offered as keys."""


class SystemRuns:
    """Runs of one generation with a single change, by a system. Raises ValueError for a generation that was not run."""

    def __init__(self, simulator: SystemSimulator, generation: Generation, kind: SystemKind, settings: Section) -> None:
        self.trace = trace_of(simulator.traces, generation)
        self.generation, self.kind, self.settings = generation, kind, settings
        self.changes = ProjectChanges(simulator.project)
        self._place = simulator.place(generation)
        self._state = simulator.state_before(generation)
        self._before = {key: simulator.traces[key] for key in simulator.generations[: self._place]}
        self._known = simulator.system

    @property
    def replies(self) -> int:
        """How many generations of the chat come before this one."""
        return len(self._before)

    def alone(self, change: Change, stop: StopBetweenStages) -> Ran:
        """This one reply with the change, from the state that the real chat left."""
        stop.look()
        project, made = self._made(change)
        simulator = SystemSimulator(project, made.system)
        trace = asyncio.run(simulator.decide_alone(self.generation, self._state))
        return Ran(change, project, trace, self._lacks(trace, made))

    def replayed(self, change: Change, stop: StopBetweenStages) -> Ran:
        """This reply after a replay of the chat with the change."""
        project, made = self._made(change)
        simulator = SystemSimulator(project, made.system)
        earlier, lacks = 0, False
        for generation, before in self._before.items():
            stop.look()
            trace = asyncio.run(simulator.generate(generation))
            earlier += _lore(trace) != _lore(before)
            lacks |= self._lacks(trace, made)
        trace = asyncio.run(simulator.generate(self.generation))
        return Ran(change, project, trace, lacks or self._lacks(trace, made), earlier)

    def _made(self, change: Change) -> tuple[Project, OfflineSystem]:
        """Project and system with the change. Raises InputError, SettingsError, VaultError and ValueError."""
        if change.part is not Part.SETTINGS:
            return self.changes.made(change), self._system(self.settings)
        return self.changes.project, self._system(self.settings.model_copy(update=dict(change.settings)))

    def _system(self, settings: Section) -> OfflineSystem:
        return offline(self.kind.make(settings, self.changes.project), self._known)

    def _lacks(self, trace: Trace, system: OfflineSystem) -> bool:
        """Whether something was asked that has no answer here, though the real run had one."""
        failed = (
            bool(system.remarks)
            or any(call.error for call in trace.ai_calls)
            or bool(trace.warnings and "vector" in trace.warnings[0])
        )
        return failed and not any(call.error for call in self.trace.ai_calls)


class SystemWhyNotFinder:
    """Searches for one generation that a system has run, with these settings.

    It takes what it needs from the simulator when it is made, at once, and may then be used in another thread.
    """

    def __init__(self, simulator: SystemSimulator, generation: Generation, kind: SystemKind, settings: Section) -> None:
        self._runs = SystemRuns(simulator, generation, kind, settings)

    def find(self, target: Key, report: Report | None = None, cancel: CancelToken | None = None) -> WhyNot:
        """What brings the entry with that vault and file name in, or out where it went in; for a worker thread.

        Entries are notes, and whatever the run spoke of besides: memories, recaps, entries of a lorebook file. Raises
        Cancelled after a request to stop, and InputError where there is no such entry.
        """
        runs, trace = self._runs, self._runs.trace
        project = runs.changes.project
        note = next((each for each in project.index.entries if (each.vault, each.filename) == target), None)
        number = numbered(trace, target)
        if number < 0 and note is None:
            raise InputError(target[1], "there is no such entry in this run.")
        title = trace.entries[number].title if note is None else note.title
        end = Journeys(trace).fate(number if number >= 0 or note is None else note.id)
        keeps_out = end.state in WENT_IN
        found = WhyNot(target, title, runs.generation, trace, end, "", None, keeps_out)
        editable = note is not None and runs.changes.can_edit(*target)
        words = tuple(_words(project, runs.generation, note)) if note is not None else ()
        if end.reason in TAKES_NO_PART:
            return replace(found, complete=True)
        options = system_options(
            SystemSituation(runs.settings, end, note, project.controls, words, editable, keeps_out)
        )
        return Search(runs, found, options, report, cancel or CancelToken()).run()


def _words(project: Project, generation: Generation, note: Entry) -> Iterator[str]:
    """Words of the newest messages before a reply, those that the note uses too first, the newest first."""
    messages = project.chat.messages[: generation.message] if project.chat is not None else ()
    visible = [message.text for message in messages if not message.is_system][-_LOOKED_AT:]
    found = dict.fromkeys(word.lower() for text in reversed(visible) for word in _WORD.findall(text))
    own = {word.lower() for word in _WORD.findall(f"{note.title} {note.content}")}
    uses = Counter(word for message in messages for word in {each.lower() for each in _WORD.findall(message.text)})
    most = max(_LOOKED_AT, len(messages) * _COMMON)
    return iter(sorted((word for word in found if uses[word] <= most), key=lambda word: word not in own))


def _lore(trace: Trace) -> Sequence[tuple[str, str, int]]:
    refs = trace.entries
    return [(refs[each.entry].vault, refs[each.entry].filename, each.tokens) for each in trace.injections]
