"""The turns of the open chat, looked at off the GUI thread as their traces come in."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Chat, Generation, first_difference
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import same_start
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.studio.replay.runs import ShelvedTrace, TraceBook, is_same_run
from lorestudio.studio.replay.timeline import TimelineMaker, TimelineTurn
from lorestudio.studio.replay.timeline_grid import TimelineGrid
from lorestudio.trace.model import Trace
from lorestudio.trace.prompt_cache import CacheTotals, cache_totals
from lorestudio.ui.shell.jobs import Beat, Job
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.words import tr
from lorestudio.ui.state.selection import same_numbers
from lorestudio.ui.state.session import Session

PAUSE_MS: Final = 120
"""New traces are gathered for so long before they are looked at."""

REPLAY_PAUSE_MS: Final = 400
"""While a replay runs, which wants the same interpreter, they are gathered for so long."""

BATCH_SECONDS: Final = 0.03
"""After so long the window gets what was looked at so far."""


class TimelineFeed(QObject):
    """`turns` by generation and the `grid` with a column for each of `generations`, in the order of the chat.

    Nothing is done while nobody watches, and prompts are compared only for those who want that. Where the chat goes on,
    or is changed further on, the turns before that stay. `changed` follows new turns, `replaced` another chat or vault.
    """

    changed = Signal()
    replaced = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._watching: dict[str, bool] = {}
        """Who watches, and whether that one wants to know what prompt caches keep."""
        self._compared: set[Generation] = set()
        self._job: Job | None = None
        self._token = CancelToken()
        self._chat: Chat | None = None
        self._index = VaultIndex()
        self._setup: PromptSetup | None = None
        self._seen: dict[Generation, Trace | ShelvedTrace] = {}  # the run that a turn was made of
        self.generations: tuple[Generation, ...] = ()
        self.line: tuple[Generation, ...] = ()
        """The generations that the chat went on from: of each reply the active swipe."""
        self.columns: dict[Generation, int] = {}
        self.turns: dict[Generation, TimelineTurn] = {}
        self.grid = TimelineGrid(0)
        self._maker = TimelineMaker(None, (), _counter(session))
        self._totals: CacheTotals | None = None
        self._pause = later(self, self._look, PAUSE_MS)
        self._arrived: deque[Callable[[], None]] = deque()
        self._next = later(self, self._take_next)
        session.project_changed.connect(self._project_changed)
        session.setup_changed.connect(self._project_changed)
        session.traces_changed.connect(lambda _generations: self._wait())

    @property
    def busy(self) -> bool:
        """Whether turns are being looked at."""
        return self._job is not None or self._pause.isActive()

    @property
    def whole_prompts(self) -> bool:
        """Whether the whole prompts are compared, and not only lore and chat."""
        return self._maker.whole

    @property
    def totals(self) -> CacheTotals:
        """What prompt caches would have kept over the turns that the chat went on from."""
        if self._totals is None:
            self._totals = cache_totals(
                turn.cache
                for each in self.line
                if (turn := self.turns.get(each)) is not None and turn.cache is not None
            )
        return self._totals

    @property
    def swiped(self) -> frozenset[int]:
        """Messages that have several swipes."""
        return frozenset(each.message for each in self.generations if each.swipe)

    def watch(self, who: str, *, looks: bool, cache: bool = False) -> None:
        """Whether somebody looks: while anybody does, it keeps up with the traces. `cache` wants prompts compared."""
        if looks:
            self._watching[who] = cache
            self._look()
            return
        self._watching.pop(who, None)
        if not self._watching:
            self._pause.stop()
            self._token.cancel()

    def _project_changed(self) -> None:
        project, session = self._session.project, self._session
        chat = session.chat
        index = project.index if project is not None else VaultIndex()
        order = tuple(sorted(session.generations))
        setup = project.reply_setup if project is not None else None
        alike = setup == self._setup and same_numbers(index, self._index)
        self._index, self._setup = index, setup
        if alike and chat is self._chat and order == self.generations:
            self._wait()
            return
        self._token.cancel()
        maker = TimelineMaker(chat, session.generations, _counter(session), setup)
        known = order[: same_start(order, self.generations)] if alike and maker.whole == self._maker.whole else ()
        same = first_difference(self._chat, chat)
        kept = [each for each in known if each.message <= same]
        self._chat, self._maker, self.generations, self._totals = chat, maker, order, None
        # of one reply the active swipe is made last
        self.line = tuple({generation.message: generation for generation in session.generations}.values())
        self.columns = {generation: column for column, generation in enumerate(order)}
        self.turns = {each: self.turns[each] for each in kept if each in self.turns}
        self._seen = {each: self._seen[each] for each in self.turns}
        if kept:
            self.grid.go_on(len(kept), len(order))
            self.changed.emit()
        else:
            self.grid = TimelineGrid(len(order))
            self.replaced.emit()
        self._wait()

    def _wait(self) -> None:
        if self._watching and not self._pause.isActive():
            self._pause.start(REPLAY_PAUSE_MS if self._session.runs.replaying else PAUSE_MS)

    def _look(self) -> None:
        self._pause.stop()
        if not self._watching or self._job is not None:
            return  # what is missing is looked at when the job has ended
        traces = TraceBook(self._session.runs.traces)
        runs = traces.places
        cache = any(self._watching.values())

        same = {each for each, run in runs.items() if is_same_run(self._seen.get(each), run)}
        self._seen |= {each: runs[each] for each in same}
        done = same & self._compared if cache else same
        fresh = [each for each in runs if each in self.columns and each not in done]
        gone = [each for each in self._seen if each not in traces]
        for generation in gone:
            self._seen.pop(generation)
            self.turns.pop(generation, None)
            self.grid.drop(self.columns[generation])
        if gone:
            self._totals = None
            self.changed.emit()
        if not fresh:
            return
        self._start(fresh, traces, cache=cache)

    def _start(self, fresh: Sequence[Generation], traces: TraceBook, *, cache: bool) -> None:
        maker, token = self._maker, CancelToken()
        self._token = token

        def work(report: Callable[[object], None]) -> None:
            batch: list[TimelineTurn] = []
            beat = Beat(BATCH_SECONDS)
            for turn in maker.turns(traces, maker.affected(fresh), cache=cache):
                if token.cancelled:
                    return
                batch.append(turn)
                if beat.due():
                    report(tuple(batch))
                    batch = []
                    time.sleep(0)
            report(tuple(batch))

        def take(turns: Sequence[TimelineTurn]) -> None:
            if maker is self._maker:
                self._take(turns, traces, cache=cache)

        self._job = self._session.jobs.start(
            tr("Looking at the turns of the chat"),
            work,
            done=lambda _result: self._soon(self._done),
            failed=self._failed,
            reported=lambda turns: self._soon(partial(take, turns)),
        )

    def _soon(self, what: Callable[[], None]) -> None:
        """Do this in a turn of its own: several batches may have come while the window was busy."""
        self._arrived.append(what)
        self._next.start()

    def _take_next(self) -> None:
        self._arrived.popleft()()
        if self._arrived:
            self._next.start()

    def _take(self, turns: Sequence[TimelineTurn], traces: TraceBook, *, cache: bool) -> None:
        (self._compared.update if cache else self._compared.difference_update)(turn.generation for turn in turns)
        for turn in turns:
            self.turns[turn.generation] = turn
            self._seen[turn.generation] = traces.places[turn.generation]
            self.grid.put(self.columns[turn.generation], turn.summary)
        self._totals = None
        if turns:
            self.changed.emit()

    def _done(self) -> None:
        self._job = None
        self._look()
        if not self.busy:
            self.changed.emit()  # whoever waited for more need not wait any longer

    def _failed(self, error: Exception) -> None:
        self._job = None
        raise error


def _counter(session: Session) -> TokenCounter:
    return session.project.bills if session.project is not None else CHARS_4
