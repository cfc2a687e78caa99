"""How long the window does not answer while it works on large vaults.

Run with `QT_QPA_PLATFORM=offscreen python -m tests.benchmarks.bench_window FOLDER`, FOLDER holding the inputs as
N.json.gz (`files`, `chat`, `settings`). Prints for each thing that a person does the longest turn of the event loop in
milliseconds: by the clock, and what the window's thread computed in it (the same on a busy machine).
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSettings
from PySide6.QtWidgets import QApplication

from lorestudio.domain.chat import Chat
from lorestudio.domain.lifecycle import taking_turns
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.chats.document import read_message
from lorestudio.settings.deeplore import sanitise
from lorestudio.studio.project.answering import Connections
from lorestudio.studio.project.project import Project
from lorestudio.ui.shell.app import application, collected_on_gui_thread
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.replay_worker import TURN_SECONDS
from lorestudio.ui.state.session import Session
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index

MODES = {"keywords-only": {}, "ai-only": {"aiSearchEnabled": True, "aiSearchMode": "ai-only"}}


class Heartbeat(QObject):
    """Measures the longest turn of the event loop: by the clock, and by what its thread computed meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.begin()
        self.startTimer(0)

    def event(self, event: QEvent) -> bool:
        """Qt: a turn of the event loop."""
        if event.type() == QEvent.Type.Timer:
            self._turn()
        return super().event(event)

    def begin(self) -> None:
        """Measure from now on."""
        self._clock, self._computed = time.perf_counter(), time.thread_time()
        self._longest = (0.0, 0.0)

    def longest_ms(self) -> tuple[float, float]:
        """The longest turn since `begin`, in milliseconds of both kinds."""
        self._turn()
        return 1000 * self._longest[0], 1000 * self._longest[1]

    def _turn(self) -> None:
        clock, computed = time.perf_counter(), time.thread_time()
        self._longest = (max(self._longest[0], clock - self._clock), max(self._longest[1], computed - self._computed))
        self._clock, self._computed = clock, computed


def project(data: dict[str, Any], mode: dict[str, Any]) -> Project:
    """The input as a project with a chat."""
    settings = sanitise({**data["settings"], "enabled": True, **mode}).settings
    files = [VaultFiles("bench", tuple(NoteFile(path, text) for path, text in data["files"]))]
    chat = Chat(messages=tuple(read_message(raw) for raw in data["chat"]))
    return Project((None,), index=build_index(files, settings, CHARS_4), settings=settings, chat=chat)


@contextmanager
def window_on_screen() -> Iterator[MainWindow]:
    """A window with settings and profiles of its own."""
    app = application(offscreen=True)
    theme = Theme("light")
    theme.apply()
    with TemporaryDirectory() as folder, collected_on_gui_thread(), taking_turns(TURN_SECONDS):  # as in the program
        settings = QSettings(str(Path(folder) / "window.ini"), QSettings.Format.IniFormat)
        session = Session(connections=Connections(Path(folder) / "profiles.json"))
        session.replays.automatic = False
        window = MainWindow(session, theme, settings)
        session.setParent(window)
        window.resize(1280, 800)
        window.show()
        app.processEvents()
        yield window
        window.close()


def pause_ms(heart: Heartbeat, work: Callable[[], object], until: Callable[[], bool]) -> tuple[float, float]:
    """The longest turn while `work` is done and its consequences settle."""
    for _ in range(20):
        QApplication.processEvents()
    heart.begin()
    work()
    QApplication.processEvents()
    end = time.monotonic() + 0.5
    while not until() or time.monotonic() < end:
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # as the program's own loop does
    return heart.longest_ms()


def measure(data: dict[str, Any], name: str) -> list[tuple[str, tuple[float, float]]]:
    """All figures for one input and mode."""
    shown = project(data, MODES[name])
    with window_on_screen() as window:
        session, selection, heart = window.session, window.context.selection, Heartbeat()
        figures = []

        def idle() -> bool:
            return not session.busy and session.jobs.idle

        def note(what: str, work: Callable[[], object]) -> None:
            figures.append((what, pause_ms(heart, work, idle)))

        note("show the project", lambda: session.set_project(shown))
        note("replay the chat", session.replays.run_all)
        last, middle = session.generations[-1], session.generations[len(session.generations) // 2]
        note("choose a message", lambda: selection.choose_message(last.message, last))
        note("choose another", lambda: selection.choose_message(middle.message, middle))
        note("choose an entry", lambda: selection.choose_entry(7))
        note("filter the vault", lambda: window.features.vault.pane.filter.setText("ka"))
        note("switch the theme", lambda: window.features.window.choose_theme("dark"))
    return figures


def main(folder: Path) -> None:
    """Print a table for each input and mode."""
    for path in sorted(folder.glob("*.json.gz"), key=lambda path: path.stat().st_size):
        data = json.loads(gzip.decompress(path.read_bytes()))
        for name in MODES:
            lines = [f"{len(data['files']):,} notes, {name}"]
            lines += [
                f"  {what:20} {clock:8.1f} ms   {computed:8.1f} ms computed"
                for what, (clock, computed) in measure(data, name)
            ]
            sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
