"""Whole chats run with other settings and notes, one point of a space after the other, in whatever process.

A `TuningTrial` is all that this takes, and can be packed. `PointRunner` prepares it once: what points have in common
(the prepared index, the keys in every line, what the matching stages make of the same settings) is made once, and every
run has its recording switched off. So a point costs a fraction of a replay and comes to the same.
"""

from __future__ import annotations

import asyncio
import copyreg
import hashlib
import io
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from lorestudio.domain.chat import Chat
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import replace
from lorestudio.settings.declaration import Section
from lorestudio.studio.compare.comparing import Candidate, settled
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.checking import chat_name
from lorestudio.studio.tuning.expectations import Expectation, judge, shown_swipes
from lorestudio.studio.tuning.outcomes import TurnOutcome, turn_outcome
from lorestudio.studio.tuning.scores import Scores, score
from lorestudio.studio.tuning.space import Point, Space, space_of
from lorestudio.systems.registry import kind_of, system_of


def _mapping(items: dict[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(items)


def _reduced(mapping: Mapping[str, Any]) -> tuple[Callable[[dict[str, Any]], Mapping[str, Any]], tuple[dict[str, Any]]]:
    return _mapping, (dict(mapping),)


_PACKING: Final[Mapping[type, Any]] = {**copyreg.dispatch_table, MappingProxyType: _reduced}
"""How a pickler takes what is read only."""


@dataclass(frozen=True, slots=True)
class TuningTrial:
    """The chats, a system with the settings that a search begins with, what is expected, and what may be turned.

    `projects` are of the same vaults, one for each chat.
    """

    projects: tuple[Project, ...] = field(repr=False)
    system: str
    settings: Section = field(repr=False)
    expectations: tuple[Expectation, ...] = field(repr=False)
    space: Space

    @property
    def identity(self) -> str:
        """The digest of all that decides what a point comes to."""
        digest = hashlib.sha256()
        for project in self.projects:
            digest.update(Simulator(*_run(project, self.system, self.settings)).inputs[-1].encode())
        for part in (self.expectations, self.space.axes):
            digest.update(repr(part).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def chats(self) -> tuple[str, ...]:
        """What each chat is called."""
        return tuple(map(chat_name, self.projects))

    def packed(self) -> Packed:
        """The trial for another process. What belongs to one window or file alone stays behind."""
        bare = [replace(each, document=None, problems=()) for each in self.projects]
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, protocol=5)
        pickler.dispatch_table = _PACKING
        pickler.dump(replace(self, projects=tuple(bare)))
        data = buffer.getvalue()
        return Packed(hashlib.sha256(data).hexdigest(), data)


@dataclass(frozen=True, slots=True)
class Packed:
    """A packed trial; two are the same where their digest is."""

    digest: str
    data: bytes = field(repr=False, compare=False)

    def opened(self) -> TuningTrial:
        """The trial, in a process of this program."""
        trial: TuningTrial = pickle.loads(self.data)  # noqa: S301  # packed by this program, for its own workers
        return trial


def trial_of(
    projects: Sequence[Project], chosen: Candidate, expectations: Sequence[Expectation], over: Iterable[str]
) -> TuningTrial:
    """The trial of these chats with a candidate's system and settings; `over` says what may be turned (see `space`).

    Raises InputError, SettingsError, VaultError and TokenizerError.
    """
    read = [settled(project, chosen) for project in projects]
    first, kind, settings = read[0]
    used = kind.settings_in(first.settings) if settings is None else settings
    same = tuple(
        replace(each, index=first.index, vault_state=first.vault_state)
        if each.index.digest == first.index.digest
        else each
        for each, _, _ in read
    )
    return TuningTrial(same, kind.name, used, tuple(expectations), space_of(over, first, kind, used))


class PointRunner:
    """Runs the points of a trial, one at a time."""

    def __init__(self, trial: TuningTrial) -> None:
        self.trial = trial
        first = trial.projects[0]
        _, self._known = _run(first, trial.system, trial.settings)
        turned = any(axis.note is not None for axis in trial.space.axes)
        self._vaults = first.edited_vaults() if turned else None

    def outcomes(self, point: Point, cancel: CancelToken | None = None) -> tuple[tuple[TurnOutcome, ...], ...]:
        """What every generation of each chat comes to there. Raises Cancelled between two of them."""
        return tuple(asyncio.run(_outcomes(each, cancel)) for each in self.simulators(point))

    def scores(self, point: Point, cancel: CancelToken | None = None) -> tuple[Scores, ...]:
        """The scores of each chat there. Raises Cancelled between two generations."""
        found = []
        for simulator in self.simulators(point):
            project, outcomes = simulator.project, asyncio.run(_outcomes(simulator, cancel))
            chat = project.chat or Chat()
            judged = judge(self.trial.expectations, chat, chat_name(project), project.index, outcomes)
            found.append(score(shown_swipes(chat, outcomes), judged))
        return tuple(found)

    def simulators(self, point: Point) -> list[Simulator]:
        """Who runs each chat there, as any replay with these settings and notes."""
        trial = self.trial
        settings = trial.space.settings_at(trial.settings, point)
        notes = trial.space.notes_at(point)
        projects = trial.projects
        if notes:
            state = projects[0].with_texts(notes, self._vaults)
            projects = tuple(replace(each, index=state.index, vault_state=state.vault_state) for each in projects)
        made = []
        for project in projects:
            read, system = _run(project, trial.system, settings)
            made.append(Simulator(read, system.knowing(self._known)))
        return made


def _run(project: Project, system: str, settings: Section) -> tuple[Project, Any]:
    """The project with these settings of the system, and the system, which asks nobody."""
    kind = kind_of(system)
    read = project.with_settings_of(kind, settings)
    return read, system_of(read.scene(), kind, settings)


async def _outcomes(simulator: Simulator, cancel: CancelToken | None) -> tuple[TurnOutcome, ...]:
    return tuple([turn_outcome(trace) async for trace in simulator.unrecorded(cancel)])
