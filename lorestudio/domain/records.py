"""Records, the plain data that everything is about: copies with changes, their fields, groups, rows that are alike.

A record is a frozen `msgspec.Struct`, which takes a fiftieth of a dataclass's time to declare and a seventh to make. It
is a `Terse` one where a field stays out of what is printed, and a dataclass where one stays out of the comparison or is
made by the record itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from operator import eq
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard, TypeVar

from msgspec import Struct, structs

_Item = TypeVar("_Item")
_Key = TypeVar("_Key")

if TYPE_CHECKING:
    from dataclasses import replace  # for mypy, which holds names and types of the changes against those of the fields
else:

    def replace(record, /, **changes):  # noqa: ANN001, ANN003, ANN201  # its types are those above
        """The record with these fields changed. Raises TypeError for a field that it does not have."""
        return (structs if isinstance(record, Struct) else dataclasses).replace(record, **changes)


class Terse(Struct, frozen=True):
    """A record that leaves fields out of its repr: long ones, and what nobody else is to read."""

    unprinted: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        told = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in self.unprinted)
        return f"{type(self).__qualname__}({', '.join(told)})"


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


def grouped(pairs: Iterable[tuple[_Key, _Item]]) -> dict[_Key, list[_Item]]:
    """What stands second in the pairs, by what stands first; both in the order in which they come."""
    found: dict[_Key, list[_Item]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found


def same_start(one: Sequence[_Item], other: Sequence[_Item], same: Callable[[_Item, _Item], bool] = eq) -> int:
    """How many items at the start are the same in both; an item is always the same as itself."""
    pairs = enumerate(zip(one, other, strict=False))
    differing = (place for place, (mine, yours) in pairs if mine is not yours and not same(mine, yours))
    return next(differing, min(len(one), len(other)))


def same_ends(
    one: Sequence[_Item], other: Sequence[_Item], same: Callable[[_Item, _Item], bool] = eq
) -> tuple[int, int]:
    """How many items at the start, and of the rest how many at the end, are the same in both."""
    head = same_start(one, other, same)
    return head, same_start(one[head:][::-1], other[head:][::-1], same)


def picked(record: object, *names: str) -> dict[str, Any]:
    """These parts of a record by their names, for JSON and reports."""
    return {name: getattr(record, name) for name in names}


__all__ = [
    "Terse", "compared_fields", "field_names", "grouped", "is_record", "picked", "replace", "same_ends", "same_start",
]  # fmt: skip
