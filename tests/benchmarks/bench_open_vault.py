"""Opening and following a large vault: cold, from the cache, after one change.

Run with `python -m tests.benchmarks.bench_open_vault [COUNT]`. Prints seconds and MiB; every case is a process of its
own, so that none profits from another. "The window waits" is the longest time that a 5 ms timer was late meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lorestudio.domain.entry import VaultIndex
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.library import Library, LibraryListener, LibraryNews
from lorestudio.vault.cache import VaultCache
from lorestudio.vault.index import RefreshReason
from lorestudio.vault.sources import FolderSource

CASES = ("cold", "warm", "one file changed", "followed change", "manual refresh")
WORDS = [start + end for start in ("ar", "bel", "cor", "dun", "el", "fen") for end in ("dale", "moor", "wick", "ia")]


def write_vault(folder: Path, count: int) -> None:
    """Notes of about 1.3 kB in folders of 100, with links, references and gating fields; one in ten is a plain note."""
    rng = random.Random(1)
    for number in range(count):
        place = folder / f"region {number // 100:03}"
        place.mkdir(parents=True, exist_ok=True)
        others = [f"Place {rng.randrange(count):05}" for _ in range(4)]
        front = (
            f"---\ntags: [{'lorebook' if number % 10 else 'note'}, town]\nkeys:\n  - place {number}\n"
            f"  - {rng.choice(WORDS)} {number}\npriority: {rng.randrange(100)}\nsummary: A place in the south.\n"
            f"requires: [{others[0]}]\nera: [dawn, dusk]\n---\n"
        )
        text = " ".join(rng.choice(WORDS) for _ in range(150))
        links = " ".join(f"[[{other}]]" for other in others)
        (place / f"n{number:05}.md").write_text(f"{front}# Place {number:05}\n{text}\n\n{links}\n", encoding="utf-8")


async def lateness(stop: asyncio.Event) -> float:
    """The longest delay of a short timer, in seconds: what a window would feel."""
    worst = 0.0
    while not stop.is_set():
        begun = time.perf_counter()
        await asyncio.sleep(0.005)
        worst = max(worst, time.perf_counter() - begun - 0.005)
    return worst


async def measure(case: str, folder: Path, cache: VaultCache) -> dict[str, Any]:
    """The figures of one case."""
    stop = asyncio.Event()
    timer = asyncio.create_task(lateness(stop))
    news: list[LibraryNews] = []
    confirmed = asyncio.Event()

    def take(found: LibraryNews) -> None:
        news.append(found)
        if found.confirmed:
            confirmed.set()

    library = Library([FolderSource(folder)], DeepLoreSettings(), cache=cache, listener=LibraryListener(take))
    begun = time.perf_counter()
    async with library:
        first = await library.open()
        shown = time.perf_counter() - begun
        if first.confirmed:
            checked = shown
        else:
            await confirmed.wait()
            checked = time.perf_counter() - begun
        stored = time.perf_counter()
        await library.settled()
        stored = time.perf_counter() - stored
        followed = 0.0
        if case == "followed change":
            path = folder / "region 000" / "n00001.md"
            path.write_text(path.read_text(encoding="utf-8") + "more\n", encoding="utf-8")
            begun = time.perf_counter()
            await library.refresh(RefreshReason.CHANGED_ON_DISK)
            followed = time.perf_counter() - begun
        elif case == "manual refresh":
            begun = time.perf_counter()
            await library.refresh()
            followed = time.perf_counter() - begun
        figures = {
            "index shown": shown, "checked": checked, "written to the cache": stored, "refresh": followed,
            "read": news[-1].read, "parsed": news[-1].parsed, "entries": len(library.index.entries),
        }  # fmt: skip
        stop.set()
        figures["the window waits"] = await timer
    figures["peak MiB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return figures


def run_case(case: str, root: Path) -> None:
    """One case in this process; prints JSON."""
    if case == "empty process":
        figures: dict[str, Any] = {"entries": len(VaultIndex().entries)}
        figures["peak MiB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    else:
        with VaultCache(root / "cache.sqlite") as cache:
            figures = asyncio.run(measure(case, root / "vault", cache))
    sys.stdout.write(json.dumps(figures) + "\n")


def main(count: int) -> None:
    """Print a block a case."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        write_vault(root / "vault", count)
        time.sleep(3.5)  # files written a moment ago are read once more
        for case in ("empty process", *CASES):
            if case == "one file changed":
                path = root / "vault" / "region 000" / "n00002.md"
                path.write_text(path.read_text(encoding="utf-8") + "more\n", encoding="utf-8")
            command = [sys.executable, "-m", "tests.benchmarks.bench_open_vault", "--case", case, str(root)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - it runs this file
            figures = json.loads(done.stdout)
            sys.stdout.write(f"{case}, {count:,} notes\n")
            for name, value in figures.items():
                shown = f"{value:.3f} s" if isinstance(value, float) else f"{value:,}"
                sys.stdout.write(f"  {name:22} {shown:>10}\n")
        size = (root / "cache.sqlite").stat().st_size / 2**20
        sys.stdout.write(f"cache file {size:.1f} MiB\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        run_case(sys.argv[2], Path(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 10_000)
