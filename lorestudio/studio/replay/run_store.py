"""What was run is stored: traces and counters of a chat survive the studio, and a replay goes on where it stopped.

A host may forget its counters when its page is reloaded; here they are as lasting as the traces.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Final

import platformdirs

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Closing
from lorestudio.settings.files import write_atomically
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import Decided, State, SystemKind, Tally
from lorestudio.systems.registry import KINDS, MAIN, words_of
from lorestudio.trace.model import Trace
from lorestudio.trace.serialize import record_from_json, record_to_json
from lorestudio.trace.store import TraceStore

VERSION: Final = 4
_QUICK: Final = 3  # of gzip's levels; the default takes three times as long for a tenth less


def default_folder() -> Path:
    """The folder of the person's data."""
    return platformdirs.user_data_path("lorestudio", appauthor=False) / "runs"


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where the runs of a chat with one system are stored.

    A `slot` has the runs with other settings beside those that the chat is run with as it is shown, whose slot is "".
    """

    chat: str
    system: str = MAIN.name
    slot: str = ""

    @classmethod
    def of(cls, simulator: Simulator, slot: str = "") -> RunPlace:
        """That of a simulator's runs."""
        return cls(chat_id(simulator.project), simulator.system.name, slot)

    @property
    def states_file(self) -> str:
        """The name of the file of states."""
        name = self.chat if self.system == MAIN.name else f"{self.chat}.{self.system}"
        if self.slot:
            name += f".{hashlib.sha256(self.slot.encode()).hexdigest()[:12]}"
        return f"{name}.states.json.gz"


@dataclass(frozen=True, slots=True)
class StoredRuns:
    """A chat's generations as they were stored: the digest of each one's inputs, its mark, and the state after it.

    States are without their counts; `tallies` say what each generation counted.
    """

    inputs: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    states: tuple[State, ...] = ()
    tallies: tuple[Tally, ...] = ()


@dataclass(frozen=True, slots=True)
class LastRuns:
    """The runs of a chat that were stored last, in order; the first `current` of them are what a run would give now."""

    traces: tuple[Trace, ...] = ()
    current: int = 0


class RunStore(Closing):
    """The stored runs of all chats with all systems: a trace store, and files of states for each chat.

    Opening, keeping and restoring wait for the disk, so a window calls them from a worker.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._store = TraceStore(folder / "traces.sqlite", words_of)
        self._unread: dict[str, None] = {}

    @property
    def problems(self) -> list[str]:
        """Sentences about what could not be read so far."""
        return [*(problem.message for problem in self._store.problems), *self._unread]

    def keep(self, simulator: Simulator, slot: str = "") -> None:
        """Store all generations run so far. Raises OSError; then what was stored before is still there.

        What was stored beyond them stays as long as it goes on from them. Of the generations that were added, only the
        newest runs stay (`trace.store.KEPT_RUNS`).
        """
        where = RunPlace.of(simulator, slot)
        chat, system = where.chat, where.system
        stored = self._read(where)
        done = len(simulator.traces)
        inputs = simulator.inputs[:done]
        traces = [simulator.traces[generation] for generation in simulator.generations[:done]]
        marks = tuple(mark(trace) for trace in traces)
        known = min(_common(stored.inputs, inputs), _common(stored.marks, marks))
        if known and not self._holds(where, traces[known - 1]):  # the store was lost: it is begun anew
            known = 0
        if known == done:
            return
        self._store.add_many(chat, traces[known:])
        document = {
            "version": VERSION,
            "inputs": list(inputs),
            "marks": list(marks),
            **_states_document(simulator, done),
        }
        packed = gzip.compress(json.dumps(document).encode(), _QUICK, mtime=0)
        write_atomically(self._folder / where.states_file, packed)
        # Only now: until then the file of states may refer to any of the older runs.
        added = [(trace.turn.message, trace.turn.swipe) for trace in traces[known:]]
        self._store.prune(chat, added, system=system)

    def restore(self, simulator: Simulator, slot: str = "") -> int:
        """Give the simulator what was run before on the same inputs; returns how many generations that are.

        A state or trace that cannot be read ends what is restored there; `problems` says so.
        """
        where = RunPlace.of(simulator, slot)
        stored = self._read(where)
        known = _common(stored.inputs, simulator.inputs)
        restored = self._traces(where, simulator.generations, stored.marks[:known])
        system = simulator.system
        counting, counts = system.counting, system.first_state(simulator.project.seed)
        results: list[Decided] = []
        for trace, lean, tally in zip(restored, stored.states, stored.tallies, strict=False):
            state = lean
            if counting is not None:
                counts = counting.after(counts, tally)
                state = counting.joined(lean, counts)
            results.append(Decided(trace, state, tally))
        simulator.resume(results)
        return len(results)

    def last(self, simulator: Simulator, slot: str = "") -> LastRuns:
        """What was stored last of the simulator's generations, also where its inputs have changed since.

        It ends at the first generation that nothing is stored of. The simulator stays as it is.
        """
        where = RunPlace.of(simulator, slot)
        stored = self._read(where)
        traces = self._traces(where, simulator.generations, stored.marks)
        return LastRuns(tuple(traces), min(len(traces), _common(stored.inputs, simulator.inputs)))

    def history(self, project: Project, generation: Generation, system: str = MAIN.name) -> tuple[Trace, ...]:
        """The stored runs of one generation of a project's chat with a system, oldest first."""
        return self._store.history(chat_id(project), generation.message, generation.swipe, system)

    def latest(self, project: Project, system: str = MAIN.name) -> tuple[Trace, ...]:
        """The run that was stored last of each generation of a project's chat with a system, by message and swipe."""
        return self._store.latest_all(chat_id(project), system)

    def counts(self, project: Project) -> dict[str, int]:
        """How many runs of generations of a project's chat are stored, by system."""
        return self._store.counts(chat_id(project))

    def _traces(self, where: RunPlace, generations: Sequence[Generation], marks: Sequence[str]) -> list[Trace]:
        """The traces with these marks, as far as they are there."""
        if not marks:
            return []
        newest = self._store.latest_all(where.chat, where.system)
        traces = {(trace.turn.message, trace.turn.swipe): trace for trace in newest}
        found: list[Trace] = []
        for generation, expected in zip(generations, marks, strict=False):
            place = (generation.message, generation.swipe)
            trace = traces.get(place)
            if trace is None or mark(trace) != expected:  # of another run than the state
                older = self._store.history(where.chat, *place, where.system)
                trace = next((one for one in older if mark(one) == expected), None)
            if trace is None:
                break
            found.append(trace)
        return found

    def _holds(self, where: RunPlace, trace: Trace) -> bool:
        """Whether the store has this trace."""
        place = (trace.turn.message, trace.turn.swipe)
        stored = self._store.latest(where.chat, *place, where.system)
        if stored is not None and mark(stored) == mark(trace):
            return True
        # Runs of another slot may be newer.
        return any(mark(one) == mark(trace) for one in self._store.history(where.chat, *place, where.system))

    def _read(self, where: RunPlace) -> StoredRuns:
        path = self._folder / where.states_file
        try:
            return _stored(json.loads(gzip.decompress(path.read_bytes())), KINDS.get(where.system))
        except FileNotFoundError:
            return StoredRuns()
        except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, RecursionError) as error:
            reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            self._unread[f"{path} cannot be read ({reason}); its chat is replayed from the beginning."] = None
            return StoredRuns()

    def close(self) -> None:
        """Close the trace store."""
        self._store.close()


def is_stored(folder: Path, simulator: Simulator) -> bool:
    """Whether runs of the chat by this system were ever stored in that folder; asks only for a file."""
    return (folder / RunPlace.of(simulator).states_file).exists()


def forget(folder: Path, simulator: Simulator) -> None:
    """Begin anew with the next replay of the chat by this system. Raises OSError."""
    (folder / RunPlace.of(simulator).states_file).unlink(missing_ok=True)


def chat_id(project: Project) -> str:
    """The name under which a chat's runs are stored: by its file, or by its vaults where there is none."""
    places = [project.chat_path] if project.chat_path is not None else list(project.places)
    return hashlib.sha256("\n".join(str(place) for place in places).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _states_document(simulator: Simulator, done: int) -> dict[str, list[object]]:
    """The states of the first generations, and what each counted."""
    stored = simulator.uncounted()[:done]
    return {
        "states": [None if state is None else record_to_json(state) for state, _ in stored],
        "tallies": [None if tally is None else record_to_json(tally) for _, tally in stored],
    }


def _stored(document: object, kind: SystemKind | None) -> StoredRuns:
    """What a file of states says. Raises ValueError, KeyError or TypeError where it says something else."""
    if not isinstance(document, Mapping):
        raise TypeError("it holds no states")
    if document["version"] != VERSION:
        raise ValueError("it was written by another version")
    if kind is None:
        raise ValueError("its system is not installed")
    states = (_record(kind.state, item, f"states[{place}]") for place, item in enumerate(document["states"]))
    tallies = (_record(kind.tally, item, f"tallies[{place}]") for place, item in enumerate(document["tallies"]))
    stored = StoredRuns(tuple(document["inputs"]), tuple(document["marks"]), tuple(states), tuple(tallies))
    if not len(stored.inputs) == len(stored.marks) == len(stored.states) == len(stored.tallies):
        raise ValueError("its lists differ in length")
    return stored


def _record(kind: type | None, item: object, path: str) -> object:
    if item is None:
        return None
    if kind is None:
        raise ValueError(f"{path}: the system keeps nothing of that sort")
    return record_from_json(kind, item, path)


def mark(trace: Trace) -> str:
    """What tells one run of a generation from another: its inputs, what it took its time with, and what came of it."""
    told = (
        trace.digests.get("inputs"),
        [record.duration_ms for record in trace.stages],
        [(call.duration_ms, call.reply, call.error) for call in trace.ai_calls],
        trace.labels,
        [(injection.entry, injection.tokens) for injection in trace.injections],
    )
    return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """How many digests the two share from the beginning on."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))))
