"""One keywords-only generation on large vaults, beside DeepLore's own figures.

Run with `python -m tests.benchmarks.bench_generation FOLDER`, FOLDER holding the inputs as N.json.gz (`files`, `chat`,
`settings`). Prints the median processor time of several turns in milliseconds, which a busy machine changes little, and
how it grows with the notes: the exponent between a size and the next, 0 where the size costs nothing, 1 where twice as
many notes cost twice as much, and beside it how the entries grow that a generation says something of: what costs is
these. Garbage is collected as the command line has it. A column beside has what a generation
costs in `lorestudio run`, its report included: the difference between 35 generations of a growing chat and 5 of them.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from lorestudio.domain.chat import Message
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.chats.document import read_message
from lorestudio.settings.deeplore import DeepLoreSettings, sanitise
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.run import run
from lorestudio.trace.model import Turn
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index
from tests.systems.worlds import inputs

Figure: TypeAlias = tuple[str, float, int]
Figures: TypeAlias = tuple[int, list[Figure]]

RUNS = 15
FEW, MANY, COMMAND_RUNS = 5, 35, 3
VARIANTS = {
    "depth 4": {"scanDepth": 4},
    "depth 4 + BM25": {"scanDepth": 4, "fuzzySearchEnabled": True},
    "depth 100": {"scanDepth": 100},
    "depth 100 + BM25": {"scanDepth": 100, "fuzzySearchEnabled": True},
    "depth 100, words": {"scanDepth": 100, "matchWholeWords": True},
    "depth 100, words + BM25": {"scanDepth": 100, "matchWholeWords": True, "fuzzySearchEnabled": True},
}
ON_COMMAND_LINE = ("depth 4", "depth 100", "depth 100 + BM25")
ORIGINAL = {
    200: (22, 26, 36, 74, 40, 71, 28, 50),
    1000: (92, 107, 382, 533, 454, 583, 120, 197),
    5000: (1721, 1859, 2248, 3333, 2724, 3925, 340, 701),
    20000: (8100, 8281, 9622, 13620, 22330, 27194, 1179, 3461),
}
"""DeepLore 2.0.2 on the same inputs: the variants in order, then parsing all notes, then building BM25."""


def median_ms(work: Callable[[], object], runs: int = RUNS) -> float:
    """The median processor time of `runs` runs after two that do not count."""
    times = []
    for number in range(runs + 2):
        gc.collect()
        begun = time.process_time()
        work()
        if number >= 2:
            times.append(1000 * (time.process_time() - begun))
    return statistics.median(times)


def generation(index: DeepLoreIndex, chat: tuple[Message, ...], settings: DeepLoreSettings) -> Callable[[], object]:
    """The next generation of a chat that grows to this one, ready to be timed: none is like the one before."""
    ends = iter(range(len(chat) - 2 * (RUNS + 1), len(chat) + 1, 2))

    def work() -> object:
        end = next(ends)
        return asyncio.run(run(inputs(index, chat=chat[:end], settings=settings, turn=Turn(end, 0, 0))))

    return work


def judged(index: DeepLoreIndex, chat: tuple[Message, ...], settings: DeepLoreSettings) -> int:
    """How many entries the last generation of this chat says something of."""
    trace = asyncio.run(run(inputs(index, chat=chat, settings=settings, turn=Turn(len(chat), 0, 0)))).trace
    return len({verdict.entry for record in trace.stages for verdict in record.verdicts})


def measure(data: dict[str, Any], times: int) -> list[Figure]:
    """All figures for one input, with the entries that are judged, 0 without a turn; the command is run so often."""
    base = {**data["settings"], "enabled": True, "recursiveScan": True, "maxRecursionSteps": 3}
    settings = sanitise(base).settings
    files = [VaultFiles("bench", tuple(NoteFile(path, text) for path, text in data["files"]))]
    chat = tuple(read_message(raw) for raw in data["chat"])
    vault = build_index(files, settings, CHARS_4)
    index = DeepLoreIndex(vault)
    asked = {name: sanitise({**base, **change}).settings for name, change in VARIANTS.items()}
    entries = {name: judged(index, chat, each) for name, each in asked.items()}
    figures = [(name, median_ms(generation(index, chat, each)), entries[name]) for name, each in asked.items()]
    figures += [
        (f"{name}, run", on_command_line(data, VARIANTS[name], times), entries[name]) for name in ON_COMMAND_LINE
    ]
    figures.append(("parse all", median_ms(lambda: build_index(files, settings, CHARS_4), 7), 0))
    figures.append(("build BM25", median_ms(lambda: DeepLoreIndex(vault).bm25, 7), 0))
    return figures


def on_command_line(data: dict[str, Any], change: dict[str, Any], times: int) -> float:
    """Milliseconds that a further generation takes `lorestudio run`, the least of so many times."""
    messages, base = data["chat"], {**data["settings"], "enabled": True, "recursiveScan": True, "maxRecursionSteps": 3}
    scenario = {
        "id": "bench",
        "tokenizer": "chars4",
        "settings": {**base, **change},
        "vaults": [{"name": "bench", "files": data["files"]}],
        "messages": messages,
    }
    took = {MANY: math.inf, FEW: math.inf}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.json"
        for count in (FEW, MANY) * times:
            ends = range(len(messages) - 2 * count, len(messages), 2)
            turns = [{"now_ms": 1_700_000_000_000 + end, "chat": list(range(end))} for end in ends]
            path.write_text(json.dumps({**scenario, "generations": turns}), encoding="utf-8")
            before = os.times()
            command = [sys.executable, "-m", "lorestudio", "run", str(path), "-o", str(path.with_suffix(".out"))]
            subprocess.run(command, check=True)  # noqa: S603  # our own program
            after = os.times()
            spent = after.children_user + after.children_system - before.children_user - before.children_system
            took[count] = min(took[count], spent)
    return 1000 * (took[MANY] - took[FEW]) / (MANY - FEW)


def enlarged(data: dict[str, Any], count: int) -> dict[str, Any]:
    """The same input with `count` notes: copies in other folders, their first key and title made their own."""
    files = list(data["files"])
    copies = [
        [f"copy{number}/{path}", _renamed(text, number)]
        for number in range(1, count // len(files) + 1)
        for path, text in files
    ]
    return {**data, "files": (files + copies)[:count]}


def _renamed(text: str, number: int) -> str:
    return text.replace("keys: [", f"keys: [copy{number}", 1).replace("\n# ", f"\n# {number} ", 1)


def main(folder: Path, most: int = 20_000, times: int = COMMAND_RUNS) -> None:
    """Print a line a figure: ours, the original's, and how many times faster; at last with `most` notes."""
    gc.set_threshold(20_000)
    before: Figures | None = None
    for path in sorted(folder.glob("*.json.gz"), key=lambda path: path.stat().st_size):
        data = json.loads(gzip.decompress(path.read_bytes()))
        before = print_figures(len(data["files"]), measure(data, times), before)
    print_figures(most, measure(enlarged(data, most), times), before)


def print_figures(count: int, figures: list[Figure], before: Figures | None) -> Figures:
    """One table, with the growth since the size before; returns its figures."""
    lines = [f"{count:,} notes"]
    originals = dict(zip((*VARIANTS, "parse all", "build BM25"), ORIGINAL.get(count, (0,) * 8), strict=True))
    for place, (name, ours, entries) in enumerate(figures):
        original = originals[name.removesuffix(", run")]
        ratio = f"{original / ours:6.1f}×" if original else ""
        grown = ""
        if before is not None and count > before[0] and min(ours, before[1][place][1]) > 0:
            by, fewer = math.log(count / before[0]), before[1][place][2]
            grown = f"   growth {math.log(ours / before[1][place][1]) / by:5.2f}"
            grown += f", of entries judged {math.log(entries / fewer) / by:5.2f}" if entries and fewer else ""
        lines.append(f"  {name:26} {ours:9.1f} ms   DeepLore {original:7,} ms {ratio}{grown}")
    sys.stdout.write("\n".join(lines) + "\n")
    return count, figures


if __name__ == "__main__":
    main(Path(sys.argv[1]))
