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
from lorestudio.domain.records import replace
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
