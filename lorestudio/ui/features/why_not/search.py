"""Searching for the changes that bring the chosen note in, as a job that can be stopped.

While rows are looked at, it is learnt what later stages would have done with them, and what would help.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Generic, TypeAlias, TypeVar

from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote, NoteKey
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import HeldRuns
from lorestudio.studio.tryout.why_not import Answer, Holds, WhyNot, WhyNotFinder, WhyNotNews
from lorestudio.trace.held_run import WouldAlso
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import EntryRef, Trace
from lorestudio.ui.shell.jobs import Job, Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.words import sentence_of, tr
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session

_Answer = TypeVar("_Answer")
_Ask: TypeAlias = Callable[[int, CancelToken], _Answer | None]

KEPT: Final = 8
"""Searches whose results are kept while the run that they are about is there."""


class WhyNotSearch(QObject):
    """One search at a time, about the chosen note and reply; `changed` follows everything that it learns."""

    changed = Signal()
    _about: tuple[Generation, NoteKey]

    def __init__(self, session: Session, selection: Selection, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._selection = session, selection
        self._found: dict[tuple[Generation, NoteKey], WhyNot] = {}
        self._newest = Newest(session.jobs)
        self.news: WhyNotNews | None = None
        self.error = ""
        for signal in (selection.generation_changed, selection.entry_changed):
            signal.connect(self.stop)
        for signal in (session.traces_changed, session.state_changed, session.project_changed):
            signal.connect(self.changed)

    @property
    def note(self) -> Entry | LeftOutNote | EntryRef | None:
        """The note that a search would be about, or what else a run of another system knows."""
        known = self._selection.note_of(self._session)
        if known is not None or self._selection.entry is None:
            return known
        trace = self._session.runs.trace(self._selection.generation)
        return trace.entries.get(self._selection.entry) if trace is not None else None

    @property
    def takes_part(self) -> bool:
        """Whether the chosen note is anything that the run could have chosen."""
        trace, fate = self._session.runs.trace(self._selection.generation), self._fate
        return trace is None or fate is None or fate.reason not in trace.words.takes_no_part

    @property
    def _fate(self) -> Fate | None:
        """What became of the chosen entry in the chosen reply."""
        trace, entry = self._session.runs.trace(self._selection.generation), self._selection.entry
        return self._session.runs.journeys(trace).fate(entry) if trace is not None and entry is not None else None

    @property
    def running(self) -> bool:
        """Whether a search is under way."""
        return self._newest.busy

    @property
    def obstacle(self) -> str:
        """Why nothing can be searched, "" where it can."""
        session, generation = self._session, self._selection.generation
        if self.note is None or generation is None:
            return tr("Choose an entry first.") if self.note is None else tr("Choose a message of the chat first.")
        if session.runs.replaying:
            return tr("The chat is being replayed; what would help can be searched when that is done.")
        if session.runs.simulator(generation) is None:
            return tr("Run this reply first, as is chosen now: “Replay all” or “Run to this message”.")
        if session.runs.preview_of(generation) is not None and session.runs.preview_shown:
            return tr("What is shown has unsaved text in it. Save it, or look at the run before (B), then search.")
        return ""

    @property
    def goes_in(self) -> bool:
        """Whether the chosen entry goes into the chosen reply."""
        return self._fate is not None and self._fate.state.went_in

    @property
    def found(self) -> WhyNot | None:
        """What is known of the chosen note in the run that is shown."""
        generation, note = self._selection.generation, self.note
        if generation is None or note is None:
            return None
        known = self._found.get((generation, note.note_key))
        return known if known is not None and known.trace is self._session.runs.traces.get(generation) else None

    def begin(self) -> None:
        """Search for the chosen note and reply, if that is possible and was not done."""
        generation, note = self._selection.generation, self.note
        simulator, known = self._session.runs.simulator(generation), self.found
        needless = self.running or (known is not None and known.complete)
        if generation is None or note is None or simulator is None or self.obstacle or needless:
            self.changed.emit()
            return
        try:
            finder = WhyNotFinder(simulator, generation)
        except ValueError as error:  # what it builds on is not there
            self.error = sentence_of(error)
            self.changed.emit()
            return
        about = self._about = (generation, note.note_key)
        self.news, self.error = None, ""
        self._newest.start(
            tr("Finding what would bring it in"),
            lambda job: finder.find(about[1], job, job.token),
            done=partial(self._keep, about),
            failed=self._failed,
            reported=self._learnt,
        )
        self.changed.emit()

    def stop(self) -> None:
        """Stop searching; what was found stays."""
        self._newest.cancel()
        self.error = ""
        self.changed.emit()

    def _learnt(self, news: WhyNotNews) -> None:
        self.news = news
        self._keep(self._about, news.found)

    def _failed(self, error: Exception) -> None:
        self.error = sentence_of(error)
        self.changed.emit()

    def _keep(self, about: tuple[Generation, NoteKey], found: WhyNot) -> None:
        self._found.pop(about, None)
        self._found[about] = found
        while len(self._found) > KEPT:
            del self._found[next(iter(self._found))]
        self.changed.emit()


class RowWork(QObject, Generic[_Answer]):
    """Learns something of the rows of the chosen reply: of the chosen one at once, of those in sight behind it.

    Entries are asked about one after the other in one job at a time; a question that is not in sight any more is
    dropped. Where a reply has not been run as is chosen now, nothing is asked. `found` carries an entry and the answer.
    """

    found = Signal(int, object)
    TITLE = ""
    REST_MS = 0

    def __init__(self, session: Session, selection: Selection, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._selection = session, selection
        self.trace: Trace | None = None
        self._ask: _Ask[_Answer] | None = None
        self._known: dict[int, _Answer | None] = {}
        self._asked: tuple[int, ...] = ()
        self._newest = Newest(session.jobs)
        self._soon = later(self, self._go_on, self.REST_MS)
        self.in_sight: Callable[[], Sequence[int]] = tuple
        for signal in (
            session.traces_changed, session.preview_changed, session.state_changed, session.project_changed,
            selection.generation_changed, selection.entry_changed,
        ):  # fmt: skip
            signal.connect(self.look)

    def look(self, *_news: object) -> None:
        """Something else may be in sight: ask about what is not known yet, soon."""
        self._soon.start()

    def of(self, trace: Trace | None, entry: int) -> _Answer | None:
        """What is known of an entry in that run, None where nothing is."""
        return self._known.get(entry) if trace is not None and trace is self.trace else None

    @abstractmethod
    def _asking(self, simulator: Simulator, generation: Generation) -> tuple[Trace, _Ask[_Answer] | None]:
        """The run that is asked about, and how; None where there is nothing to ask. Raises ValueError."""

    def _go_on(self) -> None:
        self._take_run()
        ask, trace = self._ask, self.trace
        if ask is None or trace is None:
            return
        chosen = self._selection.entry if self._session.entry(self._selection.entry) is not None else None
        rows = dict.fromkeys([*([chosen] if chosen is not None else []), *self.in_sight()])
        wanted = tuple(entry for entry in rows if entry not in self._known)
        at_work = next((entry for entry in self._asked if entry not in self._known), None)
        if self._newest.busy and at_work not in rows:
            self._newest.cancel()  # nobody looks at it any more
        if not wanted or (self._newest.busy and not (wanted[0] == chosen != self._asked[0])):
            return  # only the chosen entry does not wait for what the job at work looks at
        self._asked = wanted

        def work(job: Job) -> None:
            for entry in wanted:
                if job.cancelled:
                    return
                try:
                    job((trace, entry, ask(entry, job.token)))
                except Cancelled:
                    return

        self._newest.start(
            tr(self.TITLE), work, done=lambda _none: self.look(), failed=partial(self._failed, wanted),
            reported=self._learnt,
        )  # fmt: skip

    def _take_run(self) -> None:
        session, generation = self._session, self._selection.generation
        trace, simulator = session.runs.trace(generation), session.runs.simulator(generation)
        if simulator is None or generation is None or trace is None:
            self._forget()
        elif self.trace is not trace:
            self._forget()
            try:
                run, ask = self._asking(simulator, generation)
            except ValueError:  # what it builds on is not there, so there is nothing to ask
                return
            if run is trace:  # what is shown may be from before a change
                self.trace, self._ask = run, ask

    def _forget(self) -> None:
        self.trace, self._ask, self._known = None, None, {}
        self._newest.cancel()

    def _learnt(self, news: tuple[Trace, int, _Answer | None]) -> None:
        trace, entry, answer = news
        if trace is self.trace:
            self._known[entry] = answer
            if answer is not None:
                self.found.emit(entry, answer)
            self.look()

    def _failed(self, entries: Sequence[int], _error: Exception) -> None:
        self._known.update(dict.fromkeys(entries))  # the real run says what is wrong; this one adds nothing
        self.look()


class WouldWork(RowWork[WouldAlso]):
    """What the stages behind the one that stopped an entry would have done with it."""

    TITLE = "What later stages would have done"

    def __init__(self, session: Session, selection: Selection, parent: QObject) -> None:
        super().__init__(session, selection, parent)
        self._why_not = ""

    def not_held(self, trace: Trace | None, entry: int) -> str:
        """Why nothing can be known of an entry that did not go into that run, "" where it can."""
        if trace is None or trace is not self.trace:
            return ""
        return "" if self._session.runs.journeys(trace).fate(entry).state.went_in else self._why_not

    def _asking(self, simulator: Simulator, generation: Generation) -> tuple[Trace, _Ask[WouldAlso] | None]:
        runs = self._session.runs
        held = HeldRuns(simulator, generation, runs.preview_of(generation) if runs.preview_shown else None)
        self._why_not = held.not_held
        return held.trace, None if held.not_held else held.of


class FixWork(RowWork[Answer]):
    """The best change that brings an entry in, for each row that stayed out: tried, and not made."""

    TITLE = "Trying what would bring entries in"
    REST_MS = 350

    def _asking(self, simulator: Simulator, generation: Generation) -> tuple[Trace, _Ask[Answer] | None]:
        finder, trace = WhyNotFinder(simulator, generation), simulator.traces[generation]
        ends, words = self._session.runs.journeys(trace), trace.words

        def ask(entry: int, cancel: CancelToken) -> Answer | None:
            fate, ref = ends.fate(entry), trace.entries.get(entry) or self._session.entry(entry)
            if ref is None or fate.state.went_in or fate.reason in words.takes_no_part:
                return None
            found = finder.find(ref.note_key, None, cancel, first=True)
            best = found.answers[0] if found.answers else None
            return best if best is not None and best.holds is not Holds.REPLY_ONLY else None

        return trace, ask
