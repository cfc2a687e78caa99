"""What a reason is: the entry of the table of reason codes, and a reason filled in for one decision."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """How a reason is meant."""

    GOOD = "good"
    NEUTRAL = "neutral"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason code: `label` for a cell, templates of the sentence and the fix, and the details that come with it."""

    code: str
    tone: Tone
    label: str
    sentence: str
    fix: str = ""
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """A reason filled in for one decision; `fix` is empty where there is nothing to change."""

    label: str
    sentence: str
    fix: str
    tone: Tone
