"""Where the properties of a note stand, found by DeepLore's line rules; no value is judged here.

The front matter block and the fields in it are the ones of `front_matter.split` and `front_matter.parse`
(rules: deeplore 1.2, 1.3). What DeepLore passes over is given a place too, so that it can be shown, moved and removed.
"""

from __future__ import annotations

import re

from msgspec import Struct

from lorestudio.domain.javascript import WHITE_SPACE
from lorestudio.domain.records import replace
from lorestudio.vault import front_matter

BLOCK_HEADER = re.compile(r"[|>][-+0-9]*(?:[ \t]+#.*)?")
"""Matches, as the whole value of a key line, what begins a block scalar in YAML."""

_FENCE_WITHOUT_FIELDS = re.compile(r"---\r?\n---[ \t]*(?:\r?\n|\Z)")
_OTHER_KEY = re.compile(
    r"""("[^"\n]*"[ \t]*|'[^'\n]*'[ \t]*|[^\s#"'\[{|>%@`&*!,\]}:](?:[^\n:]|:(?![ \t\r\n]|\Z))*):(?=[ \t\r\n]|\Z)"""
)
_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")
_BRACKETS = {"[": "]", "{": "}"}


class Block(Struct, frozen=True):
    """Offsets of the front matter: its first line, its closing fence, and the body behind it."""

    start: int
    end: int
    body_start: int


class Span(Struct, frozen=True):
    """The lines of one property. `first` and `end` count lines of the block from 0; `end` is not included.

    `read` says whether DeepLore takes the first line as a field. `keyed` says whether it has a name at all. `name` is
    the whole line where it has none.
    """

    name: str
    first: int
    end: int
    read: bool
    keyed: bool


def find_block(text: str) -> Block | None:
    """The front matter of a note, or None where DeepLore sees none."""
    yaml_text, body = front_matter.split(text)
    if yaml_text is None:
        return None
    start = text.index("\n") + 1
    return Block(start, text.index("\n", start + len(yaml_text)) + 1, len(text) - len(body))


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
    until = 0  # the lines before this one belong to the current property, whatever they look like
    in_scalar = False
    for number, line in enumerate(lines):
        text = line.rstrip(WHITE_SPACE)
        key = front_matter.KEY_LINE.match(text)
        if key is not None:
            spans.append(Span(key[1], number, number + 1, read=True, keyed=True))
            rest = key[2].rstrip(WHITE_SPACE)
            in_scalar = BLOCK_HEADER.fullmatch(rest) is not None
            until = 0 if in_scalar else _end_of_open_value(lines, number, rest)
        elif number < until or (in_scalar and text and line[0] in WHITE_SPACE):
            spans[-1] = replace(spans[-1], end=number + 1)
        elif is_filler(line):
            in_scalar = in_scalar and not text
        elif front_matter.LIST_ITEM.match(text) and (owner := _keyed(spans)) is not None:
            in_scalar = False
            spans[owner:] = [replace(spans[owner], end=number + 1)]
        elif line[0] in WHITE_SPACE and spans:
            spans[-1] = replace(spans[-1], end=number + 1)
        else:
            in_scalar = False
            other = _OTHER_KEY.match(line)
            if other is not None and not text.startswith("- "):
                spans.append(Span(_unquoted(other[1].rstrip(" \t")), number, number + 1, read=False, keyed=True))
                in_scalar = BLOCK_HEADER.fullmatch(text[other.end() :].strip(WHITE_SPACE)) is not None
            else:
                spans.append(Span(text.strip(WHITE_SPACE), number, number + 1, read=False, keyed=False))
    return spans


def key_end(line: str) -> int:
    """Where the name of a property that DeepLore does not read ends, its quotes included."""
    found = _OTHER_KEY.match(line)
    return 0 if found is None else found.start(1) + len(found[1].rstrip(" \t"))


def _keyed(spans: list[Span]) -> int | None:
    for index in range(len(spans) - 1, -1, -1):
        if spans[index].keyed:
            return index
    return None


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
