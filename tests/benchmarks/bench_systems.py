"""A replay with every system: its first reply, for which the vault is made ready, and those after it.

Run with `python -m tests.benchmarks.bench_systems FOLDER [NOTES...]`, FOLDER holding the inputs as N.json.gz (`files`,
`chat`, `settings`). The chat is replayed twice, each time as after a start: vectors are kept on disk by the first.
Prints milliseconds of processor time.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.scripting import system_names
from lorestudio.systems.registry import kind_of, system_of
from tests.benchmarks.bench_window import project

MESSAGES = 60
"""Of the chat; each reply of it takes the same, and each sees one message more."""


def replayed(there: Project, name: str) -> list[float]:
    """What each reply takes, in order."""
    begun = time.process_time()
    simulator = Simulator(there, system_of(there.scene(), kind_of(name)))
    took = []
    for generation in simulator.generations:
        asyncio.run(simulator.generate(generation))
        took.append(1000 * (time.process_time() - begun))
        begun = time.process_time()
    return took


def main(folder: Path, sizes: list[int]) -> None:
    """Print a line for each size and system."""
    with TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache  # vectors of another run would be known
        for notes in sizes:
            data: dict[str, Any] = json.loads(gzip.decompress((folder / f"{notes}.json.gz").read_bytes()))
            there = project(data, {})
            chat = there.chat or Chat()
            there = replace(there, chat=replace(chat, messages=chat.messages[:MESSAGES]))
            sys.stdout.write(f"{notes:,} notes{'first reply':>24}{'again':>12}{'each after':>12}\n")
            for name in system_names():
                took, again = replayed(there, name), replayed(there, name)
                each = statistics.median(took[1:])
                sys.stdout.write(f"  {name:20} {took[0]:10.1f} ms {again[0]:8.1f} ms {each:8.1f} ms\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(count) for count in sys.argv[2:]] or [1000, 5000])
