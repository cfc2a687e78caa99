"""What is known of the runs of the chat that is shown: traces, who made them, whether they hold, what fired in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from lorestudio.domain.chat import Generation, first_difference
from lorestudio.domain.lifecycle import Progress
from lorestudio.studio.compare.causes import RunSide, side_of
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Preview, Previewer
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import Trace
from lorestudio.trace.storage.serialize import Gist
from lorestudio.trace.text import turn_words
from lorestudio.trace.timeline import NEVER, Fired
from lorestudio.ui.shell.words import tr
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.state.replay_worker import MOST_EARLIER, MOST_SIMULATORS, Replay, WantedReplay
from lorestudio.ui.state.selection import same_numbers
from lorestudio.ui.state.session_state import SessionState


class SessionRuns:
    """The traces made so far, the simulators that made them, and views of both.

    `traces` are those that are shown, also of an earlier choice until newer ones are there. `stale` says why none of
    them is what a run would give now, "" where that is not so. `replay` is the replay that adds to them. A preview of
    unsaved texts stands before the trace of its generation while `preview_shown`.
    """

    def __init__(self, session: SessionState) -> None:
        self._session = session
        self.traces = TraceBook()
        self.stale = ""
        self.replay: Replay | None = None
        self.preview_shown = True
        self._preview: Preview | None = None
        self._simulators: dict[RunChoice, Simulator] = {}
        self._earlier: tuple[Simulator, ...] = ()
        self._made_as: dict[Generation, RunChoice] = {}
        self._older: frozenset[Generation] = frozenset()
        self._older_why = ""
        self._journeys: Journeys | None = None
        session.project_replaced.connect(self._go_on)

    # ---- traces -----------------------------------------------------------------------------------------------------

    def trace(self, generation: Generation | None) -> Trace | None:
        """The trace of a generation, None until it was run; with unsaved texts where these are tried out."""
        if generation is None:
            return None
        preview = self.preview_of(generation)
        return preview.trace if preview is not None and self.preview_shown else self.traces.get(generation)

    def journeys(self, trace: Trace) -> Journeys:
        """A trace, read so that entries can be asked about; the panes share that of the trace that is shown."""
        if self._journeys is None or self._journeys.trace is not trace:
            self._journeys = Journeys(trace)
        return self._journeys

    def outdated(self, generation: Generation | None) -> str:
        """Why the trace of a generation is not what a run would give now, "" where it is."""
        if generation in self._older:
            return self._older_why
        choice = self._session.choice
        made_as = self._made_as.get(generation) if generation is not None else None
        if made_as is None or made_as == choice.effective:
            return self.stale
        if made_as.title != choice.title:
            text = tr("This run was made with: {before}. Chosen now: {now}.")
            return text.format(before=made_as.title, now=choice.title)
        if not made_as.is_main:
            return tr("This run was made with other settings of {system}.", system=made_as.title)
        return tr("This run was made with other behaviour switches than are chosen now.")

    def before_change(self, generation: Generation | None) -> Trace | None:
        """The trace of a generation by the same system before the last change, None where there is none.

        One without any entry, as of a chat that was open before its vault, has nothing to be compared with.
        """
        now = self.traces.get(generation) if generation is not None else None
        if now is None or generation is None:
            return None
        others = (each for each in reversed(self._simulators.values()) if each is not self.chosen)
        runs = (each.traces.get(generation) for each in (*others, *self._earlier))
        before = next((each for each in runs if each is not None and each.system == now.system), None)
        return before if before is not None and before.index_size else None

    # ---- previews of unsaved texts ----------------------------------------------------------------------------------

    def preview_of(self, generation: Generation | None) -> Preview | None:
        """What unsaved texts would do to a generation, None where nothing is tried out."""
        return self._preview if self._preview is not None and self._preview.generation == generation else None

    def show_preview(self, preview: Preview | None) -> None:
        """Show what unsaved texts would do instead of the trace that was made; None goes back to that.

        A text that makes an entry of a note, or makes it none, shifts the numbers of the others and is not shown.
        """
        project = self._session.project
        if preview is not None and (project is None or not same_numbers(project.index, preview.index)):
            preview = None
        if preview is not self._preview:
            self._preview = preview
            self._session.preview_changed.emit()

    def toggle_preview(self) -> None:
        """Show the run before the unsaved texts, or again the one with them."""
        self.preview_shown = not self.preview_shown
        self._session.preview_changed.emit()

    # ---- simulators -------------------------------------------------------------------------------------------------

    @property
    def replaying(self) -> bool:
        """Whether a replay adds to the runs, which can be cancelled."""
        return self.replay is not None

    @property
    def chosen(self) -> Simulator | None:
        """Who runs the chat as is chosen now, also while it runs; None until a replay has begun."""
        return self._simulators.get(self._session.choice.effective)

    @property
    def current(self) -> Mapping[Generation, Trace]:
        """The traces that were made as is chosen now."""
        return self.chosen.traces if self.chosen is not None else {}

    def simulator(self, generation: Generation | None) -> Simulator | None:
        """Who ran a generation as is chosen now; None where nobody has, or a replay is under way."""
        simulator = self.finished()
        return simulator if simulator is not None and generation in simulator.traces else None

    def finished(self) -> Simulator | None:
        """The simulator whose traces are shown; None while it runs, and where nothing was run as is chosen now."""
        return None if self.replaying else self.chosen

    def complete(self, choice: RunChoice | None = None) -> Simulator | None:
        """Who ran the whole chat as is chosen now, or as this choice says; None where nobody has, or while it runs."""
        found = self._simulators.get((choice or self._session.choice).effective)
        done = found is not None and not self.replaying and len(found.traces) == len(self._session.generations)
        return found if done else None

    def previewer(self, generation: Generation | None) -> Previewer | None:
        """Tries out other texts and settings on a generation, None where it was not run as is chosen now."""
        simulator = self.simulator(generation)
        if simulator is None or generation is None:
            return None
        try:
            return Previewer(simulator, generation)
        except ValueError:  # nobody knows what the index was made of
            return None

    def rerun(self, generation: Generation | None) -> Rerun | None:
        """A generation with all that it was run with, None where it was not run as is chosen now."""
        simulator = self.simulator(generation)
        return Rerun.of(simulator, generation) if simulator is not None and generation is not None else None

    def side(self, generation: Generation | None, title: str = "") -> RunSide | None:
        """The run of a generation for comparing, None where there is none; with its inputs if it is as chosen now."""
        trace = self.traces.get(generation) if generation is not None else None
        if trace is None or generation is None:
            return None
        simulator = self.chosen
        if simulator is not None and simulator.traces.get(generation) is trace:
            try:
                return side_of(simulator, generation, title)
            except ValueError:  # its inputs cannot be had any more
                pass
        return RunSide(title or turn_words(trace.turn), trace)

    # ---- following what is shown and run ----------------------------------------------------------------------------

    def _go_on(self, before: Project | None, project: Project | None, why: str) -> None:
        """`project` is shown instead of `before`; `why` is its `renewed` (see `SessionState.set_project`)."""
        if self.replay is not None:
            self.replay.outlived = True
        ran, traces = (*reversed(self._simulators.values()), *self._earlier), TraceBook()
        self._simulators, self._made_as, self._earlier = {}, {}, ()
        self._preview, self.stale, self._older_why = None, "", why
        if before is not None and project is not None:
            if chat_id(before) == chat_id(project):
                self._earlier = ran[:MOST_EARLIER]
            if why and same_numbers(before.index, project.index):
                same, known = first_difference(before.chat, project.chat), frozenset(self._session.generations)
                traces = TraceBook(self.traces)
                traces = traces.part([item for item in traces if item.message <= same and item in known])
        self.traces = traces
        self._older = frozenset(self.traces)

    def drop(self, which: Callable[[RunChoice], bool], *, under_way: bool = False) -> None:
        """Forget who ran the chat by these choices, because that would run it otherwise now.

        Who runs it at this moment stays, unless `under_way` says that it has to begin again, too.
        """
        replay = self.replay
        running = replay.wanted.choice if replay is not None and not under_way else None
        if replay is not None and under_way and which(replay.wanted.choice):
            replay.outlived = True
        for choice in [each for each in self._simulators if each != running and which(each)]:
            del self._simulators[choice]

    def begin(self, wanted: WantedReplay) -> Replay:
        """A replay begins that adds to the runs."""
        self.replay = Replay(wanted, dict(self._simulators), earlier=self._earlier)
        return self.replay

    def remember(self, replay: Replay) -> None:
        """The replay has somebody who runs it; of those before, the ones that were used last stay."""
        if replay.outlived or replay.simulator is None:
            return
        self._simulators.pop(replay.wanted.choice, None)
        while len(self._simulators) >= MOST_SIMULATORS:
            self._simulators.pop(next(iter(self._simulators)))
        self._simulators[replay.wanted.choice] = replay.simulator

    def take_news(self, traces: Mapping[Generation, Trace]) -> bool:
        """The replay made these; returns False where it is one of another choice or project by now."""
        replay, choice = self.replay, self._session.choice.effective
        if replay is None or replay.wanted.choice != choice or replay.outlived:
            return False
        self.traces.take(traces)
        self._note_current(traces)
        if traces:
            self._session.traces_changed.emit(tuple(traces))
        return True

    def end(self) -> None:
        """The replay is over: show all that was run as is chosen now."""
        self.replay = None
        current = self.current
        self.traces = TraceBook(self.traces)
        changed = self.traces.take(current)
        self._note_current(current)
        if self._simulators:
            self._session.progress.emit(Progress(len(current), len(self._session.generations)))
            self._session.traces_changed.emit(changed)

    def _note_current(self, traces: Mapping[Generation, Trace]) -> None:
        self._made_as.update(dict.fromkeys(traces, self._session.choice.effective))
        self._older -= traces.keys()


class FiringCounts:
    """Counts over the runs of one chat. Only runs that are new are looked at."""

    def __init__(self) -> None:
        self._runs: dict[Generation, tuple[object, Gist]] = {}
        self._matched: Counter[int] = Counter()
        self._injected: Counter[int] = Counter()

    def clear(self) -> None:
        """Another vault or chat: the ids mean other entries."""
        self._runs, self._matched, self._injected = {}, Counter(), Counter()

    def of(self, entry: int) -> Fired:
        """How often one entry fired."""
        return Fired(self._matched[entry], self._injected[entry]) if self._matched[entry] else NEVER

    def take(self, traces: Mapping[Generation, Trace], changed: Iterable[Generation] | None) -> bool:
        """Count these runs; `changed` None means that any of them may be another one. True where a count differs."""
        book = traces if isinstance(traces, TraceBook) else TraceBook(traces)
        wanted = set(book) | set(self._runs) if changed is None else set(changed)
        different = False
        for generation in wanted:
            run, known = book.places.get(generation), self._runs.get(generation)
            if known is not None and run is known[0]:
                continue
            different = True
            if known is not None:
                del self._runs[generation]
                self._matched.subtract(known[1].matched)
                self._injected.subtract(known[1].injected)
            gist = book.gist(generation)
            if gist is not None:
                self._runs[generation] = (run, gist)
                self._matched.update(gist.matched)
                self._injected.update(gist.injected)
        return different

    def injected(self) -> Mapping[int, int]:
        """In how many runs each entry was injected."""
        return +self._injected
