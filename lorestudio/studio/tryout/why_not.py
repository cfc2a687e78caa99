"""Why an entry did not go in, and the single changes that bring it in: each is found by really running the engine.

For an entry that went in it is the other way round: what keeps it out.

A change is tried on the one reply first; one that works there is confirmed by replaying the chat up to that reply with
the change, as applying it would. The two can differ, for instance because an entry that comes in earlier is cooling
down by then. Nothing is written and no provider is asked.
"""

from __future__ import annotations

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.exchange.problems import InputError
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.studio.notes.vault_notes import aliases_of
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.held_runs import HeldRuns
from lorestudio.studio.tryout.what_if_runs import WhatIfRuns
from lorestudio.studio.tryout.why_not_answers import Answer, Further, Holds, WhyNot, WhyNotNews
from lorestudio.studio.tryout.why_not_trying import WENT_IN, Report, Search
from lorestudio.systems.changes import Change, NoteEdit, Option, Part
from lorestudio.systems.deeplore.ideas.bring_in import left_out_options, options
from lorestudio.systems.deeplore.ideas.keep_out import keep_out_options
from lorestudio.systems.deeplore.ideas.situation import Situation
from lorestudio.trace.diff import Key
from lorestudio.trace.journey import Journeys

__all__ = ["Answer", "Change", "Further", "Holds", "Key", "NoteEdit", "Part", "WhyNot", "WhyNotFinder", "WhyNotNews"]


class WhyNotFinder:
    """Searches for one generation of a simulator.

    It takes what it needs from the simulator when it is made, at once, and may then be used in another thread.
    `recorded` are answers of a model that were read already. Raises ValueError for a generation that was not run.
    """

    def __init__(self, simulator: Simulator, generation: Generation, recorded: RecordedAnswers | None = None) -> None:
        self._runs = WhatIfRuns(simulator, generation, recorded)
        self._held = HeldRuns(simulator, generation)

    def find(self, target: Key, report: Report | None = None, cancel: CancelToken | None = None) -> WhyNot:
        """What brings the note with that vault and file name in, or out where it went in; for a worker thread.

        Raises Cancelled after a request to stop, and InputError where there is no such note.
        """
        cancel = cancel or CancelToken()
        found, ways = self._begun(target, cancel)
        return Search(self._runs, found, ways, report, cancel).run()

    def _begun(self, target: Key, cancel: CancelToken) -> tuple[WhyNot, tuple[Option, ...]]:
        """What is known before anything was tried, and what to try."""
        runs = self._runs
        index = runs.context.index.vault
        notes: tuple[Entry | LeftOutNote, ...] = (*index.entries, *index.left_out)
        note = next((note for note in notes if (note.vault, note.filename) == target), None)
        if note is None:
            raise InputError(target[1], "there is no such note in the vault.")
        if isinstance(note, LeftOutNote):
            settings = runs.context.settings
            found = WhyNot(target, note.filename, runs.generation, runs.trace, None, note.message)
            return found, left_out_options(note, settings.lorebook_tag, settings.never_insert_tag)
        end = Journeys(runs.trace).fate(note.id)
        would = self._held.of(note.id, cancel)
        found = WhyNot(target, note.title, runs.generation, runs.trace, end, "", would, end.state in WENT_IN)
        changes = runs.changes
        editable = changes.can_edit(*target)
        aliases = aliases_of(changes.text(*target), note) if editable else ()
        situation = Situation(runs.context, end, note, changes.project.controls, aliases, editable, runs.stand_in)
        return found, keep_out_options(situation, runs.trace) if found.keeps_out else options(situation)
