"""Changing a JSON text where its value changes, and nowhere else.

Numbers keep their spelling, texts their escapes, members their order, double ones included. Only what differs from the
wanted value is spelled anew, as compactly or loosely as the text around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from lorestudio.domain.javascript import Json

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_PLAIN: Final = re.compile(r"[^\s,\]}]+")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_HALF: Final = re.compile("[\ud800-\udfff]")


def parse_record(text: str) -> Json:
    """The value of a JSON text, as JavaScript reads it: no NaN, and numbers of any length.

    Raises ValueError saying what is wrong (JSONDecodeError where a place can be named), also for nesting too deep.
    """
    try:
        value: Json = json.loads(text, parse_constant=_no_constant, parse_int=_whole)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def spell_record(value: Json, *, loose: bool = False) -> str:
    """A JSON value as SillyTavern writes it, with blanks behind commas and colons where `loose` is set.

    Halves of surrogate pairs become escapes. Raises ValueError for NaN and infinities, and for nesting too deep.
    """
    separators = (", ", ": ") if loose else (",", ":")
    try:
        text = json.dumps(value, ensure_ascii=False, separators=separators, default=_plain, allow_nan=False)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def same_value(one: Json, other: Json) -> bool:
    """Whether two JSON values are the same to JavaScript: 1 and 1.0 are, 1 and true are not; order is none."""
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(same_value(value, other[key]) for key, value in one.items())
        )
    if isinstance(one, list | tuple):
        return (
            isinstance(other, list | tuple)
            and len(one) == len(other)
            and all(same_value(value, counterpart) for value, counterpart in zip(one, other, strict=True))
        )
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other


def changed_text(text: str, wanted: Mapping[str, Json]) -> str:
    """The JSON text `text` with another value; what is the same in both keeps its spelling.

    Raises ValueError where `text` is no JSON or `wanted` cannot be spelled.
    """
    try:
        node = _Reader(text).whole()
        return text[: node.start] + _Writer(text, loose=_is_loose(text)).write(node, wanted) + text[node.end :]
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


@dataclass(slots=True)
class _Node:
    """A value with the place of its text; members of an object with the place of each, items of a list."""

    start: int
    end: int
    value: Json
    members: list[tuple[str, int, _Node]] = field(default_factory=list)
    items: list[_Node] = field(default_factory=list)


class _Reader:
    """Reads a text that is known to be JSON into nodes."""

    def __init__(self, text: str) -> None:
        self._text = text
        parse_record(text)

    def whole(self) -> _Node:
        return self._value(self._skip(0))

    def _skip(self, place: int) -> int:
        found = _SPACE.match(self._text, place)
        return found.end() if found else place

    def _value(self, start: int) -> _Node:
        opening = self._text[start]
        if opening == "{":
            return self._object(start)
        if opening == "[":
            return self._list(start)
        found = (_STRING if opening == '"' else _PLAIN).match(self._text, start)
        end = found.end() if found else start
        return _Node(start, end, parse_record(self._text[start:end]))

    def _object(self, start: int) -> _Node:
        value: dict[str, Json] = {}
        node = _Node(start, start, value)
        place = self._skip(start + 1)
        while self._text[place] != "}":
            name = self._value(place)
            inner = self._value(self._skip(self._skip(name.end) + 1))
            key = str(name.value)
            node.members.append((key, place, inner))
            value[key] = inner.value
            place = self._skip(inner.end)
            if self._text[place] == ",":
                place = self._skip(place + 1)
        node.end = place + 1
        return node

    def _list(self, start: int) -> _Node:
        value: list[Json] = []
        node = _Node(start, start, value)
        place = self._skip(start + 1)
        while self._text[place] != "]":
            inner = self._value(place)
            node.items.append(inner)
            value.append(inner.value)
            place = self._skip(inner.end)
            if self._text[place] == ",":
                place = self._skip(place + 1)
        node.end = place + 1
        return node


class _Writer:
    """Writes the text of a node with another value."""

    def __init__(self, text: str, *, loose: bool) -> None:
        self._text = text
        self._loose = loose

    def write(self, node: _Node, wanted: Json) -> str:
        if same_value(node.value, wanted):
            return self._text[node.start : node.end]
        if isinstance(node.value, dict) and isinstance(wanted, Mapping):
            return self._object(node, wanted)
        if isinstance(node.value, list) and isinstance(wanted, Sequence) and not isinstance(wanted, str):
            return self._list(node, wanted)
        return spell_record(wanted, loose=self._loose)

    def _object(self, node: _Node, wanted: Mapping[str, Json]) -> str:
        last = {key: place for place, (key, _start, _inner) in enumerate(node.members)}
        pieces: list[tuple[str | None, str]] = []
        end = node.start + 1
        for place, (key, start, inner) in enumerate(node.members):
            gap, end = self._text[end:start], inner.end
            if key not in wanted:
                continue
            # Of double members JavaScript reads the last, so that one alone has to say what is wanted.
            value = self.write(inner, wanted[key]) if last[key] == place else self._text[inner.start : inner.end]
            pieces.append((gap if place else None, self._text[start : inner.start] + value))
        added = {key: value for key, value in wanted.items() if key not in last}
        if added:
            pieces.append((None, spell_record(added, loose=self._loose)[1:-1]))
        return self._within(node, [start for _key, start, _inner in node.members], pieces, end)

    def _list(self, node: _Node, wanted: Sequence[Json]) -> str:
        items = node.items
        most = min(len(items), len(wanted))
        first = next((at for at in range(most) if not same_value(items[at].value, wanted[at])), most)
        rest = next((at for at in range(most - first) if not same_value(items[-1 - at].value, wanted[-1 - at])), None)
        rest = most - first if rest is None else rest
        old, new = items[first : len(items) - rest], wanted[first : len(wanted) - rest]
        ends = [node.start + 1, *(item.end for item in items)]
        gaps = [self._text[ends[at] : item.start] if at else None for at, item in enumerate(items)]
        middle = [(gaps[first + at], self.write(*pair)) for at, pair in enumerate(zip(old, new, strict=False))]
        middle += [(None, spell_record(value, loose=self._loose)) for value in new[len(old) :]]
        kept = [(gap, self._text[item.start : item.end]) for gap, item in zip(gaps, items, strict=True)]
        pieces = [*kept[:first], *middle, *kept[len(items) - rest :]]
        return self._within(node, [item.start for item in items], pieces, ends[-1])

    def _within(self, node: _Node, starts: Sequence[int], pieces: Sequence[tuple[str | None, str]], end: int) -> str:
        """The pieces between the brackets of a node, each behind the gap that was before it, or the usual one."""
        usual = ", " if self._loose else ","
        inner = "".join((gap or usual if at else "") + piece for at, (gap, piece) in enumerate(pieces))
        opening = self._text[node.start : starts[0]] if starts else self._text[node.start]
        return opening + inner + self._text[end : node.end]


def _is_loose(text: str) -> bool:
    """Whether the text has a blank behind the colon of its first member."""
    found = re.match(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:(\s?)', text)
    return bool(found and found[1])


def _whole(digits: str) -> int | float:
    # Python refuses to make an integer of thousands of digits; to JavaScript it is a number like others.
    return int(digits) if len(digits) < 400 else float(digits)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _plain(value: object) -> dict[str, Json]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
