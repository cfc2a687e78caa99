"""A profile: how it is changed, when two goals are one, and which memories it outdates (spec: fact-memory 8)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from lorestudio.domain.javascript import WS, Json, to_string, trim
from lorestudio.memory.facts.classification import ADD, DROP, GOALS, MEDICATIONS, SET, VITALS
from lorestudio.memory.facts.records import Profile

_LISTS: Final = ("conditions", "medications", "allergies", "goals", "emergencyContacts")
_MAPS: Final = (VITALS, "customFields")
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
    """The profile after one change (spec: 8.1). `now` is ISO 8601."""
    made = dict(profile)
    if field == VITALS and isinstance(value, Mapping) and "key" in value and action in {SET, ADD}:
        readings = _mapping(made.get(VITALS))
        key, record = to_string(value["key"]), _mapping(value.get("record"))
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


def merged(profile: Profile, changes: Mapping[str, Json], now: str) -> Profile:
    """The profile with fields replaced and readings and custom fields merged (spec: 8.2). The owner stays."""
    made = dict(profile)
    for field, value in changes.items():
        if field in _MAPS and isinstance(value, Mapping):
            made[field] = _mapping(made.get(field)) | dict(value)
        elif field != "userId":
            made[field] = value
    return made | {"updatedAt": now}


def matching_goal(goal: str, goals: Sequence[Json], *, strict: bool) -> int:
    """The index of the first goal that is the same one in other words, -1 where there is none (spec: 8.3)."""
    for index, known in enumerate(goals):
        if isinstance(known, str) and _same_goal(goal, known, strict=strict):
            return index
    return -1


def is_outdated(content: str, profile: Profile | None, *, strict: bool) -> bool:
    """Whether a memory quotes another value of a gauge than the profile's (spec: 8.5)."""
    low = content.lower()
    for key, reading in _mapping((profile or {}).get(VITALS)).items():
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


def _mapping(value: Json) -> dict[str, Json]:
    return dict(value) if isinstance(value, Mapping) else {}


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
