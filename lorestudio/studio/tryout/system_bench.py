"""The test bench where another system than DeepLore decides; see `studio.tryout.bench`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.settings.declaration import Section
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.offline_systems import OfflineSystem, offline
from lorestudio.studio.replay.system_simulator import SystemSimulator, decided_trace, moment
from lorestudio.studio.tryout.bench import BenchResult, BenchRow, NotReplayedError, bench_rows
from lorestudio.systems.base import Moment, System
from lorestudio.systems.context import StopBetweenStages
from lorestudio.systems.deeplore.key_places import KeyPlace
from lorestudio.systems.registry import SystemKind
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.trace.found_keys import keys_of, places_in
from lorestudio.trace.model import Trace, Turn

NO_TEXT: Final = "Recap memory looks at no text: whatever is said, it gives what the chat remembers."

MOST_FAR: Final = 25
"""Of entries that no key brought into question and that do not go in, so many are told, the nearest first."""

FARTHER: Final = "{amount:,} more were compared and are less alike."

REMEMBERING: Final = frozenset({"facts", "recap"})
"""Systems that look at what is kept of the chat, so that a text that stands alone is said after all of it."""


class SystemBench:
    """Runs texts on one project with a system and its settings; asks nobody for a vector.

    It takes what it needs when it is made, at once, and may then be used in any thread, one text at a time. With
    `simulator`, which has run the project's chat with this system, texts can stand behind that chat.
    """

    def __init__(
        self, project: Project, kind: SystemKind, settings: Section, simulator: SystemSimulator | None = None
    ) -> None:
        self.project, self._kind, self._settings = project, kind, settings
        self._known = simulator.system if simulator is not None else None
        self._behind: tuple[int, object] | None = None
        if simulator is not None and project.chat is not None:
            last = simulator.place(simulator.generations[-1])
            if len(simulator.states) >= last:
                self._behind = last, simulator.state_before(simulator.generations[-1])

    @classmethod
    def replayed(cls, project: Project, kind: SystemKind, settings: Section) -> SystemBench:
        """A bench whose texts can stand behind the project's chat, which is replayed; nobody is asked for a vector.

        Raises InputError for settings that cannot be used.
        """
        simulator = SystemSimulator(project, offline(kind.make(settings, project)).system)
        asyncio.run(simulator.run_missing(until=len(simulator.generations) - 1))
        return cls(project, kind, settings, simulator)

    @property
    def can_append(self) -> bool:
        """Whether a text can stand behind the chat: there is one, and all its replies have been run."""
        return self._behind is not None

    @cached_property
    def _made(self) -> System:
        return self._known if self._known is not None else self._kind.make(self._settings, self.project)

    def test(self, text: str, *, append: bool = False, cancel: CancelToken | None = None) -> BenchResult:
        """What the text triggers. For a worker thread.

        Raises Cancelled after a request to stop, InputError for settings that cannot be used, and NotReplayedError
        where it should stand behind a chat that was not run.
        """
        stop = StopBetweenStages(cancel or CancelToken())
        now, state = self._moment(text, append=append)
        system = self._system(append=append)
        stop.look()
        trace = asyncio.run(decided_trace(system.system, now, state))
        stop.look()
        place = now.position(len(now.chat) - 1)
        rows = bench_rows(trace, tuple(_places(trace, place, text)), place)
        rows, farther = _nearest(rows)
        remarks = (NO_TEXT,) if self._kind.name == "recap" else ()
        more = (FARTHER.format(amount=farther),) if farther else ()
        return BenchResult(text, trace, place, rows, (*remarks, *more, *trace.warnings, *system.remarks))

    def _system(self, *, append: bool) -> OfflineSystem:
        """The system; what World Info is told of the chat has the text in it."""
        made = self._made
        if isinstance(made, WorldInfoSystem):
            before = made.around.by_user if append else ()
            made = replace(made, around=replace(made.around, by_user=(*before, True)))
        return offline(made)

    def _moment(self, text: str, *, append: bool) -> tuple[Moment, object]:
        project = self.project
        chat = project.chat or Chat()
        said = Message(chat.user_name, text, is_user=True)
        place, state = (0, None) if not append else self._behind or (-1, None)
        if place < 0:
            raise NotReplayedError.of(project)
        before = chat.messages if append else ()
        longer = replace(project, chat=replace(chat, messages=(*before, said)))
        now = moment(longer, place, Generation(len(before) + 1))
        if not append and self._kind.name in REMEMBERING:
            end = len(chat.messages)
            now = replace(now, positions=(end,), turn=Turn(end + 1, 0, 0))
        return now, state


def _places(trace: Trace, message: int, text: str) -> Iterator[KeyPlace]:
    """The keys that the run speaks of, with their places in the text; keys found elsewhere have none."""
    for entry in trace.entries:
        for found in keys_of(trace, entry):
            here = found.message in {None, message} and not found.in_name
            spans = list(places_in(found, message, text)) if here else []
            for start, end in spans:
                yield KeyPlace(entry, found.key, message, start, end, refine=found.refine)
            if not spans:
                where = message if found.message is None else found.message
                yield KeyPlace(entry, found.key, where, in_name=found.in_name, refine=found.refine)


def _nearest(rows: tuple[BenchRow, ...]) -> tuple[tuple[BenchRow, ...], int]:
    """The rows without those that were only compared and are far off, and how many these were."""
    compared = [row for row in rows if not row.injected and not row.keys and "score" in row.fate.details]
    compared.sort(key=_score, reverse=True)
    far = {row.entry for row in compared[MOST_FAR:]}
    return tuple(row for row in rows if row.entry not in far), len(far)


def _score(row: BenchRow) -> float:
    score = row.fate.details.get("score")
    return score if isinstance(score, int | float) else 0.0
