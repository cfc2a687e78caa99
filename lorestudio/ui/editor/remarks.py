"""What there is to say about a property, and how its buttons mend it. Qt is not needed here.

Source of the warnings: spec deeplore-engine 1.3 to 1.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, ParserWarning
from lorestudio.domain.javascript import Json, number, to_number, to_string
from lorestudio.ui.editor import reading
from lorestudio.ui.editor.reading import FIRES_WORDS, Fires, TagNames
from lorestudio.ui.editor.schema import FieldKind, FieldSpec
from lorestudio.ui.words import count, shorten, tr
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.note_document import NoteDocument, NoteProperty, TextEdit, apply_edits


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to say about a value. `tone` is good, neutral, warning or error; `act` is what the button does."""

    text: str
    tone: str = "warning"
    button: str = ""
    act: Callable[[], object] | None = None
    other_button: str = ""
    other_act: Callable[[], object] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """What a person sees of it."""
        return (self.tone, self.text, self.button, self.other_button)


class Mend(StrEnum):
    """What a button does to a property."""

    ALIKE = "alike"
    AS_YAML = "as yaml"
    SPELL = "spell"
    LIST = "list"
    NUMBER = "number"
    REMOVE = "remove"
    ADMIT = "admit"


@dataclass(frozen=True, slots=True)
class Facts:
    """A note and what the pipeline makes of it."""

    note: NoteDocument
    parsed: Entry | LeftOutNote | None
    rules: ParseRules


_MENDS: Final = {
    "W_ALIAS_USED": (Mend.SPELL, "Write it so"),
    "W_COMMA_SPLIT": (Mend.LIST, "Make it a list"),
    "W_COERCED_NUM": (Mend.NUMBER, "Write the number"),
    "W_NOT_IMPLEMENTED": (Mend.REMOVE, "Remove it"),
}
_ORDINARY: Final = {NoteProblem.NO_LOREBOOK_TAG, NoteProblem.NO_FRONT_MATTER}


def remarks_on(
    key: str, spec: FieldSpec, found: NoteProperty | None, facts: Facts, mend: Callable[[Mend, str], object]
) -> Iterator[Remark]:
    """The remarks on one row; their buttons call `mend` with what to do and the property's name."""
    if key == "fires":
        yield from _on_fires(facts)
    elif key == "tags":
        yield from _on_tags(facts, mend)
    elif key == "keys" and _is_asleep(facts):
        yield Remark(tr("Without a key, only a link or fuzzy search finds this entry."), "neutral")
    if found is None:
        return
    if isinstance(facts.parsed, Entry):
        for warning in facts.parsed.warnings:
            if warning.field == found.name:
                yield _on_warning(warning, found, mend)
    if found.reading is not None:
        yield _on_reading(found, mend)
    elif spec.kind is FieldKind.TITLES and isinstance(found.value, str) and "," in found.value:
        text = tr("Commas do not separate titles here: this is one title.")
        yield Remark(text, "warning", tr("Make it a list"), partial(mend, Mend.LIST, found.name))


def mended(what: Mend, name: str, facts: Facts, known: Sequence[str]) -> tuple[TextEdit, ...]:
    """The edits that a button stands for. `known` are the properties' names as DeepLore spells them.

    Raises ValueError with the reason where the note cannot be changed so.
    """
    note = facts.note
    if what is Mend.ADMIT:
        return (reading.set_items(note, "tags", [*reading.tags(note), facts.rules.lorebook_tag]),)
    found = note.find(name)
    if found is None:
        return ()
    canonical = next((other for other in known if other.lower() == name.lower()), name)
    makers: dict[Mend, Callable[[], TextEdit | None]] = {
        Mend.ALIKE: lambda: note.alike(name),
        Mend.AS_YAML: lambda: note.alike(name, as_yaml=True),
        Mend.SPELL: lambda: note.rename(name, canonical),
        Mend.REMOVE: lambda: note.remove(name),
        Mend.NUMBER: lambda: note.set(name, number(to_number(found.value))),
        Mend.LIST: lambda: _as_list(found, note),
    }
    edit = makers[what]()
    return (edit,) if edit is not None else ()


def _on_fires(facts: Facts) -> Iterator[Remark]:
    said = reading.fires(facts.note, TagNames.of(facts.rules))
    if len(said) > 1:
        names = ", ".join(tr(FIRES_WORDS[item]) for item in said)
        yield Remark(tr("The tags say several things at once: {names}.", names=names))


def _on_tags(facts: Facts, mend: Callable[[Mend, str], object]) -> Iterator[Remark]:
    parsed = facts.parsed
    if isinstance(parsed, LeftOutNote) and parsed.problem in _ORDINARY:
        text = tr("Without the tag “{tag}” this is an ordinary note.", tag=facts.rules.lorebook_tag)
        yield Remark(text, "neutral", tr("Make it an entry"), partial(mend, Mend.ADMIT, "tags"))


def _is_asleep(facts: Facts) -> bool:
    """Whether the note is an entry that needs keys and has none."""
    if not isinstance(facts.parsed, Entry) or any(facts.parsed.keys):
        return False
    return reading.fires(facts.note, TagNames.of(facts.rules)) == (Fires.KEYS,)


def _on_warning(warning: ParserWarning, found: NoteProperty, mend: Callable[[Mend, str], object]) -> Remark:
    text = f"{warning.message} {warning.suggested_fix}"
    if warning.code not in _MENDS:
        return Remark(text)
    what, button = _MENDS[warning.code]
    return Remark(text, "warning", tr(button), partial(mend, what, found.name))


def _on_reading(found: NoteProperty, mend: Callable[[Mend, str], object]) -> Remark:
    differs = found.reading
    if differs is None:
        return Remark("")
    keep = partial(mend, Mend.ALIKE, found.name) if differs.spelling is not None else None
    if differs.yaml_spelling is None:
        return Remark(differs.message, "warning", tr("Spell it so that both agree") if keep else "", keep)
    meant = tr("Take {value}", value=shorten(_shown(differs.yaml), 40))
    kept = tr("Keep {value}", value=shorten(_shown(differs.deeplore), 40)) if keep else ""
    return Remark(differs.message, "warning", meant, partial(mend, Mend.AS_YAML, found.name), kept, keep)


def _shown(value: Json) -> str:
    if isinstance(value, list | tuple):
        return count(len(value), "item", "items") + ": " + ", ".join(f"“{to_string(item)}”" for item in value)
    if value is None:
        return tr("nothing")
    return f"“{value}”" if isinstance(value, str) else to_string(value)


def _as_list(found: NoteProperty, note: NoteDocument) -> TextEdit:
    """A text with commas written as a list, in the style of the note's other lists; `set` would keep the text."""
    pieces = [piece for part in to_string(found.value).split(",") if (piece := part.strip())]
    without = NoteDocument(apply_edits(note.text, [note.remove(found.name)]))
    if not without.properties:
        without = NoteDocument(f"---{note.newline}x: 1{note.newline}---{note.newline}")
    return TextEdit(found.start, found.end, without.set(found.name, pieces).text)
