"""A replay of the chat as the worker sees it: what was asked for, what it may cost, running it and keeping the runs.

The window reads the run under way (finished stages, the one that runs, a reply), also as a trace, so that every view of
traces can show it while it fills.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.lifecycle import Progress, taking_turns
from lorestudio.domain.records import Terse, replace
from lorestudio.studio.project.answering import AnswerKind, Asked, ChatRequest, Connections, Question, make_answers
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.costs import live_cost, vector_cost
from lorestudio.studio.replay.ranges import Pace
from lorestudio.studio.replay.run_store import RunStore
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import System
from lorestudio.systems.registry import kind_of, system_of, words_of
from lorestudio.trace.model import EntryRef, Phase, RunOutcome, StageRecord, Trace, Turn
from lorestudio.ui.shell.jobs import Beat, Job
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.ui.state.choices import RunChoice


class LiveRun(Terse, frozen=True):
    """A run under way at one moment. `stage` is "" between two stages; `since` is when it began (monotonic seconds).

    `request` is the question that waits for its answer, `reply` what has arrived of a streamed one.
    """

    unprinted = ("records", "request", "reply")

    generation: Generation
    records: tuple[StageRecord, ...] = ()
    stage: str = ""
    phase: Phase = Phase.LOAD
    since: float = 0.0
    request: ChatRequest | None = None
    reply: str = ""

    def elapsed(self, now: float | None = None) -> float:
        """Seconds that the running stage has taken so far."""
        return max(0.0, (time.monotonic() if now is None else now) - self.since) if self.stage else 0.0


class LiveBoard:
    """What a worker writes as a watcher of stages and an observer of answers, and any thread reads."""

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._timer = timer
        self._current: Callable[[], Generation | None] = lambda: None
        self._live: LiveRun | None = None

    def follow(self, current: Callable[[], Generation | None]) -> None:
        """Take another replay; `current` says which generation of it runs."""
        with self._lock:
            self._current, self._live = current, None

    def look(self) -> LiveRun | None:
        """The run at this moment, None where none has begun."""
        with self._lock:
            return self._live

    # ---- the worker's side ------------------------------------------------------------------------------------------

    def began(self, name: str, phase: Phase) -> None:
        """A stage begins."""
        generation = self._current()
        with self._lock:
            live = self._live
            if generation is None:
                self._live = None
            elif live is None or live.generation != generation:
                self._live = LiveRun(generation, (), name, phase, self._timer())
            else:
                self._live = replace(live, stage=name, phase=phase, since=self._timer())

    def finished(self, record: StageRecord) -> None:
        """A stage is over."""
        self._note(lambda live: replace(live, records=(*live.records, record), stage=""))

    def asked(self, request: ChatRequest) -> None:
        """A question was put."""
        self._note(lambda live: replace(live, request=request, reply=""))

    def heard(self, piece: str) -> None:
        """A piece of the reply arrived."""
        self._note(lambda live: replace(live, reply=live.reply + piece))

    def answered(self) -> None:
        """The question is settled."""
        self._note(lambda live: replace(live, request=None, reply=""))

    def _note(self, change: Callable[[LiveRun], LiveRun]) -> None:
        with self._lock:
            if self._live is not None:
                self._live = change(self._live)


def live_trace(live: LiveRun, index: VaultIndex, system: str, mode: str) -> Trace:
    """The finished stages of a run, and as the last one the stage that runs: all candidates are still in it."""
    records = list(live.records)
    if live.stage:
        waiting = records[-1].left if records else ()
        records.append(StageRecord(live.stage, live.phase, entered=waiting, left=waiting))
    named = {verdict.entry for record in records for verdict in record.verdicts}
    refs = {}
    for place in sorted(named):
        entry = index.entries[place]
        refs[place] = EntryRef(place, entry.title, entry.vault, entry.filename, entry.priority, entry.tokens)
    turn = Turn(live.generation.message, live.generation.swipe, 0)
    nothing, amount, words = RunOutcome.NOTHING_INJECTED, len(index.entries), words_of(system)
    return Trace(system, mode, nothing, turn, refs, amount, tuple(records), words=words)


REPORT_SECONDS: Final = 1 / 15
"""Progress reaches the window at most this often."""

TURN_SECONDS: Final = 0.0002
"""How long a thread may compute before another gets its turn, while the window is open or a replay runs.

Qt lets others run at nearly every call, and each time the window waits so long for them: with Python's own 5 ms, a pane
that is painted in 6 ms took 190 beside one job.
"""

MOST_SIMULATORS: Final = 6
"""Of so many choices the runs stay in memory, so that going back to one costs nothing."""

MOST_EARLIER: Final = 3
"""From so many simulators a new one may take over what they have run."""

MakeSimulator = Callable[..., Simulator]
"""Makes a simulator as `Simulator(project, system, watcher, earlier)` does."""


class ReplayNews(Struct, frozen=True):
    """What the window learns while a replay runs: how far it came and the traces finished since the last news.

    `left` is how many seconds it will still take, None where nobody can tell. `before` is the number of generations
    that are run first, for the state that a range begins with; 0 once the range itself is reached.
    """

    progress: Progress
    traces: Mapping[Generation, Trace]
    left: float | None = None
    before: int = 0


class WantedReplay(Struct, frozen=True):
    """A replay that was asked for, up to `target`; None means the whole chat. `start` is where a range begins.

    `fresh` asks for recorded answers again. `asked` says that a person wanted it now; `agreed` that the person knows
    what it costs.
    """

    choice: RunChoice
    target: Generation | None = None
    start: Generation | None = None
    fresh: bool = False
    asked: bool = True
    agreed: bool = False


class Finished(Struct, frozen=True):
    """What came of a replay. With `cost` it did not begin: a person has to agree first that `whom` is asked."""

    wanted: WantedReplay
    cost: str = ""
    whom: str = ""
    problems: tuple[str, ...] = ()


class Tallied(Struct):
    """What a replay did so far: `ran` generations were run, `before` of them for the state that a range begins with.

    `kept` were not run, because they are known from before; of all that are there, `failed` says of those without a
    usable answer why. `begun` says that it did anything at all.
    """

    ran: int = 0
    kept: int = 0
    before: int = 0
    failed: Sequence[str] = ()
    begun: bool = False

    @property
    def words(self) -> str:
        """`12 run, 35 kept`."""
        return tr("{ran} run, {kept} kept", ran=number(self.ran), kept=number(self.kept))


class Withdrawn(Struct, frozen=True):
    """Nobody waits for the answer to this question any more."""

    question: Question


class Replay(Struct, eq=False):
    """A replay under way. `heard` is set when the window can take more news.

    `known` are the simulators that there are as it begins; `earlier` are those of the same chat as it was before, the
    latest first, to take over from. `simulator` is who runs it, for the window to remember, unless the replay is
    `outlived` by then: another project is shown, or what it was begun with has changed.
    """

    wanted: WantedReplay
    known: dict[RunChoice, Simulator]
    job: Job | None = None
    heard: threading.Event = field(default_factory=threading.Event)
    problems: list[str] = []
    earlier: tuple[Simulator, ...] = ()
    simulator: Simulator | None = None
    outlived: bool = False
    tally: Tallied = field(default_factory=Tallied)

    def stop(self) -> None:
        """End it, also in the middle of a question; on any thread."""
        if self.job is not None:
            self.job.cancel()
        if self.simulator is not None:
            self.simulator.abandon()


class Replayer:
    """Runs replays, one at a time, in a worker."""

    def __init__(
        self, make_simulator: MakeSimulator, connections: Connections, keep_in: Path | None, board: LiveBoard
    ) -> None:
        self._make_simulator, self._connections = make_simulator, connections
        self._keep_in, self._board = keep_in, board
        self.told: list[str] = []  # remarks on lorebooks are said once, until there are others

    @taking_turns(TURN_SECONDS)
    def work(self, project: Project, replay: Replay, job: Job) -> Finished:
        """Make or take the simulator, ask what it costs, run, keep. Everything here may wait."""
        wanted = replay.wanted
        simulator = self._simulator_for(project, replay, job)
        missing = len(simulator.traces) < _end(simulator, wanted)
        sentence, whom = self._cost(project, simulator, replay, job) if missing and not wanted.agreed else ("", "")
        if not sentence or not wanted.fresh:
            replay.simulator = simulator
            job(replay)  # what the window knows changes on its own thread only
        replay.tally.kept = min(len(simulator.traces), _end(simulator, wanted))
        if missing and not sentence:
            self._run_missing(simulator, replay, job)
        replay.tally.failed = [why for _place, why in _failures(simulator)]
        if len(simulator.traces) == len(simulator.generations):
            simulator.release()
        return Finished(wanted, sentence, whom, tuple(replay.problems))

    def _simulator_for(self, project: Project, replay: Replay, job: Job) -> Simulator:
        # Made here, because preparing thousands of entries takes longer than a window may wait.
        wanted = replay.wanted
        choice, known = wanted.choice, replay.known.get(wanted.choice)
        # What is recorded may have grown since, and what failed may work now; what was run is taken over.
        again = choice.asks_model and choice.source.kind is AnswerKind.RECORDED
        again = wanted.asked and known is not None and (again or next(_failures(known), None) is not None)
        if known is not None and not wanted.fresh and not again:
            return known
        others = (each for each in reversed(replay.known.values()) if each is not known)
        earlier = () if wanted.fresh else (*filter(None, (known,)), *others, *replay.earlier)
        system = self._system(project, replay, job)
        earlier = tuple(each for each in earlier if each.system.kind is system.kind)[:MOST_EARLIER]
        simulator = self._make_simulator(project, system, self._board, earlier)
        self._tell_remarks([*_remarks(system), *map(tr, project.book_remarks(system.kind))], replay)
        if not wanted.fresh and not earlier:
            self._restore(simulator, replay)
            if wanted.asked:
                _forget_failures(simulator)
        return simulator

    def _system(self, project: Project, replay: Replay, job: Job) -> System:
        """The chosen system. Raises InputError and SettingsError where a setting of it cannot be used."""
        wanted = replay.wanted
        asked = Asked(job, lambda question: job(Withdrawn(question)), job.cancel)
        answers, model = make_answers(
            wanted.choice.source, project.chat_path, self._connections, self._board, asked, fresh=wanted.fresh
        )
        return system_of(project.scene(answers, model), kind_of(wanted.choice.system), wanted.choice.settings)

    def _cost(self, project: Project, simulator: Simulator, replay: Replay, job: Job) -> tuple[str, str]:
        """What a person has to know before this replay begins, "" where it costs nothing, and who would be asked."""
        wanted = replay.wanted
        source = wanted.choice.source
        counted = simulator.system.counting_vectors()
        if counted is not None:
            until = _end(simulator, wanted)
            return job.run(lambda: vector_cost(project, counted, simulator, until)), counted.maker
        # Somebody who chose just now to type is asked at once; nobody is who only opened the window.
        if not (wanted.choice.asks_model and source.waits) or (source.kind is AnswerKind.TYPED and wanted.asked):
            return "", ""
        path = project.chat_path
        if wanted.target is not None and project.chat is not None:
            # Up to one reply: a chat that ends before it.
            chat = replace(project.chat, messages=project.chat.messages[: wanted.target.message])
            project = replace(project, chat=chat)
        cost = job.run(lambda: live_cost(project, path, simulator.system.model, fresh=wanted.fresh))
        if not cost.calls:
            return "", ""
        if source.kind is AnswerKind.PROVIDER:
            return cost.sentence, source.profile
        asks = count(cost.calls, "request", "requests")
        return tr("This replay asks you for the answers to {asks}.", asks=asks), ""

    def _run_missing(self, simulator: Simulator, replay: Replay, job: Job) -> None:
        wanted, until = replay.wanted, _end(simulator, replay.wanted)
        replay.tally.begun = True
        if simulator.traces:  # from an earlier start of the window, or an earlier part of this replay
            replay.heard.clear()
            job(ReplayNews(Progress(len(simulator.traces), until), TraceBook(simulator.traces)))
        self._board.follow(lambda: _running(simulator))
        start = simulator.place(wanted.start) if wanted.start is not None else 0
        job.run(lambda: _replay(simulator, replay, job, start, until))

    def _tell_remarks(self, told: list[str], replay: Replay) -> None:
        """What there is to say of what the system was made of, once."""
        replay.problems += [text for text in told if text not in self.told]
        self.told = told

    def _restore(self, simulator: Simulator, replay: Replay) -> None:
        if self._keep_in is None:
            return
        try:
            with RunStore(self._keep_in) as store:
                store.restore(simulator)
                replay.problems += store.problems
        except OSError as error:
            replay.problems.append(sentence_of(error))

    def save(self, simulator: Simulator) -> tuple[str, ...]:
        """Keep what was run, where runs are kept; returns sentences about what went wrong. It waits for the disk."""
        if self._keep_in is None:
            return ()
        try:
            with RunStore(self._keep_in) as store:
                store.keep(simulator)
        except OSError as error:
            text = tr("The runs of this chat could not be kept for the next start: {error}", error=sentence_of(error))
            return (text,)
        return ()


def _remarks(system: System) -> list[str]:
    """One sentence for the window, which has the others where the lorebooks are listed."""
    remarks, title = system.remarks, system.title
    if len(remarks) < 2:
        return [tr("{system}: {remark}", system=title, remark=remark) for remark in remarks]
    others = count(len(remarks) - 1, "more remark", "more remarks")
    shown = {"system": title, "remark": remarks[0], "others": others}
    return [tr("{system}: {remark} “Lorebooks of {system}” has {others}.", **shown)]


def _running(simulator: Simulator) -> Generation | None:
    place = len(simulator.traces)
    return simulator.generations[place] if place < len(simulator.generations) else None


def _end(simulator: Simulator, wanted: WantedReplay) -> int:
    """How many generations have to be there in the end."""
    return len(simulator.generations) if wanted.target is None else simulator.place(wanted.target) + 1


def _forget_failures(simulator: Simulator) -> None:
    """Let the first generation whose question failed, and all after it, be run again."""
    for place, _why in _failures(simulator):
        simulator.rewind(place)
        return


def _failures(simulator: Simulator) -> Iterator[tuple[int, str]]:
    """The places of the runs in which a question has no answer, and why: running them again may end otherwise."""
    runs = TraceBook(simulator.traces)
    gists = map(runs.gist, simulator.generations[: len(runs)])
    return ((place, gist.failed) for place, gist in enumerate(gists) if gist is not None and gist.failed)


async def _replay(simulator: Simulator, replay: Replay, job: Job, start: int, until: int) -> None:
    """Replay, reporting at most every `REPORT_SECONDS`, and never before the last report was dealt with."""
    begun = sent = len(simulator.traces)
    ran_before = simulator.ran
    pace, beat = Pace(), Beat(REPORT_SECONDS, at_once=True)

    def on_progress(progress: Progress) -> None:
        nonlocal sent
        tally = replay.tally
        tally.ran = simulator.ran - ran_before
        tally.kept = progress.done - tally.ran
        if progress.done <= start:
            tally.before = tally.ran
        if not replay.heard.is_set() or not beat.due():
            return
        pace.note(progress.done - begun)
        replay.heard.clear()
        fresh = simulator.generations[sent : progress.done]
        sent = progress.done
        before = start - begun if progress.done < start else 0
        told = replace(progress, total=until)
        traces = simulator.traces
        part = traces.part(fresh) if isinstance(traces, TraceBook) else {key: traces[key] for key in fresh}
        job(ReplayNews(told, part, pace.left(until - progress.done), before))

    await simulator.run_missing(on_progress, job.token, until)
