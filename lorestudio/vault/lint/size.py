"""How much room entries and summaries take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lorestudio.domain.javascript import length, trim
from lorestudio.vault.lint.model import Hit
from lorestudio.vault.lint.note import Note, Rules

LONG: Final = 1500
"""Tokens from which on an entry is long (spec: deeplore-ai-and-tools 3.3 Z01)."""
LONG_SEED: Final = 2000
"""Tokens from which on a seed is long (Z02)."""


def long_entries(note: Note, rules: Rules) -> Iterator[Hit]:
    """Z01, Z02, Z51: entries that take much room, or more than there is."""
    entry, settings = note.entry, rules.settings
    if entry.tokens > LONG:
        yield Hit("Z01", f"“{entry.title}” has ≈ {entry.tokens:,} tokens.", "body")
    if entry.seed and entry.tokens > LONG_SEED:
        yield Hit("Z02", f"The seed “{entry.title}” has ≈ {entry.tokens:,} tokens.", "body")
    limited = not settings.unlimited_budget and not entry.guide and not entry.outlet
    if limited and entry.tokens > settings.max_tokens_budget:
        told = f"“{entry.title}” has ≈ {entry.tokens:,} tokens; the whole budget has {settings.max_tokens_budget:,}."
        yield Hit("Z51", told, "body")


def summaries(note: Note, rules: Rules) -> Iterator[Hit]:
    """A01, A51: summaries that the AI selector lacks, or has too much of."""
    entry, settings = note.entry, rules.settings
    if not rules.ai or entry.guide:
        return
    if not trim(entry.summary):
        told = f"“{entry.title}” has no summary for the AI selector."
        if settings.manifest_summary_mode == "summary_only" and not entry.constant:
            told = f"“{entry.title}” has no summary, so the AI selector is never offered it."
        yield Hit("A01", told, "summary")
    shown, size = settings.ai_search_manifest_summary_length, length(entry.summary)
    if size > shown and settings.manifest_summary_mode != "content_only":
        told = f"The summary has {size:,} characters; of an entry without one, the selector is shown {shown:,}."
        yield Hit("A51", told, "summary")
