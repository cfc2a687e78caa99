"""What a note's properties mean to DeepLore, as the form needs it. Qt is not needed here.

Source: spec deeplore-engine 1.4, 1.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lorestudio.domain.javascript import Json, to_string, trim
from lorestudio.ui.features.notes.editor.schema import FieldKind, FieldSpec
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import TextEdit


class Fires(StrEnum):
    """When an entry goes in; everything but `KEYS` is said by a tag (or the property `constant`)."""

    KEYS = "keys"
    CONSTANT = "constant"
    SEED = "seed"
    BOOTSTRAP = "bootstrap"
    GUIDE = "guide"
    NEVER = "never"


FIRES_WORDS: Final = {
    Fires.KEYS: "when its keys match",
    Fires.CONSTANT: "always (constant)",
    Fires.SEED: "as background of a new chat (seed)",
    Fires.BOOTSTRAP: "always while the chat is short (bootstrap)",
    Fires.GUIDE: "never: it guides the Librarian (guide)",
    Fires.NEVER: "never (never-insert)",
}
"""What a person reads of them."""


@dataclass(frozen=True, slots=True)
class TagNames:
    """The tags that mean something, in lower case; "" where the settings switch one off."""

    entry: str
    special: tuple[tuple[Fires, str], ...]

    @classmethod
    def of(cls, rules: ParseRules) -> TagNames:
        """The tags of these rules."""
        named = (
            (Fires.CONSTANT, rules.constant_tag),
            (Fires.SEED, rules.seed_tag),
            (Fires.BOOTSTRAP, rules.bootstrap_tag),
            (Fires.GUIDE, rules.guide_tag),
            (Fires.NEVER, rules.never_insert_tag),
        )
        return cls(rules.lorebook_tag, tuple((fires, tag) for fires, tag in named if tag))

    def find(self, tag: str) -> Fires | None:
        """What a tag says about when the entry fires."""
        return next((fires for fires, name in self.special if name == tag.lower()), None)


def items(spec: FieldSpec, value: Json, *, lenient: bool) -> list[str]:
    """The items of a list property as DeepLore reads it (spec 1.5)."""
    if isinstance(value, list | tuple):
        return [to_string(item) for item in value]
    if value is None or value is False or value in (0, ""):
        return []
    text = to_string(value)
    if spec.name == "tags":
        return [text] if isinstance(value, str) else []
    if spec.name == "keys":
        return [key for part in text.split(",") if (key := trim(part))] if lenient and "," in text else [text]
    return [trim(text)] if trim(text) else []


def tags(note: NoteDocument) -> list[str]:
    """The note's tags as written."""
    found = note.find("tags")
    value = found.value if found is not None else None
    if isinstance(value, list | tuple):
        return [to_string(item) for item in value]
    return [value] if isinstance(value, str) else []


def fires(note: NoteDocument, names: TagNames) -> tuple[Fires, ...]:
    """What the note says about when it fires: usually one thing, several where tags say several."""
    found = [said for tag in tags(note) if (said := names.find(tag)) is not None]
    constant = note.find("constant")
    if constant is not None and constant.value is True:
        found.append(Fires.CONSTANT)
    return tuple(dict.fromkeys(found)) or (Fires.KEYS,)


def set_fires(note: NoteDocument, names: TagNames, wanted: Fires) -> tuple[TextEdit, ...]:
    """Let the note fire in this way: one special tag in place of those it has."""
    now = tags(note)
    place = next((place for place, tag in enumerate(now) if names.find(tag) is not None), len(now))
    kept = [tag for tag in now if names.find(tag) is None]
    tag = next((name for said, name in names.special if said is wanted), "")
    constant = note.find("constant")
    edits: list[TextEdit] = []
    if constant is not None and constant.value is True:
        if wanted is Fires.CONSTANT:
            tag = ""
        else:
            edits.append(note.remove(constant.name))
    if tag:
        kept.insert(min(place, len(kept)), tag)
    if kept != now:
        edits.append(set_items(note, "tags", kept))
    return tuple(edits)


def set_items(note: NoteDocument, name: str, now: Sequence[str]) -> TextEdit:
    """Write a list property; where the note spells the name otherwise, under that spelling."""
    found = note.find(name)
    return note.set(found.name if found is not None else name, list(now))


def is_list(spec: FieldSpec) -> bool:
    """Whether a property is edited as chips."""
    return spec.kind in {FieldKind.KEYS, FieldKind.TAGS, FieldKind.TITLES, FieldKind.WORDS}
