"""How fact memory goes about it: what is pinned, what goes into the profile, and the settings as its parts take them.

The rules about health are those that the original brings along, an example of what rules look like; a story needs its
own (rules: fact-memory 7.5, 9.5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import regex
from msgspec import Struct

from lorestudio.domain.javascript import Json, trim
from lorestudio.domain.patterns import PatternError, compile_pattern
from lorestudio.exchange.json_file import read_file, utf8_text
from lorestudio.exchange.problems import InputError
from lorestudio.settings.facts import BY_PRESET, FactsSettings
from lorestudio.settings.files import parse_json, read_bytes
from lorestudio.systems.facts.extraction import KEYWORDS
from lorestudio.systems.facts.profile import (
    ADD,
    DROP,
    MEDICATIONS,
    SET,
    VITALS,
    Extract,
    Extracted,
    ProfileRule,
    group_rule,
    leading_number,
)
from lorestudio.systems.facts.records import PROFILE_FIELDS, Fact
from lorestudio.systems.facts.retrieval import MemoryLayout, MemorySearch
from lorestudio.systems.facts.similarity import DEDUPLICATION, SUPERSEDE
from lorestudio.systems.facts.store import default_path
from lorestudio.systems.facts.threads import DAY, Timeouts, timeouts

USUAL: Final = 5
"""Calls for vectors at a time."""


PinRule: TypeAlias = Callable[[Fact], bool]
"""A test of a new fact: one that passes it is pinned."""


def pattern_rule(pattern: str, flags: str = "i") -> PinRule:
    """Pins facts whose text the pattern is found in. Raises PatternError."""
    compiled = compile_pattern(pattern, flags)
    return lambda fact: compiled.search(fact.content) is not None


def field_rule(field: str, equals: Json) -> PinRule:
    """Pins facts one of whose fields has a value, or holds it where the field is a list."""

    def test(fact: Fact) -> bool:
        value = fact.data.get(field)
        return equals in value if isinstance(value, list | tuple) else value == equals

    return test


class FactOptions(Struct, frozen=True):
    """How a run goes about it. `structured` None or empty sorts nothing into a profile.

    `strict` keeps slips of the original.
    """

    deduplication: float = DEDUPLICATION
    supersede: float = SUPERSEDE
    concurrency: float = USUAL
    pins: tuple[PinRule, ...] = ()
    structured: tuple[ProfileRule, ...] | None = None
    reflection: bool = False
    reflection_prompt: str = ""
    tagging: str = KEYWORDS
    vector_model: str = ""
    strict: bool = False


_STOP: Final = re.compile(r"[.,;]")


def _reading(key: str, unit: Callable[[regex.Match[str]], str]) -> Extract:
    return lambda found: ({"key": key, "record": {"value": leading_number(found[1]), "unit": unit(found)}}, SET)


def _text(found: regex.Match[str]) -> Extracted:
    return trim(found[1]), ADD


@cache
def health_rules() -> tuple[ProfileRule, ...]:
    """Rules for a patient's profile, in their order (rules: fact-memory 7.5). Compiling them takes its time."""
    return (
        ProfileRule.of(r"\ba1c\b.*?(\d+\.?\d*)\s*%?", VITALS, _reading("a1c", lambda _: "%")),
        ProfileRule.of(
            r"\bblood\s?pressure\b.*?(\d{2,3})\s*\/\s*(\d{2,3})", VITALS,
            _reading("blood_pressure", lambda found: f"{found[1]}/{found[2]} mmHg"),
        ),
        ProfileRule.of(
            r"\b(?:weighs?|weight)\b.*?(\d+\.?\d*)\s?(lbs?|kgs?|pounds?|kilograms?)", VITALS,
            _reading("weight", lambda found: found[2].removesuffix("s")),
        ),
        ProfileRule.of(
            r"\b(?:blood\s?sugar|blood\s?glucose|glucose)\b.*?(\d+\.?\d*)\s?(mg\/dl|mmol\/l)?", VITALS,
            _reading("blood_glucose", lambda found: found[2] or "mg/dL"),
        ),
        ProfileRule.of(r"\b(?:allergy|allergic|allergies)\s+(?:to\s+)?(.+)", "allergies",
            lambda found: (_STOP.split(trim(found[1]))[0], ADD)),
        ProfileRule.of(
            r"\b(?:takes?|taking|prescribed|on)\s+(\w+)\s+(\d+\s?(?:mg|mcg|ml|units?)(?:\s+\w+)?)", MEDICATIONS,
            lambda found: ({"name": found[1], "dosage": trim(found[2])}, ADD),
        ),
        ProfileRule.of(
            r"\b(?:diagnosed\s+with|has|manages?|managing|living\s+with)\s+(.+?)(?:\s+for\s+|\s*[.,;]|$)", "conditions",
            _text,
        ),
        ProfileRule.of(r"\bgoal\b.*?(?:is|to)\s+(.+?)(?:[.,;]|$)", "goals", _text),
    )  # fmt: skip


@cache
def health_pins() -> tuple[PinRule, ...]:
    """What must never be forgotten of a patient (rules: fact-memory 9.5)."""
    return tuple(
        pattern_rule(pattern)
        for pattern in (
            r"\b(?:allergy|allergic|allergies)\b",
            r"\b(?:anaphylaxis|anaphylactic)\b",
            r"\b(?:drug|medication)\s*(?:interaction|contraindication)\b",
            r"\bdo\s*not\s*(?:take|use|prescribe)\b",
            r"\bemergency\s*contact\b",
            r"\bblood\s*type\b",
            r"\b\d+\s*(?:mg|mcg|ml|units?)\b",
        )
    )


HEALTH = "health"

T = TypeVar("T")


def options_of(settings: FactsSettings, vector_model: str = "") -> FactOptions:
    """How facts are drawn out. Raises InputError and SettingsError for files that cannot be used."""
    return FactOptions(
        deduplication=settings.deduplication_threshold,
        supersede=settings.supersede_threshold,
        concurrency=settings.embedding_concurrency,
        pins=_rules(settings.pin_rules, health_pins, _pin),
        structured=_rules(settings.structured_rules, health_rules, _rule),
        reflection=settings.enable_reflection,
        reflection_prompt=own_text(settings.reflection_prompt_file),
        tagging=settings.tagging,
        vector_model=vector_model,
        strict=settings.strict,
    )


def search_of(settings: FactsSettings) -> MemorySearch:
    """How memories are found."""
    return MemorySearch(
        settings.min_score,
        settings.recency_weight,
        settings.recency_max_age_days * DAY,
        settings.diversity_weight,
        settings.half_life_days * DAY if settings.forgetting else None,
        strict=settings.strict,
    )


def layout_of(settings: FactsSettings) -> MemoryLayout:
    """How memories are written down."""
    return MemoryLayout(settings.priority_signaling, settings.chronological_retrieval, settings.cacheable_context)


def timeouts_of(settings: FactsSettings) -> Timeouts:
    """How long threads stay as they are."""

    def given(value: int) -> int | None:
        return None if value == BY_PRESET else value

    return timeouts(
        settings.preset, given(settings.cooling_timeout_ms), given(settings.dormant_timeout_ms),
        given(settings.closed_timeout_ms),
    )  # fmt: skip


def store_path(settings: FactsSettings) -> Path:
    """Where the memories are kept."""
    return Path(settings.store).expanduser() if settings.store else default_path()


def own_text(file: str) -> str:
    """The text of a file, empty without one. Raises InputError."""
    if not file:
        return ""
    path = Path(file).expanduser()
    return utf8_text(read_file(path), path, "Save the prompt as UTF-8.")


def _rules(chosen: str, health: Callable[[], tuple[T, ...]], make: Callable[[Mapping[str, Json]], T]) -> tuple[T, ...]:
    if not chosen:
        return ()
    if chosen == HEALTH:
        return health()
    path = Path(chosen).expanduser()
    document = parse_json(read_bytes(path), path)
    if not isinstance(document, list):
        raise InputError(str(path), "the file holds no list of rules. Expected something like [].")
    made: list[T] = []
    for number, raw in enumerate(document, 1):
        try:
            if not isinstance(raw, Mapping):
                raise ValueError("it is no object")  # noqa: TRY301, TRY004  # told with its number below
            made.append(make(raw))
        except (PatternError, ValueError) as error:
            raise InputError(str(path), f"rule {number}: {error}.") from None
    return tuple(made)


def _rule(raw: Mapping[str, Json]) -> ProfileRule:
    pattern, field = raw.get("pattern"), raw.get("profileField")
    group, action = raw.get("group", 0), raw.get("action", ADD)
    if not isinstance(pattern, str) or not pattern:
        raise ValueError("it has no pattern")
    if field not in PROFILE_FIELDS:
        raise ValueError(f"profileField is none of {', '.join(PROFILE_FIELDS)}")
    if action not in {SET, ADD, DROP}:
        raise ValueError(f"action is none of {SET}, {ADD}, {DROP}")
    if not isinstance(group, int) or isinstance(group, bool) or group < 0:
        raise ValueError("group is no number of a group")
    made = group_rule(pattern, str(field), group, str(action))
    if group > made.pattern.groups:
        raise ValueError(f"the pattern has no group {group}")
    return made


def _pin(raw: Mapping[str, Json]) -> PinRule:
    pattern, field = raw.get("pattern"), raw.get("field")
    if isinstance(pattern, str) and pattern:
        return pattern_rule(pattern, str(raw.get("flags", "i")))
    if isinstance(field, str) and field and "equals" in raw:
        return field_rule(field, raw["equals"])
    raise ValueError("it has neither a pattern nor field and equals")
