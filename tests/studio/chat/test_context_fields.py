from __future__ import annotations

from lorestudio.domain.entry import Entry, FieldDefinition, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.studio.chat.controls import FieldValue, context_fields

ERA = FieldDefinition("era", "Era", multi=True, context_key="era")
MOOD = FieldDefinition("mood", "Mood", values=("wild", "Calm"))
OFF = FieldDefinition("weather", "Weather", gating=False)


def entry(number: int, guide: bool = False, **fields: Json) -> Entry:
    return Entry(number, f"{number}.md", "v", f"E{number}", guide=guide, custom_fields=fields)


def test_values_with_how_often_the_most_frequent_first() -> None:
    entries = (
        entry(0, era=["Before"]),
        entry(1, era="before", mood="calm"),
        entry(2, era=["before", "after", "BEFORE"]),
        entry(3, era=[]),
        entry(4, era="", mood=None),
        entry(5, guide=True, era="hidden"),
    )
    era, mood = context_fields(VaultIndex(entries, fields=(ERA, MOOD, OFF)))
    assert (era.key, era.label, era.multi, era.entries) == ("era", "Era", True, 3)
    assert era.values == (FieldValue("before", 3), FieldValue("after", 1))
    assert (mood.multi, mood.entries) == (False, 1)
    assert mood.values == (FieldValue("calm", 1), FieldValue("wild", 0))
    assert era.value("AFTER") == FieldValue("after", 1)
    assert era.value("never") is None


def test_numbers_and_truth_are_spelled_as_gating_compares_them() -> None:
    year = FieldDefinition("year", "Year", "number", operator="gt")
    wet = FieldDefinition("wet", "Wet", "boolean")
    found = context_fields(VaultIndex((entry(0, year=8.0, wet=False),), fields=(year, wet)))
    assert [value.text for field in found for value in field.values] == ["8", "false"]


def test_two_fields_that_look_at_one_key_are_chosen_together() -> None:
    home = FieldDefinition("home", "Home", context_key="location")
    seen = FieldDefinition("seen_in", "Seen in", multi=True, context_key="location")
    (field,) = context_fields(VaultIndex((entry(0, home="quay", seen_in=["tower", "quay"]),), fields=(home, seen)))
    assert field.multi
    assert field.values == (FieldValue("quay", 1), FieldValue("tower", 1))
    assert [each.name for each in field.definitions] == ["home", "seen_in"]
