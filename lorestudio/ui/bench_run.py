"""Running texts on the test bench off the GUI thread: one at a time, and only the newest is told."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from lorestudio.studio.bench import Bench, BenchResult
from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.studio.project import Project
from lorestudio.studio.simulator import Simulator
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.words import sentence_of, tr

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BenchOrder:
    """A text to run, and on what: `simulator` has run the project's chat, None where nothing has."""

    project: Project
    simulator: Simulator | None
    text: str
    append: bool


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
        self._made: tuple[BenchOrder, Bench] | None = None

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

        def work() -> tuple[Bench, BenchResult]:
            bench = made[1] if made is not None and _same(made[0], order) else None
            if bench is None:
                bench = Bench(order.simulator) if order.simulator is not None else Bench.of(order.project)
            return bench, bench.test(order.text, append=order.append, cancel=token)

        def done(found: tuple[Bench, BenchResult]) -> None:
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


def _same(one: BenchOrder, other: BenchOrder) -> bool:
    """Whether one bench serves both."""
    return one.project is other.project and one.simulator is other.simulator
