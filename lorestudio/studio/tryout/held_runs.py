"""What later stages would have done with an entry that a stage stopped: one generation run again, the entry held in.

Same chat, same state before it, same seed, same answers; a model is never asked about what might have been. The
simulator's own traces and states stay what they are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.studio.replay.rerun import Rerun, run_offline, trace_of
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Preview
from lorestudio.systems.context import RunContext
from lorestudio.systems.deeplore.index import DeepLoreIndex
from lorestudio.systems.holding import Hold
from lorestudio.trace.held_run import WouldAlso, would_also
from lorestudio.trace.journey import Fate, FateState, Journeys
from lorestudio.trace.model import Phase, Trace

_ASKABLE = frozenset({FateState.REMOVED, FateState.REFUSED, FateState.NEVER})
_LAST = frozenset({Phase.BUDGET, Phase.INJECT})


class HeldRuns:
    """Asks about single entries of one generation.

    It takes what it needs from the simulator when it is made, at once, and may then be used in any thread. With a
    `preview` the questions are about that run with its unsaved texts. Raises ValueError for a generation that was not
    run.
    """

    def __init__(self, simulator: Simulator, generation: Generation, preview: Preview | None = None) -> None:
        self.trace: Trace = trace_of(simulator.traces, generation) if preview is None else preview.trace
        context = simulator.context(generation)
        self._rerun = Rerun(generation, self.trace, context)
        self._edited = None if preview is None or preview.index is context.index.vault else preview.index

    @cached_property
    def _index(self) -> DeepLoreIndex:
        known = self._rerun.context.index
        return known if self._edited is None else DeepLoreIndex(self._edited, known)

    @cached_property
    def _journeys(self) -> Journeys:
        return Journeys(self.trace)

    def of(self, entry: int, cancel: CancelToken | None = None) -> WouldAlso | None:
        """What became of the entry behind the stage that stopped it; None where no stage is behind it.

        That is so for one that went in, one that the budget cut, and in a run that was skipped. Raises Cancelled
        between two stages after a request to stop.
        """
        end = self._journeys.fate(entry)
        if self.trace.skip_reason or not _is_askable(end) or not 0 <= entry < len(self._index.vault.entries):
            return None
        return would_also(run_offline(self._held(entry, end), self._rerun.answers(), cancel))

    def _held(self, entry: int, end: Fate) -> RunContext:
        return replace(
            self._rerun.context,
            index=self._index,
            digests=self._rerun.digests(f"held {entry} {self._index.vault.digest}"),
            held=Hold(entry, end.stage if end.state is FateState.REMOVED else ""),
        )


def _is_askable(end: Fate) -> bool:
    return end.state in _ASKABLE and not (end.state is FateState.REMOVED and end.phase in _LAST)
