"""One property of a note as it is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from lorestudio.domain.javascript import Json
from lorestudio.vault.note_spelling import is_item, take_apart
from lorestudio.vault.readings import Reading

_NAME = r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s#"'\[{:-](?:[^\n:]|:(?![ \t\r\n]|\Z))*)"""
_NESTED_LINE = re.compile(rf"[ \t]+(?:-[ \t]+)*(?:\?[ \t]|{_NAME}[ \t]*:(?:[ \t\r\n]|\Z))")
_NESTED_LIST = re.compile(r"[ \t]*-[ \t]+-[ \t]")


class PropertyKind(StrEnum):
    """How a property is written. NESTED and INVALID ones can be shown as they stand, renamed and removed only."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    LIST = "list"
    EMPTY = "empty"
    NESTED = "nested"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class NoteProperty:
    """One property at the top level of the front matter, as written.

    `value` is what DeepLore reads; lists are lists of texts, and it is None for what DeepLore passes over. `start` and
    `end` are offsets of its whole lines, the last line end included; blank and comment lines behind it are not part of
    it. `line` counts from 1 in the file, `raw` is `text[start:end]`. A line without a name has itself as its name.
    """

    name: str
    kind: PropertyKind
    value: Json
    start: int
    end: int
    line: int
    raw: str
    _reading_of: Callable[[NoteProperty], Reading | None] = field(repr=False, compare=False)

    @property
    def reading(self) -> Reading | None:
        """What each of the two reads, where YAML reads another value than DeepLore; else None."""
        return self._reading_of(self)


def kind_of(raw: str, value: Json) -> PropertyKind:
    """How a property is written that DeepLore reads: its lines, and what DeepLore reads there."""
    parts = take_apart(raw)
    rest = parts.rest
    if rest[:1] == "{" and not rest.startswith("{{") and (rest.endswith("}") or parts.body):
        return PropertyKind.NESTED
    if not parts.is_block_scalar and (not rest or rest[0] in "#&!"):
        if any(_NESTED_LINE.match(line) and not is_item(line) for line in parts.body):
            return PropertyKind.NESTED
        if any(_NESTED_LIST.match(line) for line in parts.body):
            return PropertyKind.NESTED
    if isinstance(value, list):
        if rest[:1] == "[" and any(item.count("[") != item.count("]") for item in value if isinstance(item, str)):
            return PropertyKind.NESTED
        return PropertyKind.LIST if value or rest else PropertyKind.EMPTY
    if value is None:
        return PropertyKind.EMPTY
    if isinstance(value, bool):
        return PropertyKind.FLAG
    return PropertyKind.TEXT if isinstance(value, str) else PropertyKind.NUMBER
