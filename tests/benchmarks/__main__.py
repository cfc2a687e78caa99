"""Every benchmark, one after the other: at a small size so that none breaks unseen, or in full.

Run with `python -m tests.benchmarks` they work on the notes of the demo, and what they print says nothing about speed.
`QT_QPA_PLATFORM=offscreen python -m tests.benchmarks FOLDER` runs each as it is run by itself, FOLDER holding the
inputs as N.json.gz, in a process of its own: all figures of one machine in one go.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

SMALL: Final[dict[str, tuple[Any, ...]]] = {
    "bench_effects": (..., 10),
    "bench_facts": (200, 16),
    "bench_generation": (..., 120, 1),
    "bench_graph": ([60],),
    "bench_live": (..., [1000]),
    "bench_long_chat": (..., [30]),
    "bench_notes": (80,),
    "bench_open_vault": (40,),
    "bench_search": (..., 10),
    "bench_start": (..., [1000], 1),
    "bench_timeline": (40,),
    "bench_tokens": (40,),
    "bench_why_not": (..., 49),
    "bench_systems": (..., [1000]),
    "bench_turns": (..., 1000, 6),
    "bench_window": (...,),
}
"""What each is called with; `...` stands for the folder of inputs."""


def write_input(folder: Path) -> None:
    """The demo as such an input."""
    demo = Path(__file__).resolve().parents[2] / "resources" / "demo"
    chat = (demo / "chat.jsonl").read_text(encoding="utf-8").splitlines()
    data = {
        "files": [
            [path.relative_to(demo / "vault").as_posix(), path.read_text(encoding="utf-8")]
            for path in sorted((demo / "vault").rglob("*.md"))
            if not path.is_symlink() and _is_text(path)
        ],
        "chat": [json.loads(line) for line in chat[1:]],
        "settings": json.loads((demo / "settings.json").read_text(encoding="utf-8")),
    }
    (folder / "1000.json.gz").write_bytes(gzip.compress(json.dumps(data).encode()))


def _is_text(path: Path) -> bool:
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


def run_in_full(folder: str) -> None:
    """Run all of them; those that make their inputs themselves are not told of the folder."""
    for name, arguments in SMALL.items():
        sys.stdout.write(f"-- {name}\n")
        sys.stdout.flush()
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", *([folder] if ... in arguments else [])]
        subprocess.run(command, check=True)  # noqa: S603  # our own program


def main() -> None:
    """Run them at a small size, and fail where one has none."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    found = {path.stem for path in Path(__file__).parent.glob("bench_*.py")}
    if found != set(SMALL):
        sys.exit(f"SMALL must name each benchmark: {sorted(found ^ set(SMALL))}")
    with tempfile.TemporaryDirectory() as folder:
        write_input(Path(folder))
        for name, arguments in SMALL.items():
            begun = time.perf_counter()
            sys.stdout.write(f"-- {name}\n")
            benchmark = importlib.import_module(f"tests.benchmarks.{name}")
            benchmark.main(*(Path(folder) if argument is ... else argument for argument in arguments))
            sys.stdout.write(f"-- {name}: {time.perf_counter() - begun:.1f} s\n")
            sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1:]:
        run_in_full(sys.argv[1])
    else:
        main()
