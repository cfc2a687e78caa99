"""Comparisons that survive the studio: the runs of their candidates are kept, and which ones they were."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.lifecycle import Closing
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.llm.messages import AnswerSource
from lorestudio.settings.files import SettingsError, write_atomically
from lorestudio.studio.compare.comparing import FEWEST, Candidate, simulator_of
from lorestudio.studio.compare.comparison import Comparison, Contender, compare
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.run_store import RunStore, chat_id
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import in_project
from lorestudio.trace.model import Trace
from lorestudio.vault.files import VaultError

VERSION: Final = 1
COMPARED: Final = "compared"
"""Begins the slots of runs that were made for a comparison only: whoever answers in the window, there it is recorded
answers or the stand-in."""


class KeptComparison(Struct, frozen=True):
    """A comparison of kept runs. `stale` says that something that they were made from has changed since."""

    comparison: Comparison
    stale: bool = False


class ComparisonStore(Closing):
    """Kept runs of comparisons in a folder, and for each chat what was compared last. Everything waits for the disk.

    Raises OSError where the folder cannot be used; a file that cannot be written is one of the `problems`, so that a
    full disk ends no comparison.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = RunStore(folder)
        self._failed: dict[str, None] = {}

    @property
    def problems(self) -> list[str]:
        """Sentences about what could not be read or kept so far."""
        return [*self._runs.problems, *self._failed]

    def restore(self, simulator: Simulator, candidate: Candidate) -> None:
        """Give the simulator what was run before on the same inputs, by a comparison or in the window."""
        best, most = "", 0
        with self._told():
            for slot in _slots(candidate):
                found = self._runs.restore(simulator, slot)
                if found == len(simulator.generations):
                    return
                best, most = (slot, found) if found > most else (best, most)
            self._runs.restore(simulator, best)

    def keep(self, simulator: Simulator, candidate: Candidate) -> None:
        """Keep what was run, where anything was."""
        if simulator.ran:
            with self._told():
                self._runs.keep(simulator, candidate.slot)

    def remember(self, project: Project, keys: Sequence[str]) -> None:
        """What was compared last with the project's chat, by keys that the caller understands."""
        document = {"version": VERSION, "compared": list(keys)}
        with self._told():
            write_atomically(_file(self._folder, project), json.dumps(document).encode())

    def last(
        self, project: Project, chosen: Sequence[Candidate], answers: AnswerSource | None = None
    ) -> KeptComparison | None:
        """The comparison of what is kept of these candidates, None where something of it is not kept at all.

        Nothing is run.
        """
        contenders, stale = [], False
        for each in chosen:
            if each.traces is not None:
                contenders.append(Contender(each.label, each.traces))
                continue
            try:
                simulator = simulator_of(project, each, answers)
            except (InputError, SettingsError, VaultError):  # whoever compares anew is told
                return None
            traces, current = self._kept(simulator, each)
            if len(traces) != len(simulator.generations):
                return None
            stale |= not current
            contenders.append(Contender(each.label, traces))
        if len(contenders) < FEWEST:
            return None
        return KeptComparison(compare(contenders), stale)

    def _kept(self, simulator: Simulator, candidate: Candidate) -> tuple[tuple[Trace, ...], bool]:
        """The kept runs that would come out the same now, else those that were kept last."""
        total = len(simulator.generations)
        found = [self._runs.last(simulator, slot) for slot in _slots(candidate)]
        for runs in found:
            if runs.current == total:
                return runs.traces, True
        return next((runs.traces for runs in reversed(found) if len(runs.traces) == total), ()), False

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._failed[f"The runs that were compared could not be kept for the next start: {error}"] = None

    def close(self) -> None:
        """Close the store."""
        self._runs.close()


def compared_last(folder: Path, project: Project) -> tuple[str, ...]:
    """The keys of what was compared last with the project's chat; none where nothing was, or nobody can tell."""
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        document = json.loads(_file(folder, project).read_bytes())
        if document["version"] == VERSION:
            return tuple(key for key in document["compared"] if isinstance(key, str))
    return ()


def in_slot(candidate: Candidate, key: str) -> Candidate:
    """The candidate, kept under this key; one with the settings that a system has in the window is kept as its runs."""
    own = not in_project(candidate.system) and key == candidate.system
    return replace(candidate, slot="" if own else f"{COMPARED}:{key}")


def _slots(candidate: Candidate) -> tuple[str, ...]:
    """Where to look for a candidate's runs; they are kept in the last of them."""
    return tuple(dict.fromkeys(("", candidate.slot)))


def _file(folder: Path, project: Project) -> Path:
    return folder / f"{chat_id(project)}.compared.json"
