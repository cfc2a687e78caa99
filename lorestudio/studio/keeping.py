"""Keeping what was run: traces and counters of a chat survive the studio, and a replay goes on where it stopped.

DeepLore itself forgets its counters when the page is reloaded; here they are as lasting as the traces.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import platformdirs

from lorestudio.domain.state import EngineState
from lorestudio.settings.files import write_atomically
from lorestudio.studio.project import Project
from lorestudio.studio.simulator import Simulator
from lorestudio.trace import TraceFormatError, TraceStore
from lorestudio.trace.serialize import record_from_json, record_to_json

VERSION: Final = 1


def default_folder() -> Path:
    """The folder of the person's data."""
    return platformdirs.user_data_path("lorestudio", appauthor=False) / "runs"


@dataclass(frozen=True, slots=True)
class Kept:
    """The states of a chat's generations as they were kept, each with the digest of its inputs."""

    inputs: tuple[str, ...] = ()
    states: tuple[EngineState, ...] = ()


class Keeper:
    """The kept runs of all chats: a trace store, and a file of states for each chat.

    Opening, keeping and restoring wait for the disk, so a window calls them from a worker.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._store = TraceStore(folder / "traces.sqlite")
        self.problems = [problem.message for problem in self._store.problems]

    def keep(self, simulator: Simulator) -> None:
        """Keep all generations run so far. Raises OSError; then what was kept before is still there."""
        chat = chat_id(simulator.project)
        kept = self._read(chat)
        done = len(simulator.states)
        known = _common(kept.inputs, simulator.inputs[:done])
        new = [simulator.traces[generation] for generation in simulator.generations[known:done]]
        self._store.add_many(chat, new)
        document = {
            "version": VERSION,
            "inputs": list(simulator.inputs[:done]),
            "states": [record_to_json(state) for state in simulator.states],
        }
        write_atomically(self._states_file(chat), gzip.compress(json.dumps(document).encode(), mtime=0))

    def restore(self, simulator: Simulator) -> int:
        """Give the simulator what was run before on the same inputs; returns how many generations that are.

        A state or trace that cannot be read ends what is restored there; `problems` says so.
        """
        chat = chat_id(simulator.project)
        kept = self._read(chat)
        known = _common(kept.inputs, simulator.inputs)
        traces = {(trace.turn.message, trace.turn.swipe): trace for trace in self._store.latest_all(chat)}
        restored = []
        for generation, inputs in zip(simulator.generations[:known], simulator.inputs, strict=False):
            trace = traces.get((generation.message, generation.swipe))
            if trace is None or trace.digests.get("inputs") != inputs:
                break
            restored.append(trace)
        simulator.resume(kept.states[: len(restored)], restored)
        return len(restored)

    def _states_file(self, chat: str) -> Path:
        return self._folder / f"{chat}.states.json.gz"

    def _read(self, chat: str) -> Kept:
        path = self._states_file(chat)
        try:
            document = json.loads(gzip.decompress(path.read_bytes()))
            if not isinstance(document, Mapping) or document.get("version") != VERSION:
                return Kept()
            states = [
                record_from_json(EngineState, item, f"states[{place}]") for place, item in enumerate(document["states"])
            ]
            return Kept(tuple(document["inputs"]), tuple(states))
        except FileNotFoundError:
            return Kept()
        except (OSError, EOFError, ValueError, KeyError, TypeError, TraceFormatError) as error:
            self.problems.append(f"{path} cannot be read ({error}); its chat is replayed from the beginning.")
            return Kept()

    def close(self) -> None:
        """Close the trace store."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def chat_id(project: Project) -> str:
    """The name under which a chat's runs are kept: by its file, or by its vaults where there is none."""
    places = [project.chat_path] if project.chat_path is not None else list(project.vault_folders)
    return hashlib.sha256("\n".join(str(place) for place in places).encode()).hexdigest()[:24]


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """How many digests the two share from the beginning on."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
