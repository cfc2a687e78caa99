"""What a person chose for a chat (pins, blocks, folder filter, context, notes, active character), and presets of it.

Every function on choices takes them as they are and returns others; nothing is run or written. What a choice means is
decided by the engine (rules: deeplore 5.1, 5.2, 5.9). The fields of the context are those of the vault: what can be
chosen, and how many entries have it.

A scenario preset names entries, folders and fields, never numbers, so it fits any vault with the same names. It holds
only the parts that it is about: the others stay as they are where it is applied. Each is a JSON file that a person may
edit, in a folder of the person's configuration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from lorestudio.domain.entry import Entry, FieldDefinition, VaultIndex
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.records import field_names, picked, replace
from lorestudio.domain.state import ChatControls, EntryRule, has_rule
from lorestudio.domain.texts import reading_order, shorten
from lorestudio.exchange.chats.metadata import control_problems, existing_folders, read_controls
from lorestudio.exchange.json_file import parse_document, read_file
from lorestudio.exchange.problems import InputError, checked
from lorestudio.settings.files import LONGEST_NAME, NamedFile, NamedFiles, SettingsError, checked_name, write_document
from lorestudio.studio.project.project import Project
from lorestudio.systems.base import SystemKind


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


UNHEEDED: Final = {
    ControlsPart.PINS: "{system}: pins count for nothing here",
    ControlsPart.BLOCKS: "{system}: blocks count for nothing here",
    ControlsPart.FOLDERS: "{system}: the folder filter counts for nothing here",
    ControlsPart.CONTEXT: "{system}: the context counts for nothing here",
    ControlsPart.NOTEBOOK: "{system}: the Author's Notebook goes into no prompt here",
    ControlsPart.NOTEPAD: "{system}: the AI Notepad goes into no prompt here",
    ControlsPart.CHARACTER: "{system}: the active character counts for nothing here",
}
"""What is said of a part that the chosen system does not heed."""


def heeds(project: Project, kind: SystemKind, part: ControlsPart) -> bool:
    """Whether a part of the choices counts where a system of this kind decides."""
    return part.value in kind.heeds and not (kind.books and project.of_books)


def unheeded(project: Project, kind: SystemKind, controls: ChatControls) -> Iterator[str]:
    """A sentence for each part in which these choices differ from the project's and that counts for nothing."""
    for part, told in UNHEEDED.items():
        if getattr(controls, part) != getattr(project.controls, part) and not heeds(project, kind, part):
            yield f"{told.format(system=kind.title)}."


def choices_moved(now: ChatControls, source: ChatControls, target: ChatControls) -> ChatControls:
    """The choices of now with those that differ between `source` and `target` as `target` has them."""
    changes = {
        name: getattr(target, name)
        for name in field_names(ChatControls)
        if getattr(source, name) != getattr(target, name)
    }
    return replace(now, **changes) if changes else now


def choices_clash(known: ChatControls, mine: ChatControls, read: ChatControls) -> bool:
    """Whether `mine` and `read` have both made another thing of the same choice since `known`."""
    return choices_moved(mine, known, read) != choices_moved(read, known, mine)


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
        return _as_gated(one.context) != _as_gated(other.context)
    return bool(getattr(one, part.value) != getattr(other, part.value))


def _as_gated(context: Mapping[str, Json]) -> dict[str, tuple[str, ...]]:
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
        for definition in definitions:
            for value in context_values(entry.custom_fields.get(definition.name)):
                texts.setdefault(to_string(value).lower(), to_string(value))
        having += bool(texts)
        for lower, text in texts.items():
            spellings.setdefault(lower, Counter())[text] += 1
    found = [FieldValue(_usual(counts), counts.total()) for counts in spellings.values()]
    found.sort(key=lambda value: (-value.entries, reading_order(value.text)))
    listed = dict.fromkeys(text for definition in definitions for text in definition.values)
    found += [FieldValue(text, 0) for text in listed if text.lower() not in spellings]
    return ContextField(key, definitions[0].label, tuple(definitions), tuple(found), having)


def _usual(spellings: Counter[str]) -> str:
    return min(spellings, key=lambda text: (-spellings[text], text))


class Preset(Struct, frozen=True):
    """A named set of choices. Only the `parts` of `controls` belong to it."""

    name: str
    controls: ChatControls
    parts: frozenset[ControlsPart]


def apply_preset(preset: Preset, controls: ChatControls, index: VaultIndex) -> tuple[ChatControls, tuple[str, ...]]:
    """The choices with the preset's parts in place of their own, and sentences on what of it the vault does not have.

    Folders that the vault does not have are left out, as DeepLore leaves them out of a chat (rules: deeplore 5.9). All
    else stays, and is told where nothing in the vault answers to it.
    """
    wanted: dict[str, Any] = {
        part.value: getattr(preset.controls, part.value) for part in ControlsPart if part in preset.parts
    }
    if ControlsPart.FOLDERS in preset.parts:
        wanted["folders"] = existing_folders(preset.controls.folders, index.folders)
    return replace(controls, **wanted), tuple(_missing(preset, index))


def _missing(preset: Preset, index: VaultIndex) -> Iterable[str]:
    controls = preset.controls
    for part, rules, word in (
        (ControlsPart.PINS, controls.pins, "pins"),
        (ControlsPart.BLOCKS, controls.blocks, "blocks"),
    ):
        if part in preset.parts:
            for rule in rules:
                if not fitting(rule, index):
                    place = f" in the vault “{rule.vault}”" if rule.vault else ""
                    yield f"It {word} “{rule.title}”, and there is no entry of that title{place}."
    if ControlsPart.FOLDERS in preset.parts:
        known = existing_folders(controls.folders, index.folders)
        for folder in controls.folders:
            if folder not in known:
                yield f"Its folder “{folder}” does not exist; it is left out of the filter."
    if ControlsPart.CONTEXT in preset.parts:
        yield from _missing_context(controls.context, index)


def _missing_context(context: Mapping[str, Json], index: VaultIndex) -> Iterable[str]:
    fields = {each.key: each for each in context_fields(index)}
    for key, value in context.items():
        known = fields.get(key)
        if known is None:
            yield f"It sets “{key}”, and no field of the vault looks at that."
            continue
        for each in context_values(value):
            found = known.value(to_string(each))
            if found is None:
                yield f"It sets {known.label} to “{to_string(each)}”, a value that no entry has."


def part_words(controls: ChatControls, part: ControlsPart, limit: int = 60) -> str:
    """What a part holds, in one line of so many characters; "" for nothing."""
    held = getattr(controls, part.value)
    if part in {ControlsPart.PINS, ControlsPart.BLOCKS}:
        text = ", ".join(rule.title for rule in held)
    elif part is ControlsPart.FOLDERS:
        text = ", ".join(held)
    elif part is ControlsPart.CONTEXT:
        values = {key: context_values(value) for key, value in held.items()}
        text = "; ".join(f"{key}: {', '.join(map(to_string, each))}" for key, each in values.items() if each)
    else:
        text = held or ""
    return shorten(text, limit)


FORMAT: Final = "lorestudio-preset"
VERSION: Final = 1


class _PresetRule(BaseModel):
    model_config = ConfigDict(defer_build=True, frozen=True, extra="ignore", strict=True)

    title: str = Field(min_length=1)
    vaultSource: str | None = None  # noqa: N815  # as DeepLore writes it in a chat


class _File(BaseModel):
    """The file's shape; a part that is not there is none of the preset's business."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="ignore", strict=True)

    format: str
    version: int
    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    pins: list[_PresetRule] | None = None
    blocks: list[_PresetRule] | None = None
    folders: list[str] | None = None
    context: dict[str, str | float | bool | list[str | float | bool]] | None = None
    notebook: str | None = None
    notepad: str | None = None
    character: str | None = None


def read_preset(path: Path) -> Preset:
    """The preset of one file. Raises InputError naming the file and the field where it is none."""
    document = parse_document(read_file(path), path, "preset")
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise InputError(path, f"it is no preset: “format” is not “{FORMAT}”.")
    version = document.get("version")
    if version != VERSION:
        raise InputError(path, f"it is of version {version}, and this lorestudio reads version {VERSION}. Update it.")
    return _preset_of(checked(_File, dict(document), path, "Correct the file, or delete it."))


def _preset_of(file: _File) -> Preset:
    parts = frozenset(part for part in ControlsPart if part.value in file.model_fields_set and _there(file, part))
    values: dict[str, Any] = {part.value: getattr(file, part.value) for part in parts}
    for name in ("pins", "blocks"):
        if name in values:
            values[name] = tuple(EntryRule(rule.title, rule.vaultSource or None) for rule in values[name])
    if "folders" in values:
        values["folders"] = tuple(values["folders"])
    return Preset(file.name, ChatControls(**values), parts)


def _there(file: _File, part: ControlsPart) -> bool:
    """Whether a part is the preset's; for the character nobody (null) is a choice, too: the chat's own."""
    return part is ControlsPart.CHARACTER or getattr(file, part.value) is not None


def preset_json(preset: Preset) -> dict[str, Json]:
    """A preset as it is written."""
    controls = preset.controls
    values: dict[str, Json] = {
        "pins": [_rule_json(rule) for rule in controls.pins],
        "blocks": [_rule_json(rule) for rule in controls.blocks],
        "folders": list(controls.folders),
        "context": {key: _as_json(value) for key, value in controls.context.items()},
        **picked(controls, "notebook", "notepad", "character"),
    }
    head: dict[str, Json] = {"format": FORMAT, "version": VERSION, "name": preset.name}
    return head | {part.value: values[part.value] for part in ControlsPart if part in preset.parts}


def _rule_json(rule: EntryRule) -> dict[str, Json]:
    return {"title": rule.title, "vaultSource": rule.vault}


def _as_json(value: Json) -> Json:
    """A value of the context as text, number, yes or no, or a list of those; anything else as gating reads it."""
    if isinstance(value, list | tuple):
        return [_as_json(each) if not isinstance(each, list | tuple) else to_string(each) for each in value]
    return value if isinstance(value, str | int | float | bool) else to_string(value)


class KeptPreset(NamedFile, frozen=True):
    """A preset's file. `preset` is None for one that cannot be read; then `problem` says why."""

    preset: Preset | None = None
    problem: str = ""


class PresetFolder(NamedFiles[KeptPreset]):
    """The folder with the presets."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__("preset", _kept, "presets", folder)

    def find(self, name: str) -> Preset:
        """The preset of that name; one that cannot be read is an error too."""
        found = self.known(name)
        if found.preset is None:
            raise SettingsError(found.problem)
        return found.preset

    def save(self, preset: Preset, *, replacing: bool = False) -> Path:
        """Write a preset, into a file of its name or that of the same name where it is `replacing` one."""
        name = checked_preset_name(preset.name)
        _, path = self._place(name, replace=replacing)
        write_document(path, preset_json(replace(preset, name=name)))
        return path

    def rename(self, name: str, new: str) -> Path:
        """Give a preset another name, and its file with it."""
        new = checked_preset_name(new)
        return self._move(self.known(name), new, preset_json(replace(self.find(name), name=new)))


def _kept(path: Path) -> KeptPreset:
    try:
        preset = read_preset(path)
    except InputError as error:
        return KeptPreset(path.stem, path, None, str(error))
    return KeptPreset(preset.name, path, preset)


def checked_preset_name(name: str) -> str:
    """A name for a preset, trimmed. Raises SettingsError for one that cannot be used."""
    return checked_name(" ".join(name.split()), "preset")
