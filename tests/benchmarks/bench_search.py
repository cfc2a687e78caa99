"""A search of 200 settings over 250 replies and 1,000 notes, and how it compares with 200 single replays.

Run with `python -m tests.benchmarks.bench_search FOLDER [POINTS [EVERY]]`, FOLDER holding the inputs as N.json.gz.
Prints seconds of processor time of all processes (the same on a busy machine) and by the clock, for one process and for
two of loky's and of a Dask cluster's, and whether each tenth point, or as EVERY says (1: all of them), came to what a
plain replay with everything on record comes to.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.expectations import Expectation, Should, turn_outcome
from lorestudio.studio.tuning.space import space_of
from lorestudio.studio.tuning.trials import Crew, PointRunner, TuningTrial, Workers
from lorestudio.systems.registry import MAIN
from tests.benchmarks.bench_long_chat import lengthened
from tests.benchmarks.bench_window import project

OVER = ("scanDepth=2..9", "maxTokensBudget=500..3000/100", "maxEntries=2..20")
MESSAGES = 500
EVERY = 10


def crews() -> Iterator[tuple[str, Workers]]:
    """Those that the search is measured with."""
    yield "this process", Workers()
    yield "two of loky's", Workers(2)
    try:
        from distributed import LocalCluster  # noqa: PLC0415  # an optional extra
    except ImportError:
        return
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield "two of Dask's", Workers(address=cluster.scheduler_address)


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of processor time, of ended children too, and by the clock."""

    def used() -> float:
        mine, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return mine.ru_utime + mine.ru_stime + others.ru_utime + others.ru_stime

    clock, computed = time.perf_counter(), used()
    work()
    return used() - computed, time.perf_counter() - clock


def main(folder: Path, count: int = 200, step: int = EVERY) -> None:
    """Print the figures."""
    data: dict[str, Any] = json.loads(gzip.decompress((folder / "1000.json.gz").read_bytes()))
    there = project(data, {})
    there = replace(there, chat=lengthened(there.chat or Chat(), MESSAGES))
    space = space_of(OVER, there, MAIN, there.settings)
    expected = tuple(
        Expectation(Should.IN if place % 2 else Should.OUT, (entry.filename,))
        for place, entry in enumerate(there.index.entries[:20])
    )
    trial = TuningTrial((there,), MAIN.name, there.settings, expected, space)
    every, chance = list(space.points()), random.Random(1)  # no secret
    points = {number: chance.choice(every) for number in range(count)}
    for name, workers in crews():

        def run(workers: Workers = workers) -> None:
            with Crew(trial, workers) as crew:
                assert len(dict(crew.run(points))) == count

        computed, clock = measured(run)
        sys.stdout.write(f"{count} points, {name}: {computed:6.1f} s computed, {clock:6.1f} s\n")
        sys.stdout.flush()
    sys.stdout.write(f"load while it ran: {os.getloadavg()}\n")
    bench, different = PointRunner(trial), 0
    chosen = list(points.values())[::step]
    took = 0.0
    for point in chosen:
        begun = time.process_time()
        alone = Simulator(there.with_settings(space.settings_at(there.settings, point)))  # type: ignore[arg-type]
        plain = tuple(map(turn_outcome, asyncio.run(alone.replay())))
        took += time.process_time() - begun
        (runner,) = bench.simulators(point)
        different += tuple(map(turn_outcome, asyncio.run(runner.replay()))) != plain
    sys.stdout.write(
        f"{len(chosen)} plain replays: {took:.1f} s computed; {different} of them came to something else\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:4]))
