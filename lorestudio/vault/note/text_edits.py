"""Changes to a text as data: what is replaced by what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from lorestudio.domain.records import same_ends


class TextEdit(Struct, frozen=True):
    """Replace `text[start:end]` by `text`; offsets in code points of the note's text. `start == end` inserts."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after all edits, whose offsets all refer to `text`.

    Raises ValueError where two edits overlap or one reaches outside the text. Insertions at one place keep their order.
    """
    pieces = []
    done = 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if not done <= edit.start <= edit.end <= len(text):
            raise ValueError(
                f"The edit of characters {edit.start} to {edit.end} overlaps another one or reaches outside the text "
                f"of {len(text)} characters."
            )
        pieces += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*pieces, text[done:]])


def joined(text: str, edits: Sequence[TextEdit]) -> TextEdit:
    """Several edits of `text`, at least one, as a single one."""
    start, end = min(edit.start for edit in edits), max(edit.end for edit in edits)
    moved = [TextEdit(edit.start - start, edit.end - start, edit.text) for edit in edits]
    return TextEdit(start, end, apply_edits(text[start:end], moved))


def narrowed(start: int, before: Sequence[str], after: Sequence[str]) -> TextEdit:
    """The smallest edit that puts the pieces `after` in the place of the pieces `before`, which begin at `start`."""
    head, tail = same_ends(before, after)
    first = start + sum(map(len, before[:head]))
    last = first + sum(map(len, before[head : len(before) - tail]))
    return TextEdit(first, last, "".join(after[head : len(after) - tail]))
