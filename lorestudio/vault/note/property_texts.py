"""Where in the front matter each text of a property stands, by DeepLore's line machine.

The values are those of `front_matter.parse` (rules: deeplore 1.3); this tells their places as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from lorestudio.domain.javascript import WHITE_SPACE, trim
from lorestudio.vault import front_matter


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
