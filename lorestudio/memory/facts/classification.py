"""Sorting facts into a profile's fields, by what a model said of them or by rules (spec: fact-memory 7)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import regex

from lorestudio.domain.javascript import WHITE_SPACE, Json, number, to_string, trim, truthy
from lorestudio.domain.patterns import Pattern, compile_pattern
from lorestudio.memory.facts.records import NO_FIELD, PROFILE_FIELDS, Fact

SET: Final = "set"
ADD: Final = "add"
DROP: Final = "remove"

VITALS: Final = "vitals"
GOALS: Final = "goals"
MEDICATIONS: Final = "medications"

Extracted: TypeAlias = tuple[Json, str]
"""A value and the action that puts it into the profile."""

_AIMS: Final = (
    compile_pattern(r"\b(?:goal|target|aim|want|wants|hoping|trying\s+to)\b", "i"),
    compile_pattern(
        r"\b(?:want|wants|get|getting|aim|hoping|trying\s+to|goal|target)\b.{0,20}\b(?:under|below|less\s+than)\b", "i"
    ),
    compile_pattern(r"\b(?:under|below|less\s+than)\b.{0,20}\b(?:goal|target|aim)\b", "i"),
)
_LEADING: Final = re.compile(r"[+-]?(?:Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern that puts the facts it is found in into a field of the profile (spec: 7.1)."""

    pattern: Pattern
    field: str
    extract: Callable[[str, regex.Match[str]], Extracted]


@dataclass(frozen=True, slots=True)
class Structured:
    """A fact on its way into the profile."""

    field: str
    value: Json
    action: str
    source_text: str

    @property
    def data(self) -> dict[str, Json]:
        """The fact as JSON."""
        return {"field": self.field, "value": self.value, "action": self.action, "sourceText": self.source_text}


@dataclass(frozen=True, slots=True)
class Sorted:
    """Facts for the profile and facts to be embedded, each in the order they came."""

    structured: tuple[Structured, ...] = ()
    freeform: tuple[Fact, ...] = ()


def group_rule(pattern: str, field: str, group: int = 0, action: str = ADD) -> Rule:
    """A rule as a settings file writes it: the value is the trimmed text of a group. Raises PatternError."""

    def extract(text: str, found: regex.Match[str]) -> Extracted:
        return trim(text if group == 0 else found[group] or ""), action

    return Rule(compile_pattern(pattern, "i"), field, extract)


def sounds_like_an_aim(text: str) -> bool:
    """Whether a text speaks of what somebody wants rather than of what is (spec: 7.4)."""
    return any(pattern.search(text) for pattern in _AIMS)


def sort_facts(facts: Sequence[Fact], rules: Sequence[Rule], *, strict: bool) -> Sorted:
    """Sort facts in order; of several readings under one key the first stays a reading (spec: 7.2)."""
    structured: list[Structured] = []
    freeform: list[Fact] = []
    for given in facts:
        fact = _aim_as_goal(given)
        made = _from_model(fact, strict=strict)
        if made is None and fact.profile.get("profileField") != NO_FIELD:
            made = _from_rules(fact.content, rules)
        if made is None:
            freeform.append(fact)
        else:
            structured.append(_checked(made))
    return Sorted(tuple(_one_reading_each(structured)), tuple(freeform))


def leading_number(value: Json) -> float | None:
    """The number that a value is or begins with, as JavaScript's parseFloat finds it; None where there is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return None if math.isnan(value) else value
    found = _LEADING.match(to_string(value).lstrip(WHITE_SPACE))
    return None if found is None else number(float(found[0].replace("Infinity", "inf")))


def _aim_as_goal(fact: Fact) -> Fact:
    if fact.profile.get("profileField") != VITALS or not sounds_like_an_aim(fact.content):
        return fact
    return replace(fact, profile={"profileField": GOALS, "profileValue": fact.content})


def _from_model(fact: Fact, *, strict: bool) -> Structured | None:
    """What the fields that a model filled in come to (spec: 7.3)."""
    field, value = fact.profile.get("profileField"), fact.profile.get("profileValue")
    if not isinstance(field, str) or field not in PROFILE_FIELDS:
        return None
    if field == VITALS:
        key, amount = fact.profile.get("profileKey"), leading_number(value)
        if not truthy(key) or not (strict or isinstance(key, str)) or amount is None:
            return None
        unit = fact.profile.get("profileUnit") or ""
        return Structured(field, {"key": key, "record": {"value": amount, "unit": unit}}, SET, fact.content)
    if field == MEDICATIONS:
        if isinstance(value, str):
            return Structured(field, {"name": value}, ADD, fact.content)
        has_name = isinstance(value, Mapping) and "name" in value
        return Structured(field, value, ADD, fact.content) if has_name else None
    if not strict and (value is None or isinstance(value, Mapping)):
        return None
    text = to_string(value) if "profileValue" in fact.profile else "undefined"
    return Structured(field, text, ADD, fact.content)


def _from_rules(content: str, rules: Sequence[Rule]) -> Structured | None:
    for rule in rules:
        found = rule.pattern.search(content)
        if found is not None:
            value, action = rule.extract(content, found)
            return Structured(rule.field, value, action, content)
    return None


def _checked(made: Structured) -> Structured:
    aims = made.field == VITALS and sounds_like_an_aim(made.source_text)
    return _as_goal(made) if aims else made


def _as_goal(made: Structured) -> Structured:
    return Structured(GOALS, made.source_text, ADD, made.source_text)


def _one_reading_each(structured: Sequence[Structured]) -> list[Structured]:
    seen: set[str | None] = set()
    kept: list[Structured] = []
    for made in structured:
        key = made.value.get("key") if made.field == VITALS and isinstance(made.value, Mapping) else None
        name = None if key is None else json.dumps(key)
        kept.append(_as_goal(made) if name in seen else made)
        if name is not None:
            seen.add(name)
    return kept
