"""A moved setting over a whole chat: until the first reply is told, and until all are.

Run with `python -m tests.benchmarks.bench_effects FOLDER [REPLIES]`, FOLDER holding the inputs as N.json.gz (`files`,
`chat`, `settings`); the chat is said over again until it has so many replies. Prints milliseconds of processor time.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.document import read_message
from lorestudio.settings.deeplore import sanitise
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.effects import Effects, WholeChat
from lorestudio.studio.tuning.expectations import Expectation, Should

CHANGES: tuple[dict[str, Any], ...] = (
    {"scan_depth": 6},
    {"scan_depth": 8},
    {"max_tokens_budget": 1500},
    {"max_entries": 5},
    {"recursive_scan": False},
    {"fuzzy_search_enabled": True},
)
EXPECTED = 20


def whole_chat(data: dict[str, Any], replies: int) -> WholeChat:
    """The input, run, with an expectation of some notes."""
    settings = sanitise({**data["settings"], "enabled": True}).settings
    chat = Chat(messages=tuple(read_message(raw) for raw in islice(cycle(data["chat"]), 2 * replies)))
    with TemporaryDirectory() as folder:
        for path, text in data["files"]:
            note = Path(folder, "bench", path)
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(text, encoding="utf-8")
        project = replace(open_project([Path(folder, "bench")]).with_settings(settings), chat=chat)
    simulator = Simulator(project)
    asyncio.run(simulator.run_missing())
    return WholeChat(simulator, [Expectation(Should.IN, (each.filename,)) for each in project.index.entries[:EXPECTED]])


def measure(chat: WholeChat, change: dict[str, Any]) -> tuple[float, float]:
    """Processor milliseconds until the first reply, and until all."""
    begun, first = time.process_time(), 0.0

    def heard(_effects: Effects) -> None:
        nonlocal first
        first = first or time.process_time() - begun

    chat.effects(chat.settings.model_copy(update=change), report=heard)
    return 1000 * first, 1000 * (time.process_time() - begun)


def main(folder: Path, replies: int = 250) -> None:
    """Print a row for every change of every input."""
    for path in sorted(folder.glob("*.json.gz")):
        chat = whole_chat(json.loads(gzip.decompress(path.read_bytes())), replies)
        begun = time.process_time()
        count = len(chat.outcomes)
        once = 1000 * (time.process_time() - begun)
        sys.stdout.write(f"{path.name}: {count} replies; what they came to takes {once:.0f} ms once\n")
        for change in CHANGES:
            first, whole = measure(chat, change)
            sys.stdout.write(f"  {change}: first {first:.0f}, all {whole:.0f}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
