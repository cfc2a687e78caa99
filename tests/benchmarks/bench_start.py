"""What a start takes: the version, a small scenario, the window with the demo and with large vaults.

Run with `QT_QPA_PLATFORM=offscreen python -m tests.benchmarks.bench_start FOLDER [NOTES...]`, FOLDER holding the inputs
as N.json.gz (`files`, `chat`, `settings`). Every start is a process of its own, so that none profits from another, and
each is made five times: printed are the least and the middle one, processor time of the whole process in seconds. A
window is drawn once its vault and chat are in sight, and usable once the reply that is looked at was run; the vault's
cache is there from the start before.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

TIMES = 5

SCENARIO = {
    "id": "small",
    "settings": {},
    "vaults": [{"name": "v", "files": [["Quay.md", "---\ntags: [lorebook]\nkeys: [quay]\n---\nOf stone.\n"]]}],
    "messages": [{"name": "Ada", "is_user": True, "mes": "To the quay?"}],
    "generations": [{"now_ms": 0, "chat": [0]}],
}


def watched(command: list[str]) -> None:
    """In a process of its own: the command, printing when its window was drawn and when it was usable; then it ends."""
    from lorestudio.cli import main as run  # noqa: PLC0415  # as above
    from lorestudio.domain.resources import loading  # noqa: PLC0415  # its time counts

    with loading():  # in the order of the command itself, so that Qt changes no import
        from lorestudio.cli import window as window_commands  # noqa: PLC0415  # as above
        from lorestudio.ui.shell.app import MainWindow  # noqa: PLC0415  # as above
    from PySide6.QtCore import QTimer  # noqa: PLC0415  # only this process needs Qt
    from PySide6.QtGui import QPaintEvent  # noqa: PLC0415  # as above
    from PySide6.QtWidgets import QMainWindow  # noqa: PLC0415  # as above

    drawn = usable = 0.0

    def paint(window: MainWindow, event: QPaintEvent) -> None:
        nonlocal drawn
        QMainWindow.paintEvent(window, event)
        if not drawn and window.session.project is not None:
            drawn = time.process_time()
            look.setParent(window)
            look.start()

    def find() -> None:
        nonlocal usable
        window = look.parent()
        if not usable and window.session.runs.trace(window.context.selection.generation) is not None:
            usable = time.process_time()
        if usable and not window.session.busy:
            look.stop()
            sys.stdout.write(f"{drawn} {usable}\n")
            window.close()

    look = QTimer(interval=2)
    look.timeout.connect(find)
    MainWindow.paintEvent = paint
    window_commands.has_display = lambda: True  # nothing is shown, with Qt's platform offscreen
    sys.argv = ["lorestudio", *command]
    run()


def start(command: list[str], home: Path) -> tuple[float, str]:
    """Run it to its end in a home of its own; seconds of processor time, and what it printed."""
    places = {name: str(home / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, *command], env={**os.environ, "HOME": str(home), **places}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def say(what: str, *series: list[float]) -> None:
    told = "   ".join(f"{min(each):.2f} / {median(each):.2f}" for each in series)
    sys.stdout.write(f"{what:42} {told}\n")
    sys.stdout.flush()


def windows(what: str, command: list[str], home: Path, times: int) -> None:
    """Print when the window of this command is drawn and usable."""
    here = ["-m", "tests.benchmarks.bench_start", "--watched"]
    start([*here, *command], home)  # fills the caches
    told = [start([*here, *command], home)[1].split()[-2:] for _ in range(times)]
    say(what, *([float(each[place]) for each in told] for place in (0, 1)))


def write_project(folder: Path, given: dict[str, Any]) -> tuple[Path, Path]:
    """The vault and the chat of an input as files."""
    for name, text in given["files"]:
        path = folder / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    chat = folder / "chat.jsonl"
    chat.write_text("\n".join(json.dumps(line) for line in [{}, *given["chat"]]), encoding="utf-8")
    return folder / "vault", chat


def main(folder: Path, sizes: list[int], times: int = TIMES) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        scenario = home / "small.json"
        scenario.write_text(json.dumps(SCENARIO), encoding="utf-8")
        sys.stdout.write("processor seconds, least / middle\n")
        for command in (["--version"], ["run", str(scenario)]):
            say(f"lorestudio {command[0]}", [start(["-m", "lorestudio", *command], home)[0] for _ in range(times)])
        sys.stdout.write(f"{'':42} drawn         usable\n")
        windows("lorestudio demo", ["demo"], home, times)
        for notes in sizes:
            place = home / str(notes)
            vault, chat = write_project(place, json.loads(gzip.decompress((folder / f"{notes}.json.gz").read_bytes())))
            windows(f"lorestudio open, {notes:,} notes", ["open", str(vault), "--chat", str(chat)], home, times)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--watched"]:
        watched(sys.argv[2:])
    else:
        main(Path(sys.argv[1]), [int(each) for each in sys.argv[2:]] or [1000, 5000])
