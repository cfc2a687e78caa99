"""What later stages would have done with stopped entries: the chosen one at once, those in sight in the background."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.studio.would_also import HeldRuns
from lorestudio.trace.model import Trace
from lorestudio.trace.would import WouldAlso
from lorestudio.ui.selection import Selection
from lorestudio.ui.session import Session
from lorestudio.ui.words import tr


class WouldWork(QObject):
    """Follows the chosen reply. `found` carries an entry and what was learnt of it.

    Entries are asked about one after the other in one job at a time; a question that is not in sight any more is
    dropped. Where a reply has not been run as is chosen now, nothing is asked.
    """

    found = Signal(int, object)  # the entry, WouldAlso

    def __init__(self, session: Session, selection: Selection, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._selection = session, selection
        self._runs: HeldRuns | None = None
        self._known: dict[int, WouldAlso | None] = {}
        self._wanted: tuple[int, ...] = ()
        self._cancel: CancelToken | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._go_on)
        self.in_sight: Callable[[], Sequence[int]] = tuple
        for signal in (
            session.traces_changed, session.preview_changed, session.state_changed, session.project_changed,
            selection.generation_changed, selection.entry_changed,
        ):  # fmt: skip
            signal.connect(self.look)

    @property
    def trace(self) -> Trace | None:
        """The run that is asked about."""
        return self._runs.trace if self._runs is not None else None

    def of(self, trace: Trace | None, entry: int) -> WouldAlso | None:
        """What is known of an entry in that run."""
        return self._known.get(entry) if trace is not None and trace is self.trace else None

    def look(self) -> None:
        """Something else may be in sight: ask about what is not known yet, soon."""
        self._soon.start()

    def stop(self) -> None:
        """Ask no more."""
        self._soon.stop()
        if self._cancel is not None:
            self._cancel.cancel()

    def _go_on(self) -> None:
        self._take_run()
        runs = self._runs
        if runs is None:
            return
        chosen = self._selection.entry if self._session.entry(self._selection.entry) is not None else None
        wanted = dict.fromkeys([*([chosen] if chosen is not None else []), *self.in_sight()])
        self._wanted = tuple(entry for entry in wanted if entry not in self._known)
        if not self._wanted:
            return
        if self._cancel is not None:  # a job is at work; the chosen entry does not wait for what it looks at
            if self._wanted[0] == chosen:
                self._cancel.cancel()
            return
        cancel = self._cancel = CancelToken()
        entries = self._wanted

        def work(report: Callable[[object], None]) -> None:
            for entry in entries:
                if cancel.cancelled:
                    return
                try:
                    report((runs, entry, runs.of(entry, cancel)))
                except Cancelled:
                    return

        self._session.jobs.start(
            tr("What later stages would have done"),
            work,
            done=lambda _none: self._ended(),
            failed=lambda _error: self._failed(entries),
            reported=self._learnt,
            owner=self,
        )

    def _take_run(self) -> None:
        session, generation = self._session, self._selection.generation
        trace = session.runs.trace(generation)
        simulator = session.runs.simulator(generation)
        if simulator is None or generation is None or trace is None:
            if self._runs is not None:
                self._forget()
            return
        if self._runs is not None and self._runs.trace is trace:
            return
        self._forget()
        preview = session.runs.preview_of(generation) if session.runs.preview_shown else None
        try:
            runs = HeldRuns(simulator, generation, preview)
        except ValueError:  # what it builds on is not there, so there is nothing to ask
            return
        self._runs = runs if runs.trace is trace else None  # what is shown may be from before a change

    def _forget(self) -> None:
        self._runs, self._known = None, {}
        if self._cancel is not None:
            self._cancel.cancel()

    def _learnt(self, news: tuple[HeldRuns, int, WouldAlso | None]) -> None:
        runs, entry, would = news
        if runs is self._runs:
            self._known[entry] = would
            if would is not None:
                self.found.emit(entry, would)

    def _ended(self) -> None:
        self._cancel = None
        self.look()

    def _failed(self, entries: Sequence[int]) -> None:
        self._known.update(dict.fromkeys(entries))  # the real run says what is wrong; this one adds nothing
        self._ended()
