"""A profile: how facts are sorted into it (rules: fact-memory 7), and how it is changed (rules: fact-memory 8).

A model or rules sort them. Two goals can be one, and changes outdate memories.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import regex
from msgspec import Struct

from lorestudio.domain.javascript import WHITE_SPACE, WS, Json, number, to_string, trim, truthy
from lorestudio.domain.json_text import mapping_in
from lorestudio.domain.patterns import Pattern, compile_pattern, own_pattern
from lorestudio.domain.records import replace
from lorestudio.systems.facts.records import NO_FIELD, PROFILE_FIELDS, Fact, Profile

SET: Final = "set"
ADD: Final = "add"
DROP: Final = "remove"

VITALS: Final = "vitals"
GOALS: Final = "goals"
MEDICATIONS: Final = "medications"

Extracted: TypeAlias = tuple[Json, str]
"""A value and the action that puts it into the profile."""

Extract: TypeAlias = Callable[[regex.Match[str]], Extracted]
"""What a find comes to."""

_AIMS: Final = (
    r"\b(?:goal|target|aim|want|wants|hoping|trying\s+to)\b",
    r"\b(?:want|wants|get|getting|aim|hoping|trying\s+to|goal|target)\b.{0,20}\b(?:under|below|less\s+than)\b",
    r"\b(?:under|below|less\s+than)\b.{0,20}\b(?:goal|target|aim)\b",
)
_LEADING: Final = re.compile(r"[+-]?(?:Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)


class ProfileRule(Struct, frozen=True):
    """A pattern that puts the facts it is found in into a field of the profile (rules: fact-memory 7.1)."""

    pattern: Pattern
    field: str
    extract: Extract

    @classmethod
    def of(cls, pattern: str, field: str, extract: Extract) -> ProfileRule:
        """A rule without regard to case. Raises PatternError."""
        return cls(compile_pattern(pattern, "i"), field, extract)


class Structured(Struct, frozen=True):
    """A fact on its way into the profile."""

    field: str
    value: Json
    action: str
    source_text: str


def group_rule(pattern: str, field: str, group: int = 0, action: str = ADD) -> ProfileRule:
    """A rule as a settings file writes it: the value is the trimmed text of a group. Raises PatternError."""

    def extract(found: regex.Match[str]) -> Extracted:
        return trim(found.string if group == 0 else found[group] or ""), action

    return ProfileRule.of(pattern, field, extract)


def sounds_like_an_aim(text: str) -> bool:
    """Whether a text speaks of what somebody wants rather than of what is (rules: fact-memory 7.4)."""
    return any(own_pattern(each, "i").search(text) for each in _AIMS)


def sort_facts(
    facts: Sequence[Fact], rules: Sequence[ProfileRule], *, strict: bool
) -> tuple[tuple[Structured, ...], tuple[Fact, ...]]:
    """The facts for the profile and those to be embedded, each in order; of several readings under one key the first
    stays a reading (rules: fact-memory 7.2).
    """
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
    return tuple(_one_reading_each(structured)), tuple(freeform)


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
    """What the fields that a model filled in come to (rules: fact-memory 7.3)."""
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


def _from_rules(content: str, rules: Sequence[ProfileRule]) -> Structured | None:
    for rule in rules:
        found = rule.pattern.search(content)
        if found is not None:
            value, action = rule.extract(found)
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


_LISTS: Final = ("conditions", "medications", "allergies", "goals", "emergencyContacts")
_ALIASES: Final = (
    ("body mass index", "bmi"), ("blood pressure", "blood_pressure"), ("blood sugar", "glucose"),
    ("cholesterol", "cholesterol"), ("glucose", "glucose"), ("weight", "weight"), ("hba1c", "a1c"), ("a1c", "a1c"),
    ("ldl", "cholesterol"), ("hdl", "cholesterol"), ("bmi", "bmi"), ("bp", "blood_pressure"),
)  # fmt: skip
"""Words for what a goal measures, the longest first."""

_SHARED: Final = 0.8
_SPACES: Final = re.compile(rf"{WS}+")
_STRANGE_ASCII: Final = re.compile(rf"(?!{WS})[^0-9A-Za-z_]")
_STRANGE: Final = re.compile(rf"(?!{WS})[^\w]")


def empty_profile(user: str) -> dict[str, Json]:
    """A profile that nothing is known of."""
    return {
        "userId": user, "conditions": [], "medications": [], "allergies": [], VITALS: {}, GOALS: [],
        "emergencyContacts": [], "customFields": {},
    }  # fmt: skip


def changed(profile: Profile, field: str, value: Json, action: str, now: str, *, strict: bool) -> Profile:
    """The profile after one change (rules: fact-memory 8.1). `now` is ISO 8601."""
    made = dict(profile)
    if field == VITALS and isinstance(value, Mapping) and "key" in value and action in {SET, ADD}:
        readings = dict(mapping_in(made.get(VITALS)))
        key, record = to_string(value["key"]), dict(mapping_in(value.get("record")))
        before = readings.get(key)
        known = before.get("value") if isinstance(before, Mapping) else None
        if action == SET and isinstance(before, Mapping) and _same(known, record.get("value")):
            return profile
        previous: dict[str, Json] = {} if known is None else {"previousValue": known}
        made[VITALS] = readings | {key: record | {"recordedAt": now} | previous}
    elif action == SET:
        made[field] = value
    elif action == ADD:
        made = _added(made, field, value, strict=strict)
    elif action == DROP:
        made = _dropped(made, field, value)
    return made | {"updatedAt": now}


def matching_goal(goal: str, goals: Sequence[Json], *, strict: bool) -> int:
    """The index of the first goal that is the same one in other words, -1 where there is none
    (rules: fact-memory 8.3).
    """
    for index, known in enumerate(goals):
        if isinstance(known, str) and _same_goal(goal, known, strict=strict):
            return index
    return -1


def is_outdated(content: str, profile: Profile | None, *, strict: bool) -> bool:
    """Whether a memory quotes another value of a gauge than the profile's (rules: fact-memory 8.5)."""
    low = content.lower()
    for key, reading in mapping_in((profile or {}).get(VITALS)).items():
        name = key.lower()
        value = to_string(reading.get("value")) if isinstance(reading, Mapping) else ""
        names = dict.fromkeys((name, name.replace("_", " ")))
        if any(_holds(low, each, strict=strict) for each in names) and not _holds(low, value, strict=strict):
            return True
    return False


def is_blank(profile: Profile | None) -> bool:
    """Whether there is nothing in a profile."""
    return profile is None or not any(profile.get(field) for field in (*_LISTS, VITALS))


def _holds(text: str, part: str, *, strict: bool) -> bool:
    if strict:
        return part in text
    starts, ends = re.match(r"\d", part), re.search(r"\d\Z", part)
    before = r"(?<![^\W_])" + (r"(?<!\.)" if starts else "")
    after = r"(?![^\W_])" + (r"(?!\.\d)" if ends else "")
    return re.search(before + re.escape(part) + after, text) is not None


def _same(one: Json, other: Json) -> bool:
    """Equality as `===` has it, a missing value included."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _added(made: dict[str, Json], field: str, value: Json, *, strict: bool) -> dict[str, Json]:
    found = made.get(field)
    if not isinstance(found, list | tuple):
        return made
    items = list(found)
    if field == MEDICATIONS and isinstance(value, Mapping):
        places = [place for place, item in enumerate(items) if _name(item) == value.get("name")]
        if places:
            items[places[0]] = value
        else:
            items.append(value)
    elif field == GOALS and isinstance(value, str):
        place = matching_goal(value, items, strict=strict)
        if place >= 0:
            items[place] = value
        else:
            items.append(value)
    elif not isinstance(value, str) or value not in items:
        items.append(value)
    return made | {field: items}


def _dropped(made: dict[str, Json], field: str, value: Json) -> dict[str, Json]:
    found = made.get(field)
    if not isinstance(found, list | tuple):
        return made
    if field == MEDICATIONS and isinstance(value, str):
        return made | {field: [item for item in found if _name(item) != value]}
    plain = isinstance(value, str | int | float | bool) or value is None  # objects are never equal to others
    return made | {field: [item for item in found if not (plain and _same(item, value))]}


def _name(item: Json) -> Json:
    return item.get("name") if isinstance(item, Mapping) else None


def _same_goal(one: str, other: str, *, strict: bool) -> bool:
    a, b = _normal(one, strict=strict), _normal(other, strict=strict)
    if not strict and not (a and b):
        return False
    metric = _metric(a, strict=strict)
    if metric and metric == _metric(b, strict=strict):
        return True
    if a in b or b in a:
        return True
    words, others = set(a.split(" ")), set(b.split(" "))
    return len(words & others) / len(words | others) > _SHARED


def _normal(text: str, *, strict: bool) -> str:
    spaced = (_STRANGE_ASCII if strict else _STRANGE).sub(" ", text.lower())
    return trim(_SPACES.sub(" ", spaced))


def _metric(normal: str, *, strict: bool) -> str:
    for alias, metric in _ALIASES:
        if (alias in normal) if strict else (f" {alias} " in f" {normal} "):
            return metric
    return ""
