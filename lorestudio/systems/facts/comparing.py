"""Comparing new facts with what is known, and keeping them (spec: fact-memory 9.3, 9.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lorestudio.llm.embedding import Vector
from lorestudio.systems.facts.options import Options, is_pinned
from lorestudio.systems.facts.records import (
    CONFIRMED,
    INFERRED,
    Action,
    Changes,
    Decision,
    Fact,
    FactError,
    Memory,
    NewMemory,
    Origin,
    Thread,
)
from lorestudio.systems.facts.similarity import NO_VECTOR, Best, VectorTable, classify, greater
from lorestudio.systems.facts.storage import Writes


@dataclass(slots=True)
class Tally:
    """What has become of the facts so far."""

    saved: int = 0
    deduped: int = 0
    superseded: int = 0
    decisions: list[Decision] = field(default_factory=list)


def comparable(memory: Memory, model: str) -> bool:
    """Whether a memory's vector was made by this model; where either is unknown, its length alone decides."""
    return not model or not memory.vector_model or memory.vector_model == model


class Comparison:
    """The rows that facts are compared with: a snapshot of the store, then what this run accepted (spec: 9.3)."""

    def __init__(self, stored: Sequence[Memory], options: Options) -> None:
        self.stored = stored
        self.options = options
        self.accepted: list[tuple[str, Vector | None]] = []
        self.stale = 0
        usable = [comparable(memory, options.vector_model) for memory in stored]
        self.other_models = sum(
            memory.embedding is not None and not ok for memory, ok in zip(stored, usable, strict=True)
        )
        self._table = VectorTable([memory.embedding if ok else None for memory, ok in zip(stored, usable, strict=True)])
        self._best: list[Best | None] = []

    def prepare(self, vectors: Sequence[Vector | None]) -> None:
        """Compare all vectors with the store at once; what one run accepts does not change the store's rows."""
        there = [vector for vector in vectors if vector is not None]
        if self.options.strict:
            self._best = []  # one after the other, so that an error comes where the original's does
            return
        self.stale = self.other_models + max((self._table.stale(vector) for vector in there), default=0)
        found = iter(self._table.best_of(there, strict=False))
        self._best = [None if vector is None else next(found) for vector in vectors]

    def best(self, place: int, vector: Vector | None) -> Best | None:
        """The most similar row; rows of this run are numbered after the store's."""
        strict = self.options.strict
        if vector is None:
            if strict and any(memory.embedding is not None for memory in self.stored):
                raise FactError(NO_VECTOR)
            return None
        stored = self._table.best_of([vector], strict=True)[0] if strict else self._best[place]
        own = VectorTable([each for _, each in self.accepted]).best_of([vector], strict=strict)[0]
        shifted = None if own is None else Best(len(self.stored) + own.index, own.similarity)
        return greater(stored, shifted)

    def text(self, best: Best) -> str:
        """What the row says."""
        if best.index < len(self.stored):
            return self.stored[best.index].content
        return self.accepted[best.index - len(self.stored)][0]


@dataclass(frozen=True, slots=True)
class Keeper:
    """Everything that keeping a fact takes besides the fact."""

    thread: Thread
    writes: Writes
    options: Options
    origin: Origin
    tally: Tally


def keep(fact: Fact, vector: Vector | None, best: Best | None, comparison: Comparison, keeper: Keeper) -> None:
    """Act on one fact (spec: 9.4)."""
    options, tally = keeper.options, keeper.tally
    made = classify(best, options.deduplication, options.supersede)
    row = comparison.stored[best.index] if best is not None and best.index < len(comparison.stored) else None
    pinned = made.action is not Action.SKIP and is_pinned(fact, options.pins)
    action = made.action
    if made.action is Action.SKIP:
        tally.deduped += 1
    elif made.action is Action.SUPERSEDE and row is None:
        tally.deduped += 1
        action = Action.SKIP
    elif made.action is Action.SUPERSEDE and row is not None and row.id and keeper.writes.can_update:
        keeper.writes.update_memory(row.id, _changes(fact, vector, row, keeper, pinned=pinned))
        tally.superseded += 1
    else:
        keeper.writes.save_memory(_new(fact, vector, keeper, pinned=pinned))
        tally.saved += 1
        action = Action.SAVE
    tally.decisions.append(
        Decision(
            fact.content, action, None if best is None else best.similarity, row.id if row is not None else "",
            "" if best is None else comparison.text(best), pinned,
        )
    )  # fmt: skip
    if made.action is not Action.SKIP:
        comparison.accepted.append((fact.content, vector))


def _new(fact: Fact, vector: Vector | None, keeper: Keeper, *, pinned: bool) -> NewMemory:
    return NewMemory(
        keeper.thread.user_id, keeper.thread.id, fact.content, fact.source or INFERRED, vector, fact.tags, pinned,
        keeper.options.vector_model, keeper.origin,
    )  # fmt: skip


def _changes(fact: Fact, vector: Vector | None, row: Memory, keeper: Keeper, *, pinned: bool) -> Changes:
    """A confirmed source is never lowered and a pin never removed; tags are the new fact's, none included."""
    changes = Changes(
        content=fact.content,
        embedding=vector,
        source=CONFIRMED if row.source == CONFIRMED else fact.source or INFERRED,
        tags=fact.tags,
        vector_model=keeper.options.vector_model,
        origin=keeper.origin,
    )
    if pinned or row.pinned:
        changes["pinned"] = True
    return changes
