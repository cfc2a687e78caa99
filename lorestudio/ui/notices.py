"""News for the person: a sentence with a tone, details for those who want them, and what can be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "neutral", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Notice:
    """One piece of news. `actions` are ids of the action table; `key` lets a later notice replace this one."""

    text: str
    tone: Tone = "neutral"
    details: str = ""
    actions: tuple[str, ...] = ()
    key: str = ""
