"""The simulator: generations of a chat, each from the state that the ones before it left."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.lifecycle import CancelToken, Progress
from lorestudio.domain.state import ChatControls, EngineState, Tally
from lorestudio.llm.messages import AnswerSource
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.digests import input_digests
from lorestudio.studio.replay.order import Course, Superseded, clock_ms
from lorestudio.studio.replay.reuse import Record, taken_over
from lorestudio.studio.replay.runs import Runs, States, TraceBook
from lorestudio.systems.context import RunContext, RunResult, Watcher
from lorestudio.systems.deeplore.index import DeepLoreIndex
from lorestudio.systems.deeplore.notepad import notes_of, withdrawn
from lorestudio.systems.deeplore.run import run
from lorestudio.trace.model import Trace, Turn


def active_character(project: Project) -> str:
    """Whose entry DeepLore's “active character” is: the one that a person chose, else the chat's, "" for nobody."""
    chosen = project.controls.character
    return chosen if chosen is not None else (project.chat or Chat()).character_name


class Simulator:
    """Runs the generations of a project's chat in order and keeps every trace and the state after it.

    `answers` is asked where a model decides; without one the offline stand-in is. `watcher` sees the stages of the run
    under way; `model` is the model of `answers` where the settings name none. `earlier` are simulators of the same chat
    with other texts, notes or settings, the latest first: what they ran is taken over where it would come out the same
    (see `studio.replay.reuse`).
    """

    def __init__(
        self,
        project: Project,
        answers: AnswerSource | None = None,
        watcher: Watcher | None = None,
        model: str = "",
        earlier: Sequence[Simulator] = (),
        base: DeepLoreIndex | None = None,
    ) -> None:
        """With a `base`, an index that differs from the project's in few entries, less has to be prepared anew."""
        self.project = project
        self.model = model
        self.answers: AnswerSource = StandInAnswers() if answers is None else answers
        self._watcher = watcher
        self._course = Course(project.chat)
        self.generations = self._course.generations
        self._inputs = input_digests(project, self.generations, f"{self.answers.name}:{model}")
        self._index = _index(project, earlier, base)
        chat = project.chat or Chat()
        self._positions = tuple(place for place, message in enumerate(chat.messages) if not message.is_system)
        self._sent = tuple(chat.messages[place] for place in self._positions)
        # The trackers stored with a chat are those of its end; a replay begins before all of them.
        self._runs = Runs(EngineState(random_state=project.seed))
        self._traces = TraceBook()
        self._record = Record(self._runs)
        self._earlier = tuple(earlier)
        self.ran = 0

    @property
    def traces(self) -> Mapping[Generation, Trace]:
        """The traces made so far."""
        return self._traces

    @property
    def kept(self) -> int:
        """How many of the generations done were not run by this simulator, because they were known."""
        return len(self._runs) - self.ran

    def shown(self, message: int) -> Generation | None:
        """The generation that wrote the message's active swipe, None for a message that no generation wrote."""
        return self._course.shown(message)

    def abandon(self) -> None:
        """Give up whatever is running: it writes neither a trace nor a state, however it ends."""
        self._course.abandon()

    def resume(self, results: Sequence[RunResult]) -> None:
        """Go on from generations run earlier on the same inputs, in order.

        Raises ValueError where they do not belong to the beginning of this chat.
        """
        self._course.beginning(result.trace for result in results)
        self.abandon()
        self._runs.cut(0)
        self._record.cut(0)
        self._traces, self.ran = TraceBook(), 0
        for result in results:
            self._keep(result)

    def rewind(self, length: int) -> None:
        """Forget all but the first `length` generations."""
        self.abandon()
        forgotten = max(0, len(self._runs) - length)
        self._runs.cut(length)
        self._record.cut(length)
        self._traces = self._traces.part(self.generations[: len(self._runs)])
        self.ran = max(0, self.ran - forgotten)

    def release(self) -> None:
        """Let go of the earlier simulators; nothing is taken over from now on."""
        self._earlier = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """For each generation the digest of everything that it and the ones before it depend on."""
        return self._inputs

    @property
    def states(self) -> Sequence[EngineState]:
        """The state after each generation run so far, in order."""
        return States(self._runs)

    def counted_apart(self) -> tuple[tuple[EngineState, Tally | None], ...]:
        """For each generation run so far the state after it without its counts, and what it counted."""
        runs = self._runs
        return tuple((runs.lean_state(place), runs.tally(place)) for place in range(len(runs)))

    @property
    def index(self) -> DeepLoreIndex:
        """The project's index as runs use it."""
        return self._index

    def place(self, generation: Generation) -> int:
        """Where a generation stands in the order of running. Raises ValueError for one that the chat does not have."""
        return self._course.place(generation)

    def context(self, generation: Generation) -> RunContext:
        """The inputs of one generation; the ones before it must have been run.

        Raises ValueError where they have not, and for a generation that the chat does not have.
        """
        place = self.place(generation)
        if place > len(self._runs):
            message = f"The generations before reply #{generation.message} have not been run yet."
            raise ValueError(message)
        return self._context(place, generation, self._runs.state(place - 1))

    async def generate(self, generation: Generation) -> Trace:
        """The trace of one generation; the ones before it are run first where they are missing.

        Raises ValueError for a generation that the chat does not have.
        """
        place = self.place(generation)
        while len(self._runs) <= place:
            await self._run_next()
        return self._runs.trace(place)

    async def replay(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        cancel: CancelToken | None = None,
        until: int | None = None,
    ) -> tuple[Trace, ...]:
        """Run what is missing up to place `until` (without it: all) and return the traces of all of these in order.

        `on_progress` is called after each generation. Raises Cancelled at the next generation after a request to stop;
        a later call goes on from there.
        """
        await self.run_missing(on_progress, cancel, until)
        return tuple(self._runs.trace(place) for place in range(self._course.end(until)))

    async def run_missing(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        cancel: CancelToken | None = None,
        until: int | None = None,
    ) -> None:
        """As `replay`, for those who take the traces from `traces` one by one."""
        await self._course.run(lambda: len(self._runs), self._run_next, lambda: self.kept, on_progress, cancel, until)

    async def _run_next(self) -> None:
        place = len(self._runs)
        generation = self.generations[place]
        epoch = self._course.epoch
        ctx = self._context(place, generation, self._runs.state(place - 1))
        result = self._taken_over(generation, ctx)
        ran = result is None
        if result is None:
            result = await run(ctx)
        if epoch != self._course.epoch:
            raise Superseded
        if generation not in self._traces:  # another task may have been quicker; the same inputs give the same trace
            self.ran += ran
            self._keep(result)

    def _keep(self, result: RunResult) -> None:
        place = len(self._runs)
        self._runs.append(result)
        self._traces.put(self.generations[place], self._runs, place)

    def offer(self, generation: Generation, record: Record, ctx: RunContext) -> RunResult | None:
        """What the next generation of another replay's `record`, in its context, comes to by what was run here.

        None where only running it can tell.
        """
        place = self._course.find(generation)
        if place is None or place >= len(self._runs):
            return None
        before = self._context(place, generation, self._runs.lean_state(place - 1))
        return taken_over(self._record, place, before, record, ctx)

    def _taken_over(self, generation: Generation, ctx: RunContext) -> RunResult | None:
        """What an earlier simulator made of the same generation, where a run would make it again."""
        offers = (other.offer(generation, self._record, ctx) for other in self._earlier)
        return next((offer for offer in offers if offer is not None), None)

    def _controls(self, generation: Generation) -> ChatControls:
        """The chat's choices as they stood then: later replies have not added to the notepad yet."""
        controls, chat = self.project.controls, self.project.chat
        if chat is None or not controls.notepad:
            return controls
        notepad = controls.notepad
        for message in reversed(chat.messages[generation.message :]):
            notepad = withdrawn(notepad, notes_of(message))
        return replace(controls, notepad=notepad)

    def _context(self, place: int, generation: Generation, state: EngineState) -> RunContext:
        project = self.project
        seen = bisect_left(self._positions, generation.message)
        again = place > 0 and self.generations[place - 1].message == generation.message
        return RunContext(
            index=self._index,
            chat=self._sent[:seen],
            positions=self._positions[:seen],
            settings=project.settings,
            turn=Turn(generation.message, generation.swipe, 0, "swipe" if again else "normal"),
            controls=self._controls(generation),
            state=state,
            character=active_character(project),
            clock_ms=clock_ms(place),
            context_size=project.context_size,
            counter=project.counter,
            seed=project.seed,
            answers=self.answers,
            model=self.model,
            behaviour=project.behaviour,
            watcher=self._watcher,
            digests={"inputs": self._inputs[place]},
        )


def _index(project: Project, earlier: Sequence[Simulator], base: DeepLoreIndex | None) -> DeepLoreIndex:
    """The project's index; what is prepared of another one already is not prepared again."""
    known = [one.index for one in earlier] if base is None else [base, *(one.index for one in earlier)]
    same = next((index for index in known if index.vault is project.index), None)
    return same or DeepLoreIndex(project.index, known[0] if known else None)
