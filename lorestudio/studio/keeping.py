"""Keeping what was run: traces and counters of a chat survive the studio, and a replay goes on where it stopped.

DeepLore itself forgets its counters when the page is reloaded; here they are as lasting as the traces.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from lorestudio.domain.closing import Closing
from lorestudio.domain.state import EngineState, Tally
from lorestudio.engine import RunResult
from lorestudio.engine.deeplore.counts import counted
from lorestudio.settings.files import write_atomically
from lorestudio.studio.generation import Generation
from lorestudio.studio.project import Project
from lorestudio.studio.runs import with_counts
from lorestudio.studio.simulator import Simulator
from lorestudio.trace import Trace, TraceStore
from lorestudio.trace.serialize import record_from_json, record_to_json

VERSION: Final = 3
_QUICK: Final = 3  # of gzip's levels; the default takes three times as long for a tenth less


def default_folder() -> Path:
    """The folder of the person's data."""
    return platformdirs.user_data_path("lorestudio", appauthor=False) / "runs"


@dataclass(frozen=True, slots=True)
class Kept:
    """A chat's generations as they were kept: the digest of each one's inputs, its mark, and the state after it.

    The states are without their counts; `tallies` say what each generation counted.
    """

    inputs: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    states: tuple[EngineState, ...] = ()
    tallies: tuple[Tally | None, ...] = ()


class Keeper(Closing):
    """The kept runs of all chats: a trace store, and a file of states for each chat.

    Opening, keeping and restoring wait for the disk, so a window calls them from a worker.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._store = TraceStore(folder / "traces.sqlite")
        self._unread: dict[str, None] = {}

    @property
    def problems(self) -> list[str]:
        """Sentences about what could not be read so far."""
        return [*(problem.message for problem in self._store.problems), *self._unread]

    def keep(self, simulator: Simulator) -> None:
        """Keep all generations run so far. Raises OSError; then what was kept before is still there.

        What was kept beyond them stays as long as it goes on from them. Of the generations that were added, only the
        newest runs stay (`trace.store.KEPT_RUNS`).
        """
        chat = chat_id(simulator.project)
        kept = self._read(chat)
        kept_states = simulator.counted_apart()
        done = len(kept_states)
        inputs = simulator.inputs[:done]
        traces = [simulator.traces[generation] for generation in simulator.generations[:done]]
        marks = tuple(mark(trace) for trace in traces)
        known = min(_common(kept.inputs, inputs), _common(kept.marks, marks))
        if known and not self._holds(chat, traces[known - 1]):  # the store was lost: it is begun anew
            known = 0
        if known == done:
            return
        self._store.add_many(chat, traces[known:])
        document = {
            "version": VERSION,
            "inputs": list(inputs),
            "marks": list(marks),
            "states": [record_to_json(state) for state, _ in kept_states],
            "tallies": [None if tally is None else record_to_json(tally) for _, tally in kept_states],
        }
        packed = gzip.compress(json.dumps(document).encode(), _QUICK, mtime=0)
        write_atomically(self._states_file(chat), packed)
        # Only now: until then the file of states may refer to any of the older runs.
        self._store.prune(chat, [(trace.turn.message, trace.turn.swipe) for trace in traces[known:]])

    def restore(self, simulator: Simulator) -> int:
        """Give the simulator what was run before on the same inputs; returns how many generations that are.

        A state or trace that cannot be read ends what is restored there; `problems` says so.
        """
        chat = chat_id(simulator.project)
        kept = self._read(chat)
        known = _common(kept.inputs, simulator.inputs)
        traces = {(trace.turn.message, trace.turn.swipe): trace for trace in self._store.latest_all(chat)}
        restored = []
        for generation, expected in zip(simulator.generations[:known], kept.marks, strict=False):
            place = (generation.message, generation.swipe)
            trace = traces.get(place)
            if trace is None or mark(trace) != expected:  # of another run than the state
                older = (one for one in self._store.history(chat, *place) if mark(one) == expected)
                trace = next(older, None)
            if trace is None:
                break
            restored.append(trace)
        known = len(restored)
        results, counts = [], EngineState()
        for trace, state, tally in zip(restored, kept.states, kept.tallies, strict=False):
            counts = counted(counts, tally)
            results.append(RunResult(trace, with_counts(state, counts), tally))
        simulator.resume(results)
        return len(results)

    def history(self, project: Project, generation: Generation) -> tuple[Trace, ...]:
        """The kept runs of one generation of a project's chat, oldest first."""
        return self._store.history(chat_id(project), generation.message, generation.swipe)

    def _holds(self, chat: str, trace: Trace) -> bool:
        """Whether the store's newest trace of that generation is this one."""
        stored = self._store.latest(chat, trace.turn.message, trace.turn.swipe)
        return stored is not None and mark(stored) == mark(trace)

    def _states_file(self, chat: str) -> Path:
        return self._folder / f"{chat}.states.json.gz"

    def _read(self, chat: str) -> Kept:
        path = self._states_file(chat)
        try:
            return _kept(json.loads(gzip.decompress(path.read_bytes())))
        except FileNotFoundError:
            return Kept()
        except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, RecursionError) as error:
            reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            self._unread[f"{path} cannot be read ({reason}); its chat is replayed from the beginning."] = None
            return Kept()

    def close(self) -> None:
        """Close the trace store."""
        self._store.close()


def is_kept(folder: Path, project: Project) -> bool:
    """Whether runs of the project's chat were ever kept in that folder; asks only for a file."""
    return (folder / f"{chat_id(project)}.states.json.gz").exists()


def forget(folder: Path, project: Project) -> None:
    """Begin anew with the next replay of the project's chat. Raises OSError."""
    (folder / f"{chat_id(project)}.states.json.gz").unlink(missing_ok=True)


def chat_id(project: Project) -> str:
    """The name under which a chat's runs are kept: by its file, or by its vaults where there is none."""
    places = [project.chat_path] if project.chat_path is not None else list(project.places)
    return hashlib.sha256("\n".join(str(place) for place in places).encode()).hexdigest()[:24]


def _kept(document: object) -> Kept:
    """What a file of states says. Raises ValueError, KeyError or TypeError where it says something else."""
    if not isinstance(document, Mapping):
        raise TypeError("it holds no states")
    if document["version"] != VERSION:
        raise ValueError("it was written by another version")
    states = (record_from_json(EngineState, item, f"states[{place}]") for place, item in enumerate(document["states"]))
    tallies = (
        None if item is None else record_from_json(Tally, item, f"tallies[{place}]")
        for place, item in enumerate(document["tallies"])
    )
    kept = Kept(tuple(document["inputs"]), tuple(document["marks"]), tuple(states), tuple(tallies))
    if not len(kept.inputs) == len(kept.marks) == len(kept.states) == len(kept.tallies):
        raise ValueError("its lists differ in length")
    return kept


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
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
