"""Who runs the points of a search: this process, several on this computer (loky), or a Dask cluster, through joblib.

Each process opens the packed trial once and keeps it. A worker that dies costs what it was doing, which is done again;
what was handed back stays.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from msgspec import Struct

from lorestudio.domain.lifecycle import CancelToken, Closing, heed
from lorestudio.exchange.problems import InputError
from lorestudio.studio.tuning.scores import Scores
from lorestudio.studio.tuning.space import Point
from lorestudio.studio.tuning.trials import Packed, PointRunner, TuningTrial

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
"""How long a worker's other threads may have to wait while it computes."""


class Crew(Closing):
    """Workers at one trial; closed, they end. `parallel` is how many points are run at once."""

    def __init__(self, trial: TuningTrial, workers: Workers) -> None:
        workers.check()
        self.parallel = workers.count
        self._runner = self._packed = self._client = None
        if workers.address:
            self._packed, self._client = trial.packed(), _client(workers.address)
            self.parallel = max(1, sum(self._client.ncores().values()))
            self._backend: dict[str, Any] = {"backend": "dask", "client": self._client, "scatter": [self._packed]}
        elif workers.count > 1:
            self._packed = trial.packed()
            self._backend = {"backend": "loky", "n_jobs": workers.count}
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
            except BrokenProcessPool as error:
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


@lru_cache(maxsize=1)
def _prepared(packed: Packed) -> PointRunner:
    return PointRunner(packed.opened())


def _scored(packed: Packed, number: int, point: Point) -> tuple[int, tuple[Scores, ...]]:
    """In a worker: the scores at a point."""
    runner = _prepared(packed)
    with _uncollected(), _unhurried():
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


@contextmanager
def _unhurried() -> Iterator[None]:
    """Let a worker's other threads wait longer for their turn: Dask's ask for one some hundred times a second, to tell
    that it lives and to see what it does, which takes a tenth of the time.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
