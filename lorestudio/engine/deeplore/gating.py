"""Contextual gating: holding a note's fields against the chat's context (spec: deeplore-engine 5.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lorestudio.domain.entry import Entry
from lorestudio.domain.fields import FieldDefinition
from lorestudio.domain.javascript import Json, to_number, to_string

_LENIENT_OPERATORS = ("match_any", "match_all")


@dataclass(frozen=True, slots=True)
class Gate:
    """A field that rejected an entry, with both values and the rule that decided."""

    field: FieldDefinition
    entry_value: Json
    context_value: Json
    tolerance: str


def is_set(value: Json) -> bool:
    """Whether a context value or field says anything; 0 and false do."""
    return value is not None and value != "" and value != [] and value != ()


def is_active(fields: Sequence[FieldDefinition], context: Mapping[str, Json]) -> bool:
    """Whether any gating field has a value in the context; if none has, nothing is gated at all."""
    return any(field.gating and is_set(context.get(field.key)) for field in fields)


def rejecting_field(
    entry: Entry, fields: Sequence[FieldDefinition], context: Mapping[str, Json], global_tolerance: str
) -> Gate | None:
    """The first field that keeps the entry out, None where all let it pass."""
    for field in fields:
        if not field.gating:
            continue
        entry_value, context_value = entry.custom_fields.get(field.name), context.get(field.key)
        tolerance = field.tolerance or global_tolerance or "strict"
        if not _passes(field.operator, tolerance, entry_value, context_value):
            return Gate(field, entry_value, context_value, tolerance)
    return None


def _passes(operator: str, tolerance: str, entry_value: Json, context_value: Json) -> bool:
    if operator not in ("exists", "not_exists"):
        if not is_set(entry_value):
            return True
        if not is_set(context_value):
            return tolerance != "strict"
    if compare(operator, entry_value, context_value):
        return True
    return tolerance == "lenient" and operator in _LENIENT_OPERATORS


def compare(operator: str, entry_value: Json, context_value: Json) -> bool:
    """Apply one operator; an unknown one always holds. Text compares without case, unnormalised."""
    if operator == "exists":
        return not _absent(entry_value)
    if operator == "not_exists":
        return _absent(entry_value)
    if operator == "eq":
        return to_string(entry_value).lower() == to_string(context_value).lower()
    if operator in ("gt", "lt"):
        left, right = to_number(entry_value), to_number(context_value)
        if math.isnan(left) or math.isnan(right):
            return False
        return left > right if operator == "gt" else left < right
    mine, theirs = _texts(entry_value), _texts(context_value)
    if operator == "match_any":
        return any(text in theirs for text in mine)
    if operator == "match_all":
        return all(text in theirs for text in mine)
    if operator == "not_any":
        return not any(text in theirs for text in mine)
    return True


def _absent(value: Json) -> bool:
    return value is None or (isinstance(value, list | tuple) and not value)


def _texts(value: Json) -> list[str]:
    items = value if isinstance(value, list | tuple) else [value]
    return [to_string(item).lower() for item in items]
