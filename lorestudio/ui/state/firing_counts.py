"""How often each entry fired in the chat that is shown, counted as the runs come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lorestudio.domain.chat import Generation
from lorestudio.studio.replay.runs import Gist, TraceBook
from lorestudio.trace.model import Trace
from lorestudio.trace.timeline import NEVER, Fired


class FiringCounts:
    """Counts over the runs of one chat. Only runs that are new are looked at."""

    def __init__(self) -> None:
        self._runs: dict[Generation, tuple[object, Gist]] = {}
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
        book = traces if isinstance(traces, TraceBook) else TraceBook(traces)
        wanted = set(book) | set(self._runs) if changed is None else set(changed)
        different = False
        for generation in wanted:
            run, known = book.places.get(generation), self._runs.get(generation)
            if known is not None and run is known[0]:
                continue
            different = True
            if known is not None:
                del self._runs[generation]
                self._count(known[1], -1)
            gist = book.gist(generation)
            if gist is not None:
                self._runs[generation] = (run, gist)
                self._count(gist, 1)
        return different

    def injected(self) -> Mapping[int, int]:
        """In how many runs each entry was injected."""
        return dict(self._injected)

    def _count(self, gist: Gist, step: int) -> None:
        _add(self._matched, gist.matched, step)
        _add(self._injected, gist.injected, step)


def _add(counts: dict[int, int], entries: Iterable[int], step: int) -> None:
    for entry in entries:
        now = counts.get(entry, 0) + step
        if now:
            counts[entry] = now
        else:
            counts.pop(entry, None)
