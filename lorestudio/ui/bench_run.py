"""Running texts on the test bench off the GUI thread: one at a time, and only the newest is told."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from lorestudio.settings.declaration import Section
from lorestudio.studio.bench import Bench, BenchResult
from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.studio.keeping import ChatRuns
from lorestudio.studio.project import Project
from lorestudio.studio.simulator import Simulator
from lorestudio.studio.system_bench import SystemBench
from lorestudio.studio.system_simulator import SystemSimulator
from lorestudio.studio.systems import SystemKind
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.words import sentence_of, tr

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BenchOrder:
    """A text to run, and on what: `simulator` has run the project's chat, None where nothing has.

    `system` is the one beside DeepLore that decides, with its settings; None for DeepLore.
    """

    project: Project
    simulator: ChatRuns | None
    text: str
    append: bool
    system: tuple[SystemKind, Section] | None = None

    def bench(self) -> Bench | SystemBench:
        """Made for this text, and of use for all others that are run on the same."""
        if self.system is not None:
            runs = self.simulator if isinstance(self.simulator, SystemSimulator) else None
            return SystemBench(self.project, *self.system, runs)
        return Bench(self.simulator) if isinstance(self.simulator, Simulator) else Bench.of(self.project)

    def same_bench(self, other: BenchOrder) -> bool:
        """Whether one bench serves both."""
        alike = self.project is other.project and self.simulator is other.simulator
        return alike and self.system == other.system


class BenchRunner(QObject):
    """`tested` carries the result of the newest text, `failed` a sentence where it could not be run."""

    tested = Signal(object)  # BenchResult
    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._token = CancelToken()
        self._running: BenchOrder | None = None
        self._waiting: BenchOrder | None = None
        self._made: tuple[BenchOrder, Bench | SystemBench] | None = None

    @property
    def busy(self) -> bool:
        """Whether a text is being run."""
        return self._running is not None

    def cancel(self) -> None:
        """No text is wanted any more; what is under way ends at its next stage and is not told."""
        self._waiting = None
        self._token.cancel()

    def submit(self, order: BenchOrder) -> None:
        """Run this text, after the one under way has been given up."""
        self.cancel()
        if self._running is not None:
            self._waiting = order
        else:
            self._start(order)

    def forget(self) -> None:
        """Another project is shown: the bench of the last one is of no use."""
        self.cancel()
        self._made = None

    def _start(self, order: BenchOrder) -> None:
        self._running, self._token = order, CancelToken()
        token, made = self._token, self._made

        def work() -> tuple[Bench | SystemBench, BenchResult]:
            bench = made[1] if made is not None and made[0].same_bench(order) else order.bench()
            return bench, bench.test(order.text, append=order.append, cancel=token)

        def done(found: tuple[Bench | SystemBench, BenchResult]) -> None:
            self._made = order, found[0]
            self._ended()
            if not token.cancelled:
                self.tested.emit(found[1])

        def failed(error: Exception) -> None:
            self._ended()
            if not isinstance(error, Cancelled) and not token.cancelled:
                logger.error("the text could not be tested: %s", error, exc_info=error)
                self.failed.emit(sentence_of(error))

        self._jobs.start(tr("Testing the text"), lambda _report: work(), done=done, failed=failed)

    def _ended(self) -> None:
        self._running = None
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._start(waiting)
