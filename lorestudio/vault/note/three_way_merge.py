"""Three versions of a text brought together: what one side changed is taken, the rest is for a person to decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from enum import StrEnum

from msgspec import Struct


class Side(StrEnum):
    """Who changed a piece of the text."""

    NOBODY = "nobody"
    MINE = "mine"
    THEIRS = "theirs"
    BOTH_ALIKE = "both alike"
    CONFLICT = "conflict"


class MergePiece(Struct, frozen=True):
    """Whole lines, line ends included, in the three versions. The pieces of a text joined give each version again."""

    side: Side
    base: str
    mine: str
    theirs: str

    @property
    def merged(self) -> str | None:
        """What the piece becomes, None where a person has to decide."""
        if self.side is Side.CONFLICT:
            return None
        return self.theirs if self.side is Side.THEIRS else self.mine


def three_way(base: str, mine: str, theirs: str) -> tuple[MergePiece, ...]:
    """The pieces of three versions, in order; neighbours have different sides, except that conflicts stand alone."""
    old, left, right = (text.splitlines(keepends=True) for text in (base, mine, theirs))
    pieces: list[MergePiece] = []
    at_old = at_left = at_right = 0
    for old_start, left_start, right_start, size in (*_common(old, left, right), (len(old), len(left), len(right), 0)):
        changed = _piece(old[at_old:old_start], left[at_left:left_start], right[at_right:right_start])
        if changed is not None:
            pieces.append(changed)
        if size:
            same = "".join(old[old_start : old_start + size])
            pieces.append(MergePiece(Side.NOBODY, same, same, same))
        at_old, at_left, at_right = old_start + size, left_start + size, right_start + size
    return tuple(pieces)


def joined(pieces: Sequence[MergePiece], decided: Mapping[int, str]) -> str:
    """The merged text; `decided` gives the text of each conflict by its place among the pieces.

    Raises ValueError where a conflict was not decided.
    """
    parts = []
    for place, piece in enumerate(pieces):
        text = decided.get(place, piece.merged)
        if text is None:
            raise ValueError(f"the conflict in piece {place + 1} is not decided yet")
        parts.append(text)
    return "".join(parts)


def _piece(base: list[str], mine: list[str], theirs: list[str]) -> MergePiece | None:
    if not (base or mine or theirs):
        return None
    if mine == theirs:
        side = Side.NOBODY if mine == base else Side.BOTH_ALIKE
    elif mine == base:
        side = Side.THEIRS
    else:
        side = Side.MINE if theirs == base else Side.CONFLICT
    return MergePiece(side, "".join(base), "".join(mine), "".join(theirs))


def _common(old: list[str], left: list[str], right: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Runs of lines that all three versions have: where they begin in each, and how many lines."""
    first = SequenceMatcher(None, old, left).get_matching_blocks()
    second = SequenceMatcher(None, old, right).get_matching_blocks()
    i = j = 0
    while i < len(first) and j < len(second):
        start = max(first[i].a, second[j].a)
        end = min(first[i].a + first[i].size, second[j].a + second[j].size)
        if start < end:
            yield start, first[i].b + start - first[i].a, second[j].b + start - second[j].a, end - start
        if first[i].a + first[i].size < second[j].a + second[j].size:
            i += 1
        else:
            j += 1
