"""Lists in front matter: only the items that come, go or move change; the others keep their lines and their quotes.

Source of DeepLore's rules: deeplore 1.3 "Lists", 1.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain

from msgspec import Struct

from lorestudio.domain.javascript import WHITE_SPACE, Json, to_string, trim
from lorestudio.domain.records import grouped, replace
from lorestudio.vault import front_matter
from lorestudio.vault.note.spans import is_filler
from lorestudio.vault.note.spelling import (
    NumberParts,
    agrees,
    comment_in,
    deeplore_reads,
    is_item,
    item_agrees,
    item_spelling,
    mend_first,
    quote_of,
    why_not,
    yaml_value,
)
from lorestudio.vault.note.yaml_reading import certainly_alike

ITEM_LINE = re.compile(rf"([{WHITE_SPACE}]*-[{WHITE_SPACE}]+)([^\n]*?)([{WHITE_SPACE}]*)\Z")
"""Matches a line of one item: what stands before it, the item, and the white space behind it."""


class PlacedItem(Struct, frozen=True):
    """An item of a new list: the old item that it keeps, if any, and the old one in or behind whose place it stands."""

    kept: int | None
    near: int


class ListItem(Struct, frozen=True):
    """One item as it stands: blank and comment lines above it, its own text, and what DeepLore reads."""

    before: str
    text: str
    value: str


def items_on_lines(parts: NumberParts) -> tuple[list[ListItem], str]:
    """The items, and the blank and comment lines behind the last one. Other lines belong to the item above."""
    items: list[ListItem] = []
    before = ""
    for line in parts.body:
        value = front_matter.list_item(line)
        if value is not None:
            items.append(ListItem(before, line, value))
            before = ""
        elif is_filler(line) or not items:
            before += line
        else:
            last = items.pop()
            items.append(ListItem(last.before, last.text + before + line, last.value))
            before = ""
    return items, before


def put_on_lines(
    parts: NumberParts, items: list[ListItem], written: list[str], plan: list[PlacedItem], new: list[str]
) -> str:
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
                result.append(indentation(text) + comment + parts.newline)
        result.append(text)
    result.extend(item.before for item in items[done:])
    return "".join(result)


def _content(item: str) -> str:
    found = ITEM_LINE.match(item.partition("\n")[0])
    return "" if found is None else found[2]


def indentation(line: str) -> str:
    """The blanks and tabs that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def items_in_brackets(inside: str) -> list[ListItem]:
    """The pieces between the commas with the white space around them, as DeepLore cuts them."""
    pieces = [inside[start:end] for _, start, end in front_matter.pieces(inside)]
    if not trim(pieces[-1]):
        pieces.pop()
    values = front_matter.parse(f"x: [{inside}]").get("x")
    if not isinstance(values, list) or len(values) != len(pieces):
        return []
    return [ListItem("", piece, str(value)) for piece, value in zip(pieces, values, strict=True)]


def put_in_brackets(items: list[ListItem], written: list[str], plan: list[PlacedItem], rest: str) -> str:
    """The list in brackets with the author's spaces around brackets and commas, and the comma before the end."""
    inside = rest[1:-1]
    if not items:
        return f"[{', '.join(written)}]"
    texts = [item.text for item in items]
    first, last = texts[0], texts[-1]
    lead = indentation(texts[1]) if len(texts) > 1 else " "
    opening = indentation(first)
    closing = last[len(last.rstrip(" \t")) :]
    ending = inside[len(",".join(texts)) :] or closing  # a comma behind the last item, or its spaces
    result = []
    for index, (placed, text) in enumerate(zip(plan, written, strict=True)):
        kept = placed.kept
        space = opening if index == 0 else (lead if kept in {None, 0} else indentation(text))
        core = text.strip(" \t")
        behind = "" if kept is None or kept == len(items) - 1 else text[len(text.rstrip(" \t")) :]
        if ending.startswith(",") and kept == len(items) - 1:
            behind = closing
        result.append(space + core + ("" if index == len(plan) - 1 and not ending.startswith(",") else behind))
    return f"[{','.join(result)}{ending}]"


TEXT_IS_LIST = frozenset({
    "keys", "tags", "requires", "excludes", "refine_keys", "cascade_links", "era", "location", "scene_type",
    "character_present", "aliases", "cssclasses",
})  # fmt: skip
"""Properties where one text stands for a list of one, in DeepLore or in Obsidian."""


class ListStyle(Struct, frozen=True):
    """How a list is written that has no style of its own: in brackets, or each item behind `lead` on its own line."""

    inline: bool = False
    lead: str = "  - "


def style_of(parts: NumberParts) -> ListStyle | None:
    """The style of a list with items; None where the property is none."""
    if parts.has_items:
        first = next(line for line in parts.body if is_item(line))
        found = ITEM_LINE.match(first)
        return ListStyle(lead=found[1]) if found is not None and not found[1].strip(" \t-") else ListStyle()
    return ListStyle(inline=True) if _is_inline(parts) and parts.rest.strip("[] ") else None


def as_text(field: str, old: Json, value: Sequence[str]) -> Json:
    """The list as one value, where the field is written as one value now and stays a list of that meaning; else None.

    `keys` may be one text with commas between the keys (lenient authoring).
    """
    if field not in TEXT_IS_LIST or isinstance(old, list) or not old or not value:
        return None
    if not isinstance(old, str):
        return old if field != "tags" and list(value) == [to_string(old)] else None
    plain = all(text and trim(text) == text and (field != "keys" or "," not in text) for text in value)
    if field == "keys" and "," in old:
        if [key for part in old.split(",") if (key := trim(part))] == list(value):
            return old
        comma = re.search(r",[ \t]*", old)
        return (comma[0] if comma else ", ").join(value) if plain else None
    if list(value) == [old]:
        return old
    return value[0] if plain and len(value) == 1 else None


def write_list(
    parts: NumberParts, name: str, value: Sequence[Json], style: ListStyle, *, left: str, strict: bool
) -> str:
    """The lines of a property that is to be this list; `left` are lines below it that have to stay.

    Raises ValueError where an item cannot be written.

    `strict` also respells the items that stay and that DeepLore and YAML read differently.
    """
    new = [item for item in value if isinstance(item, str)]
    if len(new) != len(value):
        raise ValueError(f"“{name}” was not changed: DeepLore reads every item of a list as a text. Give texts only.")
    comment = comment_in(parts.rest)
    if comment and parts.rest.startswith("["):
        bare = replace(parts, rest=parts.rest.removesuffix(comment).rstrip(" \t"))
        return comment + parts.newline + write_list(bare, name, value, style, left=left, strict=strict)
    if new:
        found = front_matter.parse(parts.raw).get(name)
        old = found if isinstance(found, list) else []
        for raw in _with_little_changed(parts, name, old, new, strict=strict):
            return raw
    if left and parts.has_items:
        raise ValueError(mend_first(name))
    own = replace(parts, body=()) if left else parts
    for raw in _written_anew(own, new, style):
        if agrees(raw, name, new) and (not left or deeplore_reads(raw + left, name, new)):
            return raw + left
    broken = next((text for text in new if item_spelling(text) is None), None)
    raise ValueError(why_not(name, new if broken is None else broken))


def _is_inline(parts: NumberParts) -> bool:
    return parts.rest.startswith("[") and parts.rest.endswith("]") and not parts.has_items


def _written_anew(parts: NumberParts, new: list[str], style: ListStyle) -> Iterator[str]:
    if not new:
        yield parts.comment_above() + parts.start() + "[]" + parts.tail + parts.comments
        yield parts.comment_above() + parts.start(plain=True) + "[]" + parts.newline + parts.comments
        return
    inline = not parts.has_items and (style.inline or parts.rest.startswith("["))
    brackets, lines = _inline(parts, new), _block(parts, new, style)
    yield from chain(brackets, lines) if inline else chain(lines, brackets)


def _inline(parts: NumberParts, new: list[str]) -> Iterator[str]:
    quote = quote_of(parts.rest[1:].lstrip()) if _is_inline(parts) else ""
    items = [item_spelling(text, quote, flow=True) for text in new]
    if None not in items:
        inside = f"[{', '.join(item for item in items if item is not None)}]"
        yield parts.comment_above() + parts.start() + inside + parts.tail + parts.comments
        yield parts.comment_above() + parts.start(plain=True) + inside + parts.newline + parts.comments


def _block(parts: NumberParts, new: list[str], style: ListStyle) -> Iterator[str]:
    own = style_of(parts)
    lead = style.lead if own is None or own.inline else own.lead
    first = next((found[2] for line in parts.body if (found := ITEM_LINE.match(line))), "")
    items = [item_spelling(text, quote_of(first) if parts.has_items else "") for text in new]
    if None in items:
        return
    lines = "".join(f"{lead}{item}{parts.newline}" for item in items)
    comment = comment_in(parts.rest)
    if comment:  # on the line of the name it is no part of any value
        yield f"{parts.start()}{comment}{parts.newline}{parts.comments}{lines}"
    elif not parts.rest:
        yield parts.head + parts.gap + parts.tail + parts.comments + lines
    yield f"{parts.start(plain=True)[:-1]}{parts.newline}{parts.comments}{lines}"


def _with_little_changed(
    parts: NumberParts, name: str, old: list[str], new: list[str], *, strict: bool
) -> Iterator[str]:
    """The list with what stays untouched, if that can be read as the new list."""
    if parts.has_items:
        items, behind = items_on_lines(parts)
    elif _is_inline(parts):
        items, behind = items_in_brackets(parts.rest[1:-1]), ""
    else:
        return
    if [item.value for item in items] != old:
        return
    flow = not parts.has_items
    plan = _plan(items, new)
    if strict:
        plan = [
            placed if placed.kept is None or _stays(items[placed.kept], flow=flow) else PlacedItem(None, placed.near)
            for placed in plan
        ]
    texts = [
        items[placed.kept].text if placed.kept is not None else _fresh(items, placed.near, text, flow=flow)
        for placed, text in zip(plan, new, strict=True)
    ]
    written = [text for text in texts if text is not None]
    if len(written) != len(texts):
        return
    if flow:
        raw = replace(parts, rest=put_in_brackets(items, written, plan, parts.rest)).raw
    else:
        raw = put_on_lines(parts, items, written, plan, new) + behind
    if strict:
        if agrees(raw, name, list(new)):
            yield raw
    elif deeplore_reads(raw, name, list(new)) and _yaml_follows(parts.raw, raw, name, plan, new):
        yield raw


def _plan(items: list[ListItem], new: list[str]) -> list[PlacedItem]:
    """Where each new item comes from."""
    matcher = SequenceMatcher(None, [item.value for item in items], new, autojunk=False)
    plan: list[PlacedItem] = []
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        for index in range(new_last - new_first):
            place = min(first + index, max(last - 1, first - 1))
            plan.append(PlacedItem(place if tag == "equal" else None, place))
    staying = {placed.kept for placed in plan}
    free = grouped((item.value, place) for place, item in reversed(list(enumerate(items))) if place not in staying)
    for index, placed in enumerate(plan):
        if placed.kept is None and free.get(new[index]):
            plan[index] = PlacedItem(free[new[index]].pop(), placed.near)
    return plan


def _stays(item: ListItem, *, flow: bool) -> bool:
    if flow:
        return item_agrees(trim(item.text), item.value, flow=True)
    return agrees("x:\n" + item.text, "x", [item.value])


def _fresh(items: list[ListItem], near: int, text: str, *, flow: bool) -> str | None:
    """A new item written as its neighbour is."""
    neighbour = items[max(near, 0)].text if items else ""
    if flow:
        return item_spelling(text, quote_of(trim(neighbour)), flow=True)
    line = neighbour.partition("\n")[0] + "\n"
    found = ITEM_LINE.match(line)
    if found is None:
        return None
    spelling = item_spelling(text, quote_of(found[2]))
    return None if spelling is None else found[1] + spelling + ("\r\n" if line.endswith("\r\n") else "\n")


def _yaml_follows(before: str, after: str, name: str, plan: list[PlacedItem], new: list[str]) -> bool:
    """Whether YAML reads the new items as meant and the others as before, if it could read the list before."""
    if certainly_alike(before) and certainly_alike(after):
        return True
    old = yaml_value(before, name)
    if old is None or not isinstance(old.value, list):
        return True
    read = yaml_value(after, name)
    if any(placed.kept is not None and placed.kept >= len(old.value) for placed in plan):
        return False
    expected = [text if placed.kept is None else old.value[placed.kept] for placed, text in zip(plan, new, strict=True)]
    return read is not None and bool(read.value == expected)
