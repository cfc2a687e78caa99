"""From what is to be done to the edits that do it, and the notes as they are afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import OfNote
from lorestudio.domain.javascript import Json
from lorestudio.domain.texts import difference_lines
from lorestudio.vault import front_matter
from lorestudio.vault.lint.model import Fix, FixSpec
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import TextEdit, apply_edits

MOST_FIXES: Final = 200
"""So many safe fixes are made in one note at most; a note with more would be fixed in a second go."""

_READ_ANEW: Final = 500_000
"""So many characters of front matter are read for a note's fixes; a list of ten thousand items may need one each."""

_SHOWN_LINES: Final = 2


def most_fixes(text: str) -> int:
    """How many fixes of this note are worked out at most: one is always."""
    return min(MOST_FIXES, 1 + _READ_ANEW // (1 + len(front_matter.split(text)[0] or "")))


def work_out(spec: FixSpec, document: NoteDocument, filename: str) -> Fix | None:
    """The fix for a note, None where the note cannot be changed that way or would stay as it is."""
    try:
        edit = _edit(spec, document)
        if edit is None or apply_edits(document.text, (edit,)) == document.text:
            return None
    except ValueError:  # the value has no spelling that the note can hold
        return None
    return Fix(spec.title, MappingProxyType({filename: (edit,)}), spec.safe)


def _edit(spec: FixSpec, document: NoteDocument) -> TextEdit | None:
    if spec.action in {"alike", "as_yaml"}:
        return document.alike(spec.name, as_yaml=spec.action == "as_yaml")
    if spec.action == "rename":
        return document.rename(spec.name, str(spec.value))
    if spec.action == "remove":
        return document.remove(spec.name)
    value = list(spec.value) if isinstance(spec.value, tuple) else spec.value
    if spec.action == "list":
        return _as_list(document, spec.name, value)
    return document.set(spec.name, value)


def _as_list(document: NoteDocument, name: str, value: Json) -> TextEdit | None:
    """The edit that writes a list in place of one text, which `NoteDocument.set` would keep one text."""
    found = document.find(name)
    if found is None:
        return None
    if isinstance(found.value, list | tuple):
        return document.set(name, value)  # with the lines, quotes and comments that it has
    emptied = f"{found.name}: []{found.raw[len(found.raw.rstrip()) :]}"
    text = apply_edits(document.text, (TextEdit(found.start, found.end, emptied),))
    after = NoteDocument(text)
    written = after.find(name)
    text = apply_edits(text, (after.set(name, value),))
    if written is None:
        return None
    tail = len(document.text) - found.end
    return TextEdit(found.start, found.end, text[found.start : len(text) - tail])


class Repair(OfNote, Struct, frozen=True):
    """One note before and after its fixes; `titles` say what was done, in order."""

    vault: str
    filename: str
    before: str
    after: str
    titles: tuple[str, ...]

    def diff(self) -> str:
        """The change in the form of `diff -u`."""
        lines = difference_lines(self.before, self.after, self.filename, self.filename, _SHOWN_LINES)
        return "".join(lines).replace("\r\n", "\n")


def repair(vault: str, filename: str, text: str, fixes_of: Callable[[str], Iterable[Fix]]) -> Repair | None:
    """Make the safe fixes of one note one after the other, each worked out on what the one before has left.

    `fixes_of` gives the safe fixes for a text of this note; no more of them are taken than are looked at. None where
    there is nothing to do.
    """
    titles: list[str] = []
    seen = {text}
    after = text
    for _ in range(most_fixes(text)):
        step = None
        for fix in fixes_of(after):
            changed = apply_edits(after, fix.edits[filename])
            if changed not in seen:
                step = (fix.title, changed)
                break
        if step is None:
            break
        titles.append(step[0])
        after = step[1]
        seen.add(after)
    return Repair(vault, filename, text, after, tuple(titles)) if after != text else None
