"""Front matter as DeepLore reads it: a block between dashes and a line machine, no YAML library.

Rules: deeplore 1.2, 1.3. Much valid YAML means something else here (comments stay part of the value,
nested mappings vanish, `True` is a text); that is the point: a note must mean in the studio what it means in DeepLore.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from lorestudio.domain.javascript import DOT, WHITE_SPACE, WS, number, trim

Value: TypeAlias = str | float | bool | list[str] | None
"""What a field can hold: the items of a list are texts, whatever they look like."""

BOM = "\ufeff"

_OPENING_FENCE = re.compile(r"---\r?\n")
NEVER_CLOSED = (
    "The front matter that begins in line 1 has no end, so DeepLore takes all of it as text. Write --- on a line of "
    "its own behind the last property."
)
"""What to say of a text that is `never_closed`."""

_BEGUN = re.compile(r"---\r?\n(?=\w[\w.-]*[ \t]*:)", re.ASCII)
_AFTER_FENCE = re.compile(r"[ \t]*\r?\n?")
_KEY = re.compile(rf"(\w[\w.-]*){WS}*:", re.ASCII)
_UNICODE_KEY = re.compile(rf"(\w[\w.-]*){WS}*:")
_LINE_END = re.compile("[\r\u2028\u2029]")
KEY_LINE = re.compile(rf"(\w[\w.-]*){WS}*:{WS}*({DOT}*)", re.ASCII)
"""Matches, at the start of a line without the white space at its end, a field: its name and its value."""
LIST_ITEM = re.compile(rf"{WS}*-{WS}+")
"""Matches what stands before the text of a list item."""
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)
_SAFE_FIGURES = 15
"""A whole number of so many figures is the same as a double."""
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None}
QUOTES = ("'", '"')


def split(text: str) -> tuple[str | None, str]:
    """The text between the fences, or None where there is no front matter, and the body behind it.

    A leading byte order mark belongs to neither. The first line that begins with three dashes closes the block, even
    inside a block scalar.
    """
    text = text.removeprefix(BOM)
    opening = _OPENING_FENCE.match(text)
    if opening is None:
        return None, text
    start = opening.end()
    line_end = text.find("\n---", start)
    if line_end < 0:
        return None, text
    after = _AFTER_FENCE.match(text, line_end + 4)
    body = text[after.end() :] if after else ""
    if line_end > start and text[line_end - 1] == "\r":
        line_end -= 1
    return text[start:line_end], body


def never_closed(text: str) -> bool:
    """Whether the note begins with dashes and a property, and no other dashes follow: DeepLore sees no front matter."""
    return _BEGUN.match(text.removeprefix(BOM)) is not None and split(text)[0] is None


def read(text: str, *, unicode_names: bool = False) -> tuple[dict[str, Value], str]:
    """The fields of a note, none without front matter, and its body: `split` and `parse` in one."""
    yaml_text, body = split(text)
    return parse(yaml_text or "", unicode_names=unicode_names), body


def parse(yaml_text: str, *, unicode_names: bool = False) -> dict[str, Value]:
    """The fields of a front matter block in order of first appearance; a repeated field keeps its last value.

    Nothing is refused: what the line machine does not understand it passes over. With `unicode_names` a field's name
    may have letters and figures of any script (rules: deeplore-newer 1.12).
    """
    named = _UNICODE_KEY if unicode_names else _KEY
    values: dict[str, Value] = {}
    key = ""
    items: list[str] | None = None
    block: list[str] | None = None
    joint = ""
    for line in yaml_text.split("\n"):
        if block is not None:
            text = line.rstrip(WHITE_SPACE)
            if not text or line[0] in WHITE_SPACE:
                block.append(text)
                continue
            values[key] = trim(joint.join(block))
            block = None
        field = _field(line, named)
        if field is None:
            item = list_item(line) if key else None
            if item is not None:
                if items is None:
                    values[key] = items = []
                items.append(item)
            continue
        key, rest = field
        items = None
        if rest in ("|", ">"):
            block, joint = [], "\n" if rest == "|" else " "
        elif not rest or (rest[0] == "[" and rest[-1] == "]"):
            values[key] = items = _inline_list(rest[1:-1])
        else:
            values[key] = _scalar(rest)
    if block is not None:
        values[key] = trim(joint.join(block))
    return values


def _field(line: str, named: re.Pattern[str] = _KEY) -> tuple[str, str] | None:
    """The name of the field that a line begins, and what stands behind the colon."""
    name, colon, rest = line.partition(":")
    if not (colon and name.isidentifier() and name.isascii()):  # else the pattern would say the same
        found = named.match(line)
        if found is None:
            return None
        name, rest = found[1], line[found.end() :]
    rest = trim(rest)
    if not rest.isascii() or "\r" in rest:  # only such a text can hold the end of a line
        rest = trim(_LINE_END.split(rest, 1)[0])
    return name, rest


def list_item(line: str) -> str | None:
    """The text of a line that is an item of a list, None where it is none."""
    text = line.rstrip(WHITE_SPACE)
    prefix = LIST_ITEM.match(text)
    if prefix is None:
        return None
    text = trim(text[prefix.end() :])
    if len(text) > 1 and text[0] in QUOTES and text[-1] == text[0]:
        text = text[1:-1]
    return unescaped(text)


def unescaped(item: str) -> str:
    """The text of a list item without the backslashes before quotes and backslashes."""
    if "\\" not in item:
        return item
    return item.replace('\\"', '"').replace("\\'", "'").replace("\\\\", "\\")


def _scalar(text: str) -> Value:
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= _SAFE_FIGURES and text.isdigit() and text.isascii():
        return int(text)
    if _NUMBER.fullmatch(text):
        return number(float(text))
    return _unquoted(text)


def _unquoted(text: str) -> str:
    """Without one quote character at the front and one at the end, each on its own."""
    if text.startswith(QUOTES):
        text = text[1:]
    return text[:-1] if text.endswith(QUOTES) else text


def _inline_list(inside: str) -> list[str]:
    """The items between the brackets; every item is a text."""
    quoted = "'" in inside or '"' in inside
    read = [piece for piece, _, _ in pieces(inside)] if quoted else inside.split(",")
    items = [piece.strip(WHITE_SPACE) for piece in read]
    if not items[-1]:
        items.pop()
    return [_unquoted(item) for item in items] if quoted else items


def pieces(inside: str) -> Iterator[tuple[str, int, int]]:
    """What stands between the commas outside quotes: as it is read, and start and end of what is written.

    A backslash inside quotes protects the next character and is not read itself.
    """
    current = quote = ""
    start = 0
    escaped = False
    for place, char in enumerate(inside):
        if escaped:
            current += char
            escaped = False
        elif char == "\\" and quote:
            escaped = True
        elif char == "," and not quote:
            yield current, start, place
            current, start = "", place + 1
        else:
            if char == quote:
                quote = ""
            elif char in QUOTES and not quote and not trim(current):
                quote = char
            current += char
    yield current, start, len(inside)
