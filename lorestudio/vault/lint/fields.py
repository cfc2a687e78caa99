"""Values of the gating fields, and the file that defines them (spec: deeplore-engine 1.7, 5.2, 5.4)."""

from __future__ import annotations

from collections.abc import Iterator

from lorestudio.domain.fields import FieldDefinition
from lorestudio.domain.javascript import Json, to_string, trim
from lorestudio.vault.lint.model import Hit
from lorestudio.vault.lint.note import Note, Rules, quoted


def field_values(note: Note, rules: Rules) -> Iterator[Hit]:
    """F52, F53: values that the field does not list, and numbers that are none."""
    entry = note.entry
    for field in rules.parse.fields:
        if field.name not in entry.custom_fields:
            continue
        value = entry.custom_fields[field.name]
        if field.type == "number" and value is None:
            yield Hit("F53", f"{field.name} is defined as a number, and this is none.", field.name)
        for odd in _unlisted(value, field):
            told = f"{field.label}: “{odd}” is not among {quoted(field.values, 8)}."
            yield Hit("F52", told, field.name, odd)


def _unlisted(value: Json, field: FieldDefinition) -> Iterator[str]:
    allowed = {trim(item).strip("'\"").lower() for item in field.values}
    if not allowed:
        return
    for item in value if isinstance(value, list | tuple) else (value,):
        text = to_string(item)
        if item is not None and text and text.lower() not in allowed:
            yield text
