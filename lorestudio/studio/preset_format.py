"""The file of a scenario preset: JSON that a person may edit, checked where it is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError, parse_json, read_bytes
from lorestudio.studio.controls import Part
from lorestudio.studio.presets import Preset

FORMAT: Final = "lorestudio-preset"
VERSION: Final = 1
LONGEST_NAME: Final = 80


class _Rule(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    title: str = Field(min_length=1)
    vaultSource: str | None = None  # noqa: N815  # as DeepLore writes it in a chat


class _File(BaseModel):
    """The file's shape; a part that is not there is none of the preset's business."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    format: str
    version: int
    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    pins: list[_Rule] | None = None
    blocks: list[_Rule] | None = None
    folders: list[str] | None = None
    context: dict[str, str | float | bool | list[str | float | bool]] | None = None
    notebook: str | None = None
    notepad: str | None = None
    character: str | None = None


def read_preset(path: Path) -> Preset:
    """The preset of one file. Raises InputError naming the file and the field where it is none."""
    try:
        document = parse_json(read_bytes(path), path)
    except SettingsError as error:
        raise InputError(path, str(error).removeprefix(f"{path}").lstrip(":, ") or "it cannot be read.") from error
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise InputError(path, f"it is no preset: “format” is not “{FORMAT}”.")
    version = document.get("version")
    if version != VERSION:
        raise InputError(path, f"it is of version {version}, and this lorestudio reads version {VERSION}. Update it.")
    try:
        file = _File.model_validate(dict(document))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(path, f"{first['msg'].lower()}.", field=place) from error
    return _preset_of(file)


def _preset_of(file: _File) -> Preset:
    parts = frozenset(part for part in Part if part.value in file.model_fields_set and _there(file, part))
    values: dict[str, Any] = {part.value: getattr(file, part.value) for part in parts}
    for name in ("pins", "blocks"):
        if name in values:
            values[name] = tuple(EntryRule(rule.title, rule.vaultSource or None) for rule in values[name])
    if "folders" in values:
        values["folders"] = tuple(values["folders"])
    return Preset(file.name, ChatControls(**values), parts)


def _there(file: _File, part: Part) -> bool:
    """Whether a part is the preset's; for the character nobody (null) is a choice, too: the chat's own."""
    return part is Part.CHARACTER or getattr(file, part.value) is not None


def preset_json(preset: Preset) -> dict[str, Json]:
    """A preset as it is written."""
    controls = preset.controls
    values: dict[str, Json] = {
        "pins": [_rule_json(rule) for rule in controls.pins],
        "blocks": [_rule_json(rule) for rule in controls.blocks],
        "folders": list(controls.folders),
        "context": {key: _plain(value) for key, value in controls.context.items()},
        "notebook": controls.notebook,
        "notepad": controls.notepad,
        "character": controls.character,
    }
    head: dict[str, Json] = {"format": FORMAT, "version": VERSION, "name": preset.name}
    return head | {part.value: values[part.value] for part in Part if part in preset.parts}


def _rule_json(rule: EntryRule) -> dict[str, Json]:
    return {"title": rule.title, "vaultSource": rule.vault}


def _plain(value: Json) -> Json:
    """A value of the context as text, number, yes or no, or a list of those; anything else as gating reads it."""
    if isinstance(value, list | tuple):
        return [_plain(each) if not isinstance(each, list | tuple) else to_string(each) for each in value]
    return value if isinstance(value, str | int | float | bool) else to_string(value)
