"""How often each entry fired in the chat that is shown, counted as the runs come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lorestudio.studio.generation import Generation
from lorestudio.trace.firing import NEVER, Fired, fired_in
from lorestudio.trace.model import Trace


class FiringCounts:
    """Counts over the runs of one chat. Only runs that are new are looked at."""

    def __init__(self) -> None:
        self._runs: dict[Generation, tuple[Trace, frozenset[int], frozenset[int]]] = {}
        self._matched: dict[int, int] = {}
        self._injected: dict[int, int] = {}

    @property
    def runs(self) -> int:
        """How many runs are counted."""
        return len(self._runs)

    def clear(self) -> None:
        """Another vault or chat: the ids mean other entries."""
        self._runs, self._matched, self._injected = {}, {}, {}

    def of(self, entry: int) -> Fired:
        """How often one entry fired."""
        if entry not in self._matched:
            return NEVER
        return Fired(self._matched[entry], self._injected.get(entry, 0))

    def take(self, traces: Mapping[Generation, Trace], changed: Iterable[Generation] | None) -> bool:
        """Count these runs; `changed` None means that any of them may be another one. True where a count differs."""
        wanted = set(traces) | set(self._runs) if changed is None else set(changed)
        different = False
        for generation in wanted:
            trace, known = traces.get(generation), self._runs.get(generation)
            if known is not None and trace is known[0]:
                continue
            different = True
            if known is not None:
                del self._runs[generation]
                _add(self._matched, known[1], -1)
                _add(self._injected, known[2], -1)
            if trace is not None:
                matched, injected = fired_in(trace)
                self._runs[generation] = (trace, matched, injected)
                _add(self._matched, matched, 1)
                _add(self._injected, injected, 1)
        return different


def _add(counts: dict[int, int], entries: frozenset[int], step: int) -> None:
    for entry in entries:
        now = counts.get(entry, 0) + step
        if now:
            counts[entry] = now
        else:
            counts.pop(entry, None)
