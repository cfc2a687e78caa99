"""The order of a replay: the generations of a chat as they are run, and running them one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken, Progress, Stopped
from lorestudio.trace.model import Trace

_CLOCK_START_MS = 1_700_000_000_000
_CLOCK_STEP_MS = 60_000


class Superseded(Stopped):  # something newer took its place
    """The run was given up while it was under way; nothing of it was stored."""


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


def clock_ms(place: int) -> int:
    """A replay's clock: a minute a generation, from a fixed instant, so that it can be repeated exactly."""
    return _CLOCK_START_MS + place * _CLOCK_STEP_MS


class ReplayOrder:
    """The order of a chat's generations, whatever runs them.

    `epoch` goes up whenever what is under way is given up: a run that began in an earlier one is not kept.
    """

    def __init__(self, chat: Chat | None) -> None:
        self._chat = chat
        self.generations = generations(chat)
        self._places = {generation: place for place, generation in enumerate(self.generations)}
        self.epoch = 0

    def find(self, generation: Generation) -> int | None:
        """Where a generation stands in the order of running, None for one that the chat does not have."""
        return self._places.get(generation)

    def place(self, generation: Generation) -> int:
        """As `find`. Raises ValueError, with a sentence, for a generation that the chat does not have."""
        place = self.find(generation)
        if place is None:
            message = f"The chat has no reply #{generation.message} with swipe {generation.swipe + 1}."
            raise ValueError(message)
        return place

    def shown(self, message: int) -> Generation | None:
        """The generation that wrote the message's active swipe, None for a message that no generation wrote."""
        chat = self._chat
        swipe = chat.messages[message].swipe if chat is not None and message < len(chat.messages) else 0
        generation = Generation(message, swipe)
        return generation if generation in self._places else None

    def first_swipe(self, place: int) -> int:
        """The place of the first generation of the same reply."""
        message = self.generations[place].message
        while place and self.generations[place - 1].message == message:
            place -= 1
        return place

    def beginning(self, traces: Iterable[Trace]) -> tuple[Generation, ...]:
        """Whose traces these are. Raises ValueError where they are not those of the first generations, in order."""
        found = tuple(Generation(trace.turn.message, trace.turn.swipe) for trace in traces)
        if found != self.generations[: len(found)]:
            message = "These traces do not belong to this chat."
            raise ValueError(message)
        return found

    def end(self, until: int | None) -> int:
        """How many generations come before place `until`; all of them without it."""
        return len(self.generations[:until])

    def abandon(self) -> None:
        """Give up whatever is running."""
        self.epoch += 1

    async def run(
        self,
        done: Callable[[], int],
        run_next: Callable[[], Awaitable[None]],
        reused: Callable[[], int],
        on_progress: Callable[[Progress], None] | None = None,
        cancel: CancelToken | None = None,
        until: int | None = None,
    ) -> None:
        """Have the next generation run until all up to place `until` are `done`; `reused` of them were known before.

        `on_progress` is called after each. Raises Cancelled at the next generation after a request to stop.
        """
        total = self.end(until)
        while done() < total:
            if cancel is not None and cancel.cancelled:
                raise Cancelled
            generation = self.generations[done()]
            await run_next()
            if on_progress is not None:
                on_progress(Progress(done(), total, generation, reused()))
            await asyncio.sleep(0)  # let a cancelled task notice
