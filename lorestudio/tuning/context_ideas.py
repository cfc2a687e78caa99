"""Changes that could let an entry through a gate of the chat's context (spec: deeplore-engine 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lorestudio.domain.entry import Entry
from lorestudio.domain.fields import FieldDefinition
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.state import ChatControls
from lorestudio.settings import DeepLoreSettings
from lorestudio.trace.wording import joined, quoted
from lorestudio.tuning.changes import Change, NoteEdit, setting

TOLERANCES: Final = ("strict", "moderate", "lenient")
_MOST_VALUES: Final = 4
_MARGINS: Final[Mapping[str, int]] = {"lt": 1, "gt": -1}
"""How far the chat's value has to be from the note's where one must be the greater one."""


def context_changes(
    entry: Entry,
    details: Mapping[str, Json],
    fields: Sequence[FieldDefinition],
    controls: ChatControls,
    settings: DeepLoreSettings,
) -> Iterator[Change]:
    """The chat's value as the note has it, or none; the note's as the chat has it, or none; a looser tolerance.

    `details` are those of the verdict `gated_field`.
    """
    field = next((each for each in fields if each.name == details.get("field")), None)
    if field is None:
        return
    label, theirs = field.label, controls.context.get(field.key)
    for value in _chat_values(field, entry.custom_fields.get(field.name)):
        context = {**controls.context, field.key: [value] if isinstance(theirs, list | tuple) else value}
        title = f"Set the chat's {label} to {quoted(to_string(value))}"
        yield Change("context", title, controls=replace(controls, context=context))
    if field.key in controls.context:
        context = {key: value for key, value in controls.context.items() if key != field.key}
        title = f"Clear the chat's {label}, so that nothing is filtered by it"
        yield Change("no_context", title, controls=replace(controls, context=context))
    yield from _note_changes(entry, field, theirs)
    now = settings.contextual_gating_tolerance
    place = TOLERANCES.index(now) if now in TOLERANCES else 0
    for looser in TOLERANCES[place + 1 :]:
        yield setting("tolerance", "contextual_gating_tolerance", looser, now)


def _note_changes(entry: Entry, field: FieldDefinition, theirs: Json) -> Iterator[Change]:
    name = quoted(entry.title)
    chat_values = _values(theirs)
    if field.multi and chat_values:
        enough = chat_values if field.operator == "match_all" else chat_values[:1]
        items = tuple(to_string(value) for value in enough)
        title = f"Add {joined([quoted(item) for item in items])} to the {field.label} of {name}"
        yield Change("field", title, note=NoteEdit.of(entry, field.name, add=items))
    elif chat_values and field.operator not in _MARGINS:
        title = f"Set the {field.label} of {name} to {quoted(to_string(chat_values[0]))}"
        yield Change("field", title, note=NoteEdit.of(entry, field.name, chat_values[0]))
    if field.name in entry.custom_fields:
        title = f"Remove the {field.label} of {name}, so that it fits every chat"
        yield Change("no_field", title, note=NoteEdit.of(entry, field.name, removed=True))


def _chat_values(field: FieldDefinition, mine: Json) -> list[Json]:
    """Values of the chat's that the note's own fits: the same one, or the next one above or below."""
    margin = _MARGINS.get(field.operator)
    if margin is None:
        return _values(mine)
    return [mine + margin] if isinstance(mine, int | float) and not isinstance(mine, bool) else []


def _values(value: Json) -> list[Json]:
    items = list(value) if isinstance(value, list | tuple) else [value]
    return [item for item in items if item is not None and item != ""][:_MOST_VALUES]
