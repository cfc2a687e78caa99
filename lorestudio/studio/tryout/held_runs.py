"""What later stages would have done with an entry that a stage stopped: one generation run again, the entry held in.

Same chat, same state before it, same seed, same answers; a model is never asked about what might have been. The
simulator's own traces and states stay what they are.
"""

from __future__ import annotations

from functools import cached_property

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import replace
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Preview
from lorestudio.systems.base import Hold
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

    `not_held` says why the system can hold no entry in, "" where it can; then `of` knows nothing.
    """

    def __init__(self, simulator: Simulator, generation: Generation, preview: Preview | None = None) -> None:
        rerun = Rerun.of(simulator, generation)
        if preview is not None:
            rerun = replace(rerun, before=preview.trace, moment=replace(rerun.moment, index=preview.index))
        self._rerun = rerun
        self.trace: Trace = rerun.before
        self.not_held = rerun.system.kind.not_held

    @cached_property
    def _journeys(self) -> Journeys:
        return Journeys(self.trace)

    def of(self, entry: int, cancel: CancelToken | None = None) -> WouldAlso | None:
        """What became of the entry behind the stage that stopped it; None where no stage is behind it.

        That is so for one that went in, one that the budget cut, one that never takes part, as what its keys would
        have found nobody knows, and in a run that was skipped. Raises Cancelled between two stages after a request to
        stop.
        """
        end, index = self._journeys.fate(entry), self._rerun.moment.index
        known = not self.trace.skip_reason and 0 <= entry < len(index.entries)
        if self.not_held or not known or not _is_askable(end):
            return None
        held = Hold(entry, end.stage if end.state is FateState.REMOVED else "")
        rerun = replace(self._rerun, moment=replace(self._rerun.moment, held=held))
        return would_also(rerun.named(f"held {entry} {index.digest}").run(cancel).trace)


def _is_askable(end: Fate) -> bool:
    if end.state is FateState.REFUSED and end.phase is Phase.LOAD:
        return False
    return end.state in _ASKABLE and not (end.state is FateState.REMOVED and end.phase in _LAST)
