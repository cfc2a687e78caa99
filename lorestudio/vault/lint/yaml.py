"""Where YAML, and with it Obsidian, reads something else than DeepLore, and what it refuses to read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lorestudio.vault.entries import field_name
from lorestudio.vault.lint.model import FixSpec, Hit
from lorestudio.vault.lint.note import Note, Rules
from lorestudio.vault.note_document import ProblemKind
from lorestudio.vault.note_yaml import certainly_alike
from lorestudio.vault.readings import Cause

_CODES: Final = {
    ProblemKind.YAML: "P60",
    ProblemKind.DUPLICATE: "P55",
    ProblemKind.SHADOWED: "P57",
    ProblemKind.FENCE: "P56",
    ProblemKind.NO_FIELDS: "P56",
    ProblemKind.UNCLOSED: "P54",
}
_TOLD_ELSEWHERE: Final = frozenset({Cause.DUPLICATE})
_TEXTS: Final = frozenset({Cause.WORD, Cause.NUMBER, Cause.DATE})
"""Where DeepLore reads the plain text that the author sees, quotes make YAML read it too, and nothing changes."""

_READ: Final = frozenset({
    "keys", "tags", "priority", "summary", "depth", "position", "role", "scanDepth", "cooldown", "warmup",
    "probability", "requires", "excludes", "refine_keys", "cascade_links", "enabled", "constant", "outlet", "graph",
    "excludeRecursion",
})  # fmt: skip
"""Fields that mean something to DeepLore in every vault (spec: deeplore-engine 1.5)."""

_FIELD_START: Final = re.compile(r"^(?=\w)", re.ASCII | re.MULTILINE)
_FIRST_FIELD: Final = re.compile(r"\ufeff?---\r?\n\w[\w.-]*\s*:", re.ASCII)


def readings(note: Note, rules: Rules) -> Iterator[Hit]:
    """P53: fields of DeepLore's that the two read differently. What nobody reads may be written in any way."""
    if note.yaml is None or note.document is None or _is_plain(note):
        return
    read = _READ | {field.name for field in rules.parse.fields}
    for found in note.document.properties:
        if field_name(found.name) not in read:
            continue
        reading = found.reading
        if reading is None or reading.cause in _TOLD_ELSEWHERE:
            continue
        fix = None
        if reading.cause in _TEXTS and reading.spelling is not None:
            fix = FixSpec("Put it in quotes", "alike", found.name)
        elif reading.yaml_spelling is not None:
            fix = FixSpec("Write what YAML reads, so that DeepLore reads it too", "as_yaml", found.name, safe=False)
        elif reading.spelling is not None:
            fix = FixSpec("Write what DeepLore reads, so that YAML reads it too", "alike", found.name, safe=False)
        yield Hit("P53", reading.message, found.name, line=found.line, fix=fix)


def _is_plain(note: Note) -> bool:
    """Whether every field is spelled so plainly, and stands there but once, that nothing needs to be looked into."""
    pieces = _FIELD_START.split(f"{note.yaml}\n")
    if pieces[0] or len(pieces) - 1 != len({field_name(name) for name in note.values}):
        return False
    closed = not note.body or (note.text or "").removesuffix(note.body).endswith("\n")
    return closed and all(certainly_alike(piece) for piece in pieces[1:])


def document_problems(note: Note, _rules: Rules) -> Iterator[Hit]:
    """P54 to P57, P60: what is wrong with the front matter as a text."""
    if note.document is None or (note.yaml is not None and _is_plain(note)):
        return
    for problem in note.document.problems:
        code = _CODES.get(problem.kind)
        if code is None or (code == "P54" and not _FIRST_FIELD.match(note.document.text)):
            continue  # three dashes above a text are a line across the page
        fix = None
        if problem.kind is ProblemKind.SHADOWED and problem.name:
            same = note.values.get(problem.name) == note.values.get(field_name(problem.name))
            fix = FixSpec(f"Remove {problem.name}", "remove", problem.name, safe=same)
        yield Hit(code, problem.message, problem.name, line=problem.line, fix=fix)
