"""From a conversation to memories: extract, review, sort, embed, compare, keep (spec: fact-memory 4, 9)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Stopped
from lorestudio.llm.embedding import Vector
from lorestudio.llm.errors import LlmError
from lorestudio.systems.facts.comparing import Comparison, Keeper, Tally, keep
from lorestudio.systems.facts.extraction import REFLECTION, normalised
from lorestudio.systems.facts.options import Options, embed_all
from lorestudio.systems.facts.profile import sort_facts
from lorestudio.systems.facts.records import Decision, Fact, Line, Origin, Thread, day
from lorestudio.systems.facts.reflection import Review, ReviewCounts, payload, read_review
from lorestudio.systems.facts.storage import Writes

logger = logging.getLogger(__name__)


class Model(Protocol):
    """The model that draws facts out, looks at them again, and makes their vectors."""

    async def extract(self, lines: Sequence[Line], session_date: str) -> Json:
        """A list of `{content, source, tags, ...}`."""
        ...

    async def review(self, system: str, user: str) -> str | None:
        """The answer to a system text and a user message."""
        ...

    async def embed(self, text: str) -> Vector:
        """The vector of a text."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """The counters of a run (spec: 4.1) and what they are made of. `stale` counts vectors of another model."""

    saved: int = 0
    deduped: int = 0
    superseded: int = 0
    extracted: int = 0
    profile_fields: int = 0
    review: ReviewCounts | None = None
    embedded: int = 0
    stale: int = 0
    decisions: tuple[Decision, ...] = ()
    problem: str = ""

    @property
    def data(self) -> dict[str, Json]:
        """The counters as JSON."""
        review: dict[str, Json] = {} if self.review is None else {"reflection": self.review.data}
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
    options: Options | None = None,
    origin: Origin | None = None,
) -> Result:
    """Draw the facts out of a thread's lines and keep them.

    A failing extraction counts as no facts; in safe mode a provider's failure (LlmError) is raised all the same, since
    the conversation would never be looked at again. What goes wrong later is raised; `writes` decides what remains.
    """
    options = options or Options()
    origin = origin or Origin()
    facts, problem = await _extracted(thread, lines, model, options)
    extracted = len(facts)
    if not facts:
        return Result(problem=problem)
    review: Review | None = None
    if options.reflection:
        review = await _reviewed(facts, lines, model, writes, thread.user_id, options)
        facts = review.facts if review is not None else facts
    profile_fields = 0
    if options.structured and writes.has_profiles:
        facts, profile_fields = _sorted(facts, options, writes, thread.user_id)
    counts = review.counts if review is not None else None
    if not facts:
        return Result(extracted=extracted, profile_fields=profile_fields, review=None if options.strict else counts)
    vectors = await embed_all([fact.content for fact in facts], model.embed, options.concurrency, strict=options.strict)
    stored = writes.get_memories(thread.user_id)
    comparison = Comparison(stored, options)
    comparison.prepare(vectors)
    tally = Tally()
    for place, (fact, vector) in enumerate(zip(facts, vectors, strict=True)):
        keep(fact, vector, comparison.best(place, vector), comparison, Keeper(thread, writes, options, origin, tally))
    return Result(
        tally.saved, tally.deduped, tally.superseded, extracted, profile_fields, counts, len(facts),
        comparison.stale, tuple(tally.decisions),
    )  # fmt: skip


def session_date(thread: Thread) -> str:
    """The day a thread was last spoken in, or made where nobody spoke (spec: 4)."""
    return day(thread.created_at if thread.last_message_at is None else thread.last_message_at)


async def extract_facts(lines: Sequence[Line], date: str, model: Model, options: Options) -> tuple[Fact, ...]:
    """The facts of a conversation; the model is not asked about an empty one (spec: 5.1)."""
    if not lines:
        return ()
    return normalised(await model.extract(lines, date), strict=options.strict, tagging=options.tagging)


async def _extracted(
    thread: Thread, lines: Sequence[Line], model: Model, options: Options
) -> tuple[tuple[Fact, ...], str]:
    try:
        return await extract_facts(lines, session_date(thread), model, options), ""
    except Stopped:
        raise
    except LlmError as error:
        if not options.strict:
            raise
        problem = str(error)
    except Exception as error:  # noqa: BLE001  # counts as no facts (spec: 4 step 2)
        problem = str(error)
    logger.warning("No facts of thread %s: %s", thread.id, problem)
    return (), problem


async def _reviewed(
    facts: Sequence[Fact], lines: Sequence[Line], model: Model, writes: Writes, user: str, options: Options
) -> Review | None:
    """The review, None where the memories to compare with could not be read."""
    try:
        memories = writes.get_memories(user)
        shown = payload(facts, memories, lines)
    except Stopped:
        raise
    except Exception as error:  # noqa: BLE001  # the facts stand without a review (spec: 4 step 4)
        logger.warning("No review: %s", error)
        return None
    return await review_facts(facts, shown, model, options)


async def review_facts(facts: Sequence[Fact], shown: str, model: Model, options: Options) -> Review:
    """Ask the reviewer; where that fails every fact stays as it is (spec: 6)."""
    try:
        reply = await model.review(options.reflection_prompt or REFLECTION, shown)
    except Stopped:
        raise
    except Exception as error:  # noqa: BLE001  # a failing call keeps the facts (spec: 6.4)
        logger.warning("No review: %s", error)
        reply = None
    return read_review(reply, facts, strict=options.strict)


def _sorted(facts: Sequence[Fact], options: Options, writes: Writes, user: str) -> tuple[tuple[Fact, ...], int]:
    """The facts that stay free, and how many fields of the profile took one (spec: 7.6)."""
    found = sort_facts(facts, options.structured or (), strict=options.strict)
    done = 0
    for made in found.structured:
        try:
            writes.update_profile_field(user, made.field, made.value, made.action)
        except Exception as error:  # noqa: BLE001  # logged and passed over, as the rule has it
            logger.warning("The profile did not take “%s”: %s", made.source_text, error)
            continue
        done += 1
    return found.freeform, done


def as_counts(results: Sequence[Result]) -> Mapping[str, int]:
    """The counters of several runs together."""
    return {
        "saved": sum(result.saved for result in results),
        "deduped": sum(result.deduped for result in results),
        "superseded": sum(result.superseded for result in results),
        "extracted": sum(result.extracted for result in results),
        "profile_fields": sum(result.profile_fields for result in results),
    }
