"""Contextual gating: holding a note's fields against the chat's context (rules: deeplore 5.2).

Which entries gates let pass whatever they say: the exemption policy (rules: deeplore 5.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.entry import Entry, FieldDefinition
from lorestudio.domain.javascript import Json, to_number, to_string
from lorestudio.domain.state import EntryRule
from lorestudio.systems.ledger import Ledger

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
    return value is not None and value not in ("", [], ())


def is_active(fields: Sequence[FieldDefinition], context: Mapping[str, Json]) -> bool:
    """Whether any gating field has a value in the context; if none has, nothing is gated at all."""
    return any(field.gating and is_set(context.get(field.key)) for field in fields)


def rejecting_field(
    entry: Entry,
    fields: Sequence[FieldDefinition],
    context: Mapping[str, Json],
    global_tolerance: str,
    *,
    inherit: bool = False,
) -> Gate | None:
    """The first field that keeps the entry out, None where all let it pass.

    With `inherit` the global tolerance holds for fields without one of their own.
    """
    for field in fields:
        if not field.gating:
            continue
        entry_value, context_value = entry.custom_fields.get(field.name), context.get(field.key)
        own = "" if inherit and field.inherits else field.tolerance
        tolerance = own or global_tolerance or "strict"
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
    holds = _OPERATORS.get(operator)
    return holds is None or holds(entry_value, context_value)


def _absent(value: Json) -> bool:
    return value is None or (isinstance(value, list | tuple) and not value)


def _texts(value: Json) -> set[str]:
    items = value if isinstance(value, list | tuple) else [value]
    return {to_string(item).lower() for item in items}


_OPERATORS: Final[Mapping[str, Callable[[Json, Json], bool]]] = {
    "match_any": lambda mine, theirs: not _texts(mine).isdisjoint(_texts(theirs)),
    "match_all": lambda mine, theirs: _texts(mine) <= _texts(theirs),
    "not_any": lambda mine, theirs: _texts(mine).isdisjoint(_texts(theirs)),
    "exists": lambda mine, _: not _absent(mine),
    "not_exists": lambda mine, _: _absent(mine),
    "eq": lambda mine, theirs: to_string(mine).lower() == to_string(theirs).lower(),
    "gt": lambda mine, theirs: to_number(mine) > to_number(theirs),  # false where either is no number
    "lt": lambda mine, theirs: to_number(mine) < to_number(theirs),
}


def is_forced(entry: Entry) -> bool:
    """Constants always, seeds and bootstraps too, however long the chat is."""
    return entry.constant or entry.seed or entry.bootstrap


@dataclass(frozen=True, slots=True)
class Policy:
    """The exempt entries, by tracker key, each with why it is exempt."""

    exempt: dict[str, str]

    @classmethod
    def of(cls, entries: Iterable[Entry], pins: tuple[EntryRule, ...]) -> Policy:
        """The policy drawn from these entries and pins."""
        exempt: dict[str, str] = {}
        for entry in entries:
            why = _why(entry, pins)
            if why:
                exempt[entry.tracker_key] = why
        return cls(exempt)

    def __contains__(self, entry: Entry) -> bool:
        return entry.tracker_key in self.exempt

    def spares(self, entry: Entry, ledger: Ledger, would: str) -> bool:
        """Whether an entry that a stage would stop for the reason `would` stays all the same; that is put on record."""
        if entry in self:
            ledger.keep(entry, "exempt", by=self.exempt[entry.tracker_key], would=would)
        return entry in self


def _why(entry: Entry, pins: tuple[EntryRule, ...]) -> str:
    if entry.constant:
        return "constant"
    if entry.seed:
        return "seed"
    if entry.bootstrap:
        return "bootstrap"
    return "pin" if any(pin.matches(entry) for pin in pins) else ""
