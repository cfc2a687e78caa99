"""Finding what would bring an entry in, on a large vault and a long chat.

Run with `python -m tests.benchmarks.bench_why_not FOLDER`, FOLDER holding inputs as N.json.gz (`files`, `chat`,
`settings`), of which the largest is taken, its chat repeated to 500 messages. Prints seconds to the first answer and to
the last, early and late in the chat.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import tempfile
import time
from pathlib import Path

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.document import read_message
from lorestudio.settings.deeplore import sanitise
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import HeldRuns
from lorestudio.studio.tryout.why_not import WhyNotFinder, WhyNotNews
from lorestudio.trace.journey import FateState, Journeys

_IN = {FateState.INJECTED, FateState.TRUNCATED}


def world(path: Path, folder: Path, count: int) -> Project:
    """The inputs as a project on files."""
    data = json.loads(gzip.decompress(path.read_bytes()))
    for name, text in data["files"]:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    said = [read_message(raw) for raw in data["chat"]]
    messages = tuple(
        replace(said[place % len(said)], is_user=place % 2 == 0, is_system=False) for place in range(count)
    )
    project = open_project([folder])
    settings = sanitise({**data["settings"], "enabled": True, "scanDepth": 4}).settings
    return replace(project, settings=settings, chat=Chat(messages, "U", "A"))


def measure(simulator: Simulator, message: int) -> None:
    """Print the figures of one reply: an entry for each reason that kept one out."""
    generation = simulator.shown(message)
    if generation is None:
        return
    journeys = Journeys(simulator.traces[generation])
    runs = HeldRuns(simulator, generation)
    seen: set[str] = set()
    for entry in simulator.project.index.entries:
        end = journeys.fate(entry.id)
        if entry.guide or end.state in _IN or end.reason in seen:
            continue
        seen.add(end.reason)
        begun = time.perf_counter()
        runs.of(entry.id)
        held = 1000 * (time.perf_counter() - begun)
        times: list[float] = []

        def told(news: WhyNotNews, times: list[float] = times, begun: float = time.perf_counter()) -> None:
            if news.found.answers:
                times.append(time.perf_counter() - begun)

        begun = time.perf_counter()
        found = WhyNotFinder(simulator, generation).find((entry.vault, entry.filename), told)
        whole = time.perf_counter() - begun
        first = f"{times[0]:5.2f} s" if times else "      -"
        sys.stdout.write(
            f"#{message:<4} {end.reason:<20} held {held:6.1f} ms   first {first}   all {whole:6.2f} s   "
            f"{found.tried} runs, {len(found.answers)} answers\n"
        )


def main(inputs: Path, count: int = 500) -> None:
    """Measure on the largest of the inputs, with its chat at `count` messages."""
    path = max(inputs.glob("*.json.gz"), key=lambda path: path.stat().st_size)
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(world(path, Path(folder), count))
        begun = time.perf_counter()
        asyncio.run(simulator.replay())
        sys.stdout.write(f"replay of {len(simulator.traces)} replies: {time.perf_counter() - begun:.2f} s\n")
        for message in (47, count - 1):
            measure(simulator, message)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
