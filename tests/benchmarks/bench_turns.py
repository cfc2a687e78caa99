"""Every turn of the window's event loop over 50 ms, with the place in the program where it was spent.

Run with `QT_QPA_PLATFORM=offscreen python -m tests.benchmarks.bench_turns FOLDER [NOTES] [REPLIES]`, FOLDER holding the
inputs as N.json.gz; 5,000 notes and 500 replies without. The vault lies on disk, so that notes can be typed in.

A turn counts by what the window's own thread computed in it, which is the same on a busy machine. A second thread looks
every few milliseconds where the first one stands; the place is the innermost function of ours seen most often.
"""

from __future__ import annotations

import gzip
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.chats.document import read_message
from lorestudio.settings.deeplore import sanitise
from lorestudio.studio.project.project import Project
from lorestudio.ui.shell.layout import WORKSPACES
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.folder import ScannedVault
from lorestudio.vault.index import update
from tests.benchmarks.bench_long_chat import lengthened
from tests.benchmarks.bench_window import window_on_screen

LONGEST_MS: Final = 50
LOOK_SECONDS: Final = 0.004


class Watchdog(QObject):
    """Notes the long turns of the event loop that it lives in."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[tuple[float, str]] = []
        self._seen: Counter[str] = Counter()
        self._begun, self._main, self._over = time.thread_time(), threading.get_ident(), threading.Event()
        self.startTimer(0)
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._looking.start()

    def event(self, event: QEvent) -> bool:
        """Qt: a turn is over."""
        if event.type() == QEvent.Type.Timer:
            self.turn()
        return super().event(event)

    def turn(self) -> None:
        """What was computed since the last call was one turn."""
        now = time.thread_time()
        took, seen, self._seen = 1000 * (now - self._begun), self._seen, Counter()
        if took > LONGEST_MS:
            self.turns.append((took, seen.most_common(1)[0][0] if seen else "not seen"))
        self._begun = time.thread_time()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self._looking.join()

    def _look(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self._seen[_place(sys._current_frames().get(self._main))] += 1


def _place(frame: FrameType | None) -> str:
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if "lorestudio" in path.parts and "tests" not in path.parts:
            return f"{path.parent.name}/{path.name}:{frame.f_lineno} {frame.f_code.co_qualname}"
        frame = frame.f_back
    return "Qt"


def project(folder: Path, data: dict[str, Any], replies: int) -> Project:
    """The input as a project whose vault lies in `folder`."""
    for path, text in data["files"]:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    settings = sanitise({**data["settings"], "enabled": True}).settings
    files = VaultFiles("bench", tuple(NoteFile(path, text) for path, text in data["files"]))
    state = update(None, [ScannedVault.of(files)], settings, CHARS_4).state
    chat = lengthened(Chat(messages=tuple(read_message(raw) for raw in data["chat"])), 2 * replies)
    return Project((folder,), index=state.index, settings=settings, chat=chat, vault_state=state)


def _longer(before: Project) -> tuple[Project, Project]:
    """The project after another program has added a turn to the chat: as it is shown, and as it was read."""
    chat = before.chat or Chat()
    after = replace(before, chat=replace(chat, messages=(*chat.messages, *chat.messages[-2:])))
    return after, after


def measure(there: Project) -> list[str]:
    """A line for each thing that a person does, and one for each long turn in it."""
    lines: list[str] = []
    with window_on_screen() as window:
        session, selection, features, watchdog = window.session, window.context.selection, window.features, Watchdog()

        def note(what: str, *works: Callable[[], object]) -> None:
            QApplication.processEvents()
            watchdog.turn()
            watchdog.turns.clear()
            for work in works:
                work()
                watchdog.turn()
                end = time.monotonic() + 0.4
                while session.busy or not session.jobs.idle or time.monotonic() < end:
                    QApplication.processEvents()
                    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # as the program's own loop does
            lines.append(f"  {what:22} {len(watchdog.turns)} long turns")
            lines.extend(f"    {took:8.1f} ms   {place}" for took, place in watchdog.turns)

        note("open", lambda: session.set_project(there))
        note("replay", session.replays.run_all)
        last, middle = session.generations[-2], session.generations[len(session.generations) // 2]
        note("choose a reply", *(lambda one=one: selection.choose_message(one.message, one) for one in (last, middle)))
        note("choose an entry", *(lambda entry=entry: selection.choose_entry(entry) for entry in (7, 11, 20)))
        bar = features.chat.pane.view.verticalScrollBar()
        note("scroll", *(lambda step=step: bar.setValue(bar.maximum() * step // 10) for step in range(10)))
        slider = features.budget.pane.slider.slider
        note("follow the chat", lambda: session.parts.chat_went_on(*_longer(session.project or there)))
        note("move the slider", *(lambda step=step: slider.setValue(slider.maximum() * step // 5) for step in range(5)))
        note("filter the vault", *(lambda text=text: features.vault.pane.filter.setText(text) for text in ("k", "ka")))
        note("switch workspace", *(lambda one=one: window.context.layout.enter(one) for one in WORKSPACES))
        note("switch the theme", *(lambda name=name: features.window.choose_theme(name) for name in ("dark", "light")))
        note("choose all notes", features.vault.pane.tree.selectAll)
        watchdog.stop()
    return lines


def main(folder: Path, notes: int = 5000, replies: int = 500) -> None:
    """Print the long turns."""
    data: dict[str, Any] = json.loads(gzip.decompress((folder / f"{notes}.json.gz").read_bytes()))
    with TemporaryDirectory() as place:
        lines = measure(project(Path(place), data, replies))
    sys.stdout.write(f"{notes:,} notes, {replies:,} replies: turns over {LONGEST_MS} ms\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(int(count) for count in sys.argv[2:]))
