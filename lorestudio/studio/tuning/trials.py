"""Whole chats run with other settings and notes, one point of a space after the other, in whatever process.

A `TuningTrial` is all that this takes, and can be packed. `PointRunner` prepares it once: what points have in common
(the prepared index, the keys in every line, what the matching stages make of the same settings) is made once, and every
run has its recording switched off. So a point costs a fraction of a replay and comes to the same.

`Workers` are this process, several on this computer (loky), or a Dask cluster, through joblib. Each opens the packed
trial once and keeps it. One that dies costs what it was doing, which is done again; what was handed back stays.
"""

from __future__ import annotations

import copyreg
import gc
import hashlib
import io
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from threading import Thread
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from lorestudio.domain.chat import Chat
from lorestudio.domain.lifecycle import CancelToken, Closing, heed, run_whole, taking_turns
from lorestudio.domain.records import Terse, replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section
from lorestudio.studio.compare.comparison import Candidate, settled
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.checking import chat_name
from lorestudio.studio.tuning.expectations import Expectation, TurnOutcome, judge, shown_swipes, turn_outcome
from lorestudio.studio.tuning.scores import Scores, score
from lorestudio.studio.tuning.space import Point, Space, space_of
from lorestudio.systems.registry import kind_of, system_of


def _mapping(items: dict[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(items)


def _reduced(mapping: Mapping[str, Any]) -> tuple[Callable[[dict[str, Any]], Mapping[str, Any]], tuple[dict[str, Any]]]:
    return _mapping, (dict(mapping),)


_PACKING: Final[Mapping[type, Any]] = {**copyreg.dispatch_table, MappingProxyType: _reduced}
"""How a pickler takes what is read only."""


class TuningTrial(Terse, frozen=True):
    """The chats, a system with the settings that a search begins with, what is expected, and what may be turned.

    `projects` are of the same vaults, one for each chat.
    """

    unprinted = ("projects", "settings", "expectations")

    projects: tuple[Project, ...]
    system: str
    settings: Section
    expectations: tuple[Expectation, ...]
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

    def begun_with(self, settings: Section) -> TuningTrial:
        """The same points, beginning with other settings of the system."""
        axes = (
            each if each.note is not None else replace(each, now=getattr(settings, each.name))
            for each in self.space.axes
        )
        return replace(self, settings=settings, space=replace(self.space, axes=tuple(axes)))

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
    same = tuple(each.with_index_of(first) if each.index.digest == first.index.digest else each for each, _, _ in read)
    return TuningTrial(same, kind.name, used, tuple(expectations), space_of(over, first, kind, used))


class PointRunner:
    """Runs the points of a trial, one at a time."""

    def __init__(self, trial: TuningTrial) -> None:
        self.trial = trial
        first = trial.projects[0]
        _, self._known = _run(first, trial.system, trial.settings)
        turned = any(axis.note is not None for axis in trial.space.axes)
        self._vaults = first.edited_vaults() if turned else None

    def scores(self, point: Point, cancel: CancelToken | None = None) -> tuple[Scores, ...]:
        """The scores of each chat there. Raises Cancelled between two generations."""
        found = []
        for simulator in self.simulators(point):
            project, outcomes = simulator.project, run_whole(_outcomes(simulator, cancel))
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
            projects = tuple(replace(each, books=state.books).with_index_of(state) for each in projects)
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


ATTEMPTS: Final = 3
"""So often in a row all workers may die before the search gives up."""


class Workers(Struct, frozen=True):
    """So many processes of this computer, or with an `address` those of a Dask cluster; one stands for this process."""

    count: int = 1
    address: str = ""

    def check(self) -> None:
        """Raise InputError, with what to install, where the packages that this takes are not there."""
        if self.address:
            needed("joblib", "tune")
            needed("distributed", "dask")
        elif self.count > 1:
            needed("joblib", "tune")


ALONE: Final = Workers()


_PATIENCE_SECONDS: Final = 10
"""How long a scheduler may take to answer."""

_TURN_SECONDS: Final = 0.1
"""How long a worker's other threads may have to wait while it computes: Dask's ask for a turn some hundred times a
second, to tell that it lives and to see what it does, which takes a tenth of the time.
"""


class Crew(Closing):
    """Workers at one trial; closed, they end. `parallel` is how many points are run at once."""

    def __init__(self, trial: TuningTrial, workers: Workers) -> None:
        workers.check()
        self.parallel = workers.count
        self._runner = self._packed = self._client = None
        if workers.address:
            self._client = _client(workers.address)
            self.parallel = max(1, sum(self._client.ncores().values()))
            # Laid on the cluster once, under a name of its own: joblib would lay it there for each round anew under the
            # same name, and the end of one round may take it away from the next.
            self._packed = self._client.scatter(trial.packed(), broadcast=True, hash=False)
            self._backend: dict[str, Any] = {"backend": "dask", "client": self._client}
        elif workers.count > 1:
            self._packed = trial.packed()
            ends = {"initializer": _end_with, "initargs": (os.getpid(),)}
            self._backend = {"backend": "loky", "n_jobs": workers.count, **ends}
        else:
            self._runner = PointRunner(trial)

    def close(self) -> None:
        """End the processes; those of a cluster are only let go."""
        if self._client is not None:
            self._client.close()
        elif self._runner is None:
            needed("joblib.externals.loky", "tune").get_reusable_executor(reuse=True).shutdown(
                wait=True, kill_workers=True
            )

    def run(self, points: Mapping[int, Point], cancel: CancelToken | None = None) -> Iterator[tuple[int, Any]]:
        """The scores of the chats at each point under its number, as they come in.

        Raises Cancelled, and InputError where the workers do not stay alive.
        """
        if self._runner is not None:
            for number, point in points.items():
                heed(cancel)
                with _uncollected():
                    scores = self._runner.scores(point, cancel)
                yield number, scores
            return
        left, failed = dict(points), 0
        while left:
            try:
                for number, scores in self._handed_over(left):
                    failed = 0
                    del left[number]
                    yield number, scores
                    heed(cancel)
            except BrokenExecutor as error:
                failed += 1
                if failed == ATTEMPTS:
                    raise InputError(
                        "--workers", "the worker processes end before they are done; there may be too little memory."
                    ) from error

    def _handed_over(self, points: Mapping[int, Point]) -> Iterator[tuple[int, tuple[Scores, ...]]]:
        joblib = needed("joblib", "tune")
        with joblib.parallel_config(**self._backend):
            # All at once: what is handed over later is handed over by a thread that may hold up the end of the workers.
            run = joblib.Parallel(
                n_jobs=self.parallel, batch_size=1, pre_dispatch="all", return_as="generator_unordered"
            )
            yield from run(joblib.delayed(_scored)(self._packed, *each) for each in list(points.items()))


def _client(address: str) -> Any:  # noqa: ANN401  # of a package that need not be there
    """A connection to a Dask cluster. Raises InputError where there is none."""
    try:
        return needed("distributed", "dask").Client(address, timeout=_PATIENCE_SECONDS)
    except (OSError, ValueError) as error:
        raise InputError("--dask", f"no Dask scheduler answers at {address} ({error}). Is it running?") from error


def needed(package: str, extra: str) -> Any:  # noqa: ANN401  # a module
    """A package that not every installation has. Raises InputError, which says what to install."""
    try:
        return import_module(package)
    except ImportError as error:
        advice = f'Install it with: pip install "lorestudio[{extra}]"'
        raise InputError(package, f"this Python package is needed for that and is not installed. {advice}") from error


def _end_with(parent: int) -> None:
    """In a worker: end where the program is gone that has it.

    One that is killed while it hands a point over leaves a worker that waits for the rest of it for good.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    if sys.platform != "win32":  # there a process keeps the number of whoever began it
        Thread(target=watch, daemon=True).start()


@lru_cache(maxsize=1)
def _prepared(packed: Packed) -> PointRunner:
    return PointRunner(packed.opened())


def _scored(packed: Packed, number: int, point: Point) -> tuple[int, tuple[Scores, ...]]:
    """In a worker: the scores at a point."""
    runner = _prepared(packed)
    with _uncollected(), taking_turns(_TURN_SECONDS):
        return number, runner.scores(point)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Have Python look for cycles between points, not among the verdicts of one: that takes a fifth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
