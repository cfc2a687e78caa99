"""The run under way, as the worker tells it and the window reads it: finished stages, the one that runs, a reply.

A run under way as a trace, so that every view of traces can show it while it fills.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.studio.project.answering import ChatRequest
from lorestudio.systems.registry import words_of
from lorestudio.trace.model import EntryRef, Phase, RunOutcome, StageRecord, Trace, Turn


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run under way at one moment. `stage` is "" between two stages; `since` is when it began (monotonic seconds).

    `request` is the question that waits for its answer, `reply` what has arrived of a streamed one.
    """

    generation: Generation
    records: tuple[StageRecord, ...] = field(default=(), repr=False)
    stage: str = ""
    phase: Phase = Phase.LOAD
    since: float = 0.0
    request: ChatRequest | None = field(default=None, repr=False)
    reply: str = field(default="", repr=False)

    def elapsed(self, now: float | None = None) -> float:
        """Seconds that the running stage has taken so far."""
        return max(0.0, (time.monotonic() if now is None else now) - self.since) if self.stage else 0.0


class LiveBoard:
    """What a worker writes as a watcher of stages and an observer of answers, and any thread reads."""

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._timer = timer
        self._current: Callable[[], Generation | None] = lambda: None
        self._generation: Generation | None = None
        self._records: list[StageRecord] = []
        self._stage, self._phase, self._since = "", Phase.LOAD, 0.0
        self._request: ChatRequest | None = None
        self._pieces: list[str] = []

    def follow(self, current: Callable[[], Generation | None]) -> None:
        """Take another replay; `current` says which generation of it runs."""
        with self._lock:
            self._current = current
            self._clear(None)

    def look(self) -> LiveRun | None:
        """The run at this moment, None where none has begun."""
        with self._lock:
            if self._generation is None:
                return None
            return LiveRun(
                self._generation,
                tuple(self._records),
                self._stage,
                self._phase,
                self._since,
                self._request,
                "".join(self._pieces),
            )

    # ---- the worker's side ------------------------------------------------------------------------------------------

    def began(self, name: str, phase: Phase) -> None:
        """A stage begins."""
        generation = self._current()
        with self._lock:
            if generation != self._generation:
                self._clear(generation)
            self._stage, self._phase, self._since = name, phase, self._timer()

    def finished(self, record: StageRecord) -> None:
        """A stage is over."""
        with self._lock:
            self._records.append(record)
            self._stage = ""

    def asked(self, request: ChatRequest) -> None:
        """A question was put."""
        with self._lock:
            self._request, self._pieces = request, []

    def heard(self, piece: str) -> None:
        """A piece of the reply arrived."""
        with self._lock:
            self._pieces.append(piece)

    def answered(self) -> None:
        """The question is settled."""
        with self._lock:
            self._request, self._pieces = None, []

    def _clear(self, generation: Generation | None) -> None:
        self._generation, self._records = generation, []
        self._stage, self._phase, self._since = "", Phase.LOAD, 0.0
        self._request, self._pieces = None, []


def live_trace(live: LiveRun, index: VaultIndex, system: str, mode: str) -> Trace:
    """The finished stages of a run, and as the last one the stage that runs: all candidates are still in it."""
    records = list(live.records)
    if live.stage:
        waiting = records[-1].left if records else ()
        records.append(StageRecord(live.stage, live.phase, entered=waiting, left=waiting))
    named = {verdict.entry for record in records for verdict in record.verdicts}
    refs = {}
    for number in sorted(named):
        entry = index.entries[number]
        refs[number] = EntryRef(number, entry.title, entry.vault, entry.filename, entry.priority, entry.tokens)
    return Trace(
        system,
        mode,
        RunOutcome.NOTHING_INJECTED,
        Turn(live.generation.message, live.generation.swipe, 0),
        refs,
        len(index.entries),
        tuple(records),
        words=words_of(system),
    )
