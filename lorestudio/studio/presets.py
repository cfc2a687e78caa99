"""Scenario presets: named sets of a chat's choices that fit any vault with the same names.

A preset names entries, folders and fields, never numbers, and holds only the parts that it is about: the others stay
as they are where it is applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.state import ChatControls
from lorestudio.exchange.chat_metadata import existing_folders
from lorestudio.studio.context_fields import context_fields
from lorestudio.studio.controls import Part, context_values, fitting


@dataclass(frozen=True, slots=True)
class Preset:
    """A named set of choices. Only the `parts` of `controls` belong to it."""

    name: str
    controls: ChatControls
    parts: frozenset[Part]


@dataclass(frozen=True, slots=True)
class Applied:
    """Choices with a preset applied, and sentences on what of it the vault does not have."""

    controls: ChatControls
    missing: tuple[str, ...] = ()


def apply_preset(preset: Preset, controls: ChatControls, index: VaultIndex) -> Applied:
    """The choices with the preset's parts in place of their own.

    Folders that the vault does not have are left out, as DeepLore leaves them out of a chat (spec: deeplore-engine
    5.9). All else stays, and is told where nothing in the vault answers to it.
    """
    wanted: dict[str, Any] = {part.value: getattr(preset.controls, part.value) for part in Part if part in preset.parts}
    missing = list(_missing(preset, index))
    if Part.FOLDERS in preset.parts:
        wanted["folders"] = existing_folders(preset.controls.folders, index.folders)
    return Applied(replace(controls, **wanted), tuple(missing))


def _missing(preset: Preset, index: VaultIndex) -> Iterable[str]:
    controls = preset.controls
    for part, rules, word in ((Part.PINS, controls.pins, "pins"), (Part.BLOCKS, controls.blocks, "blocks")):
        if part in preset.parts:
            for rule in rules:
                if not fitting(rule, index):
                    place = f" in the vault “{rule.vault}”" if rule.vault else ""
                    yield f"It {word} “{rule.title}”, and there is no entry of that title{place}."
    if Part.FOLDERS in preset.parts:
        known = existing_folders(controls.folders, index.folders)
        for folder in controls.folders:
            if folder not in known:
                yield f"Its folder “{folder}” does not exist; it is left out of the filter."
    if Part.CONTEXT in preset.parts:
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
