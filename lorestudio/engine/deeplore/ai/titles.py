"""Matching the titles that a model names to candidates (spec: deeplore-engine 4.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import code_units
from lorestudio.engine.deeplore.ai.replies import Pick

SIMILAR_ENOUGH = 0.6
_ORDER = {"high": 0, "medium": 1, "low": 2}


@dataclass(frozen=True, slots=True)
class Selected:
    """A candidate that the model chose; `similarity` is 1 for the exact title, `asked` the title as it was written."""

    entry: Entry
    confidence: str
    reason: str
    similarity: float = 1.0
    exact: bool = True
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Fit:
    """What a title was found to mean.

    `entries` are those it stands for, `nearest` the most similar candidate title where none has the exact one. `taken`:
    another title had brought that entry already.
    """

    entries: tuple[Entry, ...] = ()
    nearest: str = ""
    similarity: float = 0.0
    exact: bool = False
    taken: bool = False


@dataclass(frozen=True, slots=True)
class Matching:
    """The chosen candidates, surest first, the titles that fit no candidate, and each lower-cased title's fit."""

    selected: tuple[Selected, ...]
    unknown: tuple[str, ...]
    fits: Mapping[str, Fit] = field(default_factory=dict)


def match_titles(picks: Sequence[Pick], candidates: Sequence[Entry]) -> Matching:
    """Exact titles first, in candidate order, then similar ones; case does not count.

    Where the model names a title twice, its last word counts.
    """
    wanted: dict[str, Pick] = {pick.title.lower(): pick for pick in picks}
    selected = [
        Selected(entry, pick.confidence, pick.reason or "AI search", asked=pick.title)
        for entry in candidates
        if (pick := wanted.get(entry.title.lower())) is not None
    ]
    exact: dict[str, tuple[Entry, ...]] = {}
    for choice in selected:
        title = choice.entry.title.lower()
        exact[title] = (*exact.get(title, ()), choice.entry)
    used = set(exact)
    by_title = {entry.title.lower(): entry for entry in candidates}
    unknown: list[str] = []
    fits: dict[str, Fit] = {}
    for title, pick in wanted.items():
        if title in exact:
            fits[title] = Fit(exact[title], exact[title][0].title, 1.0, exact=True)
            continue
        near = nearest(pick.title, (entry.title for entry in candidates))
        if near is None or near[1] < SIMILAR_ENOUGH:
            unknown.append(pick.title)
            fits[title] = Fit((), *(near or ()))
            continue
        found, similarity = near
        entry, taken = by_title[found.lower()], found.lower() in used
        fits[title] = Fit((entry,), found, similarity, taken=taken)
        if not taken:
            used.add(found.lower())
            reason = pick.reason or "AI search (fuzzy)"
            selected.append(Selected(entry, pick.confidence, reason, similarity, exact=False, asked=pick.title))
    ordered = tuple(sorted(selected, key=lambda choice: _ORDER[choice.confidence]))
    return Matching(ordered, tuple(unknown), fits)


def above(threshold: str, confidence: str) -> bool:
    """Whether a confidence passes the threshold; any threshold but low and high lets high and medium pass."""
    if (threshold or "low") == "low":
        return True
    return confidence == "high" or (threshold != "high" and confidence == "medium")


def most_similar(title: str, candidates: Iterable[str]) -> tuple[str, float] | None:
    """The first candidate with the greatest share of common letter pairs, None where none is similar enough."""
    best = nearest(title, candidates)
    return best if best is not None and best[1] >= SIMILAR_ENOUGH else None


def nearest(title: str, candidates: Iterable[str]) -> tuple[str, float] | None:
    """The first candidate with the greatest share of common letter pairs, None where none has any in common."""
    wanted = _pairs(title)
    best: tuple[str, float] | None = None
    for candidate in candidates:
        pairs = _pairs(candidate)
        if not wanted or not pairs:
            continue
        similarity = 2 * len(wanted & pairs) / (len(wanted) + len(pairs))
        if similarity > (best[1] if best is not None else 0):
            best = candidate, similarity
    return best


def _pairs(text: str) -> set[bytes]:
    units = code_units(text.lower())
    return {units[place : place + 4] for place in range(0, len(units) - 2, 2)}
