"""Changing a JSON text where its value changes, and nowhere else.

Numbers keep their spelling, texts their escapes, members their order, double ones included, and the layout stays. Only
what differs from the wanted value is spelled anew, as compactly or loosely as the text around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import DECODER, parse_json, spell

INDENT: Final = "    "
"""One step of indentation where the text does not show its own (rules: deeplore-tools 4.3)."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_HALF: Final = re.compile("[\ud800-\udfff]")


def spell_record(value: Json, *, loose: bool = False) -> str:
    """A JSON value as SillyTavern writes it: as `spell` does, with halves of surrogate pairs as escapes."""
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", spell(value, loose=loose))


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
    whole = _whole(text)
    try:
        return text[: whole.start] + _Writer(text, loose=_is_loose(text)).write(whole, wanted) + text[whole.end :]
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def set_members(text: str, path: Sequence[str], values: Mapping[str, Json]) -> str:
    """`text` with `values` as members of the object at `path`; objects that are missing on the way are made.

    New members come last, laid out as those before them. `text` is a valid JSON object. Raises ValueError where it
    is not, and where something else than an object stands on the way.
    """
    if not values:
        return text
    found = _Object.at(text, _whole(text))
    lead, step = found.lead, INDENT
    for depth, key in enumerate(path):
        member = found.find(key)
        if member is None:
            value: Json = dict(values)
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            return found.with_members({key: value}, lead, step)
        if text[member.start] != "{":
            raise ValueError(f'the field "{".".join(path[: depth + 1])}" holds no object')
        outer, found = lead, _Object.at(text, member)
        lead = found.lead if found.members else lead + step if "\n" in lead else lead
        step = lead[len(outer) :] if lead.startswith(outer) and "\n" in outer and len(lead) > len(outer) else step
    return found.with_members(values, lead, step)


@dataclass(frozen=True, slots=True)
class _SpellingPart:
    """A value and the place of its text; of a member also its key and where the key's quote stands."""

    value: Json
    start: int
    end: int
    key: str = ""
    place: int = 0


def _whole(text: str) -> _SpellingPart:
    """The value of a text. Raises ValueError where it is no JSON."""
    start = _skip(text, 0)
    return _SpellingPart(parse_json(text), start, len(text.rstrip(" \t\n\r")))


def _parts(text: str, outer: _SpellingPart) -> Iterator[_SpellingPart]:
    """The members of an object, or the items of a list."""
    keyed, key = isinstance(outer.value, dict), ""
    at = _skip(text, outer.start + 1)
    while text[at] not in "}]":
        place = at
        if keyed:
            key, at = DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value, end = DECODER.raw_decode(text, at)
        yield _SpellingPart(value, at, end, key, place)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


@dataclass(frozen=True, slots=True)
class _Object:
    """An object of a text, from its `{` to behind its `}`."""

    text: str
    start: int
    end: int
    members: tuple[_SpellingPart, ...]

    @classmethod
    def at(cls, text: str, part: _SpellingPart) -> _Object:
        """The object that a value is. Raises ValueError where it is none."""
        if text[part.start] != "{":
            raise ValueError("the text holds no object")
        return cls(text, part.start, part.end, tuple(_parts(text, part)))

    def find(self, key: str) -> _SpellingPart | None:
        """The member of that name; of several the last, which is the one that counts."""
        return next((member for member in reversed(self.members) if member.key == key), None)

    @property
    def lead(self) -> str:
        """The white space before a member: a line end and its indentation, a blank, or nothing."""
        if not self.members:
            return ""
        before = _skip(self.text, self.members[-2].end) if len(self.members) > 1 else self.start
        return self.text[before + 1 : self.members[-1].place]

    def colon(self, lead: str) -> str:
        """The colon of the last member with the white space around it."""
        if not self.members:
            return ": " if lead else ":"
        member = self.members[-1]
        return self.text[DECODER.raw_decode(self.text, member.place)[1] : member.start]

    def with_members(self, values: Mapping[str, Json], lead: str, step: str) -> str:
        """The whole text with these members, new ones behind `lead`."""
        colon = self.colon(lead)
        edits: list[tuple[int, int, str]] = []
        added: list[str] = []
        for key, value in values.items():
            written, member = _laid_out(value, lead, step, colon), self.find(key)
            if member is not None:
                edits.append((member.start, member.end, written))
            else:
                added.append(f"{json.dumps(key, ensure_ascii=False)}{colon}{written}")
        joined = f",{lead}".join(added)
        if added and self.members:
            edits.append((self.members[-1].end, self.members[-1].end, f",{lead}{joined}"))
        elif added:
            closing = lead[: -len(step)] if "\n" in lead and lead.endswith(step) else ""
            edits.append((self.start + 1, self.end - 1, f"{lead}{joined}{closing}"))
        text = self.text
        for start, end, written in sorted(edits, reverse=True):
            text = text[:start] + written + text[end:]
        return text


def _laid_out(value: Json, lead: str, step: str, colon: str) -> str:
    if "\n" not in lead:
        return json.dumps(value, ensure_ascii=False, separators=(", " if lead else ",", colon))
    return json.dumps(value, ensure_ascii=False, indent=step).replace("\n", lead)  # those inside of texts are escaped


class _Writer:
    """Writes the text of a value with another one."""

    def __init__(self, text: str, *, loose: bool) -> None:
        self._text = text
        self._loose = loose

    def write(self, part: _SpellingPart, wanted: Json) -> str:
        if same_value(part.value, wanted):
            return self._text[part.start : part.end]
        if isinstance(part.value, dict) and isinstance(wanted, Mapping):
            return self._object(part, wanted)
        if isinstance(part.value, list) and isinstance(wanted, Sequence) and not isinstance(wanted, str):
            return self._list(part, wanted)
        return spell_record(wanted, loose=self._loose)

    def _object(self, part: _SpellingPart, wanted: Mapping[str, Json]) -> str:
        members = list(_parts(self._text, part))
        last = {member.key: place for place, member in enumerate(members)}
        pieces: list[tuple[str | None, str]] = []
        end = part.start + 1
        for place, member in enumerate(members):
            gap, end = self._text[end : member.place], member.end
            if member.key not in wanted:
                continue
            # Of double members JavaScript reads the last, so that one alone has to say what is wanted.
            counts = last[member.key] == place
            value = self.write(member, wanted[member.key]) if counts else self._text[member.start : member.end]
            pieces.append((gap if place else None, self._text[member.place : member.start] + value))
        added = {key: value for key, value in wanted.items() if key not in last}
        if added:
            pieces.append((None, spell_record(added, loose=self._loose)[1:-1]))
        return self._within(part, members, pieces, end)

    def _list(self, part: _SpellingPart, wanted: Sequence[Json]) -> str:
        items = list(_parts(self._text, part))
        most = min(len(items), len(wanted))
        first = next((at for at in range(most) if not same_value(items[at].value, wanted[at])), most)
        rest = next((at for at in range(most - first) if not same_value(items[-1 - at].value, wanted[-1 - at])), None)
        rest = most - first if rest is None else rest
        old, new = items[first : len(items) - rest], wanted[first : len(wanted) - rest]
        ends = [part.start + 1, *(item.end for item in items)]
        gaps = [self._text[ends[at] : item.start] if at else None for at, item in enumerate(items)]
        middle = [(gaps[first + at], self.write(*pair)) for at, pair in enumerate(zip(old, new, strict=False))]
        middle += [(None, spell_record(value, loose=self._loose)) for value in new[len(old) :]]
        kept = [(gap, self._text[item.start : item.end]) for gap, item in zip(gaps, items, strict=True)]
        pieces = [*kept[:first], *middle, *kept[len(items) - rest :]]
        return self._within(part, items, pieces, ends[-1])

    def _within(
        self, part: _SpellingPart, inner: Sequence[_SpellingPart], pieces: Sequence[tuple[str | None, str]], end: int
    ) -> str:
        """The pieces between the brackets, each behind the gap that was before it, or the usual one."""
        usual = ", " if self._loose else ","
        written = "".join((gap or usual if at else "") + piece for at, (gap, piece) in enumerate(pieces))
        opening = self._text[part.start : inner[0].place] if inner else self._text[part.start]
        return opening + written + self._text[end : part.end]


def _is_loose(text: str) -> bool:
    """Whether the text has a blank behind the colon of its first member."""
    found = re.match(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:(\s?)', text)
    return bool(found and found[1])
