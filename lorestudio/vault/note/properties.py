"""One property of a note as it is written, with another value, and what is wrong with the front matter as a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.vault import front_matter
from lorestudio.vault.entries import field_name
from lorestudio.vault.note.lists import ListStyle, indentation, write_list
from lorestudio.vault.note.spans import Block, fences_without_fields, key_end
from lorestudio.vault.note.spelling import (
    NumberParts,
    agrees,
    deeplore_reads,
    is_item,
    left_over,
    mend_first,
    quote_of,
    spellings,
    take_apart,
    why_not,
    yaml_value,
)
from lorestudio.vault.note.yaml_reading import Misread, YamlReading, sentence

_NAME = r"""(?:"[^"\n]*"[ \t]*|'[^'\n]*'[ \t]*|[^\s#"'\[{:-](?:[^\n:]|:(?![ \t\r\n]|\Z))*)"""
_NESTED_LINE = re.compile(rf"[ \t]+(?:-[ \t]+)*(?:\?[ \t]|{_NAME}:(?:[ \t\r\n]|\Z))")
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
    _reading_of: Callable[[NoteProperty], YamlReading | None] = field(repr=False, compare=False)

    @property
    def reading(self) -> YamlReading | None:
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


_CLOSING_FENCE = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_MISPLACED_FENCE = re.compile(r"(?:---[ \t]+\r?\n|(?:[ \t]*\r?\n)++---[ \t]*\r?\n)(?=\w[\w.-]*[ \t]*:)", re.ASCII)


class ProblemKind(StrEnum):
    """What is wrong with the front matter as a text."""

    YAML = "yaml"
    DUPLICATE = "duplicate"
    SHADOWED = "shadowed"
    NAME = "name"
    FENCE = "fence"
    UNCLOSED = "unclosed"
    NO_FIELDS = "no fields"


class DocumentProblem(Struct, frozen=True):
    """Something about the front matter that its author should know: the line from 1, and a sentence with advice."""

    kind: ProblemKind
    line: int
    message: str
    name: str = ""


def fence_problems(text: str, block: Block | None) -> Iterator[DocumentProblem]:
    """What is wrong with the lines of dashes around the front matter of a note."""
    if block is not None:
        if not _CLOSING_FENCE.match(text, block.end):
            line = text.count("\n", 0, block.end) + 1
            yield DocumentProblem(
                ProblemKind.FENCE, line,
                f"Line {line} begins with --- and so ends the front matter in DeepLore, but other programs want three "
                "dashes alone on the line. Write the rest on a line of its own.",
            )  # fmt: skip
    elif fences_without_fields(text) is not None:
        yield DocumentProblem(
            ProblemKind.NO_FIELDS, 1,
            "There is nothing between the two lines of ---, so DeepLore sees no front matter and takes both lines as "
            "text. Add a property, or delete them.",
        )  # fmt: skip
    elif _MISPLACED_FENCE.match(text.removeprefix(front_matter.BOM)):
        yield DocumentProblem(
            ProblemKind.FENCE, 1,
            "The front matter is not read: its first line must be the first of the file and be --- with nothing behind "
            "it. Delete what stands before or behind the dashes.",
        )  # fmt: skip
    elif front_matter.never_closed(text):
        yield DocumentProblem(ProblemKind.UNCLOSED, 1, front_matter.NEVER_CLOSED)


def name_problems(properties: Sequence[NoteProperty]) -> Iterator[DocumentProblem]:
    """What is wrong with the names of the properties: passed over, written twice, or hidden by another spelling."""
    last: dict[str, NoteProperty] = {}
    for found in properties:
        if found.kind is PropertyKind.INVALID:
            if key_end(found.raw):
                yield DocumentProblem(
                    ProblemKind.NAME, found.line, sentence(found.name, None, None, Misread.NAME), found.name
                )
            continue
        if found.name in last:
            yield DocumentProblem(
                ProblemKind.DUPLICATE, last[found.name].line,
                f"“{found.name}” is written again in line {found.line}. DeepLore takes the last one, and Obsidian "
                "shows no properties at all. Delete one of them.", found.name,
            )  # fmt: skip
        last[found.name] = found
    first: dict[str, str] = {}
    for name in last:
        first.setdefault(field_name(name), name)
    for name, found in last.items():
        field = field_name(name)
        taken = field if field in last else first[field]
        if taken != name:
            yield DocumentProblem(
                ProblemKind.SHADOWED, found.line,
                f"“{name}” is passed over, because line {last[taken].line} has “{taken}”. Delete one of them.", name,
            )  # fmt: skip


def yaml_problem(error: str, line: int) -> DocumentProblem:
    """That YAML cannot read the front matter; `error` says why, in the words of the YAML library."""
    return DocumentProblem(
        ProblemKind.YAML, line,
        f"YAML cannot read the front matter: {error} (line {line}). DeepLore reads it all the same, but Obsidian shows "
        "no properties. Put quotes around the value, or mend the line.",
    )  # fmt: skip


def write_value(parts: NumberParts, name: str, value: Json, style: ListStyle, *, strict: bool = False) -> str:
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
    own = NumberParts(parts.head, parts.gap, parts.rest, parts.tail) if left else parts
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


def _candidates(parts: NumberParts, value: Json, quote: str = "") -> Iterator[str]:
    above = parts.comment_above(value)
    if parts.rest in ("|", ">") and isinstance(value, str):
        yield from _block_scalars(parts, value)
    for spelling in spellings(value, quote):
        yield above + parts.start() + spelling + parts.tail + parts.comments
        yield above + parts.start(plain=True) + spelling + parts.newline + parts.comments
    if isinstance(value, str):
        for candidate in _block_scalars(NumberParts(parts.head, " ", "|", parts.newline), value):
            yield above + parts.comments + candidate


def _block_scalars(parts: NumberParts, value: str) -> Iterator[str]:
    """The text as the lines of a block scalar; of several lines, the further ones bring their indentation along."""
    lines = value.split("\n")
    if any(line and line[0] != " " for line in lines[1:]):
        return
    first = next((line for line in parts.body if line.strip()), "")
    indents = [indentation(line) for line in [first, *lines[1:]] if line.strip()]
    indent = min(filter(None, indents), key=len, default="  ")
    sign = "|" if len(lines) > 1 else parts.rest
    yield parts.start() + sign + parts.tail + indent + parts.newline.join(lines) + parts.newline


def _yaml_differs_in_spaces_only(raw: str, name: str, value: str) -> bool:
    found = yaml_value(raw, name)
    if found is None or not isinstance(found.value, str):
        return False
    return [line.strip() for line in found.value.splitlines()] == [line.strip() for line in value.split("\n")]
