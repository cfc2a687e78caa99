"""Lists in front matter cut into their items and put together again with the author's layout.

Source of DeepLore's rules: spec deeplore-engine 1.3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lorestudio.domain.javascript import WHITE_SPACE, trim
from lorestudio.vault import front_matter
from lorestudio.vault.note_spans import is_filler
from lorestudio.vault.note_spelling import Parts, comment_in, is_item

ITEM_LINE = re.compile(rf"([{WHITE_SPACE}]*-[{WHITE_SPACE}]+)([^\n]*?)([{WHITE_SPACE}]*)\Z")
"""Matches a line of one item: what stands before it, the item, and the white space behind it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An item of a new list: the old item that it keeps, if any, and the old one in or behind whose place it stands."""

    kept: int | None
    near: int


@dataclass(frozen=True, slots=True)
class Item:
    """One item as it stands: blank and comment lines above it, its own text, and what DeepLore reads."""

    before: str
    text: str
    value: str


def items_on_lines(parts: Parts) -> tuple[list[Item], str]:
    """The items, and the blank and comment lines behind the last one. Other lines belong to the item above."""
    items: list[Item] = []
    before = ""
    for line in parts.body:
        if is_item(line):
            value = front_matter.parse("x:\n" + line)["x"]
            items.append(Item(before, line, str(value[0]) if isinstance(value, list) else ""))
            before = ""
        elif is_filler(line) or not items:
            before += line
        else:
            last = items.pop()
            items.append(Item(last.before, last.text + before + line, last.value))
            before = ""
    return items, before


def put_on_lines(parts: Parts, items: list[Item], written: list[str], plan: list[Placed], new: list[str]) -> str:
    """The lines of the list up to its last item. Blank and comment lines stay where they are, whatever goes.

    A comment behind an item that another one replaces goes on a line of its own above it.
    """
    result = [parts.head + parts.gap + parts.rest + parts.tail]
    staying = {placed.kept for placed in plan}
    done = 0  # the blank and comment lines above the items before this one are written
    for placed, text, value in zip(plan, written, new, strict=True):
        reached = done
        while done <= placed.near:
            result.append(items[done].before)
            done += 1
        if placed.kept is None and placed.near not in staying and reached <= placed.near:
            comment = comment_in(_content(items[placed.near].text))
            if comment and comment not in value:
                result.append(_indentation(text) + comment + parts.newline)
        result.append(text)
    result.extend(item.before for item in items[done:])
    return "".join(result)


def _content(item: str) -> str:
    found = ITEM_LINE.match(item.partition("\n")[0])
    return "" if found is None else found[2]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def items_in_brackets(inside: str) -> list[Item]:
    """The pieces between the commas with the white space around them, as DeepLore cuts them."""
    pieces = _cut(inside)
    if not trim(pieces[-1]):
        pieces.pop()
    values = front_matter.parse(f"x: [{inside}]").get("x")
    if not isinstance(values, list) or len(values) != len(pieces):
        return []
    return [Item("", piece, str(value)) for piece, value in zip(pieces, values, strict=True)]


def _cut(inside: str) -> list[str]:
    """The text between the commas outside quotes; a quote opens only at the start of an item."""
    pieces: list[str] = []
    start = 0
    quote = ""
    skip = False
    for index, char in enumerate(inside):
        if skip:
            skip = False
        elif quote:
            skip = char == "\\"
            quote = "" if char == quote else quote
        elif char == ",":
            pieces.append(inside[start:index])
            start = index + 1
        elif char in ("'", '"') and not trim(inside[start:index]):
            quote = char
    pieces.append(inside[start:])
    return pieces


def put_in_brackets(items: list[Item], written: list[str], plan: list[Placed], rest: str) -> str:
    """The list in brackets with the author's spaces around brackets and commas, and the comma before the end."""
    inside = rest[1:-1]
    if not items:
        return f"[{', '.join(written)}]"
    texts = [item.text for item in items]
    first, last = texts[0], texts[-1]
    lead = _indentation(texts[1]) if len(texts) > 1 else " "
    opening = _indentation(first)
    closing = last[len(last.rstrip(" \t")) :]
    ending = inside[len(",".join(texts)) :] or closing  # a comma behind the last item, or its spaces
    result = []
    for index, (placed, text) in enumerate(zip(plan, written, strict=True)):
        kept = placed.kept
        space = opening if index == 0 else (lead if kept in {None, 0} else _indentation(text))
        core = text.strip(" \t")
        behind = "" if kept is None or kept == len(items) - 1 else text[len(text.rstrip(" \t")) :]
        if ending.startswith(",") and kept == len(items) - 1:
            behind = closing
        result.append(space + core + ("" if index == len(plan) - 1 and not ending.startswith(",") else behind))
    return f"[{','.join(result)}{ending}]"
