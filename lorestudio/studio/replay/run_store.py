"""What was run is stored: runs and counters of a chat survive the studio, and a replay goes on where it stopped.

A host may forget its counters when its page is reloaded; here they are as lasting as the traces.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.lifecycle import Closing
from lorestudio.domain.records import same_start
from lorestudio.domain.resources import OWN_FOLDERS
from lorestudio.domain.texts import text_digest
from lorestudio.settings.files import READ_AT_MOST, read_whole, write_atomically
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.runs import FinishedRun, PackedAftermath
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import State, SystemKind
from lorestudio.systems.registry import KINDS, MAIN, in_project, words_of
from lorestudio.trace.model import Trace
from lorestudio.trace.storage.serialize import Gist, record_from_json, record_to_json
from lorestudio.trace.storage.store import Fits, StoredRun, TraceStore

VERSION: Final = 6
_UNREADABLE: Final = (OSError, EOFError, zlib.error, ValueError, RecursionError)
_QUICK: Final = 3  # of gzip's levels; the default takes three times as long for a tenth less


def default_folder() -> Path:
    """The folder of the person's data."""
    return OWN_FOLDERS.user_data_path / "runs"


class RunPlace(Struct, frozen=True):
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
        name = self.chat if in_project(self.system) else f"{self.chat}.{self.system}"
        if self.slot:
            name += f".{hashlib.sha256(self.slot.encode()).hexdigest()[:12]}"
        return f"{name}.states.json.gz"


class StoredRuns(Struct, frozen=True):
    """A chat's generations as they were stored: the digest of each one's inputs, and the mark of its run.

    `counts` is what is counted after the last of them, None by a system that counts nothing.
    """

    inputs: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    counts: State = None


class LastRuns(Struct, frozen=True):
    """The runs of a chat that were stored last, in order; the first `current` of them are what a run would give now."""

    traces: tuple[Trace, ...] = ()
    current: int = 0


class PrunedRuns(Struct, frozen=True):
    """How many runs of how many chats were deleted, and the bytes that they took.

    Of the `unknown` chats it is not known where they lie: they were last run by an earlier version.
    """

    runs: int
    chats: int
    unknown: int
    size: int


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
        return [*self._store.problems, *self._unread]

    def keep(self, simulator: Simulator, slot: str = "") -> None:
        """Store all generations run so far. Raises OSError; then what was stored before is still there.

        What was stored beyond them stays as long as it goes on from them. Of the generations that were added, only the
        newest runs stay (`trace.storage.store.KEPT_RUNS`).
        """
        where = RunPlace.of(simulator, slot)
        chat, system = where.chat, where.system
        stored = self._read(where)
        finished = simulator.finished
        inputs, done = simulator.inputs[: len(finished)], len(finished)
        places = zip(simulator.generations, finished, strict=False)
        story = simulator.project.chat or Chat()
        runs = [_stored_run(story, generation, system, run) for generation, run in places]
        marks = tuple(run.mark for run in runs)
        known = min(same_start(stored.inputs, inputs), same_start(stored.marks, marks))
        if known and not self._holds(where, runs[known - 1]):  # the store was lost: it is begun anew
            known = 0
        if known == done:
            return
        self._store.add_runs(chat, runs[known:])
        counts = simulator.counts
        document = {
            "version": VERSION,
            "chat": str(simulator.project.chat_path or ""),
            "inputs": list(inputs),
            "marks": list(marks),
            "counts": None if counts is None else record_to_json(counts),
        }
        packed = gzip.compress(json.dumps(document).encode(), _QUICK, mtime=0)
        write_atomically(self._folder / where.states_file, packed, private=True)
        # Only now: until then the file of states may refer to any of the older runs.
        added = [(run.message, run.swipe) for run in runs[known:]]
        self._store.prune(chat, added, system=system)

    def restore(self, simulator: Simulator, slot: str = "") -> int:
        """Give the simulator what was run before on the same inputs; returns how many generations that are.

        Traces stay packed until somebody looks at them. A run that cannot be read ends what is restored there;
        `problems` says so.
        """
        where = RunPlace.of(simulator, slot)
        stored = self._read(where)
        known = same_start(stored.inputs, simulator.inputs)
        found = self._runs(where, simulator.generations, stored.marks[:known])
        kind = simulator.system.kind
        runs = [_finished_run(run, kind) for run in found]
        simulator.resume(runs, stored.counts if len(runs) == len(stored.inputs) else None)
        return len(runs)

    def last(self, simulator: Simulator, slot: str = "") -> LastRuns:
        """What was stored last of the simulator's generations, also where its inputs have changed since.

        It ends at the first generation that nothing is stored of. The simulator stays as it is.
        """
        where = RunPlace.of(simulator, slot)
        stored = self._read(where)
        traces = [run.trace.opened() for run in self._runs(where, simulator.generations, stored.marks)]
        return LastRuns(tuple(traces), min(len(traces), same_start(stored.inputs, simulator.inputs)))

    def history(self, project: Project, generation: Generation, system: str = MAIN.name) -> tuple[Trace, ...]:
        """The stored runs of one generation of a project's chat with a system, oldest first.

        Those of another reply that had its number are left out, as far as that is known.
        """
        place, fits = (generation.message, generation.swipe), _of_chat(project.chat)
        return self._store.history(chat_id(project), *place, system, fits)

    def latest(self, project: Project, system: str = MAIN.name) -> tuple[Trace, ...]:
        """The run that was stored last of each generation of a project's chat with a system, by message and swipe.

        Those of replies that the chat does not have (any more) are left out, as far as that is known.
        """
        return self._store.latest_all(chat_id(project), system, _of_chat(project.chat))

    def counts(self, project: Project) -> dict[str, int]:
        """How many runs of generations of a project's chat are stored, by system."""
        return self._store.counts(chat_id(project))

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return self._store.size

    def prune(self) -> PrunedRuns:
        """Delete the runs of chats whose files are gone, and give their room back. Raises OSError."""
        before, runs, gone, unknown = self.size, 0, 0, 0
        for chat in self._store.chats:
            files = [*self._folder.glob(f"{chat}.*")]
            told = [each for each in map(_chat_of, files) if each is not None]
            # one that was moved tells its former place until it is kept again
            place = next((each for each in told if not each or _named(each) == chat), None)
            unknown += place is None
            if place and not Path(place).exists():
                runs, gone = runs + self._store.clear(chat), gone + 1
                for file in files:
                    file.unlink(missing_ok=True)
        if gone:
            self._store.shrink()
        return PrunedRuns(runs, gone, unknown, before - self.size)

    def move(self, chat: str, to: str) -> None:
        """What is stored of a chat by one name (see `chat_id`) is stored by another. Raises OSError."""
        self._store.move(chat, to)
        for path in self._folder.glob(f"{chat}.*"):
            path.replace(path.with_name(path.name.replace(chat, to, 1)))

    def _runs(self, where: RunPlace, generations: Sequence[Generation], marks: Sequence[str]) -> list[StoredRun]:
        """The runs with these marks, as far as they are there."""
        if not marks:
            return []
        runs = {(run.message, run.swipe): run for run in self._store.newest_runs(where.chat, where.system)}
        found: list[StoredRun] = []
        for generation, expected in zip(generations, marks, strict=False):
            place = (generation.message, generation.swipe)
            run = runs.get(place)
            if run is None or run.mark != expected:  # of another run than the state
                run = self._store.marked(where.chat, *place, where.system, expected)
            if run is None:
                break
            found.append(run)
        return found

    def _holds(self, where: RunPlace, run: StoredRun) -> bool:
        return self._store.marked(where.chat, run.message, run.swipe, where.system, run.mark) is not None

    def _read(self, where: RunPlace) -> StoredRuns:
        path = self._folder / where.states_file
        try:
            return _stored(json.loads(gzip.decompress(read_whole(path, READ_AT_MOST))), KINDS.get(where.system))
        except FileNotFoundError:
            return StoredRuns()
        except (*_UNREADABLE, KeyError, TypeError) as error:
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
    return _named(*([project.chat_path] if project.chat_path is not None else project.places))


def _named(*places: Path | str) -> str:
    return text_digest("\n".join(map(str, places)))[:24]


def _chat_of(file: Path) -> str | None:
    """The chat of whose runs a file of states tells, "" for that of vaults alone; None where it does not say."""
    try:
        document = json.loads(gzip.decompress(read_whole(file, READ_AT_MOST)))
    except _UNREADABLE:
        return None
    return document.get("chat") if isinstance(document, dict) else None


def _stored_run(chat: Chat, generation: Generation, system: str, run: FinishedRun) -> StoredRun:
    beside = {"gist": record_to_json(run.gist), "answered": _answered(chat, generation.message)}
    after = run.after.in_small.data
    return StoredRun(generation.message, generation.swipe, system, run.in_small, beside, after)


def _answered(chat: Chat, place: int) -> list[str]:
    """What tells which message a reply answers: the digest of its words, and when it was sent."""
    if not 0 < place <= len(chat.messages):
        return ["", ""]
    message = chat.messages[place - 1]
    return [text_digest(f"{message.name}\0{message.text}")[:12], message.send_date]


def _of_chat(chat: Chat | None) -> Fits:
    """Whether a run is of a reply that the chat has: of its answered message either the words or the date are the same.

    Runs of earlier versions do not say what they answer.
    """
    has = chat or Chat()

    def fits(run: StoredRun) -> bool:
        was, now = run.beside.get("answered"), _answered(has, run.message)
        same = was is None or any(one == other != "" for one, other in zip(was, now, strict=True))
        return run.message <= len(has.messages) and (same or run.message == 0)

    return fits


def _finished_run(run: StoredRun, kind: SystemKind) -> FinishedRun:
    gist = record_from_json(Gist, run.beside["gist"], "gist")
    return FinishedRun(gist, PackedAftermath(run.after, kind.state, kind.tally), run.trace)


def _stored(document: object, kind: SystemKind | None) -> StoredRuns:
    """What a file of states says. Raises ValueError, KeyError or TypeError where it says something else."""
    if not isinstance(document, Mapping):
        raise TypeError("it holds no states")
    if document["version"] != VERSION:
        raise ValueError("it was written by another version")
    if kind is None:
        raise ValueError("its system is not installed")
    counts = document["counts"]
    if counts is not None:
        counts = record_from_json(kind.state or type(None), counts, "counts")
    stored = StoredRuns(tuple(document["inputs"]), tuple(document["marks"]), counts)
    if len(stored.inputs) != len(stored.marks):
        raise ValueError("its lists differ in length")
    return stored
