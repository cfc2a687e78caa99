"""Notes in lists: what they are called, where they lie, what state they are in, and what a filter finds in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem
from lorestudio.ui.models.marks import Kind, entry_kind
from lorestudio.ui.words import tr

Note: TypeAlias = Entry | LeftOutNote

_LEFT_OUT = {
    NoteProblem.DISABLED: "disabled",
    NoteProblem.NEVER_INSERT: "never inserted",
    NoteProblem.NO_LOREBOOK_TAG: "no lorebook tag",
    NoteProblem.NO_FRONT_MATTER: "no properties",
}


def note_key(note: Note) -> tuple[str, str]:
    """What a note is known by in every reading of a vault: the vault's name and the file."""
    return note.vault, note.filename


def note_title(note: Note) -> str:
    """The title of an entry, the file's name of any other note."""
    if isinstance(note, Entry):
        return note.title
    return note.filename.rpartition("/")[2].removesuffix(".md") or note.filename


def note_folder(note: Note) -> str:
    """The folder inside the vault, "" for the vault itself."""
    return note.filename.rpartition("/")[0]


def note_kind(note: Note) -> Kind:
    """The note's state: a glyph and a word or two."""
    if isinstance(note, Entry):
        kind = entry_kind(note)
        return Kind(kind.icon, kind.word.split(",")[0])
    if note.problem.broken:
        return Kind("broken", tr("broken"))
    icon = "slash" if note.problem is NoteProblem.DISABLED else "left-out"
    return Kind(icon, tr(_LEFT_OUT.get(note.problem, "left out")))


def search_text(note: Note) -> str:
    """What a filter looks at, in lower case."""
    if isinstance(note, Entry):
        parts: Sequence[str] = (note.title, note.filename, *note.keys, *note.refine_keys, *note.tags)
        return "\n".join(parts).casefold()
    return f"{note.filename}\n{note.message}\n{note.problem.value}".casefold()
