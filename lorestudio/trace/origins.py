"""Where an injected entry came from, in the few groups that the budget bar tells apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lorestudio.trace.model import Outcome, Trace


@dataclass(frozen=True, slots=True)
class Origin:
    """One group: its word, the letter drawn where there is no room for a word, and its fill."""

    word: str
    letter: str
    fill: str


ALWAYS: Final = Origin("constant", "C", "blue")
KEYWORD: Final = Origin("keyword", "K", "green")
RECURSION: Final = Origin("recursion", "R", "orange")
FUZZY: Final = Origin("fuzzy", "F", "yellow")
CASCADE: Final = Origin("cascade", "L", "grey")
PINNED: Final = Origin("pinned", "P", "ink")
AI: Final = Origin("AI", "A", "sky")
SIMILAR: Final = Origin("similar", "S", "purple")
OTHER: Final = Origin("other", "O", "vermilion")

ORIGINS: Final = (ALWAYS, KEYWORD, RECURSION, FUZZY, CASCADE, PINNED, AI, SIMILAR, OTHER)

_BY_REASON: Final = {
    "constant": ALWAYS,
    "bootstrap": ALWAYS,
    "key_hit": KEYWORD,
    "active_character": KEYWORD,
    "recursion": RECURSION,
    "fuzzy": FUZZY,
    "cascade": CASCADE,
    "wiki_link": CASCADE,
    "pinned": PINNED,
    "ai_pick": AI,
    "hy_key": KEYWORD,
    "hy_ranked": SIMILAR,
    "wi_key": KEYWORD,
    "wi_constant": ALWAYS,
    "wi_decorator": ALWAYS,
    "wi_similar": SIMILAR,
    "wi_vector": SIMILAR,
    "cw_match": KEYWORD,
    "cw_link": CASCADE,
    "cw_dependant": CASCADE,
    "cw_element": ALWAYS,
    "cw_whole": ALWAYS,
}


def origins(trace: Trace) -> dict[int, Origin]:
    """The origin of every entry that was a candidate: the reason that brought it in first.

    A model's choice counts above the match that made the entry eligible; that every entry is eligible (AI-only mode) or
    that something goes in for want of a choice counts below everything else.
    """
    found: dict[int, Origin] = {}
    for record in trace.stages:
        for verdict in record.verdicts:
            if verdict.outcome in {Outcome.ADDED, Outcome.CHANGED, Outcome.KEPT}:
                origin = _BY_REASON.get(verdict.reason)
                if origin is KEYWORD and "source" in verdict.details:  # found in the text of another entry
                    origin = RECURSION
                if origin is AI and found.get(verdict.entry) is not ALWAYS:
                    found[verdict.entry] = AI
                elif origin is not None and found.get(verdict.entry, OTHER) is OTHER:
                    found[verdict.entry] = origin
                elif verdict.outcome is Outcome.ADDED:
                    found.setdefault(verdict.entry, OTHER)
    return found
