"""Fact memory with many memories: keeping 50 new facts, and finding the ten most similar.

Run with `python -m tests.benchmarks.bench_facts [MEMORIES] [DIMENSIONS]` (20,000 of 384 without). Everything is read
from a file on disk. Prints processor time: seconds for 50 facts (compared and written), milliseconds for a search.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lorestudio.llm.embedding import Vector
from lorestudio.systems.facts.pipeline import run_pipeline
from lorestudio.systems.facts.records import Line, Memory, Thread
from lorestudio.systems.facts.store import FactStore

FACTS = 50
SEARCHES = 20


class Ready:
    """Facts and vectors that are there already, so that only keeping them is measured."""

    def __init__(self, vectors: np.ndarray) -> None:
        self._vectors = vectors

    async def extract(self, _lines: Sequence[Line], _date: str) -> list[dict[str, str]]:
        return [{"content": str(number), "source": "confirmed"} for number in range(len(self._vectors))]

    async def review(self, _system: str, _user: str) -> None:
        return None

    async def embed(self, text: str) -> Vector:
        return np.asarray(self._vectors[int(text)])


def keep(store: FactStore, vectors: np.ndarray) -> float:
    """Seconds for comparing and writing these facts."""
    begun = time.process_time()
    unit = store.begin()
    asyncio.run(run_pipeline(Thread("t", "u", 0, 0), [Line("user", "talk")], Ready(vectors), unit))
    unit.commit()
    return time.process_time() - begun


def main(memories: int = 20_000, dimensions: int = 384) -> None:
    """Measure and print."""
    numbers = np.random.default_rng(1)
    stored = numbers.normal(size=(memories, dimensions))
    new = numbers.normal(size=(3 * FACTS, dimensions))
    with tempfile.TemporaryDirectory() as folder, FactStore(Path(folder) / "memories.sqlite") as store:
        with store.transaction():
            for number, vector in enumerate(stored):
                name = f"m{number}"
                store.put_memory(Memory(name, "u", "t", f"fact {name}", "confirmed", vector, number, False, ["sea"]))
        times = [keep(store, new[start : start + FACTS]) for start in range(0, len(new), FACTS)]
        print(f"{FACTS} new facts: first {times[0]:.2f} s, then {min(times[1:]):.2f} s")  # noqa: T201
        waits = []
        for vector in numbers.normal(size=(SEARCHES + 1, dimensions)):
            begun = time.process_time()
            store.search_memories("u", vector, 10)
            waits.append(1000 * (time.process_time() - begun))
        rest = sorted(waits[1:])
        print(f"top 10: first {waits[0]:.0f} ms (reads all vectors)")  # noqa: T201
        print(f"top 10 afterwards: median {statistics.median(rest):.1f} ms, slowest {rest[-1]:.1f} ms")  # noqa: T201


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
