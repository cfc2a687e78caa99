"""Taking over what an earlier replay of the same chat has made, where running it again would make the same.

A replay whose chat, notes or settings were changed runs only what the change touches. Generation by generation it
looks for one at the same place in an earlier replay and compares what a run reads (`systems.deeplore.reads`, which
proves that this is enough). Since the state before a generation is part of that, nothing has to be known of how the two
replays came there: they may have parted at an edit and met again, when its effect on the trackers had died out.

What is taken over is what a run would have made: the same trace but for the times, with the names of the inputs as they
are now, and the same state, its counts counted anew from those before.

Not taken over is a generation whose question to a model failed: asked again it may be answered. One that was answered
keeps its answer, and says who gave it, as if it had been recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lorestudio.domain.entry import Entry
from lorestudio.domain.state import EngineState, Tally
from lorestudio.studio.replay.runs import Runs, with_counts
from lorestudio.systems.context import RunContext, RunResult
from lorestudio.systems.deeplore.counts import counted
from lorestudio.systems.deeplore.reads import Reads, Unaffected, reads_all_entries
from lorestudio.systems.deeplore.run import digests
from lorestudio.trace.model import Trace


class Record:
    """The finished generations of one replay, with digests of what they read, made when they are first compared."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self._reads: Reads | None = None
        self._digests: dict[int, str] = {}
        self._entries: tuple[tuple[Sequence[Entry], Sequence[Entry]], Unaffected] | None = None

    def digest(self, place: int, ctx: RunContext) -> str:
        """What the generation at `place` reads; `ctx` is its context, all contexts of one record share their inputs."""
        if place not in self._digests:
            if self._reads is None:
                self._reads = Reads(ctx)
            self._digests[place] = self._reads.digest(ctx)
        return self._digests[place]

    def cut(self, length: int) -> None:
        """The generations from `length` on were forgotten; what the next one reads is still known."""
        self._digests = {place: digest for place, digest in self._digests.items() if place <= length}

    def unaffected(self, before: Sequence[Entry], after: Sequence[Entry]) -> Unaffected:
        """The comparison of entries `before` with those `after`, made once."""
        known = self._entries
        if known is None or known[0][0] is not before or known[0][1] is not after:
            known = self._entries = ((before, after), Unaffected(before, after))
        return known[1]


def taken_over(old: Record, place: int, before: RunContext, new: Record, ctx: RunContext) -> RunResult | None:
    """What the generation `ctx` of `new` comes to, None where only a run can tell.

    `before` is the context of the generation at `place` of `old`; the counts of its state need not be in it.
    """
    if old.digest(place, before) != new.digest(len(new.runs), ctx):
        return None
    trace = old.runs.trace(place)
    if trace.draws and before.state.random_state != ctx.state.random_state:
        return None
    if any(call.error for call in trace.ai_calls) or trace.facts.get("ai_error"):
        return None
    entries = (before.index.vault.entries, ctx.index.vault.entries)
    same = entries[0] is entries[1] or reads_all_entries(ctx.settings)
    if not same and not old.unaffected(*entries).leaves(trace, ctx):
        return None
    tally = old.runs.tally(place)
    state = _after(trace, old.runs.lean_state(place), tally, ctx.state)
    return RunResult(_named(trace, ctx), state, tally)


def _after(trace: Trace, state: EngineState, tally: Tally | None, before: EngineState) -> EngineState:
    """The state after a generation with that trace which begins at `before`; another one of them left `state`."""
    if trace.skip_reason:  # it never began
        return before
    state = with_counts(state, counted(before, tally))
    return state if trace.draws else replace(state, random_state=before.random_state)


def _named(trace: Trace, ctx: RunContext) -> Trace:
    """The trace with its inputs named as they are now."""
    names = digests(ctx)
    return trace if trace.digests == names else replace(trace, digests=names)
