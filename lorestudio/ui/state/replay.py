"""Running the chat: choosing how, replaying all of it or a part, and hearing what the worker makes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Unpack

from PySide6.QtCore import QObject, QTimer

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.domain.records import replace
from lorestudio.settings.declaration import Section
from lorestudio.studio.project.answering import Question
from lorestudio.studio.replay.ranges import MessageRange, Superseded
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import SystemKind
from lorestudio.systems.registry import kind_of
from lorestudio.ui.shell.jobs import Job
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.words import Notice, count, tr
from lorestudio.ui.state.choices import ChoiceChanges, RunChoice, system_title
from lorestudio.ui.state.replay_worker import (
    Finished,
    LiveBoard,
    LiveRun,
    MakeSimulator,
    Replay,
    Replayer,
    ReplayNews,
    Tallied,
    WantedReplay,
    Withdrawn,
)
from lorestudio.ui.state.session_state import SessionState
from lorestudio.ui.state.traces import SessionRuns
from lorestudio.ui.state.undo import Adjustments, SystemStep

REST_MS: Final = 10
"""Between two reports the window has at least this long for everything else."""

LOOK_MS: Final = 100
"""While a replay runs, the window looks at the run under way this often."""


class Replays(QObject):
    """One replay at a time, in a worker; the next one that is wanted begins when the last has ended.

    `automatic` says whether a project is replayed as soon as it is shown; `live` is the run under way, `tally` what
    the last replay did.
    """

    def __init__(
        self,
        session: SessionState,
        runs: SessionRuns,
        steps: Adjustments,
        make_simulator: MakeSimulator,
        read_for: Callable[[SystemKind, Callable[[], None]], bool],
    ) -> None:
        """`read_for` reads lorebooks for a system and chooses it then, or calls what it is given where that is stopped;
        it is false where they are read so already.
        """
        super().__init__(session)
        self._session, self._runs, self._steps, self._read_for = session, runs, steps, read_for
        self.automatic = True
        self.live: LiveRun | None = None
        self.tally: Tallied | None = None
        self._next: WantedReplay | SystemKind | None = None
        self._said: Collection[str] = ()
        self._unkept: deque[Simulator] = deque()
        self._keeping = threading.Lock()
        self._board = LiveBoard()
        self._replayer = Replayer(make_simulator, session.connections, session.keep_in, self._board)
        self._rest = later(self, self._hear, REST_MS)
        self._look = QTimer(self, interval=LOOK_MS)
        self._look.timeout.connect(self._look_at_run)
        session.project_replaced.connect(self._forget)
        session.project_shown.connect(self.run_unasked)

    # ---- how the chat is run ----------------------------------------------------------------------------------------

    def choose(self, **changes: Unpack[ChoiceChanges]) -> None:
        """Run the project in another way from now on, and replay it; the traces made so far stay until then.

        A system that has the lorebooks read otherwise is chosen once they are.
        """
        session, kind = self._session, kind_of(changes["system"]) if "system" in changes else None
        if isinstance(self._next, SystemKind) and kind is not None:  # it was thought better of
            self._next = WantedReplay(session.choice.effective)
        if kind is not None and session.project is not None:
            if self._runs.replaying and not session.project.is_read_for(kind):
                self._next = kind
                self._stop()
                session.choice_changed.emit()  # what shows a choice that a person made shows what holds
                return
            if self._read_for(kind, self.run_unasked):
                return
        self._choose(session.choices.with_settings(replace(session.choice, **changes)))

    def configure(self, settings: Mapping[str, Section], title: str = "") -> None:
        """Systems by their names have these settings from now on; the chat is replayed where one of them is chosen.

        With a `title` that is one step that can be taken back, as other changes of the project are.
        """
        session, known = self._session, self._session.choices.systems
        if title:
            before = {name: known.get(name) or type(each)() for name, each in settings.items()}
            self._steps.add(SystemStep(title, before, dict(settings)))
        known.update(settings)
        session.configured.emit()
        self._choose(session.choices.with_settings(session.choice))

    def take(self, systems: Mapping[str, Section], said: Collection[str] = ()) -> str:
        """A SillyTavern's settings of systems hold from now on; a sentence where they take the place of one's own.

        What is `said` of the project already is not told again.
        """
        self._said = said
        known = self._session.choices.systems
        changed = {name: each for name, each in systems.items() if known.get(name) != each}
        own = [name for name, each in changed.items() if known.get(name) not in (None, type(each)())]
        if changed:
            self.configure(changed, tr("settings of SillyTavern"))
        if not own:
            return ""
        return tr("The settings of {systems} are SillyTavern's from now on, also for other chats; “Undo setting or "
                  "chat change” brings yours back.", systems=", ".join(map(system_title, own)))  # fmt: skip

    def system_changed(self, system: str) -> None:
        """What a system beside DeepLore knows is other than it was: its runs are made again where it is chosen."""
        self._runs.drop(lambda choice: choice.system == system)
        if self._session.choice.system == system:
            self.run_all(fresh=True)

    def _choose(self, choice: RunChoice) -> None:
        session, before = self._session, self._session.choice
        if session.project is None or choice == before:
            return
        session.choices.save(chat_id(session.project), choice)
        session.choice = choice
        session.project = choice.applied(session.project)
        session.choice_changed.emit()
        session.state_changed.emit()
        if choice.effective != before.effective:
            self.run_all()

    # ---- running it -------------------------------------------------------------------------------------------------

    def run_all(self, *, fresh: bool = False) -> None:
        """Run every generation of the chat, in order; with `fresh`, all anew and also what has a recorded answer.

        A replay that costs something begins once `begin` agrees to what `cost_known` says.
        """
        self._start(WantedReplay(self._session.choice.effective, fresh=fresh))

    def run_unasked(self) -> None:
        """Run the chat of a project that is shown now, unless `automatic` is off; nothing that costs is begun."""
        if self.automatic:
            self._start(WantedReplay(self._session.choice.effective, asked=False))

    def run_to(self, generation: Generation) -> None:
        """Run one generation, and before it what it builds on."""
        if generation in self._session.generations:
            self._start(WantedReplay(self._session.choice.effective, generation))

    def run_range(self, messages: MessageRange) -> None:
        """Run the replies from one message to another, and before them what they build on where it is missing.

        Raises ValueError, with a sentence, where no reply stands there.
        """
        generations = self._session.generations
        part = messages.part(generations)
        first, last = generations[part.start], generations[part.stop - 1]
        self._start(WantedReplay(self._session.choice.effective, last, first))

    def begin(self, finished: Finished) -> None:
        """Start the replay whose cost was asked about."""
        if finished.wanted.choice == self._session.choice.effective:
            self._start(replace(finished.wanted, agreed=True))

    def cancel(self) -> None:
        """Stop the replay, also in the middle of a question; the traces made so far stay."""
        self._next = None
        self._stop()

    def _forget(self) -> None:
        """Another project is shown: what ran and what was done is not about it."""
        self.live, self.tally = None, None
        if not self._session.renewed:
            self._said, self._replayer.told = (), []
            if isinstance(self._next, SystemKind):
                self._next = None

    def close(self) -> None:
        """End the replay and all jobs beside it, and keep what was run."""
        replay = self._runs.replay
        self.cancel()
        self._look.stop()
        self._rest.stop()
        self._session.jobs.wait()
        if replay is not None and replay.simulator is not None and replay.tally.begun:
            self._replayer.save(replay.simulator)  # nobody hears any more that it has ended

    def _start(self, wanted: WantedReplay) -> None:
        session, project = self._session, self._session.project
        if project is None or not session.generations:
            return
        if self._runs.replaying:
            self._next = wanted
            self._stop()
            return
        if session.busy:
            return
        replay = self._runs.begin(wanted)
        replay.heard.set()
        self._board.follow(lambda: None)
        session.set_activity(tr("Replaying the chat…"))
        self._look.start()

        work = partial(self._replayer.work, project, replay)
        replay.job = session.jobs.start(
            session.activity, work, done=self._ran, failed=self._failed, reported=self._news
        )

    def _stop(self) -> None:
        if self._runs.replay is not None:
            self._runs.replay.stop()

    # ---- the window's side ------------------------------------------------------------------------------------------

    def _look_at_run(self) -> None:
        self.live = self._board.look() if self._runs.replaying else None
        self._session.live_changed.emit()

    def _hear(self) -> None:
        """The window has had its rest and takes more news."""
        if self._runs.replay is not None:
            self._runs.replay.heard.set()

    def _news(self, news: ReplayNews | Replay | Question | Withdrawn) -> None:
        if isinstance(news, ReplayNews):
            self._replay_news(news)
        elif isinstance(news, Replay):
            self._runs.remember(news)
        elif isinstance(news, Question):
            self._look_at_run()  # whoever shows it says which reply it is for
            self._session.question.emit(news)
        else:
            self._session.withdrawn.emit(news.question)

    def _replay_news(self, news: ReplayNews) -> None:
        replay = self._runs.replay
        if self._runs.take_news(news.traces):
            self._session.news.emit(news)
            self._session.progress.emit(news.progress)
        if replay is not None:
            self._rest.start()

    def _ran(self, finished: Finished) -> None:
        self._ended(finished.problems)
        if self._next is not None:
            self._go_on(self._next)
        elif not finished.cost:
            if finished.wanted.asked and self.tally is not None:
                self._session.replayed.emit(self.tally)
        elif finished.wanted.asked:
            self._session.cost_known.emit(finished)
        else:
            text = tr("{cost} It begins when you say so.", cost=finished.cost)
            self._session.notice.emit(Notice(text, actions=("replay.all",), key="replay"))

    def _failed(self, error: Exception) -> None:
        problems = tuple(self._runs.replay.problems) if self._runs.replay is not None else ()
        self._ended(problems)
        if self._next is not None:
            self._go_on(self._next)
        elif isinstance(error, Cancelled | Superseded):
            done = count(len(self._runs.current), "reply", "replies")
            text = tr("The replay was stopped. {done} done; the rest can be run again.", done=done)
            self._session.notice.emit(Notice(text, actions=("replay.all",), key="replay"))
        else:
            self._session.fail(error)

    def _ended(self, problems: Sequence[str]) -> None:
        """Nothing runs any more: take what was made, keep it, and say what went wrong beside it."""
        replay = self._runs.replay
        self._rest.stop()
        if replay is not None:
            self.tally = replay.tally
            self._keep(replay)
        self._look.stop()
        self.live = None
        self._runs.end()
        self._session.set_activity("")
        self._session.live_changed.emit()
        wanted = self._next
        other = isinstance(wanted, SystemKind) or (wanted and replay and wanted.choice != replay.wanted.choice)
        if replay is not None and other:
            self._replayer.told = []  # the run in its place says what still holds
        else:
            self._tell(problems)

    def _keep(self, replay: Replay) -> None:
        """Keep the runs for the next start, beside whatever comes next."""
        simulator = replay.simulator
        if simulator is not None and replay.tally.begun and self._session.keep_in is not None:
            self._unkept.append(simulator)
            self._session.jobs.start(tr("Keeping the runs"), self._keep_in_turn, done=self._tell)

    def _keep_in_turn(self, _job: Job) -> list[str]:
        """Keep what waits for it, in a worker: what was run last comes last, however long another worker took."""
        problems: list[str] = []
        with self._keeping:
            while self._unkept:
                problems += self._replayer.save(self._unkept.popleft())
        return problems

    def _tell(self, problems: Iterable[str]) -> None:
        problems = [each for each in problems if not any(said in each for said in self._said)]
        if problems:
            self._session.notice.emit(Notice(" ".join(problems), "warning", key="replayed"))

    def _go_on(self, wanted: SystemKind | WantedReplay) -> None:
        self._next = None
        if isinstance(wanted, SystemKind):
            self._read_for(wanted, self.run_unasked)
        else:
            self._start(wanted)
