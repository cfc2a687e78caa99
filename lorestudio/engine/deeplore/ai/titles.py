"""Matching the titles that a model names to candidates (spec: deeplore-engine 4.7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import code_units
from lorestudio.engine.deeplore.ai.replies import Pick

SIMILAR_ENOUGH = 0.6
_ORDER = {"high": 0, "medium": 1, "low": 2}


@dataclass(frozen=True, slots=True)
class Selected:
    """A candidate that the model chose; `similarity` is 1 for the exact title."""

    entry: Entry
    confidence: str
    reason: str
    similarity: float = 1.0


@dataclass(frozen=True, slots=True)
class Matching:
    """The chosen candidates, surest first, and the titles that fit no candidate."""

    selected: tuple[Selected, ...]
    unknown: tuple[str, ...]


def match_titles(picks: Sequence[Pick], candidates: Sequence[Entry]) -> Matching:
    """Exact titles first, in candidate order, then similar ones; case does not count.

    Where the model names a title twice, its last word counts.
    """
    wanted: dict[str, Pick] = {pick.title.lower(): pick for pick in picks}
    selected = [
        Selected(entry, pick.confidence, pick.reason or "AI search")
        for entry in candidates
        if (pick := wanted.get(entry.title.lower())) is not None
    ]
    used = {choice.entry.title.lower() for choice in selected}
    by_title = {entry.title.lower(): entry for entry in candidates}
    unknown: list[str] = []
    for title, pick in wanted.items():
        if title in used:
            continue
        similar = most_similar(pick.title, (entry.title for entry in candidates))
        if similar is None:
            unknown.append(pick.title)
            continue
        found, similarity = similar
        if found.lower() not in used:
            used.add(found.lower())
            reason = pick.reason or "AI search (fuzzy)"
            selected.append(Selected(by_title[found.lower()], pick.confidence, reason, similarity))
    return Matching(tuple(sorted(selected, key=lambda choice: _ORDER[choice.confidence])), tuple(unknown))


def above(threshold: str, confidence: str) -> bool:
    """Whether a confidence passes the threshold; any threshold but low and high lets high and medium pass."""
    if (threshold or "low") == "low":
        return True
    return confidence == "high" or (threshold != "high" and confidence == "medium")


def most_similar(title: str, candidates: Iterable[str]) -> tuple[str, float] | None:
    """The first candidate with the greatest share of common letter pairs, None where none is similar enough."""
    wanted = _pairs(title)
    best: tuple[str, float] | None = None
    for candidate in candidates:
        pairs = _pairs(candidate)
        if not wanted or not pairs:
            continue
        similarity = 2 * len(wanted & pairs) / (len(wanted) + len(pairs))
        if similarity >= SIMILAR_ENOUGH and (best is None or similarity > best[1]):
            best = candidate, similarity
    return best


def _pairs(text: str) -> set[bytes]:
    units = code_units(text.lower())
    return {units[place : place + 4] for place in range(0, len(units) - 2, 2)}
