"""One property with another value: the lines that take the place of its lines."""

from __future__ import annotations

from collections.abc import Iterator

from lorestudio.domain.javascript import WHITE_SPACE, Json
from lorestudio.vault import front_matter
from lorestudio.vault.note_lists import ListStyle, write_list
from lorestudio.vault.note_spans import is_filler
from lorestudio.vault.note_spelling import Parts, agrees, deeplore_reads, quote_of, spellings, why_not
from lorestudio.vault.note_yaml import read_yaml


def write_value(parts: Parts, name: str, value: Json, style: ListStyle, *, strict: bool = False) -> str:
    """The lines of a property with another value, the author's layout kept as far as the value allows.

    Raises ValueError where no spelling means the value to both DeepLore and YAML. `strict` also respells the items of
    a list that stay and that the two read differently.
    """
    if isinstance(value, list | tuple):
        return write_list(parts, name, value, style, strict=strict)
    below = "".join(parts.body)
    # What YAML could not read as part of the value is somebody's text; it is not thrown away with the value.
    if any(not is_filler(line) for line in parts.body) and not parts.is_block_scalar and read_yaml(parts.raw).error:
        alone = Parts(parts.head, parts.gap, parts.rest, parts.tail)
        for candidate in _candidates(alone, value):
            if agrees(candidate, name, value) and deeplore_reads(candidate + below, name, value):
                return candidate + below
    quote = "" if isinstance(front_matter.parse(parts.raw).get(name), list) else quote_of(parts.rest)
    for candidate in _candidates(parts, value, quote):
        if agrees(candidate, name, value):
            return candidate
    if isinstance(value, str) and "\n" in value and parts.rest == "|" and not strict:
        # Several lines, which the author has there already: only YAML takes the indentation away.
        for candidate in _block_scalars(parts, value):
            if deeplore_reads(candidate, name, value):
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
    if any(line and line[0] not in WHITE_SPACE for line in lines[1:]):
        return
    first = next((line for line in parts.body if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))] or "  "
    sign = "|" if len(lines) > 1 else parts.rest
    yield parts.start() + sign + parts.tail + indent + parts.newline.join(lines) + parts.newline
