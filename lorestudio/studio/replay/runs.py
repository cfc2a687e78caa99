"""Finished generations of a chat in the order they were run, in bounded memory.

A trace of a large vault takes some hundred kilobytes, and a long chat has thousands. The newest and the lately looked
at are kept as they are, `UNPACKED` of them that speak of `NAMED` entries; the others are packed, to about a twentieth,
and unpacked when somebody asks. A trace that follows from its inputs alone is made again instead, and of a long chat
not before somebody asks. What the states only count (`systems.base.Counting`) is kept at every `CHECKPOINT`th
generation and counted again from there, when somebody asks.

A run that is taken over from another simulator or from disk stays packed: its gist says all that this needs.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, ValuesView
from functools import cache, reduce
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.systems.base import Counting, Decided, State, Tally
from lorestudio.trace.model import SeenChat, Trace
from lorestudio.trace.storage.serialize import (
    Gist,
    PackedTrace,
    gist_of,
    packed,
    record_from_json,
    record_to_json,
    unpacked,
)

UNPACKED: Final = 600
"""So many generations stay as they are: about 60 MB for a vault of a thousand notes."""

NAMED: Final = 150_000
"""So many entries may the unpacked ones speak of together, some 200 MB: in a large vault each speaks of hundreds."""

REOPENED: Final = 100
"""So many of those that were packed stay unpacked: about 25 MB, as they share nothing with each other."""

CHECKPOINT: Final = 32


class Aftermath(Struct, frozen=True):
    """What a generation left: the state without its counts, and what it counted."""

    state: State
    tally: Tally = None


class PackedAftermath(Struct, frozen=True):
    """The same, packed, and the types of both, None where there is none."""

    data: bytes
    state: type | None
    tally: type | None

    @classmethod
    def of(cls, after: Aftermath) -> PackedAftermath:
        """Pack it."""
        parts = (after.state, after.tally)
        kinds = (None if part is None else type(part) for part in parts)
        return cls(packed([None if part is None else record_to_json(part) for part in parts]), *kinds)

    def opened(self) -> Aftermath:
        """What was packed. Raises ValueError, TypeError or zlib.error where it is something else."""
        parts = zip((self.state, self.tally), unpacked(self.data), ("state", "tally"), strict=True)
        return Aftermath(*(_record(*part) for part in parts))


def _record(kind: type | None, item: Any, path: str) -> Any:  # noqa: ANN401  # what a system remembers is its own affair
    return None if item is None or kind is None else record_from_json(kind, item, path)


class FinishedRun:
    """One finished generation, as it is or packed; only its shelf looks inside. Its gist is there in any case.

    `again` makes its trace, None where that has to be kept.

    `after` is one object for as long as the state is the same one: whoever goes on from the same object goes on from
    the same state.
    """

    __slots__ = ("after", "again", "gist", "packed", "seen", "took", "trace")

    def __init__(
        self,
        gist: Gist,
        after: Aftermath | PackedAftermath,
        trace: Trace | PackedTrace,
        again: Callable[[], Trace] | None = None,
    ) -> None:
        self.gist, self.after, self.again = gist, _Shared(after), again
        self.trace = trace if isinstance(trace, Trace) else None
        self.packed = trace if isinstance(trace, PackedTrace) else None
        self.seen = trace.seen
        """What its trace saw of the chat, None where one that is packed alone says it."""
        self.took = () if self.trace is None else tuple(record.duration_ms for record in self.trace.stages)

    @property
    def in_small(self) -> PackedTrace:
        """Its trace, packed."""
        if self.packed is None:
            self.packed = PackedTrace.of(self.opened())
        return self.packed

    def opened(self) -> Trace:
        """Its trace, unpacked or made again where nobody has it at hand."""
        trace, in_small, again = self.trace, self.packed, self.again  # another thread may pack it meanwhile
        if trace is not None:
            return trace
        if in_small is not None:
            return in_small.opened()
        assert again is not None  # noqa: S101  # one of the three is there
        trace = again()
        self.took = self.took or tuple(record.duration_ms for record in trace.stages)
        stages = zip(trace.stages, self.took, strict=True)
        return replace(trace, stages=tuple(replace(record, duration_ms=took) for record, took in stages))

    def close(self) -> None:
        """Keep it in small only."""
        if self.again is None:
            self.packed = self.in_small
        self.trace = None
        self.after.close()

    def taken_over(
        self,
        digests: Mapping[str, str] | None,
        seen: SeenChat,
        after: Aftermath | None,
        again: Callable[[], Trace] | None = None,
    ) -> FinishedRun:
        """The same run under other names of its inputs, with the state after it, None where that is the same.

        `again` makes its trace of these inputs.
        """
        trace, packed_trace = self.trace, self.packed
        if trace is None and again is None:
            packed_trace = self.in_small
        if digests is None:
            digests = trace.digests if trace is not None else packed_trace.digests if packed_trace is not None else None
        if trace is not None and digests is not None:
            same = trace.digests == digests and trace.seen == seen
            trace = trace if same else replace(trace, digests=digests, seen=seen)
        if packed_trace is not None:
            packed_trace = replace(packed_trace, digests=digests, seen=seen)
        run = FinishedRun.__new__(FinishedRun)
        run.gist, run.trace, run.packed = self.gist, trace, packed_trace
        run.seen, run.took, run.again = seen, self.took, again
        run.after = self.after if after is None else _Shared(after)
        return run


class _Shared:
    """What a generation left, shared by all runs that go on from it."""

    __slots__ = ("_data", "_opened")

    def __init__(self, after: Aftermath | PackedAftermath) -> None:
        self._opened = after if isinstance(after, Aftermath) else None
        self._data = after if isinstance(after, PackedAftermath) else None

    @property
    def in_small(self) -> PackedAftermath:
        data = self._data
        if data is None:
            assert self._opened is not None  # noqa: S101  # one of the two is there
            data = self._data = PackedAftermath.of(self._opened)
        return data

    def opened(self) -> Aftermath:
        opened = self._opened
        return opened if opened is not None else self.in_small.opened()

    def close(self) -> None:
        """Keep it packed only."""
        self._data, self._opened = self.in_small, None


class Shelf:
    """Hands out traces of runs, and packs all but the `unpacked` ones that were asked for last. For any thread.

    Of those that were packed once fewer stay unpacked: they share nothing with each other, as runs in a row do.
    """

    def __init__(self, unpacked: int = UNPACKED) -> None:
        self._unpacked = unpacked
        self._order: OrderedDict[FinishedRun, None] = OrderedDict()
        self._reopened: OrderedDict[FinishedRun, None] = OrderedDict()
        self._named = [0, 0]  # entries that the runs of either speak of
        self.is_full = False
        self._lock = threading.Lock()

    def put(self, run: FinishedRun) -> None:
        """A run of this shelf; one that is packed already stays so."""
        if run.trace is not None:
            with self._lock:
                self._touch(run)

    def get(self, run: FinishedRun) -> Trace:
        """The trace of a run."""
        with self._lock:
            trace, again = run.trace, run.trace is None or run in self._reopened
            if trace is None:
                trace = run.trace = run.opened()
            self._touch(run, again=again)
            return trace

    def let_go(self, run: FinishedRun) -> None:
        """Keep nothing of a run's trace."""
        with self._lock:
            for again, order in enumerate((self._order, self._reopened)):
                if order.pop(run, run) is None:
                    self._named[again] -= len(run.gist.named)
            run.trace = run.packed = run.again = None
            run.after.close()

    def _touch(self, run: FinishedRun, *, again: bool = False) -> None:
        order, most = (self._reopened, min(REOPENED, self._unpacked)) if again else (self._order, self._unpacked)
        if run not in order:
            self._named[again] += len(run.gist.named)
        order[run] = None
        order.move_to_end(run)
        while len(order) > most or (self._named[again] > NAMED and len(order) > 1):
            self.is_full = True
            oldest, _ = order.popitem(last=False)
            self._named[again] -= len(oldest.gist.named)
            oldest.close()


class ShelvedTrace(Struct, frozen=True):
    """A trace on a shelf."""

    shelf: Shelf
    run: FinishedRun

    @property
    def trace(self) -> Trace:
        """The trace, unpacked."""
        return self.shelf.get(self.run)

    @property
    def passing(self) -> Trace:
        """The trace, for somebody who goes through all of them."""
        return self.run.opened()


def is_same_run(one: Trace | ShelvedTrace | None, other: Trace | ShelvedTrace | None) -> bool:
    """Whether both are one run, which one simulator may have taken over from the other."""
    if isinstance(one, ShelvedTrace) and isinstance(other, ShelvedTrace):
        return one.run.gist is other.run.gist and one.run.seen == other.run.seen
    return one is other


class Runs:
    """Finished generations by their place, from 0; the state before the first is `first`. Any thread may read."""

    def __init__(self, first: State, counting: Counting | None = None, unpacked: int = UNPACKED) -> None:
        self._first = self._lean(first, counting)
        self._counting = counting
        self._shelf = Shelf(unpacked)
        self._runs: list[FinishedRun] = []
        self._counts: dict[int, State] = {} if counting is None else {-1: counting.only(first)}
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def is_full(self) -> bool:
        """Whether traces were let go already."""
        return self._shelf.is_full

    def append(self, result: Decided, again: Callable[[], Trace] | None = None, *, recorded: bool = True) -> None:
        """The next generation, as it was decided; `again` makes its trace where that is not kept, or not `recorded`."""
        with self._lock:
            after = Aftermath(self._lean(result.state, self._counting), result.tally)
            run = FinishedRun(gist_of(result.trace), after, result.trace, again)
            if not recorded:
                run.trace, run.took = None, ()
            self.take(run)
            if self._counting is not None:
                self._note_counts(len(self._runs) - 1, self._counting.only(result.state))

    def take(self, run: FinishedRun, counts: State = None) -> None:
        """The next generation, as it was run before; `counts` are those after it, None where they are to be counted."""
        with self._lock:
            self._shelf.put(run)
            self._runs.append(run)
            if counts is not None:
                self._note_counts(len(self._runs) - 1, counts)

    def cut(self, length: int) -> None:
        """Forget all generations from place `length` on."""
        with self._lock:
            del self._runs[length:]
            self._counts = {place: counts for place, counts in self._counts.items() if place < length}

    def __getitem__(self, place: int) -> FinishedRun:
        return self._runs[place]

    def trace(self, place: int) -> Trace:
        """The trace of a generation. Raises IndexError."""
        return self._shelf.get(self._runs[place])

    def held(self, place: int) -> ShelvedTrace:
        """That trace, also when it has been cut off. Raises IndexError."""
        return ShelvedTrace(self._shelf, self._runs[place])

    def state(self, place: int) -> State:
        """The state after a generation, -1 for the one before the first. Raises IndexError."""
        lean, counting = self.lean_state(place), self._counting
        return lean if counting is None else counting.joined(lean, self.counts(place))

    def later_state(self, place: int) -> Callable[[], State]:
        """Gives the state after a generation as it is now, -1 as above; its counts are made when it is asked for."""
        with self._lock:
            runs = self._runs[: place + 1]

        @cache
        def state() -> State:
            with self._lock:
                if place == -1 or (place < len(self._runs) and self._runs[place] is runs[place]):
                    return self.state(place)
                start, counting = self._counts.get(-1), self._counting
            lean = runs[place].after.opened().state  # since then they went on otherwise
            if counting is None:
                return lean
            return counting.joined(lean, reduce(counting.after, (run.after.opened().tally for run in runs), start))

        return state

    def counts(self, place: int) -> State:
        """What is counted after a generation, by a system that counts. Raises IndexError."""
        with self._lock:
            known = place
            while known not in self._counts:
                known -= 1
            counts, counting = self._counts[known], self._counting
            for each in range(known + 1, place + 1):
                assert counting is not None  # noqa: S101  # nobody else has counts
                counts = counting.after(counts, self.tally(each))
                self._note_counts(each, counts)
            return counts

    def lean_state(self, place: int) -> State:
        """The state after a generation without its counts, -1 for the one before the first. Raises IndexError."""
        return self._first if place == -1 else self._runs[place].after.opened().state

    def tally(self, place: int) -> Tally:
        """What a generation counted. Raises IndexError."""
        return self._runs[place].after.opened().tally

    def goes_on_as(self, place: int, other: Runs, others: int) -> bool:
        """Whether the state after a generation is known to be that after one of the other's, -1 as above."""
        if place == -1 or others == -1:
            return place == others and self._first == other._first
        return self._runs[place].after is other._runs[others].after

    def _note_counts(self, place: int, counts: State) -> None:
        """Know these, and of those before them only the checkpoints."""
        before = place - 1
        if before % CHECKPOINT and before != -1:
            self._counts.pop(before, None)
        self._counts[place] = counts

    @staticmethod
    def _lean(state: State, counting: Counting | None) -> State:
        return state if counting is None else counting.without(state)


class TraceBook(Mapping[Generation, Trace]):
    """Traces by generation, some of them held by `Runs`, where they may be packed.

    Going through the keys unpacks none; `gist` does not either. Going through the values unpacks one after the other
    and keeps none, so with thousands of them it is work for a worker.
    """

    def __init__(self, traces: Mapping[Generation, Trace] = MappingProxyType({})) -> None:
        self._places: dict[Generation, Trace | ShelvedTrace] = {}
        self.take(traces)

    @property
    def places(self) -> Mapping[Generation, Trace | ShelvedTrace]:
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

    @classmethod
    def of(cls, traces: Iterable[Trace]) -> TraceBook:
        """These traces, each of another generation."""
        return cls({trace.turn.generation: trace for trace in traces})

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
        return found.run.gist if isinstance(found, ShelvedTrace) else gist_of(found)

    def __getitem__(self, generation: Generation) -> Trace:
        found = self._places[generation]
        return found.trace if isinstance(found, ShelvedTrace) else found

    def values(self) -> ValuesView[Trace]:
        """The traces, each unpacked when it comes."""
        return _Passing(self)

    def __contains__(self, generation: object) -> bool:
        return generation in self._places

    def __iter__(self) -> Iterator[Generation]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class _Passing(ValuesView[Trace]):
    """The traces of a book, for somebody who goes through all of them."""

    def __init__(self, book: TraceBook) -> None:
        super().__init__(book)
        self._held = book.places.values()

    def __iter__(self) -> Iterator[Trace]:
        return (held.passing if isinstance(held, ShelvedTrace) else held for held in self._held)
