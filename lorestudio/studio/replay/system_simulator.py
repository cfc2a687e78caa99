"""A chat replayed with a system beside DeepLore, asked in the same way as DeepLore's simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.lifecycle import CancelToken, Progress
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.digests import system_digests
from lorestudio.studio.replay.order import Course, Superseded, clock_ms
from lorestudio.systems.base import Decided, Moment, System
from lorestudio.trace.journey import FOREIGN_IDS, renumbered
from lorestudio.trace.model import EntryRef, Trace, Turn


class SystemSimulator:
    """Runs the generations of a project's chat in order with one system, and keeps every trace and state.

    A swipe begins from the state that the reply's first generation began from; the chat goes on from the active one,
    which comes last.
    """

    def __init__(self, project: Project, system: System) -> None:
        self.project, self.system = project, system
        self.model = ""
        self._course = Course(project.chat)
        self.generations = self._course.generations
        self._inputs = system_digests(project, self.generations, f"{system.name}:{system.inputs}")
        self._traces: dict[Generation, Trace] = {}
        self._states: list[object] = []
        self._restored = 0

    @property
    def traces(self) -> Mapping[Generation, Trace]:
        """The traces made so far."""
        return MappingProxyType(self._traces)

    @property
    def ran(self) -> int:
        """How many generations were run here, and not before."""
        return len(self._states) - self._restored

    @property
    def inputs(self) -> tuple[str, ...]:
        """For each generation the digest of everything that it and the ones before it depend on."""
        return self._inputs

    @property
    def states(self) -> tuple[object, ...]:
        """What each generation run so far left for the next one, in order."""
        return tuple(self._states)

    def resume(self, decided: Sequence[Decided]) -> None:
        """Go on from generations run earlier on the same inputs, in order.

        Raises ValueError where they do not belong to the beginning of this chat.
        """
        places = self._course.beginning(each.trace for each in decided)
        self.abandon()
        self._traces = {place: each.trace for place, each in zip(places, decided, strict=True)}
        self._states = [each.state for each in decided]
        self._restored = len(decided)

    def place(self, generation: Generation) -> int:
        """Where a generation stands in the order of running. Raises ValueError for one that the chat does not have."""
        return self._course.place(generation)

    def shown(self, message: int) -> Generation | None:
        """The generation that wrote the message's active swipe, None for a message that no generation wrote."""
        return self._course.shown(message)

    def abandon(self) -> None:
        """Give up whatever is running: it writes neither a trace nor a state, however it ends."""
        self._course.abandon()

    def release(self) -> None:
        """Let go of what was only needed for running; a system keeps nothing of that kind."""

    async def generate(self, generation: Generation) -> Trace:
        """The trace of one generation; the ones before it are run first where they are missing.

        Raises ValueError for a generation that the chat does not have.
        """
        await self.run_missing(until=self.place(generation) + 1)
        return self._traces[generation]

    async def decide_alone(self, generation: Generation, state: object) -> Trace:
        """The trace of one generation that begins with this state; nothing of it is kept.

        Raises ValueError for a generation that the chat does not have.
        """
        place = self.place(generation)
        return await decided_trace(self.system, moment(self.project, place, generation, self._inputs[place]), state)

    def state_before(self, generation: Generation) -> object:
        """The state that a generation began with. Raises ValueError for one that the chat does not have."""
        return self._state_before(self.place(generation))

    async def replay(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        cancel: CancelToken | None = None,
        until: int | None = None,
    ) -> tuple[Trace, ...]:
        """Run what is missing up to place `until` (without it: all) and return the traces of these in order.

        `on_progress` is called after each generation. Raises Cancelled at the next generation after a request to stop;
        a later call goes on from there.
        """
        await self.run_missing(on_progress, cancel, until)
        return tuple(self._traces[generation] for generation in self.generations[:until])

    async def run_missing(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        cancel: CancelToken | None = None,
        until: int | None = None,
    ) -> None:
        """As `replay`, for those who take the traces from `traces`."""
        await self._course.run(
            lambda: len(self._states), self._run_next, lambda: self._restored, on_progress, cancel, until
        )

    async def _run_next(self) -> None:
        place, epoch = len(self._states), self._course.epoch
        generation = self.generations[place]
        now = moment(self.project, place, generation, self._inputs[place])
        decided = await self.system.decide(now, self._state_before(place))
        if epoch != self._course.epoch:
            raise Superseded
        if generation not in self._traces:  # another task may have been quicker
            self._traces[generation] = _own_numbers(decided.trace, self.project.index)
            self._states.append(decided.state)

    def _state_before(self, place: int) -> object:
        first = self._course.first_swipe(place)
        return self._states[first - 1] if first else None


async def decided_trace(system: System, now: Moment, state: object) -> Trace:
    """The trace of a decision that begins with this state; nothing of it is kept."""
    return _own_numbers((await system.decide(now, state)).trace, now.index)


def moment(project: Project, place: int, generation: Generation, digest: str = "") -> Moment:
    """What a system is given for a generation; `place` is its place among all of them."""
    chat = project.chat or Chat()
    positions = tuple(index for index in range(generation.message) if not chat.messages[index].is_system)
    return Moment(
        index=project.index,
        chat=tuple(chat.messages[index] for index in positions),
        turn=Turn(generation.message, generation.swipe, place),
        controls=project.controls,
        positions=positions,
        character=chat.character_name,
        user=chat.user_name,
        counter=project.counter,
        context_size=project.context_size,
        clock_ms=clock_ms(place),
        seed=project.seed,
        digests={"inputs": digest},
    )


def _own_numbers(trace: Trace, index: VaultIndex) -> Trace:
    """The trace; where its entries are not those of the vault, with numbers that no entry of a vault has."""
    foreign = any(not _of_vault(number, ref, index) for number, ref in trace.entries.items())
    return renumbered(trace, FOREIGN_IDS) if foreign else trace


def _of_vault(number: int, ref: EntryRef, index: VaultIndex) -> bool:
    if not 0 <= number < len(index.entries):
        return False
    entry = index.entries[number]
    return (entry.vault, entry.filename) == (ref.vault, ref.filename)
