"""Memories as text for a prompt (spec: fact-memory 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from lorestudio.domain.javascript import Json, to_string
from lorestudio.systems.facts.profile import is_blank
from lorestudio.systems.facts.records import CONFIRMED, Match, Profile, day

PROFILE_HEADING: Final = "=== User Profile ==="
PINNED_HEADING: Final = "=== Critical Memories (Always Active) ==="
FOUND_HEADING: Final = "=== Retrieved Memories ==="
CACHE_MARK: Final = "<!-- stable context above, dynamic below -->"

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """How memories are written down."""

    signals: bool = True
    chronological: bool = True
    cacheable: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text, and the memory it comes from; the frame's own has none."""

    text: str
    match: Match | None = None


def context_text(matches: Sequence[Match], profile: Profile | None, layout: Layout | None = None) -> str:
    """The text, empty where there is nothing to say."""
    return "".join(piece.text for piece in pieces(matches, profile, layout or Layout()))


def pieces(matches: Sequence[Match], profile: Profile | None, layout: Layout) -> tuple[Piece, ...]:
    """The text in pieces, so that each line can be told where it comes from."""
    sections: list[list[Piece]] = []
    if not is_blank(profile) and profile is not None:
        sections.append([Piece(profile_text(profile, PROFILE_HEADING))])
    pinned = [match for match in matches if match.pinned]
    others = [match for match in matches if not match.pinned]
    if pinned:
        lines = [Piece(_line(match, layout, dated=False), match) for match in pinned]
        sections.append(_lines([Piece(PINNED_HEADING), *lines]))
    if layout.cacheable and sections:
        sections.append([Piece(CACHE_MARK)])
    if others:
        sections.append(_lines([Piece(FOUND_HEADING), *_others(others, layout)]))
    made: list[Piece] = []
    for section in sections:
        made += [Piece("\n\n"), *section] if made else section
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


def _lines(made: list[Piece]) -> list[Piece]:
    return [piece for each in made for piece in (Piece("\n"), each)][1:]


def _others(matches: Sequence[Match], layout: Layout) -> list[Piece]:
    if not layout.chronological:
        return [Piece(_line(match, layout, dated=False), match) for match in matches]
    groups: dict[str, list[Piece]] = {}
    for match in sorted(matches, key=lambda match: match.memory.created_at or 0):
        created = match.memory.created_at
        heading = "Unknown" if created is None else _month(created)
        groups.setdefault(heading, []).append(Piece(_line(match, layout, dated=True), match))
    return [piece for heading, group in groups.items() for piece in (Piece(f"--- {heading} ---"), *group)]


def _month(moment: int) -> str:
    at = datetime.fromtimestamp(moment / 1000, UTC)
    return f"{_MONTHS[at.month - 1]} {at.year}"


def _line(match: Match, layout: Layout, *, dated: bool) -> str:
    memory = match.memory
    marker = ""
    if layout.signals:
        confirmed = memory.source == CONFIRMED
        marker = "[CRITICAL] " if confirmed and match.pinned else "[IMPORTANT] " if confirmed else "[INFO] "
    date = ""
    if dated and memory.created_at is not None:
        mention = f"(mentioned {day(memory.created_at)})"
        date = "" if mention in memory.content else f" {mention}"
    label = "(confirmed, pinned)" if match.pinned else f"({memory.source})"
    return f"- {marker}{memory.content}{date} {label}"
