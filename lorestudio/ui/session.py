"""What a window works on: the project, its simulator, the traces made so far, and the jobs that make them."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.studio.generation import Generation
from lorestudio.studio.jobs import Cancelled, CancelToken, Progress
from lorestudio.studio.project import Project, demo_project, open_project
from lorestudio.studio.simulator import Simulator, generations
from lorestudio.trace.model import Trace
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.notices import Notice
from lorestudio.ui.words import count, tr

logger = logging.getLogger(__name__)

REPORT_SECONDS: Final = 1 / 30
"""Progress reaches the window at most this often."""

REST_MS: Final = 10
"""Between two reports the window has at least this long for everything else."""

TURN_SECONDS: Final = 0.0002
"""How long a thread may compute before another gets its turn, while a replay runs."""


@dataclass(frozen=True, slots=True)
class ReplayNews:
    """What the window learns while a replay runs: how far it came and the traces finished since the last news."""

    progress: Progress
    traces: Mapping[Generation, Trace]


class Session(QObject):
    """Glue between the studio and the panes; it decides nothing about lore.

    All state changes on the GUI thread. Reading a vault and replaying run as jobs on snapshots, one at a time.
    """

    project_changed = Signal()
    traces_changed = Signal(object)  # the generations that have a new trace, or None for "all of them"
    state_changed = Signal()
    progress = Signal(object)  # Progress
    notice = Signal(object)  # Notice

    def __init__(
        self, parent: QObject | None = None, *, make_simulator: Callable[[Project], Simulator] = Simulator
    ) -> None:
        super().__init__(parent)
        self.jobs = Jobs(self)
        self.project: Project | None = None
        self.traces: dict[Generation, Trace] = {}
        self.generations: tuple[Generation, ...] = ()
        self._known: frozenset[Generation] = frozenset()
        self.stale = ""
        self.activity = ""
        self.auto_replay = True
        self._make_simulator = make_simulator
        self._simulator: Simulator | None = None
        self._token: CancelToken | None = None
        self._heard = threading.Event()

    # ---- what there is ----------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a job of the session runs."""
        return bool(self.activity)

    @property
    def replaying(self) -> bool:
        """Whether the running job is one that can be cancelled."""
        return self._token is not None

    def trace(self, generation: Generation | None) -> Trace | None:
        """The trace of a generation, None until it was run."""
        return self.traces.get(generation) if generation is not None else None

    def shown(self, message: int) -> Generation | None:
        """The generation of a message's active swipe, None where the message is not a reply."""
        chat = self.project.chat if self.project is not None else None
        if chat is None:
            return None
        swipe = chat.messages[message].swipe if message < len(chat.messages) else 0
        generation = Generation(message, swipe)
        return generation if generation in self._known else None

    def note_path(self, note: Entry | LeftOutNote) -> Path | None:
        """The file of a note, None where its vault has no folder in the project."""
        if self.project is None or note.vault not in self.project.index.vaults:
            return None
        return self.project.vault_folders[self.project.index.vaults.index(note.vault)] / note.filename

    def entry(self, entry: int | None) -> Entry | None:
        """The entry with that id, None where there is none."""
        entries = self.project.index.entries if self.project is not None else ()
        return entries[entry] if entry is not None and 0 <= entry < len(entries) else None

    def generation_for(self, message: int) -> Generation | None:
        """The generation to show for a message: its own, or for any other message that of the reply after it."""
        own = self.shown(message)
        if own is not None:
            return own
        later = next((item for item in self.generations if item.message >= message), None)
        return (self.shown(later.message) or later) if later is not None else None

    def swipes(self, message: int) -> tuple[Generation, ...]:
        """All generations of one reply."""
        return tuple(item for item in self.generations if item.message == message)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def open(self, vaults: Sequence[Path], chat: Path | None = None, settings: Path | None = None) -> None:
        """Read a vault, and a chat and settings where given, off the GUI thread; then show them."""
        self._read(", ".join(path.name for path in vaults), lambda: open_project(vaults, chat, settings))

    def open_demo(self) -> None:
        """Show the vault and chat that come with the program."""
        self._read(tr("the demo"), demo_project)

    def open_chat(self, path: Path) -> None:
        """Show another chat with the same vault."""
        if self.project is not None:
            project = self.project
            self._read(path.name, lambda: project.with_chat(path))

    def reload(self) -> None:
        """Read the same files again."""
        if self.project is not None:
            self._read(self.project.name, self.project.reloaded)

    def set_project(self, project: Project) -> None:
        """Show a project that was read already; its chat is replayed unless the session is told not to."""
        told = self.project.problems if self.project is not None else ()
        self.project = project
        self._simulator = None
        self.generations = ()
        self.traces = {}
        self.stale = ""
        if project.chat is not None:
            self.generations = generations(project.chat)
        self._known = frozenset(self.generations)
        self.project_changed.emit()
        self.traces_changed.emit(None)
        self.state_changed.emit()
        for problem in project.problems:
            if problem not in told:
                self.notice.emit(Notice(problem, "warning"))
        if self.auto_replay:
            self.replay()

    def replay(self) -> None:
        """Run every generation of the chat, in order."""
        if self.generations:
            self._run(lambda simulator, report, token: asyncio.run(_replay(simulator, report, token, self._heard)))

    def run_to(self, generation: Generation) -> None:
        """Run one generation, and before it what it builds on."""
        if generation in self.generations:
            self._run(lambda simulator, _report, _token: asyncio.run(simulator.generate(generation)))

    def cancel(self) -> None:
        """Stop the replay; the traces made so far stay."""
        if self._token is not None:
            self._token.cancel()

    def note_saved(self, path: Path) -> None:
        """A note was written: the traces were made from an older text and say so until the vault is read again."""
        self.stale = tr("{name} was saved after this replay. The results below are from before.", name=path.name)
        self.state_changed.emit()

    def close(self) -> None:
        """End all jobs; nothing of the session runs afterwards."""
        self.cancel()
        self.jobs.wait()

    # ---- jobs -------------------------------------------------------------------------------------------------------

    def _run(self, work: Callable[[Simulator, Callable[[object], None], CancelToken], object]) -> None:
        project = self.project
        if self.busy or project is None:
            return
        token = self._token = CancelToken()
        self._heard.set()
        self._set_activity(tr("Replaying the chat…"))

        def do(report: Callable[[object], None]) -> Simulator:
            # Made here, because preparing thousands of entries takes longer than a window may wait.
            simulator = self._simulator or self._make_simulator(project)
            self._simulator = simulator
            with _short_turns():
                work(simulator, report, token)
            return simulator

        self.jobs.start(self.activity, do, done=self._ran, failed=self._run_failed, reported=self._replay_news)

    def _read(self, name: str, work: Callable[[], Project]) -> None:
        if self.busy:
            return
        self._set_activity(tr("Reading {name}…", name=name))
        self.jobs.start(self.activity, lambda _report: work(), done=self._opened, failed=self._failed)

    def _opened(self, project: Project) -> None:
        self._set_activity("")
        self.set_project(project)

    def _failed(self, error: Exception) -> None:
        logger.error("a job failed: %s", error, exc_info=error)
        self._set_activity("")
        self.notice.emit(Notice(_sentence(error), "error", details="".join(traceback.format_exception(error))))

    def _replay_news(self, news: ReplayNews) -> None:
        self.traces.update(news.traces)
        if news.traces:
            self.traces_changed.emit(tuple(news.traces))
        self.progress.emit(news.progress)
        QTimer.singleShot(REST_MS, self, self._heard.set)

    def _ran(self, _simulator: Simulator) -> None:
        self._token = None
        self._take()
        self._set_activity("")

    def _run_failed(self, error: Exception) -> None:
        self._token = None
        self._take()
        if isinstance(error, Cancelled):
            self._set_activity("")
            done = count(len(self.traces), "reply", "replies")
            text = tr("The replay was stopped. {done} done; the rest can be run again.", done=done)
            self.notice.emit(Notice(text, actions=("replay.all",), key="replay"))
        else:
            self._failed(error)

    def _take(self) -> None:
        if self._simulator is not None:
            self.traces = dict(self._simulator.traces)
            self.progress.emit(Progress(len(self.traces), len(self.generations)))
            self.traces_changed.emit(None)

    def _set_activity(self, text: str) -> None:
        self.activity = text
        self.state_changed.emit()


@contextmanager
def _short_turns() -> Iterator[None]:
    """Let threads take turns more often than every 5 ms.

    Drawing needs many turns, and the window would wait for each while a replay computes.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


async def _replay(
    simulator: Simulator, report: Callable[[object], None], token: CancelToken, heard: threading.Event
) -> int:
    """Replay, reporting at most every `REPORT_SECONDS`, and never before the last report was dealt with."""
    sent: set[Generation] = set()
    last = 0.0

    def on_progress(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < REPORT_SECONDS or not heard.is_set():
            return
        last = now
        heard.clear()
        fresh = {key: trace for key, trace in simulator.traces.items() if key not in sent}
        sent.update(fresh)
        report(ReplayNews(progress, fresh))

    return len(await simulator.replay(on_progress, token))


def _sentence(error: Exception) -> str:
    return str(error) or tr("Something failed without saying why ({kind}).", kind=type(error).__name__)
