"""Why an entry did not go in, and the single changes that bring it in: each is found by really running the engine.

For an entry that went in it is the other way round: what keeps it out.

A change is tried on the one reply first; one that works there is confirmed by replaying the chat up to that reply with
the change, as applying it would. The two can differ, for instance because an entry that comes in earlier is cooling
down by then. Nothing is written and no provider is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.exchange.problems import InputError
from lorestudio.llm.recorded import RecordedAnswers
from lorestudio.studio.generation import Generation
from lorestudio.studio.jobs import CancelToken, StopBetweenStages
from lorestudio.studio.note_aliases import aliases_of
from lorestudio.studio.simulator import Simulator
from lorestudio.studio.what_if_runs import Ran, WhatIfRuns
from lorestudio.studio.why_not_answers import Answer, Further, Holds, WhyNot, WhyNotNews, ranked
from lorestudio.studio.would_also import HeldRuns
from lorestudio.trace.diff import Key, compare
from lorestudio.trace.journey import Fate, FateState, Journeys
from lorestudio.tuning.changes import Change, NoteEdit, Option, Part
from lorestudio.tuning.keep_out import keep_out_options
from lorestudio.tuning.smallest import smallest
from lorestudio.tuning.what_if import Situation, left_out_options, options
from lorestudio.vault import VaultError

__all__ = ["Answer", "Change", "Further", "Holds", "Key", "NoteEdit", "Part", "WhyNot", "WhyNotFinder", "WhyNotNews"]

ENOUGH: Final = 3
"""Changes of one group, such as keys, that are looked for: such as work, or at least lift the obstacle."""

_WENT_IN: Final = frozenset({FateState.INJECTED, FateState.TRUNCATED})

_Report: TypeAlias = Callable[[WhyNotNews], object]
_Once: TypeAlias = Callable[[Change, StopBetweenStages], Ran]


class WhyNotFinder:
    """Searches for one generation of a simulator.

    It takes what it needs from the simulator when it is made, at once, and may then be used in another thread.
    `recorded` are answers of a model that were read already. Raises ValueError for a generation that was not run.
    """

    def __init__(self, simulator: Simulator, generation: Generation, recorded: RecordedAnswers | None = None) -> None:
        self._runs = WhatIfRuns(simulator, generation, recorded)
        self._held = HeldRuns(simulator, generation)

    def find(self, target: Key, report: _Report | None = None, cancel: CancelToken | None = None) -> WhyNot:
        """What brings the note with that vault and file name in, or out where it went in; for a worker thread.

        Raises Cancelled after a request to stop, and InputError where there is no such note.
        """
        return _Search(self._runs, self._held, target, report or (lambda _news: None), cancel or CancelToken()).run()


class _Search:
    """One search: what was tried and found so far."""

    def __init__(self, runs: WhatIfRuns, held: HeldRuns, target: Key, report: _Report, cancel: CancelToken) -> None:
        self._runs, self._target = runs, target
        self._report, self._stop = report, StopBetweenStages(cancel)
        self._answers: list[Answer] = []
        self._further: list[Further] = []
        self._unasked = self._tried = self._done = 0
        self._journeys = Journeys(runs.trace)
        index = runs.context.index.vault
        notes: tuple[Entry | LeftOutNote, ...] = (*index.entries, *index.left_out)
        note = next((note for note in notes if (note.vault, note.filename) == target), None)
        if note is None:
            raise InputError(target[1], "there is no such note in the vault.")
        if isinstance(note, Entry):
            end = self._journeys.fate(note.id)
            would = held.of(note.id, cancel)
            keeps_out = end.state in _WENT_IN
            self._found = WhyNot(target, note.title, runs.generation, runs.trace, end, "", would, keeps_out)
            self._options = self._for_entry(note, end)
        else:
            settings = runs.context.settings
            self._found = WhyNot(target, note.filename, runs.generation, runs.trace, None, note.message)
            self._options = left_out_options(note, settings.lorebook_tag, settings.never_insert_tag)
        self._total = len(self._options)

    def run(self) -> WhyNot:
        """Try everything, then confirm what works, beginning with what moves least."""
        groups: defaultdict[str, int] = defaultdict(int)
        for option in self._options:
            self._say(option.steps[0].title)
            if not option.group:
                self._try(option)
            elif groups[option.group] < ENOUGH:
                got_further = len(self._further)
                groups[option.group] += self._try(option) or len(self._further) > got_further
            self._done += 1
        unchecked = ranked([answer for answer in self._answers if answer.holds is Holds.UNCHECKED])
        self._total += len(unchecked)
        for answer in unchecked:
            self._say(answer.change.title)
            self._answers[self._answers.index(answer)] = self._confirmed(answer)
            self._done += 1
        return self._so_far(complete=True)

    def _for_entry(self, entry: Entry, end: Fate) -> tuple[Option, ...]:
        runs, changes = self._runs, self._runs.changes
        editable = changes.can_edit(*self._target)
        aliases = aliases_of(changes.text(*self._target), entry) if editable else ()
        controls = changes.project.controls
        situation = Situation(runs.context, end, entry, controls, aliases, editable, runs.stand_in)
        return keep_out_options(situation, runs.trace) if self._found.keeps_out else options(situation)

    # ---- trying -----------------------------------------------------------------------------------------------------

    def _try(self, option: Option) -> bool:
        """Look for the least step that works; whether there is one."""
        once = self._runs.replayed if option.through_history else self._runs.alone
        failures: list[Ran] = []
        shortened: list[Ran] = []

        def attempt(change: Change) -> Ran | None:
            ran = self._ran(once, change)
            if ran is None:
                return None
            if not self._works(ran):
                failures.append(ran)
                return None
            if self._fate(ran).state is FateState.TRUNCATED:
                shortened.append(ran)  # better than nothing, but more of it may let the entry in whole
                return None
            return ran

        found = smallest(option.steps, attempt)
        best = found[1] if found is not None else shortened[-1] if shortened else None
        if best is not None:
            self._answers.append(self._answer(best))
        elif failures:
            self._note_failure(option, once, failures[-1])
        return best is not None

    def _ran(self, once: _Once, change: Change) -> Ran | None:
        self._tried += 1
        self._stop.look()
        try:
            return once(change, self._stop)
        except (InputError, VaultError, ValueError):
            return None  # the note's front matter does not allow it; there are other ways

    def _fate(self, ran: Ran) -> Fate:
        entries = ran.project.index.entries
        number = next((each.id for each in entries if (each.vault, each.filename) == self._target), -1)
        return Journeys(ran.trace).fate(number)

    def _works(self, ran: Ran) -> bool:
        return not ran.unanswered and (self._fate(ran).state in _WENT_IN) is not self._found.keeps_out

    # ---- what came of it --------------------------------------------------------------------------------------------

    def _answer(self, ran: Ran) -> Answer:
        diff = compare(self._runs.trace, ran.trace)
        if ran.earlier is None:
            return Answer(ran.change, Holds.UNCHECKED, diff, self._target)
        alone = self._ran(self._runs.alone, ran.change)
        holds = Holds.BOTH if alone is not None and self._works(alone) else Holds.REPLAY_ONLY
        return Answer(ran.change, holds, diff, self._target, ran.earlier, self._runs.replies)

    def _confirmed(self, answer: Answer) -> Answer:
        ran = self._ran(self._runs.replayed, answer.change)
        if ran is None:
            return answer
        known = replace(answer, earlier=ran.earlier, replies=self._runs.replies)
        if self._works(ran):
            return replace(known, holds=Holds.BOTH, diff=compare(self._runs.trace, ran.trace))
        end = self._fate(ran)
        return replace(known, holds=Holds.REPLY_ONLY, stopped=end.explain(ran.trace).sentence)

    def _note_failure(self, option: Option, once: _Once, ran: Ran) -> None:
        """The most of it is not enough; the least that at least lifts the obstacle is a first step."""
        if ran.unanswered:
            self._unasked += 1
        elif self._lifts(ran) and not self._found.keeps_out:
            found = smallest(option.steps, lambda change: self._lifting(once, change))
            best = ran if found is None else found[1]
            end = self._fate(best)
            self._further.append(Further(best.change, end, end.explain(best.trace).sentence))

    def _lifting(self, once: _Once, change: Change) -> Ran | None:
        ran = self._ran(once, change)
        return ran if ran is not None and not ran.unanswered and self._lifts(ran) else None

    def _lifts(self, ran: Ran) -> bool:
        """Whether something else stops the entry now."""
        end, before = self._fate(ran), self._found.fate
        return before is None or (end.stage, end.reason) != (before.stage, before.reason)

    # ---- what is known ----------------------------------------------------------------------------------------------

    def _so_far(self, *, complete: bool = False) -> WhyNot:
        return replace(
            self._found,
            answers=ranked(self._answers),
            further=tuple(self._further),
            unasked=self._unasked,
            tried=self._tried,
            complete=complete,
        )

    def _say(self, trying: str) -> None:
        self._stop.look()
        self._report(WhyNotNews(self._done, self._total, trying, self._so_far()))
