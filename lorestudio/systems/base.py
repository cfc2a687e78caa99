"""Retrieval systems side by side: what each is given for a turn, and what it gives back.

DeepLore has inputs of its own (`systems.context`). The other systems are objects made with their settings and whatever
they need besides (a word list, an embedder); they are all given the same `Moment` and answer with a `Trace`, so that
every view and every comparison works for them.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pydantic import BaseModel

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import Stopped
from lorestudio.domain.state import ChatControls
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.trace.model import EntryRef, Phase, StageRecord, StageStatus, Trace, Turn

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Moment:
    """The immutable inputs of one generation, whatever the system.

    `chat` is the prompt view: hidden messages and the reply being replaced are not in it; `positions` gives each of its
    messages' index in the chat file (its own index where empty). `context_size` is in tokens, 0 where nobody knows it;
    `clock_ms` is milliseconds since the epoch, `timer` gives seconds. `digests` name the inputs and go into the trace.
    """

    index: VaultIndex
    chat: tuple[Message, ...]
    turn: Turn
    controls: ChatControls = field(default_factory=ChatControls)
    positions: tuple[int, ...] = ()
    character: str = ""
    user: str = "User"
    counter: TokenCounter = CHARS_4
    context_size: int = 0
    clock_ms: int = 0
    seed: int = 0
    timer: Callable[[], float] = time.perf_counter
    digests: Mapping[str, str] = field(default_factory=dict)

    def position(self, message: int) -> int:
        """Index in the chat file of the prompt view's message number `message`."""
        return self.positions[message] if self.positions else message


@dataclass(frozen=True, slots=True)
class Decided:
    """What a system made of a moment, and the state that its next generation starts from."""

    trace: Trace
    state: object = None


class System(Protocol):
    """A retrieval system, ready to decide. `name` stands in traces and on the command line, `title` in the window."""

    @property
    def name(self) -> str:
        """The name, as in `context-window`."""
        ...

    @property
    def title(self) -> str:
        """What people call it."""
        ...

    @property
    def inputs(self) -> str:
        """The digest of all that it decides by besides the moment: its settings and what it was made with."""
        ...

    async def decide(self, moment: Moment, state: object = None) -> Decided:
        """Run one generation. `state` is what the generation before left, None for the first one of a chat.

        The same inputs give the same result, and nothing outside it changes.
        """
        ...


def inputs_digest(settings: BaseModel, *others: object) -> str:
    """The SHA-256 of settings and of other things by which a system decides, told by their `repr`."""
    told = "\0".join((settings.model_dump_json(), *map(repr, others)))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Step:
    """A stage of a run as `run_steps` takes it. `candidates` gives the ids of the candidates at any moment."""

    name: str
    phase: Phase
    work: Callable[[], Awaitable[StageRecord]]


async def run_steps(
    steps: Sequence[Step], candidates: Callable[[], tuple[int, ...]], timer: Callable[[], float]
) -> tuple[StageRecord, ...]:
    """The records of all steps, in order and timed; a step that fails is recorded as such, and the run goes on."""
    records: list[StageRecord] = []
    for step in steps:
        begun, before = timer(), candidates()
        try:
            record = await step.work()
        except Stopped:
            raise
        except Exception as error:
            logger.exception("Stage %r failed", step.name)
            message = f"{type(error).__name__}: {error}"
            record = StageRecord(step.name, step.phase, StageStatus.FAILED, before, candidates(), error=message)
        records.append(replace(record, duration_ms=1000 * (timer() - begun)))
    return tuple(records)


def entry_refs(entries: Sequence[Entry], records: Sequence[StageRecord]) -> dict[int, EntryRef]:
    """Who the entries are that the records speak of."""
    named = {entry for record in records for entry in (*record.entered, *record.left)}
    named.update(verdict.entry for record in records for verdict in record.verdicts)
    return {
        entry.id: EntryRef(entry.id, entry.title, entry.vault, entry.filename, entry.priority, entry.tokens)
        for entry in entries
        if entry.id in named
    }
