"""What becomes of a new fact, and what is remembered of that (spec: fact-memory 9.3, 9.4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What happens to a new fact."""

    SKIP = "skip"
    SUPERSEDE = "supersede"
    SAVE = "save"


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one fact, for people: its nearest neighbour and how near it was.

    `neighbour` is the id of the memory that it was nearest to, "" where that was a fact of the same run, or nothing.
    `memory` is the one that it became, or that says the same already; known once it was kept.
    """

    fact: str
    action: Action
    similarity: float | None = None
    neighbour: str = ""
    neighbour_text: str = ""
    pinned: bool = False
    memory: str = ""
