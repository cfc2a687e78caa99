"""One reason code and how it is meant; the tables of them are in `reasons` and in the modules it takes them from."""

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
