"""Where the properties of a note and their texts stand, found by DeepLore's line rules; no value is judged here.

The front matter block, the fields in it and their values are the ones of `front_matter.split` and `front_matter.parse`
(rules: deeplore 1.2, 1.3). What DeepLore passes over is given a place too, so that it can be shown, moved and removed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from msgspec import Struct

from lorestudio.domain.javascript import WHITE_SPACE, trim
from lorestudio.domain.records import replace
from lorestudio.vault import front_matter

BLOCK_HEADER = re.compile(r"[|>][-+0-9]*(?:[ \t]+#.*)?")
"""Matches, as the whole value of a key line, what begins a block scalar in YAML."""

_FENCE_WITHOUT_FIELDS = re.compile(r"---\r?\n---[ \t]*(?:\r?\n|\Z)")
_OTHER_KEY = re.compile(
    r"""("[^"\n]*"[ \t]*|'[^'\n]*'[ \t]*|[^\s#"'\[{|>%@`&*!,\]}:](?:[^\n:]++|:(?![ \t\r\n]|\Z))*+):(?=[ \t\r\n]|\Z)"""
)
_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")
_BRACKETS = {"[": "]", "{": "}"}


class Block(Struct, frozen=True):
    """Offsets of the front matter: its first line, and its closing fence."""

    start: int
    end: int


class Span(Struct, frozen=True):
    """The lines of one property. `first` and `end` count lines of the block from 0; `end` is not included.

    `read` says whether DeepLore takes the first line as a field. `name` is the whole line where it has none.
    """

    name: str
    first: int
    end: int
    read: bool


def find_block(text: str) -> Block | None:
    """The front matter of a note, or None where DeepLore sees none."""
    start, end, body_start = split_places(text)
    return Block(start, text.index("\n", end) + 1) if start < body_start else None


def fences_without_fields(text: str) -> int | None:
    """The offset between two fences with nothing between them: front matter for Obsidian, but not for DeepLore."""
    found = _FENCE_WITHOUT_FIELDS.match(text, text.startswith(front_matter.BOM))
    return None if found is None else text.index("\n") + 1


def split_lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends a line, as in DeepLore."""
    return _LINES.findall(text)


def is_filler(line: str) -> bool:
    """Whether a line is blank or a comment. Inside a block scalar it can be content all the same."""
    stripped = line.strip(WHITE_SPACE)
    return not stripped or stripped[0] == "#"


def find_spans(lines: list[str]) -> list[Span]:
    """The properties in order. Blank lines and comments belong to a property only where it goes on behind them."""
    spans: list[Span] = []
    owner: int | None = None  # the last span with a name
    until = 0  # the lines before this one belong to the current property, whatever they look like
    in_scalar = False
    for number, line in enumerate(lines):
        text = line.rstrip(WHITE_SPACE)
        key = front_matter.KEY_LINE.match(text)
        if key is not None:
            owner = len(spans)
            spans.append(Span(key[1], number, number + 1, read=True))
            rest = key[2].rstrip(WHITE_SPACE)
            in_scalar = BLOCK_HEADER.fullmatch(rest) is not None
            until = 0 if in_scalar else _end_of_open_value(lines, number, rest)
        elif number < until or (in_scalar and text and line[0] in WHITE_SPACE):
            spans[-1] = replace(spans[-1], end=number + 1)
        elif is_filler(line):
            in_scalar = in_scalar and not text
        elif front_matter.LIST_ITEM.match(text) and owner is not None:
            in_scalar = False
            spans[owner:] = [replace(spans[owner], end=number + 1)]
        elif line[0] in WHITE_SPACE and spans:
            spans[-1] = replace(spans[-1], end=number + 1)
        else:
            in_scalar = False
            other = _OTHER_KEY.match(line)
            if other is not None and not text.startswith("- "):
                owner = len(spans)
                spans.append(Span(_unquoted(other[1].rstrip(" \t")), number, number + 1, read=False))
                in_scalar = BLOCK_HEADER.fullmatch(text[other.end() :].strip(WHITE_SPACE)) is not None
            else:
                spans.append(Span(text.strip(WHITE_SPACE), number, number + 1, read=False))
    return spans


def key_end(line: str) -> int:
    """Where the name of a property that DeepLore does not read ends, its quotes included."""
    found = _OTHER_KEY.match(line)
    return 0 if found is None else found.start(1) + len(found[1].rstrip(" \t"))


def _unquoted(name: str) -> str:
    return name[1:-1] if name[0] in "'\"" and name[-1] == name[0] and len(name) > 1 else name


def _end_of_open_value(lines: list[str], number: int, rest: str) -> int:
    """The line behind a bracket or quote that is opened in line `number` and closed further down; 0 where it is not."""
    if rest[:1] in _BRACKETS and rest[-1] != _BRACKETS[rest[0]]:
        depth = _depth(rest)
        for later in range(number + 1, len(lines) if depth > 0 else 0):
            if front_matter.KEY_LINE.match(lines[later]):
                break
            depth += _depth(lines[later])
            if depth <= 0:
                return later + 1
    elif rest[:1] in ("'", '"') and rest.find(rest[0], 1) < 0:
        for later in range(number + 1, len(lines)):
            if front_matter.KEY_LINE.match(lines[later]):
                break
            if rest[0] in lines[later]:
                return later + 1
    return 0


def _depth(text: str) -> int:
    return sum(text.count(char) for char in "[{") - sum(text.count(char) for char in "]}")


class PropertyText(Struct, frozen=True):
    """One text of a property as DeepLore reads it: the whole value, or one item of a list.

    `start` and `end` span it in the note, quotes not included; a backslash before a quote is inside. `item` is its
    place in the list, None where the value is one text.
    """

    name: str
    value: str
    start: int
    end: int
    item: int | None


def split_places(text: str) -> tuple[int, int, int]:
    """Where the YAML text begins and ends and where the body begins; three times the same place without front matter.

    A leading byte order mark counts as a character of `text` and belongs to neither.
    """
    yaml_text, body = front_matter.split(text)
    body_start = len(text) - len(body)
    if yaml_text is None:
        return body_start, body_start, body_start
    start = text.index("\n") + 1
    return start, start + len(yaml_text), body_start


def property_texts(text: str, wanted: Collection[str] | None = None) -> dict[str, list[PropertyText]]:
    """The texts of each property that holds any, by the name as written; `wanted` names in lower case, None for all.

    Numbers, flags and empty values hold none; nor does a block scalar, whose lines are no single span.
    """
    start, end, _ = split_places(text)
    found: dict[str, list[PropertyText]] = {}
    name = ""
    listed = False
    block = False
    place = start
    for line in text[start:end].split("\n"):
        written = line.rstrip(WHITE_SPACE)
        begun, place = place, place + len(line) + 1
        if block and (not written or line[0] in WHITE_SPACE):
            continue
        block = False
        key = front_matter.KEY_LINE.match(written)
        if key is not None:
            name, rest = key[1], key[2].rstrip(WHITE_SPACE)
            block = rest in ("|", ">")
            listed = not rest or (rest[0] == "[" and rest[-1] == "]")
            passed_over = block or (wanted is not None and name.lower() not in wanted)
            found[name] = [] if passed_over else list(_values(name, rest, begun + key.start(2), listed=listed))
            if passed_over and not block:
                name = ""
        elif name and (prefix := front_matter.LIST_ITEM.match(written)) is not None:
            if not listed:
                found[name], listed = [], True
            found[name].append(_list_item(name, written, begun, prefix.end(), len(found[name])))
    return {name: texts for name, texts in found.items() if texts}


def _list_item(name: str, line: str, begun: int, start: int, item: int) -> PropertyText:
    end = len(line)
    while start < end and line[start] in WHITE_SPACE:
        start += 1
    if end - start > 1 and line[start] in front_matter.QUOTES and line[end - 1] == line[start]:
        start, end = start + 1, end - 1
    return PropertyText(name, front_matter.unescaped(line[start:end]), begun + start, begun + end, item)


def _values(name: str, rest: str, start: int, *, listed: bool) -> Iterator[PropertyText]:
    """The texts behind the colon of a property that is no block scalar."""
    if not rest:
        return
    if not listed:
        value = front_matter.parse(f"{name}: {rest}").get(name)
        if isinstance(value, str):
            begin = start + rest.startswith(front_matter.QUOTES)
            yield PropertyText(name, value, begin, begin + len(value), None)
        return
    inside = rest[1:-1]
    quoted = "'" in inside or '"' in inside
    pieces = list(front_matter.pieces(inside))
    if pieces and not trim(pieces[-1][0]):
        pieces.pop()
    for item, (value, begin, end) in enumerate(pieces):
        read = value.strip(WHITE_SPACE)
        written = inside[begin:end]
        first = start + 1 + begin + len(written) - len(written.lstrip(WHITE_SPACE))
        last = max(first, start + 1 + end - len(written) + len(written.rstrip(WHITE_SPACE)))
        if quoted and read.startswith(front_matter.QUOTES):
            read, first = read[1:], first + 1
        if quoted and read.endswith(front_matter.QUOTES):
            read, last = read[:-1], last - 1
        yield PropertyText(name, read, first, last, item)
