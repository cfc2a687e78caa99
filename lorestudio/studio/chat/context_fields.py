"""The fields of a chat's context as one vault knows them: what can be chosen, and how many entries have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lorestudio.domain.entry import Entry, FieldDefinition, VaultIndex
from lorestudio.domain.javascript import to_string
from lorestudio.studio.chat.controls import context_values


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A value in the spelling that most entries use, and how many have it; 0 where only the definition lists it."""

    text: str
    entries: int


@dataclass(frozen=True, slots=True)
class ContextField:
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

    Values are equal when gating takes them for equal (spec: deeplore-engine 5.2). Those that most entries have stand
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
