"""Finding memories again, by similarity, forgetting, recency and variety, and writing them down for a prompt
(rules: fact-memory 10, 11).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.records import replace
from lorestudio.domain.texts import MONTHS
from lorestudio.systems.facts.profile import is_blank, is_outdated
from lorestudio.systems.facts.records import CONFIRMED, Memory, MemoryMatch, Profile, day
from lorestudio.systems.facts.similarity import cosine
from lorestudio.systems.facts.threads import DAY
from lorestudio.trace.wording import calendar_time

HALF_LIFE: Final = 180 * DAY
RECENT: Final = 90 * DAY

_FLOOR: Final = 0.1
_MOST_BOOST: Final = 0.3


class MemorySearch(Struct, frozen=True):
    """How memories are found. Half of a memory that nobody asks for is forgotten after `half_life`; None keeps all."""

    min_score: float = 0.0
    recency_weight: float = 0.0
    recency_max_age: float = RECENT
    diversity_weight: float = 0.0
    half_life: float | None = None
    strict: bool = False


class RetrievedMemories(Struct, frozen=True):
    """The memories that were found, and those that were not similar enough or are outdated."""

    matches: tuple[MemoryMatch, ...] = ()
    below: tuple[MemoryMatch, ...] = ()
    outdated: tuple[MemoryMatch, ...] = ()


def chosen(
    pinned: Sequence[MemoryMatch],
    considered: Sequence[MemoryMatch],
    profile: Profile | None,
    search: MemorySearch,
    now: int,
    limit: int,
) -> RetrievedMemories:
    """The pinned memories and what becomes of the matches of a search (rules: fact-memory 10 steps 3 and 4).

    `limit` counts only the others.
    """
    ids = {match.memory.id for match in pinned}
    others = [match for match in considered if match.memory.id not in ids]
    below = [match for match in others if search.min_score > 0 and match.score < search.min_score]
    kept = [match for match in others if match not in below] if below else others
    outdated: list[MemoryMatch] = []
    if profile is not None:
        outdated = [match for match in kept if is_outdated(match.memory.content, profile, strict=search.strict)]
        gone = {match.memory.id for match in outdated}
        kept = [match for match in kept if match.memory.id not in gone]
    if search.half_life is not None:
        kept = decayed(kept, now, search.half_life)
    if search.recency_weight > 0:
        kept = recent_first(kept, now, search.recency_weight, search.recency_max_age)
    if search.diversity_weight > 0:
        kept = varied(kept, search.diversity_weight, limit)
    return RetrievedMemories((*pinned, *kept), tuple(below), tuple(outdated))


def fading(last: int | None, created: int | None, count: int | None, now: int, half_life: float) -> float:
    """By how much a memory has faded, 1 for not at all (rules: fact-memory 10.2: a straight line with a floor)."""
    reference = last if last is not None else created if created is not None else now
    passed = (now - reference) / (2 * half_life) if half_life else float(now > reference)
    factor = max(_FLOOR, 1 - passed)
    if count is not None and count > 0:
        factor = min(1.0, factor + min(_MOST_BOOST, 0.1 * math.log(1 + count)))
    return factor


def decayed(matches: Sequence[MemoryMatch], now: int, half_life: float = HALF_LIFE) -> list[MemoryMatch]:
    """The matches by how much of their score is left; pinned ones do not fade."""

    def left(memory: Memory) -> float:
        used = memory.last_retrieved_at, memory.created_at, memory.retrieval_count
        return 1 if memory.pinned else fading(*used, now, half_life)

    made = [replace(match, score=match.score * left(match.memory)) for match in matches]
    return sorted(made, key=lambda match: -match.score)


def recent_first(matches: Sequence[MemoryMatch], now: int, weight: float, max_age: float = RECENT) -> list[MemoryMatch]:
    """The matches with their age blended into the score (rules: fact-memory 10.3)."""
    if weight <= 0 or not matches:
        return list(matches)
    made: list[MemoryMatch] = []
    for match in matches:
        created = match.memory.created_at
        age = max_age if created is None else now - created
        recency = max(0.0, 1 - age / max_age) if max_age else 0.0
        made.append(replace(match, score=match.score * (1 - weight) + recency * weight))
    return sorted(made, key=lambda match: -match.score)


def varied(matches: Sequence[MemoryMatch], weight: float, limit: int) -> list[MemoryMatch]:
    """The first `limit` by score, less what they share with those before them (rules: fact-memory 10.4)."""
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


def _likeness(one: MemoryMatch, other: MemoryMatch) -> float:
    a, b = one.memory.embedding, other.memory.embedding
    return 0.0 if a is None or b is None else cosine(a, b)


PROFILE_HEADING: Final = "=== User Profile ==="
PINNED_HEADING: Final = "=== Critical Memories (Always Active) ==="
FOUND_HEADING: Final = "=== Retrieved Memories ==="
CACHE_MARK: Final = "<!-- stable context above, dynamic below -->"


class MemoryLayout(Struct, frozen=True):
    """How memories are written down."""

    signals: bool = True
    chronological: bool = True
    cacheable: bool = False


class ContextPiece(Struct, frozen=True):
    """A run of text, and the memory it comes from; the frame's own has none."""

    text: str
    match: MemoryMatch | None = None


def context_pieces(
    matches: Sequence[MemoryMatch], profile: Profile | None, layout: MemoryLayout
) -> tuple[ContextPiece, ...]:
    """The text in pieces, so that each line can be told where it comes from."""
    sections: list[list[ContextPiece]] = []
    if not is_blank(profile) and profile is not None:
        sections.append([ContextPiece(profile_text(profile, PROFILE_HEADING))])
    pinned = [match for match in matches if match.memory.pinned]
    others = [match for match in matches if not match.memory.pinned]
    if pinned:
        lines = [ContextPiece(_line(match, layout, dated=False), match) for match in pinned]
        sections.append(_lines([ContextPiece(PINNED_HEADING), *lines]))
    if layout.cacheable and sections:
        sections.append([ContextPiece(CACHE_MARK)])
    if others:
        sections.append(_lines([ContextPiece(FOUND_HEADING), *_others(others, layout)]))
    made: list[ContextPiece] = []
    for section in sections:
        made += [ContextPiece("\n\n"), *section] if made else section
    return tuple(made)


def profile_text(profile: Profile, heading: str) -> str:
    """The filled parts of a profile under a heading."""
    lines = [heading]
    for title, field in (("Conditions", "conditions"), ("Medications", "medications"), ("Allergies", "allergies")):
        lines += _listed(title, profile.get(field))
    vitals = profile.get("vitals")
    if isinstance(vitals, Mapping) and vitals:
        lines.append("Vitals: " + ", ".join(_vital(key, reading) for key, reading in vitals.items()))
    for title, field in (("Goals", "goals"), ("Emergency contacts", "emergencyContacts")):
        lines += _listed(title, profile.get(field))
    return "\n".join(lines)


def _listed(title: str, items: Json) -> list[str]:
    if not isinstance(items, list | tuple) or not items:
        return []
    return [f"{title}: " + ", ".join(_item(item) for item in items)]


def _item(item: Json) -> str:
    if not isinstance(item, Mapping) or "name" not in item:
        return to_string(item)
    dosage, frequency = item.get("dosage"), item.get("frequency")
    return to_string(item["name"]) + (f" {dosage}" if dosage else "") + (f" ({frequency})" if frequency else "")


def _vital(key: str, reading: Json) -> str:
    if not isinstance(reading, Mapping):
        return f"{key}: {to_string(reading)}"
    unit = reading.get("unit") or ""
    text = f"{key}: {to_string(reading.get('value'))}{unit}"
    previous = reading.get("previousValue")
    return text if previous is None else f"{text} (previous: {to_string(previous)}{unit})"


def _lines(made: list[ContextPiece]) -> list[ContextPiece]:
    return [piece for each in made for piece in (ContextPiece("\n"), each)][1:]


def _others(matches: Sequence[MemoryMatch], layout: MemoryLayout) -> list[ContextPiece]:
    if not layout.chronological:
        return [ContextPiece(_line(match, layout, dated=False), match) for match in matches]
    groups: dict[str, list[ContextPiece]] = {}
    for match in sorted(matches, key=lambda match: match.memory.created_at or 0):
        created = match.memory.created_at
        heading = "Unknown" if created is None else _month(created)
        groups.setdefault(heading, []).append(ContextPiece(_line(match, layout, dated=True), match))
    return [piece for heading, group in groups.items() for piece in (ContextPiece(f"--- {heading} ---"), *group)]


def _month(moment: int) -> str:
    at = calendar_time(moment)
    return f"{MONTHS[at.month - 1]} {at.year}"


def _line(match: MemoryMatch, layout: MemoryLayout, *, dated: bool) -> str:
    memory = match.memory
    marker = ""
    if layout.signals:
        confirmed = memory.source == CONFIRMED
        marker = "[CRITICAL] " if confirmed and match.memory.pinned else "[IMPORTANT] " if confirmed else "[INFO] "
    date = ""
    if dated and memory.created_at is not None:
        mention = f"(mentioned {day(memory.created_at)})"
        date = "" if mention in memory.content else f" {mention}"
    label = "(confirmed, pinned)" if match.memory.pinned else f"({memory.source})"
    return f"- {marker}{memory.content}{date} {label}"
