"""Finding memories again: similarity, forgetting, recency, variety (spec: fact-memory 10)."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lorestudio.llm.embedding import Vector
from lorestudio.systems.facts.lifecycle import DAY
from lorestudio.systems.facts.profile import is_outdated
from lorestudio.systems.facts.records import SAFE, STRICT, Changes, Match, Memory, Profile
from lorestudio.systems.facts.similarity import cosine
from lorestudio.systems.facts.storage import Storage

logger = logging.getLogger(__name__)

LIMIT: Final = 10
HALF_LIFE: Final = 180 * DAY
RECENT: Final = 90 * DAY
ARCHIVE_BELOW: Final = 0.1

_FLOOR: Final = 0.1
_MOST_BOOST: Final = 0.3
_WIDER: Final = 5


@dataclass(frozen=True, slots=True)
class Forgetting:
    """How memories fade that are not asked for."""

    half_life: float = HALF_LIFE
    archive_below: float = ARCHIVE_BELOW


@dataclass(frozen=True, slots=True)
class Search:
    """How memories are found. `on_retrieve` sees the whole list last, and what it returns is the answer."""

    min_score: float = 0.0
    recency_weight: float = 0.0
    recency_max_age: float = RECENT
    diversity_weight: float = 0.0
    forgetting: Forgetting | None = None
    on_retrieve: Callable[[Sequence[Match]], Sequence[Match]] | None = None
    mode: str = SAFE

    @property
    def strict(self) -> bool:
        """Whether slips of the original are kept."""
        return self.mode == STRICT


@dataclass(frozen=True, slots=True)
class Found:
    """What retrieval came to, step by step: `considered` by plain similarity, then what each step left out."""

    matches: tuple[Match, ...] = ()
    pinned: tuple[Match, ...] = ()
    considered: tuple[Match, ...] = ()
    below: tuple[Match, ...] = ()
    outdated: tuple[Match, ...] = ()
    profile: Profile | None = None


def retrieve(
    store: Storage, user: str, vector: Vector, search: Search, now: int, limit: int = LIMIT, tags: Sequence[str] = ()
) -> Found:
    """The pinned memories and the most similar others; the limit counts only the others (spec: 10)."""
    try:
        profile = store.get_profile(user)
    except Exception as error:  # noqa: BLE001  # without a profile retrieval goes on (spec: 10 step 1)
        logger.warning("The profile cannot be read: %s", error)
        profile = None
    pinned = [as_pinned(memory, strict=search.strict) for memory in store.get_pinned_memories(user)]
    wide = limit * _WIDER if search.diversity_weight > 0 else limit
    considered = store.search_memories(user, vector, wide, tags, strict=search.strict)
    return chosen(pinned, considered, profile, search, now, limit)


def chosen(
    pinned: Sequence[Match], considered: Sequence[Match], profile: Profile | None, search: Search, now: int, limit: int
) -> Found:
    """What becomes of the matches of a search (spec: 10 steps 3 and 4)."""
    ids = {match.memory.id for match in pinned}
    others = [match for match in considered if match.memory.id not in ids]
    below = [match for match in others if search.min_score > 0 and match.score < search.min_score]
    kept = [match for match in others if match not in below] if below else others
    outdated: list[Match] = []
    if profile is not None:
        outdated = [match for match in kept if is_outdated(match.memory.content, profile, strict=search.strict)]
        gone = {match.memory.id for match in outdated}
        kept = [match for match in kept if match.memory.id not in gone]
    if search.forgetting is not None:
        kept = decayed(kept, now, search.forgetting.half_life)
    if search.recency_weight > 0:
        kept = recent_first(kept, now, search.recency_weight, search.recency_max_age)
    if search.diversity_weight > 0:
        kept = varied(kept, search.diversity_weight, limit)
    result: Sequence[Match] = (*pinned, *kept)
    if search.on_retrieve is not None:
        result = search.on_retrieve(result)
    return Found(tuple(result), tuple(pinned), tuple(considered), tuple(below), tuple(outdated), profile)


def note_retrieved(store: Storage, found: Found, now: int) -> None:
    """Remember which memories were asked for, where forgetting is on; what fails is passed over (spec: 10.6)."""
    if not store.can_update:
        return
    for match in found.matches:
        if not match.memory.id:
            continue
        changes = Changes(last_retrieved_at=now, retrieval_count=(match.retrieval_count or 0) + 1)
        try:
            store.update_memory(match.memory.id, changes)
        except Exception as error:  # noqa: BLE001  # bookkeeping never stands in the way (spec: 10.6)
            logger.warning("Memory %s was not marked as retrieved: %s", match.memory.id, error)


def as_pinned(memory: Memory, *, strict: bool) -> Match:
    """A pinned memory as a match; strict mode loses its counters (spec: 10 step 2, 10.6)."""
    if strict:
        return Match(memory, 1.0, pinned=True)
    return Match(memory, 1.0, True, memory.last_retrieved_at, memory.retrieval_count)


def as_match(memory: Memory, score: float) -> Match:
    """A memory that a search found."""
    return Match(memory, score, memory.pinned, memory.last_retrieved_at, memory.retrieval_count)


def fading(last: int | None, created: int | None, count: int | None, now: int, half_life: float) -> float:
    """By how much a memory has faded, 1 for not at all (spec: 10.2: a straight line with a floor)."""
    reference = last if last is not None else created if created is not None else now
    passed = (now - reference) / (2 * half_life) if half_life else float(now > reference)
    factor = max(_FLOOR, 1 - passed)
    if count is not None and count > 0:
        factor = min(1.0, factor + min(_MOST_BOOST, 0.1 * math.log(1 + count)))
    return factor


def decayed(matches: Sequence[Match], now: int, half_life: float = HALF_LIFE) -> list[Match]:
    """The matches by how much of their score is left; pinned ones do not fade."""
    made = [
        match
        if match.pinned
        else replace(
            match,
            score=match.score
            * fading(match.last_retrieved_at, match.memory.created_at, match.retrieval_count, now, half_life),
        )
        for match in matches
    ]
    return sorted(made, key=lambda match: -match.score)


def recent_first(matches: Sequence[Match], now: int, weight: float, max_age: float = RECENT) -> list[Match]:
    """The matches with their age blended into the score (spec: 10.3)."""
    if weight <= 0 or not matches:
        return list(matches)
    made: list[Match] = []
    for match in matches:
        created = match.memory.created_at
        age = max_age if created is None else now - created
        recency = max(0.0, 1 - age / max_age) if max_age else 0.0
        made.append(replace(match, score=match.score * (1 - weight) + recency * weight))
    return sorted(made, key=lambda match: -match.score)


def varied(matches: Sequence[Match], weight: float, limit: int) -> list[Match]:
    """The first `limit` by score, less what they share with those before them (spec: 10.4)."""
    if weight <= 0 or len(matches) <= limit:
        return list(matches)
    pool = [match for match in matches if match.memory.embedding is not None and len(match.memory.embedding)]
    bare = [match for match in matches if match.memory.embedding is None or not len(match.memory.embedding)]
    if not pool:
        return list(matches[:limit])
    taken = [pool.pop(0)]
    while pool and len(taken) < limit:
        best, place = -math.inf, 0
        for index, match in enumerate(pool):
            likest = max(_likeness(match, other) for other in taken)
            worth = match.score * (1 - weight) - weight * likest
            if worth > best:
                best, place = worth, index
        taken.append(pool.pop(place))
    return [*taken, *bare][:limit]


def should_archive(memory: Memory, now: int, below: float = ARCHIVE_BELOW, half_life: float = HALF_LIFE) -> bool:
    """Whether a memory has faded so far that it may be put away; never at the floor of 0.1 (spec: 10.5)."""
    if memory.pinned:
        return False
    return fading(memory.last_retrieved_at, memory.created_at, memory.retrieval_count, now, half_life) < below


def _likeness(one: Match, other: Match) -> float:
    a, b = one.memory.embedding, other.memory.embedding
    return 0.0 if a is None or b is None else cosine(a, b)
