"""Traces by generation, for those who look at a chat's runs: cheap to copy, unpacked only when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from lorestudio.studio.generation import Generation
from lorestudio.studio.runs import Gist, Held, Runs, gist_of
from lorestudio.trace.model import Trace


class TraceBook(Mapping[Generation, Trace]):
    """Traces by generation, some of them held by `Runs`, where they may be packed.

    Going through the keys unpacks none; `gist` does not either. Going through the values unpacks one after the other,
    so with thousands of them it is work for a worker.
    """

    def __init__(self, traces: Mapping[Generation, Trace] = MappingProxyType({})) -> None:
        self._places: dict[Generation, Trace | Held] = {}
        self.take(traces)

    @property
    def places(self) -> Mapping[Generation, Trace | Held]:
        """Each trace, or what holds it. What is the same object is the same run."""
        return self._places

    def take(self, traces: Mapping[Generation, Trace]) -> tuple[Generation, ...]:
        """Put these in, without unpacking what is in another book; returns the generations whose run is another now."""
        others = traces.places if isinstance(traces, TraceBook) else traces
        changed = tuple(key for key, run in others.items() if self._places.get(key) is not run)
        self._places.update(others)
        return changed

    def put(self, generation: Generation, runs: Runs, place: int) -> None:
        """The trace is that of `place` in `runs`."""
        self._places[generation] = runs.held(place)

    def part(self, generations: Sequence[Generation]) -> TraceBook:
        """A book of these generations alone."""
        book = TraceBook()
        for generation in generations:
            book._places[generation] = self._places[generation]
        return book

    def gist(self, generation: Generation) -> Gist | None:
        """What the run of a generation matched and injected, None where there is none."""
        found = self._places.get(generation)
        if found is None:
            return None
        return found.cell.gist if isinstance(found, Held) else gist_of(found)

    def __getitem__(self, generation: Generation) -> Trace:
        found = self._places[generation]
        return found.trace if isinstance(found, Held) else found

    def __contains__(self, generation: object) -> bool:
        return generation in self._places

    def __iter__(self) -> Iterator[Generation]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
