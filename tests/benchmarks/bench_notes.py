"""Links, mentions, renaming and searching in a large vault, and the wakes of its entries.

Run with `python -m tests.benchmarks.bench_notes [COUNT]`. Prints milliseconds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.notes.renaming import NewName, plan_rename
from lorestudio.studio.notes.search import SearchOptions, parse_query, search
from lorestudio.studio.notes.vault_notes import VaultNotes, read_vault_notes
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.matching.key_search import DeepLoreWakes
from lorestudio.vault.index import build_index
from tests.benchmarks.bench_open_vault import write_vault
from tests.vault.folders import read_folder

QUERIES = (
    ("one title", '"Place 00123"', SearchOptions()),
    ("a word in every note", "dunwick", SearchOptions()),
    ("nothing", "zzzz", SearchOptions()),
    ("two words, one excluded", "ardale elmoor -belmoor", SearchOptions()),
    ("an expression", r"\b(cor|dun)\w+ia\b", SearchOptions(regex=True)),
    ("operators", "path:010 tag:town key:place dunwick", SearchOptions()),
)


def timed(name: str, work: Callable[[], object]) -> None:
    """Run and print how long it took."""
    begun = time.perf_counter()
    work()
    sys.stdout.write(f"  {name:34} {(time.perf_counter() - begun) * 1000:10,.1f} ms\n")


def measure(vault: VaultNotes) -> None:
    """The questions that the window asks."""
    index = vault.index
    names = list(index.notes)
    some = names[:: max(1, len(names) // 500)]
    timed(f"backlinks of {len(some)} notes", lambda: [index.backlinks(name) for name in some])
    timed(f"mentions of {len(some)} notes", lambda: [index.mentions(name) for name in some])
    name = some[len(some) // 2]
    text = index.notes[name].text
    timed("one note's text changed", lambda: index.changed(name, f"{text} more"))
    timed("one note's title changed", lambda: index.changed(name, text.replace("# ", "# New ")))
    timed("plan of a rename", lambda: plan_rename([vault], vault.path(name), NewName("New name")))
    for told, query, options in QUERIES:
        parsed = parse_query(query, options)
        timed(f"search: {told}", lambda parsed=parsed: list(search(vault, parsed)))  # type: ignore[misc]  # bound now


def main(count: int) -> None:
    """Print all figures for a vault of so many notes."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory).resolve()
        write_vault(folder, count)
        sys.stdout.write(f"{count:,} notes\n")
        vaults: list[VaultNotes] = []
        timed("read and indexed", lambda: vaults.append(read_vault_notes(folder)))
        measure(vaults[0])
        settings = DeepLoreSettings(recursive_scan=True)
        engine = DeepLoreIndex(build_index([read_folder(folder)], settings, CHARS_4))
        finder = DeepLoreWakes(engine.vault, settings)
        timed("all wakes", lambda: [finder.wakes(entry) for entry in engine.visible])
        timed("wakes of one entry", lambda: finder.wakes(engine.visible[0]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 10_000)
