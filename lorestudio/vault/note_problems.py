"""What is wrong with the front matter of a note as a text, whatever its properties mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lorestudio.vault import front_matter
from lorestudio.vault.entries import field_name
from lorestudio.vault.note_property import NoteProperty, PropertyKind
from lorestudio.vault.note_spans import Block, fences_without_fields, key_end
from lorestudio.vault.readings import Cause, sentence

_CLOSING_FENCE = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_MISPLACED_FENCE = re.compile(r"(?:---[ \t]+\r?\n|(?:[ \t]*\r?\n)+---[ \t]*\r?\n)(?=\w[\w.-]*[ \t]*:)", re.ASCII)
_OPENING_FENCE = re.compile(r"---\r?\n(?=\w[\w.-]*[ \t]*:)", re.ASCII)


class ProblemKind(StrEnum):
    """What is wrong with the front matter as a text."""

    YAML = "yaml"
    DUPLICATE = "duplicate"
    SHADOWED = "shadowed"
    NAME = "name"
    FENCE = "fence"
    UNCLOSED = "unclosed"
    NO_FIELDS = "no fields"


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """Something about the front matter that its author should know: the line from 1, and a sentence with advice."""

    kind: ProblemKind
    line: int
    message: str
    name: str = ""


def fence_problems(text: str, block: Block | None) -> Iterator[DocumentProblem]:
    """What is wrong with the lines of dashes around the front matter of a note."""
    start = text.removeprefix(front_matter.BOM)
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
    elif _MISPLACED_FENCE.match(start):
        yield DocumentProblem(
            ProblemKind.FENCE, 1,
            "The front matter is not read: its first line must be the first of the file and be --- with nothing behind "
            "it. Delete what stands before or behind the dashes.",
        )  # fmt: skip
    elif _OPENING_FENCE.match(start):
        yield DocumentProblem(
            ProblemKind.UNCLOSED, 1,
            "The front matter that begins in line 1 has no end, so DeepLore takes all of it as text. Write --- on a "
            "line of its own behind the last property.",
        )  # fmt: skip


def name_problems(properties: Sequence[NoteProperty]) -> Iterator[DocumentProblem]:
    """What is wrong with the names of the properties: passed over, written twice, or hidden by another spelling."""
    last: dict[str, NoteProperty] = {}
    for found in properties:
        if found.kind is PropertyKind.INVALID:
            if key_end(found.raw):
                yield DocumentProblem(
                    ProblemKind.NAME, found.line, sentence(found.name, None, None, Cause.NAME), found.name
                )
            continue
        if found.name in last:
            yield DocumentProblem(
                ProblemKind.DUPLICATE, last[found.name].line,
                f"“{found.name}” is written again in line {found.line}. DeepLore takes the last one, and Obsidian "
                "shows no properties at all. Delete one of them.", found.name,
            )  # fmt: skip
        last[found.name] = found
    for name, found in last.items():
        field = field_name(name)
        taken = field if field in last else next(other for other in last if field_name(other) == field)
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
