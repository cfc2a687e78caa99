"""Holding an entry in that a stage stopped, so that the stages after it say what they would have done with it.

Such a run is a question of its own and not what happens in a chat: its trace and state are never those of a real run
(`Trace.facts["held"]`). The entry speaks for nobody: it is put in when no stage takes entries in any more, and it is
taken out again before every stage whose work a model reads, so that everybody else's way to that place is the same as
in the real run, and so is the model's question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.systems.base import Hold
from lorestudio.systems.ledger import Named
from lorestudio.trace.model import Phase, RunOutcome

_OVER: Final = frozenset({Phase.BUDGET, Phase.INJECT})
"""Phases from which nothing comes back: who is not accepted here has no place in the prompt."""


class Held(Protocol):
    """A run under way in which an entry can be held."""

    candidates: list[Entry]
    outcome: RunOutcome | None


@runtime_checkable
class Placing(Protocol):
    """A stage that gives its candidates an order of its own, and can say where an entry would stand in it."""

    def place(self, entry: Entry, candidates: Sequence[Entry], run: object, inputs: object, /) -> int:
        """The index in `candidates` at which the entry would stand."""
        ...


class Holding(Struct):
    """One run's holding: `put_back` are the stages that dropped the entry, `not_asked` those that it was kept from.

    `asking` are the stages that choose, word or put a question to a model, `sorting` those among the matching ones that
    only put candidates in order.
    """

    hold: Hold
    entry: Entry
    asking: frozenset[str] = frozenset()
    sorting: frozenset[str] = frozenset()
    put_back: list[str] = []
    not_asked: list[str] = []
    _begun: bool = False
    _withdrawn: bool = False
    _order: list[Entry] = []

    def before(self, stage: Named, run: Held) -> None:
        """Before a stage: put the entry in where nothing else can, or keep it away from a model."""
        if not self._begun and not self.hold.stopped_by and not self._takes_in(stage):
            self._begun = True
            if self._among(run.candidates) is None:
                run.candidates = [*run.candidates, self.entry]
        self._order = list(run.candidates)
        held = self._among(run.candidates)
        self._withdrawn = self._begun and held is not None and (self._takes_in(stage) or stage.name in self.asking)
        if self._withdrawn:
            run.candidates = [entry for entry in run.candidates if entry is not held]
            if stage.name in self.asking:
                self.not_asked.append(stage.name)

    def after(self, stage: Named, run: Held, inputs: object) -> None:
        """After a stage: the entry stands among the candidates again, at its place, and the run goes on."""
        if stage.phase in _OVER or stage.phase is Phase.LOAD or self._among(run.candidates) is not None:
            return
        if not self._begun:
            if stage.name != self.hold.stopped_by:
                return
            self._begun = True
        if not self._withdrawn:
            self.put_back.append(stage.name)
        entry = self._among(self._order) or self.entry
        if isinstance(stage, Placing):
            place = stage.place(entry, run.candidates, run, inputs)
        else:
            place = self._behind_its_neighbour(run.candidates)
        run.candidates = [*run.candidates[:place], entry, *run.candidates[place:]]
        run.outcome = None

    def as_json(self) -> Mapping[str, Json]:
        """What was done, for the trace."""
        return {
            "entry": self.hold.entry,
            "stopped_by": self.hold.stopped_by,
            "put_back": list(self.put_back),
            "not_asked": list(self.not_asked),
        }

    def _among(self, entries: Sequence[Entry]) -> Entry | None:
        """The entry as it stands among these: a pin makes a copy of it."""
        return next((entry for entry in entries if entry.id == self.entry.id), None)

    def _behind_its_neighbour(self, candidates: Sequence[Entry]) -> int:
        """Behind the nearest entry that stood before it and still stands."""
        places = {entry.id: place for place, entry in enumerate(candidates)}
        earlier: list[int] = []
        for entry in self._order:
            if entry.id == self.entry.id:
                break
            earlier.append(entry.id)
        return next((places[number] + 1 for number in reversed(earlier) if number in places), 0)

    def _takes_in(self, stage: Named) -> bool:
        """Whether the stage makes candidates of entries: then what stands there would be found by others too."""
        return stage.phase in {Phase.LOAD, Phase.MATCH} and stage.name not in self.sorting
