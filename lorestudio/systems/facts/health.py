"""The rules that the original brings along: readings and lists of a patient, and what must never be forgotten.

An example of what rules look like; a story needs its own (spec: fact-memory 7.5, 9.5).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import regex

from lorestudio.domain.javascript import Json, trim
from lorestudio.domain.patterns import compile_pattern
from lorestudio.systems.facts.options import PinRule, pattern_rule
from lorestudio.systems.facts.profile import ADD, MEDICATIONS, SET, VITALS, Extracted, Rule, leading_number

_STOP: Final = re.compile(r"[.,;]")


def _reading(key: str, unit: Callable[[regex.Match[str]], str]) -> Callable[[str, regex.Match[str]], Extracted]:
    def extract(_text: str, found: regex.Match[str]) -> Extracted:
        record: dict[str, Json] = {"value": leading_number(found[1]), "unit": unit(found)}
        return {"key": key, "record": record}, SET

    return extract


def _allergy(_text: str, found: regex.Match[str]) -> Extracted:
    return _STOP.split(trim(found[1]))[0], ADD


def _medication(_text: str, found: regex.Match[str]) -> Extracted:
    return {"name": found[1], "dosage": trim(found[2])}, ADD


def _text(_text: str, found: regex.Match[str]) -> Extracted:
    return trim(found[1]), ADD


def _rule(pattern: str, field: str, extract: Callable[[str, regex.Match[str]], Extracted]) -> Rule:
    return Rule(compile_pattern(pattern, "i"), field, extract)


HEALTH_RULES: Final = (
    _rule(r"\ba1c\b.*?(\d+\.?\d*)\s*%?", VITALS, _reading("a1c", lambda _: "%")),
    _rule(
        r"\bblood\s?pressure\b.*?(\d{2,3})\s*\/\s*(\d{2,3})", VITALS,
        _reading("blood_pressure", lambda found: f"{found[1]}/{found[2]} mmHg"),
    ),
    _rule(
        r"\b(?:weighs?|weight)\b.*?(\d+\.?\d*)\s?(lbs?|kgs?|pounds?|kilograms?)", VITALS,
        _reading("weight", lambda found: found[2].removesuffix("s")),
    ),
    _rule(
        r"\b(?:blood\s?sugar|blood\s?glucose|glucose)\b.*?(\d+\.?\d*)\s?(mg\/dl|mmol\/l)?", VITALS,
        _reading("blood_glucose", lambda found: found[2] or "mg/dL"),
    ),
    _rule(r"\b(?:allergy|allergic|allergies)\s+(?:to\s+)?(.+)", "allergies", _allergy),
    _rule(
        r"\b(?:takes?|taking|prescribed|on)\s+(\w+)\s+(\d+\s?(?:mg|mcg|ml|units?)(?:\s+\w+)?)", MEDICATIONS, _medication
    ),
    _rule(
        r"\b(?:diagnosed\s+with|has|manages?|managing|living\s+with)\s+(.+?)(?:\s+for\s+|\s*[.,;]|$)", "conditions",
        _text,
    ),
    _rule(r"\bgoal\b.*?(?:is|to)\s+(.+?)(?:[.,;]|$)", "goals", _text),
)  # fmt: skip
"""Rules for a patient's profile, in their order (spec: 7.5)."""

HEALTH_PINS: Final[tuple[PinRule, ...]] = tuple(
    pattern_rule(pattern, "i", reason)
    for pattern, reason in (
        (r"\b(?:allergy|allergic|allergies)\b", "allergy"),
        (r"\b(?:anaphylaxis|anaphylactic)\b", "anaphylaxis"),
        (r"\b(?:drug|medication)\s*(?:interaction|contraindication)\b", "interaction"),
        (r"\bdo\s*not\s*(?:take|use|prescribe)\b", "prohibition"),
        (r"\bemergency\s*contact\b", "emergency contact"),
        (r"\bblood\s*type\b", "blood type"),
        (r"\b\d+\s*(?:mg|mcg|ml|units?)\b", "dosage"),
    )
)
"""What must never be forgotten of a patient (spec: 9.5)."""
