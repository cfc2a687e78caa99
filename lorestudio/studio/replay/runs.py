"""Finished generations of a chat in the order they were run, in bounded memory.

A trace of a large vault takes some hundred kilobytes, and a long chat has thousands. The newest and the lately looked
at are kept as they are, `UNPACKED` of them; the others are packed, to about a twentieth, and unpacked when somebody
asks. What the states only count (`systems.base.Counting`) is kept at every `CHECKPOINT`th generation and counted again
from there.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import EMPTY
from lorestudio.systems.base import Counting, Decided, State, Tally
from lorestudio.trace.model import Trace
from lorestudio.trace.timeline import fired_in
from lorestudio.trace.vocabulary import PLAIN, Vocabulary

UNPACKED: Final = 600
"""So many generations stay as they are: about 60 MB for a vault of a thousand notes."""

CHECKPOINT: Final = 32
_QUICK: Final = 1  # of zlib's levels; the others take three times as long for a tenth less


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A generation that was run, and the state after it without its counts."""

    trace: Trace
    state: State


@dataclass(frozen=True, slots=True)
class Gist:
    """What is asked of all runs of a chat at once: ids of the entries that a run matched, and that it injected."""

    matched: tuple[int, ...]
    injected: frozenset[int]


def gist_of(trace: Trace) -> Gist:
    """The gist of a trace."""
    matched, injected = fired_in(trace)
    return Gist(tuple(sorted(matched)), injected)


class RunCell:
    """One finished generation, as it is or packed; only its shelf looks inside. Its gist is there in any case."""

    __slots__ = ("finished", "gist", "packed")

    def __init__(self, finished: FinishedRun) -> None:
        self.finished: FinishedRun | None = finished
        self.packed = _NOT_PACKED
        self.gist = gist_of(finished.trace)


class Shelf:
    """Hands out what is in cells, and packs all but the `unpacked` ones that were asked for last. For any thread."""

    def __init__(self, unpacked: int = UNPACKED) -> None:
        self._unpacked = unpacked
        self._order: OrderedDict[RunCell, None] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, finished: FinishedRun) -> RunCell:
        """A new cell."""
        cell = RunCell(finished)
        with self._lock:
            self._touch(cell)
        return cell

    def get(self, cell: RunCell) -> FinishedRun:
        """What is in a cell."""
        with self._lock:
            finished = cell.finished
            if finished is None:
                finished = cell.finished = cell.packed.opened()
            self._touch(cell)
            return finished

    def _touch(self, cell: RunCell) -> None:
        self._order[cell] = None
        self._order.move_to_end(cell)
        while len(self._order) > self._unpacked:
            oldest, _ = self._order.popitem(last=False)
            if oldest.finished is not None:
                oldest.packed = oldest.packed if oldest.packed.data else _Pack.of(oldest.finished)
                oldest.finished = None


@dataclass(frozen=True, slots=True)
class ShelvedTrace:
    """A trace on a shelf."""

    shelf: Shelf
    cell: RunCell

    @property
    def trace(self) -> Trace:
        """The trace, unpacked."""
        return self.shelf.get(self.cell).trace


class Runs:
    """Finished generations by their place, from 0; the state before the first is `first`. Any thread may read."""

    def __init__(self, first: State, counting: Counting | None = None, unpacked: int = UNPACKED) -> None:
        self._first = self._last = first
        self._counting = counting
        self._shelf = Shelf(unpacked)
        self._cells: list[RunCell] = []
        self._tallies: list[Tally] = []
        self._checkpoints: dict[int, State] = {}
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._cells)

    def append(self, result: Decided) -> None:
        """The next generation."""
        with self._lock:
            place = len(self._cells)
            if self._counting is not None and place % CHECKPOINT == 0:
                self._checkpoints[place] = self._counting.only(result.state)
            self._tallies.append(result.tally)
            self._last = result.state
            self._cells.append(self._shelf.put(FinishedRun(result.trace, self._lean(result.state))))

    def cut(self, length: int) -> None:
        """Forget all generations from place `length` on."""
        with self._lock:
            if length >= len(self._cells):
                return
            last = self.state(length - 1)
            for place in range(length, len(self._cells)):
                self._checkpoints.pop(place, None)
            del self._tallies[length:], self._cells[length:]
            self._last = last

    def trace(self, place: int) -> Trace:
        """The trace of a generation. Raises IndexError."""
        return self._shelf.get(self._cells[place]).trace

    def held(self, place: int) -> ShelvedTrace:
        """That trace, also when it has been cut off. Raises IndexError."""
        return ShelvedTrace(self._shelf, self._cells[place])

    def state(self, place: int) -> State:
        """The state after a generation, -1 for the one before the first. Raises IndexError."""
        with self._lock:
            if place == -1:
                return self._first
            if place == len(self._cells) - 1:
                return self._last
            lean = self.lean_state(place)
            counting = self._counting
            if counting is None:
                return lean
            start = place
            while start >= 0 and start not in self._checkpoints:
                start -= 1
            counts = self._checkpoints[start] if start >= 0 else counting.only(self._first)
            for tally in self._tallies[start + 1 : place + 1]:
                counts = counting.after(counts, tally)
        return counting.joined(lean, counts)

    def lean_state(self, place: int) -> State:
        """The state after a generation without its counts, -1 for the one before the first. Raises IndexError."""
        return self._lean(self._first) if place == -1 else self._shelf.get(self._cells[place]).state

    def tally(self, place: int) -> Tally:
        """What a generation counted. Raises IndexError."""
        return self._tallies[place]

    def _lean(self, state: State) -> State:
        return state if self._counting is None else self._counting.without(state)


# ---- the packed form, which never leaves the process -----------------------------------------------------------------


def _mapping(items: dict[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(items) if items else EMPTY


def _reduced(mapping: Mapping[str, Any]) -> tuple[Callable[[dict[str, Any]], Mapping[str, Any]], tuple[dict[str, Any]]]:
    return _mapping, (dict(mapping),)


def _plain() -> Vocabulary[Trace]:
    return PLAIN


def _without_words(_words: Vocabulary[Trace]) -> tuple[Callable[[], Vocabulary[Trace]], tuple[()]]:
    """A pack has plain words in place of a trace's own, which thousands of traces share."""
    return _plain, ()


PACKING: Final[Mapping[type, Any]] = {**copyreg.dispatch_table, MappingProxyType: _reduced}
"""How a pickler takes what is read only."""

_TABLE: Final[Mapping[type, Any]] = {**PACKING, Vocabulary: _without_words}


@dataclass(frozen=True, slots=True)
class _Pack:
    """A packed generation, and the words of its trace."""

    data: bytes
    words: Vocabulary[Trace]

    @classmethod
    def of(cls, finished: FinishedRun) -> _Pack:
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, protocol=5)
        pickler.dispatch_table = _TABLE
        pickler.dump(finished)
        return cls(zlib.compress(buffer.getbuffer(), _QUICK), finished.trace.words)

    def opened(self) -> FinishedRun:
        finished: FinishedRun = pickle.loads(zlib.decompress(self.data))  # noqa: S301  # packed in this process, see `of`
        return replace(finished, trace=replace(finished.trace, words=self.words))


_NOT_PACKED: Final = _Pack(b"", PLAIN)


class TraceBook(Mapping[Generation, Trace]):
    """Traces by generation, some of them held by `Runs`, where they may be packed.

    Going through the keys unpacks none; `gist` does not either. Going through the values unpacks one after the other,
    so with thousands of them it is work for a worker.
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
        return found.cell.gist if isinstance(found, ShelvedTrace) else gist_of(found)

    def __getitem__(self, generation: Generation) -> Trace:
        found = self._places[generation]
        return found.trace if isinstance(found, ShelvedTrace) else found

    def __contains__(self, generation: object) -> bool:
        return generation in self._places

    def __iter__(self) -> Iterator[Generation]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
