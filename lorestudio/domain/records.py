"""Records, the plain data that everything else is about: copies of them with changes, and what fields they have.

A record is a frozen `msgspec.Struct`, which takes a fiftieth of a dataclass's time to declare and a seventh to make. It
is a dataclass where a field stays out of the comparison or of what is printed, or is made by the record itself.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeGuard

from msgspec import Struct, structs

if TYPE_CHECKING:
    from dataclasses import replace  # for mypy, which holds names and types of the changes against those of the fields
else:

    def replace(record, /, **changes):  # noqa: ANN001, ANN003, ANN201  # its types are those above
        """The record with these fields changed. Raises TypeError for a field that it does not have."""
        return (structs if isinstance(record, Struct) else dataclasses).replace(record, **changes)


def is_record(kind: object) -> TypeGuard[type[Any]]:
    """Whether this is a type of records."""
    return isinstance(kind, type) and (issubclass(kind, Struct) or dataclasses.is_dataclass(kind))


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """The names of all fields of a type of records, in order."""
    return kind.__struct_fields__ if issubclass(kind, Struct) else tuple(each.name for each in dataclasses.fields(kind))


def compared_fields(kind: type[Any]) -> dict[str, bool]:
    """The fields that two records are compared by, each with whether it must be given when a record is made."""
    if issubclass(kind, Struct):
        return {each.name: each.required for each in structs.fields(kind)}
    nothing = dataclasses.MISSING
    return {
        each.name: each.default is nothing and each.default_factory is nothing
        for each in dataclasses.fields(kind)
        if each.compare
    }


__all__ = ["compared_fields", "field_names", "is_record", "replace"]
