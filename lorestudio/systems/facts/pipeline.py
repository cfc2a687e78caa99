"""From a conversation to memories: extract, review, sort, embed, compare, keep (rules: fact-memory 4, 9)."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Stopped
from lorestudio.domain.resources import prompt_text
from lorestudio.llm.embedding import Vector
from lorestudio.llm.errors import LlmError
from lorestudio.systems.facts.extraction import Review, normalised, payload, read_review
from lorestudio.systems.facts.options import USUAL, FactOptions
from lorestudio.systems.facts.profile import sort_facts
from lorestudio.systems.facts.records import (
    CONFIRMED,
    INFERRED,
    Fact,
    FactAction,
    FactDecision,
    FactError,
    Line,
    Memory,
    MemoryChanges,
    MemoryOrigin,
    Thread,
    day,
)
from lorestudio.systems.facts.similarity import NO_VECTOR, Best, VectorTable, classify, comparable, greater
from lorestudio.systems.facts.store import Writes

logger = logging.getLogger(__name__)


class Model(Protocol):
    """The model that draws facts out, looks at them again, and makes their vectors."""

    async def extract(self, lines: Sequence[Line], session_date: str) -> Json:
        """A list of `{content, source, tags, ...}`."""

    async def review(self, system: str, user: str) -> str | None:
        """The answer to a system text and a user message."""

    async def embed(self, text: str) -> Vector:
        """The vector of a text."""


class ExtractionResult(Struct, frozen=True):
    """The counters of a run (rules: fact-memory 4.1) and what they are made of. `stale` counts vectors of another
    model.
    """

    saved: int = 0
    deduped: int = 0
    superseded: int = 0
    extracted: int = 0
    profile_fields: int = 0
    review: Mapping[str, Json] | None = None
    stale: int = 0
    decisions: tuple[FactDecision, ...] = ()
    problem: str = ""

    @property
    def data(self) -> dict[str, Json]:
        """The counters as JSON."""
        review: dict[str, Json] = {} if self.review is None else {"reflection": self.review}
        return {
            "memoriesSaved": self.saved,
            "memoriesDeduped": self.deduped,
            "memoriesSuperseded": self.superseded,
            "totalExtracted": self.extracted,
            "profileFieldsUpdated": self.profile_fields,
        } | review


async def run_pipeline(
    thread: Thread,
    lines: Sequence[Line],
    model: Model,
    writes: Writes,
    options: FactOptions | None = None,
    origin: MemoryOrigin | None = None,
) -> ExtractionResult:
    """Draw the facts out of a thread's lines and keep them.

    A failing extraction counts as no facts; in safe mode a provider's failure (LlmError) is raised all the same, since
    the conversation would never be looked at again. What goes wrong later is raised; `writes` decides what remains.
    """
    options = options or FactOptions()
    origin = origin or MemoryOrigin()
    facts, problem = await _extracted(thread, lines, model, options)
    extracted = len(facts)
    if not facts:
        return ExtractionResult(problem=problem)
    review: Review | None = None
    if options.reflection:
        review = await _reviewed(facts, lines, model, writes, thread.user_id, options)
        facts = review.facts if review is not None else facts
    profile_fields = 0
    if options.structured and writes.has_profiles:
        facts, profile_fields = _sorted(facts, options, writes, thread.user_id)
    counts = review.counts if review is not None else None
    if not facts:
        return ExtractionResult(
            extracted=extracted, profile_fields=profile_fields, review=None if options.strict else counts
        )
    vectors = await embed_all([fact.content for fact in facts], model.embed, options.concurrency, strict=options.strict)
    keeper = FactKeeper(thread, writes, options, origin)
    keeper.prepare(vectors)
    for place, (fact, vector) in enumerate(zip(facts, vectors, strict=True)):
        keeper.keep(place, fact, vector)
    return ExtractionResult(
        keeper.saved, keeper.deduped, keeper.superseded, extracted, profile_fields, counts, keeper.stale,
        tuple(keeper.decisions),
    )  # fmt: skip


def session_date(thread: Thread) -> str:
    """The day a thread was last spoken in, or made where nobody spoke (rules: fact-memory 4)."""
    return day(thread.created_at if thread.last_message_at is None else thread.last_message_at)


async def extract_facts(lines: Sequence[Line], date: str, model: Model, options: FactOptions) -> tuple[Fact, ...]:
    """The facts of a conversation; the model is not asked about an empty one (rules: fact-memory 5.1)."""
    if not lines:
        return ()
    return normalised(await model.extract(lines, date), strict=options.strict, tagging=options.tagging)


async def _extracted(
    thread: Thread, lines: Sequence[Line], model: Model, options: FactOptions
) -> tuple[tuple[Fact, ...], str]:
    try:
        return await extract_facts(lines, session_date(thread), model, options), ""
    except Stopped:
        raise
    except LlmError as error:
        if not options.strict:
            raise
        problem = str(error)
    except Exception as error:  # noqa: BLE001  # counts as no facts (rules: fact-memory 4 step 2)
        problem = str(error)
    logger.warning("No facts of thread %s: %s", thread.id, problem)
    return (), problem


async def _reviewed(
    facts: Sequence[Fact], lines: Sequence[Line], model: Model, writes: Writes, user: str, options: FactOptions
) -> Review | None:
    """The review, None where the memories to compare with could not be read."""
    try:
        memories = writes.get_memories(user)
        shown = payload(facts, memories, lines)
    except Stopped:
        raise
    except Exception as error:  # noqa: BLE001  # the facts stand without a review (rules: fact-memory 4 step 4)
        logger.warning("No review: %s", error)
        return None
    return await review_facts(facts, shown, model, options)


async def review_facts(facts: Sequence[Fact], shown: str, model: Model, options: FactOptions) -> Review:
    """Ask the reviewer; where that fails every fact stays as it is (rules: fact-memory 6)."""
    try:
        reply = await model.review(options.reflection_prompt or prompt_text("facts", "reflection") + "\n", shown)
    except Stopped:
        raise
    except Exception as error:  # noqa: BLE001  # a failing call keeps the facts (rules: fact-memory 6.4)
        logger.warning("No review: %s", error)
        reply = None
    return read_review(reply, facts, strict=options.strict)


def _sorted(facts: Sequence[Fact], options: FactOptions, writes: Writes, user: str) -> tuple[tuple[Fact, ...], int]:
    """The facts that stay free, and how many fields of the profile took one (rules: fact-memory 7.6)."""
    structured, freeform = sort_facts(facts, options.structured or (), strict=options.strict)
    done = 0
    for made in structured:
        try:
            writes.update_profile_field(user, made.field, made.value, made.action)
        except Exception as error:  # noqa: BLE001  # logged and passed over, as the rule has it
            logger.warning("The profile did not take “%s”: %s", made.source_text, error)
            continue
        done += 1
    return freeform, done


async def embed_all(
    texts: Sequence[str], embed: Callable[[str], Awaitable[Vector]], concurrency: float = USUAL, *, strict: bool
) -> list[Vector | None]:
    """The vectors in the order of the texts. Calls start in order, at most `concurrency` at a time.

    The first call that fails is raised. In safe mode the others are stopped before; in strict mode they empty the queue
    first, as the original's do behind one's back. Without a worker (strict, concurrency below 1) there are no vectors.
    """
    found: list[Vector | None] = [None] * len(texts)
    upcoming = iter(range(len(texts)))
    failures: list[Exception] = []

    async def work() -> None:
        for place in upcoming:
            try:
                found[place] = await embed(texts[place])
            except Exception as error:
                failures.append(error)
                raise

    workers = [asyncio.ensure_future(work()) for _ in range(min(_worker_count(concurrency, strict=strict), len(texts)))]
    if not workers:
        return found
    try:
        await asyncio.wait(workers, return_when=asyncio.ALL_COMPLETED if strict else asyncio.FIRST_EXCEPTION)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    if failures:
        raise failures[0]
    return found


def _worker_count(concurrency: float, *, strict: bool) -> int:
    if math.isnan(concurrency):
        return 0 if strict else USUAL
    if math.isinf(concurrency):
        return 10_000 if concurrency > 0 else int(not strict)
    return int(concurrency) if strict and concurrency > 0 else 0 if strict else max(1, int(concurrency))


class FactKeeper:
    """Compares facts with a snapshot of the store and with what this run accepted, and keeps them
    (rules: fact-memory 9.3, 9.4).
    """

    def __init__(self, thread: Thread, writes: Writes, options: FactOptions, origin: MemoryOrigin) -> None:
        self._thread, self._writes, self._options, self._origin = thread, writes, options, origin
        self._stored = stored = writes.get_memories(thread.user_id)
        self._accepted: list[tuple[str, Vector | None]] = []
        usable = [memory.embedding if comparable(memory, options.vector_model) else None for memory in stored]
        self._table = VectorTable(usable)
        self._best: list[Best | None] = []
        self.saved = self.deduped = self.superseded = 0
        self.stale = sum(
            memory.embedding is not None and vector is None for memory, vector in zip(stored, usable, strict=True)
        )
        self.decisions: list[FactDecision] = []

    def prepare(self, vectors: Sequence[Vector | None]) -> None:
        """Compare all vectors with the store at once; what one run accepts does not change the store's rows."""
        there = [vector for vector in vectors if vector is not None]
        if self._options.strict:
            self.stale = 0
            return  # one after the other, so that an error comes where the original's does
        self.stale += max((self._table.stale(vector) for vector in there), default=0)
        found = iter(self._table.best_of(there, strict=False))
        self._best = [None if vector is None else next(found) for vector in vectors]

    def keep(self, place: int, fact: Fact, vector: Vector | None) -> None:
        """Act on one fact."""
        options, stored = self._options, self._stored
        best = self._most_similar(place, vector)
        wanted = classify(best, options.deduplication, options.supersede)
        row = stored[best.index] if best is not None and best.index < len(stored) else None
        pinned = wanted is not FactAction.SKIP and any(rule(fact) for rule in options.pins)
        action = FactAction.SKIP if wanted is FactAction.SUPERSEDE and row is None else wanted
        if action is FactAction.SKIP:
            self.deduped += 1
        elif action is FactAction.SUPERSEDE and row is not None and row.id and self._writes.can_update:
            self._writes.update_memory(row.id, self._changes(fact, vector, row, pinned=pinned))
            self.superseded += 1
        else:
            self._writes.save_memory(
                Memory(
                    "", self._thread.user_id, self._thread.id, fact.content, fact.source or INFERRED, vector,
                    pinned=pinned, tags=fact.tags, vector_model=options.vector_model, origin=self._origin,
                )
            )  # fmt: skip
            self.saved += 1
            action = FactAction.SAVE
        self.decisions.append(
            FactDecision(
                fact.content, action, None if best is None else best.similarity, row.id if row is not None else "",
                "" if best is None else self._text(best), pinned,
            )
        )  # fmt: skip
        if wanted is not FactAction.SKIP:
            self._accepted.append((fact.content, vector))

    def _most_similar(self, place: int, vector: Vector | None) -> Best | None:
        """The most similar row; rows of this run are numbered after the store's."""
        strict = self._options.strict
        if vector is None:
            if strict and any(memory.embedding is not None for memory in self._stored):
                raise FactError(NO_VECTOR)
            return None
        stored = self._table.best_of([vector], strict=True)[0] if strict else self._best[place]
        own = VectorTable([each for _, each in self._accepted]).best_of([vector], strict=strict)[0]
        shifted = None if own is None else Best(len(self._stored) + own.index, own.similarity)
        return greater(stored, shifted)

    def _text(self, best: Best) -> str:
        known = len(self._stored)
        return self._stored[best.index].content if best.index < known else self._accepted[best.index - known][0]

    def _changes(self, fact: Fact, vector: Vector | None, row: Memory, *, pinned: bool) -> MemoryChanges:
        """A confirmed source is never lowered and a pin never removed; tags are the new fact's, none included."""
        changes = MemoryChanges(
            content=fact.content,
            embedding=vector,
            source=CONFIRMED if row.source == CONFIRMED else fact.source or INFERRED,
            tags=fact.tags,
            vector_model=self._options.vector_model,
            origin=self._origin,
        )
        if pinned or row.pinned:
            changes["pinned"] = True
        return changes
