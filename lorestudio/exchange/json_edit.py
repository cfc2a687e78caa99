"""Changing members of an object in a JSON text and nothing else: every other character stays as it is.

Reading and writing a whole document again would lose what JSON leaves open: the spelling of numbers and characters,
the layout, members of the same name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json

INDENT: Final = "    "
"""One step of indentation where the text does not show its own (spec: deeplore-ai-and-tools 4.3)."""

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Member:
    """`start:end` is the value, `place` where the key's quote stands."""

    key: str
    place: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """An object from its `{` to behind its `}`."""

    start: int
    end: int
    members: tuple[_Member, ...]

    def find(self, key: str) -> _Member | None:
        """The member of that name; of several the last, which is the one that counts."""
        return next((member for member in reversed(self.members) if member.key == key), None)


def set_members(text: str, path: Sequence[str], values: Mapping[str, Json]) -> str:
    """`text` with `values` as members of the object at `path`; objects that are missing on the way are made.

    New members come last, laid out as those before them. `text` is a valid JSON object. Raises ValueError where it
    is not, and where something else than an object stands on the way.
    """
    if not values:
        return text
    found = _object(text, _skip(text, 0))
    lead, step = _lead(text, found), INDENT
    for depth, key in enumerate(path):
        member = found.find(key)
        if member is None:
            value: Json = dict(values)
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            return _apply(text, found, {key: value}, lead, step)
        if text[member.start] != "{":
            message = f'the field "{".".join(path[: depth + 1])}" holds no object'
            raise ValueError(message)
        outer, found = lead, _object(text, member.start)
        lead = _lead(text, found) if found.members else _deeper(outer, step)
        step = lead[len(outer) :] if lead.startswith(outer) and "\n" in outer and len(lead) > len(outer) else step
    return _apply(text, found, values, lead, step)


def _apply(text: str, found: _Object, values: Mapping[str, Json], lead: str, step: str) -> str:
    colon = _colon(text, found, lead)
    edits: list[tuple[int, int, str]] = []
    added: list[str] = []
    for key, value in values.items():
        written = _written(value, lead, step, colon)
        member = found.find(key)
        if member is not None:
            edits.append((member.start, member.end, written))
        else:
            added.append(f"{json.dumps(key, ensure_ascii=False)}{colon}{written}")
    if added:
        joined = f",{lead}".join(added)
        if found.members:
            edits.append((found.members[-1].end, found.members[-1].end, f",{lead}{joined}"))
        else:
            closing = lead[: -len(step)] if "\n" in lead and lead.endswith(step) else ""
            edits.append((found.start + 1, found.end - 1, f"{lead}{joined}{closing}"))
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def _written(value: Json, lead: str, step: str, colon: str) -> str:
    if "\n" not in lead:
        return json.dumps(value, ensure_ascii=False, separators=(", " if lead else ",", colon))
    written = json.dumps(value, ensure_ascii=False, indent=step)
    return written.replace("\n", lead)  # line ends inside of texts are escaped


def _object(text: str, start: int) -> _Object:
    """Read the members of the object whose `{` stands at `start`."""
    if text[start : start + 1] != "{":
        message = "the text holds no object"
        raise ValueError(message)
    members: list[_Member] = []
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, behind = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, behind) + 1)
        end = _DECODER.raw_decode(text, value)[1]
        members.append(_Member(key, at, value, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return _Object(start, at + 1, tuple(members))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def _lead(text: str, found: _Object) -> str:
    """The white space before a member: a line end and its indentation, a blank, or nothing."""
    if len(found.members) > 1:
        last = found.members[-2].end
        return text[_skip(text, last) + 1 : found.members[-1].place]
    return text[found.start + 1 : found.members[0].place] if found.members else ""


def _deeper(lead: str, step: str) -> str:
    return lead + step if "\n" in lead else lead


def _colon(text: str, found: _Object, lead: str) -> str:
    """The colon of the last member with the white space around it."""
    if not found.members:
        return ": " if lead else ":"
    member = found.members[-1]
    behind = _DECODER.raw_decode(text, member.place)[1]
    return text[behind : member.start]
