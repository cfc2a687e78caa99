"""A generation of a system beside DeepLore run again with unsaved texts or other settings.

As in `studio.tryout.preview`: same chat, same state before it, same seed. Nothing is written, nobody is asked for a
vector, and the simulator's own traces and states stay what they are.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.settings.declaration import Section
from lorestudio.settings.differences import section_differences
from lorestudio.studio.replay.offline_systems import OfflineSystem, offline
from lorestudio.studio.replay.rerun import trace_of
from lorestudio.studio.replay.system_simulator import SystemSimulator, decided_trace, moment
from lorestudio.studio.tryout.preview import EditedNote, EntryOutcome, NoteText, Preview, state_of
from lorestudio.systems.base import Moment
from lorestudio.systems.context import StopBetweenStages
from lorestudio.systems.registry import SystemKind
from lorestudio.trace.journey import FateState, Journeys, came_in
from lorestudio.trace.model import Trace
from lorestudio.vault.edited_vaults import EditedVaults


class SystemPreviewer:
    """Previews of one generation that a system ran, with these settings; each from the saved vault.

    It takes what it needs from the simulator when it is made, at once, and may then be used in any thread, one preview
    at a time. Raises ValueError for a generation that was not run, and where the project does not know what its index
    was made of.
    """

    def __init__(self, simulator: SystemSimulator, generation: Generation, kind: SystemKind, settings: Section) -> None:
        self.before = trace_of(simulator.traces, generation)
        self.generation = generation
        self._kind, self._settings = kind, settings
        self._project, self._known = simulator.project, simulator.system
        self._vault_state = state_of(simulator.project)
        place = simulator.place(generation)
        self._moment = moment(simulator.project, place, generation, simulator.inputs[place])
        self._state = simulator.state_before(generation)

    @cached_property
    def _vaults(self) -> EditedVaults:
        return EditedVaults(self._vault_state, self._project.settings, self._project.counter)

    def takes(self, settings: Section) -> bool:
        """Whether these are settings of this system."""
        return type(settings) is self._kind.settings

    def preview(
        self, notes: Sequence[NoteText], cancel: CancelToken | None = None, settings: Section | None = None
    ) -> Preview:
        """Run the generation with these texts, and with other settings where some are given.

        For a worker thread. Raises Cancelled after a request to stop, InputError for settings that cannot be used,
        VaultError for a text that belongs nowhere, and TypeError for settings of another system.
        """
        begun = time.perf_counter()
        stop = StopBetweenStages(cancel or CancelToken())
        settings = settings or self._settings
        index = self._vaults.with_texts(notes).index if notes else self._project.index
        stop.look()
        system = self._system(settings)
        stop.look()
        trace = asyncio.run(decided_trace(system.system, self._moment_with(index, settings), self._state))
        stop.look()
        journeys = Journeys(trace)
        return Preview(
            self.generation,
            self.before,
            trace,
            index,
            tuple(_edited(note, index, journeys) for note in notes),
            seconds=time.perf_counter() - begun,
            settings=section_differences(self._settings, settings),
            warnings=system.remarks,
        )

    def _system(self, settings: Section) -> OfflineSystem:
        if settings == self._settings:
            return offline(self._known)
        return offline(self._kind.make(settings, self._project), self._known)

    def _moment_with(self, index: VaultIndex, settings: Section) -> Moment:
        """The inputs of the generation under a digest of their own, so that this is never taken for a real run."""
        inputs = f"{self._moment.digests.get('inputs', '')} edited {index.digest} {settings.model_dump_json()}"
        digests = {**self._moment.digests, "inputs": hashlib.sha256(inputs.encode()).hexdigest()}
        return replace(self._moment, index=index, digests=digests)


def _edited(note: NoteText, index: VaultIndex, journeys: Journeys) -> EditedNote:
    def is_it(item: Entry | LeftOutNote) -> bool:
        return item.filename == note.filename and item.vault == note.vault

    entry = next(filter(is_it, index.entries), None)
    if entry is None:
        return EditedNote(note, left_out=next(filter(is_it, index.left_out), None))
    return EditedNote(note, entry, outcome=_outcome(entry, journeys))


def _outcome(entry: Entry, journeys: Journeys) -> EntryOutcome:
    """What brought the entry in where it goes in whole, else what settled it."""
    trace: Trace = journeys.trace
    fate = journeys.fate(entry.id)
    how = came_in(journeys, entry.id) if fate.state is FateState.INJECTED else None
    goes_in = fate.state in {FateState.INJECTED, FateState.TRUNCATED}
    return EntryOutcome(goes_in, fate.explain(trace).sentence if how is None else how.sentence)
