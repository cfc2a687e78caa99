"""What goes into a run and what comes out of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lorestudio.domain.chat import Message
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.state import ChatControls, EngineState, Tally
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.llm.messages import AnswerSource, NoAnswers
from lorestudio.settings.behaviour import FIXED, Behaviour
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.index import DeepLoreIndex
from lorestudio.systems.holding import Hold
from lorestudio.trace.model import Phase, StageRecord, Trace, Turn


class Watcher(Protocol):
    """Somebody who looks on while a run is under way; what it does has no influence on what the run decides.

    A run that nobody waits for any more can be given up between two stages: what `began` raises ends it.
    """

    def began(self, name: str, phase: Phase) -> None:
        """A stage begins."""
        ...

    def finished(self, record: StageRecord) -> None:
        """A stage is over."""
        ...


@dataclass(frozen=True, slots=True)
class StopBetweenStages:
    """A watcher of a run that looks for a request to stop whenever a stage begins."""

    token: CancelToken

    def look(self) -> None:
        """Raises Cancelled after a request to stop."""
        if self.token.cancelled:
            raise Cancelled

    def began(self, _name: str, _phase: Phase) -> None:
        """A stage begins."""
        self.look()

    def finished(self, _record: StageRecord) -> None:
        """A stage is over."""


class RandomSource(Protocol):
    """Numbers in [0, 1); `state` is where the stream stands."""

    state: int

    def next(self) -> float:
        """The next number."""
        ...


@dataclass(frozen=True, slots=True)
class RunContext:
    """The immutable inputs of one generation.

    `chat` is the prompt view: hidden messages and the reply being replaced are not in it; `positions` gives each of its
    messages' index in the chat file (its own index where empty). `clock_ms` is milliseconds since the epoch.
    `answers` is asked where a model has to decide; `model` is its model where the settings name none. `behaviour` says
    which quirks of DeepLore are mended. `random` makes the stream of random numbers from the state it stood at; `timer`
    measures stages in seconds, `watcher` sees them come and go. `digests` name further inputs by their digests and go
    into the trace. `held` asks what would become of an entry that was stopped; such a run is none of the chat's.
    """

    index: DeepLoreIndex
    chat: tuple[Message, ...]
    settings: DeepLoreSettings
    turn: Turn
    controls: ChatControls = field(default_factory=ChatControls)
    state: EngineState = field(default_factory=EngineState)
    character: str = ""
    positions: tuple[int, ...] = ()
    clock_ms: int = 0
    context_size: int = 0
    counter: TokenCounter = CHARS_4
    answers: AnswerSource = field(default_factory=NoAnswers)
    model: str = ""
    behaviour: Behaviour = field(default_factory=Behaviour)
    seed: int = 0
    random: Callable[[int], RandomSource] | None = None
    timer: Callable[[], float] = time.perf_counter
    watcher: Watcher | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    held: Hold | None = None

    def is_fixed(self, switch: str) -> bool:
        """Whether the behaviour switch of this name is set to fixed."""
        choice: str = getattr(self.behaviour, switch)
        return choice == FIXED

    def position(self, message: int) -> int:
        """Index in the chat file of the prompt view's message number `message`."""
        return self.positions[message] if self.positions else message


@dataclass(frozen=True, slots=True)
class RunResult:
    """A finished run: what was decided, and the state that the next generation starts from.

    `tally` is what it added to the counts of the state before it, None where it left them alone.
    """

    trace: Trace
    state: EngineState = field(repr=False)
    tally: Tally | None = field(default=None, repr=False)
