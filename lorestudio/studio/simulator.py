"""The simulator: generations of a chat, each from the state that the ones before it left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from lorestudio.domain.chat import Chat
from lorestudio.domain.state import ChatControls, EngineState
from lorestudio.domain.stopping import Stopped
from lorestudio.engine import DeepLoreIndex, RunContext, Watcher, run
from lorestudio.llm.protocol import AnswerSource
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.memory.message_notes import notes_of
from lorestudio.memory.notepad import withdrawn
from lorestudio.studio.digests import input_digests
from lorestudio.studio.generation import Generation
from lorestudio.studio.jobs import Cancelled, CancelToken, Progress
from lorestudio.studio.project import Project
from lorestudio.trace.model import Trace, Turn

__all__ = ["Generation", "Simulator", "Superseded", "generations"]

CLOCK_START_MS = 1_700_000_000_000
CLOCK_STEP_MS = 60_000
"""A replay's clock: a minute a generation, from a fixed instant, so that it can be repeated exactly."""


def generations(chat: Chat | None) -> tuple[Generation, ...]:
    """Every reply with its swipes in the order they were made, then the reply to come.

    The swipe that is active in the file comes last of its reply, because the chat went on from it.
    """
    if chat is None:
        return (Generation(0),)
    found: list[Generation] = []
    for place in chat.replies:
        message = chat.messages[place]
        others = [swipe for swipe in range(len(message.swipes)) if swipe != message.swipe]
        found += [Generation(place, swipe) for swipe in (*others, message.swipe)]
    return (*found, Generation(len(chat.messages)))


def active_character(project: Project) -> str:
    """Whose entry DeepLore's “active character” is: the one that a person chose, else the chat's, "" for nobody."""
    chosen = project.controls.character
    return chosen if chosen is not None else (project.chat or Chat()).character_name


class Superseded(Stopped):  # something newer took its place
    """The run was given up while it was under way; nothing of it was kept."""


class Simulator:
    """Runs the generations of a project's chat in order and keeps every trace and the state after it.

    `answers` is asked where a model decides; without one the offline stand-in is. `watcher` sees the stages of the run
    under way; `model` is the model of `answers` where the settings name none.
    """

    def __init__(
        self,
        project: Project,
        answers: AnswerSource | None = None,
        watcher: Watcher | None = None,
        model: str = "",
        base: DeepLoreIndex | None = None,
    ) -> None:
        """With a `base`, an index that differs from the project's in few entries, less has to be prepared anew."""
        self.project = project
        self.model = model
        self.answers: AnswerSource = StandInAnswers() if answers is None else answers
        self._watcher = watcher
        self._epoch = 0
        self.generations = generations(project.chat)
        self._inputs = input_digests(project, self.generations, f"{self.answers.name}:{model}")
        same = base is not None and base.vault is project.index
        self._index = base if base is not None and same else DeepLoreIndex(project.index, base)
        self._traces: dict[Generation, Trace] = {}
        # The trackers stored with a chat are those of its end; a replay begins before all of them.
        self._states = [EngineState(random_state=project.seed)]

    @property
    def traces(self) -> Mapping[Generation, Trace]:
        """The traces made so far."""
        return MappingProxyType(self._traces)

    def shown(self, message: int) -> Generation | None:
        """The generation that wrote the message's active swipe, None for a message that no generation wrote."""
        chat = self.project.chat
        swipe = chat.messages[message].swipe if chat is not None and message < len(chat.messages) else 0
        generation = Generation(message, swipe)
        return generation if generation in self.generations else None

    def abandon(self) -> None:
        """Give up whatever is running: it writes neither a trace nor a state, however it ends."""
        self._epoch += 1

    def resume(self, states: Sequence[EngineState], traces: Sequence[Trace]) -> None:
        """Go on from generations run earlier on the same inputs: their traces in order, and the state after each.

        Raises ValueError where they do not belong to the beginning of this chat.
        """
        places = [Generation(trace.turn.message, trace.turn.swipe) for trace in traces]
        if len(states) != len(traces) or tuple(places) != self.generations[: len(places)]:
            message = "These traces do not belong to this chat."
            raise ValueError(message)
        self.abandon()
        self._traces = dict(zip(places, traces, strict=True))
        self._states = [self._states[0], *states]

    @property
    def inputs(self) -> tuple[str, ...]:
        """For each generation the digest of everything that it and the ones before it depend on."""
        return self._inputs

    @property
    def states(self) -> tuple[EngineState, ...]:
        """The state after each generation run so far, in order."""
        return tuple(self._states[1:])

    @property
    def index(self) -> DeepLoreIndex:
        """The project's index as runs use it."""
        return self._index

    def context(self, generation: Generation) -> RunContext:
        """The inputs of one generation; the ones before it must have been run.

        Raises ValueError where they have not, and for a generation that the chat does not have.
        """
        place = self._place(generation)
        if place >= len(self._states):
            message = f"The generations before reply #{generation.message} have not been run yet."
            raise ValueError(message)
        return self._context(place, generation)

    def _place(self, generation: Generation) -> int:
        if generation not in self.generations:
            message = f"The chat has no reply #{generation.message} with swipe {generation.swipe + 1}."
            raise ValueError(message)
        return self.generations.index(generation)

    async def generate(self, generation: Generation) -> Trace:
        """The trace of one generation; the ones before it are run first where they are missing.

        Raises ValueError for a generation that the chat does not have.
        """
        place = self._place(generation)
        while len(self._states) <= place + 1:
            await self._run_next()
        return self._traces[generation]

    async def replay(
        self, on_progress: Callable[[Progress], None] | None = None, cancel: CancelToken | None = None
    ) -> tuple[Trace, ...]:
        """Run what is missing and return all traces in order.

        `on_progress` is called after each generation. Raises Cancelled at the next generation after a request to stop;
        a later call goes on from there.
        """
        total = len(self.generations)
        while len(self._traces) < total:
            if cancel is not None and cancel.cancelled:
                raise Cancelled
            generation = self.generations[len(self._traces)]
            await self._run_next()
            if on_progress is not None:
                on_progress(Progress(len(self._traces), total, generation))
            await asyncio.sleep(0)  # let a cancelled task notice
        return tuple(self._traces[generation] for generation in self.generations)

    async def _run_next(self) -> None:
        place = len(self._traces)
        generation = self.generations[place]
        epoch = self._epoch
        result = await run(self._context(place, generation))
        if epoch != self._epoch:
            raise Superseded
        if generation not in self._traces:  # another task may have been quicker; the same inputs give the same trace
            self._traces[generation] = result.trace
            self._states.append(result.state)

    def _controls(self, generation: Generation) -> ChatControls:
        """The chat's choices as they stood then: later replies have not added to the notepad yet."""
        controls, chat = self.project.controls, self.project.chat
        if chat is None or not controls.notepad:
            return controls
        notepad = controls.notepad
        for message in reversed(chat.messages[generation.message :]):
            notepad = withdrawn(notepad, notes_of(message))
        return replace(controls, notepad=notepad)

    def _context(self, place: int, generation: Generation) -> RunContext:
        project, chat = self.project, self.project.chat or Chat()
        positions = tuple(index for index in range(generation.message) if not chat.messages[index].is_system)
        again = place > 0 and self.generations[place - 1].message == generation.message
        return RunContext(
            index=self._index,
            chat=tuple(chat.messages[index] for index in positions),
            positions=positions,
            settings=project.settings,
            turn=Turn(generation.message, generation.swipe, 0, "swipe" if again else "normal"),
            controls=self._controls(generation),
            state=self._states[place],
            character=active_character(project),
            clock_ms=CLOCK_START_MS + place * CLOCK_STEP_MS,
            context_size=project.context_size,
            counter=project.counter,
            seed=project.seed,
            answers=self.answers,
            model=self.model,
            behaviour=project.behaviour,
            watcher=self._watcher,
            digests={"inputs": self._inputs[place]},
        )
