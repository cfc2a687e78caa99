"""Contextual gating: holding a note's fields against the chat's context (rules: deeplore 5.2).

Exempt entries pass whatever gates say (rules: deeplore 5.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry, FieldDefinition
from lorestudio.domain.javascript import Json, to_number, to_string
from lorestudio.domain.state import EntryRule
from lorestudio.settings.rules import OLD_RULES, RuleSet
from lorestudio.systems.ledger import Ledger

_LENIENT_OPERATORS = ("match_any", "match_all")
EXISTENCE: Final = ("exists", "not_exists")
_OF_ONE: Final = ("eq", "gt", "lt")


class Gate(Struct, frozen=True):
    """A field that rejected an entry, with both values and the rule that decided."""

    field: FieldDefinition
    entry_value: Json
    context_value: Json
    tolerance: str


def is_set(value: Json) -> bool:
    """Whether a context value or field says anything; 0 and false do."""
    return value is not None and value not in ("", [], ())


def looked_at(
    fields: Sequence[FieldDefinition], context: Mapping[str, Json], rules: RuleSet
) -> Sequence[FieldDefinition]:
    """The fields that are held against the context: without any context none in 2.0.2, in 2.6 those that only have to
    exist or be missing (rules: deeplore-newer 1.5).
    """
    if any(field.gating and is_set(context.get(field.key)) for field in fields):
        return fields
    return [field for field in fields if field.gating and field.operator in EXISTENCE] if rules.existence_alone else ()


def rejecting_field(
    entry: Entry,
    fields: Sequence[FieldDefinition],
    context: Mapping[str, Json],
    global_tolerance: str,
    rules: RuleSet = OLD_RULES,
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
        if not _passes(field.operator, tolerance, entry_value, context_value, rules):
            return Gate(field, entry_value, context_value, tolerance)
    return None


def _passes(operator: str, tolerance: str, entry_value: Json, context_value: Json, rules: RuleSet) -> bool:
    if operator not in EXISTENCE:
        if not is_set(entry_value):
            return True
        if not is_set(context_value):
            return tolerance != "strict"
    if compare(operator, entry_value, context_value, rules):
        return True
    return tolerance == "lenient" and operator in _LENIENT_OPERATORS


def compare(operator: str, entry_value: Json, context_value: Json, rules: RuleSet = OLD_RULES) -> bool:
    """Apply one operator; an unknown one always holds. Text compares without case, unnormalised.

    In 2.6 one fitting element of a list in the context is enough for eq, gt and lt (rules: deeplore-newer 1.5).
    """
    holds = _OPERATORS.get(operator)
    if holds is not None and rules.any_element and operator in _OF_ONE and isinstance(context_value, list | tuple):
        return any(holds(entry_value, element) for element in context_value)
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


class Policy(Struct, frozen=True):
    """The exempt entries, by tracker key, each with why it is exempt."""

    exempt: dict[str, str]

    @classmethod
    def of(cls, entries: Iterable[Entry], pins: tuple[EntryRule, ...], *, bootstraps: bool = True) -> Policy:
        """The policy drawn from these entries and pins; `bootstraps` says whether bootstrap entries are exempt."""
        exempt: dict[str, str] = {}
        for entry in entries:
            why = _why(entry, pins, bootstraps=bootstraps)
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


def _why(entry: Entry, pins: tuple[EntryRule, ...], *, bootstraps: bool) -> str:
    if entry.constant:
        return "constant"
    if entry.seed:
        return "seed"
    if entry.bootstrap and bootstraps:
        return "bootstrap"
    return "pin" if any(pin.matches(entry) for pin in pins) else ""
