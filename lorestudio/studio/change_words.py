"""What a change set does, in numbers and as differences that people read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from pathlib import Path

from lorestudio.studio.change_set import ChangeSet, NoteChange
from lorestudio.vault.links import references

CONTEXT = 1
"""So many unchanged lines are shown around a difference."""


class LineKind(StrEnum):
    """What a line of a difference is."""

    SAME = " "
    GONE = "-"
    NEW = "+"
    GAP = "…"


@dataclass(frozen=True, slots=True)
class DifferenceLine:
    """One line of a difference; `number` is the line in the new text, in the old one for a line that is gone."""

    kind: LineKind
    number: int
    text: str


def changed_references(changes: ChangeSet) -> tuple[int, int]:
    """How many references another spelling gets, and in how many notes."""
    links = notes = 0
    for change in changes.changes:
        if change.before is None or change.after is None or change.before == change.after:
            continue
        before = [(one.target, one.deeplore_name) for one in references(change.before)]
        after = [(one.target, one.deeplore_name) for one in references(change.after)]
        amount = sum(old != new for old, new in zip(before, after, strict=False)) + abs(len(before) - len(after))
        links += amount
        notes += amount > 0
    return links, notes


def difference(change: NoteChange) -> tuple[DifferenceLine, ...]:
    """What happens to the text of one note, with a little of what stays around it."""
    old, new = ((text or "").splitlines() for text in (change.before, change.after))
    return tuple(_lines(old, new))


def shown_name(path: Path, folders: tuple[Path, ...]) -> str:
    """A file's name relative to its vault, the whole path where it is in none of the folders."""
    for folder in folders:
        try:
            return path.relative_to(folder).as_posix()
        except ValueError:
            continue
    return str(path)


def _lines(old: list[str], new: list[str]) -> Iterator[DifferenceLine]:
    # Nearly all of a note stays, and comparing that line by line with everything would take long.
    shortest = min(len(old), len(new))
    head = next((place for place in range(shortest) if old[place] != new[place]), shortest)
    most = shortest - head
    tail = next((place for place in range(most) if old[-1 - place] != new[-1 - place]), most)
    first, last = max(head - CONTEXT, 0), max(tail - CONTEXT, 0)
    for line in _middle(old[first : len(old) - last], new[first : len(new) - last]):
        yield replace(line, number=line.number + first if line.number else 0)


def _middle(old: list[str], new: list[str]) -> Iterator[DifferenceLine]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if number:
            yield DifferenceLine(LineKind.GAP, 0, "")
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                for place in range(new_from, new_to):
                    yield DifferenceLine(LineKind.SAME, place + 1, new[place])
                continue
            for place in range(old_from, old_to):
                yield DifferenceLine(LineKind.GONE, place + 1, old[place])
            for place in range(new_from, new_to):
                yield DifferenceLine(LineKind.NEW, place + 1, new[place])
