"""What a person chose for a chat: pins, blocks, folder filter, context, notes and the active character.

Every function takes the choices as they are and returns others; nothing is run or written here. What a choice means is
decided by the engine (rules: deeplore 5.1, 5.2, 5.9). The fields of the context are those of the vault: what can
be chosen, and how many entries have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from lorestudio.domain.entry import Entry, FieldDefinition, VaultIndex
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange.chats.metadata import control_problems, existing_folders, read_controls
from lorestudio.studio.project.project import Project


class ControlsPart(StrEnum):
    """The parts of a chat's choices, named as in `ChatControls`."""

    PINS = "pins"
    BLOCKS = "blocks"
    FOLDERS = "folders"
    CONTEXT = "context"
    NOTEBOOK = "notebook"
    NOTEPAD = "notepad"
    CHARACTER = "character"


IN_CHAT_FILE = frozenset(ControlsPart) - {ControlsPart.CHARACTER}
"""The parts that a chat file can hold; the active character is SillyTavern's to know."""


# ---- pins and blocks -------------------------------------------------------------------------------------------------


def rules_for(entries: Sequence[Entry], index: VaultIndex) -> tuple[EntryRule, ...]:
    """A pin or block for each of these entries; it names the vault only where another vault has one of that title."""
    vaults: dict[str, set[str]] = {entry.title.lower(): set() for entry in entries}
    for each in index.entries:
        if each.title.lower() in vaults:
            vaults[each.title.lower()].add(each.vault)
    return tuple(
        EntryRule(entry.title, entry.vault if len(vaults[entry.title.lower()]) > 1 else None) for entry in entries
    )


def has_rule(rules: Iterable[EntryRule], entry: Entry) -> bool:
    """Whether one of the pins or blocks is about the entry."""
    return any(rule.matches(entry) for rule in rules)


def toggled(controls: ChatControls, part: ControlsPart, entries: Sequence[Entry], index: VaultIndex) -> ChatControls:
    """Pin or block all the entries, or free them where all of them are pinned or blocked already.

    An entry that is pinned is not blocked any more, and the other way round: a block beats a pin, so having both says
    nothing.
    """
    rules, others = (controls.pins, controls.blocks) if part is ControlsPart.PINS else (controls.blocks, controls.pins)
    missing = [entry for entry in entries if not has_rule(rules, entry)]
    if missing:
        rules = (*rules, *dict.fromkeys(rules_for(missing, index)))
        others = tuple(rule for rule in others if not any(rule.matches(entry) for entry in entries))
    else:
        rules = tuple(rule for rule in rules if not any(rule.matches(entry) for entry in entries))
    pins, blocks = (rules, others) if part is ControlsPart.PINS else (others, rules)
    return replace(controls, pins=pins, blocks=blocks)


def without_rule(controls: ChatControls, part: ControlsPart, rule: EntryRule) -> ChatControls:
    """Without one pin or block."""
    left: dict[str, Any] = {part.value: tuple(each for each in getattr(controls, part.value) if each != rule)}
    return replace(controls, **left)


def fitting(rule: EntryRule, index: VaultIndex) -> tuple[Entry, ...]:
    """The entries that a pin or block is about, none where the vault has no such entry."""
    return tuple(entry for entry in index.entries if rule.matches(entry))


# ---- folders ---------------------------------------------------------------------------------------------------------


def with_folder(controls: ChatControls, folder: str) -> ChatControls:
    """Let entries of this folder in too; the first folder makes a filter of it."""
    return replace(controls, folders=tuple(dict.fromkeys((*controls.folders, folder))))


def without_folder(controls: ChatControls, folder: str) -> ChatControls:
    """Without one folder; without the last one there is no filter."""
    return replace(controls, folders=tuple(each for each in controls.folders if each != folder))


# ---- context ---------------------------------------------------------------------------------------------------------


def context_values(value: Json) -> tuple[Json, ...]:
    """The values of a field of the context one by one; a field that is not set has none."""
    if isinstance(value, list | tuple):
        return tuple(value)
    return () if value is None or value == "" else (value,)


def same_value(one: Json, other: Json) -> bool:
    """Whether gating takes two values for one (rules: deeplore 5.2)."""
    return to_string(one).lower() == to_string(other).lower()


def with_value(controls: ChatControls, key: str, value: Json, *, multi: bool) -> ChatControls:
    """Set a field of the context: added to a `multi` one's values, in place of another one's value."""
    now = context_values(controls.context.get(key))
    if not multi:
        return _with_field(controls, key, value)
    if any(same_value(value, each) for each in now):
        return controls
    return _with_field(controls, key, [*now, value])


def without_value(controls: ChatControls, key: str, value: Json) -> ChatControls:
    """Without one value of a field; without the last one the field is not set."""
    before = controls.context.get(key)
    left = [each for each in context_values(before) if not same_value(each, value)]
    return _with_field(controls, key, left if left and isinstance(before, list | tuple) else None)


def without_field(controls: ChatControls, key: str) -> ChatControls:
    """Without all values of a field."""
    return _with_field(controls, key, None)


def _with_field(controls: ChatControls, key: str, value: Json) -> ChatControls:
    if value is None:
        return replace(controls, context={name: each for name, each in controls.context.items() if name != key})
    return replace(controls, context={**controls.context, key: value})  # a field that is there keeps its place


# ---- compared with the chat's file -----------------------------------------------------------------------------------


def changed_parts(now: ChatControls, file: ChatControls) -> tuple[ControlsPart, ...]:
    """The parts of the choices that are not as the chat's file has them."""
    return tuple(part for part in ControlsPart if part in IN_CHAT_FILE and _differs(now, file, part))


def _differs(one: ChatControls, other: ChatControls, part: ControlsPart) -> bool:
    if part is ControlsPart.CONTEXT:
        return _plain(one.context) != _plain(other.context)
    return bool(getattr(one, part.value) != getattr(other, part.value))


def _plain(context: Mapping[str, Json]) -> dict[str, tuple[str, ...]]:
    """A context by what gating reads of it, so that `x` and `[x]` are the same."""
    values = {key: tuple(to_string(each).lower() for each in context_values(value)) for key, value in context.items()}
    return {key: items for key, items in values.items() if items}


def unusable(project: Project) -> tuple[str, ...]:
    """Sentences on what the chat's metadata says and no run can use, such as folders that the vault does not have."""
    if project.chat is None:
        return ()
    metadata = project.chat.metadata
    folders = read_controls(metadata).folders
    known = existing_folders(folders, project.index.folders)
    gone = [folder for folder in folders if folder not in known]
    problems = list(control_problems(metadata))
    problems += [f"The folder filter names “{folder}”, which the vault does not have." for folder in gone]
    return tuple(problems)


class FieldValue(Struct, frozen=True):
    """A value in the spelling that most entries use, and how many have it; 0 where only the definition lists it."""

    text: str
    entries: int


class ContextField(Struct, frozen=True):
    """One key of the context with the gating fields that are held against it; `entries` have any value there."""

    key: str
    label: str
    definitions: tuple[FieldDefinition, ...]
    values: tuple[FieldValue, ...]
    entries: int

    @property
    def multi(self) -> bool:
        """Whether several values can be set at once."""
        return any(field.multi for field in self.definitions)

    def value(self, text: str) -> FieldValue | None:
        """The value that gating takes for `text`, None where neither entries nor definition have it."""
        return next((each for each in self.values if each.text.lower() == text.lower()), None)


def context_fields(index: VaultIndex) -> tuple[ContextField, ...]:
    """The fields that gate, in the order of their definitions; guides count for nothing, as no gate sees them.

    Values are equal when gating takes them for equal (rules: deeplore 5.2). Those that most entries have stand
    first.
    """
    gating = [field for field in index.fields if field.gating]
    keys = dict.fromkeys(field.key for field in gating)
    entries = [entry for entry in index.entries if entry.custom_fields and not entry.guide]
    return tuple(_field(key, tuple(field for field in gating if field.key == key), entries) for key in keys)


def _field(key: str, definitions: Sequence[FieldDefinition], entries: Iterable[Entry]) -> ContextField:
    spellings: dict[str, Counter[str]] = {}
    having = 0
    for entry in entries:
        texts: dict[str, str] = {}  # an entry counts once for each value, in its first spelling
        for field in definitions:
            for value in context_values(entry.custom_fields.get(field.name)):
                texts.setdefault(to_string(value).lower(), to_string(value))
        having += bool(texts)
        for lower, text in texts.items():
            spellings.setdefault(lower, Counter())[text] += 1
    found = [FieldValue(_usual(counts), counts.total()) for counts in spellings.values()]
    found.sort(key=lambda value: (-value.entries, value.text.lower()))
    listed = dict.fromkeys(text for field in definitions for text in field.values)
    found += [FieldValue(text, 0) for text in listed if text.lower() not in spellings]
    return ContextField(key, definitions[0].label, tuple(definitions), tuple(found), having)


def _usual(spellings: Counter[str]) -> str:
    return min(spellings, key=lambda text: (-spellings[text], text))
