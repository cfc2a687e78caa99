"""One property with another value: the lines that take the place of its lines."""

from __future__ import annotations

from collections.abc import Iterator

from lorestudio.domain.javascript import Json
from lorestudio.vault import front_matter
from lorestudio.vault.note_lists import ListStyle, write_list
from lorestudio.vault.note_spelling import (
    Parts,
    agrees,
    deeplore_reads,
    left_over,
    mend_first,
    quote_of,
    spellings,
    why_not,
    yaml_value,
)


def write_value(parts: Parts, name: str, value: Json, style: ListStyle, *, strict: bool = False) -> str:
    """The lines of a property with another value, the author's layout kept as far as the value allows.

    Raises ValueError where no spelling means the value to both DeepLore and YAML. `strict` also respells the items of
    a list that stay and that the two read differently.
    """
    left = left_over(parts)
    if left and strict:
        raise ValueError(mend_first(name))
    if isinstance(value, list):
        return write_list(parts, name, value, style, left=left, strict=strict)
    quote = "" if isinstance(front_matter.parse(parts.raw).get(name), list) else quote_of(parts.rest)
    # The lines that are left stay; then YAML cannot read the property, and it is enough that it reads the value.
    own = Parts(parts.head, parts.gap, parts.rest, parts.tail) if left else parts
    for candidate in _candidates(own, value, quote):
        if agrees(candidate, name, value) and (not left or deeplore_reads(candidate + left, name, value)):
            return candidate + left
    if left:
        raise ValueError(mend_first(name))
    if isinstance(value, str) and "\n" in value and parts.rest == "|" and not strict:
        # Several lines, which the author has there already: only YAML takes the indentation away.
        for candidate in _block_scalars(parts, value):
            if deeplore_reads(candidate, name, value) and _yaml_differs_in_spaces_only(candidate, name, value):
                return candidate
    raise ValueError(why_not(name, value))


def _candidates(parts: Parts, value: Json, quote: str = "") -> Iterator[str]:
    above = parts.comment_above(value)
    if parts.rest in ("|", ">") and isinstance(value, str):
        yield from _block_scalars(parts, value)
    for spelling in spellings(value, quote):
        yield above + parts.start() + spelling + parts.tail + parts.comments
        yield above + parts.start(plain=True) + spelling + parts.newline + parts.comments
    if isinstance(value, str):
        for candidate in _block_scalars(Parts(parts.head, " ", "|", parts.newline), value):
            yield above + parts.comments + candidate


def _block_scalars(parts: Parts, value: str) -> Iterator[str]:
    """The text as the lines of a block scalar; of several lines, the further ones bring their indentation along."""
    lines = value.split("\n")
    if any(line and line[0] != " " for line in lines[1:]):
        return
    first = next((line for line in parts.body if line.strip()), "")
    indents = [_indentation(line) for line in [first, *lines[1:]] if line.strip()]
    indent = min(filter(None, indents), key=len, default="  ")
    sign = "|" if len(lines) > 1 else parts.rest
    yield parts.start() + sign + parts.tail + indent + parts.newline.join(lines) + parts.newline


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _yaml_differs_in_spaces_only(raw: str, name: str, value: str) -> bool:
    found = yaml_value(raw, name)
    if found is None or not isinstance(found.value, str):
        return False
    return [line.strip() for line in found.value.splitlines()] == [line.strip() for line in value.split("\n")]
